/* Files that belong to messages: pictures, audio, documents. A file is stored once in
 * DIR/chat-blobs, mode 0600, under the SHA-256 of its contents; a row for each owner that has sent
 * it gives the owner access. A row that no message refers to is removed QN_CHATS_BLOB_UNUSED_H
 * hours after it was made or last sent, a file when it has no row. */
#ifndef QN_CHATS_BLOBS_H
#define QN_CHATS_BLOBS_H

#include "chats/chats.h"

enum {
    QN_CHATS_BLOB_DIGITS = 64,
    QN_CHATS_BLOB_MAX = 64 * 1024 * 1024, /* bytes of one file */
    QN_CHATS_BLOB_TYPE_MAX = 100,         /* bytes of its media type */
    QN_CHATS_OWNER_BLOBS_MAX = 20000      /* files of one owner */
};
#define QN_CHATS_OWNER_BLOB_BYTES_MAX (INT64_C(8) << 30) /* bytes of one owner's files */

struct qn_chat_blob {
    char id[QN_CHATS_BLOB_DIGITS + 1];     /* its SHA-256, lower-case hexadecimal */
    char type[QN_CHATS_BLOB_TYPE_MAX + 1]; /* "image/png" */
    int64_t bytes;
};

/* True for QN_CHATS_BLOB_DIGITS lower-case hexadecimal digits. */
bool qn_chats_blob_is_id(const char *id);

/* The path of a file, malloc'ed. The file exists while a message refers to it, and may be read on
 * any thread. id: qn_chats_blob_is_id. */
char *qn_chats_blob_path(const struct qn_chats *c, const char *id);

/* The folder of files, made if necessary; lent for the life of c. NULL: it cannot be made, which is
 * logged. */
const char *qn_chats_blob_dir(struct qn_chats *c);

/* A path in that folder for a file that is not complete, malloc'ed. What a crash leaves there is
 * removed later. */
char *qn_chats_blob_temp(const struct qn_chats *c);

/* e: as in qn_chats_found; blob: lent. */
typedef void (*qn_chats_blob_fn)(void *ctx, const struct qn_chat_blob *blob,
                                 const struct qn_error *e);

/* Takes the file at the path `temp`, mode 0600, which has the contents that *blob says, for this
 * owner. If it fails the file is deleted. QN_ELIMIT: the owner has too many files, or bytes. */
void qn_chats_add_blob(struct qn_chats *c, const char *owner, const char *temp,
                       const struct qn_chat_blob *blob, qn_chats_blob_fn fn, void *ctx);

/* Finds a file of this owner. QN_ENOTFOUND. */
void qn_chats_find_blob(struct qn_chats *c, const char *owner, const char *id, qn_chats_blob_fn fn,
                        void *ctx);

#endif
