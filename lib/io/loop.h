/* The event loop: one thread, one epoll set; descriptors, timers, posts from other threads, worker
 * threads.
 *
 * Every function except qn_loop_post must be called on the loop's own thread. Callbacks must not
 * block; one that takes longer than QN_LOOP_SLOW_MS is logged as an error of the program. */
#ifndef QN_IO_LOOP_H
#define QN_IO_LOOP_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    QN_LOOP_SLOW_MS = 20,
    /* There are always more workers than long tasks (requests to hubs, checksums, scans of large
     * folders, looks at files that clients name) running at the same time, so a short task that a
     * request waits for always finds one. */
    QN_LOOP_WORKERS = 10
};

struct qn_loop;
struct qn_watch; /* a descriptor in the set */
struct qn_timer;

typedef void (*qn_fd_fn)(void *ctx, uint32_t events); /* events: EPOLLIN, EPOLLOUT, EPOLLHUP ... */
typedef void (*qn_timer_fn)(void *ctx);
typedef void (*qn_post_fn)(void *ctx);

qn_err qn_loop_new(struct qn_loop **out, struct qn_error *e);
void qn_loop_free(
    struct qn_loop *l); /* joins the workers; pending posts and done callbacks are called first */
void qn_loop_run(struct qn_loop *l); /* until qn_loop_stop */
void qn_loop_stop(struct qn_loop *l);

/* Level-triggered. The caller keeps ownership of the descriptor and must remove the watch before
 * closing it. A watch may be removed inside any callback, including its own: it is not called
 * again. */
qn_err qn_watch_add(struct qn_loop *l, int fd, uint32_t events, qn_fd_fn fn, void *ctx,
                    struct qn_watch **out, struct qn_error *e);
void qn_watch_set(struct qn_watch *w, uint32_t events);
void qn_watch_remove(struct qn_watch *w); /* NULL allowed */

/* One-shot unless repeat_ms > 0. May be stopped inside any callback, including its own. */
struct qn_timer *qn_timer_start(struct qn_loop *l, int64_t delay_ms, int64_t repeat_ms,
                                qn_timer_fn fn, void *ctx);
void qn_timer_stop(struct qn_timer *t); /* frees it; NULL allowed. A one-shot timer that has fired
                                           must still be stopped */

/* Any thread: fn(ctx) will be called once on the loop's thread, in order of posting. */
void qn_loop_post(struct qn_loop *l, qn_post_fn fn, void *ctx);

/* Runs work(ctx) on a worker thread, then done(ctx) on the loop's thread; done MAY be NULL. */
void qn_loop_work(struct qn_loop *l, qn_post_fn work, qn_post_fn done, void *ctx);

#endif
