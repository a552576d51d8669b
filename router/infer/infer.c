/* One inference request from its body to its last byte, see infer.h.
 *
 * A run owns everything of one request: its lease on the model, one upstream per job, the reply in
 * the making. It ends in exactly one of finish (all jobs ended), fail, or the client going away,
 * and is freed there.
 *
 * Where a request is large, a worker does what is proportional to its size: reading it, encoding
 * its jobs, writing a whole reply, freeing all that. While the worker reads or writes (aside),
 * nothing else is done for the run; while it encodes, other jobs go on. A run that ends meanwhile
 * gives up its lease and its connection at once, and its memory when the worker is back. */
#include "infer/infer.h"

#include "access/auth.h"
#include "access/client_id.h"
#include "access/owner_salt.h"
#include "answers/answer.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rand.h"
#include "base/str.h"
#include "catalog/answers.h"
#include "contract/backend_types.h"
#include "contract/codec.h"
#include "downloads/pull_first.h"
#include "infer/kept.h"
#include "infer/model_choice.h"
#include "infer/reading.h"
#include "models/admission.h"
#include "models/inventory.h"
#include "models/upstream.h"
#include "telemetry/logs.h"
#include "telemetry/meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RUN_ARENA_MAX = 512 * 1024 * 1024, /* what the server takes of a body, and what is made of it */
    REPLY_ON_LOOP_MAX = 256 * 1024,    /* bytes of events whose whole reply is written at once */
    EVENT_REPLY_BYTES = 64             /* that an event adds to a reply besides its texts */
};

struct run;

/* A job on its way into a frame, in a worker's hands. */
struct encoding {
    struct run *run;
    size_t i;
    unsigned round; /* of the run: a result of an earlier round is dropped */
    struct qn_job job;
    struct qn_buf frame;
    qn_err err;
};

struct job {
    struct run *run;
    struct qn_upstream *up; /* NULL: not started, or ended */
    struct qn_lease *lease; /* its turn; NULL: the request's own, or none any more */
    int64_t done;           /* choices that are complete */
};

struct run {
    struct qn_services *sv;
    struct qn_http *http;
    const struct qn_dialect *dialect;
    const char *as; /* the model, whatever the request names; NULL: as it names */
    struct qn_request rq;
    struct qn_reply reply;
    struct qn_arena *arena;
    struct qn_reading reading; /* the body, and what it says */
    struct qn_model_choice choice;
    struct qn_buf out;
    char id[QN_REQUEST_ID_DIGITS + 1];
    char answer_id[QN_ANSWER_ID_DIGITS + 1]; /* opens the kept answer, so it is never logged */
    struct qn_caller caller;
    struct qn_kept_look *look;   /* NULL: the request goes on from nothing */
    struct qn_pull_first *first; /* NULL: the model needs not be downloaded */
    struct qn_lease *lease;
    struct job *jobs;
    size_t open;              /* jobs that have not ended */
    struct qn_stream *stream; /* NULL: the head has not been sent */
    struct qn_admission admission;
    struct qn_timer *beat;
    struct qn_timer *deadline; /* NULL: the answer may take any time */
    struct qn_timer *resume;   /* the stream has room again; runs outside the stream's callback */
    struct qn_timer *unread;   /* paused: the next look at what the client reads */
    int64_t unread_bytes;      /* at the last one */
    bool paused;
    bool spoken;     /* part of the answer itself has been sent */
    bool retried;    /* a broken child has been forgiven once */
    bool kept;       /* how long the model stays has been told */
    bool late;       /* the time that it may take is over */
    bool large;      /* work in proportion to its size is a worker's */
    bool aside;      /* a worker reads or writes: the run waits for it */
    bool ended;      /* it is freed when no worker is busy with it */
    size_t busy;     /* workers */
    unsigned round;  /* of jobs: each attempt is one */
    qn_post_fn then; /* what comes after aside */
    qn_err err;      /* of what was done there */
    struct qn_error error;
    size_t heard; /* bytes of events, as a reply would have them */
    int64_t began_ms, wrote_ms, limit_ms;
    struct qn_meter meter;
};

static void fail(struct run *r, const struct qn_error *e, bool loading);
static void granted(void *ctx, const struct qn_error *e);
static void on_event(void *ctx, const struct qn_event *ev);

static void stop_jobs(struct run *r)
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

/* Any thread. */
static void free_memory(void *ctx)
{
    struct run *r = ctx;
    r->dialect->free(r->reply.own);
    qn_reading_deinit(&r->reading);
    qn_buf_deinit(&r->out);
    qn_arena_free(r->arena);
    free(r->jobs);
    free(r);
}

static void release(struct run *r)
{
    qn_kept_leave(r->look);
    if (r->large)
        qn_loop_work(r->sv->loop, free_memory, NULL, r);
    else
        free_memory(r);
}

/* Gives everything back but the http request, which is answered or gone. */
static void run_free(struct run *r)
{
    stop_jobs(r);
    qn_timer_stop(r->beat);
    qn_timer_stop(r->deadline);
    qn_timer_stop(r->resume);
    qn_timer_stop(r->unread);
    qn_pull_first_leave(r->first);
    qn_lease_release(r->lease);
    r->ended = true;
    if (!r->busy)
        release(r);
}

/* A worker is back. False: the run has ended meanwhile. */
static bool goes_on(struct run *r)
{
    r->busy--;
    if (r->ended && !r->busy)
        release(r);
    else if (!r->ended)
        return true;
    return false;
}

static void late_words(const struct run *r, struct qn_error *e)
{
    qn_fail(e, QN_ETIMEOUT, "the answer took longer than the %.3g seconds that it may take",
            (double)r->limit_ms / 1000);
}

static void back(void *ctx)
{
    struct run *r = ctx;
    struct qn_error e = {0};
    if (!goes_on(r))
        return;
    r->aside = false;
    if (r->late)
        late_words(r, &e);
    else if (r->sv->stopping && !r->open && !r->jobs)
        qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (e.code)
        fail(r, &e, false);
    else
        r->then(r);
}

/* work(r), by a worker where the request is large, then then(r). */
static void aside(struct run *r, qn_post_fn work, qn_post_fn then)
{
    if (!r->large) {
        work(r);
        then(r);
        return;
    }
    r->busy++;
    r->aside = true;
    r->then = then;
    qn_loop_work(r->sv->loop, work, back, r);
}

static void gone(void *ctx)
{
    struct run *r = ctx;
    qn_info("infer", "id=%s cancelled=client_gone ms=%lld", r->id,
            (long long)(qn_now_ms() - r->began_ms));
    qn_meter_end(&r->meter, QN_METER_CANCELLED);
    run_free(r);
}

static void look_at_reader(void *ctx)
{
    struct run *r = ctx;
    struct qn_error e = {0};
    int64_t now = qn_http_unread(r->http);
    bool reads = r->unread_bytes - now >= QN_INFER_UNREAD_BYTES;
    r->unread_bytes = now;
    if (reads || r->aside || !r->open || !qn_lease_is_wanted(r->lease))
        return;
    qn_fail(&e, QN_ETIMEOUT,
            "the answer was ended because its client did not read it for %d seconds while other "
            "requests waited for the model",
            QN_INFER_UNREAD_MS / 1000);
    fail(r, &e, false);
}

static void watch_reader(struct run *r, bool watched)
{
    qn_timer_stop(r->unread);
    r->unread = NULL;
    if (!watched)
        return;
    r->unread_bytes = qn_http_unread(r->http);
    r->unread =
        qn_timer_start(r->sv->loop, QN_INFER_UNREAD_MS, QN_INFER_UNREAD_MS, look_at_reader, r);
}

static void pause_jobs(struct run *r, bool paused)
{
    if (r->paused == paused)
        return;
    r->paused = paused;
    watch_reader(r, paused);
    for (size_t i = 0; i < r->rq.n_jobs; i++)
        if (r->jobs[i].up)
            qn_upstream_pause(r->jobs[i].up, paused);
}

static void resume(void *ctx)
{
    struct run *r = ctx;
    qn_timer_stop(r->resume);
    r->resume = NULL;
    if (!qn_stream_full(r->stream))
        pause_jobs(r, false);
}

/* The stream may not be written to from here, and a resumed job may have words at once. */
static void drained(void *ctx)
{
    struct run *r = ctx;
    if (!r->resume)
        r->resume = qn_timer_start(r->sv->loop, 0, 0, resume, r);
}

static void set_headers(struct run *r)
{
    for (size_t i = 0; i < r->rq.n_headers; i++)
        qn_http_set_header(r->http, r->rq.headers[i].name, r->rq.headers[i].value);
}

/* Sends what the dialect has written; the head goes first. */
static void flush(struct run *r)
{
    if (!r->out.len)
        return;
    if (!r->stream) {
        set_headers(r);
        qn_http_set_header(r->http, "Cache-Control", "no-cache");
        const char *type = r->reply.type ? r->reply.type : r->dialect->stream_type;
        r->stream = qn_http_stream(r->http, 200, type, drained, r);
        r->reply.started = true;
    }
    qn_stream_write(r->stream, r->out.data, r->out.len);
    qn_buf_clear(&r->out);
    r->wrote_ms = qn_now_ms();
    if (qn_stream_full(r->stream))
        pause_jobs(r, true);
}

/* The last word of any request that still has its client: the run is freed, then the reply ends. */
static void answer_end(struct run *r, int status)
{
    struct qn_http *h = r->http;
    qn_http_on_gone(h, NULL, NULL);
    if (r->stream) {
        bool cut = r->reply.cut;
        flush(r);
        struct qn_stream *s = r->stream;
        run_free(r);
        if (cut)
            qn_http_abort(h);
        else
            qn_stream_end(s);
        return;
    }
    set_headers(r);
    const char *type = NULL;
    if (status == 200 && r->reply.type)
        type = qn_arena_strdup(qn_http_arena(h), r->reply.type);
    struct qn_buf body = r->out;
    r->out = (struct qn_buf){0};
    run_free(r);
    if (type || !body.overflow)
        qn_http_reply_taking(h, status, type ? type : "application/json", &body);
    else
        qn_answer_json(h, status, &body);
    qn_buf_deinit(&body);
}

static void fail(struct run *r, const struct qn_error *e, bool loading)
{
    struct qn_problem p = {.error = e, .loading = loading, .model = r->rq.model, .id = r->id};
    if (r->rq.model)
        p.evidence = qn_inventory_evidence(r->sv->inventory, r->rq.model, e);
    struct qn_error words, own = *e;
    int64_t again_s = 1;
    if (r->late || r->admission.full) {
        p.error = &own;
        again_s = qn_admission_refuse(r->rq.profile, r->rq.family, r->late ? NULL : &r->admission,
                                      &p, &own);
        qn_series_add(r->meter.series, r->late ? QN_M_TIMED_OUT : QN_M_QUEUE_REFUSED, 1);
    }
    struct qn_problem_hidden hidden;
    if (!r->caller.admin)
        qn_problem_hide(&p, &hidden);
    if (r->dialect->reword)
        r->dialect->reword(&r->rq, &p, &words);
    qn_problem_adapt(&p, r->rq.profile, r->rq.family);
    int status = qn_problem_status(&p);
    qn_log(status >= 500 && e->code != QN_EBUSY ? QN_LOG_WARN : QN_LOG_INFO, "infer",
           "id=%s model=%s status=%d error=%s param=%s message=\"%s\"", r->id,
           r->rq.model ? r->rq.model : "", status, qn_err_name(e->code), e->param, e->message);
    qn_meter_end(&r->meter, QN_METER_ERRORED);
    stop_jobs(r);
    qn_buf_clear(&r->out);
    if (!r->stream && (status == 503 || status == 429))
        qn_http_set_header(r->http, "Retry-After",
                           qn_arena_fmt(r->rq.arena, "%lld", (long long)again_s));
    r->dialect->fail(&r->reply, &p);
    answer_end(r, status);
}

static void write_end(void *ctx)
{
    struct run *r = ctx;
    r->dialect->end(&r->reply);
}

static void finished(void *ctx)
{
    struct run *r = ctx;
    if (r->out.overflow) {
        struct qn_error e = {0};
        qn_fail(&e, QN_ELIMIT, "the reply is too long");
        fail(r, &e, false);
        return;
    }
    qn_meter_end(&r->meter, QN_METER_COMPLETED);
    double ms = r->meter.output_ms;
    if (r->lease) /* none is needed to unload */
        qn_lease_count(r->lease, ms > 0 ? (double)r->meter.output * 1000 / ms : 0);
    qn_info("infer", "id=%s model=%s task=%s prompt=%lld cached=%lld output=%lld ms=%lld", r->id,
            r->rq.model, qn_task_name(r->dialect->task), (long long)r->meter.prompt,
            (long long)r->meter.cached, (long long)r->meter.output,
            (long long)(qn_now_ms() - r->began_ms));
    const struct qn_kept *k = &r->reply.keep;
    if (k->id && !r->sv->closed) /* before the client can ask for it */
        qn_catalog_keep_answer(r->sv->catalog, r->caller.owner,
                               &(struct qn_answer_row){k->id, k->previous, k->input, k->body});
    if (r->rq.stream)
        flush(r);
    answer_end(r, 200);
}

static void finish(struct run *r)
{
    r->large = r->large || r->heard > REPLY_ON_LOOP_MAX;
    qn_timer_stop(r->deadline); /* the answer is there */
    r->deadline = NULL;
    aside(r, write_end, finished);
}

/* A beat is due: say something if nothing has been said for so long. */
static void beat(void *ctx)
{
    struct run *r = ctx;
    int64_t wait = r->wrote_ms + QN_INFER_BEAT_MS - qn_now_ms();
    if (wait <= 0) {
        if (!r->paused && !r->aside) { /* a client that does not read needs no sign of life */
            r->dialect->ping(&r->reply);
            flush(r);
        }
        r->wrote_ms = qn_now_ms();
        wait = QN_INFER_BEAT_MS;
    }
    qn_timer_stop(r->beat);
    r->beat = qn_timer_start(r->sv->loop, wait, 0, beat, r);
}

/* A request that only ends a model's stay: as with "keep_alive": 0 in any other, who uses it may
 * finish. One that is not loaded is where it should be. */
static void unload_only(struct run *r)
{
    struct qn_error e = {0};
    qn_err err = qn_inventory_leave(r->sv->inventory, r->rq.model, &e);
    if (err && err != QN_ENOTFOUND) {
        fail(r, &e, false);
        return;
    }
    r->dialect->begin(&r->reply);
    finish(r);
}

/* Answers that a job wants at once. */
static int64_t answers(const struct qn_job *job)
{
    return job->sampling.n == QN_UNSET ? 1 : job->sampling.n;
}

static void wait_for_model(struct run *r)
{
    struct qn_error e = {0};
    struct qn_load_options options = {.context = r->rq.context, .at_least = true};
    const struct qn_load_options *wanted = r->rq.context == QN_UNSET ? NULL : &options;
    r->admission = (struct qn_admission){.client = qn_client_id(r->http),
                                         .owner = qn_client_owner(r->http),
                                         /* without a job the model is to be loaded, no more */
                                         .slots = r->rq.n_jobs ? answers(&r->rq.jobs[0]) : 0,
                                         .max_queue = r->rq.profile->queue,
                                         .again = r->retried};
    qn_err err = qn_inventory_admit(r->sv->inventory, r->rq.model, wanted, &r->admission, granted,
                                    r, &r->lease, &e);
    if (!r->retried && (!err || r->admission.full))
        qn_admission_tell(r->http, &r->admission.spot);
    if (err)
        fail(r, &e, false);
}

static void job_failed(struct run *r, const struct qn_error *e);

static void send_job(struct run *r, struct encoding *x)
{
    struct qn_error e = {0};
    struct job *j = &r->jobs[x->i];
    if (x->err)
        qn_upstream_too_large(&e);
    else if (qn_upstream_send(qn_lease_child(r->lease), &x->frame, on_event, j, &j->up, &e) ==
                 QN_EBUSY &&
             r->large)
        e.code = QN_ECHILD; /* the child was ready when the job went to the worker */
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
    struct run *r = x->run;
    if (goes_on(r) && x->round == r->round)
        send_job(r, x);
    qn_buf_deinit(&x->frame);
    free(x);
}

static void start_job(struct run *r, size_t i)
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
    qn_loop_work(r->sv->loop, encode, encoded, x);
}

/* A further job's turn has come. */
static void job_granted(void *ctx, const struct qn_error *e)
{
    struct job *j = ctx;
    if (e) {
        j->lease = NULL;
        fail(j->run, e, true);
        return;
    }
    start_job(j->run, (size_t)(j - j->run->jobs));
}

/* A request that the model refuses does not decide how long the model stays. */
static void keep_model(struct run *r)
{
    if (!r->kept && r->rq.keep_alive_ms != QN_UNSET)
        qn_lease_keep(r->lease, r->rq.keep_alive_ms);
    r->kept = true;
}

/* The first job has the request's turn; each further one takes a turn of its own, so that many
 * prompts in one request are no way to the front. */
static void start_jobs(struct run *r)
{
    r->dialect->free(r->reply.own);
    r->reply.own = NULL;
    r->dialect->begin(&r->reply);
    if (r->rq.n_jobs == 0) {
        keep_model(r);
        finish(r);
        return;
    }
    r->open = r->rq.n_jobs;
    for (size_t i = 0; i < r->rq.n_jobs; i++)
        r->jobs[i] = (struct job){.run = r};
    for (size_t i = 1; i < r->rq.n_jobs; i++)
        qn_lease_another(r->lease, &r->admission, answers(&r->rq.jobs[i]), job_granted, &r->jobs[i],
                         &r->jobs[i].lease);
    start_job(r, 0);
}

/* The model is ready, or will not be. */
static void granted(void *ctx, const struct qn_error *e)
{
    struct run *r = ctx;
    if (e) {
        r->lease = NULL;
        fail(r, e, true);
        return;
    }
    r->reply.granted_ms = qn_now_ms();
    qn_meter_granted(&r->meter);
    start_jobs(r);
}

/* A child that broke is forgiven once, while its client has not heard a word of the answer. */
static void job_failed(struct run *r, const struct qn_error *e)
{
    if (e->code != QN_ECHILD || r->spoken || r->retried || r->sv->stopping) {
        fail(r, e, false);
        return;
    }
    qn_warn("infer", "id=%s model=%s retry=1 message=\"%s\"", r->id, r->rq.model, e->message);
    r->retried = true;
    qn_meter_again(&r->meter);
    stop_jobs(r);
    qn_lease_release(r->lease);
    r->lease = NULL;
    wait_for_model(r);
}

static size_t length(const char *text)
{
    return text ? strlen(text) : 0;
}

static size_t event_bytes(const struct qn_event *ev)
{
    return length(ev->text) + length(ev->logprobs) + length(ev->arguments) + length(ev->tokens) +
           length(ev->vector) + length(ev->segment.words) + (size_t)ev->bytes;
}

static void on_event(void *ctx, const struct qn_event *ev)
{
    struct job *j = ctx;
    struct run *r = j->run;
    struct qn_error e = {0};
    if (ev->kind == QN_EV_ERROR) {
        j->up = NULL;
        job_failed(r, &ev->error);
        return;
    }
    keep_model(r);
    if (ev->kind == QN_EV_END) {
        j->up = NULL;
        if (j->done != answers(&r->rq.jobs[j - r->jobs])) {
            qn_fail(&e, QN_ECHILD, "the model's process ended its answer before it was complete");
            job_failed(r, &e);
            return;
        }
        qn_lease_rest(j->lease ? j->lease : r->lease);
        qn_lease_release(j->lease);
        j->lease = NULL;
        if (--r->open == 0)
            finish(r);
        return;
    }
    j->done += ev->kind == QN_EV_DONE;
    r->heard += EVENT_REPLY_BYTES + event_bytes(ev);
    qn_meter_event(&r->meter, (size_t)(j - r->jobs), ev);
    if (r->dialect->event(&r->reply, (size_t)(j - r->jobs), ev, &e)) {
        fail(r, &e, false);
    } else if (r->rq.stream && r->out.len) {
        r->spoken = true;
        flush(r);
    }
}

static void too_late(void *ctx)
{
    struct run *r = ctx;
    struct qn_error e = {0};
    r->late = true;
    if (r->aside)
        return; /* a worker has the run: it fails when that is back */
    late_words(r, &e);
    fail(r, &e, false);
}

static void apply_choice(void *ctx)
{
    struct run *r = ctx;
    r->err = qn_choice_apply(&r->choice, &r->rq, &r->error);
}

/* The request has been understood: it becomes jobs and waits for its model. */
static void chosen(void *ctx)
{
    struct run *r = ctx;
    if (r->err) {
        fail(r, &r->error, false);
        return;
    }
    r->jobs = qn_xcalloc(r->rq.n_jobs, sizeof *r->jobs);
    for (size_t i = 0; i < r->rq.n_jobs; i++) {
        r->rq.jobs[i].id = qn_arena_fmt(r->rq.arena, "%s-%zu", r->id, i);
        r->rq.jobs[i].owner_salt = qn_owner_salt(r->sv->owner_key, r->caller.owner);
    }
    if (r->rq.stream)
        r->beat = qn_timer_start(r->sv->loop, QN_INFER_BEAT_MS, 0, beat, r);
    if (r->rq.n_jobs == 0 && r->rq.keep_alive_ms == 0)
        unload_only(r);
    else
        wait_for_model(r);
}

static void go_on(struct run *r)
{
    struct qn_error e = {0};
    qn_err err = qn_choice_take(r->sv, r->dialect, &r->rq, &r->choice, &e);
    if (r->choice.name)
        qn_meter_model(&r->meter, r->choice.name);
    if (err) {
        fail(r, &e, false);
        return;
    }
    r->large = r->large || qn_choice_bytes(&r->choice) > QN_READ_ON_LOOP_MAX;
    aside(r, apply_choice, chosen);
}

/* The model has been downloaded, or cannot be. */
static void installed(void *ctx, const struct qn_error *e)
{
    struct run *r = ctx;
    r->first = NULL;
    if (e)
        fail(r, e, true);
    else
        go_on(r);
}

static void parse(void *ctx)
{
    struct run *r = ctx;
    r->err = r->dialect->parse(&r->rq, &r->error);
}

static void parsed(void *ctx)
{
    struct run *r = ctx;
    if (r->as)
        r->rq.model = r->as;
    if (!r->err && r->dialect->installs && r->rq.model)
        r->err =
            qn_pull_first(r->sv, r->rq.model, r->caller.owner, installed, r, &r->first, &r->error);
    if (r->err)
        fail(r, &r->error, false);
    else if (!r->first)
        go_on(r);
}

static void found(void *ctx, const struct qn_error *why)
{
    struct run *r = ctx;
    struct qn_error e = {0};
    if (why)
        e = *why;
    else if (r->sv->stopping)
        qn_fail(&e, QN_EBUSY, "the server is stopping");
    r->large = r->large || r->rq.n_kept > 0;
    if (e.code)
        fail(r, &e, false);
    else
        aside(r, parse, parsed);
}

static void read_body(void *ctx)
{
    struct run *r = ctx;
    qn_reading_do(&r->reading);
}

/* The body is there; kept answers are looked up where the dialect asks for some. */
static void body_read(void *ctx)
{
    struct run *r = ctx;
    const struct qn_reading *read = &r->reading;
    if (read->err) {
        fail(r, &read->error, false);
        return;
    }
    r->rq.doc = read->doc;
    r->rq.files = r->dialect->form ? &read->files : NULL;
    if (read->n_ids == 0 && !read->chain) {
        aside(r, parse, parsed);
        return;
    }
    struct qn_answers_of of = {r->caller.owner, r->caller.admin};
    r->look = qn_kept_look(r->sv, &of, &r->rq, read->chain, read->ids, read->n_ids, found, r);
}

/* The body is the run's from here on. */
static void take_body(struct run *r)
{
    struct qn_reading *x = &r->reading;
    const char *type = qn_http_header(r->http, "Content-Type");
    x->dialect = r->dialect;
    x->arena = r->arena;
    x->content_type = type ? qn_arena_strdup(r->arena, type) : NULL;
    x->body = qn_http_body_take(r->http, &x->text, &x->n);
    r->large = x->n > QN_READ_ON_LOOP_MAX;
}

void qn_infer(struct qn_services *sv, struct qn_http *h, const struct qn_dialect *dialect)
{
    qn_infer_as(sv, h, dialect, NULL, qn_http_path(h));
}

void qn_infer_as(struct qn_services *sv, struct qn_http *h, const struct qn_dialect *dialect,
                 const char *model, const char *path)
{
    struct run *r = qn_xcalloc(1, sizeof *r);
    struct qn_error e = {0};
    r->sv = sv;
    r->http = h;
    r->dialect = dialect;
    r->began_ms = r->wrote_ms = qn_now_ms();
    qn_auth_caller(sv->auth, h, &r->caller);
    qn_meter_begin(&r->meter, sv->metrics, sv->stats, qn_client_id(h), r->caller.owner);
    qn_random_hex(r->id, QN_REQUEST_ID_DIGITS);
    qn_random_hex(r->answer_id, QN_ANSWER_ID_DIGITS);
    qn_logs_own(sv->logs, r->id, r->caller.owner);
    const char *name = qn_admission_name(h, qn_request_profile(h), r->id);
    const char *own = qn_client_request_id(h);
    /* Who names requests wants to find them again. */
    qn_log(own ? QN_LOG_INFO : QN_LOG_DEBUG, "infer", "id=%s name=%s client=\"%s\" own_name=\"%s\"",
           r->id, name, qn_client_id(h), own ? own : "");
    if (dialect->id_header)
        qn_http_set_header(h, dialect->id_header, qn_arena_fmt(qn_http_arena(h), "req_%s", r->id));
    qn_buf_init(&r->out, QN_REPLY_MAX);
    r->rq.arena = r->arena = qn_arena_new(RUN_ARENA_MAX);
    r->reply = (struct qn_reply){
        .rq = &r->rq,
        .arena = r->rq.arena,
        .out = &r->out,
        .id = r->id,
        .answer_id = r->answer_id,
        .created_s = qn_wall_ms() / 1000,
        .began_ms = r->began_ms,
    };
    r->rq.context = r->rq.keep_alive_ms = QN_UNSET;
    r->rq.profile = qn_request_profile(h);
    r->rq.family = qn_family_of(r->rq.profile, path);
    r->as = model;
    qn_http_on_gone(h, gone, r);
    take_body(r);
    qn_err err = QN_OK;
    if (sv->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (!err)
        err = qn_admission_limit(h, sv->request_timeout_ms, &r->limit_ms, &e);
    if (!err && r->limit_ms > 0)
        r->deadline = qn_timer_start(sv->loop, r->limit_ms, 0, too_late, r);
    if (err)
        fail(r, &e, false);
    else
        aside(r, read_body, body_read);
}
