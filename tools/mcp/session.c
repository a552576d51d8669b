/* See session.h. */
#include "mcp/session.h"

#include "base/str.h"
#include "mcp/session_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const qn_session_revisions[3] = {"2025-06-18", "2025-03-26", "2024-11-05"};

/* ---- messages to the router ---- */

void qn_session_report(struct qn_session *s, enum qn_mcp_up_kind kind, int64_t id,
                       const char *message)
{
    struct qn_buf text;
    qn_buf_init(&text, QN_MCP_MESSAGE_TEXT_MAX + 1);
    qn_result_clean(message, QN_MCP_MESSAGE_TEXT_MAX, &text);
    s->ev.up(s->ctx, &(struct qn_mcp_up){.kind = kind, .id = id, .message = qn_buf_cstr(&text)});
    qn_buf_deinit(&text);
}

void qn_session_break(struct qn_session *s, const char *why)
{
    if (s->down)
        return;
    s->down = true;
    qn_session_report(s, QN_MCP_UP_DOWN, 0, why);
}

void qn_session_report_listed(struct qn_session *s)
{
    s->listed = true;
    s->ev.up(s->ctx, &(struct qn_mcp_up){.kind = QN_MCP_UP_LISTED, .left_out = s->count.left_out});
}

/* ---- messages to the server ---- */

void qn_session_send(struct qn_session *s, int64_t rpc, struct qn_buf *json)
{
    s->ev.send(s->ctx, rpc, qn_buf_cstr(json), json->len);
}

void qn_session_notify(struct qn_session *s, const char *json)
{
    s->ev.send(s->ctx, 0, json, strlen(json));
}

static struct qn_session_request *free_request(struct qn_session *s)
{
    for (size_t i = 0; i < QN_SESSION_REQUESTS_MAX; i++)
        if (s->requests[i].kind == QN_SESSION_NONE)
            return &s->requests[i];
    return NULL;
}

void qn_session_end_request(struct qn_session_request *r)
{
    free(r->message);
    *r = (struct qn_session_request){.kind = QN_SESSION_NONE};
}

/* Begins a JSON-RPC request up to the start of the object "params". The caller writes the members
 * of params, then ends params and the request. */
static struct qn_jw open_request(struct qn_buf *out, int64_t rpc, const char *method)
{
    qn_buf_init(out, QN_SESSION_SEND_MAX);
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "jsonrpc", "2.0");
    qn_jw_ki64(&w, "id", rpc);
    qn_jw_kstr(&w, "method", method);
    qn_jw_key(&w, "params");
    qn_jw_obj(&w);
    return w;
}

static void initialize(struct qn_session *s, int64_t now_ms)
{
    struct qn_buf out;
    struct qn_session_request *r = free_request(s);
    if (!r) {
        qn_session_break(s, "too many requests have no answer");
        return;
    }
    s->session++;
    *r = (struct qn_session_request){.kind = QN_SESSION_INITIALIZE,
                                     .rpc = ++s->next_rpc,
                                     .limit_ms = s->start_ms,
                                     .session = s->session};
    r->due_ms = now_ms + s->start_ms;
    struct qn_jw w = open_request(&out, r->rpc, "initialize");
    qn_jw_kstr(&w, "protocolVersion", qn_session_revisions[0]);
    qn_jw_key(&w, "capabilities");
    qn_jw_obj(&w);
    qn_jw_obj_end(&w);
    qn_jw_key(&w, "clientInfo");
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "name", "quince");
    qn_jw_kstr(&w, "version", QN_VERSION);
    qn_jw_obj_end(&w);
    qn_jw_obj_end(&w);
    qn_jw_obj_end(&w);
    qn_session_send(s, r->rpc, &out);
    qn_buf_deinit(&out);
}

struct qn_session *qn_session_new(const struct qn_session_events *ev, void *ctx, int64_t start_ms,
                                  int64_t now_ms)
{
    struct qn_session *s = qn_xcalloc(1, sizeof *s);
    s->ev = *ev;
    s->ctx = ctx;
    s->start_ms = start_ms;
    s->start_due_ms = now_ms + start_ms;
    s->flood_since_ms = now_ms;
    initialize(s, now_ms);
    return s;
}

void qn_session_free(struct qn_session *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < QN_SESSION_REQUESTS_MAX; i++)
        qn_session_end_request(&s->requests[i]);
    free(s);
}

/* ---- the list of tools ---- */

static struct qn_session_request *listing(struct qn_session *s)
{
    for (size_t i = 0; i < QN_SESSION_REQUESTS_MAX; i++)
        if (s->requests[i].kind == QN_SESSION_LIST)
            return &s->requests[i];
    return NULL;
}

/* Requests a page of the list of tools. cursor: of the page; NULL: the first page. */
void qn_session_list_page(struct qn_session *s, const char *cursor, int64_t now_ms)
{
    struct qn_buf out;
    struct qn_session_request *r = free_request(s);
    if (!r)
        return; /* cannot happen: qn_session_call keeps entries free for this */
    *r = (struct qn_session_request){.kind = QN_SESSION_LIST,
                                     .rpc = ++s->next_rpc,
                                     .limit_ms = s->start_ms,
                                     .session = s->session};
    r->due_ms = now_ms + s->start_ms;
    struct qn_jw w = open_request(&out, r->rpc, "tools/list");
    if (cursor)
        qn_jw_kstr(&w, "cursor", cursor);
    qn_jw_obj_end(&w);
    qn_jw_obj_end(&w);
    qn_session_send(s, r->rpc, &out);
    qn_buf_deinit(&out);
}

void qn_session_list(struct qn_session *s, int64_t now_ms)
{
    if (s->down)
        return;
    if (!s->protocol || listing(s)) {
        s->changed = s->changed || listing(s); /* the pending list may be out of date */
        return;
    }
    s->changed = false;
    s->listed_ms = now_ms;
    s->pages = 0;
    s->count = (struct qn_tool_count){0};
    if (s->has_tools)
        qn_session_list_page(s, NULL, now_ms);
    else
        qn_session_report_listed(s);
}

/* ---- calls ---- */

void qn_session_call(struct qn_session *s, int64_t id, const char *tool, const char *arguments,
                     int64_t ms, int64_t now_ms)
{
    struct qn_json *doc = NULL;
    struct qn_buf out;
    size_t running = 0;
    if (s->down)
        return;
    for (size_t i = 0; i < QN_SESSION_REQUESTS_MAX; i++)
        running += s->requests[i].kind == QN_SESSION_CALL;
    if (running >= QN_MCP_CALLS_MAX) {
        qn_session_report(s, QN_MCP_UP_FAILED, id, "too many calls of this server run already");
        return;
    }
    const char *text = *arguments ? arguments : "{}";
    qn_err err = qn_json_parse(text, strlen(text), &doc, NULL);
    struct qn_jref root = err ? (struct qn_jref){0} : qn_json_root(doc);
    if (qn_json_type(&root) != QN_JSON_OBJECT) {
        qn_session_report(s, QN_MCP_UP_FAILED, id, "the arguments are not a JSON object");
        qn_json_free(doc);
        return;
    }
    struct qn_session_request *r = free_request(s);
    *r = (struct qn_session_request){.kind = QN_SESSION_CALL,
                                     .rpc = ++s->next_rpc,
                                     .call = id,
                                     .limit_ms = ms,
                                     .session = s->session,
                                     .waits = !s->protocol,
                                     .sent = s->protocol != NULL};
    r->due_ms = now_ms + ms;
    struct qn_jw w = open_request(&out, r->rpc, "tools/call");
    qn_jw_kstr(&w, "name", tool);
    qn_jw_key(&w, "arguments");
    qn_jw_value(&w, &root);
    qn_jw_obj_end(&w);
    qn_jw_obj_end(&w);
    r->message = qn_xstrdup(qn_buf_cstr(&out));
    if (!r->waits)
        qn_session_send(s, r->rpc, &out);
    qn_buf_deinit(&out);
    qn_json_free(doc);
}

static void tell_cancelled(struct qn_session *s, int64_t rpc, const char *reason)
{
    char text[200];
    snprintf(text, sizeof text,
             "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
             "{\"requestId\":%lld,\"reason\":\"%s\"}}",
             (long long)rpc, reason);
    qn_session_notify(s, text);
}

void qn_session_cancel(struct qn_session *s, int64_t id)
{
    for (size_t i = 0; i < QN_SESSION_REQUESTS_MAX && !s->down; i++) {
        struct qn_session_request *r = &s->requests[i];
        if (r->kind != QN_SESSION_CALL || r->call != id)
            continue;
        tell_cancelled(s, r->rpc, "the user has stopped the answer");
        qn_session_end_request(r);
    }
}

/* Sends a call that has waited for the session to be initialised. */
void qn_session_send_call(struct qn_session *s, struct qn_session_request *r)
{
    char *message = r->message;
    if (r->sent)
        r->message = NULL;
    r->waits = false;
    r->session = s->session;
    s->ev.send(s->ctx, r->rpc, message, strlen(message));
    if (r->sent)
        free(message);
    r->sent = true;
}

/* ---- timeouts, and failures of the transport ---- */

static void time_out(struct qn_session *s, struct qn_session_request *r)
{
    const struct qn_session_request was = *r;
    char text[128];
    snprintf(text, sizeof text, "the server did not answer within %lld s",
             (long long)(was.limit_ms + 999) / 1000);
    qn_session_end_request(r);
    if (was.kind == QN_SESSION_INITIALIZE) {
        qn_session_break(s, text);
        return;
    }
    if (s->protocol)
        tell_cancelled(s, was.rpc, "timeout");
    qn_session_report(s, was.kind == QN_SESSION_LIST ? QN_MCP_UP_UNLISTED : QN_MCP_UP_FAILED,
                      was.call, text);
}

int64_t qn_session_tick(struct qn_session *s, int64_t now_ms)
{
    int64_t wait = 60 * 1000;
    for (size_t i = 0; i < QN_SESSION_REQUESTS_MAX && !s->down; i++) {
        struct qn_session_request *r = &s->requests[i];
        if (r->kind != QN_SESSION_NONE && now_ms >= r->due_ms)
            time_out(s, r);
        else if (r->kind != QN_SESSION_NONE && r->due_ms - now_ms < wait)
            wait = r->due_ms - now_ms;
    }
    if (s->changed && s->protocol && !s->down && !listing(s)) {
        int64_t left = s->listed_ms + QN_SESSION_RELIST_MS - now_ms;
        if (left <= 0)
            qn_session_list(s, now_ms);
        else if (left < wait)
            wait = left;
    }
    if (!s->listed && !s->down) {
        if (now_ms >= s->start_due_ms)
            qn_session_report(s, QN_MCP_UP_UNLISTED, 0, "the list of tools takes too long");
        s->listed = s->listed || now_ms >= s->start_due_ms;
        if (s->start_due_ms > now_ms && s->start_due_ms - now_ms < wait)
            wait = s->start_due_ms - now_ms;
    }
    return wait;
}

void qn_session_unanswered(struct qn_session *s, int64_t rpc, const char *why)
{
    for (size_t i = 0; i < QN_SESSION_REQUESTS_MAX && !s->down; i++) {
        struct qn_session_request *r = &s->requests[i];
        if (r->kind == QN_SESSION_NONE || r->rpc != rpc)
            continue;
        const struct qn_session_request was = *r;
        qn_session_end_request(r);
        if (was.kind == QN_SESSION_INITIALIZE)
            qn_session_break(s, why);
        else
            qn_session_report(s,
                              was.kind == QN_SESSION_LIST ? QN_MCP_UP_UNLISTED : QN_MCP_UP_FAILED,
                              was.call, why);
    }
}

static struct qn_session_request *find_request(struct qn_session *s, int64_t rpc)
{
    for (size_t i = 0; i < QN_SESSION_REQUESTS_MAX; i++)
        if (s->requests[i].kind != QN_SESSION_NONE && s->requests[i].rpc == rpc)
            return &s->requests[i];
    return NULL;
}

void qn_session_lost(struct qn_session *s, int64_t rpc, int64_t now_ms)
{
    struct qn_session_request *r = s->down ? NULL : find_request(s, rpc);
    if (!r)
        return;
    bool present = r->session == s->session;
    if (r->kind == QN_SESSION_INITIALIZE || (r->kind == QN_SESSION_CALL && !r->message)) {
        qn_session_unanswered(s, rpc, "the server does not know the session that it has begun");
        return;
    }
    if (r->kind == QN_SESSION_LIST)
        qn_session_end_request(r); /* not sent again: a new session requests the list anyway */
    else
        r->waits = true;
    if (present && s->protocol) {
        s->protocol = NULL;
        initialize(s, now_ms);
    } else if (s->protocol && r->kind == QN_SESSION_CALL) {
        qn_session_send_call(s, r);
    }
}

bool qn_session_is_pending(const struct qn_session *s, int64_t rpc)
{
    for (size_t i = 0; i < QN_SESSION_REQUESTS_MAX; i++)
        if (s->requests[i].kind != QN_SESSION_NONE && s->requests[i].rpc == rpc &&
            !s->requests[i].waits)
            return true;
    return false;
}

bool qn_session_is_down(const struct qn_session *s)
{
    return s->down;
}

const char *qn_session_protocol(const struct qn_session *s)
{
    return s->protocol ? s->protocol : "";
}
