/* Handles the messages of the server; see session.h and session_private.h. */
#include "mcp/session_private.h"

#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CURSOR_MAX = 4096 };

/* ---- results and tools ---- */

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

static void take_tools(struct qn_session *s, const struct qn_jref *result, int64_t now_ms)
{
    struct qn_jref tools = qn_json_get(result, "tools"), it,
                   cursor = qn_json_get(result, "nextCursor");
    struct qn_buf schema, description;
    if (qn_json_type(&tools) != QN_JSON_ARRAY) {
        qn_session_report(s, QN_MCP_UP_UNLISTED, 0, "the server's list of tools is not a list");
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
        qn_session_list_page(s, next, now_ms);
    else
        qn_session_report_listed(s);
}

/* ---- messages of the server ---- */

static void take_session(struct qn_session *s, const struct qn_jref *result, int64_t now_ms)
{
    struct qn_jref version = qn_json_get(result, "protocolVersion"),
                   info = qn_json_get(result, "serverInfo"),
                   capabilities = qn_json_get(result, "capabilities"),
                   name = qn_json_get(&info, "name"), own = qn_json_get(&info, "version"),
                   tools = qn_json_get(&capabilities, "tools");
    char text[128];
    for (size_t i = 0; i < sizeof qn_session_revisions / sizeof *qn_session_revisions; i++)
        if (qn_str_eq(qn_session_revisions[i], qn_json_raw_str(&version)))
            s->protocol = qn_session_revisions[i];
    if (!s->protocol) {
        snprintf(text, sizeof text,
                 "the server speaks revision '%.40s' of the protocol, which is "
                 "not supported",
                 qn_json_raw_str(&version));
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
    qn_session_notify(s, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    qn_session_list(s, now_ms);
    for (size_t i = 0; i < QN_SESSION_REQUESTS_MAX; i++)
        if (s->requests[i].kind == QN_SESSION_CALL && s->requests[i].waits &&
            s->requests[i].message)
            qn_session_send_call(s, &s->requests[i]);
}

/* Formats a JSON-RPC error object as a sentence. */
static void error_text(const struct qn_jref *error, const char *what, char *out, size_t n)
{
    struct qn_jref message = qn_json_get(error, "message"), code = qn_json_get(error, "code");
    snprintf(out, n, "%s: %.400s (%lld)", what, qn_json_raw_str(&message),
             (long long)qn_json_raw_f64(&code));
}

static void take_answer(struct qn_session *s, struct qn_session_request *r,
                        const struct qn_jref *message, int64_t now_ms)
{
    struct qn_jref result = qn_json_get(message, "result"), error = qn_json_get(message, "error");
    const struct qn_session_request was = *r;
    char text[QN_MCP_MESSAGE_TEXT_MAX];
    bool good = qn_json_type(&result) == QN_JSON_OBJECT;
    if (!good && qn_json_type(&error) == QN_JSON_OBJECT)
        error_text(&error, "the server reports an error", text, sizeof text);
    else
        snprintf(text, sizeof text, "the server sent an answer without a result");
    qn_session_end_request(r);
    if (was.kind == QN_SESSION_INITIALIZE && good)
        take_session(s, &result, now_ms);
    else if (was.kind == QN_SESSION_INITIALIZE)
        qn_session_break(s, text);
    else if (was.kind == QN_SESSION_LIST && good)
        take_tools(s, &result, now_ms);
    else if (was.kind == QN_SESSION_LIST)
        qn_session_report(s, QN_MCP_UP_UNLISTED, 0, text);
    else if (good)
        report_result(s, was.call, &result);
    else
        qn_session_report(s, QN_MCP_UP_FAILED, was.call, text);
}

/* Answers a request of the server: `ping` succeeds; any other method gets the error "Method not
 * found". */
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
        qn_session_send(s, 0, &out);
    qn_buf_deinit(&out);
}

/* Counts a message that is not a response to a pending request. Ends the session if there are too
 * many such messages. */
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
    for (size_t i = 0; i < QN_SESSION_REQUESTS_MAX && type == QN_JSON_NUMBER; i++)
        if (s->requests[i].kind != QN_SESSION_NONE &&
            (double)s->requests[i].rpc == qn_json_raw_f64(&id)) {
            take_answer(s, &s->requests[i], m, now_ms);
            return;
        }
    count_flood(s, bytes, now_ms); /* such as a late response to a request that was cancelled */
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
