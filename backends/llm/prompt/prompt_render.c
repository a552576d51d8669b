/* See prompt_render.h. */
#include "llm/prompt/prompt_render.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "llm/prompt/marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROMPT_JSON_MAX = 3 * QN_JOB_PROMPT_BYTES_MAX, /* messages, tools and variables together */
    CONTINUE_TAIL_MAX = 1024 /* bytes that a template may put behind the last message */
};

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* Writes a message's content as the text that every template reads: parts become one string. */
static qn_err write_content(const struct qn_renderer *p, struct qn_jw *w,
                            const struct qn_jref *content, struct qn_error *e)
{
    enum qn_json_type type = qn_json_type(content);
    if (type == QN_JSON_NULL || type == QN_JSON_STRING) {
        qn_marks_write(p->tok, w, content);
        return QN_OK;
    }
    if (type != QN_JSON_ARRAY)
        return qn_json_fail(content, e, "expected a string or an array of parts");
    struct qn_buf text;
    qn_buf_init(&text, QN_JOB_PROMPT_BYTES_MAX);
    qn_err err = QN_OK;
    struct qn_jref part;
    for (bool more = qn_json_first(content, &part); more && !err; more = qn_json_next(&part)) {
        struct qn_jref kind_ref = qn_json_get(&part, "type"), text_ref = qn_json_get(&part, "text");
        const char *kind, *s;
        err = qn_json_str(&kind_ref, &kind, e);
        if (!err && !qn_str_eq(kind, "text")) {
            char path[QN_ERROR_PARAM_MAX];
            qn_json_path(&part, path, sizeof path);
            err = qn_fail_param(
                e, QN_EUNSUPPORTED, path,
                "%s: a part of type \"%s\" is not possible with this model: it reads text only",
                path, kind);
        }
        if (!err)
            err = qn_json_str(&text_ref, &s, e);
        if (!err) {
            if (text.len > 0)
                qn_buf_char(&text, '\n');
            qn_buf_str(&text, s);
        }
    }
    if (!err)
        qn_marks_write_str(p->tok, w, qn_buf_cstr(&text), text.len);
    qn_buf_deinit(&text);
    return err;
}

/* A function's arguments: the API carries them as JSON in a string, most templates print an object
 * with tojson and would quote the string once more. */
static void write_arguments(const struct qn_renderer *p, struct qn_jw *w,
                            const struct qn_jref *arguments)
{
    struct qn_json *doc = NULL;
    struct qn_jref inner = {0};
    const char *text = qn_json_raw_str(arguments);
    if (qn_json_type(arguments) == QN_JSON_STRING &&
        qn_json_parse(text, strlen(text), &doc, NULL) == QN_OK)
        inner = qn_json_root(doc);
    qn_marks_write(p->tok, w, qn_json_type(&inner) == QN_JSON_OBJECT ? &inner : arguments);
    qn_json_free(doc);
}

static bool all_objects(const struct qn_jref *list)
{
    struct qn_jref it;
    bool all = qn_json_type(list) == QN_JSON_ARRAY;
    for (bool more = qn_json_first(list, &it); more && all; more = qn_json_next(&it))
        all = qn_json_type(&it) == QN_JSON_OBJECT;
    return all;
}

static void write_tool_calls(const struct qn_renderer *p, struct qn_jw *w,
                             const struct qn_jref *calls)
{
    struct qn_jref call, member, part;
    qn_jw_arr(w);
    for (bool more = qn_json_first(calls, &call); more; more = qn_json_next(&call)) {
        qn_jw_obj(w);
        for (bool m = qn_json_first(&call, &member); m; m = qn_json_next(&member)) {
            qn_marks_write_key(p->tok, w, member.key);
            if (!qn_str_eq(member.key, "function") || qn_json_type(&member) != QN_JSON_OBJECT) {
                qn_marks_write(p->tok, w, &member);
                continue;
            }
            qn_jw_obj(w);
            for (bool f = qn_json_first(&member, &part); f; f = qn_json_next(&part)) {
                qn_marks_write_key(p->tok, w, part.key);
                if (qn_str_eq(part.key, "arguments"))
                    write_arguments(p, w, &part);
                else
                    qn_marks_write(p->tok, w, &part);
            }
            qn_jw_obj_end(w);
        }
        qn_jw_obj_end(w);
    }
    qn_jw_arr_end(w);
}

/* form: whether function arguments are written as the objects they describe, or as they came. */
static qn_err write_messages(const struct qn_renderer *p, struct qn_jw *w,
                             const struct qn_jref *messages, enum qn_arguments form,
                             struct qn_error *e)
{
    if (qn_json_type(messages) != QN_JSON_ARRAY || qn_json_count(messages) == 0)
        return qn_fail_param(e, QN_EINVAL, "messages",
                             "messages: expected an array with at least one message");
    qn_jw_arr(w);
    struct qn_jref m;
    for (bool more = qn_json_first(messages, &m); more; more = qn_json_next(&m)) {
        struct qn_jref role_ref = qn_json_get(&m, "role");
        const char *role;
        qn_err err = qn_json_str(&role_ref, &role, e);
        if (err)
            return err;
        qn_jw_obj(w);
        struct qn_jref member;
        for (bool any = qn_json_first(&m, &member); any; any = qn_json_next(&member)) {
            qn_marks_write_key(p->tok, w, member.key);
            if (form == QN_AS_OBJECTS && qn_str_eq(member.key, "tool_calls") &&
                all_objects(&member))
                write_tool_calls(p, w, &member);
            else if (!qn_str_eq(member.key, "content"))
                qn_marks_write(p->tok, w, &member);
            else if ((err = write_content(p, w, &member, e)) != QN_OK)
                return err;
        }
        qn_jw_obj_end(w);
    }
    qn_jw_arr_end(w);
    return QN_OK;
}

static void write_token(struct qn_jw *w, const char *key, const struct qn_tokenizer *tok,
                        int32_t id)
{
    size_t len = 0;
    const char *text = id >= 0 ? qn_token_bytes(tok, id, &len) : "";
    qn_jw_key(w, key);
    qn_jw_strn(w, text, len);
}

/* A JSON array or object that came as text, written under key; checked, as the router may be
 * broken. */
static qn_err write_foreign(const struct qn_renderer *p, struct qn_jw *w, const char *key,
                            const char *json, struct qn_error *e)
{
    if (!json)
        return QN_OK;
    struct qn_json *doc;
    qn_err err = qn_json_parse(json, strlen(json), &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc);
    qn_jw_key(w, key);
    qn_marks_write(p->tok, w, &root);
    qn_json_free(doc);
    return QN_OK;
}

/* The template's variables as one JSON object. The request's own come last: of equal names the last
 * one wins, so add_generation_prompt or enable_thinking can be set by a request. */
static qn_err write_vars(const struct qn_renderer *p, const struct qn_chat *chat,
                         enum qn_arguments form, struct qn_buf *out, struct qn_error *e)
{
    struct qn_json *doc = NULL;
    qn_err err = qn_json_parse(chat->messages ? chat->messages : "null",
                               chat->messages ? strlen(chat->messages) : 4, &doc, e);
    if (err)
        return err;
    struct qn_jref messages = {
        .node = qn_json_root(doc).node, .up = &(struct qn_jref){0}, .key = "messages"};
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    qn_jw_key(&w, "messages");
    err = write_messages(p, &w, &messages, form, e);
    qn_json_free(doc);
    if (!err)
        err = write_foreign(p, &w, "tools", chat->tools, e);
    if (!err)
        err = write_foreign(p, &w, "documents", chat->documents, e);
    if (err)
        return err;
    qn_jw_kbool(&w, "add_generation_prompt", !chat->continue_last);
    write_token(&w, "bos_token", p->tok, qn_token_bos(p->tok));
    write_token(&w, "eos_token", p->tok, qn_token_eos(p->tok));
    if (chat->think != QN_UNSET) { /* each family has its own name for it */
        qn_jw_kbool(&w, "enable_thinking", chat->think != 0);
        qn_jw_kbool(&w, "thinking", chat->think != 0);
        qn_jw_kbool(&w, "reasoning", chat->think != 0);
    }
    if (chat->effort)
        qn_jw_kstr(&w, "reasoning_effort", chat->effort);
    struct qn_json *extra = NULL;
    if (chat->template_vars) {
        err = qn_json_parse(chat->template_vars, strlen(chat->template_vars), &extra, e);
        if (err)
            return err;
        struct qn_jref root = qn_json_root(extra), v;
        for (bool more = qn_json_first(&root, &v); more; more = qn_json_next(&v)) {
            qn_jw_key(&w, v.key);
            qn_marks_write(p->tok, &w, &v);
        }
        qn_json_free(extra);
    }
    qn_jw_obj_end(&w);
    if (out->overflow)
        return qn_fail_param(e, QN_ELIMIT, "messages", "messages: more than %d bytes",
                             (int)PROMPT_JSON_MAX);
    return QN_OK;
}

/* Cuts the rendering behind the last message's content, so that the model goes on in it. Templates
 * trim contents, so only the trimmed text is looked for. */
static qn_err cut_after_last(struct qn_buf *text, const struct qn_jref *vars, struct qn_error *e)
{
    struct qn_jref messages = qn_json_get(vars, "messages"), m, content = {0};
    for (bool more = qn_json_first(&messages, &m); more; more = qn_json_next(&m))
        content = (struct qn_jref){.node = qn_json_get(&m, "content").node};
    const char *s = qn_json_raw_str(&content);
    size_t n = strlen(s);
    while (n > 0 && strchr(" \t\r\n", *s))
        s++, n--;
    while (n > 0 && strchr(" \t\r\n", s[n - 1]))
        n--;
    for (size_t at = text->len; n > 0 && at >= n && text->len - at <= CONTINUE_TAIL_MAX; at--) {
        if (memcmp(text->data + at - n, s, n) == 0) {
            text->len = at;
            text->data[at] = '\0';
            return QN_OK;
        }
    }
    return qn_fail_param(
        e, QN_EINVAL, "messages",
        "messages: the last message cannot be continued: it has no text, or the model's chat "
        "template does not show it unchanged");
}

qn_err qn_render_chat(const struct qn_renderer *p, const struct qn_chat *chat, struct qn_buf *text,
                      struct qn_error *e)
{
    struct qn_buf json;
    qn_buf_init(&json, PROMPT_JSON_MAX);
    struct qn_json *doc = NULL;
    qn_err err = write_vars(p, chat, p->arguments, &json, e);
    if (!err)
        err = qn_json_parse(qn_buf_cstr(&json), json.len, &doc, e);
    if (err)
        goto out;
    struct qn_jref vars = qn_json_root(doc);
    err = qn_template_render(p->chat, &vars, qn_wall_ms(), text, e);
    if (err && e && !e->param[0])
        strcpy(e->param, "messages");
    if (!err && chat->continue_last)
        err = cut_after_last(text, &vars, e);
out:
    qn_json_free(doc);
    qn_buf_deinit(&json);
    return err;
}

/* ---- What the template can show, found by trying ---- */

#define USER "{\"role\":\"user\",\"content\":\"x\"}"
#define CALL(id, arguments)                                                                        \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":"         \
    "\"{\\\"" arguments "\\\":1}\"}}"
#define TOOL                                                                                       \
    "[{\"type\":\"function\",\"function\":{\"name\":\"needle\",\"description\":\"d\","             \
    "\"parameters\":"                                                                              \
    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"description\":\"d\"}},"     \
    "\"required\":[\"a\"]}}}]"

/* Whether the conversation can be rendered, and `needle` is to be seen then. */
static bool shows(const struct qn_renderer *r, const char *messages, const char *tools,
                  const char *needle)
{
    struct qn_chat chat = {.messages = messages, .tools = tools, .think = QN_UNSET};
    struct qn_buf text;
    qn_buf_init(&text, QN_TEMPLATE_OUTPUT_MAX);
    qn_err err = qn_render_chat(r, &chat, &text, NULL);
    bool printed = !err && strstr(qn_buf_cstr(&text), needle) != NULL;
    qn_buf_deinit(&text);
    return printed;
}

/* An assistant's calls and what comes after, with the content that the template takes. */
static bool shows_calls(const struct qn_renderer *r, const char *calls, const char *members,
                        const char *after, const char *needle)
{
    char messages[1024];
    snprintf(messages, sizeof messages,
             "[" USER ",{\"role\":\"assistant\",\"content\":%s%s,\"tool_calls\":[%s]}%s]",
             r->manner.null_content ? "null" : "\"\"", members, calls, after);
    return shows(r, messages, NULL, needle);
}

/* Some put arguments into a text with +, which makes nothing useful of an object, and some want
 * content to be null. Leaves the form that shows arguments. */
static bool find_call_form(struct qn_renderer *r)
{
    static const enum qn_arguments forms[] = {QN_AS_OBJECTS, QN_AS_TEXT};
    for (size_t i = 0; i < 4; i++) {
        r->arguments = forms[i / 2];
        r->manner.null_content = i % 2;
        if (shows_calls(r, CALL("call00001", "needle"), "", "", "needle"))
            return true;
    }
    r->arguments = QN_AS_TEXT;
    r->manner.null_content = false;
    return false;
}

static bool think_makes_a_difference(const struct qn_renderer *r)
{
    struct qn_buf text[2];
    qn_err err[2];
    for (int think = 0; think < 2; think++) {
        struct qn_chat chat = {.messages = "[" USER "]", .think = think};
        qn_buf_init(&text[think], QN_TEMPLATE_OUTPUT_MAX);
        err[think] = qn_render_chat(r, &chat, &text[think], NULL);
    }
    bool differ = !err[0] && !err[1] && strcmp(qn_buf_cstr(&text[0]), qn_buf_cstr(&text[1])) != 0;
    qn_buf_deinit(&text[0]);
    qn_buf_deinit(&text[1]);
    return differ;
}

static void find_manner(struct qn_renderer *r)
{
    struct qn_manner *m = &r->manner;
    /* A template that needs more than a request's messages cannot be tried: it gets all of them. */
    bool renders = shows(r, "[" USER "]", NULL, "");
    m->system = !renders ||
                shows(r, "[{\"role\":\"system\",\"content\":\"needle\"}," USER "]", NULL, "needle");
    m->tools = !renders || shows(r, "[" USER "]", TOOL, "needle");
    m->calls = find_call_form(r);
    m->many_calls =
        shows_calls(r, CALL("call00001", "a") "," CALL("call00002", "needle"), "", "", "needle");
    m->results = m->calls && shows_calls(r, CALL("call00001", "a"), "",
                                         ",{\"role\":\"tool\",\"tool_call_id\":\"call00001\","
                                         "\"name\":\"f\",\"content\":\"needle\"}",
                                         "needle");
    if (!m->calls)
        m->results = shows(r,
                           "[" USER ",{\"role\":\"assistant\",\"content\":\"y\"},{\"role\":"
                           "\"tool\",\"tool_call_id\":\"call00001\",\"name\":\"f\",\"content\":"
                           "\"needle\"}]",
                           NULL, "needle");
    m->thinking = !shows_calls(r, CALL("call00001", "a"), ",\"reasoning_content\":\"needle\"", "",
                               "needle") &&
                  shows_calls(r, CALL("call00001", "a"), ",\"thinking\":\"needle\"", "", "needle");
    m->think_switch = think_makes_a_difference(r);
}

qn_err qn_renderer_init(struct qn_renderer *r, const struct qn_tokenizer *tok, const char *source,
                        size_t n, struct qn_error *e)
{
    *r = (struct qn_renderer){.tok = tok};
    qn_err err = qn_template_new(source, n, &r->chat, e);
    if (!err)
        find_manner(r);
    return err;
}

void qn_renderer_deinit(struct qn_renderer *r)
{
    if (r->chat)
        qn_template_free(r->chat);
    r->chat = NULL;
}
