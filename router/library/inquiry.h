/* Queries to hubs for a client that waits for the result: what a repository contains, what a search
 * finds. They run on workers, at most QN_INQUIRIES at a time, since workers have other tasks and a
 * hub may be slow. Further ones are queued; owners take turns, and when the queue is full the
 * newest query of an owner with many is refused in favour of one with few. A client that
 * disconnects cancels its query. Loop thread only. */
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
/* Stops running queries and ends queued ones; call before the loop is freed, when no client is
 * left. NULL allowed, as below. */
void qn_inquiries_stop(struct qn_inquiries *q);
void qn_inquiries_free(struct qn_inquiries *q); /* call after the loop has been freed */

/* Queues a query. owner: see client_id.h; copied. ask: runs on a worker, blocking; web has the
 * query's own stop flag. done: called on the loop, exactly once, never from within this call; e is
 * NULL when ask returned QN_OK. QN_EBUSY when the queue is full (done is then not called). */
qn_err qn_inquire(struct qn_inquiries *q, const char *owner,
                  qn_err (*ask)(void *ctx, const struct qn_web *web, struct qn_error *e),
                  void (*done)(void *ctx, const struct qn_error *e), void *ctx,
                  struct qn_inquiry **out, struct qn_error *e);

/* The client has gone: the query ends soon, and done gets QN_ECANCELLED. */
void qn_inquiry_stop(struct qn_inquiry *x);

#endif
