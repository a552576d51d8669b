/* See jobs.h. What a job says, from the compute thread to the loop's, and the life of a run. */
#include "child/jobs_private.h"

#include "contract/codec.h"
#include "contract/frame.h"

#include <stdlib.h>
#include <string.h>

void qn_jobs_wake(struct qn_jobs *j)
{
    j->wake = true;
    pthread_cond_signal(&j->wake_cond);
    if (j->loaded && j->backend->wake)
        j->backend->wake(j->self);
}

bool qn_run_unref(struct qn_run *r)
{
    return --r->refs == 0;
}

void qn_run_free(struct qn_run *r)
{
    qn_buf_deinit(&r->sink.out);
    qn_arena_free(r->arena);
    free(r);
}

static struct qn_run *run_of(struct qn_sink *s)
{
    return (struct qn_run *)(void *)((char *)s - offsetof(struct qn_run, sink));
}

/* Loop's thread: the post that qn_sink_send made. */
static void deliver(void *ctx)
{
    struct qn_run *r = ctx;
    struct qn_jobs *j = r->jobs;
    pthread_mutex_lock(&j->lock);
    r->sink.posted = false;
    void *owner = r->owner;
    bool last = qn_run_unref(r);
    pthread_mutex_unlock(&j->lock);
    if (last)
        qn_run_free(r);
    if (owner)
        j->ev.output(j->ctx, owner);
}

void qn_sink_send(struct qn_sink *s, const struct qn_event *ev)
{
    struct qn_run *r = run_of(s);
    struct qn_jobs *j = r->jobs;
    if (r->finished)
        return; /* the frame before was too long: the reply has ended with that error */
    qn_buf_clear(&j->frame);
    enum qn_event_kind kind = ev->kind;
    if (qn_event_frame(ev, &j->frame)) {
        struct qn_event error;
        qn_event_init(&error, QN_EV_ERROR);
        qn_fail(&error.error, QN_ELIMIT, "one event of the reply is larger than %d MiB",
                QN_FRAME_LINE_MAX >> 20);
        kind = QN_EV_ERROR;
        qn_buf_clear(&j->frame);
        qn_event_frame(&error, &j->frame);
    }
    r->finished = kind == QN_EV_END || kind == QN_EV_ERROR;
    pthread_mutex_lock(&j->lock);
    bool post = r->owner && !s->posted;
    if (r->owner) {
        qn_buf_add(&s->out, j->frame.data, j->frame.len);
        s->ended = r->finished;
        s->posted = true;
        r->refs += post;
    }
    pthread_mutex_unlock(&j->lock);
    if (post)
        qn_loop_post(j->loop, deliver, r);
}

bool qn_sink_full(const struct qn_sink *s)
{
    struct qn_run *r = run_of((struct qn_sink *)(uintptr_t)s);
    pthread_mutex_lock(&r->jobs->lock);
    bool full = s->out.len > QN_SINK_HIGH;
    pthread_mutex_unlock(&r->jobs->lock);
    return full;
}

bool qn_run_take(struct qn_run *r, struct qn_buf *out)
{
    struct qn_jobs *j = r->jobs;
    pthread_mutex_lock(&j->lock);
    if (r->sink.out.len > QN_SINK_HIGH)
        qn_jobs_wake(j); /* it was left out of the steps, and may go on */
    struct qn_buf taken = r->sink.out;
    qn_buf_init(&r->sink.out, taken.limit);
    bool ended = r->sink.ended;
    pthread_mutex_unlock(&j->lock);
    if (taken.len)
        qn_buf_add(out, taken.data, taken.len);
    qn_buf_deinit(&taken);
    return ended;
}
