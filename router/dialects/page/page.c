/* The chat of quince's own page: takes the body of OpenAI's chat/completions and writes records,
 * one JSON object a line, always as a stream:
 *
 *   {"t":"prompt","done":120,"total":800,"cached":100}   tokens of the prompt
 *   {"t":"think","s":"..."}   {"t":"text","s":"..."}     more reasoning, more text
 *   {"t":"call","call":0,"id":"call_...","name":"f","arguments":"{"}   a call begins
 *   {"t":"call","call":0,"arguments":"}"}                more of its arguments
 *   {"t":"stats","prompt":800,"cached":100,"output":50,"reasoning":0,"prompt_ms":9.5,"output_ms":7}
 *   {"t":"end","state":"done","finish":"stop"}           the last record; or
 *   {"t":"end","state":"failed","error":{"message","code","param","report"}}
 *
 * The state "cut" means that a limit of tokens ended the text. */
#include "dialects/page/page.h"

#include "answers/answer.h"
#include "dialects/openai/openai.h"

enum { PROBLEM_MAX = 64 * 1024 }; /* bytes of an error with its crash report */

static qn_err parse(struct qn_request *rq, struct qn_error *e)
{
    qn_err err = qn_openai_chat.parse(rq, e);
    if (err)
        return err;
    const struct qn_sampling *s = &rq->jobs[0].sampling;
    if (s->n != QN_UNSET && s->n != 1)
        return qn_fail_param(e, QN_EINVAL, "n", "n: only one choice is possible here");
    rq->stream = true;
    return QN_OK;
}

static struct qn_jw open_record(struct qn_reply *r, const char *kind)
{
    struct qn_jw w = qn_jw_to(r->out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "t", kind);
    return w;
}

static void close_record(struct qn_reply *r, struct qn_jw *w)
{
    qn_jw_obj_end(w);
    qn_buf_char(r->out, '\n');
}

static void write_progress(struct qn_reply *r, const struct qn_event *ev)
{
    struct qn_jw w = open_record(r, "prompt");
    qn_jw_ki64(&w, "done", ev->done);
    qn_jw_ki64(&w, "total", ev->total);
    qn_jw_ki64(&w, "cached", ev->reused);
    close_record(r, &w);
}

static void write_text(struct qn_reply *r, const char *kind, const char *text)
{
    if (!*text)
        return;
    struct qn_jw w = open_record(r, kind);
    qn_jw_kstr(&w, "s", text);
    close_record(r, &w);
}

static qn_err write_call(struct qn_reply *r, struct qn_openai_choice *c, const struct qn_event *ev,
                         struct qn_error *e)
{
    struct qn_openai_call *call;
    bool fresh;
    qn_err err = qn_openai_take_call(r, c, 0, ev, &call, &fresh, e);
    if (err || (!fresh && !*ev->arguments))
        return err;
    struct qn_jw w = open_record(r, "call");
    qn_jw_ki64(&w, "call", ev->call);
    if (fresh) {
        qn_jw_kstr(&w, "id", call->id);
        qn_jw_kstr(&w, "name", call->name);
    }
    qn_jw_kstr(&w, "arguments", ev->arguments);
    close_record(r, &w);
    return QN_OK;
}

static void write_stats(struct qn_reply *r)
{
    const struct qn_openai *o = r->own;
    struct qn_jw w = open_record(r, "stats");
    qn_jw_ki64(&w, "prompt", o->prompt);
    qn_jw_ki64(&w, "cached", o->cached);
    qn_jw_ki64(&w, "output", o->output);
    qn_jw_ki64(&w, "reasoning", o->reasoning);
    qn_jw_kf64(&w, "prompt_ms", o->prompt_ms);
    qn_jw_kf64(&w, "output_ms", o->output_ms);
    close_record(r, &w);
}

static qn_err event(struct qn_reply *r, size_t job, const struct qn_event *ev, struct qn_error *e)
{
    size_t index;
    struct qn_openai_choice *c = qn_openai_choice(r, job, ev, &index);
    if (!c)
        return qn_fail(e, QN_ECHILD, "the model's process sent a choice that was not requested");
    switch (ev->kind) {
    case QN_EV_PROGRESS:
        write_progress(r, ev);
        break;
    case QN_EV_TEXT:
    case QN_EV_REASONING:
        write_text(r, ev->kind == QN_EV_TEXT ? "text" : "think", ev->text);
        break;
    case QN_EV_TOOL_CALL:
        return write_call(r, c, ev, e);
    case QN_EV_DONE:
        c->finish = ev->finish;
        break;
    case QN_EV_USAGE:
        qn_openai_usage(r, ev);
        write_stats(r);
        break;
    default:
        break;
    }
    return QN_OK;
}

static void end(struct qn_reply *r)
{
    const struct qn_openai *o = r->own;
    enum qn_finish finish = o->n ? o->choices[0].finish : QN_FINISH_STOP;
    struct qn_jw w = open_record(r, "end");
    qn_jw_kstr(&w, "state", finish == QN_FINISH_LENGTH ? "cut" : "done");
    qn_jw_kstr(&w, "finish", qn_finish_name(finish));
    close_record(r, &w);
}

/* The members are those that every endpoint writes. */
void qn_page_error_write(const struct qn_problem *p, struct qn_jw *w)
{
    static const char *const members[][2] = {
        {"message", "message"}, {"code", "code"}, {"param", "param"}, {"report", "details"}};
    struct qn_buf body;
    struct qn_json *doc = NULL;
    qn_buf_init(&body, PROBLEM_MAX);
    qn_problem_body(p, QN_FAMILY_ERROR, &body);
    if (!body.overflow)
        (void)qn_json_parse(body.data, body.len, &doc, NULL);
    struct qn_jref root = {0};
    if (doc)
        root = qn_json_root(doc);
    struct qn_jref error = qn_json_get(&root, "error");
    qn_jw_obj(w);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        struct qn_jref v = qn_json_get(&error, members[i][1]);
        if (qn_json_type(&v) <= QN_JSON_NULL)
            continue;
        qn_jw_key(w, members[i][0]);
        qn_jw_value(w, &v);
    }
    qn_jw_obj_end(w);
    qn_json_free(doc);
    qn_buf_deinit(&body);
}

static void fail(struct qn_reply *r, const struct qn_problem *p)
{
    struct qn_jw w = open_record(r, "end");
    qn_jw_kstr(&w, "state", "failed");
    qn_jw_key(&w, "error");
    qn_page_error_write(p, &w);
    close_record(r, &w);
}

/* The receiver has no connection that must be kept alive. */
static void ping(struct qn_reply *r)
{
    (void)r;
}

const struct qn_dialect qn_page_chat = {
    .task = QN_TASK_CHAT,
    .stream_type = "application/x-ndjson",
    .progress_repeats = true,
    .parse = parse,
    .begin = qn_openai_begin,
    .event = event,
    .end = end,
    .fail = fail,
    .ping = ping,
    .free = qn_openai_free,
};
