/* See conversation.h. */
#include "llm/prompt/conversation.h"

#include "base/json.h"
#include "contract/event.h"
#include "contract/message_json.h"

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

struct fitting {
    const struct qn_manner *manner;
    struct qn_arena *arena;
    struct qn_messages out; /* has capacity for the largest possible result */
    struct qn_buf lead;     /* text to put before the next user message's text */
    struct qn_buf results;  /* tool results for the next user message */
    bool overflow;
};

void qn_message_text(const struct qn_message *m, struct qn_buf *out)
{
    bool more = false;
    for (size_t i = 0; i < m->parts.n; i++) {
        if (m->parts.v[i].kind != QN_PART_TEXT)
            continue;
        if (more)
            qn_buf_char(out, '\n');
        qn_buf_str(out, m->parts.v[i].text);
        more = true;
    }
}

static bool has_text(const struct qn_message *m)
{
    for (size_t i = 0; i < m->parts.n; i++)
        if (m->parts.v[i].kind == QN_PART_TEXT && m->parts.v[i].text[0])
            return true;
    return false;
}

static bool has_media(const struct qn_message *m)
{
    return qn_message_find(m, QN_PART_PICTURE) || qn_message_find(m, QN_PART_SOUND);
}

/* Appends a message like m but without its parts, with capacity for `parts` parts. */
static struct qn_message *add_like(struct fitting *f, const struct qn_message *m, size_t parts)
{
    struct qn_message *to = &f->out.v[f->out.n++];
    *to = *m;
    to->parts =
        (struct qn_message_parts){.v = qn_arena_try(f->arena, parts * sizeof *to->parts.v), .n = 0};
    f->overflow |= !to->parts.v;
    return to;
}

static void add_part(struct fitting *f, struct qn_message *m, struct qn_message_part part)
{
    if (!f->overflow)
        m->parts.v[m->parts.n++] = part;
}

/* Appends a part with the text of buf, and empties buf. */
static void add_text(struct fitting *f, struct qn_message *m, struct qn_buf *text)
{
    const char *copy = qn_arena_take(f->arena, text);
    f->overflow |= !copy;
    add_part(f, m,
             (struct qn_message_part){
                 .kind = QN_PART_TEXT, .attachment = QN_UNSET, .text = copy ? copy : ""});
    qn_buf_clear(text);
}

/* Appends a message with the text of buf, and empties buf. */
static void add_said(struct fitting *f, enum qn_role role, struct qn_buf *text)
{
    add_text(f, add_like(f, &(struct qn_message){.role = role}, 1), text);
}

/* Copies m's content to `to` with the text of `before` in front and of `after` behind; either may
 * be empty, and both are emptied. `to` has capacity for two parts more than m has. */
static void add_content(struct fitting *f, struct qn_message *to, const struct qn_message *m,
                        struct qn_buf *before, struct qn_buf *after)
{
    f->overflow |= before->overflow || after->overflow;
    if (!has_media(m) && (before->len || after->len)) {
        if (before->len && has_text(m))
            qn_buf_str(before, "\n\n");
        qn_message_text(m, before);
        if (before->len && after->len)
            qn_buf_char(before, '\n');
        qn_buf_add(before, after->data, after->len);
        add_text(f, to, before);
        qn_buf_clear(after);
        return;
    }
    if (before->len)
        add_text(f, to, before);
    for (size_t i = 0; i < m->parts.n; i++)
        if (qn_part_is_content(&m->parts.v[i]))
            add_part(f, to, m->parts.v[i]);
    if (after->len)
        add_text(f, to, after);
}

static void end_results(struct fitting *f)
{
    if (f->results.len)
        add_said(f, QN_ROLE_USER, &f->results);
}

static void user(struct fitting *f, const struct qn_message *m)
{
    struct qn_buf none = {0};
    f->overflow |= f->results.overflow;
    if (f->lead.len && f->results.len)
        qn_buf_str(&f->lead, "\n\n");
    qn_buf_add(&f->lead, f->results.data, f->results.len);
    qn_buf_clear(&f->results);
    add_content(f, add_like(f, m, m->parts.n + 2), m, &f->lead, &none);
    qn_buf_clear(&f->lead);
}

/* Writes the calls as text, in the form that tools_after describes. */
static void calls_as_text(const struct qn_message *m, struct qn_buf *out)
{
    for (size_t i = 0; i < m->parts.n; i++) {
        const struct qn_message_part *call = &m->parts.v[i];
        if (call->kind != QN_PART_CALL)
            continue;
        qn_buf_str(out, out->len ? "\n<tool_call>\n" : "<tool_call>\n");
        struct qn_jw w = qn_jw_to(out);
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "name", call->name);
        qn_jw_key(&w, "arguments");
        if (!qn_arguments_write(call->arguments, &w))
            qn_jw_str(&w, call->arguments);
        qn_jw_obj_end(&w);
        qn_buf_str(out, "\n</tool_call>");
    }
}

/* Appends an assistant message with m's calls [from, to). Content and reasoning of m go into the
 * message with the first call. */
static void assistant(struct fitting *f, const struct qn_message *m, size_t from, size_t to)
{
    size_t call = 0;
    bool shown = f->manner->calls;
    struct qn_message *out = add_like(f, m, m->parts.n + 2);
    struct qn_buf before = {0}, after;
    qn_buf_init(&before, QN_JOB_PROMPT_BYTES_MAX);
    qn_buf_init(&after, QN_JOB_PROMPT_BYTES_MAX);
    if (!shown)
        calls_as_text(m, &after);
    for (size_t i = 0; i < m->parts.n && from == 0; i++)
        if (m->parts.v[i].kind == QN_PART_REASONING)
            add_part(f, out, m->parts.v[i]);
    if (from == 0)
        add_content(f, out, m, &before, &after);
    for (size_t i = 0; i < m->parts.n && shown; i++)
        if (m->parts.v[i].kind == QN_PART_CALL && call++ >= from && call <= to)
            add_part(f, out, m->parts.v[i]);
    qn_buf_deinit(&before);
    qn_buf_deinit(&after);
}

static void result(struct fitting *f, const struct qn_message *m)
{
    if (f->manner->results) {
        f->out.v[f->out.n++] = *m;
        return;
    }
    qn_buf_str(&f->results, f->results.len ? "\n<tool_response>\n" : "<tool_response>\n");
    qn_message_text(m, &f->results);
    qn_buf_str(&f->results, "\n</tool_response>");
}

/* The id of the message's k-th call, or NULL. */
static const char *call_id(const struct qn_message *m, size_t k)
{
    for (size_t i = 0; i < m->parts.n; i++)
        if (m->parts.v[i].kind == QN_PART_CALL && k-- == 0)
            return m->parts.v[i].id;
    return NULL;
}

/* Writes a message with n calls for a template that supports one call per message: one message for
 * each call, followed by its result. followers: number of messages after m. Returns how many of
 * those were m's results. */
static size_t one_by_one(struct fitting *f, const struct qn_message *m, size_t n, size_t followers)
{
    const struct qn_message *results = m + 1;
    size_t n_results = 0;
    while (n_results < followers && results[n_results].role == QN_ROLE_TOOL)
        n_results++;
    /* Only this many results are matched with calls, as a message cannot have more calls; further
     * results are appended in their order. */
    const size_t n_looked_at = n_results < QN_EVENT_CALLS_MAX ? n_results : QN_EVENT_CALLS_MAX;
    bool *done = qn_xcalloc(n_results + 1, sizeof *done);
    for (size_t i = 0; i < n; i++) {
        const char *id = call_id(m, i);
        assistant(f, m, i, i + 1);
        for (size_t k = 0; k < n_looked_at; k++) {
            const char *answers = results[k].tool_call_id;
            bool named = id && id[0] && answers && answers[0];
            if (!done[k] && (named ? strcmp(id, answers) == 0 : k == i)) {
                result(f, &results[k]);
                done[k] = true;
            }
        }
    }
    for (size_t k = 0; k < n_results; k++)
        if (!done[k])
            result(f, &results[k]);
    free(done);
    return n_results;
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

/* Writes the leading system messages and the tools. Returns the number of leading messages. */
static size_t beginning(struct fitting *f, const char *tools, const struct qn_messages *messages)
{
    size_t leading = qn_conversation_leading(messages);
    struct qn_buf told, before;
    qn_buf_init(&told, QN_JOB_PROMPT_BYTES_MAX);
    qn_buf_init(&before, QN_JOB_PROMPT_BYTES_MAX);
    if (tools)
        write_tools(tools, &told);
    for (size_t i = 0; i < leading; i++) {
        const struct qn_message *m = &messages->v[i];
        if (f->manner->system) {
            add_content(f, add_like(f, m, m->parts.n + 2), m, &before, &told);
            continue;
        }
        if (f->lead.len)
            qn_buf_str(&f->lead, "\n\n");
        qn_message_text(m, &f->lead);
    }
    if (told.len && f->manner->system && leading == 0)
        add_said(f, QN_ROLE_SYSTEM, &told);
    else if (told.len && !f->manner->system)
        qn_buf_fmt(&f->lead, "%s%s", f->lead.len ? "\n\n" : "", qn_buf_cstr(&told));
    f->overflow |= told.overflow;
    qn_buf_deinit(&told);
    qn_buf_deinit(&before);
    return leading;
}

static qn_err too_many_calls(size_t message, struct qn_error *e)
{
    char param[64];
    snprintf(param, sizeof param, "messages[%zu].tool_calls", message);
    return qn_fail_param(e, QN_EINVAL, param, "%s: at most %d calls are allowed", param,
                         QN_EVENT_CALLS_MAX);
}

/* Upper bound of the number of resulting messages: one for each message, one for each call, and one
 * for results that precede a message. */
static size_t most(const struct qn_messages *messages)
{
    size_t n = 3; /* tools, trailing results, and a lead without a user message */
    for (size_t i = 0; i < messages->n; i++)
        n += 2 + qn_message_count(&messages->v[i], QN_PART_CALL);
    return n;
}

static qn_err fit(struct fitting *f, const struct qn_messages *in, const char *tools,
                  struct qn_error *e)
{
    for (size_t i = beginning(f, tools, in); i < in->n && !f->overflow; i++) {
        const struct qn_message *m = &in->v[i];
        size_t n = qn_message_count(m, QN_PART_CALL);
        if (m->role == QN_ROLE_TOOL) {
            result(f, m);
            continue;
        }
        if (m->role == QN_ROLE_USER) {
            user(f, m);
            continue;
        }
        end_results(f);
        if (n > QN_EVENT_CALLS_MAX)
            return too_many_calls(i, e);
        if (m->role != QN_ROLE_ASSISTANT)
            f->out.v[f->out.n++] = *m;
        else if (n > 1 && f->manner->calls && !f->manner->many_calls)
            i += one_by_one(f, m, n, in->n - i - 1);
        else
            assistant(f, m, 0, n);
    }
    end_results(f);
    if (f->lead.len) /* no user message followed that could take it */
        add_said(f, QN_ROLE_USER, &f->lead);
    if (f->overflow || f->lead.overflow || f->results.overflow)
        return qn_fail_param(e, QN_ELIMIT, "messages", "messages: more than %d bytes",
                             QN_JOB_PROMPT_BYTES_MAX);
    return QN_OK;
}

qn_err qn_conversation_fit(const struct qn_messages *messages, const char *tools,
                           const struct qn_manner *manner, struct qn_arena *arena,
                           struct qn_messages *out, struct qn_error *e)
{
    struct fitting f = {.manner = manner, .arena = arena};
    f.out.v = qn_arena_try(arena, most(messages) * sizeof *f.out.v);
    if (!f.out.v)
        return qn_fail_param(e, QN_ELIMIT, "messages", "messages: too many");
    qn_buf_init(&f.lead, QN_JOB_PROMPT_BYTES_MAX);
    qn_buf_init(&f.results, QN_JOB_PROMPT_BYTES_MAX);
    qn_err err = fit(&f, messages, tools, e);
    *out = f.out;
    qn_buf_deinit(&f.lead);
    qn_buf_deinit(&f.results);
    return err;
}

/* ---- Turns ---- */

bool qn_conversation_calls(const struct qn_messages *messages)
{
    for (size_t i = 0; i < messages->n; i++)
        if (messages->v[i].role == QN_ROLE_TOOL || qn_message_find(&messages->v[i], QN_PART_CALL))
            return true;
    return false;
}

size_t qn_conversation_leading(const struct qn_messages *messages)
{
    size_t n = 0;
    while (n < messages->n && messages->v[n].role == QN_ROLE_SYSTEM)
        n++;
    return n;
}

size_t qn_conversation_turns(const struct qn_messages *messages)
{
    size_t turns = 0;
    for (size_t i = 0; i < messages->n; i++)
        turns += messages->v[i].role == QN_ROLE_USER;
    return turns;
}

void qn_conversation_drop(const struct qn_messages *messages, size_t drop, struct qn_message *room,
                          struct qn_messages *out)
{
    size_t leading = qn_conversation_leading(messages), turn = 0;
    *out = (struct qn_messages){.v = room};
    for (size_t i = 0; i < messages->n; i++) {
        turn += messages->v[i].role == QN_ROLE_USER;
        if (i < leading || turn > drop)
            room[out->n++] = messages->v[i];
    }
}
