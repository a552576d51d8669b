/* Parses requests of Anthropic's Messages API. */
#include "dialects/anthropic/anthropic.h"
#include "dialects/shared/defaults.h"

#include "base/log.h"
#include "base/str.h"
#include "contract/codec.h"
#include "dialects/shared/keep_alive.h"
#include "dialects/shared/stops.h"

#include <string.h>

enum { TOOLS_MAX = 1000, WARNINGS_MAX = 300 };

/* Members passed unchanged to the sampler: Anthropic's, and further ones that local clients
 * send. */
static const char *const scalars[] = {
    "temperature",       "top_p", "top_k", "min_p", "seed", "repeat_penalty", "presence_penalty",
    "frequency_penalty",
};

/* Members that are supported, or that have no effect by their meaning. */
static const char *const known[] = {
    "model", "messages",      "max_tokens", "system",        "stream",        "stop_sequences",
    "tools", "tool_choice",   "thinking",   "output_config", "output_format", "metadata",
    "betas", "cache_control", "keep_alive", "ttl",
};

/* Moves the text of buf into the arena; v is the value that it was made of, for the error. */
static qn_err keep(struct qn_arena *arena, struct qn_buf *buf, const struct qn_jref *v,
                   const char **out, struct qn_error *e)
{
    *out = qn_arena_take(arena, buf);
    return *out ? QN_OK : qn_json_fail(v, e, "too long");
}

/* Writes one of Anthropic's tools in the form that chat templates read. */
static qn_err write_tool(const struct qn_jref *tool, struct qn_buf *scratch, struct qn_jw *w,
                         struct qn_error *e)
{
    struct qn_jref type = qn_json_get(tool, "type"), name = qn_json_get(tool, "name");
    struct qn_jref about = qn_json_get(tool, "description"),
                   schema = qn_json_get(tool, "input_schema");
    struct qn_jref flag = qn_json_get(tool, "strict");
    const char *kind = "custom", *text, *description = NULL;
    bool strict = false;
    if (qn_json_type(tool) != QN_JSON_OBJECT)
        return qn_json_fail(tool, e, "expected an object");
    qn_err err = qn_json_str_opt(&type, &kind, e);
    if (!err && !qn_str_eq(kind, "custom"))
        err = qn_json_fail(&type, e,
                           "'%.60s' is only available on Anthropic's own servers: give tools of "
                           "type custom with an input_schema",
                           kind);
    if (!err)
        err = qn_json_str(&name, &text, e);
    if (!err && (!*text || strlen(text) > QN_JOB_TOOL_NAME_MAX))
        err = qn_json_fail(&name, e, "a name has 1 to %d bytes", QN_JOB_TOOL_NAME_MAX);
    if (!err)
        err = qn_json_str_opt(&about, &description, e);
    if (!err && qn_json_type(&schema) != QN_JSON_OBJECT)
        err = qn_json_fail(&schema, e, "expected an object");
    if (!err)
        err = qn_json_bool_opt(&flag, &strict, e);
    if (err)
        return err;
    qn_buf_clear(scratch);
    qn_json_print(&schema, scratch);
    qn_jw_obj(w);
    qn_jw_kstr(w, "type", "function");
    qn_jw_key(w, "function");
    qn_jw_obj(w);
    qn_jw_kstr(w, "name", text);
    if (description)
        qn_jw_kstr(w, "description", description);
    qn_jw_key(w, "parameters");
    qn_jw_raw(w, qn_buf_cstr(scratch), scratch->len);
    if (strict)
        qn_jw_kbool(w, "strict", true);
    qn_jw_obj_end(w);
    qn_jw_obj_end(w);
    w->out->overflow |= scratch->overflow;
    return QN_OK;
}

static qn_err read_tools(const struct qn_jref *tools, struct qn_arena *arena, struct qn_chat *chat,
                         struct qn_error *e)
{
    struct qn_buf out, scratch;
    struct qn_jref it;
    if (qn_json_type(tools) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(tools) != QN_JSON_ARRAY)
        return qn_json_fail(tools, e, "expected an array");
    if (qn_json_count(tools) > TOOLS_MAX)
        return qn_json_fail(tools, e, "at most %d tools are allowed", TOOLS_MAX);
    if (qn_json_count(tools) == 0)
        return QN_OK;
    qn_buf_init(&out, QN_JOB_PROMPT_BYTES_MAX);
    qn_buf_init(&scratch, QN_JOB_PROMPT_BYTES_MAX);
    struct qn_jw w = qn_jw_to(&out);
    qn_err err = QN_OK;
    qn_jw_arr(&w);
    for (bool more = qn_json_first(tools, &it); more && !err; more = qn_json_next(&it))
        err = write_tool(&it, &scratch, &w, e);
    qn_jw_arr_end(&w);
    if (!err)
        err = keep(arena, &out, tools, &chat->tools, e);
    qn_buf_deinit(&out);
    qn_buf_deinit(&scratch);
    return err;
}

static bool has_tool(const struct qn_jref *tools, const char *name)
{
    struct qn_jref it;
    for (bool more = qn_json_first(tools, &it); more; more = qn_json_next(&it)) {
        struct qn_jref v = qn_json_get(&it, "name");
        if (qn_str_eq(qn_json_raw_str(&v), name))
            return true;
    }
    return false;
}

static qn_err read_tool_choice(const struct qn_jref *root, struct qn_chat *chat, struct qn_error *e)
{
    static const struct {
        const char *type;
        enum qn_tool_choice choice;
    } types[] = {{"auto", QN_TOOLS_AUTO},
                 {"none", QN_TOOLS_NONE},
                 {"any", QN_TOOLS_REQUIRED},
                 {"tool", QN_TOOLS_NAMED}};
    struct qn_jref choice = qn_json_get(root, "tool_choice"), tools = qn_json_get(root, "tools");
    struct qn_jref type = qn_json_get(&choice, "type"), name = qn_json_get(&choice, "name");
    struct qn_jref single = qn_json_get(&choice, "disable_parallel_tool_use");
    const char *text;
    if (qn_json_type(&choice) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(&choice) != QN_JSON_OBJECT)
        return qn_json_fail(&choice, e, "expected an object");
    qn_err err = qn_json_str(&type, &text, e);
    if (!err)
        err = qn_json_bool_opt(&single, &chat->single_call, e);
    if (err)
        return err;
    size_t k = 0;
    while (k < sizeof types / sizeof *types && !qn_str_eq(types[k].type, text))
        k++;
    if (k == sizeof types / sizeof *types)
        return qn_json_fail(&type, e, "'%.40s' is not one of auto, any, tool and none", text);
    chat->tool_choice = types[k].choice;
    if (!chat->tools && chat->tool_choice >= QN_TOOLS_REQUIRED)
        return qn_json_fail(&choice, e, "a tool can be required only if tools are given");
    if (chat->tool_choice != QN_TOOLS_NAMED)
        return QN_OK;
    err = qn_json_str(&name, &chat->tool_name, e);
    if (!err && !has_tool(&tools, chat->tool_name))
        err = qn_json_fail(&name, e, "there is no tool '%.60s' in tools", chat->tool_name);
    return err;
}

static void warn(struct qn_buf *list, const char *name)
{
    size_t plain =
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
    if (name[plain] || list->len + plain > WARNINGS_MAX)
        name = "...";
    qn_buf_fmt(list, "%s%s", list->len ? ", " : "", name);
}

/* Reads thinking and its budget. */
static qn_err read_thinking(const struct qn_jref *v, struct qn_chat *chat,
                            struct qn_anthropic_ask *ask, struct qn_error *e)
{
    struct qn_jref type = qn_json_get(v, "type"), budget = qn_json_get(v, "budget_tokens");
    struct qn_jref display = qn_json_get(v, "display");
    const char *text, *show = "summarized";
    int64_t tokens = QN_UNSET;
    if (qn_json_type(v) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(v) != QN_JSON_OBJECT)
        return qn_json_fail(v, e, "expected an object");
    qn_err err = qn_json_str(&type, &text, e);
    if (!err)
        err = qn_json_i64_opt(&budget, 1, INT64_C(1) << 53, &tokens, e);
    if (!err)
        err = qn_json_str_opt(&display, &show, e);
    if (err)
        return err;
    if (qn_str_eq(text, "enabled"))
        chat->think = 1;
    else if (qn_str_eq(text, "disabled"))
        chat->think = 0;
    else if (!qn_str_eq(text, "adaptive") && !qn_str_eq(text, "between_tools"))
        return qn_json_fail(&type, e, "'%.40s' is not one of enabled, disabled and adaptive", text);
    if (!qn_str_eq(show, "summarized") && !qn_str_eq(show, "omitted"))
        return qn_json_fail(&display, e, "'%.40s' is not one of summarized and omitted", show);
    ask->hide_thinking = qn_str_eq(show, "omitted");
    if (chat->think != 0)
        chat->think_budget = tokens < INT32_MAX ? tokens : INT32_MAX;
    return QN_OK;
}

/* {"type":"json_schema","schema":{...}} */
static qn_err read_format(const struct qn_jref *v, struct qn_arena *arena, struct qn_job *job,
                          struct qn_error *e)
{
    struct qn_jref type = qn_json_get(v, "type"), schema = qn_json_get(v, "schema");
    const char *text;
    if (qn_json_type(v) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(v) != QN_JSON_OBJECT)
        return qn_json_fail(v, e, "expected an object");
    qn_err err = qn_json_str(&type, &text, e);
    if (!err && !qn_str_eq(text, "json_schema"))
        err = qn_json_fail(&type, e, "'%.40s' is not supported: json_schema is", text);
    if (!err && qn_json_type(&schema) != QN_JSON_OBJECT)
        err = qn_json_fail(&schema, e, "expected an object");
    if (err)
        return err;
    struct qn_buf out;
    qn_buf_init(&out, QN_JOB_CONSTRAINT_BYTES_MAX);
    qn_json_print(&schema, &out);
    err = keep(arena, &out, &schema, &job->constrain.schema, e);
    qn_buf_deinit(&out);
    return err;
}

static qn_err read_effort(const struct qn_jref *v, struct qn_chat *chat, struct qn_error *e)
{
    static const struct {
        const char *theirs, *ours;
    } efforts[] = {
        {"low", "low"}, {"medium", "medium"}, {"high", "high"}, {"xhigh", "high"}, {"max", "high"}};
    const char *text = NULL;
    qn_err err = qn_json_str_opt(v, &text, e);
    if (err || !text)
        return err;
    for (size_t i = 0; i < sizeof efforts / sizeof *efforts; i++)
        if (qn_str_eq(efforts[i].theirs, text))
            chat->effort = efforts[i].ours;
    return chat->effort
               ? QN_OK
               : qn_json_fail(v, e, "'%.40s' is not one of low, medium, high, xhigh, max", text);
}

static qn_err read_output(const struct qn_jref *root, struct qn_arena *arena, struct qn_job *job,
                          struct qn_error *e)
{
    struct qn_jref config = qn_json_get(root, "output_config");
    struct qn_jref format = qn_json_get(&config, "format"), effort = qn_json_get(&config, "effort");
    struct qn_jref older = qn_json_get(root, "output_format");
    if (qn_json_type(&config) > QN_JSON_NULL && qn_json_type(&config) != QN_JSON_OBJECT)
        return qn_json_fail(&config, e, "expected an object");
    qn_err err = read_effort(&effort, &job->chat, e);
    if (!err)
        err = read_format(&older, arena, job, e);
    return err ? err : read_format(&format, arena, job, e);
}

static bool listed(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (qn_str_eq(name, list[i]))
            return true;
    return false;
}

/* Names the members without effect in the reply's headers and in the log. */
static void tell_ignored(const struct qn_jref *root, struct qn_request *rq,
                         struct qn_anthropic_ask *ask, struct qn_buf *ignored)
{
    struct qn_jref it;
    for (bool more = qn_json_first(root, &it); more; more = qn_json_next(&it))
        if (!listed(it.key, known, sizeof known / sizeof *known) &&
            !listed(it.key, scalars, sizeof scalars / sizeof *scalars) &&
            qn_json_type(&it) > QN_JSON_NULL && ignored->len <= WARNINGS_MAX)
            warn(ignored, it.key);
    if (!ignored->len)
        return;
    ask->warnings = qn_arena_fmt(rq->arena, "Ignored: %s", qn_buf_cstr(ignored));
    rq->headers[rq->n_headers++] = (struct qn_reply_header){"X-Quince-Warning", ask->warnings};
    rq->headers[rq->n_headers++] = (struct qn_reply_header){"X-Lemonade-Warning", ask->warnings};
    qn_info("anthropic", "ignored=\"%s\"", qn_buf_cstr(ignored));
}

static qn_err read_all(const struct qn_jref *root, struct qn_request *rq, struct qn_job *job,
                       struct qn_anthropic_ask *ask, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "model"), system = qn_json_get(root, "system");
    qn_err err = qn_json_str_opt(&v, &rq->model, e);
    if (rq->model && !*rq->model)
        rq->model = NULL;
    if (!err)
        err = qn_keep_alive_of(root, &rq->keep_alive_ms, e);
    v = qn_json_get(root, "messages");
    if (!err)
        err = qn_anthropic_talk(&system, &v, rq->arena, job, e);
    for (size_t i = 0; !err && i < sizeof scalars / sizeof *scalars; i++) {
        v = qn_json_get(root, scalars[i]);
        err = qn_sampling_read(&job->sampling, scalars[i], &v, e);
    }
    v = qn_json_get(root, "temperature");
    if (!err)
        err = qn_sampling_check(rq->profile, &job->sampling, &v, e);
    struct qn_profile_defaults defaults = rq->profile->chat;
    defaults.max_with_prompt = false; /* max_tokens limits the output and is always present */
    qn_sampling_defaults(&defaults, &job->sampling);
    v = qn_json_get(root, "stop_sequences");
    if (!err)
        err = qn_stops_read(&v, 0, rq->arena, &job->sampling.stop, e);
    v = qn_json_get(root, "tools");
    if (!err)
        err = read_tools(&v, rq->arena, &job->chat, e);
    if (!err)
        err = read_tool_choice(root, &job->chat, e);
    v = qn_json_get(root, "thinking");
    if (!err)
        err = read_thinking(&v, &job->chat, ask, e);
    return err ? err : read_output(root, rq->arena, job, e);
}

static qn_err parse(struct qn_request *rq, bool count, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(rq->doc);
    struct qn_job *job = qn_arena_alloc(rq->arena, sizeof *job);
    struct qn_anthropic_ask *ask = qn_arena_alloc(rq->arena, sizeof *ask);
    struct qn_buf ignored;
    qn_job_init(job);
    job->task = QN_TASK_CHAT;
    job->count_only = count;
    ask->max_tokens = QN_UNSET;
    rq->jobs = job;
    rq->n_jobs = 1;
    rq->own = ask;
    qn_buf_init(&ignored, WARNINGS_MAX * 2);
    struct qn_jref v = qn_json_get(&root, "max_tokens");
    qn_err err = QN_OK;
    if (!count && qn_json_type(&v) <= QN_JSON_NULL)
        err = qn_json_fail(&v, e, "this member is required: the limit of the output in tokens");
    if (!err && !count) {
        err = qn_sampling_read(&job->sampling, "max_tokens", &v, e);
        ask->max_tokens = job->sampling.max_tokens;
    }
    v = qn_json_get(&root, "stream");
    if (!err)
        err = qn_json_bool_opt(&v, &rq->stream, e);
    if (count)
        rq->stream = false;
    if (!err)
        err = read_all(&root, rq, job, ask, e);
    if (!err)
        tell_ignored(&root, rq, ask, &ignored);
    qn_buf_deinit(&ignored);
    return err;
}

qn_err qn_anthropic_parse(struct qn_request *rq, struct qn_error *e)
{
    return parse(rq, false, e);
}

qn_err qn_anthropic_parse_count(struct qn_request *rq, struct qn_error *e)
{
    return parse(rq, true, e);
}
