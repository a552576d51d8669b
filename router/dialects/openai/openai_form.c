/* The form of the output: JSON by a schema, a grammar, the amount of reasoning before it, and where
 * reasoning is written. Besides OpenAI's members it reads those that other local servers have made
 * common. */
#include "dialects/openai/openai.h"

#include "base/str.h"

#include <string.h>

qn_err qn_openai_keep(struct qn_request *rq, struct qn_buf *buf, const struct qn_jref *v,
                      const char **out, struct qn_error *e)
{
    if (buf->overflow)
        return qn_json_fail(v, e, "too long: at most %zu bytes", buf->limit);
    *out = qn_arena_take(rq->arena, buf);
    return *out ? QN_OK : qn_json_fail(v, e, "too long");
}

qn_err qn_openai_keep_json(const struct qn_jref *v, enum qn_json_type type, size_t limit,
                           struct qn_request *rq, const char **out, struct qn_error *e)
{
    if (qn_json_type(v) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(v) != type)
        return qn_json_fail(v, e, "expected %s", qn_json_type_name(type));
    struct qn_buf text;
    qn_buf_init(&text, limit);
    qn_json_print(v, &text);
    qn_err err = qn_openai_keep(rq, &text, v, out, e);
    qn_buf_deinit(&text);
    return err;
}

/* Constrains the output to what the member `at` says; only one such member is allowed. */
static qn_err take(struct qn_job *job, bool grammar, const struct qn_jref *at,
                   struct qn_request *rq, struct qn_error *e)
{
    const char *text;
    if (qn_json_type(at) <= QN_JSON_NULL)
        return QN_OK;
    if (job->constrain.schema || job->constrain.grammar)
        return qn_json_fail(at, e, "another member sets the output's form already");
    if (!grammar)
        return qn_openai_keep_json(at, QN_JSON_OBJECT, QN_JOB_CONSTRAINT_BYTES_MAX, rq,
                                   &job->constrain.schema, e);
    qn_err err = qn_json_str(at, &text, e);
    if (err || !*text) /* an empty grammar means no grammar */
        return err;
    if (strlen(text) > QN_JOB_CONSTRAINT_BYTES_MAX)
        return qn_json_fail(at, e, "too long: at most %d bytes", QN_JOB_CONSTRAINT_BYTES_MAX);
    job->constrain.grammar = text;
    return QN_OK;
}

qn_err qn_openai_format(const struct qn_jref *format, struct qn_request *rq, struct qn_job *job,
                        struct qn_error *e)
{
    if (qn_json_type(format) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(format) != QN_JSON_OBJECT)
        return qn_json_fail(format, e, "expected an object");
    struct qn_jref type = qn_json_get(format, "type");
    struct qn_jref own = qn_json_get(format, "schema"), inner = qn_json_get(format, "json_schema");
    struct qn_jref nested = qn_json_get(&inner, "schema"), grammar = qn_json_get(format, "grammar");
    const char *text;
    qn_err err = qn_json_str(&type, &text, e);
    if (err || qn_str_eq(text, "text"))
        return err;
    if (qn_str_eq(text, "grammar"))
        return take(job, true, &grammar, rq, e);
    bool object = qn_str_eq(text, "json_object");
    if (!object && !qn_str_eq(text, "json_schema"))
        return qn_json_fail(&type, e, "'%.40s' is not one of text, json_object, json_schema", text);
    const struct qn_jref *schema = qn_json_type(&own) > QN_JSON_NULL ? &own : &nested;
    if (qn_json_type(schema) > QN_JSON_NULL)
        return take(job, false, schema, rq, e);
    if (!object)
        return qn_json_fail(qn_json_type(&inner) > QN_JSON_NULL ? &nested : &inner, e,
                            "expected an object: a JSON schema");
    if (job->constrain.grammar)
        return qn_json_fail(&type, e, "another member sets the output's form already");
    job->constrain.schema = "{\"type\":\"object\"}";
    return QN_OK;
}

qn_err qn_openai_constraints(const struct qn_jref *root, struct qn_request *rq, struct qn_job *job,
                             struct qn_error *e)
{
    struct qn_jref format = qn_json_get(root, "response_format");
    struct qn_jref grammar = qn_json_get(root, "grammar");
    struct qn_jref schema = qn_json_get(root, "json_schema");
    qn_err err = qn_openai_format(&format, rq, job, e);
    if (!err)
        err = take(job, true, &grammar, rq, e);
    if (!err)
        err = take(job, false, &schema, rq, e);
    return err;
}

qn_err qn_openai_effort(const struct qn_jref *v, struct qn_chat *chat, struct qn_error *e)
{
    /* The nearest of the contract's four efforts is used. */
    static const struct {
        const char *name, *effort;
        int64_t think;
    } efforts[] = {
        {"none", NULL, 0},   {"minimal", "minimal", QN_UNSET},
        {"low", "low", 1},   {"medium", "medium", 1},
        {"high", "high", 1}, {"xhigh", "high", 1},
        {"max", "high", 1},  {"default", NULL, QN_UNSET},
    };
    const char *text = NULL;
    qn_err err = qn_json_str_opt(v, &text, e);
    if (err || !text)
        return err;
    for (size_t i = 0; i < sizeof efforts / sizeof *efforts; i++)
        if (qn_str_eq(text, efforts[i].name)) {
            chat->effort = efforts[i].effort;
            chat->think = efforts[i].think;
            return QN_OK;
        }
    return qn_json_fail(v, e, "'%.40s' is not one of none, minimal, low, medium, high, xhigh",
                        text);
}

/* Reads a budget of reasoning tokens, as several servers have it: 0 means none, a negative value no
 * limit. */
static qn_err read_budget(const struct qn_jref *v, struct qn_chat *chat, struct qn_error *e)
{
    int64_t tokens;
    if (qn_json_type(v) <= QN_JSON_NULL)
        return QN_OK;
    qn_err err = qn_json_i64(v, -1, INT64_C(1) << 53, &tokens, e);
    if (err)
        return err;
    if (tokens == 0)
        chat->think = 0;
    chat->think_budget = tokens <= 0 ? QN_UNSET : tokens < INT32_MAX ? tokens : INT32_MAX;
    return QN_OK;
}

/* "thinking": true, false, or {"type":"enabled","budget_tokens":1024}. */
static qn_err read_thinking(const struct qn_jref *v, struct qn_chat *chat, struct qn_error *e)
{
    bool on = false;
    const char *text;
    if (qn_json_type(v) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(v) == QN_JSON_OBJECT) {
        struct qn_jref type = qn_json_get(v, "type");
        qn_err err = qn_json_str(&type, &text, e);
        if (err)
            return err;
        if (qn_str_eq(text, "adaptive") || qn_str_eq(text, "auto"))
            return QN_OK;
        struct qn_jref budget = qn_json_get(v, "budget_tokens");
        on = qn_str_eq(text, "enabled");
        if (!on && !qn_str_eq(text, "disabled"))
            return qn_json_fail(&type, e, "'%.40s' is not one of enabled, disabled, adaptive",
                                text);
        chat->think = on;
        return on ? read_budget(&budget, chat, e) : QN_OK;
    }
    qn_err err = qn_json_bool(v, &on, e);
    if (!err)
        chat->think = on;
    return err;
}

/* Where reasoning is written: to a member of its own, into the text, or nowhere. */
static qn_err read_place(const struct qn_jref *root, struct qn_chat *chat,
                         struct qn_openai_ask *ask, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "reasoning_format");
    struct qn_jref include = qn_json_get(root, "include_reasoning");
    const char *text = "auto";
    bool shown = true;
    qn_err err = qn_json_str_opt(&v, &text, e);
    if (!err)
        err = qn_json_bool_opt(&include, &shown, e);
    if (err)
        return err;
    chat->reasoning_in_text = qn_str_eq(text, "none") || qn_str_eq(text, "raw");
    ask->hide_reasoning = !shown || qn_str_eq(text, "hidden");
    if (!chat->reasoning_in_text && !qn_str_eq(text, "auto") && !qn_str_eq(text, "hidden") &&
        !qn_str_eq(text, "parsed") && !qn_str_starts(text, "deepseek"))
        return qn_json_fail(
            &v, e, "'%.40s' is not one of auto, deepseek, parsed, hidden, none, raw", text);
    return QN_OK;
}

qn_err qn_openai_reasoning(const struct qn_jref *root, struct qn_request *rq, struct qn_chat *chat,
                           struct qn_openai_ask *ask, struct qn_error *e)
{
    struct qn_jref vars = qn_json_get(root, "chat_template_kwargs");
    struct qn_jref in_vars = qn_json_get(&vars, "enable_thinking");
    struct qn_jref enable = qn_json_get(root, "enable_thinking");
    struct qn_jref thinking = qn_json_get(root, "thinking");
    struct qn_jref effort = qn_json_get(root, "reasoning_effort");
    struct qn_jref reasoning = qn_json_get(root, "reasoning");
    struct qn_jref inner = qn_json_get(&reasoning, "effort");
    struct qn_jref budgets[] = {
        qn_json_get(&reasoning, "max_tokens"),
        qn_json_get(root, "reasoning_budget"),
        qn_json_get(root, "thinking_budget"),
        qn_json_get(root, "thinking_budget_tokens"),
    };
    qn_err err = qn_openai_keep_json(&vars, QN_JSON_OBJECT, QN_JOB_PROMPT_BYTES_MAX, rq,
                                     &chat->template_vars, e);
    /* More specific members override this one. */
    if (!err && qn_json_type(&in_vars) == QN_JSON_BOOL)
        chat->think = qn_json_raw_bool(&in_vars);
    if (!err)
        err = qn_openai_effort(&inner, chat, e);
    if (!err)
        err = qn_openai_effort(&effort, chat, e);
    if (!err)
        err = read_thinking(&thinking, chat, e);
    if (!err && qn_json_type(&enable) > QN_JSON_NULL) {
        bool on;
        err = qn_json_bool(&enable, &on, e);
        if (!err)
            chat->think = on;
    }
    struct qn_jref for_template = qn_json_get(&vars, "thinking_budget");
    if (!err && qn_json_type(&for_template) == QN_JSON_NUMBER)
        err = read_budget(&for_template, chat, e);
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets && !err; i++)
        err = read_budget(&budgets[i], chat, e);
    return err ? err : read_place(root, chat, ask, e);
}
