/* One inference request: read its body, make its jobs, wait for its model; see client.h and
 * run_private.h. */
#include "infer/client.h"

#include "access/owner_salt.h"
#include "answers/answer.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rand.h"
#include "base/str.h"
#include "infer/run_private.h"
#include "infer/trace.h"
#include "telemetry/logs.h"

#include <stdlib.h>
#include <string.h>

enum {
    RUN_ARENA_MAX = 512 * 1024 * 1024 /* limit of a body and of everything made from it */
};

void qn_infer_cancel(struct qn_infer_run *r, const char *why)
{
    qn_info("infer", "id=%s cancelled=%s ms=%lld", r->id, why,
            (long long)(qn_now_ms() - r->began_ms));
    if (!r->aside) /* while a worker may write to the run, this waits for its return (run.c) */
        qn_infer_note_cancelled(r);
    qn_infer_let_go(r);
    qn_infer_free(r);
}

void qn_infer_look(const struct qn_infer_run *r, struct qn_infer_progress *out)
{
    *out = (struct qn_infer_progress){.stage = QN_INFER_PREPARING};
    if (r->first) {
        out->stage = QN_INFER_DOWNLOADING;
    } else if (r->lease && qn_lease_waits(r->lease, &out->wait)) {
        out->stage = out->wait.loading ? QN_INFER_LOADING : QN_INFER_QUEUED;
    } else if (r->jobs && r->lease && r->open) {
        out->stage = QN_INFER_COMPUTING;
        out->context = qn_child_status(qn_lease_child(r->lease)).context;
    }
}

/* The lease has been granted or refused. */
static void granted(void *ctx, const struct qn_error *e)
{
    struct qn_infer_run *r = ctx;
    if (e) {
        r->lease = NULL;
        qn_infer_fail(r, e, true);
        return;
    }
    r->reply.granted_ms = qn_now_ms();
    qn_meter_granted(&r->meter);
    qn_infer_start_jobs(r);
}

void qn_infer_wait_for_model(struct qn_infer_run *r)
{
    struct qn_error e = {0};
    struct qn_load_options options = {.context = r->rq.context, .at_least = true};
    const struct qn_load_options *wanted = r->rq.context == QN_UNSET ? NULL : &options;
    r->admission =
        (struct qn_admission){.client = r->name,
                              .owner = r->owner,
                              /* a request without jobs only loads the model */
                              .slots = r->rq.n_jobs ? qn_infer_answers(&r->rq.jobs[0]) : 0,
                              .max_queue = r->rq.profile->queue,
                              .again = r->retried};
    qn_err err = qn_inventory_admit(r->with->models->inventory, r->rq.model, wanted, &r->admission,
                                    granted, r, &r->lease, &e);
    if (!r->retried && (!err || r->admission.full) && r->client->queued)
        r->client->queued(r->client_ctx, &r->admission.spot);
    if (err)
        qn_infer_fail(r, &e, false);
}

/* A request that only ends a model's keep-alive time: as with "keep_alive": 0 in any other request,
 * running requests may finish. It succeeds for a model that is not loaded. */
static void unload_only(struct qn_infer_run *r)
{
    struct qn_error e = {0};
    qn_err err = qn_inventory_leave(r->with->models->inventory, r->rq.model, &e);
    if (err && err != QN_ENOTFOUND) {
        qn_infer_fail(r, &e, false);
        return;
    }
    r->dialect->begin(&r->reply);
    qn_infer_finish(r);
}

static void too_late(void *ctx)
{
    struct qn_infer_run *r = ctx;
    struct qn_error e = {0};
    r->late = true;
    if (r->aside)
        return; /* a worker uses the run: it fails when the worker has finished */
    qn_infer_late_words(r, &e);
    qn_infer_fail(r, &e, false);
}

static void apply_choice(void *ctx)
{
    struct qn_infer_run *r = ctx;
    r->err = qn_choice_apply(&r->choice, &r->rq, &r->error);
}

/* The request is complete: makes its jobs and waits for its model. */
static void chosen(void *ctx)
{
    struct qn_infer_run *r = ctx;
    if (r->err) {
        qn_infer_fail(r, &r->error, false);
        return;
    }
    r->jobs = qn_xcalloc(r->rq.n_jobs, sizeof *r->jobs);
    for (size_t i = 0; i < r->rq.n_jobs; i++) {
        r->rq.jobs[i].id = qn_arena_fmt(r->rq.arena, "%s-%zu", r->id, i);
        r->rq.jobs[i].owner_salt = qn_owner_salt(r->with->owner_key, r->caller.owner);
    }
    if (qn_log_get_level() >= QN_LOG_TRACE)
        qn_trace_prompts(r->id, r->rq.jobs, r->rq.n_jobs);
    if (r->rq.stream)
        r->beat = qn_timer_start(r->with->serving->loop, QN_INFER_BEAT_MS, 0, qn_infer_beat, r);
    if (r->rq.n_jobs == 0 && r->rq.keep_alive_ms == 0)
        unload_only(r);
    else
        qn_infer_wait_for_model(r);
}

static void go_on(struct qn_infer_run *r)
{
    struct qn_error e = {0};
    qn_err err = qn_choice_take(r->with->models, r->dialect, &r->rq, &r->choice, &e);
    if (r->choice.name)
        qn_meter_model(&r->meter, r->choice.name);
    if (err) {
        qn_infer_fail(r, &e, false);
        return;
    }
    r->large = r->large || qn_choice_bytes(&r->choice) > QN_READ_ON_LOOP_MAX;
    qn_infer_aside(r, apply_choice, chosen);
}

/* The model has been downloaded, or the download has failed. */
static void installed(void *ctx, const struct qn_error *e)
{
    struct qn_infer_run *r = ctx;
    r->first = NULL;
    if (e)
        qn_infer_fail(r, e, true);
    else
        go_on(r);
}

static void parse(void *ctx)
{
    struct qn_infer_run *r = ctx;
    r->err = r->dialect->parse(&r->rq, &r->error);
}

static void parsed(void *ctx)
{
    struct qn_infer_run *r = ctx;
    if (r->as)
        r->rq.model = r->as;
    if (!r->err && r->dialect->installs && r->rq.model)
        r->err = qn_pull_first(r->with->puller, r->rq.model, r->caller.owner, installed, r,
                               &r->first, &r->error);
    if (r->err)
        qn_infer_fail(r, &r->error, false);
    else if (!r->first)
        go_on(r);
}

static void found(void *ctx, const struct qn_error *why)
{
    struct qn_infer_run *r = ctx;
    struct qn_error e = {0};
    if (why)
        e = *why;
    else if (r->with->serving->stopping)
        qn_fail(&e, QN_EBUSY, "the server is stopping");
    r->large = r->large || r->rq.n_kept > 0;
    if (e.code)
        qn_infer_fail(r, &e, false);
    else
        qn_infer_aside(r, parse, parsed);
}

static void read_body(void *ctx)
{
    struct qn_infer_run *r = ctx;
    qn_reading_do(&r->reading);
}

/* The body has been parsed; loads stored responses where the dialect asks for some. */
static void body_read(void *ctx)
{
    struct qn_infer_run *r = ctx;
    const struct qn_reading *read = &r->reading;
    if (read->err) {
        qn_infer_fail(r, &read->error, false);
        return;
    }
    r->rq.doc = read->doc;
    r->rq.files = r->dialect->form ? &read->files : NULL;
    if (read->n_ids == 0 && !read->chain) {
        qn_infer_aside(r, parse, parsed);
        return;
    }
    struct qn_answers_of of = {r->caller.owner, r->caller.admin};
    r->look = qn_kept_look(r->with->serving->loop, r->with->models->catalog, &of, &r->rq,
                           read->chain, read->ids, read->n_ids, found, r);
}

static const char *copy(struct qn_arena *arena, const char *text)
{
    return text ? qn_arena_strdup(arena, text) : NULL;
}

/* Moves the body from the request to the run. */
static void take_body(struct qn_infer_run *r, const struct qn_infer_request *from)
{
    r->reading = (struct qn_reading){.dialect = r->dialect,
                                     .arena = r->arena,
                                     .content_type = copy(r->arena, from->content_type),
                                     .body = from->body,
                                     .text = from->text,
                                     .n = from->n};
    r->large = from->n > QN_READ_ON_LOOP_MAX;
    qn_infer_note_body(r, from->text, from->n);
}

void qn_infer_id(const struct qn_inference *with, const char *owner,
                 char out[static QN_REQUEST_ID_DIGITS + 1])
{
    qn_random_hex(out, QN_REQUEST_ID_DIGITS);
    qn_logs_own(with->telemetry->logs, out, owner);
}

static struct qn_infer_run *run_new(const struct qn_inference *with,
                                    const struct qn_infer_request *from)
{
    struct qn_infer_run *r = qn_xcalloc(1, sizeof *r);
    r->with = with;
    r->dialect = from->dialect;
    r->rq.arena = r->arena = qn_arena_new(RUN_ARENA_MAX);
    r->as = copy(r->arena, from->model);
    r->path = copy(r->arena, from->path);
    r->name = copy(r->arena, from->name);
    r->owner = copy(r->arena, from->owner);
    r->caller = from->caller;
    r->limit_ms = from->limit_ms;
    r->began_ms = r->wrote_ms = qn_now_ms();
    memcpy(r->id, from->id, sizeof r->id);
    qn_random_hex(r->answer_id, QN_ANSWER_ID_DIGITS);
    qn_meter_begin(&r->meter, with->telemetry->metrics, with->telemetry->stats, r->name,
                   r->caller.owner);
    qn_buf_init(&r->out, QN_REPLY_MAX);
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
    r->rq.profile = from->profile;
    r->rq.family = from->family;
    take_body(r, from);
    return r;
}

void qn_infer_start(const struct qn_inference *with, const struct qn_infer_request *request,
                    const struct qn_infer_client *client, void *ctx, struct qn_infer_run **out)
{
    struct qn_infer_run *r = run_new(with, request);
    struct qn_error e = {0};
    r->client = client;
    r->client_ctx = ctx;
    *out = r;
    if (with->serving->stopping)
        qn_fail(&e, QN_EBUSY, "the server is stopping");
    else if (request->why)
        e = *request->why;
    else if (r->limit_ms > 0)
        r->deadline = qn_timer_start(with->serving->loop, r->limit_ms, 0, too_late, r);
    if (e.code)
        qn_infer_fail(r, &e, false);
    else
        qn_infer_aside(r, read_body, body_read);
}
