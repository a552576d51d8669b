/* The kept answers that a request goes on from: found by the catalog, opened by a worker, since
 * they may be many megabytes of JSON. Loop thread only. */
#ifndef QN_INFER_KEPT_H
#define QN_INFER_KEPT_H

#include "catalog/answers.h"
#include "dialects/dialect.h"

struct qn_kept_look;
struct qn_loop;
struct qn_catalog;

/* e NULL: rq has them. */
typedef void (*qn_kept_fn)(void *ctx, const struct qn_error *e);

/* Looks among the answers of `of` for the conversation that ends with the answer `chain` (MAY be
 * NULL) and for n single answers. fn is called once, not from within, unless the look is left
 * before. */
struct qn_kept_look *qn_kept_look(struct qn_loop *loop, struct qn_catalog *catalog,
                                  const struct qn_answers_of *of, struct qn_request *rq,
                                  const char *chain, const char *const *ids, size_t n,
                                  qn_kept_fn fn, void *ctx);

/* The request needs them no more, or is gone. NULL allowed. */
void qn_kept_leave(struct qn_kept_look *look);

#endif
