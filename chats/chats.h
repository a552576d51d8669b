/* Conversations that the server keeps: chats, the messages of each as a tree, answers that are
 * being written, files that belong to messages, search.
 *
 * SQLite in WAL mode in DIR/chats.db; files in DIR/chat-blobs. The file is opened, and a thread
 * started for it, by the first call; the handle belongs to that thread. Every function returns at
 * once, copies its arguments and reports through a callback on the user's thread (qn_chats_config),
 * in the order of the calls. A callback MAY be NULL. What a callback reports has been committed, so
 * that killing the process does not lose it.
 *
 * Each chat belongs to an owner (access/owner.h), and so does each file. Data of other owners do
 * not exist for a caller: QN_ENOTFOUND. Times are Unix milliseconds, ids QN_CHATS_ID_DIGITS
 * hexadecimal digits. Members that hold JSON are stored as they are given: the caller has checked
 * them.
 *
 * Errors of every function: QN_EFORMAT: the database is damaged; it is left as it is. QN_EIO.
 * QN_EBUSY: another process has it open. QN_ELIMIT: a limit below is reached, or the disk is full.
 */
#ifndef QN_CHATS_CHATS_H
#define QN_CHATS_CHATS_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_CHATS_ID_DIGITS = 32,
    QN_CHATS_TEXT_MAX = 4 * 1024 * 1024, /* bytes of a message's text, and of its reasoning */
    QN_CHATS_JSON_MAX = 1024 * 1024,     /* bytes of each member that holds JSON */
    QN_CHATS_NAME_MAX = 512,             /* bytes of a title, a folder, a model, a file's name */
    QN_CHATS_SYSTEM_MAX = 256 * 1024,    /* bytes of a chat's system message */
    QN_CHATS_OWNER_CHATS_MAX = 20000,    /* chats of one owner, with deleted ones */
    QN_CHATS_MESSAGES_MAX = 20000,       /* messages of one chat, with deleted ones */
    QN_CHATS_CHAT_BYTES_MAX = 64 * 1024 * 1024, /* of all messages of one chat */
    QN_CHATS_PARTS_MAX = 64,                    /* files of one message */
    QN_CHATS_PAGE_MAX = 200,                    /* chats of one page of a list */
    QN_CHATS_FOLDERS_MAX = 500,                 /* folders of one owner that are listed */
    QN_CHATS_HITS_MAX = 100,                    /* results of one search */
    QN_CHATS_BULK_MAX = 1000,                   /* chats that one call changes */
    QN_CHATS_SEARCH_MS = 300,                   /* time for one search */
    QN_CHATS_KEPT_DAYS = 30,    /* deleted chats and messages can be restored so long */
    QN_CHATS_BLOB_UNUSED_H = 24 /* files that no message has are removed after */
};
#define QN_CHATS_OWNER_BYTES_MAX (INT64_C(2) << 30) /* of all messages of one owner */
#define QN_CHATS_FILE_BYTES_MAX (INT64_C(32) << 30) /* of chats.db */

struct qn_stored_chat {
    const char *id;
    const char *title, *folder; /* "": none */
    bool pinned;
    int64_t created_ms, updated_ms;
    const char *model, *system; /* "": none */
    const char *params;         /* JSON object */
    const char *head;           /* the message that was shown last; NULL: none */
    int64_t messages;           /* without deleted ones */
    bool answering;             /* an answer is unfinished */
    bool asking;                /* a tool call of the unfinished answer waits for a permission */
    int64_t deleted_ms;         /* 0: not deleted */
};

enum qn_chat_role { QN_CHAT_USER, QN_CHAT_ASSISTANT, QN_CHAT_SYSTEM, QN_CHAT_TOOL, QN_CHAT_ROLES };
const char *qn_chat_role_name(enum qn_chat_role r);
bool qn_chat_role_parse(const char *name, enum qn_chat_role *out);

/* QUEUED and ANSWERING are unfinished: such a message is changed only by the functions for answers
 * below. INTERRUPTED: the server ended before the answer did. */
enum qn_chat_state {
    QN_CHAT_DONE,
    QN_CHAT_QUEUED,
    QN_CHAT_ANSWERING,
    QN_CHAT_STOPPED, /* by the user */
    QN_CHAT_CUT,     /* at the limit of tokens, or of the context */
    QN_CHAT_FAILED,  /* error says why */
    QN_CHAT_INTERRUPTED,
    QN_CHAT_STATES
};
const char *qn_chat_state_name(enum qn_chat_state s);
bool qn_chat_state_parse(const char *name, enum qn_chat_state *out);

struct qn_chat_message {
    const char *id, *chat;
    const char *parent; /* NULL: a first message of its chat */
    enum qn_chat_role role;
    int64_t created_ms;
    const char *text, *reasoning; /* valid UTF-8 */
    const char *parts;  /* JSON array of {"kind","blob","name","type","bytes"}; "[]": none */
    const char *calls;  /* JSON array of {"id","name","arguments","result","state"}; "[]": none */
    const char *model;  /* of an answer; else "" */
    const char *params; /* JSON object: the parameters of an answer */
    const char *stats;  /* JSON object: its figures */
    enum qn_chat_state state;
    const char *finish; /* "stop", "length", ...; "": unknown */
    const char *error;  /* JSON object {"message","code","report"}; NULL: none */
    int64_t deleted_ms; /* 0: not deleted */
    /* Set by qn_chats_read_message if this answer has ended with tool calls: the id of the next
     * answer, which continues with their results; NULL: none. */
    const char *next;
    /* When a message is stored: the files that `parts` names (blobs.h), n_blobs ids of them. */
    const char *const *blobs;
    size_t n_blobs;
};

struct qn_chat_folder {
    const char *name;
    int64_t n; /* chats in it that are not deleted */
};

/* Text of a search result; mark: this part of it matches. */
struct qn_chat_segment {
    const char *text;
    bool mark;
};
struct qn_chat_hit {
    const char *chat, *title;
    const char *message; /* NULL: the chat's title matches */
    int64_t when_ms;     /* the message was created, the chat was changed */
    const struct qn_chat_segment *segments;
    size_t n_segments;
};

/* The result of a call; lent for the callback. e is NULL on success; everything else is empty
 * otherwise. The callee MAY take ownership of the arena that holds all of it by setting *arena to
 * NULL; it then has to free it. */
struct qn_chats_found {
    const struct qn_error *e;
    const struct qn_stored_chat *chats;
    size_t n_chats;
    const struct qn_chat_message *messages;
    size_t n_messages;
    const struct qn_chat_folder *folders;
    size_t n_folders;
    const struct qn_chat_hit *hits;
    size_t n_hits;
    const struct qn_chat_preset *presets; /* presets.h */
    size_t n_presets;
    const struct qn_chat_mcp *mcp; /* mcp_servers.h */
    size_t n_mcp;
    const char *next; /* a list: where the next page begins; NULL: there is no more */
    int64_t changed;  /* an import: messages that were stored */
    bool incomplete;  /* a search: its time was used up, there may be more */
    struct qn_arena **arena;
};
typedef void (*qn_chats_fn)(void *ctx, const struct qn_chats_found *found);

/* A committed change, for clients that follow their chats. Lent for the call. */
enum qn_chats_change {
    QN_CHATS_CHAT,         /* a chat is new or has changed: `chat` is set */
    QN_CHATS_CHAT_GONE,    /* deleted for good: chat_id */
    QN_CHATS_MESSAGE,      /* a message is new or has changed, or was restored: message_id */
    QN_CHATS_MESSAGE_GONE, /* a message and its branch were deleted: message_id */
    QN_CHATS_STATE,        /* an answer's state has changed: message_id, state */
    QN_CHATS_PRESETS,      /* a preset is new, has changed or was deleted */
    QN_CHATS_ALL, /* many chats have changed: read the list again. In addition, a deleted chat with
                     an answer in progress gets its own QN_CHATS_CHAT */
    QN_CHATS_MCP  /* an MCP server was added, changed or deleted */
};
struct qn_chats_event {
    enum qn_chats_change change;
    const char *owner;
    const char *chat_id, *message_id; /* NULL where it does not apply */
    enum qn_chat_state state;
    const struct qn_stored_chat *chat;
};

struct qn_chats_config {
    const char *dir; /* the data folder; copied */
    /* MUST arrange for fn(arg) to run on the user's thread. */
    void (*post)(void *post_ctx, void (*fn)(void *), void *arg);
    void *post_ctx;
    /* MAY. Called on the user's thread, before the callback of the call that made the change. */
    void (*changed)(void *ctx, const struct qn_chats_event *event);
    void *ctx;
};

struct qn_chats;
/* Never fails: the database is opened by the first call that needs it. */
struct qn_chats *qn_chats_new(const struct qn_chats_config *config);
/* Finishes the calls made so far, joins the thread and frees c. All callbacks have been posted when
 * it returns; `changed` is not called any more. */
void qn_chats_close(struct qn_chats *c); /* NULL allowed */

/* ---- chats ---- */

/* folder, deleted: NULL, false: chats of all folders that are not deleted; deleted: only deleted
 * ones. Pinned chats first, then by the time of their last change, newest first. before: `next` of
 * the page before, NULL: the first page. Also lists the folders. QN_EINVAL: `before` is invalid. */
struct qn_chats_list {
    const char *folder;
    bool deleted;
    const char *before;
    size_t limit; /* 1 to QN_CHATS_PAGE_MAX */
};
void qn_chats_list(struct qn_chats *c, const char *owner, const struct qn_chats_list *wish,
                   qn_chats_fn fn, void *ctx);

/* One chat and all its messages that are not deleted, parents before their children. */
void qn_chats_read(struct qn_chats *c, const char *owner, const char *chat, qn_chats_fn fn,
                   void *ctx);

/* The same for all chats that are not deleted, one after the other, in the order in which they were
 * made. place: `next` of the chat before; NULL: the first one. No chat: there is no more. */
void qn_chats_read_next(struct qn_chats *c, const char *owner, const char *place, qn_chats_fn fn,
                        void *ctx);

/* What is to be changed: members that are NULL stay as they are. A new chat has "" and {} instead.
 */
struct qn_chat_patch {
    const char *title, *folder, *model, *system, *params;
    const char *head; /* a message of this chat */
    const bool *pinned, *deleted;
};
void qn_chats_add(struct qn_chats *c, const char *owner, const struct qn_chat_patch *chat,
                  qn_chats_fn fn, void *ctx);
void qn_chats_change(struct qn_chats *c, const char *owner, const char *chat,
                     const struct qn_chat_patch *patch, qn_chats_fn fn, void *ctx);
/* folder, pinned and deleted of n chats, all or none: QN_ENOTFOUND. */
void qn_chats_change_all(struct qn_chats *c, const char *owner, const char *const *chats, size_t n,
                         const struct qn_chat_patch *patch, qn_chats_fn fn, void *ctx);
/* Deletes a chat for good. An answer that is being written gets QN_ENOTFOUND from then on. */
void qn_chats_remove(struct qn_chats *c, const char *owner, const char *chat, qn_chats_fn fn,
                     void *ctx);
/* Gives everything that the owner has stored (chats, files, presets, MCP servers) to another owner.
 * QN_ECONFLICT: that owner has stored something itself. Answers that are being written must have
 * ended. */
void qn_chats_give(struct qn_chats *c, const char *owner, const char *to, qn_chats_fn fn,
                   void *ctx);

/* Titles and texts that have all words of the query, whole or by their beginning; words between
 * quotation marks in this order. Case and diacritics are ignored. Chats whose title matches first,
 * then messages, newest first. Ends after QN_CHATS_SEARCH_MS. */
void qn_chats_search(struct qn_chats *c, const char *owner, const char *query, size_t limit,
                     qn_chats_fn fn, void *ctx);

/* ---- messages ---- */

/* Uses chat, parent, role, text, parts, calls, blobs, of which NULL ones are empty; the message is
 * done, and the chat's head. QN_EINVAL: the parent is not a message of the chat, the owner has no
 * such file. QN_ECONFLICT: the parent is unfinished, the chat is deleted. */
void qn_chats_add_message(struct qn_chats *c, const char *owner, const struct qn_chat_message *m,
                          qn_chats_fn fn, void *ctx);
/* One message; an unfinished one with all that has been appended. */
void qn_chats_read_message(struct qn_chats *c, const char *owner, const char *message,
                           qn_chats_fn fn, void *ctx);
/* text: NULL: stays. deleted: NULL: stays; true: the message and all below it, false: restores what
 * was deleted with it. QN_ECONFLICT: the text of an unfinished message; restoring below a deleted
 * one. */
void qn_chats_change_message(struct qn_chats *c, const char *owner, const char *message,
                             const char *text, const bool *deleted, qn_chats_fn fn, void *ctx);

/* ---- answers in progress; for the code that writes answers ---- */

/* Makes an assistant's message in state QUEUED below `parent`, which becomes the chat's head. The
 * result has the chat and the path from the first message to the new one, which is the last. model,
 * params: stored with it. QN_ECONFLICT: the parent is unfinished. */
void qn_chats_begin_answer(struct qn_chats *c, const char *owner, const char *parent,
                           const char *model, const char *params, qn_chats_fn fn, void *ctx);
/* The same for an assistant's message that is finished: its state becomes QUEUED, and what is
 * appended follows its text and reasoning. The path ends with it. */
void qn_chats_continue_answer(struct qn_chats *c, const char *owner, const char *message,
                              const char *model, const char *params, qn_chats_fn fn, void *ctx);

/* A piece of an answer, valid UTF-8 by itself. */
struct qn_chat_piece {
    bool reasoning;
    const char *text;
    size_t n;
};
/* Appends pieces to an unfinished message, in one transaction, whose cost does not depend on the
 * length of the message. The first one makes its state ANSWERING. To stay bounded, the caller
 * appends again only after the callback. QN_ENOTFOUND: the message was deleted for good, or is
 * finished. QN_ELIMIT: it has QN_CHATS_TEXT_MAX bytes of text or reasoning; nothing was appended.
 */
void qn_chats_append(struct qn_chats *c, const char *message, const struct qn_chat_piece *pieces,
                     size_t n, qn_chats_fn fn, void *ctx);

/* Replaces the calls of an unfinished message, whose state becomes ANSWERING. In `calls`, each call
 * that waits for a permission must have the member "state":"asking", written without blanks.
 * QN_ENOTFOUND as in qn_chats_append. */
void qn_chats_set_calls(struct qn_chats *c, const char *message, const char *calls, qn_chats_fn fn,
                        void *ctx);

/* Appends the last pieces and finishes the message. Members that are NULL stay as they are. The
 * result has the message. */
#define QN_CHATS_FULL "full"
struct qn_chat_end {
    enum qn_chat_state state; /* a finished one */
    const char *finish, *stats, *error, *calls;
    /* MAY be NULL. If both are set, the next answer is begun below the message in the same
     * transaction, as by qn_chats_begin_answer, and the result has the path to that answer instead
     * of the message. If there is no room for it, the message becomes CUT with the finish
     * QN_CHATS_FULL. In this case, or if the message or its chat is deleted, no answer is begun,
     * and the result has the message. */
    const char *next_model, *next_params;
    const struct qn_chat_piece *pieces;
    size_t n_pieces;
};
void qn_chats_finish(struct qn_chats *c, const char *message, const struct qn_chat_end *end,
                     qn_chats_fn fn, void *ctx);

#endif
