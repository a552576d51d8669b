/* Loads the stored responses that a request continues: rows from the catalog, parsed on a worker,
 * since they may have many megabytes of JSON. Loop thread only. */
#ifndef QN_INFER_KEPT_H
#define QN_INFER_KEPT_H

#include "catalog/answers.h"
#include "dialects/dialect.h"

struct qn_kept_look;
struct qn_loop;
struct qn_catalog;

/* e NULL: the responses are in rq->kept. */
typedef void (*qn_kept_fn)(void *ctx, const struct qn_error *e);

/* Loads, among the stored responses that `of` may read, the conversation that ends with the
 * response `chain` (MAY be NULL) and n single responses. fn is called once, never from within this
 * call, unless qn_kept_leave is called before. */
struct qn_kept_look *qn_kept_look(struct qn_loop *loop, struct qn_catalog *catalog,
                                  const struct qn_answers_of *of, struct qn_request *rq,
                                  const char *chain, const char *const *ids, size_t n,
                                  qn_kept_fn fn, void *ctx);

/* To be called when the request has ended, or does not need the responses any more. NULL
 * allowed. */
void qn_kept_leave(struct qn_kept_look *look);

#endif
