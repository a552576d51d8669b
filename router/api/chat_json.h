/* Shared by the endpoints of chats: the JSON of chats and messages, and checks of what clients
 * send. */
#ifndef QN_API_CHAT_JSON_H
#define QN_API_CHAT_JSON_H

#include "base/error.h"
#include "base/json.h"
#include "chats/blobs.h"
#include "io/http_server.h"

/* Writes a chat as an object; without system and params if they were not read. */
void qn_api_chat_write(struct qn_jw *w, const struct qn_stored_chat *c);
/* Writes a message as an object. */
void qn_api_chat_message_write(struct qn_jw *w, const struct qn_chat_message *m);
/* Sends it as the whole reply. */
void qn_api_chat_message_answer(struct qn_http *h, int status, const struct qn_chat_message *m);

/* QN_ENOTFOUND unless the text has the form of an id. what: "chat", "message". */
qn_err qn_api_chat_id_check(const char *id, const char *what, struct qn_error *e);

/* QN_EINVAL for a member that the list, which ends with NULL, does not name. */
qn_err qn_api_members_known(const struct qn_jref *object, const char *const *known,
                            struct qn_error *e);

/* Copies the media type without its parameters, in lower case; application/octet-stream if it is
 * NULL or malformed (RFC 9110, 8.3.1). */
void qn_api_chat_media_type(const char *text, char out[static QN_CHATS_BLOB_TYPE_MAX + 1]);

/* Sends an error of the storage of chats: a damaged or unreadable database is not the client's
 * fault. */
void qn_api_chat_problem(struct qn_http *h, const struct qn_error *e);

#endif
