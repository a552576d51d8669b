/* See session.h. */
#include "mcp/session.h"

#include "base/str.h"
#include "mcp/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS_MAX = QN_MCP_CALLS_MAX + 4, SEND_MAX = QN_MCP_DOWN_MAX + 4096, CURSOR_MAX = 4096 };

static const char *const revisions[] = {"2025-06-18", "2025-03-26", "2024-11-05"};

enum request_kind { NONE, INITIALIZE, LIST, CALL };

/* A request that has no answer yet. */
struct request {
    enum request_kind kind; /* NONE: this entry is free */
    int64_t rpc;            /* its id */
    int64_t call;           /* CALL: the router's id */
    int64_t due_ms;         /* when it has taken too long */
    int64_t limit_ms;
    int64_t session; /* in which it was sent */
    char *message;   /* CALL: to be sent again in a new session; NULL: it has been */
    bool waits;      /* CALL: it is sent when there is a session */
    bool sent;       /* CALL: it has been, once at least */
};

struct qn_session {
    struct qn_session_events ev;
    void *ctx;
    int64_t next_rpc;
    struct request requests[REQUESTS_MAX];
    const char *protocol; /* NULL: not agreed yet */
    int64_t session;      /* number of the present one */
    int64_t start_due_ms, start_ms;
    bool listed; /* the tools have been listed once */
    bool down;
    bool has_tools; /* the server says that it has tools */
    bool changed;   /* the list of tools is out of date */
    int64_t listed_ms;
    int pages;
    struct qn_tool_count count;
    int banners;
    int64_t flood_since_ms, flood_messages, flood_bytes;
};

/* ---- to the router ---- */

static void report_message(struct qn_session *s, enum qn_mcp_up_kind kind, int64_t id,
                           const char *message)
{
    struct qn_buf text;
    qn_buf_init(&text, QN_MCP_MESSAGE_TEXT_MAX + 1);
    qn_result_clean(message, QN_MCP_MESSAGE_TEXT_MAX, &text);
    s->ev.up(s->ctx,
             &(struct qn_mcp_up){.kind = kind, .id = id, .message = qn_buf_cstr(&text)});
    qn_buf_deinit(&text);
}

void qn_session_break(struct qn_session *s, const char *why)
{
    if (s->down)
        return;
    s->down = true;
    report_message(s, QN_MCP_UP_DOWN, 0, why);
}

static void report_listed(struct qn_session *s)
{
    s->listed = true;
    s->ev.up(s->ctx,
             &(struct qn_mcp_up){.kind = QN_MCP_UP_LISTED, .left_out = s->count.left_out});
}

static void report_result(struct qn_session *s, int64_t id, const struct qn_jref *result)
{
    struct qn_buf text;
    qn_buf_init(&text, 2 * QN_MCP_RESULT_MAX);
    bool error = qn_result_text(result, &text);
    for (size_t at = 0; at < text.len;) {
        size_t n = text.len - at;
        if (n > QN_MCP_PIECE_MAX)
            n = qn_utf8_whole(text.data + at, QN_MCP_PIECE_MAX);
        char *piece = qn_xstrndup(text.data + at, n);
        s->ev.up(s->ctx, &(struct qn_mcp_up){.kind = QN_MCP_UP_TEXT, .id = id, .text = piece});
        free(piece);
        at += n;
    }
    s->ev.up(s->ctx, &(struct qn_mcp_up){.kind = QN_MCP_UP_RESULT, .id = id, .error = error});
    qn_buf_deinit(&text);
}

/* ---- to the server ---- */

static void send_buf(struct qn_session *s, int64_t rpc, struct qn_buf *json)
{
    s->ev.send(s->ctx, rpc, qn_buf_cstr(json), json->len);
}

static void notify(struct qn_session *s, const char *json)
{
    s->ev.send(s->ctx, 0, json, strlen(json));
}

static struct request *free_request(struct qn_session *s)
{
    for (size_t i = 0; i < REQUESTS_MAX; i++)
        if (s->requests[i].kind == NONE)
            return &s->requests[i];
    return NULL;
}

static void end_request(struct request *r)
{
    free(r->message);
    *r = (struct request){.kind = NONE};
}

/* Begins the message of a request; its params and the end are the caller's to write. */
static struct qn_jw open_request(struct qn_buf *out, int64_t rpc, const char *method)
{
    qn_buf_init(out, SEND_MAX);
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
    struct request *r = free_request(s);
    if (!r) {
        qn_session_break(s, "too many requests have no answer");
        return;
    }
    s->session++;
    *r = (struct request){.kind = INITIALIZE,
                          .rpc = ++s->next_rpc,
                          .limit_ms = s->start_ms,
                          .session = s->session};
    r->due_ms = now_ms + s->start_ms;
    struct qn_jw w = open_request(&out, r->rpc, "initialize");
    qn_jw_kstr(&w, "protocolVersion", revisions[0]);
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
    send_buf(s, r->rpc, &out);
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
    for (size_t i = 0; i < REQUESTS_MAX; i++)
        end_request(&s->requests[i]);
    free(s);
}

/* ---- the list of tools ---- */

static struct request *listing(struct qn_session *s)
{
    for (size_t i = 0; i < REQUESTS_MAX; i++)
        if (s->requests[i].kind == LIST)
            return &s->requests[i];
    return NULL;
}

/* cursor: of the next page; NULL: the first. */
static void list_page(struct qn_session *s, const char *cursor, int64_t now_ms)
{
    struct qn_buf out;
    struct request *r = free_request(s);
    if (!r)
        return; /* qn_session_call leaves entries for this */
    *r = (struct request){.kind = LIST,
                          .rpc = ++s->next_rpc,
                          .limit_ms = s->start_ms,
                          .session = s->session};
    r->due_ms = now_ms + s->start_ms;
    struct qn_jw w = open_request(&out, r->rpc, "tools/list");
    if (cursor)
        qn_jw_kstr(&w, "cursor", cursor);
    qn_jw_obj_end(&w);
    qn_jw_obj_end(&w);
    send_buf(s, r->rpc, &out);
    qn_buf_deinit(&out);
}

void qn_session_list(struct qn_session *s, int64_t now_ms)
{
    if (s->down)
        return;
    if (!s->protocol || listing(s)) {
        s->changed = s->changed || listing(s); /* the running list may be out of date */
        return;
    }
    s->changed = false;
    s->listed_ms = now_ms;
    s->pages = 0;
    s->count = (struct qn_tool_count){0};
    if (s->has_tools)
        list_page(s, NULL, now_ms);
    else
        report_listed(s);
}

static void take_tools(struct qn_session *s, const struct qn_jref *result, int64_t now_ms)
{
    struct qn_jref tools = qn_json_get(result, "tools"), it,
                   cursor = qn_json_get(result, "nextCursor");
    struct qn_buf schema, description;
    if (qn_json_type(&tools) != QN_JSON_ARRAY) {
        report_message(s, QN_MCP_UP_UNLISTED, 0, "the server's list of tools is not a list");
        return;
    }
    qn_buf_init(&schema, QN_MCP_SCHEMA_MAX);
    qn_buf_init(&description, QN_MCP_DESCRIPTION_MAX);
    for (bool more = qn_json_first(&tools, &it); more; more = qn_json_next(&it)) {
        struct qn_mcp_up up;
        if (qn_result_tool(&it, &s->count, &up, &schema, &description))
            s->ev.up(s->ctx, &up);
    }
    qn_buf_deinit(&schema);
    qn_buf_deinit(&description);
    const char *next = qn_json_raw_str(&cursor);
    if (*next && strlen(next) <= CURSOR_MAX && ++s->pages < QN_SESSION_PAGES_MAX)
        list_page(s, next, now_ms);
    else
        report_listed(s);
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
    for (size_t i = 0; i < REQUESTS_MAX; i++)
        running += s->requests[i].kind == CALL;
    if (running >= QN_MCP_CALLS_MAX) {
        report_message(s, QN_MCP_UP_FAILED, id, "too many calls of this server run already");
        return;
    }
    const char *text = *arguments ? arguments : "{}";
    qn_err err = qn_json_parse(text, strlen(text), &doc, NULL);
    struct qn_jref root = err ? (struct qn_jref){0} : qn_json_root(doc);
    if (qn_json_type(&root) != QN_JSON_OBJECT) {
        report_message(s, QN_MCP_UP_FAILED, id, "the arguments are not a JSON object");
        qn_json_free(doc);
        return;
    }
    struct request *r = free_request(s);
    *r = (struct request){.kind = CALL,
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
        send_buf(s, r->rpc, &out);
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
    notify(s, text);
}

void qn_session_cancel(struct qn_session *s, int64_t id)
{
    for (size_t i = 0; i < REQUESTS_MAX && !s->down; i++) {
        struct request *r = &s->requests[i];
        if (r->kind != CALL || r->call != id)
            continue;
        tell_cancelled(s, r->rpc, "the user has stopped the answer");
        end_request(r);
    }
}

/* Sends a call that waited for the session. */
static void send_call(struct qn_session *s, struct request *r)
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

/* ---- what the server sends ---- */

static void take_session(struct qn_session *s, const struct qn_jref *result, int64_t now_ms)
{
    struct qn_jref version = qn_json_get(result, "protocolVersion"),
                   info = qn_json_get(result, "serverInfo"),
                   capabilities = qn_json_get(result, "capabilities"),
                   name = qn_json_get(&info, "name"), own = qn_json_get(&info, "version"),
                   tools = qn_json_get(&capabilities, "tools");
    char text[128];
    for (size_t i = 0; i < sizeof revisions / sizeof *revisions; i++)
        if (qn_str_eq(revisions[i], qn_json_raw_str(&version)))
            s->protocol = revisions[i];
    if (!s->protocol) {
        snprintf(text, sizeof text, "the server speaks revision '%.40s' of the protocol, which is "
                 "not supported", qn_json_raw_str(&version));
        qn_session_break(s, text);
        return;
    }
    struct qn_buf clean_name, clean_version;
    qn_buf_init(&clean_name, QN_MCP_WORD_MAX);
    qn_buf_init(&clean_version, QN_MCP_WORD_MAX);
    qn_result_clean(qn_json_raw_str(&name), QN_MCP_WORD_MAX, &clean_name);
    qn_result_clean(qn_json_raw_str(&own), QN_MCP_WORD_MAX, &clean_version);
    s->has_tools = qn_json_type(&tools) == QN_JSON_OBJECT;
    s->ev.up(s->ctx, &(struct qn_mcp_up){.kind = QN_MCP_UP_READY,
                                         .name = qn_buf_cstr(&clean_name),
                                         .version = qn_buf_cstr(&clean_version),
                                         .protocol = s->protocol});
    qn_buf_deinit(&clean_name);
    qn_buf_deinit(&clean_version);
    notify(s, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    qn_session_list(s, now_ms);
    for (size_t i = 0; i < REQUESTS_MAX; i++)
        if (s->requests[i].kind == CALL && s->requests[i].waits && s->requests[i].message)
            send_call(s, &s->requests[i]);
}

/* The sentence of an error object. */
static void error_text(const struct qn_jref *error, const char *what, char *out, size_t n)
{
    struct qn_jref message = qn_json_get(error, "message"), code = qn_json_get(error, "code");
    snprintf(out, n, "%s: %.400s (%lld)", what, qn_json_raw_str(&message),
             (long long)qn_json_raw_f64(&code));
}

static void take_answer(struct qn_session *s, struct request *r, const struct qn_jref *message,
                        int64_t now_ms)
{
    struct qn_jref result = qn_json_get(message, "result"), error = qn_json_get(message, "error");
    const struct request was = *r;
    char text[QN_MCP_MESSAGE_TEXT_MAX];
    bool good = qn_json_type(&result) == QN_JSON_OBJECT;
    if (!good && qn_json_type(&error) == QN_JSON_OBJECT)
        error_text(&error, "the server reports an error", text, sizeof text);
    else
        snprintf(text, sizeof text, "the server sent an answer without a result");
    end_request(r);
    if (was.kind == INITIALIZE && good)
        take_session(s, &result, now_ms);
    else if (was.kind == INITIALIZE)
        qn_session_break(s, text);
    else if (was.kind == LIST && good)
        take_tools(s, &result, now_ms);
    else if (was.kind == LIST)
        report_message(s, QN_MCP_UP_UNLISTED, 0, text);
    else if (good)
        report_result(s, was.call, &result);
    else
        report_message(s, QN_MCP_UP_FAILED, was.call, text);
}

/* The server asks something: it may ping; everything else is not supported. */
static void answer_request(struct qn_session *s, const struct qn_jref *id, const char *method)
{
    struct qn_buf out;
    qn_buf_init(&out, 64 * 1024);
    struct qn_jw w = qn_jw_to(&out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "jsonrpc", "2.0");
    qn_jw_key(&w, "id");
    qn_jw_value(&w, id);
    if (qn_str_eq(method, "ping")) {
        qn_jw_key(&w, "result");
        qn_jw_obj(&w);
        qn_jw_obj_end(&w);
    } else {
        qn_jw_key(&w, "error");
        qn_jw_obj(&w);
        qn_jw_ki64(&w, "code", -32601);
        qn_jw_kstr(&w, "message", "Method not found");
        qn_jw_obj_end(&w);
    }
    qn_jw_obj_end(&w);
    if (!out.overflow)
        send_buf(s, 0, &out);
    qn_buf_deinit(&out);
}

/* A message that answers no request. */
static void count_flood(struct qn_session *s, size_t bytes, int64_t now_ms)
{
    if (now_ms - s->flood_since_ms >= QN_SESSION_FLOOD_MS) {
        s->flood_since_ms = now_ms;
        s->flood_messages = s->flood_bytes = 0;
    }
    s->flood_messages++;
    s->flood_bytes += (int64_t)bytes;
    if (s->flood_messages > QN_SESSION_FLOOD_MESSAGES || s->flood_bytes > QN_SESSION_FLOOD_BYTES)
        qn_session_break(s, "the server sends without pause what was not asked for");
}

static void nonsense(struct qn_session *s)
{
    if (!s->protocol && s->next_rpc == 1 && ++s->banners <= QN_SESSION_BANNERS_MAX)
        return;
    qn_session_break(s, "the server sent something that is not a message of the protocol");
}

static void take_one(struct qn_session *s, const struct qn_jref *m, size_t bytes, int64_t now_ms)
{
    struct qn_jref id = qn_json_get(m, "id"), method = qn_json_get(m, "method");
    enum qn_json_type type = qn_json_type(&id);
    if (qn_json_type(m) != QN_JSON_OBJECT) {
        nonsense(s);
        return;
    }
    if (qn_json_type(&method) == QN_JSON_STRING) {
        const char *name = qn_json_raw_str(&method);
        count_flood(s, bytes, now_ms);
        if (s->down)
            return;
        if (type == QN_JSON_STRING || type == QN_JSON_NUMBER)
            answer_request(s, &id, name);
        else if (qn_str_eq(name, "notifications/tools/list_changed"))
            s->changed = true;
        return;
    }
    if (type != QN_JSON_NUMBER && type != QN_JSON_STRING && type != QN_JSON_NULL) {
        nonsense(s);
        return;
    }
    for (size_t i = 0; i < REQUESTS_MAX && type == QN_JSON_NUMBER; i++)
        if (s->requests[i].kind != NONE && (double)s->requests[i].rpc == qn_json_raw_f64(&id)) {
            take_answer(s, &s->requests[i], m, now_ms);
            return;
        }
    count_flood(s, bytes, now_ms); /* such as the answer to a request that was cancelled */
}

void qn_session_message(struct qn_session *s, const char *text, size_t n, int64_t now_ms)
{
    struct qn_json *doc;
    struct qn_jref it;
    if (s->down)
        return;
    if (n > QN_SESSION_MESSAGE_MAX) {
        qn_session_break(s, "the server sent a message that is too long");
        return;
    }
    if (qn_json_parse(text, n, &doc, NULL)) {
        nonsense(s);
        return;
    }
    struct qn_jref root = qn_json_root(doc);
    if (qn_json_type(&root) == QN_JSON_ARRAY) {
        for (bool more = qn_json_first(&root, &it); more && !s->down; more = qn_json_next(&it))
            take_one(s, &it, n, now_ms);
    } else {
        take_one(s, &root, n, now_ms);
    }
    qn_json_free(doc);
}

/* ---- time, and failures of the transport ---- */

static void time_out(struct qn_session *s, struct request *r)
{
    const struct request was = *r;
    char text[128];
    snprintf(text, sizeof text, "the server did not answer within %lld s",
             (long long)(was.limit_ms + 999) / 1000);
    end_request(r);
    if (was.kind == INITIALIZE) {
        qn_session_break(s, text);
        return;
    }
    if (s->protocol)
        tell_cancelled(s, was.rpc, "timeout");
    report_message(s, was.kind == LIST ? QN_MCP_UP_UNLISTED : QN_MCP_UP_FAILED, was.call, text);
}

int64_t qn_session_tick(struct qn_session *s, int64_t now_ms)
{
    int64_t wait = 60 * 1000;
    for (size_t i = 0; i < REQUESTS_MAX && !s->down; i++) {
        struct request *r = &s->requests[i];
        if (r->kind != NONE && now_ms >= r->due_ms)
            time_out(s, r);
        else if (r->kind != NONE && r->due_ms - now_ms < wait)
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
            report_message(s, QN_MCP_UP_UNLISTED, 0, "the list of tools takes too long");
        s->listed = s->listed || now_ms >= s->start_due_ms;
        if (s->start_due_ms > now_ms && s->start_due_ms - now_ms < wait)
            wait = s->start_due_ms - now_ms;
    }
    return wait;
}

void qn_session_unanswered(struct qn_session *s, int64_t rpc, const char *why)
{
    for (size_t i = 0; i < REQUESTS_MAX && !s->down; i++) {
        struct request *r = &s->requests[i];
        if (r->kind == NONE || r->rpc != rpc)
            continue;
        const struct request was = *r;
        end_request(r);
        if (was.kind == INITIALIZE)
            qn_session_break(s, why);
        else
            report_message(s, was.kind == LIST ? QN_MCP_UP_UNLISTED : QN_MCP_UP_FAILED, was.call,
                           why);
    }
}

static struct request *find_request(struct qn_session *s, int64_t rpc)
{
    for (size_t i = 0; i < REQUESTS_MAX; i++)
        if (s->requests[i].kind != NONE && s->requests[i].rpc == rpc)
            return &s->requests[i];
    return NULL;
}

void qn_session_lost(struct qn_session *s, int64_t rpc, int64_t now_ms)
{
    struct request *r = s->down ? NULL : find_request(s, rpc);
    if (!r)
        return;
    bool present = r->session == s->session;
    if (r->kind == INITIALIZE || (r->kind == CALL && !r->message)) {
        qn_session_unanswered(s, rpc, "the server does not know the session that it has begun");
        return;
    }
    if (r->kind == LIST)
        end_request(r); /* a new session begins with a list */
    else
        r->waits = true;
    if (present && s->protocol) {
        s->protocol = NULL;
        initialize(s, now_ms);
    } else if (s->protocol && r->kind == CALL) {
        send_call(s, r);
    }
}

bool qn_session_is_pending(const struct qn_session *s, int64_t rpc)
{
    for (size_t i = 0; i < REQUESTS_MAX; i++)
        if (s->requests[i].kind != NONE && s->requests[i].rpc == rpc && !s->requests[i].waits)
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
