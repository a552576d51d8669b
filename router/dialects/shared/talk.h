/* A conversation built piece by piece: what every dialect's messages become (contract/message.h).
 * Everything is copied into the arena, base64 of pictures is decoded there once. One thread at a
 * time. */
#ifndef QN_DIALECTS_SHARED_TALK_H
#define QN_DIALECTS_SHARED_TALK_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "contract/job.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes of all pictures of one request, decoded. */
enum { QN_TALK_PICTURE_BYTES_MAX = 128 * 1024 * 1024 };

struct qn_talk {
    struct qn_job *job; /* whose messages and attachments are made */
    struct qn_arena *arena;
    struct qn_message *v; /* malloc'ed until the end */
    size_t n, cap;
    size_t bytes; /* of the texts of closed messages */
    bool open;    /* the last message is not closed */
    bool overflow;
    /* Of the open message, until it is closed: */
    struct qn_buf text, reasoning; /* text: what follows the last part */
    struct qn_message_parts content, calls;
    size_t content_cap, calls_cap;
    size_t texts; /* joined in text */
};

/* QN_EINVAL when a request has more messages than a conversation may. To be called before the first
 * of them is read. */
qn_err qn_talk_check(const struct qn_jref *messages, struct qn_error *e);

/* Pictures go behind the attachments that the job has already. */
void qn_talk_init(struct qn_talk *t, struct qn_job *job, struct qn_arena *arena);
void qn_talk_deinit(struct qn_talk *t);

/* Begins a message and closes the one before. */
void qn_talk_message(struct qn_talk *t, enum qn_role role);

/* More of the open message. Several texts are joined by line breaks. */
void qn_talk_name(struct qn_talk *t, const char *name);
void qn_talk_answers(struct qn_talk *t, const char *call_id); /* a TOOL's call */
void qn_talk_text(struct qn_talk *t, const char *text);
void qn_talk_reasoning(struct qn_talk *t, const char *text);
/* A picture in base64; type: its media type, NULL: found in its first bytes. QN_EINVAL with at's
 * path: this is not base64, or it is empty, or there are too many. */
qn_err qn_talk_picture(struct qn_talk *t, const struct qn_jref *at, const char *type,
                       const char *base64, struct qn_error *e);
/* The same from a data URL (RFC 2397) in base64. */
qn_err qn_talk_data_url(struct qn_talk *t, const struct qn_jref *at, const char *url,
                        struct qn_error *e);
/* id MAY be NULL. arguments: an object, or a string, which stays as it is; absent: none. */
void qn_talk_call(struct qn_talk *t, const char *id, const char *name,
                  const struct qn_jref *arguments);

/* Closes the conversation: job->chat.messages is set. QN_EINVAL with param `what` when it is too
 * long or has no or too many messages. */
qn_err qn_talk_end(struct qn_talk *t, const char *what, struct qn_error *e);

#endif
