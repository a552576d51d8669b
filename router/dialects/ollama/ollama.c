/* Parses what the requests of Ollama's API have in common. Options for other engines (threads,
 * batches, memory mapping, mirostat) are checked and have no effect. */
#include "dialects/ollama/ollama.h"

#include "base/log.h"
#include "base/str.h"
#include "contract/codec.h"
#include "dialects/shared/keep_alive.h"
#include "dialects/shared/stops.h"
#include "dialects/shared/talk.h"

#include <string.h>

enum { IMAGES_MAX = 100, CALLS_MAX = 1000, CONTEXT_MAX = 16 * 1024 * 1024 };

/* How a number is converted for the sampler. */
enum turn {
    AS_IT_IS,
    COUNT,    /* 0 and negative: no limit */
    SEED,     /* -1: random */
    NOT_LESS, /* negative: off, as 0 */
    SHARE     /* clamped to [0, 1] */
};

static const struct {
    const char *name, *field;
    enum turn turn;
} scalars[] = {
    {"temperature", "temperature", AS_IT_IS},
    {"top_k", "top_k", NOT_LESS},
    {"top_p", "top_p", SHARE},
    {"min_p", "min_p", SHARE},
    {"typical_p", "typical_p", SHARE},
    {"repeat_penalty", "repeat_penalty", AS_IT_IS},
    {"repeat_last_n", "repeat_last_n", AS_IT_IS},
    {"presence_penalty", "presence_penalty", AS_IT_IS},
    {"frequency_penalty", "frequency_penalty", AS_IT_IS},
    {"seed", "seed", SEED},
    {"num_predict", "max_tokens", COUNT},
};

/* Accepted and checked, without effect. */
static const struct {
    const char *name;
    enum qn_json_type type;
} idle[] = {
    {"num_keep", QN_JSON_NUMBER},     {"num_batch", QN_JSON_NUMBER},
    {"num_gpu", QN_JSON_NUMBER},      {"main_gpu", QN_JSON_NUMBER},
    {"num_thread", QN_JSON_NUMBER},   {"draft_num_predict", QN_JSON_NUMBER},
    {"tfs_z", QN_JSON_NUMBER},        {"mirostat", QN_JSON_NUMBER},
    {"mirostat_tau", QN_JSON_NUMBER}, {"mirostat_eta", QN_JSON_NUMBER},
    {"numa", QN_JSON_BOOL},           {"low_vram", QN_JSON_BOOL},
    {"f16_kv", QN_JSON_BOOL},         {"logits_all", QN_JSON_BOOL},
    {"vocab_only", QN_JSON_BOOL},     {"use_mmap", QN_JSON_BOOL},
    {"use_mlock", QN_JSON_BOOL},      {"penalize_newline", QN_JSON_BOOL},
};

qn_err qn_ollama_common(const struct qn_jref *root, struct qn_request *rq, struct qn_error *e)
{
    rq->stream = true;
    struct qn_jref v = qn_json_get(root, "model");
    qn_err err = qn_json_str_opt(&v, &rq->model, e);
    if (rq->model && !*rq->model)
        rq->model = NULL;
    v = qn_json_get(root, "stream");
    if (!err)
        err = qn_json_bool_opt(&v, &rq->stream, e);
    return err ? err : qn_keep_alive_of(root, &rq->keep_alive_ms, e);
}

static qn_err read_scalar(size_t row, const struct qn_jref *v, struct qn_sampling *s,
                          struct qn_error *e)
{
    double x = qn_json_raw_f64(v);
    enum turn turn = scalars[row].turn;
    if (qn_json_type(v) == QN_JSON_NUMBER) {
        if ((turn == COUNT && x <= 0) || (turn == SEED && x == -1))
            return QN_OK;
        if (turn == NOT_LESS && x < 0) {
            s->top_k = 0;
            return QN_OK;
        }
        if (turn == SHARE && (x < 0 || x > 1)) {
            struct qn_json *doc;
            const char *edge = x < 0 ? "0" : "1";
            qn_err err = qn_json_parse(edge, 1, &doc, e);
            if (err)
                return err;
            struct qn_jref root = qn_json_root(doc);
            err = qn_sampling_read(s, scalars[row].field, &root, e);
            qn_json_free(doc);
            return err;
        }
    }
    return qn_sampling_read(s, scalars[row].field, v, e);
}

qn_err qn_ollama_options(const struct qn_jref *options, struct qn_arena *arena,
                         struct qn_sampling *s, int64_t *context, struct qn_error *e)
{
    if (qn_json_type(options) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(options) != QN_JSON_OBJECT)
        return qn_json_fail(options, e, "expected an object");
    if (qn_json_count(options) > QN_OLLAMA_OPTIONS_MAX)
        return qn_json_fail(options, e, "has more than %d members", QN_OLLAMA_OPTIONS_MAX);
    qn_err err = QN_OK;
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars && !err; i++) {
        struct qn_jref v = qn_json_get(options, scalars[i].name);
        err = read_scalar(i, &v, s, e);
    }
    for (size_t i = 0; i < sizeof idle / sizeof *idle && !err; i++) {
        struct qn_jref v = qn_json_get(options, idle[i].name);
        if (qn_json_type(&v) > QN_JSON_NULL && qn_json_type(&v) != idle[i].type)
            err = qn_json_fail(&v, e, "expected %s", qn_json_type_name(idle[i].type));
    }
    struct qn_jref v = qn_json_get(options, "num_ctx");
    int64_t n = 0;
    if (!err)
        err = qn_json_i64_opt(&v, 0, CONTEXT_MAX, &n, e);
    if (!err && n > 0)
        *context = n;
    v = qn_json_get(options, "stop");
    return err ? err : qn_stops_read(&v, QN_STOPS_ONE | QN_STOPS_EMPTY, arena, &s->stop, e);
}

static void keep(struct qn_jw *w, const char *name, const struct qn_jref *v, qn_err err)
{
    struct qn_buf text;
    if (err || qn_json_type(v) <= QN_JSON_NULL)
        return;
    qn_buf_init(&text, QN_JOB_PROMPT_BYTES_MAX);
    if (!qn_json_print(v, &text)) {
        qn_jw_key(w, name);
        qn_jw_raw(w, qn_buf_cstr(&text), text.len);
    }
    qn_buf_deinit(&text);
}

void qn_ollama_good_options(const struct qn_jref *options, struct qn_jw *w)
{
    struct qn_arena *arena = qn_arena_new(SIZE_MAX); /* the length of stop strings is limited */
    struct qn_job job;
    int64_t context;
    qn_job_init(&job);
    qn_jw_obj(w);
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        struct qn_jref v = qn_json_get(options, scalars[i].name);
        keep(w, scalars[i].name, &v, read_scalar(i, &v, &job.sampling, NULL));
    }
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) {
        struct qn_jref v = qn_json_get(options, idle[i].name);
        keep(w, idle[i].name, &v, qn_json_type(&v) == idle[i].type ? QN_OK : QN_EINVAL);
    }
    struct qn_jref v = qn_json_get(options, "num_ctx");
    keep(w, "num_ctx", &v, qn_json_i64_opt(&v, 0, CONTEXT_MAX, &context, NULL));
    v = qn_json_get(options, "stop");
    keep(w, "stop", &v,
         qn_stops_read(&v, QN_STOPS_ONE | QN_STOPS_EMPTY, arena, &job.sampling.stop, NULL));
    qn_jw_obj_end(w);
    qn_arena_free(arena);
}

static qn_err read_format(const struct qn_jref *v, struct qn_request *rq, struct qn_job *job,
                          struct qn_error *e)
{
    enum qn_json_type type = qn_json_type(v);
    const char *text = qn_json_raw_str(v);
    if (type <= QN_JSON_NULL || (type == QN_JSON_STRING && !*text))
        return QN_OK;
    if (type == QN_JSON_STRING && qn_str_eq(text, "json")) {
        job->constrain.schema = "{\"type\":\"object\"}";
        return QN_OK;
    }
    if (type != QN_JSON_OBJECT)
        return qn_json_fail(v, e, "expected \"json\" or a JSON Schema (an object)");
    struct qn_buf out;
    qn_buf_init(&out, QN_JOB_CONSTRAINT_BYTES_MAX);
    qn_json_print(v, &out);
    job->constrain.schema = qn_arena_take(rq->arena, &out);
    qn_buf_deinit(&out);
    if (!job->constrain.schema)
        return qn_json_fail(v, e, "too long: at most %d bytes", QN_JOB_CONSTRAINT_BYTES_MAX);
    return QN_OK;
}

static qn_err read_think(const struct qn_jref *v, struct qn_job *job, struct qn_error *e)
{
    static const struct {
        const char *level, *effort;
    } levels[] = {{"low", "low"}, {"medium", "medium"}, {"high", "high"}, {"max", "high"}};
    if (qn_json_type(v) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(v) == QN_JSON_BOOL) {
        job->chat.think = qn_json_raw_bool(v);
        return QN_OK;
    }
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (qn_json_type(v) == QN_JSON_STRING && qn_str_eq(qn_json_raw_str(v), levels[i].level)) {
            job->chat.think = 1;
            job->chat.effort = levels[i].effort;
            return QN_OK;
        }
    return qn_json_fail(v, e, "expected true, false, \"low\", \"medium\", \"high\" or \"max\"");
}

qn_err qn_ollama_answering(const struct qn_jref *root, struct qn_request *rq, struct qn_job *job,
                           struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "options");
    qn_err err = qn_ollama_options(&v, rq->arena, &job->sampling, &rq->context, e);
    v = qn_json_get(root, "format");
    if (!err)
        err = read_format(&v, rq, job, e);
    v = qn_json_get(root, "think");
    if (!err)
        err = read_think(&v, job, e);
    rq->must_reason = job->chat.think == 1;
    bool logprobs = false, shift;
    int64_t top = 0;
    v = qn_json_get(root, "logprobs");
    if (!err)
        err = qn_json_bool_opt(&v, &logprobs, e);
    v = qn_json_get(root, "top_logprobs");
    if (!err)
        err = qn_json_i64_opt(&v, 0, QN_JOB_TOP_LOGPROBS_MAX, &top, e);
    if (logprobs)
        job->sampling.logprobs = top;
    job->truncate = true;
    v = qn_json_get(root, "truncate");
    if (!err)
        err = qn_json_bool_opt(&v, &job->truncate, e);
    v = qn_json_get(root, "shift");
    if (!err && qn_json_type(&v) > QN_JSON_NULL && !(err = qn_json_bool(&v, &shift, e)))
        job->sampling.context_shift = shift;
    return err;
}

qn_err qn_ollama_images(const struct qn_jref *v, struct qn_talk *t, struct qn_error *e)
{
    if (qn_json_type(v) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(v) != QN_JSON_ARRAY)
        return qn_json_fail(v, e, "expected an array of base64 texts");
    if (qn_json_count(v) > IMAGES_MAX)
        return qn_json_fail(v, e, "at most %d images are allowed", IMAGES_MAX);
    struct qn_jref it;
    for (bool more = qn_json_first(v, &it); more; more = qn_json_next(&it)) {
        const char *text;
        qn_err err = qn_json_str(&it, &text, e);
        if (!err && qn_str_starts(text, "data:"))
            err = qn_talk_data_url(t, &it, text, e);
        else if (!err)
            err = qn_talk_picture(t, &it, NULL, text, e);
        if (err)
            return err;
    }
    return QN_OK;
}

static qn_err read_calls(const struct qn_jref *calls, struct qn_talk *t, struct qn_error *e)
{
    if (qn_json_type(calls) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(calls) != QN_JSON_ARRAY)
        return qn_json_fail(calls, e, "expected an array");
    if (qn_json_count(calls) > CALLS_MAX)
        return qn_json_fail(calls, e, "at most %d calls are allowed", CALLS_MAX);
    struct qn_jref call;
    for (bool more = qn_json_first(calls, &call); more; more = qn_json_next(&call)) {
        struct qn_jref id = qn_json_get(&call, "id"), f = qn_json_get(&call, "function");
        struct qn_jref name = qn_json_get(&f, "name"), arguments = qn_json_get(&f, "arguments");
        const char *id_text = NULL, *name_text;
        qn_err err = qn_json_str_opt(&id, &id_text, e);
        if (!err)
            err = qn_json_str(&name, &name_text, e);
        if (!err && qn_json_type(&arguments) > QN_JSON_NULL &&
            qn_json_type(&arguments) != QN_JSON_OBJECT &&
            qn_json_type(&arguments) != QN_JSON_STRING)
            err = qn_json_fail(&arguments, e, "expected an object");
        if (err)
            return err;
        qn_talk_call(t, id_text && *id_text ? id_text : NULL, name_text, &arguments);
    }
    return QN_OK;
}

/* Adds a text to the open message, unless it is absent or empty. */
static qn_err read_member(const struct qn_jref *m, const char *key, struct qn_talk *t,
                          void (*add)(struct qn_talk *t, const char *text), struct qn_error *e)
{
    struct qn_jref v = qn_json_get(m, key);
    const char *text = NULL;
    qn_err err = qn_json_str_opt(&v, &text, e);
    if (!err && text && *text)
        add(t, text);
    return err;
}

qn_err qn_ollama_message(const struct qn_jref *m, struct qn_talk *t, struct qn_error *e)
{
    if (qn_json_type(m) != QN_JSON_OBJECT)
        return qn_json_fail(m, e, "expected an object");
    struct qn_jref v = qn_json_get(m, "role");
    const char *name, *text = "";
    enum qn_role role = QN_ROLE_NONE + 1;
    qn_err err = qn_json_str(&v, &name, e);
    if (err)
        return err;
    while (role < QN_ROLE_COUNT && !qn_str_ieq(name, qn_role_name(role)))
        role++;
    if (role == QN_ROLE_COUNT)
        return qn_json_fail(
            &v, e, "'%.40s' is not a role: expected system, user, assistant or tool", name);
    qn_talk_message(t, role);
    err = read_member(m, "tool_name", t, qn_talk_name, e);
    if (!err)
        err = read_member(m, "tool_call_id", t, qn_talk_answers, e);
    v = qn_json_get(m, "content");
    if (!err)
        err = qn_json_str_opt(&v, &text, e);
    if (!err)
        qn_talk_text(t, text);
    if (!err)
        err = read_member(m, "thinking", t, qn_talk_reasoning, e);
    v = qn_json_get(m, "images");
    if (!err)
        err = qn_ollama_images(&v, t, e);
    v = qn_json_get(m, "tool_calls");
    return err ? err : read_calls(&v, t, e);
}

void qn_ollama_unknown(const struct qn_jref *root, const char *endpoint, const char *const *known)
{
    if (qn_log_get_level() < QN_LOG_DEBUG)
        return;
    struct qn_jref it;
    for (bool more = qn_json_first(root, &it); more; more = qn_json_next(&it)) {
        const char *const *k = known;
        while (*k && !qn_str_eq(*k, it.key))
            k++;
        if (!*k)
            qn_debug("ollama", "endpoint=%s ignored=%.60s", endpoint, it.key);
    }
}
