/* What a run leaves behind about itself: an entry in the list of requests that have ended, with its
 * body and its reply if they are captured; see telemetry/requests.h and run_private.h. */
#include "infer/run_private.h"

#include "base/clock.h"
#include "contract/job.h"
#include "telemetry/requests.h"

static struct qn_requests *list_of(const struct qn_infer_run *r)
{
    return r->with->telemetry->requests;
}

void qn_infer_note_body(struct qn_infer_run *r, const char *text, size_t n)
{
    if (r->path)
        r->capture =
            qn_requests_capture(list_of(r), r->dialect->form ? NULL : text, n, qn_now_ms());
}

void qn_infer_note_reply(struct qn_infer_run *r)
{
    qn_requests_capture_reply(list_of(r), r->capture, r->out.data, r->out.len);
}

static int64_t since(const struct qn_infer_run *r, int64_t then_us)
{
    return then_us ? (then_us - r->meter.began_us) / 1000 : -1;
}

void qn_infer_note(struct qn_infer_run *r, enum qn_request_end end, int status, const char *error)
{
    const struct qn_meter *m = &r->meter;
    int64_t ms = qn_now_ms() - r->began_ms;
    struct qn_request_facts facts = {
        .id = r->id,
        .owner = r->caller.owner,
        .client = r->name,
        .path = r->path ? r->path : "",
        .task = qn_task_name(r->dialect->task),
        .model = r->rq.model ? r->rq.model : "",
        .error = error,
        .end = end,
        .stream = r->rq.stream,
        .status = status,
        .arrived_ms = qn_wall_ms() - ms,
        .ms = ms,
        .queued_ms = since(r, m->granted_us),
        .first_ms = since(r, m->first_us),
        .prompt = m->prompt,
        .cached = m->cached,
        .output = m->output,
        .tokens_s = m->output_ms > 0 ? (double)m->output * 1000 / m->output_ms : 0,
    };
    qn_infer_note_reply(r);
    qn_requests_add(list_of(r), &facts, r->capture);
    r->capture = NULL;
}

void qn_infer_note_cancelled(struct qn_infer_run *r)
{
    qn_infer_note(r, QN_REQUEST_CANCELLED, r->reply.started ? 200 : 0, "");
    qn_meter_end(&r->meter, QN_METER_CANCELLED);
}
