/* Converts a chat's messages to a conversation (talk.h): roles, content parts, tool calls and the
 * deprecated function calls. */
#include "dialects/openai/openai.h"

#include "base/str.h"
#include "dialects/shared/talk.h"

#include <stdio.h>
#include <string.h>

/* Roles as clients write them and as templates read them. */
static const struct {
    const char *name;
    enum qn_role role;
    bool content; /* content is required */
} roles[] = {
    {"system", QN_ROLE_SYSTEM, true}, {"developer", QN_ROLE_SYSTEM, true},
    {"user", QN_ROLE_USER, true},     {"assistant", QN_ROLE_ASSISTANT, false},
    {"tool", QN_ROLE_TOOL, true},     {"function", QN_ROLE_TOOL, false},
};

qn_err qn_openai_image(const struct qn_jref *at, struct qn_talk *t, struct qn_error *e)
{
    const char *url;
    qn_err err = qn_json_str(at, &url, e);
    if (!err && strncmp(url, "data:", 5) != 0)
        err = qn_json_fail(at, e,
                           "only images in the request itself are accepted: give a data URL "
                           "(data:image/png;base64,...)");
    return err ? err : qn_talk_data_url(t, at, url, e);
}

/* A part's "image_url": a string or an object with a url. */
static qn_err add_image(const struct qn_jref *part, struct qn_talk *t, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(part, "image_url");
    struct qn_jref inner = qn_json_get(&v, "url");
    return qn_openai_image(qn_json_type(&v) == QN_JSON_OBJECT ? &inner : &v, t, e);
}

/* A part's "input_audio": {"data": base64, "format": "wav"}. */
static qn_err add_sound(const struct qn_jref *part, struct qn_talk *t, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(part, "input_audio");
    struct qn_jref data = qn_json_get(&v, "data"), format = qn_json_get(&v, "format");
    const char *base64, *name;
    char type[QN_JOB_MEDIA_TYPE_MAX + 1];
    qn_err err = qn_json_str(&data, &base64, e);
    if (!err)
        err = qn_json_str(&format, &name, e);
    if (err)
        return err;
    size_t n = strlen(name);
    if (!n || n > QN_JOB_FORMAT_MAX || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") < n)
        return qn_json_fail(&format, e, "'%.40s' is not a format of sounds", name);
    snprintf(type, sizeof type, "audio/%s", name);
    return qn_talk_sound(t, &data, type, base64, e);
}

static qn_err add_part(const struct qn_jref *part, struct qn_talk *t, struct qn_error *e)
{
    struct qn_jref type = qn_json_get(part, "type"), v;
    const char *name, *text;
    if (qn_json_type(part) != QN_JSON_OBJECT)
        return qn_json_fail(part, e, "expected an object");
    qn_err err = qn_json_str(&type, &name, e);
    if (err)
        return err;
    if (qn_str_eq(name, "image_url"))
        return add_image(part, t, e);
    if (qn_str_eq(name, "input_audio"))
        return add_sound(part, t, e);
    if (!qn_str_eq(name, "text") && !qn_str_eq(name, "refusal"))
        return qn_json_fail(
            &type, e,
            "parts of type '%.40s' are not supported: text, image_url and input_audio are", name);
    v = qn_json_get(part, name); /* the member with the text has the name of its type */
    err = qn_json_str(&v, &text, e);
    if (!err)
        qn_talk_text(t, text);
    return err;
}

/* Reads a content: a string, or an array of parts. */
static qn_err add_content(const struct qn_jref *content, struct qn_talk *t, struct qn_error *e)
{
    if (qn_json_type(content) == QN_JSON_STRING) {
        qn_talk_text(t, qn_json_raw_str(content));
        return QN_OK;
    }
    if (qn_json_type(content) != QN_JSON_ARRAY)
        return qn_json_fail(content, e, "expected a string or an array of parts");
    if (qn_json_count(content) > QN_OPENAI_PARTS_MAX)
        return qn_json_fail(content, e, "at most %d parts are allowed", QN_OPENAI_PARTS_MAX);
    if (qn_json_count(content) == 0)
        qn_talk_text(t, "");
    qn_err err = QN_OK;
    struct qn_jref part;
    for (bool more = qn_json_first(content, &part); more && !err; more = qn_json_next(&part))
        err = add_part(&part, t, e);
    return err;
}

/* Reads {"name","arguments"}: of a tool call, or of the deprecated function_call. */
static qn_err add_function(const struct qn_jref *function, const char *id, struct qn_talk *t,
                           struct qn_error *e)
{
    struct qn_jref v = qn_json_get(function, "name");
    struct qn_jref arguments = qn_json_get(function, "arguments");
    const char *name;
    qn_err err = qn_json_str(&v, &name, e);
    if (!err && qn_json_type(&arguments) != QN_JSON_STRING &&
        qn_json_type(&arguments) != QN_JSON_OBJECT)
        err = qn_json_fail(&arguments, e, "expected a string or an object");
    if (!err)
        qn_talk_call(t, id, name, &arguments);
    return err;
}

static qn_err add_calls(const struct qn_jref *calls, struct qn_talk *t, struct qn_error *e)
{
    if (qn_json_type(calls) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(calls) != QN_JSON_ARRAY)
        return qn_json_fail(calls, e, "expected an array");
    if (qn_json_count(calls) > QN_EVENT_CALLS_MAX)
        return qn_json_fail(calls, e, "at most %d calls are allowed", QN_EVENT_CALLS_MAX);
    struct qn_jref call;
    qn_err err = QN_OK;
    for (bool more = qn_json_first(calls, &call); more && !err; more = qn_json_next(&call)) {
        struct qn_jref v = qn_json_get(&call, "id"), function = qn_json_get(&call, "function");
        const char *id = NULL;
        err = qn_json_str_opt(&v, &id, e);
        if (!err)
            err = add_function(&function, id, t, e);
    }
    return err;
}

/* Returns the first of the two members that is a text. */
static qn_err first_text(const struct qn_jref *m, const char *a, const char *b, const char **out,
                         struct qn_error *e)
{
    struct qn_jref v = qn_json_get(m, a);
    qn_err err = qn_json_str_opt(&v, out, e);
    v = qn_json_get(m, b);
    if (!err && !*out)
        err = qn_json_str_opt(&v, out, e);
    return err;
}

static qn_err add_message(const struct qn_jref *m, struct qn_talk *t, struct qn_error *e)
{
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
    v = qn_json_get(m, "name");
    err = qn_json_str_opt(&v, &text, e);
    if (!err && text)
        qn_talk_name(t, text);
    text = NULL;
    v = qn_json_get(m, "tool_call_id");
    if (!err)
        err = qn_json_str_opt(&v, &text, e);
    if (!err && text)
        qn_talk_answers(t, text);
    struct qn_jref content = qn_json_get(m, "content"), refusal = qn_json_get(m, "refusal");
    if (qn_json_type(&content) <= QN_JSON_NULL && qn_json_type(&refusal) == QN_JSON_STRING)
        content = refusal;
    if (!err && (qn_json_type(&content) > QN_JSON_NULL || roles[k].content))
        err = add_content(&content, t, e);
    text = NULL;
    if (!err)
        err = first_text(m, "reasoning_content", "reasoning", &text, e);
    if (!err && text)
        qn_talk_reasoning(t, text);
    struct qn_jref calls = qn_json_get(m, "tool_calls"), call = qn_json_get(m, "function_call");
    if (!err)
        err = add_calls(&calls, t, e);
    if (!err && qn_json_type(&call) > QN_JSON_NULL)
        err = add_function(&call, NULL, t, e);
    return err;
}

qn_err qn_openai_messages(const struct qn_jref *v, struct qn_arena *arena, struct qn_job *job,
                          struct qn_error *e)
{
    if (qn_json_type(v) != QN_JSON_ARRAY)
        return qn_json_fail(v, e, "expected an array of messages");
    struct qn_talk t;
    qn_talk_init(&t, job, arena);
    qn_err err = qn_talk_check(v, e);
    struct qn_jref m;
    for (bool more = qn_json_first(v, &m); more && !err; more = qn_json_next(&m))
        err = add_message(&m, &t, e);
    if (!err)
        err = qn_talk_end(&t, "messages", e);
    qn_talk_deinit(&t);
    return err;
}
