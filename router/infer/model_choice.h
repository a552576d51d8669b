/* Which model a request means: the one it names, or, where its client's API leaves that open, one
 * that stands in. Loop thread only, unless a function says otherwise. */
#ifndef QN_INFER_MODEL_CHOICE_H
#define QN_INFER_MODEL_CHOICE_H

#include "dialects/dialect.h"
#include "models/models.h"

/* The model that was used last and is loaded, else the first that ships with quince, else NULL.
 * The name is the arena's. */
const char *qn_choice_stand_in(const struct qn_models *models, struct qn_arena *arena);

/* What the catalog says of the model that was chosen; all of it the arena's. */
struct qn_model_choice {
    const char *name; /* as the catalog spells it; NULL: there is no such model */
    const char *preset;
    bool cannot_reason; /* which its file says */
};

/* Settles rq->model: it must exist and be of a kind that can do the dialect's task. *out is
 * complete when it exists. */
qn_err qn_choice_take(const struct qn_models *models, const struct qn_dialect *dialect,
                      struct qn_request *rq, struct qn_model_choice *out, struct qn_error *e);

/* How much JSON the next function reads besides the request's. */
size_t qn_choice_bytes(const struct qn_model_choice *c);

/* The preset's defaults come into the request, which must be one that the model can answer. Any
 * thread. */
qn_err qn_choice_apply(const struct qn_model_choice *c, struct qn_request *rq, struct qn_error *e);

#endif
