/* The jobs of a run: encode them, send them to the model's process, pass their events to the
 * dialect; see run_private.h. */
#include "infer/run_private.h"

#include "base/log.h"
#include "contract/codec.h"

#include <stdlib.h>
#include <string.h>

/* Bytes counted for an event besides its texts, and again for each of its results: what they add to
 * the response. */
enum { EVENT_REPLY_BYTES = 64 };

/* A job that a worker encodes to a frame. */
struct encoding {
    struct qn_infer_run *run;
    size_t i;
    unsigned round; /* of the run: a result of an earlier attempt is dropped */
    struct qn_job job;
    struct qn_buf frame;
    qn_err err;
};

void qn_infer_stop_jobs(struct qn_infer_run *r)
{
    for (size_t i = 0; r->jobs && i < r->rq.n_jobs; i++) {
        if (r->jobs[i].up)
            qn_upstream_cancel(r->jobs[i].up);
        qn_lease_release(r->jobs[i].lease);
        r->jobs[i].up = NULL;
        r->jobs[i].lease = NULL;
    }
    r->open = 0;
    r->round++;
}

void qn_infer_pause_jobs(struct qn_infer_run *r, bool paused)
{
    if (r->paused == paused)
        return;
    r->paused = paused;
    qn_infer_watch_reader(r, paused);
    for (size_t i = 0; i < r->rq.n_jobs; i++)
        if (r->jobs[i].up)
            qn_upstream_pause(r->jobs[i].up, paused);
}

int64_t qn_infer_answers(const struct qn_job *job)
{
    return job->sampling.n == QN_UNSET ? 1 : job->sampling.n;
}

bool qn_infer_end_reasoning(struct qn_infer_run *r)
{
    struct qn_child *child = r->open ? qn_lease_child(r->lease) : NULL;
    if (!child || !qn_child_status(child).ends_reasoning)
        return false;
    for (size_t i = 0; i < r->rq.n_jobs; i++)
        if (r->jobs[i].up)
            qn_child_end_reasoning(child, r->rq.jobs[i].id);
    return true;
}

/* A request that the model refuses does not set the keep-alive time. */
static void keep_model(struct qn_infer_run *r)
{
    if (!r->kept && r->rq.keep_alive_ms != QN_UNSET)
        qn_lease_keep(r->lease, r->rq.keep_alive_ms);
    r->kept = true;
}

/* After a failure of the child the request is repeated once, if its client has got no content
 * yet. */
static void job_failed(struct qn_infer_run *r, const struct qn_error *e)
{
    if (e->code != QN_ECHILD || r->spoken || r->retried || r->with->serving->stopping) {
        qn_infer_fail(r, e, false);
        return;
    }
    qn_warn("infer", "id=%s model=%s retry=1 message=\"%s\"", r->id, r->rq.model, e->message);
    r->retried = true;
    qn_meter_again(&r->meter);
    qn_infer_stop_jobs(r);
    qn_lease_release(r->lease);
    r->lease = NULL;
    qn_infer_wait_for_model(r);
}

static size_t length(const char *text)
{
    return text ? strlen(text) : 0;
}

static size_t event_bytes(const struct qn_event *ev)
{
    return length(ev->text) + length(ev->logprobs) + length(ev->arguments) + length(ev->tokens) +
           length(ev->segment.words) + (size_t)ev->bytes;
}

static void on_event(void *ctx, const struct qn_event *ev)
{
    struct qn_infer_job *j = ctx;
    struct qn_infer_run *r = j->run;
    struct qn_error e = {0};
    if (ev->kind == QN_EV_ERROR) {
        j->up = NULL;
        job_failed(r, &ev->error);
        return;
    }
    keep_model(r);
    if (ev->kind == QN_EV_END) {
        j->up = NULL;
        if (j->done != qn_infer_answers(&r->rq.jobs[j - r->jobs])) {
            qn_fail(&e, QN_ECHILD, "the model's process ended its response before it was complete");
            job_failed(r, &e);
            return;
        }
        qn_lease_rest(j->lease ? j->lease : r->lease);
        qn_lease_release(j->lease);
        j->lease = NULL;
        if (--r->open == 0)
            qn_infer_finish(r);
        return;
    }
    j->done += ev->kind == QN_EV_DONE;
    r->heard += EVENT_REPLY_BYTES * (size_t)(1 + ev->count) + event_bytes(ev);
    qn_meter_event(&r->meter, (size_t)(j - r->jobs), ev);
    if (r->dialect->event(&r->reply, (size_t)(j - r->jobs), ev, &e)) {
        qn_infer_fail(r, &e, false);
    } else if (r->rq.stream && r->out.len) {
        if (ev->kind != QN_EV_PROGRESS || !r->dialect->progress_repeats)
            r->spoken = true;
        qn_infer_flush(r);
    }
}

static void job_failed(struct qn_infer_run *r, const struct qn_error *e);

static void send_job(struct qn_infer_run *r, struct encoding *x)
{
    struct qn_error e = {0};
    struct qn_infer_job *j = &r->jobs[x->i];
    if (x->err)
        qn_upstream_too_large(&e);
    else if (qn_upstream_send(qn_lease_child(r->lease), &x->job, &x->frame, on_event, j, &j->up,
                              &e) == QN_EBUSY &&
             r->large)
        e.code = QN_ECHILD; /* the child was ready when the job was given to the worker */
    if (e.code)
        job_failed(r, &e);
    else if (r->paused)
        qn_upstream_pause(j->up, true);
}

/* Any thread. */
static void encode(void *ctx)
{
    struct encoding *x = ctx;
    qn_buf_init(&x->frame, QN_UPSTREAM_FRAME_MAX);
    x->err = qn_job_frame(&x->job, &x->frame);
}

static void encoded(void *ctx)
{
    struct encoding *x = ctx;
    struct qn_infer_run *r = x->run;
    if (qn_infer_is_back(r) && x->round == r->round)
        send_job(r, x);
    qn_buf_deinit(&x->frame);
    free(x);
}

static void start_job(struct qn_infer_run *r, size_t i)
{
    qn_lease_defaults(r->lease, &r->rq.jobs[i]);
    if (!r->caller.admin && qn_child_status(qn_lease_child(r->lease)).asked_directly)
        r->rq.jobs[i].sampling.no_reuse = true;
    struct encoding own = {.run = r, .i = i, .round = r->round, .job = r->rq.jobs[i]}, *x = &own;
    if (!r->large) {
        encode(x);
        send_job(r, x);
        qn_buf_deinit(&x->frame);
        return;
    }
    x = qn_xmalloc(sizeof *x);
    *x = own;
    r->busy++;
    qn_loop_work(r->with->serving->loop, encode, encoded, x);
}

/* The lease of an additional job has been granted or refused. */
static void job_granted(void *ctx, const struct qn_error *e)
{
    struct qn_infer_job *j = ctx;
    if (e) {
        j->lease = NULL;
        qn_infer_fail(j->run, e, true);
        return;
    }
    start_job(j->run, (size_t)(j - j->run->jobs));
}

/* The first job uses the request's lease; each additional one waits for a lease of its own, so that
 * many prompts in one request do not bypass the queue. */
void qn_infer_start_jobs(struct qn_infer_run *r)
{
    r->dialect->free(r->reply.own);
    r->reply.own = NULL;
    qn_buf_clear(&r->out); /* output of an earlier attempt, of which the client has got nothing */
    r->dialect->begin(&r->reply);
    if (r->rq.n_jobs == 0) {
        keep_model(r);
        qn_infer_finish(r);
        return;
    }
    r->open = r->rq.n_jobs;
    for (size_t i = 0; i < r->rq.n_jobs; i++)
        r->jobs[i] = (struct qn_infer_job){.run = r};
    for (size_t i = 1; i < r->rq.n_jobs; i++)
        qn_lease_another(r->lease, &r->admission, qn_infer_answers(&r->rq.jobs[i]), job_granted,
                         &r->jobs[i], &r->jobs[i].lease);
    start_job(r, 0);
}
