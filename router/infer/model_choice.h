/* Which model a request means: the one it names, or, where its client's API leaves that open, one
 * that stands in. Loop thread only. */
#ifndef QN_INFER_MODEL_CHOICE_H
#define QN_INFER_MODEL_CHOICE_H

#include "dialects/dialect.h"
#include "services/services.h"

/* The model that was used last and is loaded, else the first that ships with quince, else NULL.
 * The name is the arena's. */
const char *qn_choice_stand_in(struct qn_services *sv, struct qn_arena *arena);

/* Settles rq->model: it must exist and be of a kind that can do the dialect's task. A preset's
 * defaults come into the request. *name: as the catalog spells it, the arena's; left alone when
 * there is no such model. */
qn_err qn_choice_take(struct qn_services *sv, const struct qn_dialect *dialect,
                      struct qn_request *rq, const char **name, struct qn_error *e);

#endif
