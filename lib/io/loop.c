/* The event loop. Watches are in one epoll set, timers in a binary heap, posts in a locked queue
 * with an eventfd, tasks for the workers in a second locked queue.
 *
 * Invariants: a removed watch stays allocated until the current batch of events has been handled,
 * so pointers in the batch stay valid and lead to a watch that is marked as removed. A timer is out
 * of the heap while it fires (or back in it, if it repeats), so its callback may stop it. */
#include "io/loop.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { BATCH = 64, NO_INDEX = -1 };

struct qn_watch {
    struct qn_loop *loop;
    int fd;
    uint32_t events;
    qn_fd_fn fn; /* NULL: removed */
    void *ctx;
    struct qn_watch *next_dead;
};

struct qn_timer {
    struct qn_loop *loop;
    int64_t due_ms, repeat_ms;
    uint64_t seq; /* order of starting: decides between equal times, and ends a round */
    int index;    /* in the heap, or NO_INDEX */
    qn_timer_fn fn;
    void *ctx;
};

struct call {
    qn_post_fn fn;
    void *ctx;
};

struct calls {
    struct call *v;
    size_t n, cap;
};

struct task {
    struct qn_loop *loop;
    qn_post_fn work, done;
    void *ctx;
    struct task *next;
};

struct qn_loop {
    int epoll_fd, event_fd;
    bool stopped;
    struct qn_watch *wake; /* of event_fd */
    struct qn_watch *dead; /* removed, freed after the batch */

    struct qn_timer **heap;
    int n_timers, cap_timers;
    uint64_t timer_seq;

    pthread_mutex_t post_lock;
    struct calls posted;  /* under post_lock */
    struct calls running; /* used by the loop only: the batch being called */

    pthread_mutex_t work_lock;
    pthread_cond_t work_cond;
    struct task *first, *last; /* under work_lock */
    bool quit;                 /* under work_lock */
    int n_workers;
    pthread_t workers[QN_LOOP_WORKERS];
};

/* ---- timers ---- */

static bool earlier(const struct qn_timer *a, const struct qn_timer *b)
{
    return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->seq < b->seq;
}

static void heap_put(struct qn_loop *l, int i, struct qn_timer *t)
{
    l->heap[i] = t;
    t->index = i;
}

static void heap_up(struct qn_loop *l, int i, struct qn_timer *t)
{
    while (i > 0 && earlier(t, l->heap[(i - 1) / 2])) {
        heap_put(l, i, l->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    heap_put(l, i, t);
}

static void heap_down(struct qn_loop *l, int i, struct qn_timer *t)
{
    for (;;) {
        int child = 2 * i + 1;
        if (child >= l->n_timers)
            break;
        if (child + 1 < l->n_timers && earlier(l->heap[child + 1], l->heap[child]))
            child++;
        if (!earlier(l->heap[child], t))
            break;
        heap_put(l, i, l->heap[child]);
        i = child;
    }
    heap_put(l, i, t);
}

static void heap_insert(struct qn_loop *l, struct qn_timer *t)
{
    if (l->n_timers == l->cap_timers) {
        l->cap_timers = l->cap_timers ? 2 * l->cap_timers : 16;
        l->heap = qn_xrealloc(l->heap, (size_t)l->cap_timers * sizeof *l->heap);
    }
    t->seq = l->timer_seq++;
    heap_up(l, l->n_timers++, t);
}

static void heap_remove(struct qn_loop *l, struct qn_timer *t)
{
    int i = t->index;
    struct qn_timer *moved = l->heap[--l->n_timers];
    t->index = NO_INDEX;
    if (moved == t)
        return;
    if (i > 0 && earlier(moved, l->heap[(i - 1) / 2]))
        heap_up(l, i, moved);
    else
        heap_down(l, i, moved);
}

struct qn_timer *qn_timer_start(struct qn_loop *l, int64_t delay_ms, int64_t repeat_ms,
                                qn_timer_fn fn, void *ctx)
{
    struct qn_timer *t = qn_xcalloc(1, sizeof *t);
    t->loop = l;
    t->due_ms = qn_now_ms() + (delay_ms > 0 ? delay_ms : 0);
    t->repeat_ms = repeat_ms > 0 ? repeat_ms : 0;
    t->fn = fn;
    t->ctx = ctx;
    heap_insert(l, t);
    return t;
}

void qn_timer_stop(struct qn_timer *t)
{
    if (!t)
        return;
    if (t->index != NO_INDEX)
        heap_remove(t->loop, t);
    free(t);
}

/* ---- calling ---- */

static void note_slow(int64_t began_us, const char *what)
{
    int64_t ms = (qn_now_us() - began_us) / 1000;
    if (ms > QN_LOOP_SLOW_MS)
        qn_warn("loop", "a callback blocked the loop kind=%s ms=%lld", what, (long long)ms);
}

static void fire_timers(struct qn_loop *l)
{
    int64_t now = qn_now_ms();
    uint64_t round = l->timer_seq; /* timers started from here on wait for the next round */
    while (l->n_timers > 0 && !l->stopped) {
        struct qn_timer *t = l->heap[0];
        if (t->due_ms > now || t->seq >= round)
            break;
        heap_remove(l, t);
        if (t->repeat_ms) {
            t->due_ms += t->repeat_ms;
            if (t->due_ms <= now) /* do not make up for missed rounds */
                t->due_ms = now + t->repeat_ms;
            heap_insert(l, t);
        }
        int64_t began = qn_now_us();
        t->fn(t->ctx); /* may free t */
        note_slow(began, "timer");
    }
}

static void calls_add(struct calls *c, qn_post_fn fn, void *ctx)
{
    if (c->n == c->cap) {
        c->cap = c->cap ? 2 * c->cap : 16;
        c->v = qn_xrealloc(c->v, c->cap * sizeof *c->v);
    }
    c->v[c->n++] = (struct call){fn, ctx};
}

void qn_loop_post(struct qn_loop *l, qn_post_fn fn, void *ctx)
{
    pthread_mutex_lock(&l->post_lock);
    bool first = l->posted.n == 0;
    calls_add(&l->posted, fn, ctx);
    pthread_mutex_unlock(&l->post_lock);
    if (first) {
        uint64_t one = 1;
        /* The counter cannot overflow: it is 1 at most. A failure would be a bug in this file. */
        ssize_t n = write(l->event_fd, &one, sizeof one);
        assert(n == (ssize_t)sizeof one);
        (void)n;
    }
}

/* Calls the posts made so far; posts made meanwhile wait for the next round. */
static bool run_posts(struct qn_loop *l)
{
    pthread_mutex_lock(&l->post_lock);
    struct calls batch = l->posted;
    l->posted = l->running;
    l->posted.n = 0;
    pthread_mutex_unlock(&l->post_lock);
    l->running = (struct calls){0};
    for (size_t i = 0; i < batch.n; i++) {
        int64_t began = qn_now_us();
        batch.v[i].fn(batch.v[i].ctx);
        note_slow(began, "post");
    }
    bool any = batch.n > 0;
    free(l->running.v);
    l->running = batch;
    return any;
}

static void on_event_fd(void *ctx, uint32_t events)
{
    (void)events;
    struct qn_loop *l = ctx;
    uint64_t count;
    if (read(l->event_fd, &count, sizeof count) < 0 && errno != EAGAIN && errno != EINTR)
        qn_error_log("loop", "reading the wake-up descriptor failed: %s", strerror(errno));
    run_posts(l);
}

/* ---- watches ---- */

qn_err qn_watch_add(struct qn_loop *l, int fd, uint32_t events, qn_fd_fn fn, void *ctx,
                    struct qn_watch **out, struct qn_error *e)
{
    struct qn_watch *w = qn_xcalloc(1, sizeof *w);
    *w = (struct qn_watch){.loop = l, .fd = fd, .events = events, .fn = fn, .ctx = ctx};
    struct epoll_event ev = {.events = events, .data.ptr = w};
    if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0) {
        free(w);
        return qn_fail_errno(e, "watch descriptor %d", fd);
    }
    *out = w;
    return QN_OK;
}

void qn_watch_set(struct qn_watch *w, uint32_t events)
{
    if (w->events == events)
        return;
    w->events = events;
    struct epoll_event ev = {.events = events, .data.ptr = w};
    if (epoll_ctl(w->loop->epoll_fd, EPOLL_CTL_MOD, w->fd, &ev) < 0)
        qn_error_log("loop", "changing the watch of descriptor %d failed: %s", w->fd,
                     strerror(errno));
}

void qn_watch_remove(struct qn_watch *w)
{
    if (!w)
        return;
    assert(w->fn);
    if (epoll_ctl(w->loop->epoll_fd, EPOLL_CTL_DEL, w->fd, NULL) < 0)
        qn_error_log("loop", "removing the watch of descriptor %d failed: %s", w->fd,
                     strerror(errno));
    w->fn = NULL;
    w->next_dead = w->loop->dead;
    w->loop->dead = w;
}

static void bury(struct qn_loop *l)
{
    while (l->dead) {
        struct qn_watch *w = l->dead;
        l->dead = w->next_dead;
        free(w);
    }
}

/* ---- workers ---- */

static void *worker(void *arg)
{
    struct qn_loop *l = arg;
    pthread_mutex_lock(&l->work_lock);
    for (;;) {
        while (!l->first && !l->quit)
            pthread_cond_wait(&l->work_cond, &l->work_lock);
        struct task *t = l->first;
        if (!t)
            break; /* quit, and no task is left */
        l->first = t->next;
        if (!l->first)
            l->last = NULL;
        pthread_mutex_unlock(&l->work_lock);
        t->work(t->ctx);
        if (t->done)
            qn_loop_post(l, t->done, t->ctx);
        free(t);
        pthread_mutex_lock(&l->work_lock);
    }
    pthread_mutex_unlock(&l->work_lock);
    return NULL;
}

/* Signals belong to the loop's thread (its signalfd), so workers start with all of them blocked. */
static void start_workers(struct qn_loop *l)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (l->n_workers < QN_LOOP_WORKERS) {
        int err = pthread_create(&l->workers[l->n_workers], NULL, worker, l);
        if (err) {
            qn_error_log("loop", "starting a worker thread failed: %s", strerror(err));
            break;
        }
        l->n_workers++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (l->n_workers == 0)
        abort(); /* the server cannot run without a worker thread */
}

void qn_loop_work(struct qn_loop *l, qn_post_fn work, qn_post_fn done, void *ctx)
{
    if (l->n_workers == 0)
        start_workers(l);
    struct task *t = qn_xcalloc(1, sizeof *t);
    *t = (struct task){.loop = l, .work = work, .done = done, .ctx = ctx};
    pthread_mutex_lock(&l->work_lock);
    if (l->quit) { /* called by one of the last posts: run it here */
        pthread_mutex_unlock(&l->work_lock);
        work(ctx);
        if (done)
            qn_loop_post(l, done, ctx);
        free(t);
        return;
    }
    if (l->last)
        l->last->next = t;
    else
        l->first = t;
    l->last = t;
    pthread_cond_signal(&l->work_cond);
    pthread_mutex_unlock(&l->work_lock);
}

/* ---- creation, running, end ---- */

qn_err qn_loop_new(struct qn_loop **out, struct qn_error *e)
{
    struct qn_loop *l = qn_xcalloc(1, sizeof *l);
    qn_err err = QN_OK;
    pthread_mutex_init(&l->post_lock, NULL);
    pthread_mutex_init(&l->work_lock, NULL);
    pthread_cond_init(&l->work_cond, NULL);
    l->event_fd = -1;
    l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (l->epoll_fd < 0) {
        err = qn_fail_errno(e, "create the event loop");
        goto fail;
    }
    l->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (l->event_fd < 0) {
        err = qn_fail_errno(e, "create the wake-up descriptor");
        goto fail;
    }
    err = qn_watch_add(l, l->event_fd, EPOLLIN, on_event_fd, l, &l->wake, e);
    if (err)
        goto fail;
    *out = l;
    return QN_OK;
fail:
    qn_loop_free(l);
    return err;
}

void qn_loop_free(struct qn_loop *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->work_lock);
    l->quit = true;
    pthread_cond_broadcast(&l->work_cond);
    pthread_mutex_unlock(&l->work_lock);
    for (int i = 0; i < l->n_workers; i++)
        pthread_join(l->workers[i], NULL);
    while (run_posts(l))
        ;
    for (int i = 0; i < l->n_timers; i++)
        free(l->heap[i]);
    free(l->heap);
    bury(l);
    free(l->wake);
    free(l->posted.v);
    free(l->running.v);
    if (l->event_fd >= 0)
        close(l->event_fd);
    if (l->epoll_fd >= 0)
        close(l->epoll_fd);
    pthread_cond_destroy(&l->work_cond);
    pthread_mutex_destroy(&l->work_lock);
    pthread_mutex_destroy(&l->post_lock);
    free(l);
}

static int next_timeout(const struct qn_loop *l)
{
    if (l->n_timers == 0)
        return -1;
    int64_t wait = l->heap[0]->due_ms - qn_now_ms();
    if (wait <= 0)
        return 0;
    return wait > 60000 ? 60000 : (int)wait;
}

void qn_loop_run(struct qn_loop *l)
{
    struct epoll_event batch[BATCH];
    l->stopped = false;
    while (!l->stopped) {
        int n = epoll_wait(l->epoll_fd, batch, BATCH, next_timeout(l));
        if (n < 0) {
            if (errno == EINTR)
                continue;
            qn_fatal("loop", "epoll_wait failed: %s", strerror(errno));
            abort(); /* the set is broken, a bug; nothing can be served without it */
        }
        for (int i = 0; i < n && !l->stopped; i++) {
            struct qn_watch *w = batch[i].data.ptr;
            if (!w->fn)
                continue; /* removed by a callback earlier in this batch */
            int64_t began = qn_now_us();
            w->fn(w->ctx, batch[i].events);
            note_slow(began, "descriptor");
        }
        if (!l->stopped)
            fire_timers(l);
        bury(l);
    }
}

void qn_loop_stop(struct qn_loop *l)
{
    l->stopped = true;
}
