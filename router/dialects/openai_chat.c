/* POST chat/completions. Messages leave here in the form chat templates read (talk.h). */
#include "router/dialects/openai.h"

#include "base/str.h"
#include "contract/codec.h"
#include "router/dialects/talk.h"

#include <string.h>

enum { PARTS_MAX = 1000, TOOLS_MAX = 1000 };

static const char prefix[] = "chatcmpl-";

static const char *const known[] = {
    "messages",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "top_logprobs",
    "chat_template_kwargs",
    "enable_thinking",
    "documents",
    "continue_final_message",
    NULL,
};

/* Roles as clients write them and as templates read them. */
static const struct {
    const char *name, *role;
    bool content; /* must have one */
} roles[] = {
    {"system", "system", true},        {"developer", "system", true}, {"user", "user", true},
    {"assistant", "assistant", false}, {"tool", "tool", true},        {"function", "tool", true},
};

/* A data URL of a picture: a part's "image_url", a string or an object with a url. */
static qn_err add_image(const struct qn_jref *part, struct qn_talk *t, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(part, "image_url");
    struct qn_jref inner = qn_json_get(&v, "url");
    const struct qn_jref *at = qn_json_type(&v) == QN_JSON_OBJECT ? &inner : &v;
    const char *url;
    qn_err err = qn_json_str(at, &url, e);
    if (!err && strncmp(url, "data:", 5) != 0)
        err = qn_json_fail(at, e,
                           "only pictures within the request are read: give a data URL "
                           "(data:image/png;base64,...)");
    if (!err)
        qn_talk_image(t, url);
    return err;
}

/* A content: a string, or an array of parts. */
static qn_err add_content(const struct qn_jref *content, struct qn_talk *t, struct qn_error *e)
{
    if (qn_json_type(content) == QN_JSON_STRING) {
        qn_talk_text(t, qn_json_raw_str(content));
        return QN_OK;
    }
    if (qn_json_type(content) != QN_JSON_ARRAY)
        return qn_json_fail(content, e, "expected a string or an array of parts");
    if (qn_json_count(content) > PARTS_MAX)
        return qn_json_fail(content, e, "at most %d parts are allowed", PARTS_MAX);
    if (qn_json_count(content) == 0)
        qn_talk_text(t, "");
    qn_err err = QN_OK;
    struct qn_jref part;
    for (bool more = qn_json_first(content, &part); more && !err; more = qn_json_next(&part)) {
        const char *type, *s;
        struct qn_jref v = qn_json_get(&part, "type"), text = qn_json_get(&part, "text");
        if (qn_json_type(&part) != QN_JSON_OBJECT)
            err = qn_json_fail(&part, e, "expected an object");
        else if ((err = qn_json_str(&v, &type, e)))
            break;
        else if (qn_str_eq(type, "image_url"))
            err = add_image(&part, t, e);
        else if (!qn_str_eq(type, "text"))
            err = qn_json_fail(
                &v, e, "parts of type '%.40s' are not supported: text and image_url are", type);
        else if (!(err = qn_json_str(&text, &s, e)))
            qn_talk_text(t, s);
    }
    return err;
}

static qn_err add_calls(const struct qn_jref *calls, struct qn_talk *t, struct qn_error *e)
{
    if (qn_json_type(calls) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(calls) != QN_JSON_ARRAY)
        return qn_json_fail(calls, e, "expected an array");
    struct qn_jref call;
    for (bool more = qn_json_first(calls, &call); more; more = qn_json_next(&call)) {
        struct qn_jref id = qn_json_get(&call, "id"), function = qn_json_get(&call, "function");
        struct qn_jref v = qn_json_get(&function, "name");
        struct qn_jref arguments = qn_json_get(&function, "arguments");
        const char *id_text = NULL, *name;
        qn_err err = qn_json_str_opt(&id, &id_text, e);
        if (!err)
            err = qn_json_str(&v, &name, e);
        if (!err && qn_json_type(&arguments) != QN_JSON_STRING &&
            qn_json_type(&arguments) != QN_JSON_OBJECT)
            err = qn_json_fail(&arguments, e, "expected a string or an object");
        if (err)
            return err;
        qn_talk_call(t, id_text, name, &arguments);
    }
    return QN_OK;
}

static qn_err add_message(const struct qn_jref *m, struct qn_talk *t, struct qn_error *e)
{
    static const char *const members[] = {"name", "tool_call_id"};
    if (qn_json_type(m) != QN_JSON_OBJECT)
        return qn_json_fail(m, e, "expected an object");
    struct qn_jref v = qn_json_get(m, "role");
    const char *name, *text = NULL;
    qn_err err = qn_json_str(&v, &name, e);
    if (err)
        return err;
    size_t k = 0;
    while (k < sizeof roles / sizeof *roles && !qn_str_eq(roles[k].name, name))
        k++;
    if (k == sizeof roles / sizeof *roles)
        return qn_json_fail(&v, e,
                            "'%.40s' is not a role: expected system, developer, user, assistant "
                            "or tool",
                            name);
    qn_talk_message(t, roles[k].role);
    for (size_t i = 0; i < sizeof members / sizeof *members && !err; i++) {
        text = NULL;
        v = qn_json_get(m, members[i]);
        err = qn_json_str_opt(&v, &text, e);
        if (!err && text)
            qn_talk_member(t, members[i], text);
    }
    struct qn_jref content = qn_json_get(m, "content"), calls = qn_json_get(m, "tool_calls");
    if (!err && (qn_json_type(&content) > QN_JSON_NULL || roles[k].content))
        err = add_content(&content, t, e);
    text = NULL;
    v = qn_json_get(m, "reasoning_content");
    if (!err)
        err = qn_json_str_opt(&v, &text, e);
    if (!err && text)
        qn_talk_reasoning(t, text);
    return err ? err : add_calls(&calls, t, e);
}

static qn_err read_messages(const struct qn_jref *v, struct qn_request *rq, struct qn_chat *chat,
                            struct qn_error *e)
{
    if (qn_json_type(v) != QN_JSON_ARRAY)
        return qn_json_fail(v, e, "expected an array of messages");
    struct qn_talk t;
    qn_talk_init(&t);
    qn_err err = QN_OK;
    struct qn_jref m;
    for (bool more = qn_json_first(v, &m); more && !err; more = qn_json_next(&m))
        err = add_message(&m, &t, e);
    if (!err)
        err = qn_talk_end(&t, rq->arena, "messages", &chat->messages, e);
    qn_talk_deinit(&t);
    return err;
}

/* Moves what buf holds into the arena, where the job wants it. */
static qn_err keep(struct qn_request *rq, struct qn_buf *buf, const struct qn_jref *v,
                   const char **out, struct qn_error *e)
{
    if (buf->overflow)
        return qn_json_fail(v, e, "too long: at most %d bytes", QN_JOB_PROMPT_BYTES_MAX);
    char *copy = qn_arena_try(rq->arena, buf->len + 1);
    if (!copy)
        return qn_json_fail(v, e, "too long");
    memcpy(copy, qn_buf_cstr(buf), buf->len + 1);
    *out = copy;
    return QN_OK;
}

static qn_err keep_json(const struct qn_jref *v, enum qn_json_type type, struct qn_request *rq,
                        const char **out, struct qn_error *e)
{
    if (qn_json_type(v) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(v) != type)
        return qn_json_fail(v, e, "expected %s", qn_json_type_name(type));
    struct qn_buf text;
    qn_buf_init(&text, QN_JOB_PROMPT_BYTES_MAX);
    qn_json_print(v, &text);
    qn_err err = keep(rq, &text, v, out, e);
    qn_buf_deinit(&text);
    return err;
}

static qn_err read_tools(const struct qn_jref *root, struct qn_request *rq, struct qn_chat *chat,
                         struct qn_error *e)
{
    struct qn_jref tools = qn_json_get(root, "tools"), choice = qn_json_get(root, "tool_choice");
    struct qn_jref tool;
    const char *text;
    if (qn_json_type(&tools) > QN_JSON_NULL && qn_json_type(&tools) != QN_JSON_ARRAY)
        return qn_json_fail(&tools, e, "expected an array");
    if (qn_json_count(&tools) > TOOLS_MAX)
        return qn_json_fail(&tools, e, "at most %d tools are allowed", TOOLS_MAX);
    for (bool more = qn_json_first(&tools, &tool); more; more = qn_json_next(&tool)) {
        struct qn_jref type = qn_json_get(&tool, "type"), f = qn_json_get(&tool, "function");
        struct qn_jref name = qn_json_get(&f, "name");
        qn_err err = qn_json_str(&type, &text, e);
        if (!err && !qn_str_eq(text, "function"))
            err = qn_json_fail(&type, e, "'%.40s' is not supported: only functions are", text);
        if (!err)
            err = qn_json_str(&name, &text, e);
        if (err)
            return err;
    }
    bool use = qn_json_count(&tools) > 0;
    if (qn_json_type(&choice) == QN_JSON_STRING) {
        text = qn_json_raw_str(&choice);
        if (qn_str_eq(text, "none"))
            use = false;
        else if (!qn_str_eq(text, "auto"))
            return qn_json_fail(&choice, e,
                                "'%.40s' is not supported in this version: only auto and none are",
                                text);
    } else if (qn_json_type(&choice) > QN_JSON_NULL) {
        return qn_json_fail(&choice, e,
                            "a certain tool cannot be forced in this version: only auto and none "
                            "are supported");
    }
    return use ? keep_json(&tools, QN_JSON_ARRAY, rq, &chat->tools, e) : QN_OK;
}

/* chat_template_kwargs and enable_thinking, which is the same in short. */
static qn_err read_template_vars(const struct qn_jref *root, struct qn_request *rq,
                                 struct qn_chat *chat, struct qn_error *e)
{
    struct qn_jref vars = qn_json_get(root, "chat_template_kwargs"), it;
    struct qn_jref thinking = qn_json_get(root, "enable_thinking");
    bool on = false;
    qn_err err = qn_json_bool_opt(&thinking, &on, e);
    if (err)
        return err;
    if (qn_json_type(&thinking) <= QN_JSON_NULL)
        return keep_json(&vars, QN_JSON_OBJECT, rq, &chat->template_vars, e);
    if (qn_json_type(&vars) > QN_JSON_NULL && qn_json_type(&vars) != QN_JSON_OBJECT)
        return qn_json_fail(&vars, e, "expected an object");
    struct qn_buf text, value;
    qn_buf_init(&text, QN_JOB_PROMPT_BYTES_MAX);
    qn_buf_init(&value, QN_JOB_PROMPT_BYTES_MAX);
    struct qn_jw w = qn_jw_to(&text);
    qn_jw_obj(&w);
    for (bool more = qn_json_first(&vars, &it); more; more = qn_json_next(&it)) {
        if (qn_str_eq(it.key, "enable_thinking"))
            continue;
        qn_buf_clear(&value);
        qn_json_print(&it, &value);
        qn_jw_key(&w, it.key);
        qn_jw_raw(&w, qn_buf_cstr(&value), value.len);
    }
    qn_jw_kbool(&w, "enable_thinking", on);
    qn_jw_obj_end(&w);
    err = keep(rq, &text, &vars, &chat->template_vars, e);
    qn_buf_deinit(&text);
    qn_buf_deinit(&value);
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

static qn_err read_format(const struct qn_jref *root, struct qn_error *e)
{
    struct qn_jref format = qn_json_get(root, "response_format");
    if (qn_json_type(&format) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(&format) != QN_JSON_OBJECT)
        return qn_json_fail(&format, e, "expected an object");
    struct qn_jref type = qn_json_get(&format, "type");
    const char *text;
    qn_err err = qn_json_str(&type, &text, e);
    if (!err && !qn_str_eq(text, "text"))
        err =
            qn_json_fail(&type, e, "'%.40s' is not supported in this version: only text is", text);
    return err;
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
        err = read_messages(&v, rq, &job->chat, e);
    if (!err)
        err = read_tools(&root, rq, &job->chat, e);
    if (!err)
        err = read_template_vars(&root, rq, &job->chat, e);
    if (!err)
        err = read_logprobs(&root, &job->sampling, ask, e);
    if (!err)
        err = read_format(&root, e);
    v = qn_json_get(&root, "documents");
    if (!err)
        err = keep_json(&v, QN_JSON_ARRAY, rq, &job->chat.documents, e);
    v = qn_json_get(&root, "continue_final_message");
    if (!err)
        err = qn_json_bool_opt(&v, &job->chat.continue_last, e);
    if (!err)
        qn_openai_unknown(&root, "chat/completions", known);
    return err;
}

/* {"token","logprob","bytes"} of one entry, without the closing brace. */
static void write_token(const struct qn_jref *token, struct qn_jw *w)
{
    struct qn_jref text = qn_json_get(token, "token"), p = qn_json_get(token, "logprob");
    struct qn_jref bytes = qn_json_get(token, "bytes"), it;
    qn_jw_obj(w);
    qn_jw_kstr(w, "token", qn_json_raw_str(&text));
    if (qn_json_type(&p) == QN_JSON_NUMBER)
        qn_jw_kf64(w, "logprob", qn_json_raw_f64(&p));
    else
        qn_jw_knull(w, "logprob");
    qn_jw_key(w, "bytes");
    qn_jw_arr(w);
    for (bool more = qn_json_first(&bytes, &it); more; more = qn_json_next(&it)) {
        int64_t byte = 0; /* what is none counts as zero */
        (void)qn_json_i64(&it, 0, 255, &byte, NULL);
        qn_jw_i64(w, byte);
    }
    qn_jw_arr_end(w);
}

/* Appends the event's tokens as the items of logprobs.content, with commas between. */
static qn_err write_tokens(const struct qn_event *ev, struct qn_buf *out, struct qn_error *e)
{
    struct qn_json *doc;
    qn_err err = qn_json_parse(ev->logprobs, strlen(ev->logprobs), &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc), token, other;
    for (bool more = qn_json_first(&root, &token); more; more = qn_json_next(&token)) {
        if (out->len)
            qn_buf_char(out, ',');
        struct qn_jw w = qn_jw_to(out);
        struct qn_jref top = qn_json_get(&token, "top");
        write_token(&token, &w);
        qn_jw_key(&w, "top_logprobs");
        qn_jw_arr(&w);
        for (bool m = qn_json_first(&top, &other); m; m = qn_json_next(&other)) {
            write_token(&other, &w);
            qn_jw_obj_end(&w);
        }
        qn_jw_arr_end(&w);
        qn_jw_obj_end(&w);
    }
    qn_json_free(doc);
    return out->overflow ? qn_fail(e, QN_ELIMIT, "the reply is too long") : QN_OK;
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

static void write_chunk(struct qn_reply *r, size_t index, const char *role, const char *text,
                        struct qn_buf *items, enum qn_finish finish)
{
    struct qn_jw w = qn_openai_chunk(r, prefix, chunk_object);
    qn_jw_obj(&w);
    qn_jw_ki64(&w, "index", (int64_t)index);
    qn_jw_key(&w, "delta");
    qn_jw_obj(&w);
    if (role)
        qn_jw_kstr(&w, "role", role);
    if (text)
        qn_jw_kstr(&w, "content", text);
    qn_jw_obj_end(&w);
    write_logprobs(&w, items->len > 0, items);
    qn_jw_kstr(&w, "finish_reason", finish == QN_FINISH_NONE ? NULL : qn_finish_name(finish));
    qn_jw_obj_end(&w);
    qn_openai_chunk_end(r, &w);
}

static qn_err event(struct qn_reply *r, size_t job, const struct qn_event *ev, struct qn_error *e)
{
    if (ev->kind == QN_EV_USAGE)
        qn_openai_usage(r, ev);
    if (ev->kind != QN_EV_TEXT && ev->kind != QN_EV_DONE)
        return QN_OK;
    size_t index;
    struct qn_openai_choice *c = qn_openai_choice(r, job, ev, &index);
    if (!c)
        return qn_fail(e, QN_ECHILD, "the model's process answered a choice nobody asked for");
    const struct qn_openai_ask *ask = r->rq->own;
    qn_err err = QN_OK;
    if (ev->kind == QN_EV_TEXT && ask->logprobs && ev->logprobs)
        err = write_tokens(ev, &c->logprobs, e);
    if (err)
        return err;
    if (ev->kind == QN_EV_DONE)
        c->finish = ev->finish;
    if (!r->rq->stream) {
        if (ev->kind == QN_EV_TEXT && qn_buf_str(&c->text, ev->text))
            return qn_fail(e, QN_ELIMIT, "the reply is too long");
        return QN_OK;
    }
    if (!c->begun) {
        struct qn_buf none = {0};
        write_chunk(r, index, "assistant", "", &none, QN_FINISH_NONE);
        c->begun = true;
    }
    write_chunk(r, index, NULL, ev->kind == QN_EV_TEXT ? ev->text : NULL, &c->logprobs,
                ev->kind == QN_EV_DONE ? ev->finish : QN_FINISH_NONE);
    qn_buf_clear(&c->logprobs);
    return QN_OK;
}

static void end(struct qn_reply *r)
{
    if (r->rq->stream) {
        qn_openai_stream_end(r, prefix, chunk_object);
        return;
    }
    struct qn_openai *o = r->own;
    const struct qn_openai_ask *ask = r->rq->own;
    struct qn_jw w = qn_openai_open(r, prefix, "chat.completion");
    for (size_t i = 0; i < o->n; i++) {
        struct qn_openai_choice *c = &o->choices[i];
        qn_jw_obj(&w);
        qn_jw_ki64(&w, "index", (int64_t)i);
        qn_jw_key(&w, "message");
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "role", "assistant");
        qn_jw_kstr(&w, "content", qn_buf_cstr(&c->text));
        qn_jw_obj_end(&w);
        write_logprobs(&w, ask->logprobs, &c->logprobs);
        qn_jw_kstr(&w, "finish_reason", qn_finish_name(c->finish));
        qn_jw_obj_end(&w);
    }
    qn_jw_arr_end(&w);
    qn_openai_usage_write(o, &w);
    qn_jw_obj_end(&w);
}

const struct qn_dialect qn_openai_chat = {
    .task = QN_TASK_CHAT,
    .stream_type = "text/event-stream",
    .id_header = "X-Request-Id",
    .parse = parse,
    .begin = qn_openai_begin,
    .event = event,
    .end = end,
    .fail = qn_openai_fail,
    .ping = qn_openai_ping,
    .free = qn_openai_free,
};
