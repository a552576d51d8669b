/* Which model serves a request: the one it names, or, where the client's API leaves that open, a
 * default. Loop thread only, unless a function says otherwise. */
#ifndef QN_INFER_MODEL_CHOICE_H
#define QN_INFER_MODEL_CHOICE_H

#include "dialects/dialect.h"
#include "models/models.h"

/* The default: of the models that are loaded, the one that was used last; if none is loaded, the
 * first model that ships with quince; else NULL. The name is in the arena. */
const char *qn_choice_stand_in(const struct qn_models *models, struct qn_arena *arena);

/* Properties of the chosen model from the catalog; all strings are in the arena. */
struct qn_model_choice {
    const char *name; /* as spelled in the catalog; NULL: there is no such model */
    const char *preset;
    bool cannot_reason; /* according to its file */
};

/* Resolves rq->model: the model must exist and be able to do the dialect's task. *out is complete
 * if the model exists. */
qn_err qn_choice_take(const struct qn_models *models, const struct qn_dialect *dialect,
                      struct qn_request *rq, struct qn_model_choice *out, struct qn_error *e);

/* Bytes of JSON that the next function parses, besides the request. */
size_t qn_choice_bytes(const struct qn_model_choice *c);

/* Applies the preset's defaults to the request and checks that the model supports it. Any
 * thread. */
qn_err qn_choice_apply(const struct qn_model_choice *c, struct qn_request *rq, struct qn_error *e);

#endif
