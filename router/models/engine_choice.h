/* Which program runs a model: quince's own engine, or a server of somebody else's behind
 * quince-bridge. The model's option RECIPE_backend decides; where it does not, quince's own engine
 * does the work if it can. Looks at the disk with a few system calls; any thread. */
#ifndef QN_MODELS_ENGINE_CHOICE_H
#define QN_MODELS_ENGINE_CHOICE_H

#include "base/buf.h"
#include "catalog/catalog.h"
#include "contract/backend_types.h"
#include "contract/server_args.h"
#include "registry/packs.h"

struct qn_engine_choice {
    const struct qn_server_kind *server; /* NULL: quince's own engine */
    struct qn_pack_program program;      /* of the server */
    char engine[2 * QN_PACK_WORD_MAX +
                2]; /* "llamacpp:vulkan": which of packs.h; "": quince's own */
};

/* backend: what the option says; NULL or "": nothing. QN_ENOTFOUND with what to do: it is not
 * installed. A name of llama.cpp's builds that is not installed means quince's own engine, where
 * that can run the model, and the log says so. Give the choice to qn_engine_choice_deinit. */
qn_err qn_engine_choose(const struct qn_packs *packs, const struct qn_backend_type *type,
                        const struct qn_model_row *row, const char *backend,
                        struct qn_engine_choice *out, struct qn_error *e);
void qn_engine_choice_deinit(struct qn_engine_choice *c);

/* What a child of that choice is told: options, a JSON object as qn_load_options_merge makes it,
 * with what concerns the server, and without what only quince's own engine has. args: what the
 * option for arguments says, or "". */
qn_err qn_engine_options(const struct qn_engine_choice *c, const struct qn_model_row *row,
                         const char *args, struct qn_buf *options, struct qn_error *e);

/* What the engine that the option chooses for this row can do with a model that can (enum
 * qn_capability); 0: the engine is not here. */
unsigned qn_engine_offers(const struct qn_packs *packs, const struct qn_backend_type *type,
                          const struct qn_model_row *row, const char *backend);

/* Tells the table of backend types which of them have a server: at start, and when one has been
 * installed or removed. */
void qn_engines_look(const struct qn_packs *packs, const char *backend_dir);

#endif
