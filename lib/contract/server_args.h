/* Servers of other projects that quince can run as a model's engine: their names, and the command
 * line arguments that a user may give them. Used by the router, which checks the arguments, and the
 * bridge, which starts the servers. */
#ifndef QN_CONTRACT_SERVER_ARGS_H
#define QN_CONTRACT_SERVER_ARGS_H

#include "base/arena.h"
#include "base/error.h"
#include "contract/capabilities.h"
#include "contract/job.h"

enum { QN_SERVER_ARGS_BYTES_MAX = 4096, QN_SERVER_ARGS_MAX = 128 };

struct qn_server_kind {
    const char *program; /* "llama-server": file name of the program */
    const char *type;    /* backend type whose models it runs: "llm" */
    const char *recipe;  /* "llamacpp" */
    unsigned offers; /* bits of enum qn_capability that it supports, for models that have them */
    /* Names of the model options that select this server and give it arguments. */
    const char *backend_option, *args_option;
    const char *const *reserved; /* arguments that users may not give, because quince sets them or
                                    because they would reach out of the sandbox; ends with NULL */
};

size_t qn_server_kinds(void);
const struct qn_server_kind *qn_server_kind_at(size_t i);
const struct qn_server_kind *qn_server_kind_of_type(const char *type);       /* NULL: none */
const struct qn_server_kind *qn_server_kind_of_program(const char *program); /* NULL: none */

/* Splits a line into words as a shell does: blanks separate words, "" and '' quote, \ escapes the
 * next character. QN_EINVAL (param: the option's name) for a missing closing quote, too many words,
 * or a reserved argument, given as NAME or as NAME=VALUE. Strings belong to the arena. */
qn_err qn_server_args_read(const struct qn_server_kind *kind, const char *line,
                           struct qn_arena *arena, struct qn_strings *out, struct qn_error *e);

#endif
