/* See answers.h. Everything that touches the database here runs on the catalog's thread. */
#include "catalog/answers.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/log.h"
#include "catalog/catalog_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A task for the catalog's thread: the request, its result, and the callback. */
struct qn_answer_task {
    struct qn_arena *arena; /* holds the strings below */
    struct qn_answers_of of;
    struct qn_answer_row row; /* keep: all; drop: the id */
    const char *chain;        /* find */
    const char **ids;
    size_t n_ids;
    struct qn_answer_row *rows; /* the result */
    size_t n, n_chain;
    struct qn_error error; /* code QN_OK: none */
    qn_answers_fn found;
    qn_catalog_done done;
    void *ctx;
};

static struct qn_answer_task *task_new(void)
{
    struct qn_answer_task *t = qn_xcalloc(1, sizeof *t);
    t->arena = qn_arena_new(QN_ANSWERS_FOUND_MAX);
    return t;
}

static void task_free(struct qn_answer_task *t)
{
    qn_arena_free(t->arena);
    free(t->rows);
    free(t);
}

void qn_answer_task_free(struct qn_answer_task *t)
{
    if (t)
        task_free(t);
}

/* Runs one statement whose parameters are texts; NULL ends them. */
static qn_err run_texts(struct qn_database *d, const char *sql, const char *const *texts,
                        struct qn_error *e)
{
    sqlite3_stmt *s;
    qn_err err = qn_database_prepare(d, &s, sql, e);
    if (err)
        return err;
    for (int i = 0; texts[i]; i++) /* not copied: they may be megabytes */
        sqlite3_bind_text(s, i + 1, texts[i], -1, SQLITE_STATIC);
    return qn_database_finish(d, s, e);
}

/* Runs a query for a total of all responses: their number or their bytes. */
static qn_err measure(struct qn_database *d, const char *sql, int64_t *out, struct qn_error *e)
{
    sqlite3_stmt *s = NULL;
    qn_err err = QN_OK;
    if (sqlite3_prepare_v2(d->db, sql, -1, &s, NULL) != SQLITE_OK || sqlite3_step(s) != SQLITE_ROW)
        err = qn_database_fail(d, "reading the catalog", e);
    else
        *out = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return err;
}

/* Applies both limits: while one is exceeded, the owner with the most (responses or bytes) loses
 * its least recently used one. The newest response always stays, because it was used last. */
static qn_err trim(struct qn_database *d, struct qn_error *e)
{
    static const struct {
        const char *total, *drop;
        int64_t most;
    } limits[] = {
        {"SELECT count(*) FROM answer_use",
         "DELETE FROM answer WHERE id = (SELECT id FROM answer_use WHERE owner ="
         " (SELECT owner FROM answer_use GROUP BY owner ORDER BY count(*) DESC, min(used) LIMIT 1)"
         " ORDER BY used LIMIT 1)",
         QN_ANSWERS_MAX},
        {"SELECT coalesce(sum(bytes), 0) FROM answer_use",
         "DELETE FROM answer WHERE id = (SELECT id FROM answer_use WHERE owner ="
         " (SELECT owner FROM answer_use GROUP BY owner ORDER BY sum(bytes) DESC, min(used)"
         " LIMIT 1) ORDER BY used LIMIT 1)",
         QN_ANSWERS_BYTES_MAX},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        int64_t total = 0;
        qn_err err = measure(d, limits[i].total, &total, e);
        while (!err && total > limits[i].most) {
            err = qn_database_exec(d, limits[i].drop, e);
            if (!err)
                err = measure(d, limits[i].total, &total, e);
        }
        if (err)
            return err;
    }
    return QN_OK;
}

static void keep(struct qn_database *d, void *ctx)
{
    struct qn_answer_task *t = ctx;
    struct qn_error e = {0};
    const struct qn_answer_row *r = &t->row;
    qn_err err = qn_database_begin(d, &e);
    if (!err)
        err = run_texts(d,
                        "INSERT OR REPLACE INTO answer(id, previous, input, body)"
                        " VALUES(?1, ?2, ?3, ?4)",
                        (const char *[]){r->id, r->previous, r->input, r->body, NULL}, &e);
    if (!err) {
        char bytes[32];
        snprintf(bytes, sizeof bytes, "%zu", strlen(r->input) + strlen(r->body));
        err = run_texts(d,
                        "INSERT OR REPLACE INTO answer_use(id, bytes, used, owner) VALUES(?1,"
                        " CAST(?2 AS INTEGER), (SELECT coalesce(max(used), 0) + 1 FROM answer_use),"
                        " ?3)",
                        (const char *[]){r->id, bytes, t->of.owner, NULL}, &e);
    }
    if (!err)
        err = trim(d, &e);
    if (qn_database_end(d, err, &e))
        qn_error_log("catalog", "a response was not stored: %s", e.message);
    qn_arena_free(t->arena); /* here, since it may be large: `kept` runs on the loop */
    t->arena = NULL;
}

static const char *copy_column(struct qn_answer_task *t, sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    size_t n = (size_t)sqlite3_column_bytes(s, column);
    char *copy = qn_arena_try(t->arena, n + 1);
    if (copy && text)
        memcpy(copy, text, n);
    return copy;
}

/* The id ?1 if it belongs to the owner ?2 or to ?3. */
#define IDS_OF "SELECT id FROM answer_use WHERE id = ?1 AND (owner = ?2 OR owner = ?3)"

/* The second owner (?3) whose responses are accessed; if there is none, the same owner again. */
static const char *also_of(const struct qn_answers_of *of)
{
    return of->unowned ? "" : of->owner;
}

/* Appends the row with this id. QN_ENOTFOUND without a message when there is none. */
static qn_err read_one(struct qn_database *d, struct qn_answer_task *t, const char *id)
{
    sqlite3_stmt *s = NULL;
    qn_err err = QN_OK;
    if (sqlite3_prepare_v2(d->db,
                           "SELECT id, previous, input, body FROM answer WHERE id = ?1"
                           " AND id IN (" IDS_OF ")",
                           -1, &s, NULL) != SQLITE_OK)
        return qn_database_fail(d, "preparing a statement", &t->error);
    sqlite3_bind_text(s, 1, id, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, t->of.owner, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, also_of(&t->of), -1, SQLITE_STATIC);
    int step = sqlite3_step(s);
    if (step == SQLITE_ROW) {
        t->rows = qn_xrealloc(t->rows, (t->n + 1) * sizeof *t->rows);
        struct qn_answer_row *row = &t->rows[t->n];
        *row = (struct qn_answer_row){copy_column(t, s, 0), copy_column(t, s, 1),
                                      copy_column(t, s, 2), copy_column(t, s, 3)};
        if (row->id && row->previous && row->input && row->body)
            t->n++;
        else
            err = qn_fail(&t->error, QN_ELIMIT,
                          "the conversation is too long to continue: at most %d bytes",
                          QN_ANSWERS_FOUND_MAX);
    } else {
        err = step == SQLITE_DONE ? QN_ENOTFOUND
                                  : qn_database_fail(d, "reading the catalog", &t->error);
    }
    sqlite3_finalize(s);
    /* The response was used. A failure here (a full disk) must not prevent reading. */
    struct qn_error unwritten = {0};
    if (!err && run_texts(d,
                          "UPDATE answer_use SET used = (SELECT max(used) + 1 FROM answer_use)"
                          " WHERE id = ?1",
                          (const char *[]){id, NULL}, &unwritten))
        qn_warn("catalog", "the use of a response was not recorded: %s", unwritten.message);
    return err;
}

/* Reads the chain from its end to its beginning, then reverses it. */
static qn_err read_chain(struct qn_database *d, struct qn_answer_task *t)
{
    const char *id = t->chain;
    qn_err err = QN_OK;
    while (id && *id && !err) {
        if (t->n == QN_ANSWER_CHAIN_MAX)
            return qn_fail(&t->error, QN_ELIMIT,
                           "the conversation has more than %d responses: begin a new one",
                           QN_ANSWER_CHAIN_MAX);
        err = read_one(d, t, id);
        if (!err)
            id = t->rows[t->n - 1].previous;
    }
    if (err == QN_ENOTFOUND) { /* a conversation without its beginning would be a different one */
        t->n = 0;
        return QN_OK;
    }
    for (size_t i = 0; i < t->n / 2; i++) {
        struct qn_answer_row row = t->rows[i];
        t->rows[i] = t->rows[t->n - 1 - i];
        t->rows[t->n - 1 - i] = row;
    }
    t->n_chain = t->n;
    return err;
}

static void find(struct qn_database *d, void *ctx)
{
    struct qn_answer_task *t = ctx;
    qn_err err = read_chain(d, t);
    for (size_t i = 0; i < t->n_ids && (!err || err == QN_ENOTFOUND); i++)
        err = read_one(d, t, t->ids[i]);
}

static void drop(struct qn_database *d, void *ctx)
{
    struct qn_answer_task *t = ctx;
    qn_err err =
        run_texts(d, "DELETE FROM answer WHERE id IN (" IDS_OF ")",
                  (const char *[]){t->row.id, t->of.owner, also_of(&t->of), NULL}, &t->error);
    if (!err && sqlite3_changes(d->db) == 0)
        qn_fail_param(&t->error, QN_ENOTFOUND, "id", "there is no such response here");
}

/* The three callbacks on the catalog user's thread. */
static void kept(void *ctx)
{
    task_free(ctx);
}

static void tell_found(void *ctx)
{
    struct qn_answer_task *t = ctx;
    bool failed = t->error.code != QN_OK;
    t->found(t->ctx, &(struct qn_answers_found){.rows = t->rows,
                                                .n = failed ? 0 : t->n,
                                                .n_chain = failed ? 0 : t->n_chain,
                                                .arena = &t->arena,
                                                .e = failed ? &t->error : NULL});
    task_free(t);
}

static void tell_done(void *ctx)
{
    struct qn_answer_task *t = ctx;
    t->done(t->ctx, t->error.code ? &t->error : NULL);
    task_free(t);
}

static void set_owner(struct qn_answer_task *t, const struct qn_answers_of *of)
{
    t->of = (struct qn_answers_of){qn_arena_strdup(t->arena, of->owner), of->unowned};
}

struct qn_answer_task *qn_answer_to_keep(const char *owner, const struct qn_answer_row *row)
{
    size_t bytes = strlen(row->input) + strlen(row->body);
    if (bytes > QN_ANSWER_BYTES_MAX) {
        qn_warn("catalog", "a response of %zu bytes is too long to be stored (at most %d)", bytes,
                QN_ANSWER_BYTES_MAX);
        return NULL;
    }
    struct qn_answer_task *t = task_new();
    t->row = (struct qn_answer_row){
        qn_arena_strdup(t->arena, row->id), qn_arena_strdup(t->arena, row->previous),
        qn_arena_strdup(t->arena, row->input), qn_arena_strdup(t->arena, row->body)};
    set_owner(t, &(struct qn_answers_of){.owner = owner});
    return t;
}

void qn_catalog_keep_answer(struct qn_catalog *c, struct qn_answer_task *t)
{
    if (t)
        qn_catalog_task(c, keep, kept, t);
}

/* Ids come from clients and may have any length. */
static bool is_id(const char *id)
{
    return strnlen(id, QN_ANSWER_ID_MAX + 1) <= QN_ANSWER_ID_MAX;
}

void qn_catalog_find_answers(struct qn_catalog *c, const struct qn_answers_of *of,
                             const char *chain, const char *const *ids, size_t n, qn_answers_fn fn,
                             void *ctx)
{
    struct qn_answer_task *t = task_new();
    set_owner(t, of);
    t->chain = chain && is_id(chain) ? qn_arena_strdup(t->arena, chain) : NULL;
    t->ids = qn_arena_alloc(t->arena, (n + 1) * sizeof *t->ids);
    for (size_t i = 0; i < n; i++)
        if (is_id(ids[i]))
            t->ids[t->n_ids++] = qn_arena_strdup(t->arena, ids[i]);
    t->found = fn;
    t->ctx = ctx;
    qn_catalog_task(c, find, tell_found, t);
}

void qn_catalog_drop_answer(struct qn_catalog *c, const struct qn_answers_of *of, const char *id,
                            qn_catalog_done done, void *ctx)
{
    struct qn_answer_task *t = task_new();
    set_owner(t, of);
    t->row.id = qn_arena_strndup(t->arena, id, strnlen(id, QN_ANSWER_ID_MAX + 1));
    t->done = done;
    t->ctx = ctx;
    qn_catalog_task(c, drop, tell_done, t);
}
