/* logs/stream[/MODEL]: streams the log as it is written, over a WebSocket in the form of Lemonade's
 * clients (logs.subscribe, then one logs.snapshot and a logs.entry for each further line), or, as a
 * reply to a plain GET, as server-sent events or lines of text.
 *
 * A reader has a position in the log. It reads more when there are new lines and the earlier ones
 * have been sent, a limited amount in each turn of the loop; the log's ring is its buffer. A reader
 * that falls QN_LOGS_LINES behind has lost lines; it is told so and dropped, without effect on
 * other readers. A reader is also dropped when its key is removed, or when it has no key and the
 * first key is created. */
#include "telemetry/logs.h"

#include "access/auth.h"
#include "answers/answer.h"
#include "api/api.h"
#include "api/log_query.h"
#include "base/log.h"
#include "base/str.h"
#include "http/watchers.h"
#include "http/ws.h"
#include "telemetry/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECE_BYTES = 16 * 1024, /* of entries that are read at once */
    TURN_BYTES = 64 * 1024,  /* sent to a reader in one turn of the loop */
    PIECE_MAX = PIECE_BYTES + 8 * (QN_LOGS_LINE_MAX + QN_LOGS_TAG_MAX) + 1024,
    SOCKET_HIGH = 64 * 1024, /* unsent bytes at which a client is sent no more */
    ALIVE_MS = 15 * 1000,    /* between comments while there are no lines */
    MESSAGE_MAX = 64 * 1024, /* of a client's message */
    /* Arena for a request's query, some values of which are looked up. */
    WORDS_MAX = 64 * QN_HTTP_HEAD_MAX
};

struct reader {
    const struct qn_watch_api *api;
    struct qn_caller caller; /* the authenticated client */
    struct qn_logs_follower follower;
    struct qn_log_query query;
    struct qn_buf piece;
    bool following;
    int64_t backlog_last; /* the newest line when the reader arrived */
    /* Over HTTP: */
    struct qn_watcher counted;
    struct qn_http *http;
    struct qn_stream *stream;
    struct qn_timer *alive;
    bool text;
    /* Over a WebSocket: */
    struct qn_ws_session *socket;
    bool in_snapshot;
    struct qn_jw w; /* of the snapshot: tracks whether a comma is needed */
};

static struct reader *reader_new(const struct qn_watch_api *api, void (*more)(void *ctx))
{
    struct reader *r = qn_xcalloc(1, sizeof *r);
    r->api = api;
    r->follower = (struct qn_logs_follower){.more = more, .ctx = r};
    qn_buf_init(&r->piece, PIECE_MAX);
    return r;
}

static void reader_free(struct reader *r)
{
    qn_logs_unfollow(r->api->telemetry->logs, &r->follower);
    qn_watchers_remove(&r->counted);
    qn_timer_stop(r->alive);
    qn_log_query_deinit(&r->query);
    qn_buf_deinit(&r->piece);
    free(r);
}

static void follow(struct reader *r)
{
    if (!r->following)
        qn_logs_follow(r->api->telemetry->logs, r->api->serving->loop, &r->follower);
    r->following = true;
}

/* Reads more lines into r->piece. Lines of the backlog that are overwritten while it is sent are
 * skipped silently; returns the number of further lines that are lost. */
static int64_t read_on(struct reader *r, int64_t last, qn_logs_fn fn)
{
    int64_t before = r->query.next;
    int64_t lost =
        qn_logs_read(r->api->telemetry->logs, &r->query.next, last, &r->query.filter, fn, r);
    return lost > 0 && before + lost > r->backlog_last + 1 ? lost : 0;
}

/* Returns how many lines the reader has lost because it read too slowly. */
static int64_t lost_to(struct reader *r)
{
    int64_t first = qn_logs_range(r->api->telemetry->logs).first;
    return first > r->query.next && first > r->backlog_last + 1 ? first - r->query.next : 0;
}

/* The reader gets no more log lines, in particular not the line about itself. */
static void too_slow(struct reader *r, int64_t lost, char *out, size_t n)
{
    qn_logs_unfollow(r->api->telemetry->logs, &r->follower);
    snprintf(out, n,
             "too slow: %lld lines were overwritten before they could be sent (%d are kept)",
             (long long)lost, QN_LOGS_LINES);
    qn_warn("logs", "reader dropped: it is %lld lines too slow lines_kept=%d", (long long)lost,
            QN_LOGS_LINES);
}

static const char key_gone[] = "its key has been removed, or the log needs a key now";

/* Repeats the access check, as the reader's rights may have changed since it connected. */
static bool may_read(const struct reader *r)
{
    const struct qn_keys *keys = r->api->keys;
    return qn_keys_count(keys) == 0 || qn_keys_have(keys, r->caller.key);
}

static void write_error(struct qn_buf *out, const char *message, const char *type)
{
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "type", "error");
    qn_jw_key(&w, "error");
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "message", message);
    qn_jw_kstr(&w, "type", type);
    qn_jw_obj_end(&w);
    qn_jw_obj_end(&w);
}

/* Writes the position from which a reader can continue after an interruption, and the number of
 * lines that it has missed. */
static void write_place(struct qn_jw *w, struct reader *r, const struct qn_logs_range *kept)
{
    qn_jw_kstr(w, "log_id", qn_logs_id(r->api->telemetry->logs));
    qn_jw_ki64(w, "first_seq", kept->first);
    qn_jw_ki64(w, "last_seq", kept->last);
    qn_jw_ki64(w, "lost", r->query.lost);
}

/* ---- over HTTP ---- */

static bool add_event(void *ctx, const struct qn_logs_entry *entry)
{
    struct reader *r = ctx;
    if (r->text) {
        qn_buf_fmt(&r->piece, "%s\n", entry->line);
    } else {
        struct qn_jw w = qn_jw_to(&r->piece);
        qn_buf_fmt(&r->piece,
                   "id: %s-%lld\nevent: logs.entry\ndata: ", qn_logs_id(r->api->telemetry->logs),
                   (long long)entry->seq);
        qn_logs_entry_write(&w, entry);
        qn_buf_str(&r->piece, "\n\n");
    }
    return r->piece.len < PIECE_BYTES;
}

static void end_stream(struct reader *r)
{
    qn_http_on_gone(r->http, NULL, NULL);
    qn_stream_end(r->stream);
    reader_free(r);
}

static void stream_error(struct reader *r, const char *message, const char *type)
{
    if (r->text)
        return; /* the client would take it for a line of the log */
    qn_buf_clear(&r->piece);
    qn_buf_str(&r->piece, "event: error\ndata: ");
    write_error(&r->piece, message, type);
    qn_buf_str(&r->piece, "\n\n");
    qn_stream_write(r->stream, r->piece.data, r->piece.len);
}

static void stream_more(void *ctx)
{
    struct reader *r = ctx;
    if (!may_read(r)) {
        stream_error(r, key_gone, "unauthorized");
        end_stream(r);
        return;
    }
    int64_t lost = lost_to(r);
    size_t sent = 0;
    while (!lost && !qn_stream_full(r->stream) && sent < TURN_BYTES) {
        qn_buf_clear(&r->piece);
        lost = read_on(r, INT64_MAX, add_event);
        if (!r->piece.len)
            break;
        if (!lost)
            qn_stream_write(r->stream, r->piece.data, r->piece.len);
        sent += r->piece.len;
    }
    bool more = sent >= TURN_BYTES;
    if (more)
        qn_logs_wake(r->api->telemetry->logs);
    if (lost) {
        char message[160];
        too_slow(r, lost, message, sizeof message);
        stream_error(r, message, "slow_reader");
    }
    if (lost || (r->api->serving->stopping && !more))
        end_stream(r);
}

/* Must not write to the stream itself, so it posts a notification. */
static void stream_drained(void *ctx)
{
    struct reader *r = ctx;
    qn_logs_wake(r->api->telemetry->logs);
}

static void stream_gone(void *ctx)
{
    reader_free(ctx);
}

static void stream_alive(void *ctx)
{
    struct reader *r = ctx;
    static const char comment[] = ": ka\n\n";
    if (!r->text && qn_stream_len(r->stream) == 0)
        qn_stream_write(r->stream, comment, sizeof comment - 1);
}

static const char *http_query(void *ctx, const char *name)
{
    return qn_http_query(ctx, name);
}

/* An EventSource that lost its connection sends "ID-SEQ" of the last event that it received. */
static void read_last_event(struct qn_http *h, struct qn_log_wish *wish)
{
    const char *last = qn_http_header(h, "Last-Event-ID");
    int64_t seq;
    if (!last || strlen(last) < QN_LOGS_ID_DIGITS + 2 || last[QN_LOGS_ID_DIGITS] != '-' ||
        !qn_parse_i64(last + QN_LOGS_ID_DIGITS + 1, &seq) || seq < 0)
        return;
    wish->log_id = qn_arena_strndup(qn_http_arena(h), last, QN_LOGS_ID_DIGITS);
    wish->after = seq;
}

static bool wants_text(const struct qn_http *h)
{
    const char *accept = qn_http_header(h, "Accept");
    return accept && strstr(accept, "text/plain") && !strstr(accept, "text/event-stream");
}

void qn_api_log_stream(const struct qn_watch_api *api, struct qn_http *h, const char *id)
{
    struct qn_log_wish wish = {.lines = -1};
    struct qn_error e = {0};
    struct reader *r = reader_new(api, stream_more);
    qn_auth_caller(api->serving->auth, h, &r->caller);
    qn_err err = qn_log_wish_read(http_query, h, &wish, &e);
    if (id)
        wish.model = id;
    read_last_event(h, &wish);
    if (!err)
        err = qn_log_query_init(api, &r->caller, &wish, &r->query, &e);
    if (!err && api->serving->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (!err)
        err = qn_watchers_add(api->serving->watchers, r->caller.owner,
                              "GET /v1/logs returns lines without a stream", &r->counted, &e);
    if (err) {
        qn_answer_error(h, &e);
        reader_free(r);
        return;
    }
    r->http = h;
    r->text = wants_text(h);
    const char *type = r->text ? "text/plain; charset=utf-8" : "text/event-stream";
    qn_http_set_header(h, "Cache-Control", "no-cache");
    if (qn_str_eq(qn_http_method(h), "HEAD")) {
        qn_http_reply(h, 200, type, "", 0);
        reader_free(r);
        return;
    }
    qn_http_on_gone(h, stream_gone, r);
    r->stream = qn_http_stream(h, 200, type, stream_drained, r);
    struct qn_logs_range kept = qn_logs_range(api->telemetry->logs);
    r->backlog_last = kept.last;
    if (!r->text) {
        struct qn_jw w = qn_jw_to(&r->piece);
        qn_buf_str(&r->piece, "event: logs.open\ndata: ");
        qn_jw_obj(&w);
        write_place(&w, r, &kept);
        qn_jw_obj_end(&w);
        qn_buf_str(&r->piece, "\n\n");
        qn_stream_write(r->stream, r->piece.data, r->piece.len);
    }
    r->alive = qn_timer_start(api->serving->loop, ALIVE_MS, ALIVE_MS, stream_alive, r);
    follow(r);
    stream_more(r);
}

/* ---- over a WebSocket ---- */

static void say(struct reader *r)
{
    qn_ws_send(r->socket, QN_WEBSOCKET_TEXT, r->piece.data, r->piece.len);
}

static void say_error(struct reader *r, const char *message)
{
    qn_buf_clear(&r->piece);
    write_error(&r->piece, message, "invalid_request_error");
    say(r);
}

static bool add_to_snapshot(void *ctx, const struct qn_logs_entry *entry)
{
    struct reader *r = ctx;
    qn_logs_entry_write(&r->w, entry);
    return r->piece.len < PIECE_BYTES;
}

static bool add_message(void *ctx, const struct qn_logs_entry *entry)
{
    struct reader *r = ctx;
    struct qn_jw w = qn_jw_to(&r->piece);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "type", "logs.entry");
    qn_jw_key(&w, "entry");
    qn_logs_entry_write(&w, entry);
    qn_jw_obj_end(&w);
    return false; /* one message is one entry */
}

static bool may_take(const struct reader *r, size_t sent)
{
    return qn_ws_waiting(r->socket) < SOCKET_HIGH && sent < TURN_BYTES;
}

/* The snapshot is one message, sent in pieces as the client reads them. Meanwhile the client's
 * messages are not read, because a reply could not be sent within the snapshot. */
static int64_t more_snapshot(struct reader *r, size_t *sent)
{
    int64_t lost = 0;
    while (r->in_snapshot && !lost && may_take(r, *sent)) {
        qn_buf_clear(&r->piece);
        lost = read_on(r, r->backlog_last, add_to_snapshot);
        r->in_snapshot = r->query.next <= r->backlog_last;
        if (!r->in_snapshot)
            qn_buf_str(&r->piece, "]}");
        if (!lost)
            qn_ws_send_piece(r->socket, QN_WEBSOCKET_TEXT, false, !r->in_snapshot, r->piece.data,
                             r->piece.len);
        *sent += r->piece.len;
    }
    if (!r->in_snapshot)
        qn_ws_pause(r->socket, false);
    return lost;
}

static bool shut_out(struct reader *r)
{
    if (may_read(r))
        return false;
    qn_logs_unfollow(r->api->telemetry->logs, &r->follower);
    qn_ws_close(r->socket, QN_WEBSOCKET_POLICY, key_gone);
    return true;
}

static void socket_more(void *ctx)
{
    struct reader *r = ctx;
    if (shut_out(r))
        return;
    size_t sent = 0;
    int64_t lost = lost_to(r);
    if (!lost && r->in_snapshot)
        lost = more_snapshot(r, &sent);
    while (!r->in_snapshot && !lost && may_take(r, sent)) {
        qn_buf_clear(&r->piece);
        lost = read_on(r, INT64_MAX, add_message);
        if (!r->piece.len)
            break;
        if (!lost)
            say(r);
        sent += r->piece.len;
    }
    if (sent >= TURN_BYTES)
        qn_logs_wake(r->api->telemetry->logs);
    if (lost) {
        char message[160];
        too_slow(r, lost, message, sizeof message);
        qn_metric_add(r->api->telemetry->metrics, QN_M_SOCKETS_DROPPED, 1);
        qn_ws_close(r->socket, QN_WEBSOCKET_POLICY, message);
    }
}

/* Sources of a subscription's parameters, and memory for them until they are parsed. */
struct asked {
    const struct qn_ws_session *socket;
    struct qn_arena *arena;
};

static const char *socket_query(void *ctx, const char *name)
{
    const struct asked *a = ctx;
    return qn_ws_query(a->socket, name, a->arena);
}

/* Parameters in the address are defaults for those in the message. */
static qn_err read_subscription(struct asked *asked, const struct qn_jref *root,
                                struct qn_log_wish *wish, struct qn_error *e)
{
    struct qn_jref after = qn_json_get(root, "after_seq"), lines = qn_json_get(root, "lines"),
                   model = qn_json_get(root, "model"), level = qn_json_get(root, "level"),
                   log_id = qn_json_get(root, "log_id");
    *wish = (struct qn_log_wish){.lines = -1};
    qn_err err = qn_log_wish_read(socket_query, asked, wish, e);
    if (qn_ws_id(asked->socket))
        wish->model = qn_ws_id(asked->socket);
    if (!err)
        err = qn_json_i64_opt(&after, 0, INT64_C(1) << 53, &wish->after, e);
    if (!err)
        err = qn_json_i64_opt(&lines, 0, INT32_MAX, &wish->lines, e);
    if (!err)
        err = qn_json_str_opt(&model, &wish->model, e);
    if (!err)
        err = qn_json_str_opt(&level, &wish->level, e);
    if (!err)
        err = qn_json_str_opt(&log_id, &wish->log_id, e);
    return err;
}

static qn_err subscribe(struct reader *r, const struct qn_jref *root, struct qn_error *e)
{
    struct qn_log_wish wish;
    struct qn_log_query query;
    struct asked asked = {r->socket, qn_arena_new(WORDS_MAX)};
    qn_err err = read_subscription(&asked, root, &wish, e);
    if (!err)
        err = qn_log_query_init(r->api, &r->caller, &wish, &query, e);
    qn_arena_free(asked.arena);
    if (err)
        return err;
    qn_log_query_deinit(&r->query);
    r->query = query;
    struct qn_logs_range kept = qn_logs_range(r->api->telemetry->logs);
    r->backlog_last = kept.last;
    r->in_snapshot = true;
    qn_buf_clear(&r->piece);
    r->w = qn_jw_to(&r->piece);
    qn_jw_obj(&r->w);
    qn_jw_kstr(&r->w, "type", "logs.snapshot");
    write_place(&r->w, r, &kept);
    qn_jw_key(&r->w, "entries");
    qn_jw_arr(&r->w);
    qn_ws_pause(r->socket, true);
    qn_ws_send_piece(r->socket, QN_WEBSOCKET_TEXT, true, false, r->piece.data, r->piece.len);
    follow(r);
    socket_more(r);
    return QN_OK;
}

static void socket_opened(void *app, struct qn_ws_session *s)
{
    struct reader *r = reader_new(app, socket_more);
    r->socket = s;
    r->caller = *qn_ws_caller(s);
    qn_ws_set_ctx(s, r);
}

static void socket_message(struct qn_ws_session *s, bool text, const char *data, size_t n)
{
    struct reader *r = qn_ws_ctx(s);
    struct qn_json *doc = NULL;
    struct qn_error e = {0};
    if (shut_out(r))
        return;
    if (!text || qn_json_parse(data, n, &doc, &e)) {
        say_error(r, text ? "the message is not JSON" : "messages must be text");
        return;
    }
    struct qn_jref root = qn_json_root(doc), type = qn_json_get(&root, "type");
    if (!qn_str_eq(qn_json_raw_str(&type), "logs.subscribe")) {
        char message[160];
        snprintf(message, sizeof message, "unknown message type '%.80s': expected logs.subscribe",
                 qn_json_raw_str(&type));
        say_error(r, message);
    } else if (subscribe(r, &root, &e)) {
        say_error(r, e.message);
    }
    qn_json_free(doc);
}

static void socket_drained(struct qn_ws_session *s)
{
    struct reader *r = qn_ws_ctx(s);
    if (r->following)
        socket_more(r);
}

static void socket_closed(struct qn_ws_session *s)
{
    reader_free(qn_ws_ctx(s));
}

static const char *const subprotocols[] = {"lemonade-realtime", NULL};

const struct qn_ws_route qn_log_socket = {
    .subprotocols = subprotocols,
    .message_max = MESSAGE_MAX,
    .waiting_max = 16 * SOCKET_HIGH,
    .opened = socket_opened,
    .message = socket_message,
    .drained = socket_drained,
    .closed = socket_closed,
};
