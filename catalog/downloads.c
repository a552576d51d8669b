/* See downloads.h. Everything that touches the database here runs on the catalog's thread. */
#include "catalog/downloads.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/log.h"
#include "catalog/catalog_private.h"

#include <stdlib.h>
#include <string.h>

/* A task for the catalog's thread: the request, its result, and the callback. */
struct task {
    struct qn_arena *arena; /* holds all strings below */
    struct qn_download_row row;
    struct qn_download_file file;
    size_t position;
    struct qn_download_row *rows; /* the result */
    size_t n;
    struct qn_error error; /* code QN_OK: none */
    qn_downloads_fn found;
    qn_catalog_done done;
    void *ctx;
};

/* limit: of bytes that are read; the caller has bounded what is written. */
static struct task *task_new(size_t limit)
{
    struct task *t = qn_xcalloc(1, sizeof *t);
    t->arena = qn_arena_new(limit);
    return t;
}

static void task_free(struct task *t)
{
    qn_arena_free(t->arena);
    free(t);
}

/* The string members of a file, in the order of the columns. */
static const size_t texts_at[] = {
    offsetof(struct qn_download_file, hub),      offsetof(struct qn_download_file, repo),
    offsetof(struct qn_download_file, revision), offsetof(struct qn_download_file, commit),
    offsetof(struct qn_download_file, path),     offsetof(struct qn_download_file, role),
    offsetof(struct qn_download_file, url),      offsetof(struct qn_download_file, partial),
    offsetof(struct qn_download_file, etag),     offsetof(struct qn_download_file, sha256),
    offsetof(struct qn_download_file, git_sha1),
};
enum { FILE_TEXTS = sizeof texts_at / sizeof *texts_at };

static const char **text_of(struct qn_download_file *f, size_t i)
{
    return (const char **)(void *)((char *)f + texts_at[i]);
}

void qn_download_file_copy(const struct qn_download_file *from, struct qn_arena *a,
                           struct qn_download_file *to)
{
    struct qn_download_file copied = *from;
    for (size_t i = 0; i < FILE_TEXTS; i++) {
        const char **text = text_of(&copied, i);
        *text = qn_arena_strdup(a, *text ? *text : "");
    }
    *to = copied;
}

static const char *copy(struct task *t, const char *s)
{
    return qn_arena_strdup(t->arena, s ? s : "");
}

static void copy_row(struct task *t, const struct qn_download_row *row)
{
    t->row = *row;
    t->row.id = copy(t, row->id);
    t->row.model = copy(t, row->model);
    t->row.wish = copy(t, row->wish);
    t->row.state = copy(t, row->state);
    t->row.error = copy(t, row->error);
    t->row.error_name = copy(t, row->error_name);
    t->row.files = NULL;
}

static qn_err put_job(struct qn_database *d, const struct qn_download_row *r, struct qn_error *e)
{
    sqlite3_stmt *s;
    if (qn_database_prepare(
            d, &s,
            "INSERT INTO download(id, model, wish, state, error, error_name, priority,"
            " created_s, changed_s) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
            " ON CONFLICT(id) DO UPDATE SET model = ?2, wish = ?3, state = ?4, error = ?5,"
            " error_name = ?6, priority = ?7, created_s = ?8, changed_s = ?9",
            e))
        return e->code;
    qn_database_bind(s, 1, r->id);
    qn_database_bind(s, 2, r->model);
    qn_database_bind(s, 3, r->wish);
    qn_database_bind(s, 4, r->state);
    qn_database_bind(s, 5, r->error);
    qn_database_bind(s, 6, r->error_name);
    sqlite3_bind_int64(s, 7, r->priority);
    sqlite3_bind_int64(s, 8, r->created_s);
    sqlite3_bind_int64(s, 9, r->changed_s);
    return qn_database_finish(d, s, e);
}

static qn_err put_files(struct qn_database *d, const struct qn_download_row *r, struct qn_error *e)
{
    sqlite3_stmt *s;
    if (qn_database_prepare(d, &s, "DELETE FROM download_file WHERE download = ?1", e))
        return e->code;
    qn_database_bind(s, 1, r->id);
    qn_err err = qn_database_finish(d, s, e);
    if (err)
        return err;
    if (qn_database_prepare(
            d, &s,
            "INSERT INTO download_file(download, position, hub, repo, revision, commit_id,"
            " path, role, url, partial, etag, sha256, git_sha1, size_bytes, done)"
            " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            e))
        return e->code;
    for (size_t i = 0; i < r->n_files && !err; i++) {
        struct qn_download_file f = r->files[i];
        qn_database_bind(s, 1, r->id);
        sqlite3_bind_int64(s, 2, (sqlite3_int64)i);
        for (size_t k = 0; k < FILE_TEXTS; k++)
            qn_database_bind(s, 3 + (int)k, *text_of(&f, k));
        sqlite3_bind_int64(s, 14, f.size_bytes);
        sqlite3_bind_int(s, 15, f.done);
        if (sqlite3_step(s) != SQLITE_DONE)
            err = qn_database_fail(d, "changing the catalog", e);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    return err;
}

static void put(struct qn_database *d, void *ctx)
{
    struct task *t = ctx;
    if (qn_database_begin(d, &t->error))
        return;
    qn_err err = put_job(d, &t->row, &t->error);
    if (!err)
        err = put_files(d, &t->row, &t->error);
    (void)qn_database_end(d, err, &t->error); /* t->error has it */
}

/* Runs a statement that must change exactly one row. */
static void change_one(struct qn_database *d, struct task *t, sqlite3_stmt *s)
{
    if (!qn_database_finish(d, s, &t->error) && sqlite3_changes(d->db) == 0)
        qn_fail_param(&t->error, QN_ENOTFOUND, "id", "there is no download '%.200s'", t->row.id);
}

static void mark(struct qn_database *d, void *ctx)
{
    struct task *t = ctx;
    sqlite3_stmt *s;
    if (qn_database_prepare(
            d, &s,
            "UPDATE download SET state = ?2, error = ?3, error_name = ?4, priority = ?5,"
            " changed_s = ?6 WHERE id = ?1",
            &t->error))
        return;
    qn_database_bind(s, 1, t->row.id);
    qn_database_bind(s, 2, t->row.state);
    qn_database_bind(s, 3, t->row.error);
    qn_database_bind(s, 4, t->row.error_name);
    sqlite3_bind_int64(s, 5, t->row.priority);
    sqlite3_bind_int64(s, 6, t->row.changed_s);
    change_one(d, t, s);
}

static void mark_file(struct qn_database *d, void *ctx)
{
    struct task *t = ctx;
    sqlite3_stmt *s;
    if (qn_database_prepare(d, &s,
                            "UPDATE download_file SET etag = ?3, size_bytes = ?4, done = ?5"
                            " WHERE download = ?1 AND position = ?2",
                            &t->error))
        return;
    qn_database_bind(s, 1, t->row.id);
    sqlite3_bind_int64(s, 2, (sqlite3_int64)t->position);
    qn_database_bind(s, 3, t->file.etag);
    sqlite3_bind_int64(s, 4, t->file.size_bytes);
    sqlite3_bind_int(s, 5, t->file.done);
    change_one(d, t, s);
}

static void drop(struct qn_database *d, void *ctx)
{
    struct task *t = ctx;
    sqlite3_stmt *s;
    if (qn_database_prepare(d, &s, "DELETE FROM download WHERE id = ?1", &t->error))
        return;
    qn_database_bind(s, 1, t->row.id);
    change_one(d, t, s);
}

/* A text of the current row; NULL when the arena's limit is reached. */
static const char *column(struct task *t, sqlite3_stmt *s, int i)
{
    const unsigned char *text = sqlite3_column_text(s, i);
    size_t n = (size_t)sqlite3_column_bytes(s, i);
    char *out = qn_arena_try(t->arena, n + 1);
    if (out && text)
        memcpy(out, text, n);
    return out;
}

static qn_err too_much(struct task *t)
{
    return qn_fail(&t->error, QN_ELIMIT, "the catalog's downloads have more than %d bytes",
                   QN_DOWNLOADS_BYTES_MAX);
}

/* Reads one download's files, `count` of them. */
static qn_err read_files(struct qn_database *d, struct task *t, struct qn_download_row *row,
                         size_t count)
{
    sqlite3_stmt *s;
    struct qn_download_file *files = qn_arena_try(t->arena, (count + 1) * sizeof *files);
    if (!files)
        return too_much(t);
    row->files = files;
    if (qn_database_prepare(
            d, &s,
            "SELECT hub, repo, revision, commit_id, path, role, url, partial, etag, sha256,"
            " git_sha1, size_bytes, done FROM download_file WHERE download = ?1"
            " ORDER BY position LIMIT ?2",
            &t->error))
        return t->error.code;
    qn_database_bind(s, 1, row->id);
    sqlite3_bind_int64(s, 2, (sqlite3_int64)count);
    int step = SQLITE_DONE;
    qn_err err = QN_OK;
    while (!err && (step = sqlite3_step(s)) == SQLITE_ROW) {
        struct qn_download_file *f = &files[row->n_files++];
        for (size_t i = 0; i < FILE_TEXTS && !err; i++)
            if (!(*text_of(f, i) = column(t, s, (int)i)))
                err = too_much(t);
        f->size_bytes = sqlite3_column_int64(s, 11);
        f->done = sqlite3_column_int(s, 12) != 0;
    }
    if (!err && step != SQLITE_DONE)
        err = qn_database_fail(d, "reading the catalog", &t->error);
    sqlite3_finalize(s);
    return err;
}

static void find(struct qn_database *d, void *ctx)
{
    struct task *t = ctx;
    sqlite3_stmt *s;
    t->rows = qn_arena_try(t->arena, QN_DOWNLOADS_MAX * sizeof *t->rows);
    if (!t->rows ||
        qn_database_prepare(d, &s,
                            "SELECT id, model, wish, state, error, error_name, priority,"
                            " created_s, changed_s, (SELECT count(*) FROM download_file"
                            " WHERE download = id) FROM download ORDER BY created_s, rowid",
                            &t->error))
        return;
    int step = SQLITE_DONE;
    qn_err err = QN_OK;
    while (!err && t->n < QN_DOWNLOADS_MAX && (step = sqlite3_step(s)) == SQLITE_ROW) {
        struct qn_download_row *r = &t->rows[t->n];
        const char **texts[] = {&r->id, &r->model, &r->wish, &r->state, &r->error, &r->error_name};
        for (int i = 0; i < 6 && !err; i++)
            if (!(*texts[i] = column(t, s, i)))
                err = too_much(t);
        r->priority = sqlite3_column_int64(s, 6);
        r->created_s = sqlite3_column_int64(s, 7);
        r->changed_s = sqlite3_column_int64(s, 8);
        sqlite3_int64 count = sqlite3_column_int64(s, 9);
        if (!err)
            err = read_files(d, t, r,
                             count > QN_DOWNLOAD_FILES_MAX ? QN_DOWNLOAD_FILES_MAX : (size_t)count);
        t->n++;
    }
    if (!err && step != SQLITE_DONE && step != SQLITE_ROW)
        qn_database_fail(d, "reading the catalog", &t->error);
    sqlite3_finalize(s);
}

static void tell_done(void *ctx)
{
    struct task *t = ctx;
    if (t->done)
        t->done(t->ctx, t->error.code ? &t->error : NULL);
    else if (t->error.code)
        qn_error_log("catalog", "download=%s not_written=1 message=\"%s\"", t->row.id,
                     t->error.message);
    task_free(t);
}

static void tell_found(void *ctx)
{
    struct task *t = ctx;
    bool failed = t->error.code != QN_OK;
    t->found(t->ctx, t->rows, failed ? 0 : t->n, failed ? &t->error : NULL);
    task_free(t);
}

void qn_catalog_find_downloads(struct qn_catalog *c, qn_downloads_fn fn, void *ctx)
{
    struct task *t = task_new(QN_DOWNLOADS_BYTES_MAX);
    t->found = fn;
    t->ctx = ctx;
    qn_catalog_task(c, find, tell_found, t);
}

void qn_catalog_put_download(struct qn_catalog *c, const struct qn_download_row *row,
                             qn_catalog_done done, void *ctx)
{
    struct task *t = task_new(SIZE_MAX);
    copy_row(t, row);
    struct qn_download_file *files = qn_arena_alloc(t->arena, (row->n_files + 1) * sizeof *files);
    for (size_t i = 0; i < row->n_files; i++)
        qn_download_file_copy(&row->files[i], t->arena, &files[i]);
    t->row.files = files;
    t->done = done;
    t->ctx = ctx;
    qn_catalog_task(c, put, tell_done, t);
}

void qn_catalog_mark_download(struct qn_catalog *c, const struct qn_download_row *row,
                              qn_catalog_done done, void *ctx)
{
    struct task *t = task_new(SIZE_MAX);
    copy_row(t, row);
    t->done = done;
    t->ctx = ctx;
    qn_catalog_task(c, mark, tell_done, t);
}

void qn_catalog_mark_download_file(struct qn_catalog *c, const char *id, size_t position,
                                   const struct qn_download_file *file, qn_catalog_done done,
                                   void *ctx)
{
    struct task *t = task_new(SIZE_MAX);
    t->row.id = copy(t, id);
    t->position = position;
    qn_download_file_copy(file, t->arena, &t->file);
    t->done = done;
    t->ctx = ctx;
    qn_catalog_task(c, mark_file, tell_done, t);
}

void qn_catalog_remove_download(struct qn_catalog *c, const char *id, qn_catalog_done done,
                                void *ctx)
{
    struct task *t = task_new(SIZE_MAX);
    t->row.id = copy(t, id);
    t->done = done;
    t->ctx = ctx;
    qn_catalog_task(c, drop, tell_done, t);
}
