/* Making, changing and deleting chats. See chats.h. */
#include "chats/rows.h"

#include "base/buf.h"
#include "base/rand.h"

#include <stdlib.h>
#include <string.h>

enum { TOLD_MAX = 16 }; /* more changes at once are told as one */

struct change {
    const char **ids; /* the chats; none: a new one */
    size_t n;
    struct qn_chat_patch patch;
};

static qn_err check_patch(const struct qn_chat_patch *p, struct qn_error *e)
{
    qn_err err = qn_chats_check("title", p->title, QN_CHATS_NAME_MAX, e);
    if (!err)
        err = qn_chats_check("folder", p->folder, QN_CHATS_NAME_MAX, e);
    if (!err)
        err = qn_chats_check("model", p->model, QN_CHATS_NAME_MAX, e);
    if (!err)
        err = qn_chats_check("system", p->system, QN_CHATS_SYSTEM_MAX, e);
    if (!err)
        err = qn_chats_check("params", p->params, QN_CHATS_JSON_MAX, e);
    return err ? err : qn_chats_check("head", p->head, QN_CHATS_NAME_MAX, e);
}

static const bool *copy_bool(struct qn_chats_task *t, const bool *value)
{
    bool *copy = value ? qn_arena_alloc(t->arena, sizeof *copy) : NULL;
    if (copy)
        *copy = *value;
    return copy;
}

/* Makes the task's arguments; QN_ELIMIT. */
static qn_err set_change(struct qn_chats_task *t, const char *const *ids, size_t n,
                         const struct qn_chat_patch *p)
{
    struct change *c = t->args = qn_arena_alloc(t->arena, sizeof *c);
    qn_err err = check_patch(p, &t->error);
    if (err)
        return err;
    if (n > QN_CHATS_BULK_MAX)
        return qn_fail_param(&t->error, QN_ELIMIT, "ids", "ids: at most %d chats at once",
                             QN_CHATS_BULK_MAX);
    c->ids = qn_arena_alloc(t->arena, (n + 1) * sizeof *c->ids);
    for (c->n = 0; c->n < n; c->n++) {
        err = qn_chats_check("id", ids[c->n], QN_CHATS_NAME_MAX, &t->error);
        if (err)
            return err;
        c->ids[c->n] = qn_chats_copy(t, ids[c->n]);
    }
    c->patch = (struct qn_chat_patch){.title = qn_chats_copy(t, p->title),
                                      .folder = qn_chats_copy(t, p->folder),
                                      .model = qn_chats_copy(t, p->model),
                                      .system = qn_chats_copy(t, p->system),
                                      .params = qn_chats_copy(t, p->params),
                                      .head = qn_chats_copy(t, p->head),
                                      .pinned = copy_bool(t, p->pinned),
                                      .deleted = copy_bool(t, p->deleted)};
    return QN_OK;
}

static const char *or_empty(const char *text, const char *empty)
{
    return text ? text : empty;
}

static qn_err add(struct qn_chats_task *t, struct qn_error *e)
{
    const struct qn_chat_patch *p = &((const struct change *)t->args)->patch;
    char *id = qn_arena_alloc(t->arena, QN_CHATS_ID_DIGITS + 1);
    qn_err err = qn_chats_own(t, e);
    if (!err)
        err = qn_chats_room(t, 1, e);
    if (err)
        return err;
    qn_random_hex(id, QN_CHATS_ID_DIGITS);
    err = qn_chats_run(t->d, e,
                       "INSERT INTO chat(id, owner, title, folder, pinned, created, updated, model,"
                       " params, system) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, ?8, ?9)",
                       "sissiisss", id, t->owner_n, or_empty(p->title, ""), or_empty(p->folder, ""),
                       (int64_t)(p->pinned && *p->pinned), qn_chats_now(), or_empty(p->model, ""),
                       or_empty(p->params, "{}"), or_empty(p->system, ""));
    if (err)
        return err;
    int64_t n = sqlite3_last_insert_rowid(t->d->db);
    err = qn_chats_load(t, true, e, "FROM chat WHERE n = ?", "i", n);
    return err ? err : qn_chats_tell_chat(t, n, e);
}

void qn_chats_add(struct qn_chats *c, const char *owner, const struct qn_chat_patch *chat,
                  qn_chats_fn fn, void *ctx)
{
    struct qn_chats_task *t = qn_chats_task_new(c, owner, add, true, fn, ctx);
    qn_chats_task_run(t, set_change(t, NULL, 0, chat));
}

/* The row of the message that is to be the chat's head. */
static qn_err find_head(struct qn_chats_task *t, const char *id, int64_t chat, int64_t *out,
                        struct qn_error *e)
{
    struct qn_chats_at at;
    qn_err err = qn_chats_find_message(t, id, &at, e);
    if (err == QN_ENOTFOUND || (!err && (at.chat != chat || at.deleted)))
        return qn_fail_param(e, QN_EINVAL, "head", "head: the chat has no message '%.40s'", id);
    *out = at.message;
    return err;
}

/* Sets *out to whether an answer in the chat is in progress. Such an answer is stopped by the event
 * of the chat's deletion, so this event must be sent. */
static qn_err is_answering(struct qn_chats_task *t, int64_t chat, bool *out, struct qn_error *e)
{
    int64_t n = 0;
    qn_err err = qn_chats_ints(t->d, &n, 1, e,
                               "SELECT count(*) FROM answer a JOIN message m ON m.n = a.message"
                               " WHERE m.chat = ?",
                               "i", chat);
    *out = n > 0;
    return err;
}

/* tell: this chat's change is told by itself. */
static qn_err change_one(struct qn_chats_task *t, const char *id, const struct qn_chat_patch *p,
                         int64_t now, bool tell, struct qn_error *e)
{
    struct qn_chats_at at;
    int64_t head = 0;
    qn_err err = qn_chats_find_chat(t, id, &at, e);
    if (!err && p->head)
        err = find_head(t, p->head, at.chat, &head, e);
    if (err)
        return err;
    int64_t deleted = at.chat_deleted;
    if (p->deleted)
        deleted = !*p->deleted ? 0 : deleted ? deleted : now;
    err = qn_chats_run(t->d, e,
                       "UPDATE chat SET folder = coalesce(?2, folder), model = coalesce(?3, model),"
                       " system = coalesce(?4, system), params = coalesce(?5, params),"
                       " pinned = CASE ?6 WHEN -1 THEN pinned ELSE ?6 END,"
                       " head = CASE ?7 WHEN 0 THEN head ELSE ?7 END, deleted = ?8 WHERE n = ?1",
                       "issssiii", at.chat, p->folder, p->model, p->system, p->params,
                       p->pinned ? (int64_t)*p->pinned : INT64_C(-1), head, deleted);
    if (!err && p->title) /* apart, since it is indexed */
        err = qn_chats_run(t->d, e, "UPDATE chat SET title = ?2 WHERE n = ?1", "is", at.chat,
                           p->title);
    if (!err && !tell && deleted && !at.chat_deleted)
        err = is_answering(t, at.chat, &tell, e);
    return err || !tell ? err : qn_chats_tell_chat(t, at.chat, e);
}

static qn_err change(struct qn_chats_task *t, struct qn_error *e)
{
    const struct change *c = t->args;
    int64_t now = qn_chats_now();
    bool each = c->n <= TOLD_MAX;
    qn_err err = QN_OK;
    for (size_t i = 0; i < c->n && !err; i++)
        err = change_one(t, c->ids[i], &c->patch, now, each, e);
    if (!err && !each)
        qn_chats_tell(t, &(struct qn_chats_event){.change = QN_CHATS_ALL, .owner = t->owner});
    if (!err && c->n == 1)
        err = qn_chats_load(t, true, e, "FROM chat WHERE id = ?", "s", c->ids[0]);
    return err;
}

void qn_chats_change(struct qn_chats *c, const char *owner, const char *chat,
                     const struct qn_chat_patch *patch, qn_chats_fn fn, void *ctx)
{
    qn_chats_change_all(c, owner, &chat, 1, patch, fn, ctx);
}

void qn_chats_change_all(struct qn_chats *c, const char *owner, const char *const *chats, size_t n,
                         const struct qn_chat_patch *patch, qn_chats_fn fn, void *ctx)
{
    struct qn_chats_task *t = qn_chats_task_new(c, owner, change, true, fn, ctx);
    qn_chats_task_run(t, set_change(t, chats, n, patch));
}

/* The chat is gone for everybody at once; its rows are erased later (sweep.c), since there may be
 * many. Unfinished answers end, because appending finds no message any more. */
static qn_err remove_chat(struct qn_chats_task *t, struct qn_error *e)
{
    const struct change *c = t->args;
    struct qn_chats_at at;
    qn_err err = qn_chats_find_chat(t, c->ids[0], &at, e);
    if (!err)
        err = qn_chats_run(t->d, e, "UPDATE chat SET hidden = '" QN_CHATS_ERASED "' WHERE n = ?",
                           "i", at.chat);
    if (!err)
        qn_chats_tell(t, &(struct qn_chats_event){.change = QN_CHATS_CHAT_GONE,
                                                  .owner = t->owner,
                                                  .chat_id = c->ids[0]});
    return err;
}

void qn_chats_remove(struct qn_chats *c, const char *owner, const char *chat, qn_chats_fn fn,
                     void *ctx)
{
    static const struct qn_chat_patch nothing;
    struct qn_chats_task *t = qn_chats_task_new(c, owner, remove_chat, true, fn, ctx);
    qn_chats_task_run(t, set_change(t, &chat, 1, &nothing));
}
