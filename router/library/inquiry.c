/* See inquiry.h. */
#include "library/inquiry.h"

#include "base/buf.h"
#include "registry/web.h"

#include <stdlib.h>

struct qn_inquiry {
    struct qn_inquiries *owner;
    struct qn_inquiry *next; /* among those that run or those that wait */
    qn_err (*ask)(void *ctx, const struct qn_web *web, struct qn_error *e);
    void (*done)(void *ctx, const struct qn_error *e);
    void *ctx;
    struct qn_web web;
    atomic_bool stop;
    struct qn_error error;
};

struct qn_inquiries {
    struct qn_loop *loop;
    const struct qn_web *web;
    struct qn_inquiry *running, *waiting; /* waiting: the oldest first */
    size_t n_running, n_waiting;
    bool stopped;
};

struct qn_inquiries *qn_inquiries_new(struct qn_loop *l, const struct qn_web *web)
{
    struct qn_inquiries *q = qn_xcalloc(1, sizeof *q);
    q->loop = l;
    q->web = web;
    return q;
}

static void finished(void *ctx);

/* Worker. One that nobody waits for any more is not begun. */
static void work(void *ctx)
{
    struct qn_inquiry *x = ctx;
    if (atomic_load(&x->stop))
        qn_fail(&x->error, QN_ECANCELLED, "nobody waits for the answer any more");
    else if (x->ask(x->ctx, &x->web, &x->error) && !x->error.code)
        qn_fail(&x->error, QN_EINTERNAL, "a question failed without a reason");
}

static void begin(struct qn_inquiries *q)
{
    while (!q->stopped && q->waiting && q->n_running < QN_INQUIRIES) {
        struct qn_inquiry *x = q->waiting;
        q->waiting = x->next;
        q->n_waiting--;
        x->next = q->running;
        q->running = x;
        q->n_running++;
        qn_loop_work(q->loop, work, finished, x);
    }
}

static void finished(void *ctx)
{
    struct qn_inquiry *x = ctx, **at = &x->owner->running;
    struct qn_inquiries *q = x->owner;
    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
    q->n_running--;
    x->done(x->ctx, x->error.code ? &x->error : NULL);
    free(x);
    begin(q);
}

qn_err qn_inquire(struct qn_inquiries *q,
                  qn_err (*ask)(void *ctx, const struct qn_web *web, struct qn_error *e),
                  void (*done)(void *ctx, const struct qn_error *e), void *ctx,
                  struct qn_inquiry **out, struct qn_error *e)
{
    if (q->stopped)
        return qn_fail(e, QN_EBUSY, "the server is stopping");
    if (q->n_waiting == QN_INQUIRIES_WAITING_MAX)
        return qn_fail(e, QN_EBUSY, "%d questions to hubs wait already: try again in a moment",
                       QN_INQUIRIES_WAITING_MAX);
    struct qn_inquiry *x = qn_xcalloc(1, sizeof *x), **last = &q->waiting;
    x->owner = q;
    x->ask = ask;
    x->done = done;
    x->ctx = ctx;
    x->web = *q->web;
    x->web.stop = &x->stop;
    atomic_init(&x->stop, false);
    while (*last)
        last = &(*last)->next;
    *last = x;
    q->n_waiting++;
    *out = x;
    begin(q);
    return QN_OK;
}

void qn_inquiry_stop(struct qn_inquiry *x)
{
    atomic_store(&x->stop, true);
}

void qn_inquiries_stop(struct qn_inquiries *q)
{
    if (!q)
        return;
    q->stopped = true;
    for (struct qn_inquiry *x = q->running; x; x = x->next)
        qn_inquiry_stop(x);
    struct qn_inquiry *x;
    while ((x = q->waiting)) {
        q->waiting = x->next;
        q->n_waiting--;
        qn_fail(&x->error, QN_ECANCELLED, "the server is stopping");
        x->done(x->ctx, &x->error);
        free(x);
    }
}

/* The loop has run the done of every question that was begun. */
void qn_inquiries_free(struct qn_inquiries *q)
{
    free(q);
}
