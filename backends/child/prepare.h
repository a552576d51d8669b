/* Threads that prepare jobs in parallel with the compute thread, for backends with
 * qn_backend.prepare.
 *
 * One thread prepares a job from beginning to end. There are several threads, so that a job that is
 * slow to prepare does not hold up the jobs behind it: the kernel's scheduler divides the
 * processors between them. The backend itself must limit the cost of one preparation. Jobs are
 * taken in the order of arrival. A job for which the backend has no room (QN_EBUSY) is put aside
 * until qn_preparer_retry is called, and the other jobs proceed. */
#ifndef QN_CHILD_PREPARE_H
#define QN_CHILD_PREPARE_H

#include "child/serve.h"

enum { QN_CHILD_PREPARERS = 4 };

/* A job during its preparation. It is part of its owner's structure and must keep its address until
 * `done` has been called or qn_preparer_remove has returned true. */
struct qn_preparation {
    struct qn_preparation *next; /* this and the next two fields belong to the preparer */
    bool waiting;
    bool aside;               /* put aside: the backend had no room */
    const struct qn_job *job; /* borrowed */
    void *prepared;           /* result if failure.code is QN_OK */
    struct qn_error failure;  /* otherwise, with its code set */
};

struct qn_preparer;

/* `done` is called on the preparer's threads without the lock; after the call the preparer does not
 * use the preparation any more. backend is borrowed. */
struct qn_preparer *qn_preparer_new(const struct qn_backend *backend,
                                    void (*done)(void *ctx, struct qn_preparation *p), void *ctx);
/* Starts the threads; call it when the model has been loaded. QN_EIO if no thread could be
 * started. */
qn_err qn_preparer_start(struct qn_preparer *r, void *self, struct qn_error *e);
/* Ends the threads; each finishes its current job. Jobs that still wait stay with their owner. */
void qn_preparer_stop(struct qn_preparer *r);
void qn_preparer_free(struct qn_preparer *r); /* after qn_preparer_stop; NULL allowed */

/* Queues a job. Any thread. */
void qn_preparer_add(struct qn_preparer *r, struct qn_preparation *p);
/* True: the preparation had not begun, and the preparer has removed it. False: `done` has been
 * called or will be. */
bool qn_preparer_remove(struct qn_preparer *r, struct qn_preparation *p);
/* Tries jobs that were put aside again, as the backend may have room for them. */
void qn_preparer_retry(struct qn_preparer *r);

#endif
