/* Files of messages; see blobs.h. A file gets its final name and its row in one task, and is
 * deleted by the same thread, so no row is ever without its file. */
#include "chats/blobs.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/path.h"
#include "base/rand.h"
#include "base/str.h"
#include "chats/blob_files.h"
#include "chats/rows.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char incomplete[] = "incomplete-";
#define HOUR_MS (INT64_C(60) * 60 * 1000)

bool qn_chats_blob_is_id(const char *id)
{
    return id && strnlen(id, QN_CHATS_BLOB_DIGITS + 1) == QN_CHATS_BLOB_DIGITS &&
           strspn(id, "0123456789abcdef") == QN_CHATS_BLOB_DIGITS;
}

char *qn_chats_blob_path(const struct qn_chats *c, const char *id)
{
    return qn_path_join(c->blobs, id);
}

const char *qn_chats_blob_dir(struct qn_chats *c)
{
    struct qn_error e = {0};
    if (!qn_mkdirs(c->blobs, 0700, &e))
        return c->blobs;
    qn_error_log("chats", "%s", e.message);
    return NULL;
}

char *qn_chats_blob_temp(const struct qn_chats *c)
{
    enum { RANDOM_DIGITS = 16 };
    char name[sizeof incomplete + RANDOM_DIGITS], digits[RANDOM_DIGITS + 1];
    qn_random_hex(digits, RANDOM_DIGITS);
    snprintf(name, sizeof name, "%s%s", incomplete, digits);
    return qn_path_join(c->blobs, name);
}

/* The arguments and the result of a call. */
struct filing {
    const char *temp;
    struct qn_chat_blob blob;
    qn_chats_blob_fn fn;
    void *ctx;
};

static void report(struct qn_chats_task *t)
{
    const struct filing *f = t->args;
    if (t->error.code && f->temp && unlink(f->temp) && errno != ENOENT)
        qn_warn("chats", "cannot remove %s: %s", f->temp, strerror(errno));
    if (f->fn)
        f->fn(f->ctx, t->error.code ? NULL : &f->blob, t->error.code ? &t->error : NULL);
}

static struct qn_chats_task *task_new(struct qn_chats *c, const char *owner,
                                      qn_err (*work)(struct qn_chats_task *t, struct qn_error *e),
                                      bool writes, const struct filing *f)
{
    struct qn_chats_task *t = qn_chats_task_new(c, owner, work, writes, NULL, NULL);
    struct filing *copy = t->args = qn_arena_alloc(t->arena, sizeof *copy);
    *copy = *f;
    copy->temp = qn_chats_copy(t, f->temp);
    t->report = report;
    return t;
}

/* ---- finding ---- */

static qn_err find(struct qn_chats_task *t, struct qn_error *e)
{
    struct filing *f = t->args;
    sqlite3_stmt *s;
    qn_err err = qn_chats_find_owner(t, e);
    if (!err)
        err =
            qn_chats_sql(t->d, &s, e, "SELECT type, bytes FROM blob WHERE owner = ? AND sha256 = ?",
                         "is", t->owner_n, f->blob.id);
    if (err)
        return err;
    int step = sqlite3_step(s);
    if (step == SQLITE_ROW) {
        snprintf(f->blob.type, sizeof f->blob.type, "%s", (const char *)sqlite3_column_text(s, 0));
        f->blob.bytes = sqlite3_column_int64(s, 1);
    }
    err = qn_chats_done(t->d, s, step, e);
    return !err && step == SQLITE_DONE
               ? qn_fail_param(e, QN_ENOTFOUND, "id", "there is no file '%.64s'", f->blob.id)
               : err;
}

void qn_chats_find_blob(struct qn_chats *c, const char *owner, const char *id, qn_chats_blob_fn fn,
                        void *ctx)
{
    struct filing f = {.fn = fn, .ctx = ctx};
    snprintf(f.blob.id, sizeof f.blob.id, "%s", id);
    qn_chats_task_run(task_new(c, owner, find, false, &f), QN_OK);
}

/* ---- adding ---- */

static qn_err check_share(struct qn_chats_task *t, int64_t bytes, struct qn_error *e)
{
    int64_t have[2];
    qn_err err = qn_chats_ints(
        t->d, have, 2, e, "SELECT count(*), sum(bytes) FROM blob WHERE owner = ?", "i", t->owner_n);
    if (err)
        return err;
    if (have[0] >= QN_CHATS_OWNER_BLOBS_MAX)
        return qn_fail(e, QN_ELIMIT, "the chats have %d files already: delete some chats for good",
                       QN_CHATS_OWNER_BLOBS_MAX);
    if (have[1] + bytes > QN_CHATS_OWNER_BLOB_BYTES_MAX)
        return qn_fail(e, QN_ELIMIT,
                       "the files of the chats have %lld MiB already: delete some chats for good",
                       (long long)(have[1] >> 20));
    return QN_OK;
}

qn_err qn_chats_file_blob(struct qn_chats_task *t, const char *temp,
                          const struct qn_chat_blob *blob, struct qn_error *e)
{
    int64_t n;
    qn_err err = qn_chats_own(t, e);
    if (!err)
        err = qn_chats_ints(t->d, &n, 1, e, "SELECT n FROM blob WHERE owner = ? AND sha256 = ?",
                            "is", t->owner_n, blob->id);
    if (err == QN_ENOTFOUND)
        err = check_share(t, blob->bytes, e);
    if (!err)
        err = qn_chats_run(t->d, e,
                           "INSERT INTO blob(owner, sha256, type, bytes, used)"
                           " VALUES(?1, ?2, ?3, ?4, ?5)"
                           " ON CONFLICT(owner, sha256) DO UPDATE SET type = ?3, used = ?5",
                           "issii", t->owner_n, blob->id, blob->type, blob->bytes, qn_chats_now());
    if (err)
        return err;
    char *path = qn_chats_blob_path(t->chats, blob->id);
    if (rename(temp, path)) /* over the same contents, if another owner has them */
        err = qn_fail_errno(e, "rename %s", temp);
    free(path);
    return err;
}

static qn_err add(struct qn_chats_task *t, struct qn_error *e)
{
    const struct filing *f = t->args;
    return qn_chats_file_blob(t, f->temp, &f->blob, e);
}

void qn_chats_add_blob(struct qn_chats *c, const char *owner, const char *temp,
                       const struct qn_chat_blob *blob, qn_chats_blob_fn fn, void *ctx)
{
    struct filing f = {.temp = temp, .blob = *blob, .fn = fn, .ctx = ctx};
    qn_chats_task_run(task_new(c, owner, add, true, &f), QN_OK);
}

/* ---- removal ---- */

qn_err qn_chats_remove_blobs(struct qn_database *d, struct qn_chats_doomed *doomed,
                             struct qn_error *e)
{
    int64_t rows[QN_CHATS_DOOMED_MAX];
    sqlite3_stmt *s;
    doomed->n = 0;
    qn_err err = qn_chats_sql(d, &s, e,
                              "SELECT n, sha256 FROM blob WHERE used < ? AND NOT EXISTS"
                              " (SELECT 1 FROM message_blob WHERE blob = blob.n) LIMIT ?",
                              "ii", qn_chats_now() - QN_CHATS_BLOB_UNUSED_H * HOUR_MS,
                              (int64_t)QN_CHATS_DOOMED_MAX);
    if (err)
        return err;
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW && doomed->n < QN_CHATS_DOOMED_MAX) {
        rows[doomed->n] = sqlite3_column_int64(s, 0);
        snprintf(doomed->ids[doomed->n++], QN_CHATS_BLOB_DIGITS + 1, "%s",
                 (const char *)sqlite3_column_text(s, 1));
    }
    err = qn_chats_done(d, s, step, e);
    for (size_t i = 0; i < doomed->n && !err; i++)
        err = qn_chats_run(d, e, "DELETE FROM blob WHERE n = ?", "i", rows[i]);
    return err;
}

static bool has_row(struct qn_database *d, const char *id)
{
    int64_t n;
    return qn_chats_ints(d, &n, 1, NULL, "SELECT n FROM blob WHERE sha256 = ? LIMIT 1", "s", id) !=
           QN_ENOTFOUND;
}

void qn_chats_unlink_blobs(struct qn_chats *c, struct qn_database *d,
                           const struct qn_chats_doomed *doomed)
{
    for (size_t i = 0; i < doomed->n; i++) {
        if (!qn_chats_blob_is_id(doomed->ids[i]) || has_row(d, doomed->ids[i]))
            continue;
        char *path = qn_chats_blob_path(c, doomed->ids[i]);
        if (unlink(path) && errno != ENOENT)
            qn_warn("chats", "cannot remove %s: %s", path, strerror(errno));
        free(path);
    }
}

/* Files under other names belong to an upload, which may still be in progress. */
static bool is_left(struct qn_database *d, int dir, const char *name)
{
    struct stat st;
    if (qn_chats_blob_is_id(name))
        return !has_row(d, name);
    return *name != '.' && !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
           st.st_mtime < qn_chats_now() / 1000 - QN_CHATS_BLOB_UNUSED_H * 3600;
}

void qn_chats_clean_blobs(struct qn_chats *c, struct qn_database *d)
{
    DIR *dir = opendir(c->blobs);
    for (struct dirent *f = dir ? readdir(dir) : NULL; f; f = readdir(dir))
        if (is_left(d, dirfd(dir), f->d_name))
            unlinkat(dirfd(dir), f->d_name, 0);
    if (dir)
        closedir(dir);
}
