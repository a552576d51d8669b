/* For the files of this room: tasks of the database's thread, statements, and rows of the tables.
 */
#ifndef QN_CHATS_ROWS_H
#define QN_CHATS_ROWS_H

#include "chats/chats.h"
#include "database/db_thread.h"

#include <stdarg.h>

/* The text of the schema, generated from schema.sql at build time. */
extern const char qn_chats_schema[];

/* ---- tasks (chats.c) ---- */

/* What outlives qn_chats_close, until the last result has been reported. User's thread. */
struct qn_chats_ears {
    int refs;
    bool closed;
    void (*changed)(void *ctx, const struct qn_chats_event *event);
    void *ctx;
};

struct qn_chats {
    struct qn_db_thread *thread;
    struct qn_chats_ears *ears;
    char *blobs; /* the folder of files; no slash at its end */
    /* Of the database's thread: */
    int64_t swept_ms; /* monotonic; 0: not since the file was opened */
    bool cleaned;     /* the folder has been cleaned since then */
};

/* Every string of a task, also of its result, is in its arena. */
struct qn_chats_task {
    struct qn_db_task head;
    struct qn_chats *chats;
    struct qn_chats_ears *ears;
    struct qn_arena *arena;
    /* The work, on the database's thread; in a transaction if `writes`. */
    qn_err (*work)(struct qn_chats_task *t, struct qn_error *e);
    bool writes;
    void *args; /* of the work */
    struct qn_database *d;
    const char *owner;
    int64_t owner_n; /* its row; 0: it has none */
    /* The result. */
    struct qn_stored_chat *chats_found;
    struct qn_chat_message *messages;
    struct qn_chats_found found;
    struct qn_chats_event *events;
    size_t n_events;
    struct qn_error error;
    /* On the user's thread, before the task is freed. MAY be NULL. */
    void (*report)(struct qn_chats_task *t);
    qn_chats_fn fn;
    void *ctx;
};

/* owner NULL: not needed. The task reports to fn. */
struct qn_chats_task *qn_chats_task_new(struct qn_chats *c, const char *owner,
                                        qn_err (*work)(struct qn_chats_task *t, struct qn_error *e),
                                        bool writes, qn_chats_fn fn, void *ctx);
/* Queues the task; if err is not QN_OK, it only reports t->error. */
void qn_chats_task_run(struct qn_chats_task *t, qn_err err);

/* A copy in the task's arena; NULL for NULL. For arguments whose length was checked. */
const char *qn_chats_copy(struct qn_chats_task *t, const char *s);
/* Makes an array of `size`-byte members hold n + 1; its room doubles. NULL: the arena is full. */
void *qn_chats_grow(struct qn_chats_task *t, void *array, size_t n, size_t size);
/* QN_ELIMIT, with the member's name as param, if text has more than max bytes. NULL is allowed. */
qn_err qn_chats_check(const char *name, const char *text, size_t max, struct qn_error *e);

/* ---- events (chats.c) ---- */

/* To be called in the work of a task that changes something. */
void qn_chats_tell(struct qn_chats_task *t, const struct qn_chats_event *event);

/* ---- statements (rows.c) ---- */

/* Prepares a statement and binds its parameters in order; types has a letter for each: i int64_t, s
 * const char *, which is not copied and MAY be NULL. */
qn_err qn_chats_sql(struct qn_database *d, sqlite3_stmt **s, struct qn_error *e, const char *sql,
                    const char *types, ...);
/* The same for a statement that returns nothing, and is run. */
qn_err qn_chats_run(struct qn_database *d, struct qn_error *e, const char *sql, const char *types,
                    ...);
/* The same for a statement whose first row, with n_out columns, are int64_t. QN_ENOTFOUND without a
 * message: there is no row. A NULL is read as 0. */
qn_err qn_chats_ints(struct qn_database *d, int64_t *out, int n_out, struct qn_error *e,
                     const char *sql, const char *types, ...);
/* Ends a statement whose last step returned `step`, SQLITE_DONE or SQLITE_ROW if it succeeded. */
qn_err qn_chats_done(struct qn_database *d, sqlite3_stmt *s, int step, struct qn_error *e);

/* A text of the current row, in the arena. "" for NULL; NULL: the arena is full. */
char *qn_chats_text(struct qn_arena *a, sqlite3_stmt *s, int column);

/* ---- rows (rows.c) ---- */

int64_t qn_chats_now(void);

/* Sets t->owner_n; own makes the owner's row if it has none, find leaves 0 then. */
qn_err qn_chats_find_owner(struct qn_chats_task *t, struct qn_error *e);
qn_err qn_chats_own(struct qn_chats_task *t, struct qn_error *e);
/* QN_ELIMIT: the owner cannot have n more chats. Needs t->owner_n. */
qn_err qn_chats_room(struct qn_chats_task *t, int64_t n, struct qn_error *e);

/* The row of a chat that exists, of a message of such a chat. QN_ENOTFOUND. */
struct qn_chats_at {
    int64_t chat, message, parent; /* 0: none */
    int64_t chat_deleted, deleted;
    enum qn_chat_state state;
};
qn_err qn_chats_find_chat(struct qn_chats_task *t, const char *id, struct qn_chats_at *at,
                          struct qn_error *e);
qn_err qn_chats_find_message(struct qn_chats_task *t, const char *id, struct qn_chats_at *at,
                             struct qn_error *e);

/* Appends to the result the chats that "FROM chat WHERE ..." finds; whole: with system and params,
 * which are NULL otherwise. The statement has the parameters of types. */
qn_err qn_chats_load(struct qn_chats_task *t, bool whole, struct qn_error *e, const char *where,
                     const char *types, ...);
/* The same for messages: "FROM message WHERE ...". */
qn_err qn_chats_load_messages(struct qn_chats_task *t, struct qn_error *e, const char *where,
                              const char *types, ...);

/* Tells that a chat has changed, with its row. */
qn_err qn_chats_tell_chat(struct qn_chats_task *t, int64_t chat, struct qn_error *e);
/* Tells of a message. */
qn_err qn_chats_tell_message(struct qn_chats_task *t, enum qn_chats_change change, int64_t message,
                             struct qn_error *e);

/* ---- messages (messages.c) ---- */

static inline bool qn_chats_unfinished(enum qn_chat_state s)
{
    return s == QN_CHAT_QUEUED || s == QN_CHAT_ANSWERING;
}

/* Copies the members of a message to the task's arena, with defaults for those that are NULL.
 * QN_ELIMIT. */
qn_err qn_chats_copy_message(struct qn_chats_task *t, const struct qn_chat_message *from,
                             struct qn_chat_message *to, struct qn_error *e);
/* Returns the bytes of a message that count towards the limits of its chat and owner. */
int64_t qn_chats_message_bytes(const struct qn_chat_message *m);
/* QN_ELIMIT: the chat, or the owner, cannot have so many messages and bytes more. */
qn_err qn_chats_has_room(struct qn_chats_task *t, int64_t chat, int64_t rows, int64_t bytes,
                         struct qn_error *e);
/* Inserts a message of the owner below at->message (0: none) of at->chat; all members of m are set.
 * *n: its row. QN_ELIMIT; QN_EINVAL: the owner has no such file. */
qn_err qn_chats_insert(struct qn_chats_task *t, const struct qn_chats_at *at,
                       const struct qn_chat_message *m, int64_t *n, struct qn_error *e);
/* Makes a message the head of its chat, which has just changed. */
qn_err qn_chats_show(struct qn_chats_task *t, int64_t chat, int64_t head, struct qn_error *e);

/* ---- files (blobs.c) ---- */

struct qn_chat_blob;
/* Takes the file at `temp` for the task's owner, in its transaction. QN_ELIMIT. */
qn_err qn_chats_file_blob(struct qn_chats_task *t, const char *temp,
                          const struct qn_chat_blob *blob, struct qn_error *e);

/* SQL literal of the text that occurs in the `calls` of an answer if a call waits for a permission.
 * Quotation marks in strings are escaped, so only a member can match. */
#define QN_CHATS_ASKING "'\"state\":\"asking\"'"

/* ---- answers (answers_begin.c, answers.c) ---- */

/* Returns a new, empty answer. */
struct qn_chat_message qn_chats_new_answer(struct qn_chats_task *t, const char *model,
                                           const char *params);
/* Inserts the answer below at->message, reports it to clients, and loads the path of messages that
 * lead to it. */
qn_err qn_chats_begin_below(struct qn_chats_task *t, const struct qn_chats_at *at,
                            const struct qn_chat_message *m, struct qn_error *e);

/* Finishes all messages that an earlier process left unfinished. */
qn_err qn_chats_interrupt(struct qn_database *d, struct qn_error *e);

/* ---- spare work (sweep.c) ---- */

/* Erases some of what was deleted long ago or for good; true: there is more. */
bool qn_chats_sweep(void *ctx, struct qn_database *d);

/* Value of chat.hidden for a chat that is being erased. */
#define QN_CHATS_ERASED "-"

#endif
