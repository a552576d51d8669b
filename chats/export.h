/* Export of chats: as JSON that import.h reads, with the contents of files, or as Markdown. Written
 * in pieces, so that memory does not depend on the length. Pure but for reading files; any thread,
 * one at a time. */
#ifndef QN_CHATS_EXPORT_H
#define QN_CHATS_EXPORT_H

#include "base/buf.h"
#include "chats/chats.h"

enum { QN_CHATS_EXPORT_PIECE = 256 * 1024 }; /* bytes after which a piece ends */

struct qn_chats_export;

/* blobs: the folder of files; copied. markdown: else JSON. */
struct qn_chats_export *qn_chats_export_new(const char *blobs, bool markdown);
void qn_chats_export_free(struct qn_chats_export *x); /* NULL allowed */

/* The beginning and the end of the whole. */
void qn_chats_export_begin(struct qn_chats_export *x, struct qn_buf *out);
void qn_chats_export_end(struct qn_chats_export *x, struct qn_buf *out);

/* Begins a chat; all is lent until it has been written. */
void qn_chats_export_chat(struct qn_chats_export *x, const struct qn_stored_chat *chat,
                          const struct qn_chat_message *messages, size_t n);
/* Writes the next piece of the chat; false: it is complete. Of Markdown, only the branch that was
 * shown last is written. */
bool qn_chats_export_piece(struct qn_chats_export *x, struct qn_buf *out);

#endif
