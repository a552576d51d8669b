/* Worker threads for the work items of one operation. Items are taken one at a time and any thread
 * can take any item, so a descheduled thread delays only its own item; waiting threads spin for
 * about 20 us and then sleep, so that they do not take processor time from other programs. */
#ifndef QN_ENGINE_POOL_H
#define QN_ENGINE_POOL_H

#include "base/error.h"

#include <stdint.h>

struct qn_pool;

enum { QN_POOL_THREADS_MAX = 128 };

/* i: the item, 0 .. n - 1, each exactly once.  worker: 0 .. threads - 1, constant within one run
 * and unique at any time: an index for per-thread buffers. Must not call qn_pool_run. */
typedef void (*qn_pool_fn)(void *arg, int64_t i, int worker);

/* threads: 1 .. QN_POOL_THREADS_MAX, including the caller of qn_pool_run. */
qn_err qn_pool_new(int threads, struct qn_pool **out, struct qn_error *e);
void qn_pool_free(struct qn_pool *p); /* NULL allowed */
int qn_pool_threads(const struct qn_pool *p);

/* Calls fn for every item, on this thread and the workers, and returns when all are done. One
 * caller at a time. A single item, or a pool of one thread, runs on the calling thread alone. */
void qn_pool_run(struct qn_pool *p, qn_pool_fn fn, void *arg, int64_t n);

#endif
