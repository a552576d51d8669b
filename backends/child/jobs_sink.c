/* See jobs.h. The output of jobs, on its way from the compute thread to the loop's thread, and the
 * life of a run. */
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
    struct qn_input_batch *batch;
    while ((batch = r->sink.inputs) != NULL) {
        r->sink.inputs = batch->next;
        free(batch);
    }
    qn_buf_deinit(&r->sink.out);
    qn_arena_free(r->arena);
    free(r);
}

static struct qn_run *run_of(struct qn_sink *s)
{
    return (struct qn_run *)(void *)((char *)s - offsetof(struct qn_run, sink));
}

/* Runs on the loop's thread, posted by qn_sink_send. */
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

/* Marks the run for the loop's thread; called with the lock held. True: the caller must post
 * `deliver` with qn_loop_post after unlocking. */
static bool tell_loop(struct qn_run *r)
{
    bool post = r->owner && !r->sink.posted;
    r->sink.posted = r->sink.posted || post;
    r->refs += post;
    return post;
}

void qn_sink_send(struct qn_sink *s, const struct qn_event *ev)
{
    struct qn_run *r = run_of(s);
    struct qn_jobs *j = r->jobs;
    if (r->finished)
        return; /* an earlier frame was too long, and the reply has ended with that error */
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
    if (r->owner) {
        qn_buf_add(&s->out, j->frame.data, j->frame.len);
        s->ended = r->finished;
    }
    bool post = tell_loop(r);
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

const struct qn_input_batch *qn_sink_inputs(const struct qn_sink *s)
{
    struct qn_run *r = run_of((struct qn_sink *)(uintptr_t)s);
    pthread_mutex_lock(&r->jobs->lock);
    const struct qn_input_batch *oldest = s->inputs;
    pthread_mutex_unlock(&r->jobs->lock);
    return oldest;
}

void qn_sink_drop_inputs(struct qn_sink *s)
{
    struct qn_run *r = run_of(s);
    struct qn_jobs *j = r->jobs;
    pthread_mutex_lock(&j->lock);
    struct qn_input_batch *oldest = s->inputs;
    bool was_full = s->input_bytes > QN_RUN_INPUTS_HIGH;
    s->inputs = oldest->next;
    if (!s->inputs)
        s->inputs_end = &s->inputs;
    s->input_bytes -= oldest->bytes;
    bool post = was_full && s->input_bytes <= QN_RUN_INPUTS_HIGH && tell_loop(r);
    pthread_mutex_unlock(&j->lock);
    free(oldest);
    if (post)
        qn_loop_post(j->loop, deliver, r);
}

void qn_run_add_inputs(struct qn_run *r, struct qn_input_batch *batch)
{
    struct qn_jobs *j = r->jobs;
    pthread_mutex_lock(&j->lock);
    *r->sink.inputs_end = batch;
    r->sink.inputs_end = &batch->next;
    r->sink.input_bytes += batch->bytes;
    qn_jobs_wake(j);
    pthread_mutex_unlock(&j->lock);
}

bool qn_run_inputs_full(struct qn_run *r)
{
    pthread_mutex_lock(&r->jobs->lock);
    bool full = r->sink.input_bytes > QN_RUN_INPUTS_HIGH;
    pthread_mutex_unlock(&r->jobs->lock);
    return full;
}

bool qn_run_take(struct qn_run *r, struct qn_buf *out)
{
    struct qn_jobs *j = r->jobs;
    pthread_mutex_lock(&j->lock);
    if (r->sink.out.len > QN_SINK_HIGH)
        qn_jobs_wake(j); /* the full sink excluded the job from steps; now it may go on */
    struct qn_buf taken = r->sink.out;
    qn_buf_init(&r->sink.out, taken.limit);
    bool ended = r->sink.ended;
    pthread_mutex_unlock(&j->lock);
    if (taken.len)
        qn_buf_add(out, taken.data, taken.len);
    qn_buf_deinit(&taken);
    return ended;
}
