/* internal/blobs: files of stored chats, by the SHA-256 of their contents. A client sees the files
 * that its owner has sent. Contents are never interpreted by a browser that shows them: nosniff, a
 * sandbox, and a download unless the type is in a short list of pictures and sounds. */
#include "api/api.h"

#include "answers/answer.h"
#include "api/chat_json.h"
#include "api/chats_ask.h"
#include "base/buf.h"
#include "base/str.h"
#include "chats/blobs.h"
#include "digest/sha256.h"
#include "io/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- sending one ---- */

/* An upload. It cannot be cancelled, so it outlives a client that disconnects. */
struct upload {
    struct qn_waiting client;
    const struct qn_chats_api *api;
    char owner[QN_OWNER_MAX + 1];
    char *temp;
    struct qn_chat_blob blob;
    struct qn_error error;
};

/* Runs on a worker: the checksum, and the contents to the disk. */
static void check(void *ctx)
{
    enum { PIECE = 256 * 1024 };
    struct upload *u = ctx;
    struct qn_sha256 sum;
    if (u->error.code)
        return;
    int fd = open(u->temp, O_RDONLY | O_CLOEXEC);
    char *piece = qn_xmalloc(PIECE);
    ssize_t n = -1;
    qn_sha256_init(&sum);
    while (fd >= 0 && (n = read(fd, piece, PIECE)) > 0) {
        qn_sha256_add(&sum, piece, (size_t)n);
        u->blob.bytes += n;
    }
    if (n < 0 || fsync(fd))
        qn_fail_errno(&u->error, "store a file of the chats");
    qn_sha256_hex(&sum, u->blob.id);
    free(piece);
    if (fd >= 0)
        close(fd);
}

static void upload_end(struct upload *u, const struct qn_error *e)
{
    if (qn_waiting_end(&u->client, NULL)) {
        struct qn_buf body;
        qn_buf_init(&body, QN_API_REPLY_MAX);
        struct qn_jw w = qn_jw_to(&body);
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "id", u->blob.id);
        qn_jw_ki64(&w, "bytes", u->blob.bytes);
        qn_jw_kstr(&w, "type", u->blob.type);
        qn_jw_obj_end(&w);
        if (e)
            qn_api_chat_problem(u->client.http, e);
        else
            qn_answer_json(u->client.http, 201, &body);
        qn_buf_deinit(&body);
    }
    free(u->temp);
    free(u);
}

static void added(void *ctx, const struct qn_chat_blob *blob, const struct qn_error *e)
{
    (void)blob;
    upload_end(ctx, e);
}

static void checked(void *ctx)
{
    struct upload *u = ctx;
    if (!u->error.code && u->api->serving->closed)
        qn_fail(&u->error, QN_EBUSY, "the server is stopping");
    if (u->error.code) {
        unlink(u->temp);
        upload_end(u, &u->error);
        return;
    }
    qn_chats_add_blob(u->api->chats, u->owner, u->temp, &u->blob, added, u);
}

void qn_api_chat_blob_add(const struct qn_chats_api *api, struct qn_http *h, const char *id)
{
    struct qn_caller caller;
    struct upload *u = qn_xcalloc(1, sizeof *u);
    size_t n;
    (void)id;
    u->api = api;
    qn_auth_caller(api->serving->auth, h, &caller);
    memcpy(u->owner, caller.owner, sizeof u->owner);
    qn_api_chat_media_type(qn_http_header(h, "Content-Type"), u->blob.type);
    u->temp = qn_chats_blob_temp(api->chats);
    (void)qn_http_body(h, &n);
    if (n == 0)
        qn_fail(&u->error, QN_EINVAL, "the request body is empty: it must be the file");
    else if (n > QN_CHATS_BLOB_MAX)
        qn_fail(&u->error, QN_ELIMIT, "a file may have at most %d bytes", QN_CHATS_BLOB_MAX);
    else
        (void)qn_http_body_keep(h, u->temp, &u->error); /* checked() reports the error */
    qn_waiting_begin(&u->client, h);
    qn_loop_work(api->serving->loop, check, checked, u);
}

/* ---- reading one ---- */

/* A file that is being sent, a piece after the other. */
struct download {
    struct qn_waiting client;
    const struct qn_chats_api *api;
    char *path;
    int fd;
    struct qn_stream *stream;
    char *piece;
    ssize_t n;
    bool reading; /* a worker has the piece */
};

enum { PIECE_BYTES = 128 * 1024 };

static void download_free(struct download *d)
{
    if (d->fd >= 0)
        close(d->fd);
    free(d->piece);
    free(d->path);
    free(d);
}

static void send_more(struct download *d);

/* Runs on a worker. */
static void read_piece(void *ctx)
{
    struct download *d = ctx;
    if (d->fd < 0)
        d->fd = open(d->path, O_RDONLY | O_CLOEXEC);
    d->n = d->fd < 0 ? -1 : read(d->fd, d->piece, PIECE_BYTES);
}

static void piece_read(void *ctx)
{
    struct download *d = ctx;
    d->reading = false;
    if (!d->client.http) {
        download_free(d);
        return;
    }
    if (d->n > 0) {
        qn_stream_write(d->stream, d->piece, (size_t)d->n);
        send_more(d);
        return;
    }
    qn_http_on_gone(d->client.http, NULL, NULL);
    if (d->n < 0)
        qn_http_abort(d->client.http);
    else
        qn_stream_end(d->stream);
    download_free(d);
}

static void send_more(struct download *d)
{
    if (d->reading || qn_stream_full(d->stream))
        return;
    d->reading = true;
    qn_loop_work(d->api->serving->loop, read_piece, piece_read, d);
}

/* Called from within the stream, which must not be written to here. */
static void drained(void *ctx)
{
    struct download *d = ctx;
    if (!d->reading) {
        d->reading = true;
        qn_loop_work(d->api->serving->loop, read_piece, piece_read, d);
    }
}

static void client_gone(void *ctx)
{
    struct download *d = ctx;
    d->client.http = NULL;
    if (!d->reading)
        download_free(d);
}

static bool is_shown(const char *type)
{
    static const char *const shown[] = {"image/png",  "image/jpeg", "image/gif",  "image/webp",
                                        "image/avif", "audio/wav",  "audio/mpeg", "audio/ogg",
                                        "audio/flac", "audio/webm", "audio/mp4"};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (qn_str_eq(shown[i], type))
            return true;
    return false;
}

static void found(void *ctx, const struct qn_chat_blob *blob, const struct qn_error *e)
{
    struct download *d = ctx;
    if (!d->client.http || e) {
        if (qn_waiting_end(&d->client, NULL))
            qn_api_chat_problem(d->client.http, e);
        download_free(d);
        return;
    }
    struct qn_http *h = d->client.http;
    char tag[QN_CHATS_BLOB_DIGITS + 3];
    snprintf(tag, sizeof tag, "\"%s\"", blob->id);
    qn_http_set_header(h, "X-Content-Type-Options", "nosniff");
    qn_http_set_header(h, "Content-Security-Policy", "default-src 'none'; sandbox");
    qn_http_set_header(h, "Cross-Origin-Resource-Policy", "same-origin");
    qn_http_set_header(h, "Cache-Control", "private, max-age=31536000, immutable");
    qn_http_set_header(h, "ETag", tag);
    if (!is_shown(blob->type))
        qn_http_set_header(h, "Content-Disposition", "attachment");
    const char *type = is_shown(blob->type) ? blob->type : "application/octet-stream";
    if (qn_str_eq(qn_http_method(h), "HEAD")) {
        qn_waiting_never_mind(&d->client);
        qn_http_reply(h, 200, type, "", 0);
        download_free(d);
        return;
    }
    qn_http_on_gone(h, client_gone, d);
    d->stream = qn_http_stream(h, 200, type, drained, d);
    send_more(d);
}

void qn_api_chat_blob(const struct qn_chats_api *api, struct qn_http *h, const char *id)
{
    struct qn_caller caller;
    struct qn_error e = {0};
    if (!qn_chats_blob_is_id(id)) {
        qn_fail_param(&e, QN_ENOTFOUND, "id", "there is no file with this id");
        qn_answer_error(h, &e);
        return;
    }
    struct download *d = qn_xcalloc(1, sizeof *d);
    d->api = api;
    d->fd = -1;
    d->path = qn_chats_blob_path(api->chats, id);
    d->piece = qn_xmalloc(PIECE_BYTES);
    qn_auth_caller(api->serving->auth, h, &caller);
    qn_waiting_begin(&d->client, h);
    qn_chats_find_blob(api->chats, caller.owner, id, found, d);
}
