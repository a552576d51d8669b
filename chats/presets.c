/* See presets.h. */
#include "chats/presets.h"

#include "base/rand.h"
#include "chats/rows.h"

/* Reads the presets that "WHERE ..." finds; it has one parameter beside the owner's row. */
static qn_err load(struct qn_chats_task *t, struct qn_error *e, const char *where, const char *arg)
{
    sqlite3_stmt *s;
    struct qn_chat_preset *list = qn_arena_try(t->arena, QN_CHATS_PRESETS_MAX * sizeof *list);
    char *sql = qn_arena_fmt(t->arena,
                             "SELECT id, name, system, params, updated FROM preset WHERE owner = ?1"
                             " AND %s ORDER BY name COLLATE NOCASE, name LIMIT ?3",
                             where);
    if (!list)
        return qn_fail(e, QN_ENOMEM, "no memory for the presets");
    qn_err err =
        qn_chats_sql(t->d, &s, e, sql, "isi", t->owner_n, arg, (int64_t)QN_CHATS_PRESETS_MAX);
    if (err)
        return err;
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        struct qn_chat_preset *p = &list[t->found.n_presets];
        *p = (struct qn_chat_preset){.id = qn_chats_text(t->arena, s, 0),
                                     .name = qn_chats_text(t->arena, s, 1),
                                     .system = qn_chats_text(t->arena, s, 2),
                                     .params = qn_chats_text(t->arena, s, 3),
                                     .updated_ms = sqlite3_column_int64(s, 4)};
        if (!p->id || !p->name || !p->system || !p->params)
            break;
        t->found.n_presets++;
    }
    t->found.presets = list;
    err = qn_chats_done(t->d, s, step, e);
    return !err && step == SQLITE_ROW ? qn_fail(e, QN_ENOMEM, "no memory for the presets") : err;
}

static void tell(struct qn_chats_task *t)
{
    qn_chats_tell(t, &(struct qn_chats_event){.change = QN_CHATS_PRESETS, .owner = t->owner});
}

/* ---- list ---- */

static qn_err list(struct qn_chats_task *t, struct qn_error *e)
{
    qn_err err = qn_chats_find_owner(t, e);
    return err || !t->owner_n ? err : load(t, e, "?2 IS NULL", NULL);
}

void qn_chats_presets(struct qn_chats *c, const char *owner, qn_chats_fn fn, void *ctx)
{
    qn_chats_task_run(qn_chats_task_new(c, owner, list, false, fn, ctx), QN_OK);
}

/* ---- changes ---- */

static qn_err has_room(struct qn_chats_task *t, const char *name, struct qn_error *e)
{
    int64_t others;
    qn_err err = qn_chats_ints(t->d, &others, 1, e,
                               "SELECT count(*) FROM preset WHERE owner = ? AND name <> ?", "is",
                               t->owner_n, name);
    return !err && others >= QN_CHATS_PRESETS_MAX
               ? qn_fail(e, QN_ELIMIT, "there are %d presets already: delete one first",
                         QN_CHATS_PRESETS_MAX)
               : err;
}

static qn_err put(struct qn_chats_task *t, struct qn_error *e)
{
    const struct qn_chat_preset *p = t->args;
    char id[QN_CHATS_ID_DIGITS + 1];
    qn_err err = qn_chats_own(t, e);
    if (!err)
        err = has_room(t, p->name, e);
    qn_random_hex(id, QN_CHATS_ID_DIGITS);
    if (!err)
        err = qn_chats_run(t->d, e,
                           "INSERT INTO preset(id, owner, name, updated, params, system)"
                           " VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT(owner, name) DO UPDATE SET"
                           " updated = excluded.updated, params = excluded.params,"
                           " system = excluded.system",
                           "sisiss", id, t->owner_n, p->name, qn_chats_now(), p->params, p->system);
    if (err)
        return err;
    tell(t);
    return load(t, e, "name = ?2", p->name);
}

void qn_chats_put_preset(struct qn_chats *c, const char *owner, const struct qn_chat_preset *p,
                         qn_chats_fn fn, void *ctx)
{
    struct qn_chats_task *t = qn_chats_task_new(c, owner, put, true, fn, ctx);
    qn_err err = qn_chats_check("name", p->name, QN_CHATS_NAME_MAX, &t->error);
    if (!err && (!p->name || !*p->name))
        err = qn_fail_param(&t->error, QN_EINVAL, "name", "name: a preset needs a name");
    if (!err)
        err = qn_chats_check("system", p->system, QN_CHATS_SYSTEM_MAX, &t->error);
    if (!err)
        err = qn_chats_check("params", p->params, QN_CHATS_PRESET_PARAMS_MAX, &t->error);
    if (!err) {
        struct qn_chat_preset *copy = t->args = qn_arena_alloc(t->arena, sizeof *copy);
        *copy = (struct qn_chat_preset){.name = qn_chats_copy(t, p->name),
                                        .system = qn_chats_copy(t, p->system ? p->system : ""),
                                        .params = qn_chats_copy(t, p->params ? p->params : "{}")};
    }
    qn_chats_task_run(t, err);
}

static qn_err remove_preset(struct qn_chats_task *t, struct qn_error *e)
{
    const char *id = t->args;
    int64_t n;
    qn_err err = qn_chats_find_owner(t, e);
    if (!err)
        err = qn_chats_ints(t->d, &n, 1, e, "SELECT n FROM preset WHERE id = ? AND owner = ?", "si",
                            id, t->owner_n);
    if (err == QN_ENOTFOUND)
        return qn_fail_param(e, QN_ENOTFOUND, "id", "there is no preset '%.40s'", id);
    if (!err)
        err = qn_chats_run(t->d, e, "DELETE FROM preset WHERE n = ?", "i", n);
    if (!err)
        tell(t);
    return err;
}

void qn_chats_remove_preset(struct qn_chats *c, const char *owner, const char *id, qn_chats_fn fn,
                            void *ctx)
{
    struct qn_chats_task *t = qn_chats_task_new(c, owner, remove_preset, true, fn, ctx);
    qn_err err = qn_chats_check("id", id, QN_CHATS_NAME_MAX, &t->error);
    if (!err)
        t->args = qn_arena_strdup(t->arena, id);
    qn_chats_task_run(t, err);
}
