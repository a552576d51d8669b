/* GET /internal/messages/{id}/stream?from=PLACE: the records of an answer (answering/records.h) as
 * server-sent events, from the beginning or from a place on, to its end. The id of each event is
 * the place behind it, from which a client goes on after an interruption (also Last-Event-ID).
 *
 * A reader has a place in the answer. It is sent more when there is more and the earlier records
 * have left the process, a limited amount in each turn of the loop; the answer itself is the buffer
 * of all its readers. */
#include "answering/answering.h"

#include "access/auth.h"
#include "access/keys.h"
#include "answers/answer.h"
#include "api/api.h"
#include "api/chat_json.h"
#include "base/str.h"
#include "http/watchers.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    TURN_BYTES = 64 * 1024, /* sent to a reader in one turn of the loop */
    ALIVE_MS = 15 * 1000,   /* between comments while there are no records */
    EVENT_MAX = 2 * QN_CHATS_JSON_MAX + 16 * QN_ANSWER_RECORD_TEXT_MAX
};

struct reader {
    const struct qn_answering_api *api;
    struct qn_http *http;
    struct qn_stream *stream; /* NULL: the head has not been sent */
    struct qn_watcher counted;
    struct qn_caller caller;
    char id[QN_CHATS_ID_DIGITS + 1];
    struct qn_answer_watcher watcher; /* .answer NULL: the answer is finished, in `arena` */
    struct qn_arena *arena;
    struct qn_answer_view view;
    struct qn_answer_cursor cursor;
    struct qn_timer *alive, *again;
    struct qn_buf event;
    bool reading; /* the database has been asked */
    bool gone;    /* the client has disconnected meanwhile */
};

static void reader_free(struct reader *r)
{
    qn_answering_unwatch(&r->watcher);
    qn_watchers_remove(&r->counted);
    qn_timer_stop(r->alive);
    qn_timer_stop(r->again);
    qn_arena_free(r->arena);
    qn_buf_deinit(&r->event);
    free(r);
}

static void end_stream(struct reader *r)
{
    struct qn_stream *stream = r->stream;
    qn_http_on_gone(r->http, NULL, NULL);
    reader_free(r);
    qn_stream_end(stream);
}

/* The reader's rights may have changed since it connected. */
static bool may_read(const struct reader *r)
{
    const struct qn_keys *keys = r->api->keys;
    return qn_keys_count(keys) == 0 || qn_keys_have(keys, r->caller.key);
}

/* Writes the next record as an event. False: there is none. */
static bool write_event(struct reader *r)
{
    const struct qn_answer_view *v = r->watcher.answer ? qn_answering_view(&r->watcher) : &r->view;
    char place[QN_ANSWER_PLACE_MAX];
    qn_buf_clear(&r->event);
    qn_buf_str(&r->event, "data: ");
    if (!qn_answer_record(v, &r->cursor, &r->event))
        return false;
    qn_answer_place_write(&r->cursor, place);
    qn_buf_fmt(&r->event, "\nid: %s\n\n", place);
    qn_stream_write(r->stream, r->event.data, r->event.len);
    return true;
}

static void send_more(void *ctx);

/* Goes on from the loop, not from within a callback of the stream. */
static void send_again(struct reader *r)
{
    if (!r->again)
        r->again = qn_timer_start(r->api->serving->loop, 0, 0, send_more, r);
}

static void drained(void *ctx)
{
    send_again(ctx);
}

static void send_more(void *ctx)
{
    struct reader *r = ctx;
    size_t sent = 0;
    qn_timer_stop(r->again);
    r->again = NULL;
    if (!may_read(r)) {
        end_stream(r);
        return;
    }
    while (!qn_stream_full(r->stream) && sent < TURN_BYTES && write_event(r))
        sent += r->event.len;
    if (r->cursor.end)
        end_stream(r);
    else if (sent >= TURN_BYTES)
        send_again(r);
}

static void more(void *ctx)
{
    struct reader *r = ctx;
    if (!r->again)
        send_more(r);
}

static void gone(void *ctx)
{
    struct reader *r = ctx;
    r->gone = true;
    if (!r->reading)
        reader_free(r);
}

static void alive(void *ctx)
{
    struct reader *r = ctx;
    static const char comment[] = ": ka\n\n";
    if (qn_stream_len(r->stream) == 0)
        qn_stream_write(r->stream, comment, sizeof comment - 1);
}

static void open_stream(struct reader *r)
{
    qn_http_set_header(r->http, "Cache-Control", "no-cache");
    if (qn_str_eq(qn_http_method(r->http), "HEAD")) {
        struct qn_http *h = r->http;
        qn_http_on_gone(h, NULL, NULL);
        reader_free(r);
        qn_http_reply(h, 200, "text/event-stream", "", 0);
        return;
    }
    r->stream = qn_http_stream(r->http, 200, "text/event-stream", drained, r);
    r->alive = qn_timer_start(r->api->serving->loop, ALIVE_MS, ALIVE_MS, alive, r);
    send_more(r);
}

static bool watch(struct reader *r)
{
    return qn_answering_watch(r->api->answering, r->caller.owner, r->id, &r->watcher);
}

/* The database has been asked for a message that was not in progress; it may be now. */
static void read_message(void *ctx, const struct qn_chats_found *found)
{
    struct reader *r = ctx;
    r->reading = false;
    if (r->gone) {
        reader_free(r);
        return;
    }
    if (found->e) {
        struct qn_http *h = r->http;
        qn_http_on_gone(h, NULL, NULL);
        reader_free(r);
        qn_api_chat_problem(h, found->e);
        return;
    }
    if (!watch(r)) {
        r->view = qn_answer_view_of(&found->messages[0]);
        r->arena = *found->arena;
        *found->arena = NULL;
    }
    open_stream(r);
}

static qn_err read_place(struct qn_http *h, struct qn_answer_cursor *out, struct qn_error *e)
{
    const char *from = qn_http_query(h, "from"), *last = qn_http_header(h, "Last-Event-ID");
    if (last && *last) /* of a client that connects again with the same address */
        from = last;
    if (qn_answer_place_read(from ? from : "", out))
        return QN_OK;
    return qn_fail_param(e, QN_EINVAL, "from",
                         "from: '%.60s' is not the id of an event of this stream", from);
}

void qn_api_answer_stream(const struct qn_answering_api *api, struct qn_http *h, const char *id)
{
    struct qn_error e = {0};
    struct qn_answer_cursor cursor;
    qn_err err = qn_api_chat_id_check(id, "message", &e);
    if (!err)
        err = read_place(h, &cursor, &e);
    if (err) {
        qn_answer_error(h, &e);
        return;
    }
    struct reader *r = qn_xcalloc(1, sizeof *r);
    r->api = api;
    r->http = h;
    r->cursor = cursor;
    r->watcher = (struct qn_answer_watcher){.more = more, .ctx = r};
    snprintf(r->id, sizeof r->id, "%s", id);
    qn_buf_init(&r->event, EVENT_MAX);
    qn_auth_caller(api->serving->auth, h, &r->caller);
    if (qn_watchers_add(api->serving->watchers, r->caller.owner,
                        "the answer is written all the same, and GET /internal/chats/ID returns it",
                        &r->counted, &e)) {
        reader_free(r);
        qn_answer_error(h, &e);
        return;
    }
    qn_http_on_gone(h, gone, r);
    if (watch(r)) {
        open_stream(r);
        return;
    }
    r->reading = true;
    qn_chats_read_message(api->chats, r->caller.owner, r->id, read_message, r);
}
