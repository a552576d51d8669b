/* Answers in progress: their pieces are rows of their own until the answer ends, so that appending
 * costs the same whatever the length of the message. See chats.h. */
#include "chats/rows.h"

#include "base/buf.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

/* The arguments of the functions in this file. */
struct writing {
    const char *id;         /* the message */
    struct qn_chat_end end; /* append: its pieces alone */
};

/* An unfinished message. */
struct open_answer {
    int64_t message, chat, text_bytes, reasoning_bytes, pieces;
    enum qn_chat_state state;
    bool deleted; /* the message or its chat is deleted */
};

/* ---- appending ---- */

/* Finds an unfinished message, and its owner for events. */
static qn_err find_open(struct qn_chats_task *t, const char *id, struct open_answer *out,
                        struct qn_error *e)
{
    sqlite3_stmt *s;
    qn_err err = qn_chats_sql(t->d, &s, e,
                              "SELECT m.n, m.chat, a.text_bytes, a.reasoning_bytes, a.pieces,"
                              " m.state, m.deleted > 0 OR c.deleted > 0, m.owner, o.name"
                              " FROM message m"
                              " JOIN answer a ON a.message = m.n JOIN chat c ON c.n = m.chat"
                              " JOIN owner o ON o.n = m.owner WHERE m.id = ? AND c.hidden = ''",
                              "s", id);
    if (err)
        return err;
    int step = sqlite3_step(s);
    if (step == SQLITE_ROW) {
        *out = (struct open_answer){
            sqlite3_column_int64(s, 0),   sqlite3_column_int64(s, 1),
            sqlite3_column_int64(s, 2),   sqlite3_column_int64(s, 3),
            sqlite3_column_int64(s, 4),   (enum qn_chat_state)sqlite3_column_int(s, 5),
            sqlite3_column_int(s, 6) != 0};
        t->owner_n = sqlite3_column_int64(s, 7);
        t->owner = qn_chats_text(t->arena, s, 8);
    }
    err = qn_chats_done(t->d, s, step, e);
    if (!err && step == SQLITE_DONE)
        err = qn_fail_param(e, QN_ENOTFOUND, "id", "the message was deleted, or is finished");
    return err;
}

static qn_err add_pieces(struct qn_chats_task *t, struct open_answer *a,
                         const struct qn_chat_piece *pieces, size_t n, struct qn_error *e)
{
    qn_err err = QN_OK;
    for (size_t i = 0; i < n && !err; i++) {
        int64_t *bytes = pieces[i].reasoning ? &a->reasoning_bytes : &a->text_bytes;
        *bytes += (int64_t)pieces[i].n;
        if (*bytes > QN_CHATS_TEXT_MAX)
            return qn_fail(e, QN_ELIMIT, "a message may have %d bytes of text", QN_CHATS_TEXT_MAX);
        err = qn_chats_run(t->d, e,
                           "INSERT INTO piece(message, position, reasoning, text)"
                           " VALUES(?, ?, ?, ?)",
                           "iiis", a->message, a->pieces++, (int64_t)pieces[i].reasoning,
                           pieces[i].text);
    }
    return err ? err
               : qn_chats_run(t->d, e,
                              "UPDATE answer SET text_bytes = ?, reasoning_bytes = ?, pieces = ?"
                              " WHERE message = ?",
                              "iiii", a->text_bytes, a->reasoning_bytes, a->pieces, a->message);
}

static qn_err append(struct qn_chats_task *t, struct qn_error *e)
{
    const struct writing *w = t->args;
    struct open_answer a;
    qn_err err = find_open(t, w->id, &a, e);
    if (!err)
        err = add_pieces(t, &a, w->end.pieces, w->end.n_pieces, e);
    if (err || a.state == QN_CHAT_ANSWERING)
        return err;
    err = qn_chats_run(t->d, e, "UPDATE message SET state = ?2 WHERE n = ?1", "ii", a.message,
                       (int64_t)QN_CHAT_ANSWERING);
    return err ? err : qn_chats_tell_message(t, QN_CHATS_STATE, a.message, e);
}

static qn_err set_calls(struct qn_chats_task *t, struct qn_error *e)
{
    const struct writing *w = t->args;
    struct open_answer a = {0};
    int64_t asks[2] = {0};
    qn_err err = find_open(t, w->id, &a, e);
    if (!err)
        err = qn_chats_ints(t->d, asks, 2, e,
                            "SELECT instr(calls, " QN_CHATS_ASKING ") > 0,"
                            " instr(?2, " QN_CHATS_ASKING ") > 0 FROM message WHERE n = ?1",
                            "is", a.message, w->end.calls);
    if (!err)
        err = qn_chats_run(t->d, e,
                           "UPDATE message SET state = ?2, calls = ?3, bytes = bytes +"
                           " length(CAST(?3 AS BLOB)) - length(CAST(calls AS BLOB)) WHERE n = ?1",
                           "iis", a.message, (int64_t)QN_CHAT_ANSWERING, w->end.calls);
    if (!err && a.state != QN_CHAT_ANSWERING)
        err = qn_chats_tell_message(t, QN_CHATS_STATE, a.message, e);
    return err || asks[0] == asks[1] ? err : qn_chats_tell_chat(t, a.chat, e);
}

/* Copies the arguments of append and finish. QN_ELIMIT. */
static qn_err set_end(struct qn_chats_task *t, const char *id, const struct qn_chat_end *end)
{
    struct writing *w = t->args = qn_arena_alloc(t->arena, sizeof *w);
    const struct {
        const char *name, *text, **copy;
    } members[] = {
        {"finish", end->finish, &w->end.finish},
        {"stats", end->stats, &w->end.stats},
        {"error", end->error, &w->end.error},
        {"calls", end->calls, &w->end.calls},
        {"model", end->next_model, &w->end.next_model},
        {"params", end->next_params, &w->end.next_params},
    };
    qn_err err = qn_chats_check("id", id, QN_CHATS_NAME_MAX, &t->error);
    for (size_t i = 0; i < sizeof members / sizeof *members && !err; i++) {
        err = qn_chats_check(members[i].name, members[i].text, QN_CHATS_JSON_MAX, &t->error);
        if (!err)
            *members[i].copy = qn_chats_copy(t, members[i].text);
    }
    if (err)
        return err;
    struct qn_chat_piece *pieces = qn_arena_alloc(t->arena, (end->n_pieces + 1) * sizeof *pieces);
    size_t total = 0;
    for (size_t i = 0; i < end->n_pieces; i++) {
        const struct qn_chat_piece *p = &end->pieces[i];
        total += p->n;
        if (p->n > QN_CHATS_TEXT_MAX || total > 2 * (size_t)QN_CHATS_TEXT_MAX)
            return qn_fail(&t->error, QN_ELIMIT, "a message may have %d bytes of text",
                           QN_CHATS_TEXT_MAX);
        pieces[i] = *p;
        pieces[i].text = qn_arena_strndup(t->arena, p->text, p->n);
    }
    w->id = qn_chats_copy(t, id);
    w->end.state = end->state;
    w->end.pieces = pieces;
    w->end.n_pieces = end->n_pieces;
    return QN_OK;
}

void qn_chats_append(struct qn_chats *c, const char *message, const struct qn_chat_piece *pieces,
                     size_t n, qn_chats_fn fn, void *ctx)
{
    struct qn_chats_task *t = qn_chats_task_new(c, NULL, append, true, fn, ctx);
    qn_chats_task_run(t,
                      set_end(t, message, &(struct qn_chat_end){.pieces = pieces, .n_pieces = n}));
}

void qn_chats_set_calls(struct qn_chats *c, const char *message, const char *calls, qn_chats_fn fn,
                        void *ctx)
{
    struct qn_chats_task *t = qn_chats_task_new(c, NULL, set_calls, true, fn, ctx);
    qn_chats_task_run(t, set_end(t, message, &(struct qn_chat_end){.calls = calls}));
}

/* ---- finishing ---- */

/* Reads the pieces of a message into two buffers. */
static qn_err read_pieces(struct qn_database *d, int64_t message, struct qn_buf *text,
                          struct qn_buf *reasoning, struct qn_error *e)
{
    sqlite3_stmt *s;
    qn_err err = qn_chats_sql(d, &s, e,
                              "SELECT reasoning, text FROM piece WHERE message = ?"
                              " ORDER BY position",
                              "i", message);
    if (err)
        return err;
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW)
        qn_buf_add(sqlite3_column_int(s, 0) ? reasoning : text, sqlite3_column_text(s, 1),
                   (size_t)sqlite3_column_bytes(s, 1));
    return qn_chats_done(d, s, step, e);
}

/* Moves the pieces into the message's row and finishes it. In a transaction of the caller. */
static qn_err close_answer(struct qn_database *d, int64_t message, const struct qn_chat_end *end,
                           struct qn_error *e)
{
    struct qn_buf text, reasoning;
    qn_buf_init(&text, QN_CHATS_TEXT_MAX);
    qn_buf_init(&reasoning, QN_CHATS_TEXT_MAX);
    qn_err err = read_pieces(d, message, &text, &reasoning, e);
    if (!err)
        err = qn_chats_run(d, e,
                           "UPDATE message SET state = ?2, finish = coalesce(?3, finish),"
                           " stats = coalesce(?4, stats), error = coalesce(?5, error),"
                           " calls = coalesce(?6, calls), text = text || ?7,"
                           " reasoning = reasoning || ?8, bytes = bytes + ?9 +"
                           " coalesce(length(CAST(?6 AS BLOB)) - length(CAST(calls AS BLOB)), 0)"
                           " WHERE n = ?1",
                           "iissssssi", message, (int64_t)end->state, end->finish, end->stats,
                           end->error, end->calls, qn_buf_cstr(&text), qn_buf_cstr(&reasoning),
                           (int64_t)(text.len + reasoning.len));
    if (!err)
        err = qn_chats_run(d, e, "DELETE FROM piece WHERE message = ?", "i", message);
    if (!err)
        err = qn_chats_run(d, e, "DELETE FROM answer WHERE message = ?", "i", message);
    qn_buf_deinit(&text);
    qn_buf_deinit(&reasoning);
    return err;
}

/* Sets *out to whether there is room for the next answer. If there is none, the present message
 * gets the state CUT and the finish QN_CHATS_FULL. */
static qn_err find_room(struct qn_chats_task *t, const struct open_answer *a,
                        const struct qn_chat_message *next, bool *out, struct qn_error *e)
{
    struct qn_error why = {0};
    qn_err err = qn_chats_has_room(t, a->chat, 1, qn_chats_message_bytes(next), &why);
    *out = !err;
    if (err == QN_ELIMIT)
        return qn_chats_run(
            t->d, e, "UPDATE message SET state = ?2, finish = '" QN_CHATS_FULL "' WHERE n = ?1",
            "ii", a->message, (int64_t)QN_CHAT_CUT);
    if (err)
        *e = why;
    return err;
}

static qn_err finish(struct qn_chats_task *t, struct qn_error *e)
{
    const struct writing *w = t->args;
    struct open_answer a;
    struct qn_chat_message next;
    bool goes_on = false;
    qn_err err = find_open(t, w->id, &a, e);
    if (!err)
        err = add_pieces(t, &a, w->end.pieces, w->end.n_pieces, e);
    if (!err)
        err = close_answer(t->d, a.message, &w->end, e);
    if (!err)
        err = qn_chats_run(t->d, e, "UPDATE chat SET updated = ? WHERE n = ?", "ii", qn_chats_now(),
                           a.chat);
    if (!err && w->end.next_model && !a.deleted) {
        next = qn_chats_new_answer(t, w->end.next_model, w->end.next_params);
        err = find_room(t, &a, &next, &goes_on, e);
    }
    if (!err)
        err = qn_chats_tell_message(t, QN_CHATS_MESSAGE, a.message, e);
    if (!err && goes_on)
        return qn_chats_begin_below(t, &(struct qn_chats_at){.chat = a.chat, .message = a.message},
                                    &next, e);
    if (!err)
        err = qn_chats_tell_chat(t, a.chat, e);
    return err ? err : qn_chats_load_messages(t, e, "FROM message WHERE n = ?", "i", a.message);
}

void qn_chats_finish(struct qn_chats *c, const char *message, const struct qn_chat_end *end,
                     qn_chats_fn fn, void *ctx)
{
    struct qn_chats_task *t = qn_chats_task_new(c, NULL, finish, true, fn, ctx);
    qn_chats_task_run(t, set_end(t, message, end));
}

qn_err qn_chats_interrupt(struct qn_database *d, struct qn_error *e)
{
    static const struct qn_chat_end interrupted = {.state = QN_CHAT_INTERRUPTED};
    int64_t message = 0, n = 0;
    qn_err err = qn_database_begin(d, e);
    if (err)
        return err;
    while (
        !err &&
        !(err = qn_chats_ints(d, &message, 1, e,
                              "SELECT min(message) FROM answer WHERE message > ?", "i", message)) &&
        message) {
        err = close_answer(d, message, &interrupted, e);
        if (!err) /* quotation marks in strings are escaped, so the patterns match members only */
            err = qn_chats_run(d, e,
                               "UPDATE message SET calls = replace(replace(calls,"
                               " '\"state\":\"asking\"', '\"state\":\"stopped\"'),"
                               " '\"state\":\"running\"', '\"state\":\"stopped\"') WHERE n = ?",
                               "i", message);
        n++;
    }
    err = qn_database_end(d, err, e);
    if (!err && n)
        qn_warn("chats", "answers=interrupted count=%lld", (long long)n);
    return err;
}
