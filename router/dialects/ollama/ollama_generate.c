/* POST /api/generate: one prompt, rendered by the chat template unless raw is set or a suffix is
 * given. A request without a prompt loads the model or, with "keep_alive": 0, unloads it. */
#include "dialects/ollama/ollama.h"

#include "base/str.h"
#include "dialects/ollama/ollama_template.h"
#include "dialects/shared/talk.h"

#include <string.h>

static const char *const known[] = {
    "model",    "prompt",       "suffix", "images", "format",     "options", "system",
    "template", "stream",       "raw",    "think",  "keep_alive", "context", "logprobs",
    "truncate", "top_logprobs", "shift",  "ttl",    NULL,
};

/* Reads the tokens that an earlier reply had as its context. */
static qn_err read_context(const struct qn_jref *v, struct qn_request *rq, struct qn_i64s *out,
                           struct qn_error *e)
{
    if (qn_json_type(v) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(v) != QN_JSON_ARRAY)
        return qn_json_fail(v, e, "expected an array of tokens");
    size_t n = qn_json_count(v), i = 0;
    int64_t *ids = qn_arena_try(rq->arena, (n + 1) * sizeof *ids);
    if (!ids)
        return qn_json_fail(v, e, "too many tokens");
    struct qn_jref it;
    for (bool more = qn_json_first(v, &it); more; more = qn_json_next(&it)) {
        qn_err err = qn_json_i64(&it, 0, INT32_MAX, &ids[i++], e);
        if (err)
            return err;
    }
    *out = (struct qn_i64s){ids, n};
    return QN_OK;
}

static qn_err read_talk(const struct qn_jref *root, struct qn_request *rq, const char *system,
                        const char *prompt, struct qn_job *job, struct qn_error *e)
{
    struct qn_jref images = qn_json_get(root, "images");
    struct qn_talk t;
    qn_talk_init(&t, job, rq->arena);
    if (system && *system) {
        qn_talk_message(&t, QN_ROLE_SYSTEM);
        qn_talk_text(&t, system);
    }
    qn_talk_message(&t, QN_ROLE_USER);
    qn_err err = qn_ollama_images(&images, &t, e);
    qn_talk_text(&t, prompt);
    if (!err)
        err = qn_talk_end(&t, "prompt", e);
    qn_talk_deinit(&t);
    return err;
}

static qn_err read_template(const char *text, struct qn_arena *arena, const char **out,
                            struct qn_error *e)
{
    struct qn_buf jinja;
    qn_buf_init(&jinja, QN_JOB_PROMPT_BYTES_MAX);
    qn_err err = qn_ollama_template(text, &jinja, e);
    *out = err ? NULL : qn_arena_take(arena, &jinja);
    if (!err && !*out)
        err = qn_fail_param(e, QN_EINVAL, "template", "template: too long");
    qn_buf_deinit(&jinja);
    return err;
}

static qn_err read_prompt(const struct qn_jref *root, struct qn_request *rq, struct qn_job *job,
                          struct qn_error *e)
{
    static const char *const names[] = {"prompt", "suffix", "system", "template"};
    enum { PROMPT, SUFFIX, SYSTEM, TEMPLATE, TEXTS };
    const char *text[TEXTS] = {NULL};
    struct qn_jref at[TEXTS], context = qn_json_get(root, "context");
    struct qn_jref images = qn_json_get(root, "images"), v = qn_json_get(root, "raw");
    bool raw = false;
    qn_err err = qn_json_bool_opt(&v, &raw, e);
    for (size_t i = 0; i < TEXTS && !err; i++) {
        at[i] = qn_json_get(root, names[i]);
        err = qn_json_str_opt(&at[i], &text[i], e);
        if (text[i] && !*text[i])
            text[i] = NULL;
    }
    if (!err)
        err = read_context(&context, rq, &job->chat.before, e);
    if (err)
        return err;
    if (raw && (text[TEMPLATE] || text[SYSTEM] || job->chat.before.n))
        return qn_fail_param(e, QN_EINVAL, "raw",
                             "raw mode does not support template, system, or context");
    if (!text[PROMPT] && !text[SUFFIX] && qn_json_count(&images) == 0)
        return QN_OK;
    rq->n_jobs = 1;
    if (text[PROMPT] && strlen(text[PROMPT]) > QN_JOB_PROMPT_BYTES_MAX)
        return qn_json_fail(&at[PROMPT], e, "too long: at most %d bytes", QN_JOB_PROMPT_BYTES_MAX);
    if ((raw || text[SUFFIX]) && qn_json_count(&images) == 0) {
        job->task = QN_TASK_COMPLETE;
        job->complete.prompt = text[PROMPT] ? text[PROMPT] : "";
        job->complete.suffix = text[SUFFIX];
        return QN_OK;
    }
    job->task = QN_TASK_CHAT;
    if (text[TEMPLATE] &&
        (err = read_template(text[TEMPLATE], rq->arena, &job->chat.template_text, e)))
        return err;
    job->want_tokens = true;
    return read_talk(root, rq, text[SYSTEM], text[PROMPT] ? text[PROMPT] : "", job, e);
}

static qn_err parse(struct qn_request *rq, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(rq->doc);
    struct qn_job *job = qn_arena_alloc(rq->arena, sizeof *job);
    qn_job_init(job);
    rq->jobs = job;
    qn_err err = qn_ollama_common(&root, rq, e);
    if (!err)
        err = qn_ollama_answering(&root, rq, job, e);
    if (!err)
        err = read_prompt(&root, rq, job, e);
    if (!err)
        qn_ollama_unknown(&root, "generate", known);
    return err;
}

static void begin(struct qn_reply *r)
{
    static const struct qn_ollama_form form = {.context = true};
    qn_ollama_begin(r, &form);
}

const struct qn_dialect qn_ollama_generate = {
    .task = QN_TASK_COMPLETE,
    .stream_type = "application/x-ndjson",
    .parse = parse,
    .begin = begin,
    .event = qn_ollama_event,
    .end = qn_ollama_end,
    .fail = qn_ollama_fail,
    .ping = qn_ollama_ping,
    .free = qn_ollama_free,
};
