/* Import of chats: reading files of several programs, and storing what was read.
 *
 * Recognised by their contents: quince's own export; exports of llama.cpp's web page (JSON, one
 * object {"conv","messages"} or an array of them, and JSON lines); exports of Open WebUI (an array
 * of objects with "chat", or of what that member holds). Ids are replaced by new ones. */
#ifndef QN_CHATS_IMPORT_H
#define QN_CHATS_IMPORT_H

#include "chats/blobs.h"
#include "chats/chats.h"

enum {
    QN_CHATS_IMPORT_MAX = 256 * 1024 * 1024,    /* bytes of one file */
    QN_CHATS_IMPORT_ONE_MAX = 64 * 1024 * 1024, /* bytes of one chat in it */
    QN_CHATS_IMPORT_NOTES_MAX = 100             /* notes of what was left out */
};
#define QN_CHATS_IMPORT_NONE SIZE_MAX /* no parent, no head */
/* More than what is made of one chat: copies of its texts, and JSON that is longer than its source.
 */
#define QN_CHATS_IMPORT_ARENA ((size_t)16 * QN_CHATS_IMPORT_ONE_MAX)

/* A file of a message. Either its contents or its id is known. */
struct qn_chats_imported_part {
    const char *kind, *name, *type;
    const char *data; /* n bytes: base64, or the contents themselves if `plain` */
    size_t n;
    bool plain;
    const char *blob; /* id of a file that the owner has; NULL */
};

struct qn_chats_imported_message {
    struct qn_chat_message m; /* without id, chat, parent, parts */
    size_t parent;            /* index of an earlier message, or QN_CHATS_IMPORT_NONE */
    struct qn_chats_imported_part *parts;
    size_t n_parts;
};

/* A chat that was read. Parents come before their children. Everything is valid: lengths, ids of
 * roles and states, UTF-8, JSON. */
struct qn_chats_imported {
    struct qn_stored_chat chat; /* without id, head, messages, answering, deleted */
    const char *origin;         /* identifies it in the program that it comes from */
    struct qn_chats_imported_message *messages;
    size_t n;
    size_t head; /* index, or QN_CHATS_IMPORT_NONE */
};

/* Something that was left out, and why. */
typedef void (*qn_chats_note_fn)(void *ctx, const char *note);

/* Reads the chats of a file one after the other. Pure; any thread. */
struct qn_chats_reader;
/* text: n bytes, lent until the reader is freed. QN_EFORMAT: the format is not known; the message
 * says what is possible. */
qn_err qn_chats_reader_new(const char *text, size_t n, struct qn_chats_reader **out,
                           struct qn_error *e);
void qn_chats_reader_free(struct qn_chats_reader *r); /* NULL allowed */
/* Reads the next chat into a; *out is NULL at the end. QN_EFORMAT: the file is malformed.
 * QN_ELIMIT: a chat is too large. note: called for what is left out of the chat. The arena must
 * have room for QN_CHATS_IMPORT_ARENA bytes. */
qn_err qn_chats_reader_next(struct qn_chats_reader *r, struct qn_arena *a, qn_chats_note_fn note,
                            void *ctx, struct qn_chats_imported **out, struct qn_error *e);

/* ---- storing ---- */

/* A chat with its files ready to be stored. */
struct qn_chats_ready {
    const struct qn_chats_imported *chat;
    struct qn_chat_blob *blobs; /* of all parts of all messages, in order; id "": left out */
    char **temps; /* the paths of files that are to be stored (qn_chats_blob_temp), or NULL */
};

/* Stores n chats under the name of an import (QN_CHATS_ID_DIGITS digits), hidden until it ends. One
 * transaction. found->chats has the titles of those that were left out because the owner has them
 * already. Everything is lent until fn is called. The caller deletes files of temps that are left.
 * QN_ELIMIT, and nothing was stored. */
void qn_chats_import_add(struct qn_chats *c, const char *owner, const char *import,
                         const struct qn_chats_ready *chats, size_t n, qn_chats_fn fn, void *ctx);
/* Ends an import: its chats appear, or are erased. */
void qn_chats_import_end(struct qn_chats *c, const char *owner, const char *import, bool keep,
                         qn_chats_fn fn, void *ctx);

#endif
