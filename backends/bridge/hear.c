/* See hear.h: choice of the reply's form, errors, and the end of a job. */
#include "bridge/hear.h"

#include "base/clock.h"
#include "base/str.h"
#include "bridge/hear_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- Errors ---- */

static qn_err code_of(int status)
{
    static const struct {
        int status;
        qn_err code;
    } known[] = {
        {400, QN_EINVAL},       {422, QN_EINVAL},   {404, QN_ENOTFOUND},    {405, QN_EUNSUPPORTED},
        {501, QN_EUNSUPPORTED}, {408, QN_ETIMEOUT}, {504, QN_ETIMEOUT},     {413, QN_ELIMIT},
        {429, QN_EBUSY},        {503, QN_EBUSY},    {415, QN_EUNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].status == status)
            return known[i].code;
    return QN_EIO;
}

/* Whether the status is transient: the same server may recover shortly, or another server may be
 * working. */
static bool is_passing(int status)
{
    return status == 408 || status == 429 || status >= 500;
}

/* The text of an error, in the forms that different servers use. */
static const char *error_text(const struct qn_jref *root, const char **type)
{
    static const char *const members[] = {"message", "detail", "error_message"};
    struct qn_jref error = qn_json_get(root, "error");
    const struct qn_jref *at = qn_json_type(&error) == QN_JSON_OBJECT ? &error : root;
    if (qn_json_type(&error) == QN_JSON_STRING)
        return qn_json_raw_str(&error);
    struct qn_jref t = qn_json_get(at, "type");
    *type = qn_json_raw_str(&t);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        struct qn_jref v = qn_json_get(at, members[i]);
        if (qn_json_type(&v) == QN_JSON_STRING)
            return qn_json_raw_str(&v);
    }
    return "";
}

static bool is_about_context(const char *text, const char *type)
{
    return qn_str_eq(type, "exceed_context_size_error") || strstr(text, "context length") ||
           strstr(text, "context size") || strstr(text, "context window");
}

/* Converts an error object to an error, using the status of the reply. */
static qn_err fail_said(int status, const struct qn_jref *root, const char *who, struct qn_error *e)
{
    const char *type = "", *text = error_text(root, &type);
    qn_err code = code_of(status);
    if (status == 401 || status == 403)
        return qn_fail(e, QN_EIO, "%.200s does not accept the key (status %d)%s%.600s", who, status,
                       *text ? ": " : "", text);
    if (code == QN_EINVAL && is_about_context(text, type))
        return qn_fail_param(e, QN_ECONTEXT, "messages", "%.200s: %.700s", who, text);
    if (*text)
        return qn_fail(e, code, "%.200s: %.700s", who, text);
    return qn_fail(e, code, "%.200s answered with status %d", who, status);
}

qn_err qn_hear_status(int status, const char *body, size_t n, const char *who, struct qn_error *e)
{
    struct qn_json *doc = NULL;
    struct qn_jref root = {0};
    if (n && qn_json_parse(body, n, &doc, NULL) == QN_OK)
        root = qn_json_root(doc);
    qn_err err = fail_said(status, &root, who, e);
    qn_json_free(doc);
    return err;
}

/* ---- Shared with hear_chunk.c and hear_whole.c ---- */

void qn_hear_say(struct qn_hearing *h, const struct qn_event *ev)
{
    if (ev->kind != QN_EV_PROGRESS) {
        h->spoken = true;
        h->last_ms = qn_now_ms();
        if (!h->first_ms)
            h->first_ms = h->last_ms;
    }
    h->send(h->ctx, ev);
}

int64_t qn_hear_choices(const struct qn_hearing *h)
{
    return h->job->sampling.n == QN_UNSET ? 1 : h->job->sampling.n;
}

static void take_count(const struct qn_jref *at, const char *name, int64_t *out)
{
    struct qn_jref v = qn_json_get(at, name);
    int64_t n;
    if (qn_json_type(&v) == QN_JSON_NUMBER && qn_json_i64(&v, 0, INT32_MAX, &n, NULL) == QN_OK)
        *out = n;
}

static void take_time(const struct qn_jref *at, const char *name, double *out)
{
    struct qn_jref v = qn_json_get(at, name);
    double ms;
    if (qn_json_type(&v) == QN_JSON_NUMBER && qn_json_f64(&v, 0, 1e12, &ms, NULL) == QN_OK)
        *out = ms;
}

void qn_hear_usage(struct qn_hearing *h, const struct qn_jref *root)
{
    struct qn_jref usage = qn_json_get(root, "usage"), timings = qn_json_get(root, "timings");
    struct qn_jref prompt = qn_json_get(&usage, "prompt_tokens_details");
    struct qn_jref output = qn_json_get(&usage, "completion_tokens_details");
    take_count(&usage, "prompt_tokens", &h->usage.prompt);
    take_count(&usage, "completion_tokens", &h->usage.output);
    take_count(&prompt, "cached_tokens", &h->usage.cached);
    take_count(&output, "reasoning_tokens", &h->usage.reasoning);
    take_count(&timings, "cache_n", &h->usage.cached);
    take_time(&timings, "prompt_ms", &h->usage.prompt_ms);
    take_time(&timings, "predicted_ms", &h->usage.output_ms);
}

/* ---- Requests ---- */

static void on_event(void *ctx, const char *event, const char *data, size_t n)
{
    struct qn_hearing *h = ctx;
    struct qn_json *doc;
    struct qn_error why = {0};
    if (h->error.code || qn_str_eq(data, "[DONE]"))
        return;
    if (qn_json_parse(data, n, &doc, &why)) {
        qn_fail(&h->error, QN_ECHILD, "sent a reply that is not valid JSON: %.500s", why.message);
        return;
    }
    struct qn_jref root = qn_json_root(doc), error = qn_json_get(&root, "error");
    if (qn_json_type(&error) > QN_JSON_NULL || qn_str_eq(event, "error")) {
        int64_t status = 500;
        struct qn_jref code = qn_json_get(&error, "code");
        if (qn_json_i64_opt(&code, 400, 599, &status, NULL))
            status = 500;
        fail_said((int)status, &root, "the server", &h->error);
    } else {
        qn_hear_chunk(h, &root, false, &h->error);
    }
    qn_json_free(doc);
}

void qn_hearing_init(struct qn_hearing *h, const struct qn_job *job, qn_hear_send send, void *ctx)
{
    *h = (struct qn_hearing){.job = job, .send = send, .ctx = ctx};
    qn_buf_init(&h->whole, QN_HEAR_BODY_MAX);
    qn_sse_init(&h->sse, on_event, h);
}

void qn_hearing_deinit(struct qn_hearing *h)
{
    qn_buf_deinit(&h->whole);
    qn_sse_deinit(&h->sse);
}

void qn_hearing_begin(struct qn_hearing *h, const struct qn_engine_call *ask)
{
    h->first = ask->first;
    h->inputs = ask->inputs;
    h->form = QN_HEAR_NOTHING;
    h->bytes = 0;
    h->error = (struct qn_error){0};
    qn_buf_clear(&h->whole);
    qn_sse_deinit(&h->sse);
    qn_sse_init(&h->sse, on_event, h);
    for (int i = 0; i < QN_JOB_CHOICES_MAX; i++) {
        h->choices[i].call = h->choices[i].upstream = -1;
        h->choices[i].id[0] = '\0';
    }
    if (!h->begun_ms || !h->answered) {
        h->begun_ms = qn_now_ms();
        h->usage.prompt_ms = h->usage.output_ms = -1;
    }
}

static bool streams(const struct qn_hearing *h)
{
    return h->job->task == QN_TASK_CHAT || h->job->task == QN_TASK_COMPLETE;
}

/* Chooses how to parse the reply, by its status, the task and its content type. */
static void choose_form(struct qn_hearing *h, int status, const char *type)
{
    static const char events[] = "text/event-stream";
    if (status == 200 && streams(h) && !strncasecmp(type, events, strlen(events)))
        h->form = QN_HEAR_EVENTS;
    else if (status == 200 && h->job->task == QN_TASK_SPEAK)
        h->form = QN_HEAR_BYTES;
    else
        h->form = QN_HEAR_WHOLE;
}

static void say_sound(struct qn_hearing *h, const void *p, size_t n)
{
    enum { PCM_HZ = 24000 };
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_AUDIO);
    ev.format = h->job->speak.format;
    ev.rate_hz = PCM_HZ;
    ev.data = p;
    ev.bytes = (int64_t)n;
    if (n)
        qn_hear_say(h, &ev);
}

qn_err qn_hearing_data(struct qn_hearing *h, int status, const char *content_type, const void *p,
                       size_t n)
{
    if (h->form == QN_HEAR_NOTHING)
        choose_form(h, status, content_type);
    h->bytes += n;
    if (h->form == QN_HEAR_WHOLE) {
        size_t limit = status == 200 ? QN_HEAR_BODY_MAX : QN_HEAR_ERROR_MAX;
        if (h->whole.len + n > limit)
            return qn_fail(&h->error, QN_ECHILD, "sent a reply of more than %zu MiB", limit >> 20);
        return qn_buf_add(&h->whole, p, n);
    }
    if (h->bytes > QN_HEAR_STREAM_MAX)
        return qn_fail(&h->error, QN_ECHILD, "sent a reply of more than %d MiB",
                       QN_HEAR_STREAM_MAX >> 20);
    if (h->form == QN_HEAR_BYTES)
        say_sound(h, p, n);
    else if (qn_sse_feed(&h->sse, p, n))
        return qn_fail(&h->error, QN_ECHILD, "sent a line of more than %d MiB",
                       QN_SSE_EVENT_MAX >> 20);
    return h->error.code;
}

static qn_err take_whole(struct qn_hearing *h, struct qn_error *e)
{
    struct qn_json *doc;
    struct qn_error why = {0};
    if (qn_json_parse(qn_buf_cstr(&h->whole), h->whole.len, &doc, &why))
        return qn_fail(e, QN_ECHILD, "sent a reply that is not valid JSON: %.500s", why.message);
    struct qn_jref root = qn_json_root(doc);
    qn_err err = streams(h) ? qn_hear_chunk(h, &root, true, e) : qn_hear_whole(h, &root, e);
    qn_json_free(doc);
    return err;
}

bool qn_hearing_complete(const struct qn_hearing *h)
{
    bool all = h->form == QN_HEAR_EVENTS;
    for (int64_t i = 0; all && i < qn_hear_choices(h); i++)
        all = h->choices[i].done;
    return all;
}

static qn_err check_complete(const struct qn_hearing *h, struct qn_error *e)
{
    for (int64_t i = 0; streams(h) && i < qn_hear_choices(h); i++)
        if (!h->choices[i].done)
            return qn_fail(e, QN_ECHILD, "ended its reply before it was complete");
    return QN_OK;
}

/* Prefixes messages such as "ended its reply ..." with the server's name. */
static qn_err by(const char *who, const struct qn_error *why, struct qn_error *e)
{
    struct qn_error copy = *why;
    return qn_fail_param(e, copy.code, copy.param, "%.200s %.800s", who, copy.message);
}

qn_err qn_hearing_end(struct qn_hearing *h, int status, const struct qn_error *broken,
                      const char *who, bool *passing, struct qn_error *e)
{
    struct qn_error why = {0};
    *passing = false;
    if (h->error.code && h->error.code != QN_ECHILD) { /* the stream contained an error event */
        *passing = h->error.code == QN_EIO || h->error.code == QN_EBUSY;
        *e = h->error;
        return e->code;
    }
    if (h->error.code) {
        *passing = true;
        return by(who, &h->error, e);
    }
    if (broken && !qn_hearing_complete(h)) {
        *passing = true;
        qn_err code = broken->code == QN_ETIMEOUT ? QN_ETIMEOUT : QN_EIO;
        return qn_fail(e, h->spoken ? QN_ECHILD : code, "%.200s: %.700s", who, broken->message);
    }
    if (status != 200) {
        *passing = is_passing(status);
        return qn_hear_status(status, h->whole.data, h->whole.len, who, e);
    }
    qn_err err = QN_OK;
    if (h->form == QN_HEAR_WHOLE)
        err = take_whole(h, &why);
    else if (h->form == QN_HEAR_NOTHING)
        err = qn_fail(&why, QN_ECHILD, "sent an empty reply");
    if (!err)
        err = check_complete(h, &why);
    if (err) {
        *passing = why.code == QN_ECHILD;
        return by(who, &why, e);
    }
    return QN_OK;
}

void qn_hearing_finish(struct qn_hearing *h)
{
    struct qn_event ev;
    int64_t end_ms = h->last_ms ? h->last_ms : qn_now_ms();
    int64_t first_ms = h->first_ms ? h->first_ms : end_ms;
    if (!streams(h) && h->job->task != QN_TASK_IMAGE) {
        qn_event_init(&ev, QN_EV_DONE);
        ev.finish = QN_FINISH_STOP;
        ev.language = h->language[0] ? h->language : NULL;
        h->send(h->ctx, &ev);
    }
    qn_event_init(&ev, QN_EV_USAGE);
    ev.usage.prompt = h->usage.prompt;
    ev.usage.cached = h->usage.cached < h->usage.prompt ? h->usage.cached : h->usage.prompt;
    ev.usage.output = h->job->count_only ? 0 : h->usage.output ? h->usage.output : h->pieces;
    ev.usage.reasoning = h->usage.reasoning;
    ev.usage.prompt_ms =
        h->usage.prompt_ms >= 0 ? h->usage.prompt_ms : (double)(first_ms - h->begun_ms);
    ev.usage.output_ms = h->usage.output_ms >= 0 ? h->usage.output_ms : (double)(end_ms - first_ms);
    if (h->job->task == QN_TASK_TRANSCRIBE)
        ev.usage.audio_ms = h->audio_s * 1000;
    h->send(h->ctx, &ev);
    qn_event_init(&ev, QN_EV_END);
    h->send(h->ctx, &ev);
}
