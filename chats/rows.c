/* Statements, and rows of the tables; see rows.h. */
#include "chats/rows.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdio.h>
#include <string.h>

/* ---- statements ---- */

static qn_err prepare(struct qn_database *d, sqlite3_stmt **s, struct qn_error *e, const char *sql,
                      const char *types, va_list ap)
{
    qn_err err = qn_database_prepare(d, s, sql, e);
    for (int i = 0; !err && types[i]; i++) {
        if (types[i] == 'i')
            sqlite3_bind_int64(*s, i + 1, va_arg(ap, int64_t));
        else
            sqlite3_bind_text(*s, i + 1, va_arg(ap, const char *), -1, SQLITE_STATIC);
    }
    return err;
}

qn_err qn_chats_sql(struct qn_database *d, sqlite3_stmt **s, struct qn_error *e, const char *sql,
                    const char *types, ...)
{
    va_list ap;
    va_start(ap, types);
    qn_err err = prepare(d, s, e, sql, types, ap);
    va_end(ap);
    return err;
}

qn_err qn_chats_run(struct qn_database *d, struct qn_error *e, const char *sql, const char *types,
                    ...)
{
    sqlite3_stmt *s;
    va_list ap;
    va_start(ap, types);
    qn_err err = prepare(d, &s, e, sql, types, ap);
    va_end(ap);
    return err ? err : qn_database_finish(d, s, e);
}

qn_err qn_chats_ints(struct qn_database *d, int64_t *out, int n_out, struct qn_error *e,
                     const char *sql, const char *types, ...)
{
    sqlite3_stmt *s;
    va_list ap;
    va_start(ap, types);
    qn_err err = prepare(d, &s, e, sql, types, ap);
    va_end(ap);
    if (err)
        return err;
    int step = sqlite3_step(s);
    for (int i = 0; i < n_out; i++)
        out[i] = step == SQLITE_ROW ? sqlite3_column_int64(s, i) : 0;
    err = qn_chats_done(d, s, step, e);
    return !err && step == SQLITE_DONE ? QN_ENOTFOUND : err;
}

qn_err qn_chats_done(struct qn_database *d, sqlite3_stmt *s, int step, struct qn_error *e)
{
    qn_err err = step == SQLITE_DONE || step == SQLITE_ROW
                     ? QN_OK
                     : qn_database_fail(d, "reading the chats", e);
    sqlite3_finalize(s);
    return err;
}

char *qn_chats_text(struct qn_arena *a, sqlite3_stmt *s, int column)
{
    const unsigned char *text = sqlite3_column_text(s, column);
    size_t n = text ? (size_t)sqlite3_column_bytes(s, column) : 0;
    char *copy = qn_arena_try(a, n + 1);
    if (copy && n)
        memcpy(copy, text, n);
    return copy;
}

static qn_err too_much(struct qn_error *e)
{
    return qn_fail(e, QN_ELIMIT, "this is too much to be read at once");
}

/* ---- rows ---- */

int64_t qn_chats_now(void)
{
    return qn_wall_ms();
}

qn_err qn_chats_find_owner(struct qn_chats_task *t, struct qn_error *e)
{
    if (t->owner_n)
        return QN_OK;
    qn_err err =
        qn_chats_ints(t->d, &t->owner_n, 1, e, "SELECT n FROM owner WHERE name = ?", "s", t->owner);
    return err == QN_ENOTFOUND ? QN_OK : err;
}

qn_err qn_chats_own(struct qn_chats_task *t, struct qn_error *e)
{
    qn_err err = qn_chats_find_owner(t, e);
    if (err || t->owner_n)
        return err;
    err = qn_chats_run(t->d, e, "INSERT INTO owner(name) VALUES(?)", "s", t->owner);
    if (!err)
        t->owner_n = sqlite3_last_insert_rowid(t->d->db);
    return err;
}

qn_err qn_chats_room(struct qn_chats_task *t, int64_t n, struct qn_error *e)
{
    int64_t have;
    qn_err err =
        qn_chats_ints(t->d, &have, 1, e, "SELECT chats FROM owner WHERE n = ?", "i", t->owner_n);
    if (!err && have + n > QN_CHATS_OWNER_CHATS_MAX)
        err = qn_fail(e, QN_ELIMIT, "there are %d chats already: delete some for good",
                      QN_CHATS_OWNER_CHATS_MAX);
    return err;
}

qn_err qn_chats_find_chat(struct qn_chats_task *t, const char *id, struct qn_chats_at *at,
                          struct qn_error *e)
{
    int64_t row[2];
    *at = (struct qn_chats_at){0};
    qn_err err = qn_chats_find_owner(t, e);
    if (!err)
        err = qn_chats_ints(t->d, row, 2, e,
                            "SELECT n, deleted FROM chat WHERE id = ? AND owner = ?"
                            " AND hidden = ''",
                            "si", id, t->owner_n);
    if (err == QN_ENOTFOUND)
        return qn_fail_param(e, QN_ENOTFOUND, "id", "there is no chat '%.40s'", id);
    if (!err) {
        at->chat = row[0];
        at->chat_deleted = row[1];
    }
    return err;
}

qn_err qn_chats_find_message(struct qn_chats_task *t, const char *id, struct qn_chats_at *at,
                             struct qn_error *e)
{
    int64_t row[6];
    *at = (struct qn_chats_at){0};
    qn_err err = qn_chats_find_owner(t, e);
    if (!err)
        err = qn_chats_ints(t->d, row, 6, e,
                            "SELECT m.n, m.chat, m.parent, m.state, m.deleted, c.deleted"
                            " FROM message m JOIN chat c ON c.n = m.chat"
                            " WHERE m.id = ? AND m.owner = ? AND c.hidden = ''",
                            "si", id, t->owner_n);
    if (err == QN_ENOTFOUND)
        return qn_fail_param(e, QN_ENOTFOUND, "id", "there is no message '%.40s'", id);
    if (!err)
        *at = (struct qn_chats_at){row[1], row[0], row[2],
                                   row[5], row[4], (enum qn_chat_state)row[3]};
    return err;
}

/* The columns of read_chat, in its order. */
#define CHAT_COLUMNS                                                                               \
    "SELECT id, title, folder, pinned, created, updated, model,"                                   \
    " (SELECT m.id FROM message m WHERE m.n = chat.head), messages,"                               \
    " EXISTS(SELECT 1 FROM message u WHERE u.chat = chat.n AND u.state IN (1, 2)), deleted,"       \
    " EXISTS(SELECT 1 FROM message u WHERE u.chat = chat.n AND u.state IN (1, 2)"                  \
    " AND instr(u.calls, " QN_CHATS_ASKING "))"

static qn_err read_chat(struct qn_chats_task *t, sqlite3_stmt *s, bool whole, struct qn_error *e)
{
    struct qn_stored_chat *grown =
        qn_chats_grow(t, t->chats_found, t->found.n_chats, sizeof *t->chats_found);
    if (!grown)
        return too_much(e);
    struct qn_arena *a = t->arena;
    t->chats_found = grown;
    struct qn_stored_chat *c = &grown[t->found.n_chats];
    *c = (struct qn_stored_chat){.id = qn_chats_text(a, s, 0),
                                 .title = qn_chats_text(a, s, 1),
                                 .folder = qn_chats_text(a, s, 2),
                                 .pinned = sqlite3_column_int(s, 3) != 0,
                                 .created_ms = sqlite3_column_int64(s, 4),
                                 .updated_ms = sqlite3_column_int64(s, 5),
                                 .model = qn_chats_text(a, s, 6),
                                 .messages = sqlite3_column_int64(s, 8),
                                 .answering = sqlite3_column_int(s, 9) != 0,
                                 .deleted_ms = sqlite3_column_int64(s, 10),
                                 .asking = sqlite3_column_int(s, 11) != 0};
    if (sqlite3_column_type(s, 7) != SQLITE_NULL)
        c->head = qn_chats_text(a, s, 7);
    if (whole) {
        c->params = qn_chats_text(a, s, 12);
        c->system = qn_chats_text(a, s, 13);
    }
    if (!c->id || !c->title || !c->folder || !c->model || (whole && (!c->params || !c->system)))
        return too_much(e);
    t->found.n_chats++;
    return QN_OK;
}

/* The columns of read_message, in its order. */
#define MESSAGE_COLUMNS                                                                            \
    "SELECT id, (SELECT c.id FROM chat c WHERE c.n = message.chat),"                               \
    " (SELECT p.id FROM message p WHERE p.n = message.parent), role, state, created, deleted,"     \
    " finish, model, parts, calls, params, stats, error, reasoning, text, n"

/* Adds what has been appended to an unfinished message. */
static qn_err read_pieces(struct qn_chats_task *t, int64_t n, struct qn_chat_message *m,
                          struct qn_error *e)
{
    sqlite3_stmt *s;
    struct qn_buf text, reasoning;
    qn_err err = qn_chats_sql(t->d, &s, e,
                              "SELECT reasoning, text FROM piece WHERE message = ?"
                              " ORDER BY position",
                              "i", n);
    if (err)
        return err;
    qn_buf_init(&text, 2 * QN_CHATS_TEXT_MAX);
    qn_buf_init(&reasoning, 2 * QN_CHATS_TEXT_MAX);
    qn_buf_str(&text, m->text);
    qn_buf_str(&reasoning, m->reasoning);
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW)
        qn_buf_add(sqlite3_column_int(s, 0) ? &reasoning : &text, sqlite3_column_text(s, 1),
                   (size_t)sqlite3_column_bytes(s, 1));
    err = qn_chats_done(t->d, s, step, e);
    m->text = qn_arena_take(t->arena, &text);
    m->reasoning = qn_arena_take(t->arena, &reasoning);
    qn_buf_deinit(&text);
    qn_buf_deinit(&reasoning);
    return err || (m->text && m->reasoning) ? err : too_much(e);
}

static qn_err read_message(struct qn_chats_task *t, sqlite3_stmt *s, struct qn_error *e)
{
    struct qn_chat_message *grown =
        qn_chats_grow(t, t->messages, t->found.n_messages, sizeof *t->messages);
    if (!grown)
        return too_much(e);
    struct qn_arena *a = t->arena;
    t->messages = grown;
    struct qn_chat_message *m = &grown[t->found.n_messages];
    *m = (struct qn_chat_message){.role = (enum qn_chat_role)sqlite3_column_int(s, 3),
                                  .state = (enum qn_chat_state)sqlite3_column_int(s, 4),
                                  .created_ms = sqlite3_column_int64(s, 5),
                                  .deleted_ms = sqlite3_column_int64(s, 6)};
    const char **const texts[] = {&m->finish, &m->model, &m->parts,     &m->calls, &m->params,
                                  &m->stats,  &m->error, &m->reasoning, &m->text};
    m->id = qn_chats_text(a, s, 0);
    m->chat = qn_chats_text(a, s, 1);
    if (sqlite3_column_type(s, 2) != SQLITE_NULL)
        m->parent = qn_chats_text(a, s, 2);
    bool whole = m->id && m->chat;
    for (int i = 0; whole && i < (int)(sizeof texts / sizeof *texts); i++) {
        if (sqlite3_column_type(s, 7 + i) == SQLITE_NULL)
            continue;
        *texts[i] = qn_chats_text(a, s, 7 + i);
        whole = *texts[i] != NULL;
    }
    if (!whole)
        return too_much(e);
    t->found.n_messages++;
    bool unfinished = m->state == QN_CHAT_QUEUED || m->state == QN_CHAT_ANSWERING;
    return unfinished ? read_pieces(t, sqlite3_column_int64(s, 16), m, e) : QN_OK;
}

enum rows { CHATS, WHOLE_CHATS, MESSAGES };

static qn_err load(struct qn_chats_task *t, enum rows rows, struct qn_error *e, const char *where,
                   const char *types, va_list ap)
{
    enum { SQL_MAX = 2048 };
    char sql[SQL_MAX];
    sqlite3_stmt *s;
    snprintf(sql, sizeof sql, "%s%s %s", rows == MESSAGES ? MESSAGE_COLUMNS : CHAT_COLUMNS,
             rows == WHOLE_CHATS ? ", params, system" : "", where);
    qn_err err = prepare(t->d, &s, e, sql, types, ap);
    if (err)
        return err;
    int step = SQLITE_DONE;
    while (!err && (step = sqlite3_step(s)) == SQLITE_ROW)
        err = rows == MESSAGES ? read_message(t, s, e) : read_chat(t, s, rows == WHOLE_CHATS, e);
    qn_err last = qn_chats_done(t->d, s, step, err ? NULL : e);
    return err ? err : last;
}

qn_err qn_chats_load(struct qn_chats_task *t, bool whole, struct qn_error *e, const char *where,
                     const char *types, ...)
{
    va_list ap;
    va_start(ap, types);
    qn_err err = load(t, whole ? WHOLE_CHATS : CHATS, e, where, types, ap);
    va_end(ap);
    return err;
}

qn_err qn_chats_load_messages(struct qn_chats_task *t, struct qn_error *e, const char *where,
                              const char *types, ...)
{
    va_list ap;
    va_start(ap, types);
    qn_err err = load(t, MESSAGES, e, where, types, ap);
    va_end(ap);
    return err;
}

/* ---- events ---- */

qn_err qn_chats_tell_chat(struct qn_chats_task *t, int64_t chat, struct qn_error *e)
{
    /* The row is read as part of a result that is then put aside. */
    struct qn_stored_chat *chats = t->chats_found;
    size_t n = t->found.n_chats;
    t->chats_found = NULL;
    t->found.n_chats = 0;
    qn_err err = qn_chats_load(t, false, e, "FROM chat WHERE n = ?", "i", chat);
    if (!err && t->found.n_chats)
        qn_chats_tell(t, &(struct qn_chats_event){.change = QN_CHATS_CHAT,
                                                  .owner = t->owner,
                                                  .chat_id = t->chats_found->id,
                                                  .chat = t->chats_found});
    t->chats_found = chats;
    t->found.n_chats = n;
    return err;
}

qn_err qn_chats_tell_message(struct qn_chats_task *t, enum qn_chats_change change, int64_t message,
                             struct qn_error *e)
{
    sqlite3_stmt *s;
    qn_err err = qn_chats_sql(t->d, &s, e,
                              "SELECT m.id, c.id, m.state, o.name FROM message m"
                              " JOIN chat c ON c.n = m.chat JOIN owner o ON o.n = m.owner"
                              " WHERE m.n = ?",
                              "i", message);
    if (err)
        return err;
    int step = sqlite3_step(s);
    if (step == SQLITE_ROW)
        qn_chats_tell(
            t, &(struct qn_chats_event){.change = change,
                                        .owner = qn_chats_text(t->arena, s, 3),
                                        .chat_id = qn_chats_text(t->arena, s, 1),
                                        .message_id = qn_chats_text(t->arena, s, 0),
                                        .state = (enum qn_chat_state)sqlite3_column_int(s, 2)});
    return qn_chats_done(t->d, s, step, e);
}
