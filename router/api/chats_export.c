/* GET internal/chats/export: one chat or all, as JSON or Markdown. A worker writes the next piece
 * when the client has read the one before, and chats are read one at a time, so that memory depends
 * on the longest chat alone. */
#include "api/api.h"

#include "answers/answer.h"
#include "api/chat_json.h"
#include "api/chats_ask.h"
#include "api/chats_load.h"
#include "base/buf.h"
#include "base/str.h"
#include "chats/export.h"
#include "io/loop.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_MAX = 256 * 1024 * 1024 }; /* a message is written at once */

struct exporting {
    struct qn_waiting client;
    const struct qn_chats_api *api;
    char owner[QN_OWNER_MAX + 1];
    bool all, markdown;
    char *place; /* of the chat that was read last; NULL: none */
    struct qn_chats_export *export;
    struct qn_stream *stream; /* NULL: the reply has not begun */
    struct qn_arena *chat;    /* memory of the chat that is being written; NULL: none */
    bool more;                /* of this chat */
    bool working;             /* a worker, or the database, has a task */
    struct qn_buf piece;
};

static void exporting_free(void *ctx)
{
    struct exporting *x = ctx;
    qn_chats_load_end(x->api->load, QN_CHATS_EXPORTING, x->owner);
    qn_chats_export_free(x->export);
    qn_arena_free(x->chat);
    qn_buf_deinit(&x->piece);
    free(x->place);
    free(x);
}

/* Ends the reply, unless the client has disconnected. */
static void finish(struct exporting *x, bool whole)
{
    struct qn_http *h = x->client.http;
    if (h) {
        qn_http_on_gone(h, NULL, NULL);
        if (whole)
            qn_stream_end(x->stream);
        else
            qn_http_abort(h);
    }
    exporting_free(x);
}

static void go_on(struct exporting *x);

/* Runs on a worker. */
static void write_piece(void *ctx)
{
    struct exporting *x = ctx;
    x->more = qn_chats_export_piece(x->export, &x->piece);
    if (!x->more) {
        qn_arena_free(x->chat);
        x->chat = NULL;
    }
}

static void piece_written(void *ctx)
{
    struct exporting *x = ctx;
    x->working = false;
    if (!x->client.http || x->piece.overflow) {
        finish(x, false);
        return;
    }
    qn_stream_write(x->stream, x->piece.data, x->piece.len);
    qn_buf_clear(&x->piece);
    go_on(x);
}

static void end_export(struct exporting *x)
{
    qn_buf_clear(&x->piece);
    qn_chats_export_end(x->export, &x->piece);
    if (x->piece.len)
        qn_stream_write(x->stream, x->piece.data, x->piece.len);
    finish(x, true);
}

static void drained(void *ctx)
{
    struct exporting *x = ctx;
    if (!x->working && x->chat) {
        x->working = true;
        qn_loop_work(x->api->serving->loop, write_piece, piece_written, x);
    }
}

static void gone(void *ctx)
{
    struct exporting *x = ctx;
    x->client.http = NULL;
    if (!x->working)
        exporting_free(x);
}

static void begin_reply(struct exporting *x)
{
    struct qn_http *h = x->client.http;
    qn_http_set_header(h, "Cache-Control", "no-store");
    qn_http_set_header(h, "Content-Disposition",
                       x->markdown ? "attachment; filename=\"quince-chats.md\""
                                   : "attachment; filename=\"quince-chats.json\"");
    qn_http_on_gone(h, gone, x);
    x->stream = qn_http_stream(
        h, 200, x->markdown ? "text/markdown; charset=utf-8" : "application/json", drained, x);
    qn_chats_export_begin(x->export, &x->piece);
}

static void chat_read(void *ctx, const struct qn_chats_found *found)
{
    struct exporting *x = ctx;
    x->working = false;
    if (!x->client.http || (found->e && x->stream)) {
        finish(x, false);
        return;
    }
    if (found->e) {
        if (qn_waiting_end(&x->client, NULL))
            qn_api_chat_problem(x->client.http, found->e);
        exporting_free(x);
        return;
    }
    if (!x->stream)
        begin_reply(x);
    if (!found->n_chats) {
        end_export(x);
        return;
    }
    free(x->place);
    x->place = found->next ? qn_xstrdup(found->next) : NULL;
    x->chat = *found->arena;
    *found->arena = NULL;
    qn_chats_export_chat(x->export, &found->chats[0], found->messages, found->n_messages);
    go_on(x);
}

/* Writes more of the chat, or reads the next one; waits if the client has not read enough. */
static void go_on(struct exporting *x)
{
    if (!x->chat && (!x->all || x->api->serving->closed)) {
        end_export(x);
    } else if (!x->chat) {
        x->working = true;
        qn_chats_read_next(x->api->chats, x->owner, x->place, chat_read, x);
    } else if (!qn_stream_full(x->stream)) {
        x->working = true;
        qn_loop_work(x->api->serving->loop, write_piece, piece_written, x);
    }
}

void qn_api_chats_export(const struct qn_chats_api *api, struct qn_http *h, const char *id)
{
    const char *format = qn_http_query(h, "format"), *chat = qn_http_query(h, "id");
    bool markdown = qn_str_eq(format, "markdown");
    struct qn_caller caller;
    struct qn_error e = {0};
    qn_err err = QN_OK;
    (void)id;
    qn_auth_caller(api->serving->auth, h, &caller);
    if (format && !markdown && !qn_str_eq(format, "json"))
        err = qn_fail_param(&e, QN_EINVAL, "format", "format: expected json or markdown");
    if (!err && chat)
        err = qn_api_chat_id_check(chat, "chat", &e);
    const char *blobs = qn_chats_blob_dir(api->chats);
    if (!err && !blobs)
        err = qn_fail(&e, QN_EIO, "the folder of the chats' files cannot be made");
    if (!err && qn_str_eq(qn_http_method(h), "HEAD")) {
        qn_http_reply(h, 200, "application/json", "", 0);
        return;
    }
    if (!err)
        err = qn_chats_load_begin(api->load, QN_CHATS_EXPORTING, caller.owner, &e);
    if (err) {
        qn_answer_error(h, &e);
        return;
    }
    struct exporting *x = qn_xcalloc(1, sizeof *x);
    memcpy(x->owner, caller.owner, sizeof x->owner);
    x->api = api;
    x->all = !chat;
    x->markdown = markdown;
    x->export = qn_chats_export_new(blobs, markdown);
    x->working = true;
    qn_buf_init(&x->piece, PIECE_MAX);
    qn_waiting_begin(&x->client, h);
    if (chat)
        qn_chats_read(api->chats, x->owner, chat, chat_read, x);
    else
        qn_chats_read_next(api->chats, x->owner, NULL, chat_read, x);
}
