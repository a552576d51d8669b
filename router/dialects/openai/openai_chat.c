/* POST chat/completions. Sampling members are in openai.c, messages in openai_messages.c, tools in
 * openai_tools.c, the output's form and reasoning in openai_form.c. */
#include "dialects/openai/openai.h"
#include "dialects/shared/defaults.h"
#include "dialects/shared/logprobs.h"

#include "base/str.h"
#include "contract/codec.h"

#include <string.h>

static const char prefix[] = "chatcmpl-";

static const char *const known[] = {
    "messages",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "functions",
    "function_call",
    "response_format",
    "grammar",
    "json_schema",
    "top_logprobs",
    "chat_template_kwargs",
    "enable_thinking",
    "thinking",
    "reasoning_effort",
    "reasoning",
    "reasoning_format",
    "include_reasoning",
    "reasoning_budget",
    "thinking_budget",
    "thinking_budget_tokens",
    "documents",
    "continue_final_message",
    "modalities",
    "prediction", /* only a hint for speed */
    "verbosity",
    NULL,
};

/* "modalities": audio output is not supported. */
static qn_err read_modalities(const struct qn_jref *v, struct qn_error *e)
{
    struct qn_jref it;
    if (qn_json_type(v) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(v) != QN_JSON_ARRAY)
        return qn_json_fail(v, e, "expected an array");
    qn_err err = QN_OK;
    for (bool more = qn_json_first(v, &it); more && !err; more = qn_json_next(&it)) {
        const char *name;
        err = qn_json_str(&it, &name, e);
        if (!err && !qn_str_eq(name, "text"))
            err = qn_json_fail(&it, e, "'%.40s' is not supported here: only text is", name);
    }
    return err;
}

static qn_err read_logprobs(const struct qn_jref *root, struct qn_sampling *s,
                            struct qn_openai_ask *ask, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "logprobs"), top = qn_json_get(root, "top_logprobs");
    qn_err err = qn_json_bool_opt(&v, &ask->logprobs, e);
    if (err)
        return err;
    if (qn_json_type(&top) > QN_JSON_NULL && !ask->logprobs)
        return qn_json_fail(&top, e, "only allowed when logprobs is true");
    if (ask->logprobs)
        s->logprobs = 0;
    return qn_sampling_read(s, "logprobs", &top, e);
}

static qn_err parse(struct qn_request *rq, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(rq->doc);
    struct qn_job *job = qn_arena_alloc(rq->arena, sizeof *job);
    struct qn_openai_ask *ask = qn_arena_alloc(rq->arena, sizeof *ask);
    qn_job_init(job);
    job->task = QN_TASK_CHAT;
    rq->jobs = job;
    rq->n_jobs = 1;
    rq->own = ask;
    qn_err err = qn_openai_common(&root, rq, &job->sampling, ask, e);
    struct qn_jref v = qn_json_get(&root, "messages");
    if (!err)
        err = qn_openai_messages(&v, rq->arena, job, e);
    if (!err)
        err = qn_openai_tools(&root, rq, &job->chat, ask, e);
    if (!err)
        err = qn_openai_reasoning(&root, rq, &job->chat, ask, e);
    if (!err)
        err = qn_openai_constraints(&root, rq, job, e);
    if (!err)
        err = read_logprobs(&root, &job->sampling, ask, e);
    v = qn_json_get(&root, "documents");
    if (!err)
        err = qn_openai_keep_json(&v, QN_JSON_ARRAY, QN_JOB_PROMPT_BYTES_MAX, rq,
                                  &job->chat.documents, e);
    v = qn_json_get(&root, "continue_final_message");
    if (!err)
        err = qn_json_bool_opt(&v, &job->chat.continue_last, e);
    v = qn_json_get(&root, "modalities");
    if (!err)
        err = read_modalities(&v, e);
    if (err)
        return err;
    qn_sampling_defaults(&rq->profile->chat, &job->sampling);
    qn_openai_unknown(&root, "chat/completions", known);
    return QN_OK;
}

static void write_logprobs(struct qn_jw *w, bool asked, struct qn_buf *items)
{
    qn_jw_key(w, "logprobs");
    if (!asked) {
        qn_jw_null(w);
        return;
    }
    qn_jw_obj(w);
    qn_jw_key(w, "content");
    struct qn_buf list;
    qn_buf_init(&list, QN_REPLY_MAX + 2);
    qn_buf_char(&list, '[');
    qn_buf_add(&list, qn_buf_cstr(items), items->len);
    qn_buf_char(&list, ']');
    qn_jw_raw(w, list.data, list.len);
    qn_buf_deinit(&list);
    qn_jw_knull(w, "refusal");
    qn_jw_obj_end(w);
}

static const char chunk_object[] = "chat.completion.chunk";

/* Opens one item of "choices" in a stream and its delta. */
static struct qn_jw open_delta(struct qn_reply *r, size_t index)
{
    struct qn_jw w = qn_openai_chunk(r, prefix, chunk_object);
    qn_jw_obj(&w);
    qn_jw_ki64(&w, "index", (int64_t)index);
    qn_jw_key(&w, "delta");
    qn_jw_obj(&w);
    return w;
}

/* Closes delta and choice. */
static void close_delta(struct qn_jw *w, struct qn_buf *items, const char *finish)
{
    struct qn_buf none = {0};
    qn_jw_obj_end(w);
    write_logprobs(w, items && items->len > 0, items ? items : &none);
    qn_jw_kstr(w, "finish_reason", finish);
    qn_jw_obj_end(w);
}

static const char *finish_name(const struct qn_reply *r, const struct qn_openai_choice *c)
{
    const struct qn_openai_ask *ask = r->rq->own;
    return c->finish == QN_FINISH_TOOLS && ask->functions ? "function_call"
                                                          : qn_finish_name(c->finish);
}

/* Writes the first chunk of a choice. A choice that begins with a tool call has no content. */
static void begin_choice(struct qn_reply *r, size_t index, struct qn_openai_choice *c, bool content)
{
    if (c->begun)
        return;
    c->begun = true;
    struct qn_jw w = open_delta(r, index);
    qn_jw_kstr(&w, "role", "assistant");
    qn_jw_kstr(&w, "content", content ? "" : NULL);
    close_delta(&w, NULL, NULL);
    qn_openai_chunk_end(r, &w);
}

/* Writes {"name","arguments"}; name NULL: a later piece. */
static void write_function(struct qn_jw *w, const char *key, const char *name,
                           const char *arguments)
{
    qn_jw_key(w, key);
    qn_jw_obj(w);
    if (name)
        qn_jw_kstr(w, "name", name);
    qn_jw_kstr(w, "arguments", arguments);
    qn_jw_obj_end(w);
}

/* Writes the head of a tool call: {"id","type","function". */
static void write_call(struct qn_jw *w, const struct qn_openai_call *call, const char *arguments)
{
    qn_jw_kstr(w, "id", call->id);
    qn_jw_kstr(w, "type", "function");
    write_function(w, "function", call->name, arguments);
}

static void stream_call(struct qn_reply *r, size_t index, const struct qn_event *ev,
                        const struct qn_openai_call *call, bool fresh)
{
    const struct qn_openai_ask *ask = r->rq->own;
    if (!fresh && !*ev->arguments)
        return;
    struct qn_jw w = open_delta(r, index);
    if (ask->functions) {
        write_function(&w, "function_call", fresh ? call->name : NULL, ev->arguments);
    } else {
        qn_jw_key(&w, "tool_calls");
        qn_jw_arr(&w);
        qn_jw_obj(&w);
        qn_jw_ki64(&w, "index", ev->call);
        if (fresh)
            write_call(&w, call, ev->arguments);
        else
            write_function(&w, "function", NULL, ev->arguments);
        qn_jw_obj_end(&w);
        qn_jw_arr_end(&w);
    }
    close_delta(&w, NULL, NULL);
    qn_openai_chunk_end(r, &w);
}

static void end_choice(struct qn_reply *r, size_t index, struct qn_openai_choice *c, bool usage)
{
    begin_choice(r, index, c, true);
    struct qn_jw w = open_delta(r, index);
    close_delta(&w, &c->logprobs, finish_name(r, c));
    if (usage) {
        qn_jw_arr_end(&w);
        qn_openai_usage_write(r->own, &w);
        qn_jw_obj_end(&w);
        qn_buf_str(r->out, "\n\n");
    } else {
        qn_openai_chunk_end(r, &w);
    }
    qn_buf_clear(&c->logprobs);
}

/* Writes more text or reasoning. */
static qn_err say(struct qn_reply *r, size_t index, struct qn_openai_choice *c,
                  const struct qn_event *ev, struct qn_error *e)
{
    const struct qn_openai_ask *ask = r->rq->own;
    bool text = ev->kind == QN_EV_TEXT;
    if (!text && ask->hide_reasoning)
        return QN_OK;
    /* Only tokens of the content are included, not those of the reasoning. */
    qn_err err = text && ask->logprobs && ev->logprobs
                     ? qn_logprobs_add(ev->logprobs, true, &c->logprobs, e)
                     : QN_OK;
    if (err)
        return err;
    if (!r->rq->stream)
        return qn_buf_str(text ? &c->text : &c->reasoning, ev->text)
                   ? qn_fail(e, QN_ELIMIT, "the reply is too long")
                   : QN_OK;
    begin_choice(r, index, c, true);
    struct qn_jw w = open_delta(r, index);
    qn_jw_kstr(&w, text ? "content" : "reasoning_content", ev->text);
    close_delta(&w, &c->logprobs, NULL);
    qn_openai_chunk_end(r, &w);
    qn_buf_clear(&c->logprobs);
    return QN_OK;
}

static qn_err event(struct qn_reply *r, size_t job, const struct qn_event *ev, struct qn_error *e)
{
    if (ev->kind == QN_EV_USAGE)
        qn_openai_usage(r, ev);
    if (ev->kind != QN_EV_TEXT && ev->kind != QN_EV_REASONING && ev->kind != QN_EV_TOOL_CALL &&
        ev->kind != QN_EV_DONE)
        return QN_OK;
    size_t index;
    struct qn_openai_choice *c = qn_openai_choice(r, job, ev, &index);
    if (!c)
        return qn_fail(e, QN_ECHILD, "the model's process sent a choice that was not requested");
    if (ev->kind == QN_EV_TEXT || ev->kind == QN_EV_REASONING)
        return say(r, index, c, ev, e);
    if (ev->kind == QN_EV_DONE) {
        c->finish = ev->finish;
        if (r->rq->stream && !qn_openai_ends_late(r))
            end_choice(r, index, c, false);
        return QN_OK;
    }
    struct qn_openai_call *call;
    bool fresh;
    qn_err err = qn_openai_take_call(r, c, index, ev, &call, &fresh, e);
    if (err || !r->rq->stream)
        return err;
    begin_choice(r, index, c, false);
    stream_call(r, index, ev, call, fresh);
    return QN_OK;
}

/* Writes "message" of a non-streamed reply. */
static void write_message(struct qn_jw *w, const struct qn_openai_ask *ask,
                          struct qn_openai_choice *c)
{
    qn_jw_key(w, "message");
    qn_jw_obj(w);
    qn_jw_kstr(w, "role", "assistant");
    qn_jw_kstr(w, "content", c->text.len || !c->n_calls ? qn_buf_cstr(&c->text) : NULL);
    if (c->reasoning.len)
        qn_jw_kstr(w, "reasoning_content", qn_buf_cstr(&c->reasoning));
    qn_jw_knull(w, "refusal");
    if (c->n_calls && ask->functions) {
        write_function(w, "function_call", c->calls[0].name, qn_buf_cstr(&c->calls[0].arguments));
    } else if (c->n_calls) {
        qn_jw_key(w, "tool_calls");
        qn_jw_arr(w);
        for (size_t i = 0; i < c->n_calls; i++) {
            qn_jw_obj(w);
            write_call(w, &c->calls[i], qn_buf_cstr(&c->calls[i].arguments));
            qn_jw_obj_end(w);
        }
        qn_jw_arr_end(w);
    }
    qn_jw_obj_end(w);
}

static void end(struct qn_reply *r)
{
    struct qn_openai *o = r->own;
    const struct qn_openai_ask *ask = r->rq->own;
    if (r->rq->stream) {
        for (size_t i = 0; i < o->n && qn_openai_ends_late(r); i++)
            end_choice(r, i, &o->choices[i], i + 1 == o->n);
        qn_openai_stream_end(r, prefix, chunk_object);
        return;
    }
    struct qn_jw w = qn_openai_open(r, prefix, "chat.completion");
    for (size_t i = 0; i < o->n; i++) {
        struct qn_openai_choice *c = &o->choices[i];
        qn_jw_obj(&w);
        qn_jw_ki64(&w, "index", (int64_t)i);
        write_message(&w, ask, c);
        write_logprobs(&w, ask->logprobs, &c->logprobs);
        qn_jw_kstr(&w, "finish_reason", finish_name(r, c));
        qn_jw_obj_end(&w);
    }
    qn_jw_arr_end(&w);
    qn_openai_usage_write(o, &w);
    qn_jw_obj_end(&w);
}

const struct qn_dialect qn_openai_chat = {
    .task = QN_TASK_CHAT,
    .stream_type = "text/event-stream",
    .parse = parse,
    .begin = qn_openai_begin,
    .event = event,
    .end = end,
    .fail = qn_openai_fail,
    .ping = qn_openai_ping,
    .free = qn_openai_free,
};
