/* POST internal/chats/import: chats from a file of quince, llama.cpp's web page or Open WebUI. A
 * worker reads some chats of the file, the database's thread stores them, hidden, and so on; at the
 * end all appear, or, after an error, none. */
#include "api/api.h"

#include "answers/answer.h"
#include "api/chat_json.h"
#include "api/chats_ask.h"
#include "api/chats_load.h"
#include "base/buf.h"
#include "base/rand.h"
#include "base/str.h"
#include "chats/import.h"
#include "digest/base64.h"
#include "digest/sha256.h"
#include "io/body.h"
#include "io/loop.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BATCH_CHATS = 64,              /* that are stored in one transaction */
    BATCH_BYTES = 4 * 1024 * 1024, /* after which a batch ends */
    NOTES_BYTES = 1024 * 1024
};

struct importing {
    struct qn_waiting client;
    const struct qn_chats_api *api;
    char owner[QN_OWNER_MAX + 1];
    char import[QN_CHATS_ID_DIGITS + 1];
    struct qn_body *body;
    struct qn_chats_reader *reader;
    struct qn_arena *notes_arena;
    const char *notes[QN_CHATS_IMPORT_NOTES_MAX];
    size_t n_notes, more_notes; /* more_notes: not kept */
    int64_t chats, messages;    /* stored */
    struct qn_error error;
    bool ended; /* the file has been read */
    /* The batch: */
    struct qn_arena *arena;
    struct qn_chats_ready ready[BATCH_CHATS];
    size_t n;
    const char *data; /* the file, until the reader has been made */
    size_t data_n;
};

/* Any thread. */
static void add_note(void *ctx, const char *note)
{
    struct importing *im = ctx;
    if (im->n_notes < QN_CHATS_IMPORT_NOTES_MAX)
        im->notes[im->n_notes++] = qn_arena_strdup(im->notes_arena, note);
    else
        im->more_notes++;
}

/* ---- on a worker: reading ---- */

static size_t count_parts(const struct qn_chats_imported *chat)
{
    size_t n = 0;
    for (size_t i = 0; i < chat->n; i++)
        n += chat->messages[i].n_parts;
    return n;
}

/* Deletes files of the last batch that were not stored, and frees it. */
static void drop_batch(struct importing *im)
{
    for (size_t i = 0; i < im->n; i++) {
        size_t parts = count_parts(im->ready[i].chat);
        for (size_t k = 0; k < parts; k++) {
            if (im->ready[i].temps[k])
                unlink(im->ready[i].temps[k]);
            free(im->ready[i].temps[k]);
        }
    }
    im->n = 0;
    qn_arena_free(im->arena);
    im->arena = NULL;
}

static qn_err write_temp(const char *path, const void *bytes, size_t n, struct qn_error *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    size_t done = 0;
    ssize_t step = 0;
    while (fd >= 0 && done < n && (step = write(fd, (const char *)bytes + done, n - done)) > 0)
        done += (size_t)step;
    qn_err err =
        fd < 0 || done < n || fsync(fd) ? qn_fail_errno(e, "store a file of a chat") : QN_OK;
    if (fd >= 0)
        close(fd);
    return err;
}

/* Stores the contents of a part as a file. A malformed or too large one is left out. */
static qn_err take_part(struct importing *im, const struct qn_chats_imported_part *part,
                        struct qn_chat_blob *blob, char **temp)
{
    struct qn_sha256 sum;
    size_t n = part->n;
    void *decoded = NULL;
    const void *bytes = part->data;
    char note[QN_CHATS_NAME_MAX + 100];
    qn_api_chat_media_type(part->type, blob->type);
    if (part->blob) {
        memcpy(blob->id, part->blob, QN_CHATS_BLOB_DIGITS + 1);
        return QN_OK;
    }
    if (!part->plain) {
        decoded = qn_alloc_sized(1, n / 4 * 3 + 3, QN_CHATS_IMPORT_ONE_MAX);
        bytes = decoded;
        if (!decoded || !qn_base64_decode(part->data, part->n, decoded, &n))
            n = 0;
    }
    if (n == 0 || n > QN_CHATS_BLOB_MAX) {
        snprintf(note, sizeof note, "the file '%s' was left out: it is %s", part->name,
                 n ? "too large" : "empty or malformed");
        add_note(im, note);
        free(decoded);
        return QN_OK;
    }
    *temp = qn_chats_blob_temp(im->api->chats);
    qn_sha256_init(&sum);
    qn_sha256_add(&sum, bytes, n);
    qn_sha256_hex(&sum, blob->id);
    blob->bytes = (int64_t)n;
    qn_err err = write_temp(*temp, bytes, n, &im->error);
    free(decoded);
    return err;
}

static qn_err take_chat(struct importing *im, const struct qn_chats_imported *chat)
{
    struct qn_chats_ready *ready = &im->ready[im->n++];
    size_t parts = count_parts(chat), k = 0;
    *ready = (struct qn_chats_ready){
        .chat = chat,
        .blobs = qn_arena_alloc(im->arena, (parts + 1) * sizeof *ready->blobs),
        .temps = qn_arena_alloc(im->arena, (parts + 1) * sizeof *ready->temps)};
    qn_err err = QN_OK;
    for (size_t i = 0; i < chat->n; i++)
        for (size_t p = 0; p < chat->messages[i].n_parts && !err; p++, k++)
            err = take_part(im, &chat->messages[i].parts[p], &ready->blobs[k], &ready->temps[k]);
    return err;
}

/* Reads chats into the batch until it is full or the file has ended. */
static qn_err fill_batch(struct importing *im)
{
    struct qn_chats_imported *chat = NULL;
    qn_err err = QN_OK;
    if (!im->reader)
        err = qn_chats_reader_new(im->data, im->data_n, &im->reader, &im->error);
    while (!err && !im->ended && im->n < BATCH_CHATS && qn_arena_used(im->arena) < BATCH_BYTES) {
        err = qn_chats_reader_next(im->reader, im->arena, add_note, im, &chat, &im->error);
        im->ended = !chat;
        if (!err && chat)
            err = take_chat(im, chat);
    }
    return err;
}

static void read_batch(void *ctx)
{
    struct importing *im = ctx;
    drop_batch(im);
    im->arena = qn_arena_new(2 * QN_CHATS_IMPORT_ARENA);
    if (fill_batch(im) == QN_EFORMAT && !*im->error.param)
        strcpy(im->error.param, "file"); /* the client's file is malformed, not the database */
}

static void free_importing(void *ctx)
{
    struct importing *im = ctx;
    drop_batch(im);
    qn_chats_reader_free(im->reader);
    qn_body_deinit(im->body);
    free(im->body);
    qn_arena_free(im->notes_arena);
    free(im);
}

/* ---- on the loop ---- */

static void answer(struct importing *im)
{
    struct qn_buf body;
    if (!qn_waiting_end(&im->client, NULL))
        return;
    if (im->error.code) {
        qn_api_chat_problem(im->client.http, &im->error);
        return;
    }
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_ki64(&w, "chats", im->chats);
    qn_jw_ki64(&w, "messages", im->messages);
    qn_jw_key(&w, "skipped");
    qn_jw_arr(&w);
    for (size_t i = 0; i < im->n_notes; i++)
        qn_jw_str(&w, im->notes[i]);
    if (im->more_notes) {
        char text[64];
        snprintf(text, sizeof text, "and %zu more", im->more_notes);
        qn_jw_str(&w, text);
    }
    qn_jw_arr_end(&w);
    qn_jw_obj_end(&w);
    qn_answer_json(im->client.http, 200, &body);
    qn_buf_deinit(&body);
}

static void finish(struct importing *im)
{
    answer(im);
    qn_chats_load_end(im->api->load, QN_CHATS_IMPORTING, im->owner);
    qn_loop_work(im->api->serving->loop, free_importing, NULL, im);
}

static void import_ended(void *ctx, const struct qn_chats_found *found)
{
    struct importing *im = ctx;
    if (found->e && !im->error.code)
        im->error = *found->e;
    finish(im);
}

static void batch_read(void *ctx);

static void batch_stored(void *ctx, const struct qn_chats_found *found)
{
    struct importing *im = ctx;
    struct qn_loop *loop = im->api->serving->loop;
    if (found->e) {
        im->error = *found->e;
        batch_read(im);
        return;
    }
    for (size_t i = 0; i < found->n_chats; i++) {
        char note[QN_CHATS_NAME_MAX + 64];
        snprintf(note, sizeof note, "'%s' is here already", found->chats[i].title);
        add_note(im, note);
    }
    im->chats += (int64_t)(im->n - found->n_chats);
    im->messages += found->changed;
    if (im->ended)
        qn_chats_import_end(im->api->chats, im->owner, im->import, true, import_ended, im);
    else
        qn_loop_work(loop, read_batch, batch_read, im);
}

/* A batch has been read, or an error ends the import. */
static void batch_read(void *ctx)
{
    struct importing *im = ctx;
    if (im->api->serving->closed)
        finish(im);
    else if (im->error.code)
        qn_chats_import_end(im->api->chats, im->owner, im->import, false, import_ended, im);
    else
        qn_chats_import_add(im->api->chats, im->owner, im->import, im->ready, im->n, batch_stored,
                            im);
}

void qn_api_chats_import(const struct qn_chats_api *api, struct qn_http *h, const char *id)
{
    struct qn_error e = {0};
    struct qn_caller caller;
    size_t n;
    (void)id;
    (void)qn_http_body(h, &n);
    if (n == 0)
        qn_fail_param(&e, QN_EFORMAT, "file", "the request body is empty: it must be the file");
    else if (!qn_chats_blob_dir(api->chats))
        qn_fail(&e, QN_EIO, "the folder of the chats' files cannot be made");
    qn_auth_caller(api->serving->auth, h, &caller);
    if (e.code || qn_chats_load_begin(api->load, QN_CHATS_IMPORTING, caller.owner, &e)) {
        qn_answer_error(h, &e);
        return;
    }
    struct importing *im = qn_xcalloc(1, sizeof *im);
    memcpy(im->owner, caller.owner, sizeof im->owner);
    qn_random_hex(im->import, QN_CHATS_ID_DIGITS);
    im->api = api;
    im->notes_arena = qn_arena_new(NOTES_BYTES);
    im->body = qn_http_body_take(h, &im->data, &im->data_n);
    qn_waiting_begin(&im->client, h);
    qn_loop_work(api->serving->loop, read_batch, batch_read, im);
}
