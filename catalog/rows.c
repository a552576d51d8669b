/* See rows.h. */
#include "catalog/rows.h"

#include "catalog/snapshot.h"

#include <string.h>

static qn_err put_model(struct qn_database *d, const struct qn_model_row *row, struct qn_error *e)
{
    sqlite3_stmt *s;
    qn_err err = qn_database_prepare(
        d, &s,
        "INSERT INTO model(name, type, recipe, checkpoint, size_bytes, labels,"
        " details, options, builtin, suggested, created_s, last_use_s, base, preset,"
        " facts, digest, digest_of, modified_s, checkpoints, hub, revision, commit_id,"
        " keeper, extras, capabilities)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,"
        " ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24,"
        " coalesce(CASE WHEN json_valid(?15) THEN json_extract(?15, '$.capabilities') END, '[]'))"
        " ON CONFLICT(name) DO UPDATE SET type = ?2, recipe = ?3, checkpoint = ?4,"
        " size_bytes = ?5, labels = ?6, details = ?7, builtin = ?9, suggested = ?10,"
        " base = ?13, preset = ?14, facts = ?15, modified_s = ?18, checkpoints = ?19,"
        " hub = ?20, revision = ?21, commit_id = ?22, keeper = ?23, extras = ?24,"
        " capabilities = excluded.capabilities,"
        " digest = CASE ?16 WHEN '' THEN digest ELSE ?16 END,"
        " digest_of = CASE ?16 WHEN '' THEN digest_of ELSE ?17 END",
        e);
    if (err)
        return err;
    qn_database_bind(s, 1, row->name);
    qn_database_bind(s, 2, row->type);
    qn_database_bind(s, 3, row->recipe);
    qn_database_bind(s, 4, row->checkpoint);
    sqlite3_bind_int64(s, 5, row->size_bytes);
    qn_database_bind(s, 6, row->labels ? row->labels : "[]");
    qn_database_bind(s, 7, row->details ? row->details : "{}");
    qn_database_bind(s, 8, row->options ? row->options : "{}");
    sqlite3_bind_int(s, 9, row->builtin);
    sqlite3_bind_int(s, 10, row->suggested);
    sqlite3_bind_int64(s, 11, row->created_s);
    sqlite3_bind_int64(s, 12, row->last_use_s);
    qn_database_bind(s, 13, row->base ? row->base : "");
    qn_database_bind(s, 14, row->preset ? row->preset : "{}");
    qn_database_bind(s, 15, row->facts ? row->facts : "{}");
    qn_database_bind(s, 16, row->digest ? row->digest : "");
    qn_database_bind(s, 17, row->digest_of ? row->digest_of : "");
    sqlite3_bind_int64(s, 18, row->modified_s);
    qn_database_bind(s, 19, row->checkpoints ? row->checkpoints : "{}");
    qn_database_bind(s, 20, row->hub ? row->hub : "");
    qn_database_bind(s, 21, row->revision ? row->revision : "");
    qn_database_bind(s, 22, row->commit ? row->commit : "");
    qn_database_bind(s, 23, row->keeper ? row->keeper : QN_KEEPER_USER);
    qn_database_bind(s, 24, row->extras ? row->extras : "{}");
    return qn_database_finish(d, s, e);
}

static qn_err put_files(struct qn_database *d, const struct qn_model_row *row, struct qn_error *e)
{
    sqlite3_stmt *s;
    qn_err err = qn_database_prepare(d, &s, "DELETE FROM file WHERE model = ?1", e);
    if (err)
        return err;
    qn_database_bind(s, 1, row->name);
    err = qn_database_finish(d, s, e);
    for (size_t i = 0; i < row->n_files && !err; i++) {
        err = qn_database_prepare(d, &s,
                                  "INSERT INTO file(model, position, path, role, size_bytes)"
                                  " VALUES(?1, ?2, ?3, ?4, ?5)",
                                  e);
        if (err)
            return err;
        qn_database_bind(s, 1, row->name);
        sqlite3_bind_int64(s, 2, (sqlite3_int64)i);
        qn_database_bind(s, 3, row->files[i]);
        qn_database_bind(s, 4, row->roles ? row->roles[i] : "main");
        sqlite3_bind_int64(s, 5, row->sizes ? row->sizes[i] : -1);
        err = qn_database_finish(d, s, e);
    }
    return err;
}

qn_err qn_rows_put(struct qn_database *d, const struct qn_model_row *row, struct qn_error *e)
{
    qn_err err = qn_database_begin(d, e);
    if (err)
        return err;
    err = put_model(d, row, e);
    if (!err)
        err = put_files(d, row, e);
    return qn_database_end(d, err, e);
}

/* Runs a statement on one named row; QN_ENOTFOUND when there is none. */
static qn_err change_one(struct qn_database *d, sqlite3_stmt *s, const char *name,
                         struct qn_error *e)
{
    qn_err err = qn_database_finish(d, s, e);
    if (!err && sqlite3_changes(d->db) == 0)
        err = qn_fail(e, QN_ENOTFOUND, "model %s is not in the catalog", name);
    return err;
}

qn_err qn_rows_remove(struct qn_database *d, const char *name, struct qn_error *e)
{
    sqlite3_stmt *s;
    qn_err err = qn_database_prepare(d, &s, "DELETE FROM model WHERE name = ?1", e);
    if (err)
        return err;
    qn_database_bind(s, 1, name);
    return change_one(d, s, name, e);
}

qn_err qn_rows_set_options(struct qn_database *d, const char *name, const char *json,
                           struct qn_error *e)
{
    sqlite3_stmt *s;
    qn_err err = qn_database_prepare(d, &s, "UPDATE model SET options = ?2 WHERE name = ?1", e);
    if (err)
        return err;
    qn_database_bind(s, 1, name);
    qn_database_bind(s, 2, json);
    return change_one(d, s, name, e);
}

qn_err qn_rows_set_digest(struct qn_database *d, const struct qn_model_row *row, struct qn_error *e)
{
    sqlite3_stmt *s;
    qn_err err = qn_database_prepare(
        d, &s,
        "UPDATE model SET digest = ?2, digest_of = ?3, facts = coalesce(?4, facts),"
        " capabilities = coalesce(CASE WHEN json_valid(?4)"
        " THEN json_extract(?4, '$.capabilities') END,"
        " capabilities) WHERE name = ?1",
        e);
    if (err)
        return err;
    qn_database_bind(s, 1, row->name);
    qn_database_bind(s, 2, row->digest);
    qn_database_bind(s, 3, row->digest_of);
    if (row->facts)
        qn_database_bind(s, 4, row->facts);
    return change_one(d, s, row->name, e);
}

qn_err qn_rows_set_alias(struct qn_database *d, const char *name, const char *model,
                         struct qn_error *e)
{
    sqlite3_stmt *s;
    qn_err err = qn_database_prepare(d, &s,
                                     model ? "INSERT INTO alias(name, model) VALUES(?1, ?2)"
                                             " ON CONFLICT(name) DO UPDATE SET model = ?2"
                                           : "DELETE FROM alias WHERE name = ?1",
                                     e);
    if (err)
        return err;
    qn_database_bind(s, 1, name);
    if (model)
        qn_database_bind(s, 2, model);
    err = qn_database_finish(d, s, e);
    if (!err && sqlite3_changes(d->db) == 0)
        err = qn_fail_param(e, QN_ENOTFOUND, "alias", "there is no alias '%.200s'", name);
    return err;
}

qn_err qn_rows_set_forgotten(struct qn_database *d, const char *path, bool forgotten,
                             struct qn_error *e)
{
    sqlite3_stmt *s;
    qn_err err = qn_database_prepare(d, &s,
                                     forgotten ? "INSERT OR IGNORE INTO forgotten(path) VALUES(?1)"
                                               : "DELETE FROM forgotten WHERE path = ?1",
                                     e);
    if (err)
        return err;
    qn_database_bind(s, 1, path);
    return qn_database_finish(d, s, e);
}

qn_err qn_rows_touch(struct qn_database *d, const char *name, int64_t when_s, struct qn_error *e)
{
    sqlite3_stmt *s;
    qn_err err = qn_database_prepare(
        d, &s, "UPDATE model SET last_use_s = max(last_use_s, ?2) WHERE name = ?1", e);
    if (err)
        return err;
    qn_database_bind(s, 1, name);
    sqlite3_bind_int64(s, 2, when_s);
    return change_one(d, s, name, e);
}

static const char *text_at(struct qn_arena *a, sqlite3_stmt *s, int column)
{
    const unsigned char *text = sqlite3_column_text(s, column);
    return qn_arena_strdup(a, text ? (const char *)text : "");
}

/* The paths of one model, in order. */
static qn_err read_files(struct qn_database *d, struct qn_arena *a, struct qn_model_row *row,
                         struct qn_error *e)
{
    sqlite3_stmt *s;
    qn_err err = qn_database_prepare(
        d, &s,
        "SELECT path, role, size_bytes, count(*) OVER () FROM file WHERE model = ?1"
        " ORDER BY position",
        e);
    if (err)
        return err;
    qn_database_bind(s, 1, row->name);
    const char **files = NULL, **roles = NULL;
    int64_t *sizes = NULL;
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        if (!files) {
            size_t n = (size_t)sqlite3_column_int64(s, 3);
            files = qn_arena_alloc(a, n * sizeof *files);
            roles = qn_arena_alloc(a, n * sizeof *roles);
            sizes = qn_arena_alloc(a, n * sizeof *sizes);
        }
        files[row->n_files] = text_at(a, s, 0);
        roles[row->n_files] = text_at(a, s, 1);
        sizes[row->n_files++] = sqlite3_column_int64(s, 2);
    }
    row->files = files;
    row->roles = roles;
    row->sizes = sizes;
    if (step != SQLITE_DONE)
        err = qn_database_fail(d, "reading the catalog", e);
    sqlite3_finalize(s);
    return err;
}

static qn_err read_aliases(struct qn_database *d, struct qn_snapshot *out, struct qn_error *e)
{
    sqlite3_stmt *s;
    qn_err err = qn_database_prepare(
        d, &s, "SELECT name, model, count(*) OVER () FROM alias ORDER BY name", e);
    if (err)
        return err;
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        if (!out->aliases)
            out->aliases = qn_arena_alloc(out->arena, (size_t)sqlite3_column_int64(s, 2) *
                                                          sizeof *out->aliases);
        out->aliases[out->n_aliases++] =
            (struct qn_alias_row){text_at(out->arena, s, 0), text_at(out->arena, s, 1)};
    }
    if (step != SQLITE_DONE)
        err = qn_database_fail(d, "reading the catalog", e);
    sqlite3_finalize(s);
    return err;
}

static qn_err read_forgotten(struct qn_database *d, struct qn_snapshot *out, struct qn_error *e)
{
    sqlite3_stmt *s;
    qn_err err =
        qn_database_prepare(d, &s, "SELECT path, count(*) OVER () FROM forgotten ORDER BY path", e);
    if (err)
        return err;
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        if (!out->forgotten)
            out->forgotten = qn_arena_alloc(out->arena, (size_t)sqlite3_column_int64(s, 1) *
                                                            sizeof *out->forgotten);
        out->forgotten[out->n_forgotten++] = text_at(out->arena, s, 0);
    }
    if (step != SQLITE_DONE)
        err = qn_database_fail(d, "reading the catalog", e);
    sqlite3_finalize(s);
    return err;
}

qn_err qn_rows_snapshot(struct qn_database *d, struct qn_snapshot **out, struct qn_error *e)
{
    sqlite3_stmt *s;
    qn_err err = qn_database_prepare(
        d, &s,
        "SELECT name, type, recipe, checkpoint, size_bytes, labels, details,"
        " options, builtin, suggested, created_s, last_use_s, base, preset, facts,"
        " digest, digest_of, modified_s, checkpoints, hub, revision, commit_id, keeper,"
        " extras, capabilities, count(*) OVER () FROM model ORDER BY name",
        e);
    if (err)
        return err;
    struct qn_snapshot *snapshot = qn_snapshot_new();
    struct qn_arena *a = snapshot->arena;
    int step;
    while (!err && (step = sqlite3_step(s)) == SQLITE_ROW) {
        if (!snapshot->rows)
            snapshot->rows =
                qn_arena_alloc(a, (size_t)sqlite3_column_int64(s, 25) * sizeof *snapshot->rows);
        struct qn_model_row *row = &snapshot->rows[snapshot->n++];
        row->name = text_at(a, s, 0);
        row->type = text_at(a, s, 1);
        row->recipe = text_at(a, s, 2);
        row->checkpoint = text_at(a, s, 3);
        row->size_bytes = sqlite3_column_int64(s, 4);
        row->labels = text_at(a, s, 5);
        row->details = text_at(a, s, 6);
        row->options = text_at(a, s, 7);
        row->builtin = sqlite3_column_int(s, 8) != 0;
        row->suggested = sqlite3_column_int(s, 9) != 0;
        row->created_s = sqlite3_column_int64(s, 10);
        row->last_use_s = sqlite3_column_int64(s, 11);
        row->base = text_at(a, s, 12);
        row->preset = text_at(a, s, 13);
        row->facts = text_at(a, s, 14);
        row->digest = text_at(a, s, 15);
        row->digest_of = text_at(a, s, 16);
        row->modified_s = sqlite3_column_int64(s, 17);
        row->checkpoints = text_at(a, s, 18);
        row->hub = text_at(a, s, 19);
        row->revision = text_at(a, s, 20);
        row->commit = text_at(a, s, 21);
        row->keeper = text_at(a, s, 22);
        row->extras = text_at(a, s, 23);
        row->capabilities = text_at(a, s, 24);
        err = read_files(d, a, row, e);
    }
    if (!err && step != SQLITE_DONE)
        err = qn_database_fail(d, "reading the catalog", e);
    sqlite3_finalize(s);
    if (!err)
        err = read_aliases(d, snapshot, e);
    if (!err)
        err = read_forgotten(d, snapshot, e);
    if (err)
        qn_snapshot_unref(snapshot);
    else
        *out = snapshot;
    return err;
}
