/* One inference request from its body to its last byte, see infer.h.
 *
 * A run owns everything of one request: its lease on the model, one upstream per job, the reply in
 * the making. It ends in exactly one of finish (all jobs ended), fail, or the client going away,
 * and is freed there. */
#include "infer/infer.h"

#include "access/auth.h"
#include "access/client_id.h"
#include "access/owner_salt.h"
#include "answers/answer.h"
#include "answers/members.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rand.h"
#include "base/str.h"
#include "catalog/answers.h"
#include "contract/backend_types.h"
#include "dialects/shared/form.h"
#include "downloads/pull_first.h"
#include "http/body_parse.h"
#include "infer/kept.h"
#include "infer/model_choice.h"
#include "library/preset.h"
#include "models/admission.h"
#include "models/inventory.h"
#include "models/upstream.h"
#include "telemetry/logs.h"
#include "telemetry/meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run;

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
    struct qn_json *doc;
    struct qn_multipart files; /* lent from the body */
    struct qn_buf out;
    char id[QN_REQUEST_ID_DIGITS + 1];
    char answer_id[QN_ANSWER_ID_DIGITS + 1]; /* opens the kept answer, so it is never logged */
    struct qn_caller caller;
    struct qn_body_parse *parse; /* NULL: the body has been read */
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
    bool paused;
    bool spoken;  /* part of the answer itself has been sent */
    bool retried; /* a broken child has been forgiven once */
    bool kept;    /* how long the model stays has been told */
    bool late;    /* the time that it may take is over */
    int64_t began_ms, wrote_ms, limit_ms;
    struct qn_meter meter;
};

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
}

/* Gives everything back but the http request, which is answered or gone. */
static void run_free(struct run *r)
{
    stop_jobs(r);
    qn_body_parse_leave(r->parse);
    qn_kept_leave(r->look);
    qn_timer_stop(r->beat);
    qn_timer_stop(r->deadline);
    qn_timer_stop(r->resume);
    qn_pull_first_leave(r->first);
    qn_lease_release(r->lease);
    r->dialect->free(r->reply.own);
    qn_json_free(r->doc);
    qn_buf_deinit(&r->out);
    free(r->jobs);
    free(r);
}

static void gone(void *ctx)
{
    struct run *r = ctx;
    qn_info("infer", "id=%s cancelled=client_gone ms=%lld", r->id,
            (long long)(qn_now_ms() - r->began_ms));
    qn_meter_end(&r->meter, QN_METER_CANCELLED);
    run_free(r);
}

static void pause_jobs(struct run *r, bool paused)
{
    if (r->paused == paused)
        return;
    r->paused = paused;
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
    const char *type = status == 200 ? r->reply.type : NULL;
    struct qn_buf body = r->out;
    r->out = (struct qn_buf){0};
    run_free(r);
    if (type)
        qn_http_reply(h, status, type, qn_buf_cstr(&body), body.len);
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
    int status = qn_problem_status(&p);
    if (status == 404 && r->rq.profile == QN_PROFILE_DPPAN)
        status = 422; /* how a cluster's clients know an unknown model */
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

static void finish(struct run *r)
{
    r->dialect->end(&r->reply);
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

/* A beat is due: say something if nothing has been said for so long. */
static void beat(void *ctx)
{
    struct run *r = ctx;
    int64_t wait = r->wrote_ms + QN_INFER_BEAT_MS - qn_now_ms();
    if (wait <= 0) {
        if (!r->paused) { /* a client that does not read needs no sign of life */
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
                                         .max_queue = qn_admission_queue(r->rq.profile),
                                         .again = r->retried};
    qn_err err = qn_inventory_admit(r->sv->inventory, r->rq.model, wanted, &r->admission, granted,
                                    r, &r->lease, &e);
    if (!r->retried && (!err || r->admission.full))
        qn_admission_tell(r->http, &r->admission.spot);
    if (err)
        fail(r, &e, false);
}

/* False: the run is gone. */
static bool start_job(struct run *r, size_t i)
{
    struct qn_error e = {0};
    qn_lease_defaults(r->lease, &r->rq.jobs[i]);
    if (qn_upstream_start(qn_lease_child(r->lease), &r->rq.jobs[i], on_event, &r->jobs[i],
                          &r->jobs[i].up, &e)) {
        fail(r, &e, false);
        return false;
    }
    if (r->paused)
        qn_upstream_pause(r->jobs[i].up, true);
    return true;
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
    qn_meter_event(&r->meter, (size_t)(j - r->jobs), ev);
    if (r->dialect->event(&r->reply, (size_t)(j - r->jobs), ev, &e)) {
        fail(r, &e, false);
    } else if (r->rq.stream && r->out.len) {
        r->spoken = true;
        flush(r);
    }
}

/* The body as a JSON object, or as a form's fields and files. */
static qn_err check_doc(struct run *r, qn_err err, const struct qn_error *why, struct qn_error *e)
{
    if (err)
        return qn_fail(e, QN_EFORMAT, "the request body is not valid JSON: %s", why->message);
    struct qn_jref root = qn_json_root(r->doc);
    if (qn_json_type(&root) != QN_JSON_OBJECT)
        return qn_fail(e, QN_EFORMAT, "the request body must be a JSON object");
    return qn_members_check(&root, e);
}

static qn_err read_body(struct run *r, struct qn_error *e)
{
    size_t n;
    const char *body = qn_http_body(r->http, &n);
    if (r->dialect->form) {
        r->rq.files = &r->files;
        return qn_form_read(qn_http_header(r->http, "Content-Type"), body, n, r->rq.arena, &r->doc,
                            &r->files, e);
    }
    if (!n)
        return qn_fail(e, QN_EFORMAT, "the request body is empty: a JSON object is needed");
    struct qn_error why = {0};
    qn_err err = qn_json_parse(body, n, &r->doc, &why);
    return check_doc(r, err, &why, e);
}

static void too_late(void *ctx)
{
    struct run *r = ctx;
    struct qn_error e = {0};
    r->late = true;
    qn_fail(&e, QN_ETIMEOUT, "the answer took longer than the %.3g seconds that it may take",
            (double)r->limit_ms / 1000);
    fail(r, &e, false);
}

static const char *request_header(void *ctx, const char *name)
{
    return qn_http_header(ctx, name);
}

/* The request has been understood: it becomes jobs and waits for its model. */
static void go_on(struct run *r)
{
    struct qn_error e = {0};
    const char *name = NULL;
    qn_err err = qn_choice_take(r->sv, r->dialect, &r->rq, &name, &e);
    if (name)
        qn_meter_model(&r->meter, name);
    if (err) {
        fail(r, &e, false);
        return;
    }
    r->jobs = qn_xcalloc(r->rq.n_jobs, sizeof *r->jobs);
    for (size_t i = 0; i < r->rq.n_jobs; i++) {
        r->rq.jobs[i].id = qn_arena_fmt(r->rq.arena, "%s-%zu", r->id, i);
        r->rq.jobs[i].owner_salt = qn_owner_salt(r->sv->owner_key, r->caller.owner);
    }
    qn_http_on_gone(r->http, gone, r);
    if (r->rq.stream)
        r->beat = qn_timer_start(r->sv->loop, QN_INFER_BEAT_MS, 0, beat, r);
    if (r->rq.n_jobs == 0 && r->rq.keep_alive_ms == 0)
        unload_only(r);
    else
        wait_for_model(r);
}

/* The model has been downloaded, or cannot be. */
static void installed(void *ctx, const struct qn_error *e)
{
    struct run *r = ctx;
    r->first = NULL;
    qn_http_on_gone(r->http, NULL, NULL);
    if (e)
        fail(r, e, true);
    else
        go_on(r);
}

/* The body is there, and so is what it refers to. */
static void begin(struct run *r)
{
    struct qn_error e = {0};
    qn_err err = r->dialect->parse(&r->rq, &e);
    if (r->as)
        r->rq.model = r->as;
    if (!err && r->dialect->installs && r->rq.model)
        err = qn_pull_first(r->sv, r->rq.model, r->caller.owner, installed, r, &r->first, &e);
    if (err)
        fail(r, &e, false);
    else if (r->first)
        qn_http_on_gone(r->http, gone, r);
    else
        go_on(r);
}

static void found(void *ctx, const struct qn_error *why)
{
    struct run *r = ctx;
    struct qn_error e = {0};
    qn_http_on_gone(r->http, NULL, NULL);
    if (why)
        e = *why;
    else if (r->sv->stopping)
        qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (e.code)
        fail(r, &e, false);
    else
        begin(r);
}

/* True when the dialect asked for kept answers: the request goes on once they are there. */
static bool look_up(struct run *r)
{
    const char *chain = NULL, *ids[QN_EARLIER_MAX];
    size_t n = r->dialect->earlier ? r->dialect->earlier(r->rq.doc, r->rq.arena, &chain, ids) : 0;
    if (n == 0 && !chain)
        return false;
    qn_http_on_gone(r->http, gone, r);
    struct qn_answers_of of = {r->caller.owner, r->caller.admin};
    r->look = qn_kept_look(r->sv, &of, &r->rq, chain, ids, n, found, r);
    return true;
}

static void body_read(struct run *r, qn_err err, const struct qn_error *e)
{
    r->rq.doc = r->doc;
    if (err)
        fail(r, e, false);
    else if (!look_up(r))
        begin(r);
}

static void parsed(void *ctx, qn_err err, struct qn_json *doc, const struct qn_error *why)
{
    struct run *r = ctx;
    struct qn_error e = {0};
    r->parse = NULL;
    r->doc = doc;
    qn_http_on_gone(r->http, NULL, NULL);
    err = check_doc(r, err, why, &e);
    if (!err && r->sv->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    body_read(r, err, &e);
}

/* True when a worker parses the body: the request goes on in parsed(). */
static bool parse_aside(struct run *r)
{
    size_t n;
    qn_http_body(r->http, &n);
    if (r->dialect->form || n <= QN_BODY_PARSE_ON_LOOP_MAX)
        return false;
    qn_http_on_gone(r->http, gone, r);
    r->parse = qn_body_parse_start(r->sv->loop, r->http, parsed, r);
    return true;
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
    r->rq.arena = qn_http_arena(h);
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
    r->rq.header = request_header;
    r->rq.header_ctx = h;
    qn_err err = QN_OK;
    if (sv->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (!err)
        err = qn_admission_limit(h, sv->request_timeout_ms, &r->limit_ms, &e);
    if (!err && r->limit_ms > 0)
        r->deadline = qn_timer_start(sv->loop, r->limit_ms, 0, too_late, r);
    if (!err && parse_aside(r))
        return;
    if (!err)
        err = read_body(r, &e);
    body_read(r, err, &e);
}
