/* Storing imported chats. They are hidden until the whole import has succeeded, so that a large one
 * needs no long transaction, during which answers in progress would wait. See import.h. */
#include "chats/import.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/rand.h"
#include "base/str.h"
#include "chats/rows.h"

#include <stdio.h>
#include <string.h>

/* What qn_chats_import_add has been given; lent by the caller. */
struct adding {
    char import[QN_CHATS_ID_DIGITS + 1];
    const struct qn_chats_ready *chats;
    size_t n;
    bool keep; /* of qn_chats_import_end */
};

/* Whether the owner has this chat: from an earlier import, or because it was exported here. */
static qn_err is_here(struct qn_chats_task *t, const char *origin, bool *here, struct qn_error *e)
{
    int64_t n;
    *here = false;
    if (!*origin)
        return QN_OK;
    qn_err err = qn_chats_ints(t->d, &n, 1, e,
                               "SELECT n FROM chat WHERE owner = ?1 AND hidden = ''"
                               " AND deleted = 0 AND (origin = ?2 OR id = ?2) LIMIT 1",
                               "is", t->owner_n, origin);
    *here = !err;
    return err == QN_ENOTFOUND ? QN_OK : err;
}

static qn_err add_title(struct qn_chats_task *t, const char *title, struct qn_error *e)
{
    struct qn_stored_chat *grown =
        qn_chats_grow(t, t->chats_found, t->found.n_chats, sizeof *t->chats_found);
    if (!grown)
        return qn_fail(e, QN_ELIMIT, "too many chats are here already");
    t->chats_found = grown;
    grown[t->found.n_chats++] = (struct qn_stored_chat){.title = qn_chats_copy(t, title)};
    return QN_OK;
}

/* Completes what is known of a file that the owner has. QN_ENOTFOUND: it has none. */
static qn_err find_blob(struct qn_chats_task *t, struct qn_chat_blob *blob, struct qn_error *e)
{
    sqlite3_stmt *s;
    qn_err err = qn_chats_sql(t->d, &s, e,
                              "SELECT type, bytes FROM blob WHERE owner = ?"
                              " AND sha256 = ?",
                              "is", t->owner_n, blob->id);
    if (err)
        return err;
    int step = sqlite3_step(s);
    if (step == SQLITE_ROW) {
        snprintf(blob->type, sizeof blob->type, "%s", (const char *)sqlite3_column_text(s, 0));
        blob->bytes = sqlite3_column_int64(s, 1);
    }
    err = qn_chats_done(t->d, s, step, e);
    return !err && step == SQLITE_DONE ? QN_ENOTFOUND : err;
}

/* Files the parts of a message and writes them as JSON. ids: room for all of them. */
static qn_err store_parts(struct qn_chats_task *t, const struct qn_chats_imported_message *m,
                          struct qn_chat_blob *blobs, char *const *temps, struct qn_buf *out,
                          const char **ids, size_t *n_ids, struct qn_error *e)
{
    struct qn_jw w = qn_jw_to(out);
    qn_err err = QN_OK;
    *n_ids = 0;
    qn_jw_arr(&w);
    for (size_t i = 0; i < m->n_parts && !err; i++) {
        if (!*blobs[i].id)
            continue;
        if (temps[i])
            err = qn_chats_file_blob(t, temps[i], &blobs[i], e);
        else if (find_blob(t, &blobs[i], e))
            continue;
        ids[(*n_ids)++] = blobs[i].id;
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "kind", m->parts[i].kind);
        qn_jw_kstr(&w, "blob", blobs[i].id);
        qn_jw_kstr(&w, "name", m->parts[i].name);
        qn_jw_kstr(&w, "type", blobs[i].type);
        qn_jw_ki64(&w, "bytes", blobs[i].bytes);
        qn_jw_obj_end(&w);
    }
    qn_jw_arr_end(&w);
    return err;
}

static qn_err store_messages(struct qn_chats_task *t, const struct qn_chats_ready *ready,
                             int64_t chat, int64_t *head, struct qn_error *e)
{
    const struct qn_chats_imported *c = ready->chat;
    int64_t *rows = qn_arena_alloc(t->arena, (c->n + 1) * sizeof *rows);
    size_t part = 0;
    qn_err err = QN_OK;
    struct qn_buf parts;
    qn_buf_init(&parts, QN_CHATS_JSON_MAX);
    for (size_t i = 0; i < c->n && !err; i++) {
        const struct qn_chats_imported_message *from = &c->messages[i];
        const char *ids[QN_CHATS_PARTS_MAX];
        char id[QN_CHATS_ID_DIGITS + 1];
        struct qn_chat_message m = from->m;
        struct qn_chats_at at = {.chat = chat};
        qn_random_hex(id, QN_CHATS_ID_DIGITS);
        qn_buf_clear(&parts);
        err = store_parts(t, from, ready->blobs + part, ready->temps + part, &parts, ids,
                          &m.n_blobs, e);
        part += from->n_parts;
        m.id = id;
        m.blobs = ids;
        m.parts = qn_buf_cstr(&parts);
        at.message = from->parent == QN_CHATS_IMPORT_NONE ? 0 : rows[from->parent];
        if (!err)
            err = qn_chats_insert(t, &at, &m, &rows[i], e);
        t->found.changed++;
    }
    qn_buf_deinit(&parts);
    *head = c->head == QN_CHATS_IMPORT_NONE ? 0 : rows[c->head];
    return err;
}

static qn_err store_chat(struct qn_chats_task *t, const struct qn_chats_ready *ready,
                         struct qn_error *e)
{
    const struct adding *w = t->args;
    const struct qn_stored_chat *c = &ready->chat->chat;
    char id[QN_CHATS_ID_DIGITS + 1];
    bool here;
    int64_t head;
    qn_err err = is_here(t, ready->chat->origin, &here, e);
    if (err || here)
        return err ? err : add_title(t, c->title, e);
    err = qn_chats_room(t, 1, e);
    if (err)
        return err;
    qn_random_hex(id, QN_CHATS_ID_DIGITS);
    err = qn_chats_run(t->d, e,
                       "INSERT INTO chat(id, owner, title, folder, pinned, created, updated, model,"
                       " params, system, hidden, origin)"
                       " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                       "sissiiisssss", id, t->owner_n, c->title, c->folder, (int64_t)c->pinned,
                       c->created_ms, c->updated_ms, c->model, c->params, c->system, w->import,
                       ready->chat->origin);
    if (err)
        return err;
    int64_t n = sqlite3_last_insert_rowid(t->d->db);
    err = store_messages(t, ready, n, &head, e);
    return err || !head
               ? err
               : qn_chats_run(t->d, e, "UPDATE chat SET head = ? WHERE n = ?", "ii", head, n);
}

static qn_err add(struct qn_chats_task *t, struct qn_error *e)
{
    const struct adding *w = t->args;
    qn_err err = qn_chats_own(t, e);
    for (size_t i = 0; i < w->n && !err; i++)
        err = store_chat(t, &w->chats[i], e);
    return err;
}

void qn_chats_import_add(struct qn_chats *c, const char *owner, const char *import,
                         const struct qn_chats_ready *chats, size_t n, qn_chats_fn fn, void *ctx)
{
    struct qn_chats_task *t = qn_chats_task_new(c, owner, add, true, fn, ctx);
    struct adding *w = t->args = qn_arena_alloc(t->arena, sizeof *w);
    *w = (struct adding){.chats = chats, .n = n};
    memcpy(w->import, import, QN_CHATS_ID_DIGITS);
    qn_chats_task_run(t, QN_OK);
}

static qn_err end(struct qn_chats_task *t, struct qn_error *e)
{
    const struct adding *w = t->args;
    qn_err err = qn_chats_find_owner(t, e);
    if (!err)
        err = qn_chats_run(t->d, e, "UPDATE chat SET hidden = ? WHERE hidden = ? AND owner = ?",
                           "ssi", w->keep ? "" : QN_CHATS_ERASED, w->import, t->owner_n);
    if (!err && w->keep)
        qn_chats_tell(t, &(struct qn_chats_event){.change = QN_CHATS_ALL, .owner = t->owner});
    return err;
}

void qn_chats_import_end(struct qn_chats *c, const char *owner, const char *import, bool keep,
                         qn_chats_fn fn, void *ctx)
{
    struct qn_chats_task *t = qn_chats_task_new(c, owner, end, true, fn, ctx);
    struct adding *w = t->args = qn_arena_alloc(t->arena, sizeof *w);
    *w = (struct adding){.keep = keep};
    memcpy(w->import, import, QN_CHATS_ID_DIGITS);
    qn_chats_task_run(t, QN_OK);
}
