/* See inquiry.h. */
#include "library/inquiry.h"

#include "base/buf.h"
#include "base/str.h"
#include "base/tally.h"
#include "models/fair_queue.h"
#include "registry/web.h"

#include <stdlib.h>

struct qn_inquiry {
    struct qn_fair_item item; /* while queued; the first member */
    struct qn_inquiries *owner;
    struct qn_inquiry *next; /* in the list of running queries */
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
    struct qn_inquiry *running;
    size_t n_running;
    struct qn_fair_queue waiting;
    uint64_t tickets;
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

/* Runs on a worker. A cancelled query is not begun. */
static void work(void *ctx)
{
    struct qn_inquiry *x = ctx;
    if (atomic_load(&x->stop))
        qn_fail(&x->error, QN_ECANCELLED, "the client of the query has gone");
    else if (x->ask(x->ctx, &x->web, &x->error) && !x->error.code)
        qn_fail(&x->error, QN_EINTERNAL, "a query failed without a reason");
}

static void begin(struct qn_inquiries *q)
{
    while (!q->stopped && q->waiting.n && q->n_running < QN_INQUIRIES) {
        struct qn_inquiry *x = (struct qn_inquiry *)qn_fair_next(&q->waiting, UINT64_MAX);
        qn_fair_serve(&q->waiting, &x->item);
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

static qn_err refuse_full(struct qn_error *e)
{
    return qn_fail(e, QN_EBUSY, "%d queries to hubs are waiting already: try again in a moment",
                   QN_INQUIRIES_WAITING_MAX);
}

/* Makes room in a full queue: refuses the newest query of the owner who has the most queries,
 * provided that the new query's owner then still has fewer than that owner. */
static bool displace(struct qn_inquiries *q, const char *owner)
{
    struct qn_tally held;
    struct qn_fair_item *i = NULL;
    int64_t most;
    qn_tally_init(&held);
    for (i = q->waiting.oldest; i; i = i->newer)
        qn_tally_add(&held, qn_fair_group(i), 1);
    const char *whose = qn_tally_most(&held, &most);
    if (whose && most > qn_tally_of(&held, owner) + 1)
        for (i = q->waiting.newest; i && !qn_str_eq(qn_fair_group(i), whose);)
            i = i->older;
    qn_tally_deinit(&held);
    if (!i)
        return false;
    struct qn_inquiry *x = (struct qn_inquiry *)i;
    qn_fair_leave(&q->waiting, i);
    refuse_full(&x->error);
    x->done(x->ctx, &x->error);
    free(x);
    return true;
}

qn_err qn_inquire(struct qn_inquiries *q, const char *owner,
                  qn_err (*ask)(void *ctx, const struct qn_web *web, struct qn_error *e),
                  void (*done)(void *ctx, const struct qn_error *e), void *ctx,
                  struct qn_inquiry **out, struct qn_error *e)
{
    if (q->stopped)
        return qn_fail(e, QN_EBUSY, "the server is stopping");
    if (q->waiting.n == QN_INQUIRIES_WAITING_MAX && !displace(q, owner))
        return refuse_full(e);
    struct qn_inquiry *x = qn_xcalloc(1, sizeof *x);
    x->owner = q;
    x->ask = ask;
    x->done = done;
    x->ctx = ctx;
    x->web = *q->web;
    x->web.stop = &x->stop;
    atomic_init(&x->stop, false);
    qn_fair_add(&q->waiting, &x->item, ++q->tickets, owner, "");
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
    while ((x = (struct qn_inquiry *)q->waiting.oldest)) {
        qn_fair_leave(&q->waiting, &x->item);
        qn_fail(&x->error, QN_ECANCELLED, "the server is stopping");
        x->done(x->ctx, &x->error);
        free(x);
    }
}

/* No query is left here: the loop has called done for every query that was begun. */
void qn_inquiries_free(struct qn_inquiries *q)
{
    free(q);
}
