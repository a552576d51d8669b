/* Questions to hubs on behalf of a client that waits for the answer: what a repository holds, what
 * a search finds. They run on workers, no more than QN_INQUIRIES at a time, since workers have
 * other things to do and a hub may be slow; further ones wait, owners take turns, and the place of
 * the newest of an owner with many goes to one with few when too many wait. A client that leaves
 * ends its question. Loop thread only. */
#ifndef QN_LIBRARY_INQUIRY_H
#define QN_LIBRARY_INQUIRY_H

#include "base/error.h"
#include "io/loop.h"

struct qn_web;

enum { QN_INQUIRIES = 2, QN_INQUIRIES_WAITING_MAX = 64 };

struct qn_inquiries;
struct qn_inquiry;

struct qn_inquiries *qn_inquiries_new(struct qn_loop *l,
                                      const struct qn_web *web); /* web is lent */
/* What runs is told to stop, what waits is done with; before the loop is freed, when no client is
 * left. NULL allowed, as below. */
void qn_inquiries_stop(struct qn_inquiries *q);
void qn_inquiries_free(struct qn_inquiries *q); /* after the loop */

/* owner: who asks, see client_id.h; copied. ask: on a worker, blocking; web carries the question's
 * own stop flag. done: on the loop, exactly once, not from within; e is NULL when ask returned
 * QN_OK. QN_EBUSY when too many wait (done is then not called). */
qn_err qn_inquire(struct qn_inquiries *q, const char *owner,
                  qn_err (*ask)(void *ctx, const struct qn_web *web, struct qn_error *e),
                  void (*done)(void *ctx, const struct qn_error *e), void *ctx,
                  struct qn_inquiry **out, struct qn_error *e);

/* Nobody waits any more: the question ends soon, and done says so (QN_ECANCELLED). */
void qn_inquiry_stop(struct qn_inquiry *x);

#endif
