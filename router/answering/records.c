/* See records.h. */
#include "answering/records.h"

#include "base/json.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

static bool is_finished(enum qn_chat_state s)
{
    return s != QN_CHAT_QUEUED && s != QN_CHAT_ANSWERING;
}

bool qn_answer_place_read(const char *text, struct qn_answer_cursor *out)
{
    char first[QN_ANSWER_PLACE_MAX];
    int64_t reasoning, n;
    *out = (struct qn_answer_cursor){0};
    if (!*text)
        return true;
    const char *dash = strchr(text, '-');
    if (!dash || dash == text || (size_t)(dash - text) >= sizeof first)
        return false;
    memcpy(first, text, (size_t)(dash - text));
    first[dash - text] = '\0';
    if (!qn_parse_i64(first, &reasoning) || !qn_parse_i64(dash + 1, &n) || reasoning < 0 || n < 0)
        return false;
    out->reasoning = (size_t)reasoning;
    out->text = (size_t)n;
    return true;
}

void qn_answer_place_write(const struct qn_answer_cursor *c, char out[static QN_ANSWER_PLACE_MAX])
{
    snprintf(out, QN_ANSWER_PLACE_MAX, "%zu-%zu", c->reasoning, c->text);
}

struct qn_answer_view qn_answer_view_of(const struct qn_chat_message *m)
{
    return (struct qn_answer_view){.state = is_finished(m->state) ? m->state : QN_CHAT_INTERRUPTED,
                                   .reasoning = m->reasoning,
                                   .text = m->text,
                                   .n_reasoning = strlen(m->reasoning),
                                   .n_text = strlen(m->text),
                                   .calls = m->calls,
                                   .calls_changes = 1,
                                   .stats = m->stats,
                                   .finish = m->finish,
                                   .next = m->next,
                                   .error = m->error};
}

static struct qn_jw open_record(struct qn_buf *out, const char *kind)
{
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "t", kind);
    return w;
}

static void write_state(const struct qn_answer_view *v, struct qn_buf *out)
{
    static const char *const stages[] = {
        [QN_ANSWER_PREPARING] = "preparing", [QN_ANSWER_TOOLS] = "tools",
        [QN_ANSWER_CALLS] = "calls",         [QN_ANSWER_DOWNLOADING] = "downloading",
        [QN_ANSWER_WAITING] = "waiting",     [QN_ANSWER_LOADING] = "loading",
        [QN_ANSWER_COMPUTING] = "computing"};
    struct qn_jw w = open_record(out, "state");
    qn_jw_kstr(&w, "state", qn_chat_state_name(v->state));
    qn_jw_kstr(&w, "stage", stages[v->stage]);
    if (v->stage == QN_ANSWER_WAITING) {
        qn_jw_ki64(&w, "place", v->place);
        qn_jw_ki64(&w, "wait_ms", v->wait_ms);
        if (v->reason && *v->reason)
            qn_jw_kstr(&w, "reason", v->reason);
    } else if (v->stage == QN_ANSWER_LOADING) {
        qn_jw_kf64(&w, "progress", v->loaded);
    }
    qn_jw_obj_end(&w);
}

static void write_prompt(const struct qn_answer_view *v, struct qn_buf *out)
{
    struct qn_jw w = open_record(out, "prompt");
    qn_jw_ki64(&w, "done", v->done);
    qn_jw_ki64(&w, "total", v->total);
    qn_jw_ki64(&w, "cached", v->cached);
    qn_jw_obj_end(&w);
}

/* Writes text [*at, n) or the beginning of it. False: there is none. */
static bool write_text(const char *kind, const char *text, size_t n, size_t *at, struct qn_buf *out)
{
    if (*at > n)
        *at = n;
    while (*at < n && ((unsigned char)text[*at] & 0xC0) == 0x80)
        ++*at;
    size_t len = n - *at;
    if (len == 0)
        return false;
    if (len > QN_ANSWER_RECORD_TEXT_MAX)
        len = qn_utf8_whole(text + *at, QN_ANSWER_RECORD_TEXT_MAX);
    struct qn_jw w = open_record(out, kind);
    qn_jw_key(&w, "s");
    qn_jw_strn(&w, text + *at, len);
    qn_jw_obj_end(&w);
    *at += len;
    return true;
}

static void write_end(const struct qn_answer_view *v, struct qn_buf *out)
{
    struct qn_jw w = open_record(out, "end");
    qn_jw_kstr(&w, "state", qn_chat_state_name(v->state));
    if (v->finish && *v->finish)
        qn_jw_kstr(&w, "finish", v->finish);
    if (v->error) {
        qn_jw_key(&w, "error");
        qn_jw_raw(&w, v->error, strlen(v->error));
    }
    if (v->next)
        qn_jw_kstr(&w, "next", v->next);
    qn_jw_obj_end(&w);
}

/* json: NULL, or the same as `none`: there is no such record. */
static bool has(const char *json, const char *none)
{
    return json && *json && !qn_str_eq(json, none);
}

static void write_array(const char *kind, const char *key, const char *json, struct qn_buf *out)
{
    struct qn_jw w = open_record(out, kind);
    qn_jw_key(&w, key);
    qn_jw_raw(&w, json, strlen(json));
    qn_jw_obj_end(&w);
}

/* Writes the record "calls". Returns false if the client already has the present calls, or there
 * are none. */
static bool write_calls(const struct qn_answer_view *v, struct qn_answer_cursor *c,
                        struct qn_buf *out)
{
    if (c->calls_changes == v->calls_changes || !has(v->calls, "[]"))
        return false;
    c->calls_changes = v->calls_changes;
    write_array("calls", "calls", v->calls, out);
    return true;
}

/* The records that follow the text of a finished answer. */
static void write_rest(const struct qn_answer_view *v, struct qn_answer_cursor *c,
                       struct qn_buf *out)
{
    if (write_calls(v, c, out))
        return;
    if (!c->stats && has(v->stats, "{}")) {
        struct qn_jw w = open_record(out, "stats");
        qn_jw_members(&w, v->stats);
        qn_jw_obj_end(&w);
        c->stats = true;
    } else {
        write_end(v, out);
        c->end = true;
    }
}

bool qn_answer_record(const struct qn_answer_view *v, struct qn_answer_cursor *c,
                      struct qn_buf *out)
{
    if (c->end)
        return false;
    if (!is_finished(v->state) && c->state_changes != v->state_changes) {
        c->state_changes = v->state_changes;
        write_state(v, out);
        return true;
    }
    if (!is_finished(v->state) && c->prompt_changes != v->prompt_changes) {
        c->prompt_changes = v->prompt_changes;
        write_prompt(v, out);
        return true;
    }
    if (!is_finished(v->state) && !c->tools && v->tools) {
        c->tools = true;
        write_array("tools", "servers", v->tools, out);
        return true;
    }
    if (write_text("think", v->reasoning, v->n_reasoning, &c->reasoning, out) ||
        write_text("text", v->text, v->n_text, &c->text, out))
        return true;
    if (!is_finished(v->state))
        return write_calls(v, c, out);
    write_rest(v, c, out);
    return true;
}
