/* Which program runs a model: quince's own engine, or another project's server behind
 * quince-bridge. The model's option RECIPE_backend decides; without it, quince's own engine is used
 * if it can do the work. Makes a few system calls on files; any thread. */
#ifndef QN_MODELS_ENGINE_CHOICE_H
#define QN_MODELS_ENGINE_CHOICE_H

#include "base/buf.h"
#include "catalog/catalog.h"
#include "contract/backend_types.h"
#include "contract/server_args.h"
#include "registry/packs.h"

struct qn_engine_choice {
    const struct qn_server_kind *server; /* NULL: quince's own engine */
    struct qn_pack_program program;      /* of the server; unset for quince's own engine */
    char engine[2 * QN_PACK_WORD_MAX +
                2]; /* "llamacpp:vulkan": recipe and backend as in packs.h; "": quince's own */
};

/* backend: the option's value; NULL or "": unset. QN_ENOTFOUND, with a message that says what to
 * do: the engine is not installed. If a backend that names a build of llama.cpp is not installed,
 * quince's own engine is chosen where it can run the model, and a line of the log says so. Release
 * the choice with qn_engine_choice_deinit. */
qn_err qn_engine_choose(const struct qn_packs *packs, const struct qn_backend_type *type,
                        const struct qn_model_row *row, const char *backend,
                        struct qn_engine_choice *out, struct qn_error *e);
void qn_engine_choice_deinit(struct qn_engine_choice *c);

/* True for the name of a build of a server ("vulkan", "rocm") in whose place quince's own engine
 * computes where it is not installed. */
bool qn_engine_is_build(const char *backend);

/* Rewrites the options for a child of that choice: a JSON object made by qn_load_options_merge gets
 * the members that the server needs and loses those that only quince's own engine has. args: the
 * value of the option for the server's arguments, or "". */
qn_err qn_engine_options(const struct qn_engine_choice *c, const struct qn_model_row *row,
                         const char *args, struct qn_buf *options, struct qn_error *e);

/* The capabilities (enum qn_capability) of the engine that the option chooses for this row; 0: that
 * engine is not installed. */
unsigned qn_engine_offers(const struct qn_packs *packs, const struct qn_backend_type *type,
                          const struct qn_model_row *row, const char *backend);

/* Updates in the table of backend types which of them have a server installed: called at start and
 * after an engine has been installed or removed. */
void qn_engines_look(const struct qn_packs *packs, const char *backend_dir);

#endif
