/* See database.h. */
#include "database/database.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUSY_MS = 1000, DOING_MAX = 80 };

static qn_err fail_damaged(const struct qn_database *d, const char *why, struct qn_error *e)
{
    return qn_fail(e, QN_EFORMAT, "%s is damaged (%s): move it aside and start again; %s", d->path,
                   why, d->kind->loss);
}

qn_err qn_database_fail(struct qn_database *d, const char *doing, struct qn_error *e)
{
    int code = sqlite3_errcode(d->db) & 0xFF;
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return qn_fail(
            e, QN_EBUSY,
            "%s is in use by another server: stop that one, or choose another --data-dir", d->path);
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
        return fail_damaged(d, sqlite3_errmsg(d->db), e);
    if (code == SQLITE_FULL)
        return qn_fail(e, QN_EIO, "%s: the disk is full while %s", d->path, doing);
    return qn_fail(e, QN_EIO, "%s: %s while %s", d->path, sqlite3_errmsg(d->db), doing);
}

/* The same with the name of the database: "changing the catalog". */
static qn_err fail_doing(struct qn_database *d, const char *doing, struct qn_error *e)
{
    char text[DOING_MAX];
    snprintf(text, sizeof text, "%s %s", doing, d->kind->name);
    return qn_database_fail(d, text, e);
}

qn_err qn_database_exec(struct qn_database *d, const char *sql, struct qn_error *e)
{
    if (sqlite3_exec(d->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return fail_doing(d, "changing", e);
    return QN_OK;
}

qn_err qn_database_prepare(struct qn_database *d, sqlite3_stmt **s, const char *sql,
                           struct qn_error *e)
{
    if (sqlite3_prepare_v2(d->db, sql, -1, s, NULL) != SQLITE_OK)
        return qn_database_fail(d, "preparing a statement", e);
    return QN_OK;
}

void qn_database_bind(sqlite3_stmt *s, int i, const char *text)
{
    sqlite3_bind_text(s, i, text, -1, SQLITE_TRANSIENT);
}

qn_err qn_database_finish(struct qn_database *d, sqlite3_stmt *s, struct qn_error *e)
{
    qn_err err = QN_OK;
    if (sqlite3_step(s) != SQLITE_DONE)
        err = fail_doing(d, "changing", e);
    sqlite3_finalize(s);
    return err;
}

qn_err qn_database_begin(struct qn_database *d, struct qn_error *e)
{
    return qn_database_exec(d, "BEGIN IMMEDIATE", e);
}

qn_err qn_database_end(struct qn_database *d, qn_err err, struct qn_error *e)
{
    if (!err)
        err = qn_database_exec(d, "COMMIT", e);
    if (err && !sqlite3_get_autocommit(d->db))
        sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
    return err;
}

static qn_err check_integrity(struct qn_database *d, struct qn_error *e)
{
    sqlite3_stmt *s = NULL;
    struct stat st;
    if (stat(d->path, &st) || st.st_size > d->kind->checked_bytes)
        return QN_OK;
    qn_err err = QN_OK;
    if (sqlite3_prepare_v2(d->db, "PRAGMA integrity_check(1)", -1, &s, NULL) != SQLITE_OK ||
        sqlite3_step(s) != SQLITE_ROW)
        err = fail_doing(d, "checking", e);
    else if (strcmp((const char *)sqlite3_column_text(s, 0), "ok") != 0)
        err = fail_damaged(d, (const char *)sqlite3_column_text(s, 0), e);
    sqlite3_finalize(s);
    return err;
}

/* Makes a file of the database accessible to its owner only. SQLite gives its journals the mode of
 * the database; journals left by an earlier server may have another one. */
static qn_err close_to_others(const char *path, const char *end, struct qn_error *e)
{
    struct stat st;
    struct qn_buf name;
    qn_buf_init(&name, PATH_MAX * 2);
    qn_buf_fmt(&name, "%s%s", path, end);
    int fd = open(qn_buf_cstr(&name),
                  O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (*end ? 0 : O_CREAT), 0600);
    qn_err err = QN_OK;
    if (fd < 0 && !(*end && errno == ENOENT))
        err = qn_fail(e, QN_EIO, "open %s: %s", qn_buf_cstr(&name), strerror(errno));
    else if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode)))
        err = qn_fail(e, QN_EIO, "%s is not a regular file: move it aside", qn_buf_cstr(&name));
    else if (fd >= 0 && (st.st_mode & 077) && fchmod(fd, 0600))
        err = qn_fail_errno(e, "close %s to other users", qn_buf_cstr(&name));
    if (fd >= 0)
        close(fd);
    qn_buf_deinit(&name);
    return err;
}

/* The limit is in pages; it cannot be below the size that the file has. */
static qn_err limit_size(struct qn_database *d, struct qn_error *e)
{
    enum { PAGE_BYTES = 4096 };
    char sql[64];
    if (!d->kind->bytes_max)
        return QN_OK;
    snprintf(sql, sizeof sql, "PRAGMA max_page_count = %lld",
             (long long)(d->kind->bytes_max / PAGE_BYTES));
    return qn_database_exec(d, sql, e);
}

qn_err qn_database_open(const char *path, const struct qn_database_kind *kind,
                        struct qn_database **out, struct qn_error *e)
{
    struct qn_database *d = qn_xcalloc(1, sizeof *d);
    d->path = qn_xstrdup(path);
    d->kind = kind;
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    qn_err err = QN_OK;
    for (size_t i = 0; i < sizeof ends / sizeof *ends && !err; i++)
        err = close_to_others(path, ends[i], e);
    if (!err && sqlite3_open_v2(path, &d->db,
                                SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                                NULL) != SQLITE_OK)
        err = d->db ? fail_doing(d, "opening", e)
                    : qn_fail(e, QN_ENOMEM, "no memory for %s", kind->name);
    if (!err) {
        sqlite3_busy_timeout(d->db, BUSY_MS);
        /* Exclusive: two servers on one data directory would overwrite each other's state. */
        err = qn_database_exec(d,
                               "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;"
                               "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;"
                               "BEGIN IMMEDIATE; COMMIT;",
                               e);
    }
    if (!err)
        err = qn_database_exec(
            d, kind->trusted_schema ? "PRAGMA trusted_schema = ON" : "PRAGMA trusted_schema = OFF",
            e);
    if (!err)
        err = check_integrity(d, e);
    if (!err)
        err = limit_size(d, e);
    if (!err)
        err = qn_database_migrate(d, e);
    if (err) {
        qn_database_close(d);
        return err;
    }
    *out = d;
    return QN_OK;
}

void qn_database_close(struct qn_database *d)
{
    if (!d)
        return;
    sqlite3_close(d->db);
    free(d->path);
    free(d);
}
