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
    int64_t now = r->client->unread(r->client_ctx);
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
    if (!watched || !r->client->unread)
        return;
    r->unread_bytes = r->client->unread(r->client_ctx);
    r->unread = qn_timer_start(r->with->serving->loop, QN_INFER_UNREAD_MS, QN_INFER_UNREAD_MS,
                               look_at_reader, r);
}

void qn_infer_resume(struct qn_infer_run *r)
{
    qn_infer_pause_jobs(r, false);
}

static struct qn_infer_head head_of(const struct qn_infer_run *r, const char *type)
{
    return (struct qn_infer_head){.type = r->reply.type ? r->reply.type : type,
                                  .headers = r->rq.headers,
                                  .n_headers = r->rq.n_headers};
}

void qn_infer_flush(struct qn_infer_run *r)
{
    if (!r->out.len)
        return;
    struct qn_infer_head head = head_of(r, r->dialect->stream_type);
    r->reply.started = true;
    qn_infer_note_reply(r);
    bool full = r->client->write(r->client_ctx, &head, r->out.data, r->out.len);
    qn_buf_clear(&r->out);
    r->wrote_ms = qn_now_ms();
    if (full)
        qn_infer_pause_jobs(r, true);
}

/* Ends the response and frees the run. The model is released first: the end of the response may
 * begin the client's next request. */
static void answer_end(struct qn_infer_run *r, const struct qn_problem *p, int64_t again_s)
{
    qn_infer_let_go(r);
    r->client->end(r->client_ctx, &(struct qn_infer_end){.problem = p,
                                                         .again_s = again_s,
                                                         .head = head_of(r, NULL),
                                                         .rest = &r->out,
                                                         .cut = r->reply.cut});
    qn_infer_free(r);
}

/* A response that could only be cut off, but of which nothing has been sent yet because its first
 * part came in this turn of the loop, becomes an error with its own status. */
static void write_failure(struct qn_infer_run *r, const struct qn_problem *p)
{
    qn_buf_clear(&r->out);
    r->dialect->fail(&r->reply, p);
    if (!r->reply.cut || !r->client->revoke || !r->client->revoke(r->client_ctx))
        return;
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
    qn_infer_stop_jobs(r);
    write_failure(r, &p);
    qn_infer_note(r, QN_REQUEST_FAILED, status, p.error->message);
    qn_meter_end(&r->meter, QN_METER_ERRORED);
    answer_end(r, &p, again_s);
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
    qn_infer_note(r, QN_REQUEST_COMPLETED, 200, "");
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
    answer_end(r, NULL, 0);
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
