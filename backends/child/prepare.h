/* Threads that prepare jobs beside the compute thread, for backends that have
 * qn_backend.prepare.
 *
 * A job is prepared by one thread from beginning to end; there are several threads, so that the
 * kernel's time slices share the processors between a job that is slow to prepare and those behind
 * it. What one preparation costs is the backend's to bound, in steps. Jobs are taken in the order
 * they came; one for which the backend has no room (QN_EBUSY) is put aside until qn_preparer_retry
 * and other jobs go on. */
#ifndef QN_CHILD_PREPARE_H
#define QN_CHILD_PREPARE_H

#include "child/serve.h"

enum { QN_CHILD_PREPARERS = 4 };

/* A job on its way through preparation: part of its owner's structure, which stays where it is
 * until `done` was called or qn_preparer_remove returned true. */
struct qn_preparation {
    struct qn_preparation *next; /* the preparer's, and so are the next two */
    bool waiting;
    bool aside;               /* there was no room */
    const struct qn_job *job; /* lent */
    void *prepared;           /* the outcome: of QN_OK */
    struct qn_error failure;  /* otherwise, its code set */
};

struct qn_preparer;

/* done is called on the preparer's threads, without its lock; afterwards the preparer has forgotten
 * the preparation. backend is lent. */
struct qn_preparer *qn_preparer_new(const struct qn_backend *backend,
                                    void (*done)(void *ctx, struct qn_preparation *p), void *ctx);
/* The model has been loaded: starts the threads. QN_EIO when none could be started. */
qn_err qn_preparer_start(struct qn_preparer *r, void *self, struct qn_error *e);
/* Ends the threads; each finishes what it is at. Jobs that still wait are left to their owner. */
void qn_preparer_stop(struct qn_preparer *r);
void qn_preparer_free(struct qn_preparer *r); /* after stop; NULL allowed */

/* Any thread. */
void qn_preparer_add(struct qn_preparer *r, struct qn_preparation *p);
/* True: it had not been begun and is forgotten. False: `done` was called or will be. */
bool qn_preparer_remove(struct qn_preparer *r, struct qn_preparation *p);
/* Something that may have been in the way is gone: jobs put aside are tried again. */
void qn_preparer_retry(struct qn_preparer *r);

#endif
