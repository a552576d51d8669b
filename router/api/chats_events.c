/* See chats_events.h. A client that does not read fast enough is told to read its chats anew
 * ("resync") and dropped, so that it never costs more memory than QN_CHATS_EVENTS_UNREAD_MAX. */
#include "api/chats_events.h"

#include "access/keys.h"
#include "answers/answer.h"
#include "api/api.h"
#include "api/chat_json.h"
#include "base/buf.h"
#include "base/str.h"
#include "http/watchers.h"

#include <stdlib.h>
#include <string.h>

enum { ALIVE_MS = 15 * 1000, EVENT_MAX = 64 * 1024 };

struct watcher {
    struct watcher *next, *prev;
    struct qn_chats_events *events;
    struct qn_watcher counted;
    struct qn_caller caller;
    struct qn_http *http;
    struct qn_stream *stream;
};

struct qn_chats_events {
    struct qn_loop *loop;
    const struct qn_keys *keys;
    struct watcher *first;
    struct qn_timer *alive; /* runs while there are watchers */
    bool stopped;
    struct qn_buf text;
};

struct qn_chats_events *qn_chats_events_new(struct qn_loop *l, const struct qn_keys *keys)
{
    struct qn_chats_events *ev = qn_xcalloc(1, sizeof *ev);
    ev->loop = l;
    ev->keys = keys;
    qn_buf_init(&ev->text, EVENT_MAX);
    return ev;
}

void qn_chats_events_free(struct qn_chats_events *ev)
{
    if (!ev)
        return;
    qn_timer_stop(ev->alive);
    qn_buf_deinit(&ev->text);
    free(ev);
}

static void forget(struct watcher *w)
{
    struct qn_chats_events *ev = w->events;
    if (w->next)
        w->next->prev = w->prev;
    if (w->prev)
        w->prev->next = w->next;
    else
        ev->first = w->next;
    if (!ev->first) {
        qn_timer_stop(ev->alive);
        ev->alive = NULL;
    }
    qn_watchers_remove(&w->counted);
    free(w);
}

static void gone(void *ctx)
{
    forget(ctx);
}

static void end(struct watcher *w)
{
    qn_http_on_gone(w->http, NULL, NULL);
    qn_stream_end(w->stream);
    forget(w);
}

static void resync(struct watcher *w)
{
    static const char event[] = "data: {\"type\":\"resync\"}\n\n";
    qn_stream_write(w->stream, event, sizeof event - 1);
    end(w);
}

void qn_chats_events_stop(struct qn_chats_events *ev)
{
    ev->stopped = true;
    while (ev->first)
        end(ev->first);
}

/* The client's key may have been removed since it connected, or be needed now. */
static bool may_read(const struct watcher *w)
{
    const struct qn_keys *keys = w->events->keys;
    return qn_keys_count(keys) == 0 || qn_keys_have(keys, w->caller.key);
}

static void alive(void *ctx)
{
    static const char comment[] = ": ka\n\n";
    struct qn_chats_events *ev = ctx;
    for (struct watcher *w = ev->first, *next; w; w = next) {
        next = w->next;
        if (!may_read(w))
            end(w);
        else if (qn_stream_len(w->stream) == 0)
            qn_stream_write(w->stream, comment, sizeof comment - 1);
    }
}

static void write_event(struct qn_buf *out, const struct qn_chats_event *event)
{
    static const char *const types[] = {
        [QN_CHATS_CHAT] = "chat",       [QN_CHATS_CHAT_GONE] = "gone",
        [QN_CHATS_MESSAGE] = "message", [QN_CHATS_MESSAGE_GONE] = "gone",
        [QN_CHATS_STATE] = "answering", [QN_CHATS_PRESETS] = "presets",
        [QN_CHATS_ALL] = "resync",      [QN_CHATS_MCP] = "mcp"};
    struct qn_jw w = qn_jw_to(out);
    qn_buf_str(out, "data: ");
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "type", types[event->change]);
    if (event->change == QN_CHATS_CHAT) {
        qn_jw_key(&w, "chat");
        qn_api_chat_write(&w, event->chat);
    } else if (event->chat_id) {
        qn_jw_kstr(&w, "chat", event->chat_id);
    }
    if (event->message_id)
        qn_jw_kstr(&w, "message", event->message_id);
    if (event->change == QN_CHATS_STATE || event->change == QN_CHATS_MESSAGE)
        qn_jw_kstr(&w, "state", qn_chat_state_name(event->state));
    qn_jw_obj_end(&w);
    qn_buf_str(out, "\n\n");
}

void qn_chats_events_tell(void *ctx, const struct qn_chats_event *event)
{
    struct qn_chats_events *ev = ctx;
    if (!ev->first)
        return;
    qn_buf_clear(&ev->text);
    write_event(&ev->text, event);
    for (struct watcher *w = ev->first, *next; w; w = next) {
        next = w->next;
        if (!qn_str_eq(w->caller.owner, event->owner))
            continue;
        if (!may_read(w))
            end(w);
        else if (ev->text.overflow || qn_stream_len(w->stream) > QN_CHATS_EVENTS_UNREAD_MAX)
            resync(w);
        else
            qn_stream_write(w->stream, ev->text.data, ev->text.len);
    }
}

void qn_api_chats_events(const struct qn_chats_api *api, struct qn_http *h, const char *id)
{
    struct qn_chats_events *ev = api->events;
    struct qn_error e = {0};
    struct watcher *w = qn_xcalloc(1, sizeof *w);
    (void)id;
    qn_auth_caller(api->serving->auth, h, &w->caller);
    qn_err err = ev->stopped ? qn_fail(&e, QN_EBUSY, "the server is stopping") : QN_OK;
    if (!err)
        err = qn_watchers_add(api->serving->watchers, w->caller.owner,
                              "GET /internal/chats returns all chats as they are", &w->counted, &e);
    if (err) {
        free(w);
        qn_answer_error(h, &e);
        return;
    }
    qn_http_set_header(h, "Cache-Control", "no-cache");
    if (qn_str_eq(qn_http_method(h), "HEAD")) {
        qn_watchers_remove(&w->counted);
        free(w);
        qn_http_reply(h, 200, "text/event-stream", "", 0);
        return;
    }
    w->events = ev;
    w->http = h;
    w->next = ev->first;
    if (w->next)
        w->next->prev = w;
    ev->first = w;
    if (!ev->alive)
        ev->alive = qn_timer_start(ev->loop, ALIVE_MS, ALIVE_MS, alive, ev);
    qn_http_on_gone(h, gone, w);
    w->stream = qn_http_stream(h, 200, "text/event-stream", NULL, NULL);
    static const char open[] = ": open\n\n";
    qn_stream_write(w->stream, open, sizeof open - 1);
}
