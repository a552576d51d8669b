/* See conversation.h. */
#include "llm/prompt/conversation.h"

#include "base/json.h"
#include "base/str.h"
#include "contract/event.h"
#include "contract/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char tools_before[] =
    "# Tools\n\nYou may call one or more of these functions to assist with the user's request:\n"
    "<tools>\n";
static const char tools_after[] = "</tools>\n\nTo call a function, write its name and its "
                                  "arguments as JSON within tags, one block "
                                  "for each call, and nothing after them:\n<tool_call>\n{\"name\": "
                                  "\"function name\", \"arguments\": "
                                  "{\"argument\": \"value\"}}\n</tool_call>\nThe results will come "
                                  "in <tool_response> tags. When no "
                                  "function is needed, answer without them.";

static const char *role_of(const struct qn_jref *message)
{
    struct qn_jref role = qn_json_get(message, "role");
    return qn_json_raw_str(&role);
}

static bool is_system(const struct qn_jref *message)
{
    return qn_str_eq(role_of(message), "system") || qn_str_eq(role_of(message), "developer");
}

/* Appends a content's text; parts that are no text are left to whoever writes the content. */
static void add_text(const struct qn_jref *content, struct qn_buf *out)
{
    if (qn_json_type(content) == QN_JSON_STRING)
        qn_buf_str(out, qn_json_raw_str(content));
    struct qn_jref part;
    for (bool more = qn_json_type(content) == QN_JSON_ARRAY && qn_json_first(content, &part); more;
         more = qn_json_next(&part)) {
        struct qn_jref text = qn_json_get(&part, "text");
        if (out->len && qn_json_raw_str(&text)[0])
            qn_buf_char(out, '\n');
        qn_buf_str(out, qn_json_raw_str(&text));
    }
}

static void write_raw(struct qn_jw *w, const struct qn_jref *value)
{
    struct qn_buf raw;
    qn_buf_init(&raw, w->out->limit);
    qn_json_print(value, &raw);
    qn_jw_raw(w, qn_buf_cstr(&raw), raw.len);
    w->out->overflow |= raw.overflow;
    qn_buf_deinit(&raw);
}

static void write_part(struct qn_jw *w, const char *text)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "type", "text");
    qn_jw_kstr(w, "text", text);
    qn_jw_obj_end(w);
}

/* The content with text in front of it and behind it, either may be empty. */
static void write_content(struct qn_jw *w, const struct qn_jref *content, const char *before,
                          const char *after)
{
    qn_jw_key(w, "content");
    if (!before[0] && !after[0] && qn_json_type(content) != QN_JSON_ABSENT) {
        write_raw(w, content);
        return;
    }
    if (qn_json_type(content) == QN_JSON_ARRAY) { /* pictures stay where they are */
        struct qn_jref part;
        qn_jw_arr(w);
        if (before[0])
            write_part(w, before);
        for (bool more = qn_json_first(content, &part); more; more = qn_json_next(&part))
            write_raw(w, &part);
        if (after[0])
            write_part(w, after);
        qn_jw_arr_end(w);
        return;
    }
    struct qn_buf text;
    qn_buf_init(&text, w->out->limit);
    qn_buf_str(&text, before);
    if (text.len && qn_json_raw_str(content)[0])
        qn_buf_str(&text, "\n\n");
    qn_buf_str(&text, qn_json_raw_str(content));
    if (text.len && after[0])
        qn_buf_char(&text, '\n');
    qn_buf_str(&text, after);
    qn_jw_strn(w, qn_buf_cstr(&text), text.len);
    qn_buf_deinit(&text);
}

struct fitting {
    const struct qn_manner *manner;
    struct qn_jw w;
    struct qn_buf lead;    /* stands in front of the first user's text */
    struct qn_buf results; /* of tools, for the user's next message */
};

static void end_results(struct fitting *f)
{
    if (!f->results.len)
        return;
    qn_jw_obj(&f->w);
    qn_jw_kstr(&f->w, "role", "user");
    qn_jw_kstr(&f->w, "content", qn_buf_cstr(&f->results));
    qn_jw_obj_end(&f->w);
    qn_buf_clear(&f->results);
}

static void user(struct fitting *f, const struct qn_jref *m)
{
    struct qn_jref content = qn_json_get(m, "content"), member;
    struct qn_buf before;
    qn_buf_init(&before, QN_JOB_PROMPT_BYTES_MAX);
    qn_buf_str(&before, qn_buf_cstr(&f->lead));
    if (f->results.len)
        qn_buf_fmt(&before, "%s%s", before.len ? "\n\n" : "", qn_buf_cstr(&f->results));
    qn_buf_clear(&f->lead);
    qn_buf_clear(&f->results);
    qn_jw_obj(&f->w);
    for (bool more = qn_json_first(m, &member); more; more = qn_json_next(&member)) {
        if (qn_str_eq(member.key, "content"))
            continue;
        qn_jw_key(&f->w, member.key);
        write_raw(&f->w, &member);
    }
    write_content(&f->w, &content, qn_buf_cstr(&before), "");
    qn_jw_obj_end(&f->w);
    qn_buf_deinit(&before);
}

static struct qn_jref function_of(const struct qn_jref *call)
{
    struct qn_jref f = qn_json_get(call, "function");
    return qn_json_type(&f) == QN_JSON_OBJECT ? f : *call;
}

/* The calls as text, in the form that tools_after asks for. */
static void calls_as_text(const struct qn_jref *calls, struct qn_buf *out)
{
    struct qn_jref call;
    for (bool more = qn_json_first(calls, &call); more; more = qn_json_next(&call)) {
        struct qn_jref f = function_of(&call), name = qn_json_get(&f, "name"),
                       arguments = qn_json_get(&f, "arguments");
        qn_buf_str(out, out->len ? "\n<tool_call>\n" : "<tool_call>\n");
        struct qn_jw w = qn_jw_to(out);
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "name", qn_json_raw_str(&name));
        qn_jw_key(&w, "arguments");
        const char *text = qn_json_raw_str(&arguments);
        if (qn_json_type(&arguments) == QN_JSON_STRING && text[0] == '{')
            qn_jw_raw(&w, text, strlen(text));
        else if (qn_json_type(&arguments) == QN_JSON_ABSENT)
            qn_jw_raw(&w, "{}", 2);
        else
            write_raw(&w, &arguments);
        qn_jw_obj_end(&w);
        qn_buf_str(out, "\n</tool_call>");
    }
}

/* One assistant's message with the calls [from, to) of its list. */
static void assistant(struct fitting *f, const struct qn_jref *m, size_t from, size_t to, size_t n)
{
    struct qn_jref member, content = qn_json_get(m, "content"),
                           calls = qn_json_get(m, "tool_calls"),
                           reasoning = qn_json_get(m, "reasoning_content"), call;
    bool first = from == 0, shown = n > 0 && f->manner->calls;
    bool empty = qn_json_type(&content) != QN_JSON_ARRAY && !qn_json_raw_str(&content)[0];
    struct qn_buf after;
    qn_buf_init(&after, QN_JOB_PROMPT_BYTES_MAX);
    if (n > 0 && !shown)
        calls_as_text(&calls, &after);
    qn_jw_obj(&f->w);
    for (bool more = qn_json_first(m, &member); more; more = qn_json_next(&member)) {
        bool skip = qn_str_eq(member.key, "content") || qn_str_eq(member.key, "tool_calls") ||
                    (!first && qn_str_eq(member.key, "reasoning_content"));
        if (skip)
            continue;
        qn_jw_key(&f->w, member.key);
        write_raw(&f->w, &member);
    }
    if (shown && (empty || !first)) {
        qn_jw_kstr(&f->w, "content", f->manner->null_content ? NULL : "");
        empty = true;
    } else {
        write_content(&f->w, &content, "", qn_buf_cstr(&after));
    }
    /* Beside calls such a template takes either reasoning or text for its analysis. */
    if (f->manner->thinking && first && qn_json_raw_str(&reasoning)[0] && (empty || !shown))
        qn_jw_kstr(&f->w, "thinking", qn_json_raw_str(&reasoning));
    if (shown) {
        size_t i = 0;
        qn_jw_key(&f->w, "tool_calls");
        qn_jw_arr(&f->w);
        for (bool more = qn_json_first(&calls, &call); more && i < to && !f->w.out->overflow;
             more = qn_json_next(&call), i++)
            if (i >= from)
                write_raw(&f->w, &call);
        qn_jw_arr_end(&f->w);
    }
    qn_jw_obj_end(&f->w);
    qn_buf_deinit(&after);
}

static void result(struct fitting *f, const struct qn_jref *m)
{
    if (f->manner->results) {
        write_raw(&f->w, m);
        return;
    }
    struct qn_jref content = qn_json_get(m, "content");
    struct qn_buf text;
    qn_buf_init(&text, QN_JOB_PROMPT_BYTES_MAX);
    add_text(&content, &text);
    qn_buf_fmt(&f->results, "%s<tool_response>\n%s\n</tool_response>", f->results.len ? "\n" : "",
               qn_buf_cstr(&text));
    qn_buf_deinit(&text);
}

/* A message with n calls for a template that knows one: a message for each, with its result. *m
 * becomes the last message that was written. */
static void one_by_one(struct fitting *f, struct qn_jref *m, size_t n)
{
    struct qn_jref calls = qn_json_get(m, "tool_calls"), call, results = *m;
    size_t i = 0, n_results = 0;
    struct qn_jref last = *m;
    while (qn_json_next(&results) && qn_str_eq(role_of(&results), "tool")) {
        n_results++;
        last = results;
    }
    /* A result each: those past as many as there can be calls follow in their order. */
    const size_t n_looked_at = n_results < QN_EVENT_CALLS_MAX ? n_results : QN_EVENT_CALLS_MAX;
    bool *done = qn_xcalloc(n_results + 1, sizeof *done);
    for (bool more = qn_json_first(&calls, &call); more && !f->w.out->overflow;
         more = qn_json_next(&call), i++) {
        struct qn_jref id = qn_json_get(&call, "id"), r = *m;
        assistant(f, m, i, i + 1, n);
        for (size_t k = 0; k < n_looked_at; k++) {
            qn_json_next(&r);
            struct qn_jref whose = qn_json_get(&r, "tool_call_id");
            bool named = qn_json_raw_str(&id)[0] && qn_json_raw_str(&whose)[0];
            bool its = named ? qn_str_eq(qn_json_raw_str(&id), qn_json_raw_str(&whose)) : k == i;
            if (its && !done[k]) {
                result(f, &r);
                done[k] = true;
            }
        }
    }
    struct qn_jref r = *m;
    for (size_t k = 0; k < n_results; k++) {
        qn_json_next(&r);
        if (!done[k])
            result(f, &r);
    }
    free(done);
    *m = last;
}

static void write_tools(const char *tools, struct qn_buf *out)
{
    struct qn_json *doc;
    if (qn_json_parse(tools, strlen(tools), &doc, NULL))
        return;
    struct qn_jref root = qn_json_root(doc), tool;
    qn_buf_str(out, tools_before);
    for (bool more = qn_json_first(&root, &tool); more; more = qn_json_next(&tool)) {
        qn_json_print(&tool, out);
        qn_buf_char(out, '\n');
    }
    qn_buf_str(out, tools_after);
    qn_json_free(doc);
}

/* The system messages at the beginning and the tools; *m is moved behind them. False: nothing
 * else is there. */
static bool beginning(struct fitting *f, const char *tools, struct qn_jref *m, bool more)
{
    struct qn_buf told;
    qn_buf_init(&told, QN_JOB_PROMPT_BYTES_MAX);
    if (tools)
        write_tools(tools, &told);
    bool first = true;
    for (; more && is_system(m); more = qn_json_next(m), first = false) {
        struct qn_jref content = qn_json_get(m, "content");
        if (!f->manner->system) {
            if (f->lead.len)
                qn_buf_str(&f->lead, "\n\n");
            add_text(&content, &f->lead);
            continue;
        }
        qn_jw_obj(&f->w);
        qn_jw_kstr(&f->w, "role", role_of(m));
        write_content(&f->w, &content, "", first ? qn_buf_cstr(&told) : "");
        qn_jw_obj_end(&f->w);
    }
    if (told.len && f->manner->system && first) {
        qn_jw_obj(&f->w);
        qn_jw_kstr(&f->w, "role", "system");
        qn_jw_kstr(&f->w, "content", qn_buf_cstr(&told));
        qn_jw_obj_end(&f->w);
    } else if (told.len && !f->manner->system) {
        qn_buf_fmt(&f->lead, "%s%s", f->lead.len ? "\n\n" : "", qn_buf_cstr(&told));
    }
    qn_buf_deinit(&told);
    return more;
}

static qn_err too_many_calls(size_t message, struct qn_error *e)
{
    char param[64];
    snprintf(param, sizeof param, "messages[%zu].tool_calls", message);
    return qn_fail_param(e, QN_EINVAL, param, "%s: at most %d calls are allowed", param,
                         QN_EVENT_CALLS_MAX);
}

qn_err qn_conversation_fit(const char *messages, const char *tools, const struct qn_manner *manner,
                           struct qn_buf *out, struct qn_error *e)
{
    struct qn_json *doc;
    qn_err err = qn_json_parse(messages, strlen(messages), &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc), m;
    root.key = "messages";
    struct fitting f = {.manner = manner, .w = qn_jw_to(out)};
    qn_buf_init(&f.lead, QN_JOB_PROMPT_BYTES_MAX);
    qn_buf_init(&f.results, QN_JOB_PROMPT_BYTES_MAX);
    qn_jw_arr(&f.w);
    bool more = qn_json_type(&root) == QN_JSON_ARRAY && qn_json_first(&root, &m);
    if (more)
        more = beginning(&f, tools, &m, more);
    for (; more && !err && !out->overflow; more = qn_json_next(&m)) {
        const char *role = role_of(&m);
        struct qn_jref calls = qn_json_get(&m, "tool_calls");
        size_t n = qn_json_type(&calls) == QN_JSON_ARRAY ? qn_json_count(&calls) : 0;
        if (qn_str_eq(role, "tool")) {
            result(&f, &m);
            continue;
        }
        if (qn_str_eq(role, "user")) {
            user(&f, &m);
            continue;
        }
        end_results(&f);
        if (n > QN_EVENT_CALLS_MAX)
            err = too_many_calls(m.index, e);
        else if (qn_str_eq(role, "assistant") && n > 1 && manner->calls && !manner->many_calls)
            one_by_one(&f, &m, n);
        else if (qn_str_eq(role, "assistant"))
            assistant(&f, &m, 0, n, n);
        else
            write_raw(&f.w, &m);
    }
    end_results(&f);
    if (f.lead.len) { /* there was no user to tell it */
        qn_jw_obj(&f.w);
        qn_jw_kstr(&f.w, "role", "user");
        qn_jw_kstr(&f.w, "content", qn_buf_cstr(&f.lead));
        qn_jw_obj_end(&f.w);
    }
    qn_jw_arr_end(&f.w);
    if (!err && (out->overflow || f.lead.overflow || f.results.overflow))
        err = qn_fail_param(e, QN_ELIMIT, "messages", "messages: more than %d bytes",
                            QN_JOB_PROMPT_BYTES_MAX);
    qn_buf_deinit(&f.lead);
    qn_buf_deinit(&f.results);
    qn_json_free(doc);
    return err;
}

/* ---- Turns ---- */

size_t qn_conversation_turns(const char *messages)
{
    struct qn_json *doc;
    size_t turns = 0;
    if (qn_json_parse(messages, strlen(messages), &doc, NULL))
        return 0;
    struct qn_jref root = qn_json_root(doc), m;
    for (bool more = qn_json_first(&root, &m); more; more = qn_json_next(&m))
        turns += qn_str_eq(role_of(&m), "user");
    qn_json_free(doc);
    return turns;
}

void qn_conversation_drop(const char *messages, size_t drop, struct qn_buf *out)
{
    struct qn_json *doc;
    if (qn_json_parse(messages, strlen(messages), &doc, NULL))
        return;
    struct qn_jref root = qn_json_root(doc), m;
    struct qn_jw w = qn_jw_to(out);
    size_t turn = 0;
    bool leading = true;
    qn_jw_arr(&w);
    for (bool more = qn_json_first(&root, &m); more; more = qn_json_next(&m)) {
        leading &= is_system(&m);
        turn += qn_str_eq(role_of(&m), "user");
        if (leading || turn > drop)
            write_raw(&w, &m);
    }
    qn_jw_arr_end(&w);
    qn_json_free(doc);
}
