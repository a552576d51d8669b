/* Servers of other projects that quince can run as a model's engine: what they are called, and
 * which arguments a user may give them. Shared by the router, which checks, and the bridge, which
 * starts. */
#ifndef QN_CONTRACT_SERVER_ARGS_H
#define QN_CONTRACT_SERVER_ARGS_H

#include "base/arena.h"
#include "base/error.h"
#include "contract/capabilities.h"
#include "contract/job.h"

enum { QN_SERVER_ARGS_BYTES_MAX = 4096, QN_SERVER_ARGS_MAX = 128 };

struct qn_server_kind {
    const char *program; /* "llama-server": its file's name */
    const char *type;    /* backend type whose models it runs: "llm" */
    const char *recipe;  /* "llamacpp" */
    unsigned offers;     /* what it can do with a model that can: enum qn_capability */
    /* Names of the model options that choose it and give it arguments. */
    const char *backend_option, *args_option;
    const char *const *reserved; /* arguments that quince itself sets or that reach out of the
                                    sandbox; ends with NULL */
};

size_t qn_server_kinds(void);
const struct qn_server_kind *qn_server_kind_at(size_t i);
const struct qn_server_kind *qn_server_kind_of_type(const char *type);       /* NULL: none */
const struct qn_server_kind *qn_server_kind_of_program(const char *program); /* NULL: none */

/* The words of a line as a shell has them: blanks part, "" and '' hold together, \ takes the next
 * character as it is. QN_EINVAL (param: the option's name): a quote without its end, too many
 * words, or one that is reserved, by its name or as NAME=VALUE. Strings are the arena's. */
qn_err qn_server_args_read(const struct qn_server_kind *kind, const char *line,
                           struct qn_arena *arena, struct qn_strings *out, struct qn_error *e);

#endif
