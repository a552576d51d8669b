/* The response of a run: what is sent to the client and when, whether the client reads it, and how
 * the request ends; see run_private.h. */
#include "infer/run_private.h"

#include "answers/answer.h"
#include "base/clock.h"
#include "base/log.h"
#include "catalog/answers.h"

#include <stdlib.h>

/* Bytes of events whose complete response is written on the loop. */
enum { REPLY_ON_LOOP_MAX = 256 * 1024 };

static void look_at_reader(void *ctx)
{
    struct qn_infer_run *r = ctx;
    struct qn_error e = {0};
    int64_t now = qn_http_unread(r->http);
    bool reads = r->unread_bytes - now >= QN_INFER_UNREAD_BYTES;
    r->unread_bytes = now;
    if (reads || r->aside || !r->open || !qn_lease_is_wanted(r->lease))
        return;
    qn_fail(&e, QN_ETIMEOUT,
            "the response was ended because its client did not read it for %d seconds while other "
            "requests waited for the model",
            QN_INFER_UNREAD_MS / 1000);
    qn_infer_fail(r, &e, false);
}

void qn_infer_watch_reader(struct qn_infer_run *r, bool watched)
{
    qn_timer_stop(r->unread);
    r->unread = NULL;
    if (!watched)
        return;
    r->unread_bytes = qn_http_unread(r->http);
    r->unread = qn_timer_start(r->with->serving->loop, QN_INFER_UNREAD_MS, QN_INFER_UNREAD_MS,
                               look_at_reader, r);
}

static void resume(void *ctx)
{
    struct qn_infer_run *r = ctx;
    qn_timer_stop(r->resume);
    r->resume = NULL;
    if (!qn_stream_full(r->stream))
        qn_infer_pause_jobs(r, false);
}

/* Uses a timer: the stream must not be written from this callback, and a resumed job may have data
 * at once. */
static void drained(void *ctx)
{
    struct qn_infer_run *r = ctx;
    if (!r->resume)
        r->resume = qn_timer_start(r->with->serving->loop, 0, 0, resume, r);
}

static void set_headers(struct qn_infer_run *r)
{
    if (r->headed)
        return;
    r->headed = true;
    for (size_t i = 0; i < r->rq.n_headers; i++)
        qn_http_set_header(r->http, r->rq.headers[i].name, r->rq.headers[i].value);
}

void qn_infer_flush(struct qn_infer_run *r)
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
        qn_infer_pause_jobs(r, true);
}

/* Ends a request whose client is connected: the run is freed, then the response ends. */
static void answer_end(struct qn_infer_run *r, int status)
{
    struct qn_http *h = r->http;
    qn_http_on_gone(h, NULL, NULL);
    if (r->stream) {
        bool cut = r->reply.cut;
        qn_infer_flush(r);
        struct qn_stream *s = r->stream;
        qn_infer_free(r);
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
    qn_infer_free(r);
    if (type || !body.overflow)
        qn_http_reply_taking(h, status, type ? type : "application/json", &body);
    else
        qn_answer_json(h, status, &body);
    qn_buf_deinit(&body);
}

/* A response that could only be cut off, but of which nothing has been sent yet because its first
 * part came in this turn of the loop, becomes an error with its own status. */
static void write_failure(struct qn_infer_run *r, const struct qn_problem *p)
{
    qn_buf_clear(&r->out);
    r->dialect->fail(&r->reply, p);
    if (!r->reply.cut || !qn_http_stream_revoke(r->http))
        return;
    r->stream = NULL;
    r->reply.started = r->reply.cut = false;
    qn_buf_clear(&r->out);
    r->dialect->fail(&r->reply, p);
}

void qn_infer_fail(struct qn_infer_run *r, const struct qn_error *e, bool loading)
{
    struct qn_problem p = {.error = e, .loading = loading, .model = r->rq.model, .id = r->id};
    if (r->rq.model)
        p.crash_report = qn_inventory_crash_report(r->with->models->inventory, r->rq.model, e);
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
    qn_infer_stop_jobs(r);
    write_failure(r, &p);
    if (!r->stream && (status == 503 || status == 429))
        qn_http_set_header(r->http, "Retry-After",
                           qn_arena_fmt(r->rq.arena, "%lld", (long long)again_s));
    answer_end(r, status);
}

static void write_end(void *ctx)
{
    struct qn_infer_run *r = ctx;
    r->dialect->end(&r->reply);
    const struct qn_kept *k = &r->reply.keep;
    if (k->id)
        r->to_keep = qn_answer_to_keep(
            r->caller.owner, &(struct qn_answer_row){k->id, k->previous, k->input, k->body});
}

static void finished(void *ctx)
{
    struct qn_infer_run *r = ctx;
    if (r->out.overflow) {
        struct qn_error e = {0};
        qn_fail(&e, QN_ELIMIT, "the reply is too long");
        qn_infer_fail(r, &e, false);
        return;
    }
    int64_t first_ms =
        r->meter.first_us ? (r->meter.first_us - r->meter.began_us) / 1000 : 0; /* until a word */
    qn_meter_end(&r->meter, QN_METER_COMPLETED);
    double ms = r->meter.output_ms;
    if (r->lease) /* an unload needs none */
        qn_lease_count(r->lease, ms > 0 ? (double)r->meter.output * 1000 / ms : 0);
    qn_info("infer",
            "id=%s model=%s task=%s prompt=%lld cached=%lld output=%lld ms=%lld first_ms=%lld "
            "tokens_s=%.2f",
            r->id, r->rq.model, qn_task_name(r->dialect->task), (long long)r->meter.prompt,
            (long long)r->meter.cached, (long long)r->meter.output,
            (long long)(qn_now_ms() - r->began_ms), (long long)first_ms,
            ms > 0 ? (double)r->meter.output * 1000 / ms : 0);
    if (!r->with->serving->closed) { /* before the client can ask for it */
        qn_catalog_keep_answer(r->with->models->catalog, r->to_keep);
        r->to_keep = NULL;
    }
    if (r->rq.stream)
        qn_infer_flush(r);
    answer_end(r, 200);
}

void qn_infer_finish(struct qn_infer_run *r)
{
    r->large = r->large || r->heard > REPLY_ON_LOOP_MAX;
    qn_timer_stop(r->deadline); /* the response is complete */
    r->deadline = NULL;
    qn_infer_aside(r, write_end, finished);
}

/* Sends a keep-alive if nothing has been sent for QN_INFER_BEAT_MS. */
void qn_infer_beat(void *ctx)
{
    struct qn_infer_run *r = ctx;
    int64_t wait = r->wrote_ms + QN_INFER_BEAT_MS - qn_now_ms();
    if (wait <= 0) {
        if (!r->paused && !r->aside) { /* a client that does not read needs no keep-alive */
            r->dialect->ping(&r->reply);
            qn_infer_flush(r);
        }
        r->wrote_ms = qn_now_ms();
        wait = QN_INFER_BEAT_MS;
    }
    qn_timer_stop(r->beat);
    r->beat = qn_timer_start(r->with->serving->loop, wait, 0, qn_infer_beat, r);
}
