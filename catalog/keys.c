/* See keys.h. Everything that touches the database here runs on the catalog's thread. */
#include "catalog/keys.h"

#include "base/buf.h"
#include "catalog/catalog_private.h"

#include <stdlib.h>
#include <string.h>

struct task {
    struct qn_stored_key key;
    struct qn_stored_key *rows; /* the result of reading */
    size_t n;
    struct qn_error error; /* code QN_OK: none */
    qn_catalog_done done;  /* NULL: no caller waits */
    void *ctx;
};

static void tell(void *ctx)
{
    struct task *t = ctx;
    if (t->done)
        t->done(t->ctx, t->error.code ? &t->error : NULL);
    free(t->rows);
    free(t);
}

/* Reads a key from the current row. False: the row was tampered with. */
static bool take_row(sqlite3_stmt *s, struct qn_stored_key *out)
{
    int name = sqlite3_column_bytes(s, 0), sum = sqlite3_column_bytes(s, 1);
    *out = (struct qn_stored_key){.admin = sqlite3_column_int(s, 2) == 1,
                                  .created_s = sqlite3_column_int64(s, 3)};
    if (name <= 0 || name > QN_STORED_KEY_NAME_MAX || sum != QN_STORED_KEY_SUM)
        return false;
    memcpy(out->name, sqlite3_column_text(s, 0), (size_t)name);
    memcpy(out->sum, sqlite3_column_blob(s, 1), QN_STORED_KEY_SUM);
    return true;
}

static void read_all(struct qn_database *d, void *ctx)
{
    struct task *t = ctx;
    sqlite3_stmt *s;
    if (qn_database_prepare(d, &s,
                            "SELECT name, sha256, admin, created_s FROM api_key"
                            " ORDER BY created_s, name LIMIT ?1",
                            &t->error))
        return;
    sqlite3_bind_int(s, 1, QN_STORED_KEYS_MAX);
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        t->rows = qn_xrealloc(t->rows, (t->n + 1) * sizeof *t->rows);
        if (!take_row(s, &t->rows[t->n])) {
            qn_fail(&t->error, QN_EFORMAT, "the catalog has an invalid key");
            break;
        }
        t->n++;
    }
    if (step != SQLITE_DONE && !t->error.code)
        qn_database_fail(d, "reading the catalog", &t->error);
    sqlite3_finalize(s);
}

qn_err qn_catalog_read_keys(struct qn_catalog *c,
                            void (*each)(void *ctx, const struct qn_stored_key *key), void *ctx,
                            struct qn_error *e)
{
    struct task *t = qn_xcalloc(1, sizeof *t);
    qn_catalog_task(c, read_all, tell, t);
    qn_catalog_flush(c); /* t is freed by a post, which runs only once the loop runs */
    if (t->error.code) {
        *e = t->error;
        return e->code;
    }
    for (size_t i = 0; i < t->n; i++)
        each(ctx, &t->rows[i]);
    return QN_OK;
}

static void keep(struct qn_database *d, void *ctx)
{
    struct task *t = ctx;
    sqlite3_stmt *s;
    if (qn_database_prepare(d, &s,
                            "INSERT INTO api_key(name, sha256, admin, created_s)"
                            " VALUES(?1, ?2, ?3, ?4)",
                            &t->error))
        return;
    sqlite3_bind_text(s, 1, t->key.name, -1, SQLITE_STATIC);
    sqlite3_bind_blob(s, 2, t->key.sum, QN_STORED_KEY_SUM, SQLITE_STATIC);
    sqlite3_bind_int(s, 3, t->key.admin);
    sqlite3_bind_int64(s, 4, t->key.created_s);
    int step = sqlite3_step(s);
    if (step == SQLITE_CONSTRAINT)
        qn_fail_param(&t->error, QN_ECONFLICT, "name", "there is a key named '%s' already",
                      t->key.name);
    else if (step != SQLITE_DONE)
        qn_database_fail(d, "changing the catalog", &t->error);
    sqlite3_finalize(s);
}

static void drop(struct qn_database *d, void *ctx)
{
    struct task *t = ctx;
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(d->db, "DELETE FROM api_key WHERE name = ?1", -1, &s, NULL) !=
        SQLITE_OK) {
        qn_database_fail(d, "preparing a statement", &t->error);
        return;
    }
    sqlite3_bind_text(s, 1, t->key.name, -1, SQLITE_STATIC);
    if (sqlite3_step(s) != SQLITE_DONE)
        qn_database_fail(d, "changing the catalog", &t->error);
    else if (sqlite3_changes(d->db) == 0)
        qn_fail_param(&t->error, QN_ENOTFOUND, "name", "there is no key named '%s'", t->key.name);
    sqlite3_finalize(s);
}

void qn_catalog_keep_key(struct qn_catalog *c, const struct qn_stored_key *key,
                         qn_catalog_done done, void *ctx)
{
    struct task *t = qn_xcalloc(1, sizeof *t);
    *t = (struct task){.key = *key, .done = done, .ctx = ctx};
    qn_catalog_task(c, keep, tell, t);
}

void qn_catalog_drop_key(struct qn_catalog *c, const char *name, qn_catalog_done done, void *ctx)
{
    struct task *t = qn_xcalloc(1, sizeof *t);
    size_t n = strnlen(name, QN_STORED_KEY_NAME_MAX);
    *t = (struct task){.done = done, .ctx = ctx};
    memcpy(t->key.name, name, n);
    qn_catalog_task(c, drop, tell, t);
}
