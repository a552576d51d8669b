/* POST /api/chat. A request without messages loads the model or, with "keep_alive": 0, unloads
 * it. */
#include "dialects/ollama/ollama.h"

#include "base/str.h"
#include "dialects/shared/talk.h"

#include <string.h>

enum { TOOLS_MAX = 1000 };

static const char *const known[] = {
    "model", "messages", "tools",    "stream",       "format", "options", "keep_alive",
    "think", "logprobs", "truncate", "top_logprobs", "shift",  "ttl",     NULL,
};

static qn_err read_messages(const struct qn_jref *v, struct qn_request *rq, struct qn_job *job,
                            struct qn_error *e)
{
    struct qn_talk t;
    struct qn_jref m;
    qn_err err = qn_talk_check(v, e);
    qn_talk_init(&t, job, rq->arena);
    for (bool more = qn_json_first(v, &m); more && !err; more = qn_json_next(&m))
        err = qn_ollama_message(&m, &t, e);
    if (!err)
        err = qn_talk_end(&t, "messages", e);
    qn_talk_deinit(&t);
    return err;
}

/* Reads {"type":"function","function":{"name",...}} in the form that chat templates use; "type" may
 * be missing. */
static qn_err read_tools(const struct qn_jref *v, struct qn_request *rq, struct qn_chat *chat,
                         struct qn_error *e)
{
    if (qn_json_type(v) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(v) != QN_JSON_ARRAY)
        return qn_json_fail(v, e, "expected an array");
    if (qn_json_count(v) > TOOLS_MAX)
        return qn_json_fail(v, e, "at most %d tools are allowed", TOOLS_MAX);
    if (qn_json_count(v) == 0)
        return QN_OK;
    struct qn_buf out, one;
    qn_buf_init(&out, QN_JOB_PROMPT_BYTES_MAX);
    qn_buf_init(&one, QN_JOB_PROMPT_BYTES_MAX);
    struct qn_jw w = qn_jw_to(&out);
    struct qn_jref tool;
    qn_err err = QN_OK;
    qn_jw_arr(&w);
    for (bool more = qn_json_first(v, &tool); more && !err; more = qn_json_next(&tool)) {
        struct qn_jref type = qn_json_get(&tool, "type"), f = qn_json_get(&tool, "function");
        struct qn_jref name = qn_json_get(&f, "name");
        const char *text = "function";
        err = qn_json_str_opt(&type, &text, e);
        if (!err && *text && !qn_str_eq(text, "function"))
            err = qn_json_fail(&type, e, "'%.40s' is not supported: only functions are", text);
        if (!err)
            err = qn_json_str(&name, &text, e);
        if (err)
            break;
        qn_buf_clear(&one);
        qn_json_print(&f, &one);
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "type", "function");
        qn_jw_key(&w, "function");
        qn_jw_raw(&w, qn_buf_cstr(&one), one.len);
        qn_jw_obj_end(&w);
    }
    qn_jw_arr_end(&w);
    chat->tools = err ? NULL : qn_arena_take(rq->arena, &out);
    if (!err && !chat->tools)
        err = qn_json_fail(v, e, "too long: at most %d bytes", QN_JOB_PROMPT_BYTES_MAX);
    qn_buf_deinit(&out);
    qn_buf_deinit(&one);
    return err;
}

static qn_err parse(struct qn_request *rq, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(rq->doc);
    struct qn_job *job = qn_arena_alloc(rq->arena, sizeof *job);
    qn_job_init(job);
    job->task = QN_TASK_CHAT;
    rq->jobs = job;
    qn_err err = qn_ollama_common(&root, rq, e);
    if (!err)
        err = qn_ollama_answering(&root, rq, job, e);
    struct qn_jref v = qn_json_get(&root, "messages"), tools = qn_json_get(&root, "tools");
    if (!err && qn_json_type(&v) > QN_JSON_NULL && qn_json_type(&v) != QN_JSON_ARRAY)
        err = qn_json_fail(&v, e, "expected an array of messages");
    if (!err && qn_json_count(&v) > 0) {
        rq->n_jobs = 1;
        err = read_messages(&v, rq, job, e);
    }
    if (!err)
        err = read_tools(&tools, rq, &job->chat, e);
    if (!err)
        qn_ollama_unknown(&root, "chat", known);
    return err;
}

static void begin(struct qn_reply *r)
{
    static const struct qn_ollama_form form = {.chat = true};
    qn_ollama_begin(r, &form);
}

const struct qn_dialect qn_ollama_chat = {
    .task = QN_TASK_CHAT,
    .stream_type = "application/x-ndjson",
    .parse = parse,
    .begin = begin,
    .event = qn_ollama_event,
    .end = qn_ollama_end,
    .fail = qn_ollama_fail,
    .ping = qn_ollama_ping,
    .free = qn_ollama_free,
};
