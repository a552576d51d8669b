/* Messages: adding, reading, changing, deleting with all below them. See chats.h. */
#include "chats/rows.h"

#include "base/buf.h"
#include "base/rand.h"

#include <stdlib.h>
#include <string.h>

struct editing {
    const char *id;
    const char *text;
    bool has_deleted, deleted;
};

static const char *or_empty(const char *text, const char *empty)
{
    return text ? text : empty;
}

static int64_t length(const char *text)
{
    return (int64_t)strlen(text);
}

int64_t qn_chats_message_bytes(const struct qn_chat_message *m)
{
    return length(m->text) + length(m->reasoning) + length(m->parts) + length(m->calls) +
           length(m->params) + length(m->stats) + length(m->model);
}

qn_err qn_chats_has_room(struct qn_chats_task *t, int64_t chat, int64_t rows, int64_t bytes,
                         struct qn_error *e)
{
    int64_t of_chat[2], of_owner;
    qn_err err =
        qn_chats_ints(t->d, of_chat, 2, e, "SELECT rows, bytes FROM chat WHERE n = ?", "i", chat);
    if (!err)
        err = qn_chats_ints(t->d, &of_owner, 1, e, "SELECT bytes FROM owner WHERE n = ?", "i",
                            t->owner_n);
    if (err)
        return err;
    if (of_chat[0] + rows > QN_CHATS_MESSAGES_MAX)
        return qn_fail(e, QN_ELIMIT, "the chat has %d messages already: begin another one",
                       QN_CHATS_MESSAGES_MAX);
    if (of_chat[1] + bytes > QN_CHATS_CHAT_BYTES_MAX)
        return qn_fail(e, QN_ELIMIT, "the messages of a chat may have %d bytes: begin another one",
                       QN_CHATS_CHAT_BYTES_MAX);
    if (of_owner + bytes > QN_CHATS_OWNER_BYTES_MAX)
        return qn_fail(e, QN_ELIMIT, "the chats have %lld bytes already: delete some for good",
                       (long long)QN_CHATS_OWNER_BYTES_MAX);
    return QN_OK;
}

qn_err qn_chats_insert(struct qn_chats_task *t, const struct qn_chats_at *at,
                       const struct qn_chat_message *m, int64_t *n, struct qn_error *e)
{
    sqlite3_stmt *s;
    int64_t bytes = qn_chats_message_bytes(m);
    qn_err err = qn_chats_has_room(t, at->chat, 1, bytes, e);
    if (!err)
        err = qn_chats_sql(t->d, &s, e,
                           "INSERT INTO message(id, chat, owner, parent, role, state, created,"
                           " bytes, finish, model, parts, calls, params, stats, error, reasoning,"
                           " text) VALUES(?, ?, ?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
                           " ?, ?)",
                           "siiiiiiisssssssss", m->id, at->chat, t->owner_n, at->message,
                           (int64_t)m->role, (int64_t)m->state, m->created_ms, bytes, m->finish,
                           m->model, m->parts, m->calls, m->params, m->stats, m->error,
                           m->reasoning, m->text);
    if (!err)
        err = qn_database_finish(t->d, s, e);
    *n = sqlite3_last_insert_rowid(t->d->db);
    for (size_t i = 0; i < m->n_blobs && !err; i++) {
        int64_t blob;
        err = qn_chats_ints(t->d, &blob, 1, e, "SELECT n FROM blob WHERE owner = ? AND sha256 = ?",
                            "is", t->owner_n, m->blobs[i]);
        if (err == QN_ENOTFOUND)
            return qn_fail_param(e, QN_EINVAL, "parts", "parts: there is no file '%.64s'",
                                 m->blobs[i]);
        if (!err)
            err = qn_chats_run(t->d, e,
                               "INSERT OR IGNORE INTO message_blob(message, blob) VALUES(?, ?)",
                               "ii", *n, blob);
    }
    return err;
}

qn_err qn_chats_show(struct qn_chats_task *t, int64_t chat, int64_t head, struct qn_error *e)
{
    qn_err err = qn_chats_run(t->d, e, "UPDATE chat SET updated = ?, head = ? WHERE n = ?", "iii",
                              qn_chats_now(), head, chat);
    return err ? err : qn_chats_tell_chat(t, chat, e);
}

/* ---- adding ---- */

qn_err qn_chats_copy_message(struct qn_chats_task *t, const struct qn_chat_message *from,
                             struct qn_chat_message *to, struct qn_error *e)
{
    qn_err err = QN_OK;
    const struct {
        const char *name, *text, **copy, *empty;
        size_t max;
    } members[] = {
        {"text", from->text, &to->text, "", QN_CHATS_TEXT_MAX},
        {"reasoning", from->reasoning, &to->reasoning, "", QN_CHATS_TEXT_MAX},
        {"parts", from->parts, &to->parts, "[]", QN_CHATS_JSON_MAX},
        {"calls", from->calls, &to->calls, "[]", QN_CHATS_JSON_MAX},
        {"params", from->params, &to->params, "{}", QN_CHATS_JSON_MAX},
        {"stats", from->stats, &to->stats, "{}", QN_CHATS_JSON_MAX},
        {"error", from->error, &to->error, NULL, QN_CHATS_JSON_MAX},
        {"model", from->model, &to->model, "", QN_CHATS_NAME_MAX},
        {"finish", from->finish, &to->finish, "", QN_CHATS_NAME_MAX},
        {"chat", from->chat, &to->chat, NULL, QN_CHATS_NAME_MAX},
        {"parent", from->parent, &to->parent, NULL, QN_CHATS_NAME_MAX},
    };
    *to = *from;
    for (size_t i = 0; i < sizeof members / sizeof *members && !err; i++) {
        err = qn_chats_check(members[i].name, members[i].text, members[i].max, e);
        if (!err)
            *members[i].copy = qn_chats_copy(t, or_empty(members[i].text, members[i].empty));
    }
    if (!err && from->n_blobs > QN_CHATS_PARTS_MAX)
        err = qn_fail_param(e, QN_ELIMIT, "parts", "parts: at most %d files", QN_CHATS_PARTS_MAX);
    if (err)
        return err;
    const char **blobs = qn_arena_alloc(t->arena, (from->n_blobs + 1) * sizeof *blobs);
    for (size_t i = 0; i < from->n_blobs; i++)
        blobs[i] = qn_arena_strndup(t->arena, from->blobs[i], strnlen(from->blobs[i], 100));
    to->blobs = blobs;
    return QN_OK;
}

/* Checks the place of a new message: `parent` in `chat`, or the beginning of the chat. at->message
 * is the parent's row, 0: none. */
static qn_err find_place(struct qn_chats_task *t, const struct qn_chat_message *m,
                         struct qn_chats_at *at, struct qn_error *e)
{
    struct qn_chats_at chat;
    qn_err err = qn_chats_find_chat(t, m->chat, &chat, e);
    if (err)
        return err;
    if (chat.chat_deleted)
        return qn_fail_param(e, QN_ECONFLICT, "chat", "the chat is deleted: restore it first");
    *at = chat;
    if (!m->parent)
        return QN_OK;
    err = qn_chats_find_message(t, m->parent, at, e);
    if (err == QN_ENOTFOUND || (!err && (at->chat != chat.chat || at->deleted)))
        return qn_fail_param(e, QN_EINVAL, "parent", "parent: the chat has no message '%.40s'",
                             m->parent);
    if (!err && qn_chats_unfinished(at->state))
        return qn_fail_param(e, QN_ECONFLICT, "parent",
                             "the answer is being written: wait for its end, or stop it");
    return err;
}

static qn_err add(struct qn_chats_task *t, struct qn_error *e)
{
    struct qn_chat_message *m = t->args;
    struct qn_chats_at at;
    int64_t n;
    char *id = qn_arena_alloc(t->arena, QN_CHATS_ID_DIGITS + 1);
    qn_err err = qn_chats_own(t, e);
    if (!err)
        err = find_place(t, m, &at, e);
    if (err)
        return err;
    qn_random_hex(id, QN_CHATS_ID_DIGITS);
    m->id = id;
    m->state = QN_CHAT_DONE;
    m->created_ms = qn_chats_now();
    err = qn_chats_insert(t, &at, m, &n, e);
    if (!err)
        err = qn_chats_load_messages(t, e, "FROM message WHERE n = ?", "i", n);
    if (!err)
        err = qn_chats_tell_message(t, QN_CHATS_MESSAGE, n, e);
    return err ? err : qn_chats_show(t, at.chat, n, e);
}

void qn_chats_add_message(struct qn_chats *c, const char *owner, const struct qn_chat_message *m,
                          qn_chats_fn fn, void *ctx)
{
    struct qn_chats_task *t = qn_chats_task_new(c, owner, add, true, fn, ctx);
    struct qn_chat_message *copy = t->args = qn_arena_alloc(t->arena, sizeof *copy);
    qn_chats_task_run(t, qn_chats_copy_message(t, m, copy, &t->error));
}

/* ---- reading ---- */

/* If the message is an answer that has ended with tool calls, finds the next answer below it, which
 * continues with their results. */
static qn_err find_next(struct qn_chats_task *t, int64_t message, struct qn_error *e)
{
    sqlite3_stmt *s;
    qn_err err = qn_chats_sql(t->d, &s, e,
                              "SELECT c.id FROM message m JOIN message c ON c.parent = m.n"
                              " WHERE m.n = ? AND m.finish = 'tool_calls' AND c.role = ?"
                              " AND c.deleted = 0 ORDER BY c.n LIMIT 1",
                              "ii", message, (int64_t)QN_CHAT_ASSISTANT);
    if (err)
        return err;
    int step = sqlite3_step(s);
    if (step == SQLITE_ROW)
        t->messages[0].next = qn_chats_text(t->arena, s, 0);
    return qn_chats_done(t->d, s, step, e);
}

static qn_err read_one(struct qn_chats_task *t, struct qn_error *e)
{
    struct qn_chats_at at;
    qn_err err = qn_chats_find_message(t, t->args, &at, e);
    if (!err)
        err = qn_chats_load_messages(t, e, "FROM message WHERE n = ?", "i", at.message);
    return err ? err : find_next(t, at.message, e);
}

void qn_chats_read_message(struct qn_chats *c, const char *owner, const char *message,
                           qn_chats_fn fn, void *ctx)
{
    struct qn_chats_task *t = qn_chats_task_new(c, owner, read_one, false, fn, ctx);
    qn_err err = qn_chats_check("id", message, QN_CHATS_NAME_MAX, &t->error);
    if (!err)
        t->args = qn_arena_strdup(t->arena, message);
    qn_chats_task_run(t, err);
}

/* ---- changing ---- */

static qn_err set_text(struct qn_chats_task *t, const struct qn_chats_at *at, const char *text,
                       struct qn_error *e)
{
    int64_t old;
    if (qn_chats_unfinished(at->state))
        return qn_fail_param(e, QN_ECONFLICT, "text",
                             "the answer is being written: wait for its end, or stop it");
    qn_err err = qn_chats_ints(t->d, &old, 1, e,
                               "SELECT length(CAST(text AS BLOB)) FROM message WHERE n = ?", "i",
                               at->message);
    if (!err)
        err = qn_chats_has_room(t, at->chat, 0, length(text) - old, e);
    return err ? err
               : qn_chats_run(t->d, e,
                              "UPDATE message SET text = ?2, bytes = bytes + ?3 WHERE n = ?1",
                              "isi", at->message, text, length(text) - old);
}

/* The message and everything below it that is in the same state of deletion. */
#define BRANCH                                                                                     \
    "WITH RECURSIVE branch(n) AS (SELECT ?1 UNION SELECT m.n FROM message m JOIN branch b"         \
    " ON m.parent = b.n WHERE m.deleted = ?2)"

/* If the chat's head is deleted, the deleted branch's parent becomes the head. */
static qn_err move_head(struct qn_chats_task *t, const struct qn_chats_at *at, struct qn_error *e)
{
    return qn_chats_run(t->d, e,
                        "UPDATE chat SET head = nullif(?2, 0) WHERE n = ?1 AND"
                        " (SELECT deleted FROM message m WHERE m.n = chat.head) > 0",
                        "ii", at->chat, at->parent);
}

static qn_err set_deleted(struct qn_chats_task *t, const struct qn_chats_at *at, bool deleted,
                          struct qn_error *e)
{
    int64_t above = 0;
    if (deleted == (at->deleted > 0))
        return QN_OK;
    qn_err err = QN_OK;
    if (!deleted && at->parent)
        err = qn_chats_ints(t->d, &above, 1, e, "SELECT deleted FROM message WHERE n = ?", "i",
                            at->parent);
    if (!err && above)
        err = qn_fail_param(e, QN_ECONFLICT, "deleted",
                            "the message is below a deleted one: restore that one");
    if (!err)
        err = qn_chats_run(t->d, e,
                           BRANCH " UPDATE message SET deleted = ?3 WHERE n IN branch"
                                  " AND deleted = ?2",
                           "iii", at->message, at->deleted, deleted ? qn_chats_now() : INT64_C(0));
    if (!err && deleted)
        err = move_head(t, at, e);
    return err ? err : qn_chats_tell_chat(t, at->chat, e);
}

static qn_err edit(struct qn_chats_task *t, struct qn_error *e)
{
    const struct editing *m = t->args;
    struct qn_chats_at at;
    qn_err err = qn_chats_find_message(t, m->id, &at, e);
    if (!err && m->text)
        err = set_text(t, &at, m->text, e);
    if (!err && m->has_deleted)
        err = set_deleted(t, &at, m->deleted, e);
    bool gone = m->has_deleted ? m->deleted : at.deleted > 0;
    if (!err)
        err = qn_chats_tell_message(t, gone ? QN_CHATS_MESSAGE_GONE : QN_CHATS_MESSAGE, at.message,
                                    e);
    return err ? err : qn_chats_load_messages(t, e, "FROM message WHERE n = ?", "i", at.message);
}

void qn_chats_change_message(struct qn_chats *c, const char *owner, const char *message,
                             const char *text, const bool *deleted, qn_chats_fn fn, void *ctx)
{
    struct qn_chats_task *t = qn_chats_task_new(c, owner, edit, true, fn, ctx);
    struct editing *m = t->args = qn_arena_alloc(t->arena, sizeof *m);
    qn_err err = qn_chats_check("id", message, QN_CHATS_NAME_MAX, &t->error);
    if (!err)
        err = qn_chats_check("text", text, QN_CHATS_TEXT_MAX, &t->error);
    if (!err)
        *m = (struct editing){.id = qn_chats_copy(t, message),
                              .text = qn_chats_copy(t, text),
                              .has_deleted = deleted != NULL,
                              .deleted = deleted && *deleted};
    qn_chats_task_run(t, err);
}
