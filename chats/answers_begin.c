/* Begins answers; answers.c appends to them and finishes them. See chats.h. */
#include "chats/rows.h"

#include "base/rand.h"

#include <stdlib.h>
#include <string.h>

struct beginning {
    const char *id; /* the message to be answered, or the answer to be continued */
    const char *model, *params;
};

static qn_err load_path(struct qn_chats_task *t, int64_t chat, int64_t message, struct qn_error *e)
{
    qn_err err = qn_chats_load(t, true, e, "FROM chat WHERE n = ?", "i", chat);
    return err ? err
               : qn_chats_load_messages(
                     t, e,
                     "FROM message WHERE n IN (WITH RECURSIVE path(n) AS (SELECT ?1 UNION"
                     " SELECT m.parent FROM message m JOIN path p ON m.n = p.n"
                     " WHERE m.parent IS NOT NULL) SELECT n FROM path) ORDER BY n",
                     "i", message);
}

static qn_err find_finished(struct qn_chats_task *t, const char *id, struct qn_chats_at *at,
                            struct qn_error *e)
{
    qn_err err = qn_chats_find_message(t, id, at, e);
    if (!err && (at->deleted || at->chat_deleted))
        return qn_fail_param(e, QN_ECONFLICT, "id", "the message is deleted: restore it first");
    if (!err && qn_chats_unfinished(at->state))
        return qn_fail_param(e, QN_ECONFLICT, "id",
                             "the answer is being written: wait for its end, or stop it");
    return err;
}

/* Reports the new or continued answer to clients, makes it the head of its chat, and loads the path
 * of messages that lead to it. */
static qn_err begun(struct qn_chats_task *t, const struct qn_chats_at *at, int64_t message,
                    struct qn_error *e)
{
    qn_err err = qn_chats_tell_message(t, QN_CHATS_MESSAGE, message, e);
    if (!err)
        err = qn_chats_show(t, at->chat, message, e);
    return err ? err : load_path(t, at->chat, message, e);
}

struct qn_chat_message qn_chats_new_answer(struct qn_chats_task *t, const char *model,
                                           const char *params)
{
    char *id = qn_arena_alloc(t->arena, QN_CHATS_ID_DIGITS + 1);
    qn_random_hex(id, QN_CHATS_ID_DIGITS);
    return (struct qn_chat_message){.id = id,
                                    .role = QN_CHAT_ASSISTANT,
                                    .created_ms = qn_chats_now(),
                                    .text = "",
                                    .reasoning = "",
                                    .parts = "[]",
                                    .calls = "[]",
                                    .model = model,
                                    .params = params,
                                    .stats = "{}",
                                    .state = QN_CHAT_QUEUED,
                                    .finish = ""};
}

qn_err qn_chats_begin_below(struct qn_chats_task *t, const struct qn_chats_at *at,
                            const struct qn_chat_message *m, struct qn_error *e)
{
    int64_t n;
    qn_err err = qn_chats_insert(t, at, m, &n, e);
    if (!err)
        err = qn_chats_run(t->d, e,
                           "INSERT INTO answer(message, text_bytes, reasoning_bytes, pieces)"
                           " VALUES(?, 0, 0, 0)",
                           "i", n);
    return err ? err : begun(t, at, n, e);
}

static qn_err begin(struct qn_chats_task *t, struct qn_error *e)
{
    const struct beginning *w = t->args;
    struct qn_chats_at at;
    qn_err err = find_finished(t, w->id, &at, e);
    if (err)
        return err;
    const struct qn_chat_message m = qn_chats_new_answer(t, w->model, w->params);
    return qn_chats_begin_below(t, &at, &m, e);
}

static qn_err go_on(struct qn_chats_task *t, struct qn_error *e)
{
    const struct beginning *w = t->args;
    struct qn_chats_at at;
    int64_t role;
    qn_err err = find_finished(t, w->id, &at, e);
    if (!err)
        err = qn_chats_ints(t->d, &role, 1, e, "SELECT role FROM message WHERE n = ?", "i",
                            at.message);
    if (!err && role != QN_CHAT_ASSISTANT)
        err = qn_fail_param(e, QN_ECONFLICT, "id", "only an assistant's message can be continued");
    if (!err)
        err = qn_chats_run(t->d, e,
                           "INSERT INTO answer(message, text_bytes, reasoning_bytes, pieces)"
                           " SELECT n, length(CAST(text AS BLOB)),"
                           " length(CAST(reasoning AS BLOB)), 0 FROM message WHERE n = ?",
                           "i", at.message);
    if (!err)
        err = qn_chats_run(t->d, e,
                           "UPDATE message SET state = ?2, finish = '', error = NULL, model = ?3,"
                           " params = ?4 WHERE n = ?1",
                           "iiss", at.message, (int64_t)QN_CHAT_QUEUED, w->model, w->params);
    return err ? err : begun(t, &at, at.message, e);
}

static void start(struct qn_chats *c, const char *owner,
                  qn_err (*work)(struct qn_chats_task *t, struct qn_error *e), const char *id,
                  const char *model, const char *params, qn_chats_fn fn, void *ctx)
{
    struct qn_chats_task *t = qn_chats_task_new(c, owner, work, true, fn, ctx);
    struct beginning *w = t->args = qn_arena_alloc(t->arena, sizeof *w);
    qn_err err = qn_chats_check("id", id, QN_CHATS_NAME_MAX, &t->error);
    if (!err)
        err = qn_chats_check("model", model, QN_CHATS_NAME_MAX, &t->error);
    if (!err)
        err = qn_chats_check("params", params, QN_CHATS_JSON_MAX, &t->error);
    if (!err)
        *w = (struct beginning){.id = qn_chats_copy(t, id),
                                .model = qn_chats_copy(t, model ? model : ""),
                                .params = qn_chats_copy(t, params ? params : "{}")};
    qn_chats_task_run(t, err);
}

void qn_chats_begin_answer(struct qn_chats *c, const char *owner, const char *parent,
                           const char *model, const char *params, qn_chats_fn fn, void *ctx)
{
    start(c, owner, begin, parent, model, params, fn, ctx);
}

void qn_chats_continue_answer(struct qn_chats *c, const char *owner, const char *message,
                              const char *model, const char *params, qn_chats_fn fn, void *ctx)
{
    start(c, owner, go_on, message, model, params, fn, ctx);
}
