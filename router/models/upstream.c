/* One job on its child: sends it and reads its events. Received bytes go into a frame reader;
 * complete frames are decoded and delivered, unless the owner has paused.
 *
 * Invariants: the owner's callback runs only from the loop or from the HTTP client's data callback,
 * never within a call of the owner. It may pause or cancel, so that after it only `cancelled` tells
 * whether u is to be freed. The terminal event is delivered last. */
#include "models/upstream.h"

#include "base/arena.h"
#include "base/log.h"
#include "contract/codec.h"
#include "contract/frame.h"
#include "contract/inputs.h"
#include "io/http_client.h"

#include <stdio.h>
#include <stdlib.h>

enum { EVENT_ARENA_MAX = 2 * QN_FRAME_LINE_MAX };

struct qn_upstream {
    struct qn_loop *loop;
    struct qn_child *child; /* valid while job.child is set, and in on_died */
    int64_t last_words_ms;  /* how long the second sign of the child's end is waited for, see
                               qn_child_last_words_ms */
    struct qn_child_job job;
    struct qn_post *post; /* NULL: the response has ended */
    struct qn_frame_reader reader;
    struct qn_input_cursor inputs; /* inputs that have not been sent */
    qn_upstream_fn fn;
    void *ctx;
    struct qn_timer *pump_timer; /* runs after resuming: frames may be waiting */
    struct qn_timer *wait_timer; /* waits for the second sign of the child's end */
    bool paused;
    bool in_event, cancelled;
    bool complete;           /* the END event has been delivered */
    int status;              /* HTTP status of the response, set when it has ended */
    struct qn_error *broken; /* the connection's error; NULL: none */
    struct qn_error *death;  /* the process has ended: why; NULL: it has not */
};

/* Errors are large, and most jobs have none, so that they are allocated separately. */
static struct qn_error *keep_error(const struct qn_error *e)
{
    struct qn_error *copy = qn_xmalloc(sizeof *copy);
    *copy = *e;
    return copy;
}

static void free_all(struct qn_upstream *u)
{
    qn_child_job_end(&u->job);
    if (u->post && u->complete)
        qn_http_post_leave(u->post);
    else if (u->post)
        qn_http_post_cancel(u->post);
    qn_timer_stop(u->pump_timer);
    qn_timer_stop(u->wait_timer);
    qn_frame_reader_deinit(&u->reader);
    free(u->broken);
    free(u->death);
    free(u);
}

/* Delivers one event. False: u has been freed. */
static bool give(struct qn_upstream *u, const struct qn_event *ev)
{
    bool last = ev->kind == QN_EV_END || ev->kind == QN_EV_ERROR;
    if (last)
        qn_child_job_end(&u->job); /* the job's slot is free before the owner starts another one */
    u->in_event = true;
    u->complete = ev->kind == QN_EV_END;
    u->fn(u->ctx, ev);
    u->in_event = false;
    if (!last && !u->cancelled)
        return true;
    free_all(u);
    return false;
}

static void give_error(struct qn_upstream *u, const struct qn_error *e)
{
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_ERROR);
    ev.error = *e;
    give(u, &ev);
}

/* The child sent invalid data. The same fault may break the next job, so that the child is
 * restarted. */
static void give_up(struct qn_upstream *u, const struct qn_error *why)
{
    if (u->job.child)
        qn_child_distrust(u->job.child, why);
    give_error(u, why);
}

/* Decodes and delivers one frame. False: u has been freed. */
static bool take_frame(struct qn_upstream *u, const struct qn_frame *f)
{
    struct qn_arena *arena = qn_arena_new(EVENT_ARENA_MAX);
    struct qn_event ev;
    struct qn_error e, why;
    bool alive;
    qn_err err = qn_event_take(f, &ev, arena, &e);
    qn_json_free(f->json);
    if (err) {
        qn_fail(&why, QN_ECHILD, "the model's process sent an event that cannot be understood: %s",
                e.message);
        give_up(u, &why);
        alive = false;
    } else {
        alive = give(u, &ev);
    }
    qn_arena_free(arena);
    return alive;
}

static void on_wait_over(void *ctx);

/* The response has ended without a terminal event, or the process has ended: delivers the error, as
 * soon as both signs are there (end of the response, end of the process) or the waiting time is
 * over. */
static void conclude(struct qn_upstream *u, bool patient)
{
    struct qn_error e;
    bool reply_over = u->post == NULL;
    if (u->paused)
        return; /* called again when resumed */
    if (patient && !(reply_over && (u->death || !u->broken))) {
        if (!u->wait_timer)
            u->wait_timer = qn_timer_start(u->loop, u->last_words_ms, 0, on_wait_over, u);
        return;
    }
    if (u->death)
        e = *u->death;
    else if (u->broken)
        qn_fail(&e, QN_ECHILD, "the connection to the model's process broke: %s",
                u->broken->message);
    else if (u->status == 200)
        qn_fail(&e, QN_ECHILD, "the model's process ended its response too early");
    else
        qn_fail(&e, QN_ECHILD, "the model's process answered with status %d", u->status);
    give_error(u, &e);
}

static void on_wait_over(void *ctx)
{
    struct qn_upstream *u = ctx;
    qn_timer_stop(u->wait_timer);
    u->wait_timer = NULL;
    conclude(u, false);
}

/* Delivers the frames that are complete. */
static void pump(struct qn_upstream *u)
{
    struct qn_frame f;
    struct qn_error e, why;
    while (!u->paused) {
        qn_err err = qn_frame_next(&u->reader, &f, &e);
        if (err == QN_EBUSY) {
            if (!u->post || u->death)
                conclude(u, true);
            return;
        }
        if (err) {
            qn_fail(&why, QN_ECHILD, "the model's process sent a broken frame: %s", e.message);
            give_up(u, &why);
            return;
        }
        if (!take_frame(u, &f))
            return;
    }
}

static void feed(struct qn_upstream *u, const void *p, size_t n)
{
    struct qn_error why;
    if (qn_frame_feed(&u->reader, p, n) == QN_OK) {
        pump(u);
        return;
    }
    qn_fail(&why, QN_ECHILD, "the model's process sent more than a frame may hold");
    give_up(u, &why);
}

static void on_data(void *ctx, const void *p, size_t n)
{
    feed(ctx, p, n);
}

static void on_end(void *ctx, int status, const char *body, size_t n, const struct qn_error *e)
{
    struct qn_upstream *u = ctx;
    u->post = NULL;
    u->status = status;
    if (status == 0 && !u->broken)
        u->broken = keep_error(e);
    /* A refused job (400) or one that came too late (503) has its ERROR frame as the body; any
     * other status is a fault between router and child and is not shown to a client. */
    if (status == 400 || status == 503)
        feed(u, body, n);
    else
        pump(u);
}

static void on_died(void *ctx)
{
    struct qn_upstream *u = ctx;
    if (u->death)
        return;
    u->death = keep_error(qn_child_status(u->child).error);
    if (u->death->code == QN_OK)
        qn_fail(u->death, QN_ECHILD, "the model was unloaded before the response was complete");
    /* Data sent before its end may still arrive, unless the connection has ended too. */
    qn_timer_stop(u->wait_timer);
    u->wait_timer = qn_timer_start(u->loop, u->post ? u->last_words_ms : 0, 0, on_wait_over, u);
}

static void on_pump(void *ctx)
{
    struct qn_upstream *u = ctx;
    qn_timer_stop(u->pump_timer);
    u->pump_timer = NULL;
    pump(u);
}

static void on_more(void *ctx, struct qn_buf *body)
{
    struct qn_upstream *u = ctx;
    qn_inputs_pack(&u->inputs, body);
}

qn_err qn_upstream_send(struct qn_child *c, const struct qn_job *job, struct qn_buf *frame,
                        qn_upstream_fn fn, void *ctx, struct qn_upstream **out, struct qn_error *e)
{
    static const struct qn_post_events whole = {.data = on_data, .end = on_end};
    static const struct qn_post_events growing = {.data = on_data, .end = on_end, .more = on_more};
    const struct qn_post_events *events = job->embed.count > 0 ? &growing : &whole;
    struct qn_upstream *u = qn_xcalloc(1, sizeof *u);
    char url[96];
    u->loop = qn_child_loop(c);
    u->child = c;
    u->last_words_ms = qn_child_last_words_ms(c);
    u->fn = fn;
    u->ctx = ctx;
    u->job.died = on_died;
    u->job.ctx = u;
    qn_frame_reader_init(&u->reader, QN_FRAME_LINE_MAX);
    qn_inputs_begin(&job->embed, &u->inputs);
    qn_err err = qn_child_job_begin(c, &u->job, e);
    if (!err) {
        snprintf(url, sizeof url, "%s/run", qn_child_status(c).url);
        err = qn_http_post(qn_child_client(c), url, qn_child_secret(c), frame, events, u, &u->post,
                           e);
    }
    qn_buf_deinit(frame);
    if (err) {
        free_all(u);
        return err;
    }
    *out = u;
    return QN_OK;
}

qn_err qn_upstream_too_large(struct qn_error *e)
{
    return qn_fail(e, QN_ELIMIT, "the request is larger than a model's process accepts");
}

qn_err qn_upstream_start(struct qn_child *c, const struct qn_job *job, qn_upstream_fn fn, void *ctx,
                         struct qn_upstream **out, struct qn_error *e)
{
    struct qn_buf frame;
    qn_buf_init(&frame, QN_UPSTREAM_FRAME_MAX);
    if (qn_job_frame(job, &frame) == QN_OK)
        return qn_upstream_send(c, job, &frame, fn, ctx, out, e);
    qn_buf_deinit(&frame);
    return qn_upstream_too_large(e);
}

void qn_upstream_pause(struct qn_upstream *u, bool paused)
{
    if (u->paused == paused || u->cancelled)
        return;
    u->paused = paused;
    qn_child_job_pause(&u->job, paused);
    if (u->post)
        qn_http_post_pause(u->post, paused);
    if (!paused && !u->pump_timer)
        u->pump_timer = qn_timer_start(u->loop, 0, 0, on_pump, u);
}

void qn_upstream_cancel(struct qn_upstream *u)
{
    if (u->cancelled)
        return;
    u->cancelled = true;
    if (!u->in_event)
        free_all(u);
}
