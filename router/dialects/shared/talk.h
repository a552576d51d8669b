/* Builds a conversation piece by piece from a dialect's messages (contract/message.h). Everything
 * is copied into the arena; base64 of images is decoded there once. One thread at a time. */
#ifndef QN_DIALECTS_SHARED_TALK_H
#define QN_DIALECTS_SHARED_TALK_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "contract/job.h"

#include <stdbool.h>
#include <stddef.h>

/* Total decoded bytes of all images and sounds of one request. */
enum { QN_TALK_FILE_BYTES_MAX = 128 * 1024 * 1024 };

struct qn_talk {
    struct qn_job *job; /* receives the messages and attachments */
    struct qn_arena *arena;
    struct qn_message *v; /* malloc'ed until qn_talk_end */
    size_t n, cap;
    size_t bytes; /* texts of the closed messages */
    bool open;    /* the last message is open */
    bool overflow;
    /* Of the open message, until it is closed: */
    struct qn_buf text, reasoning; /* text: the text after the last part */
    struct qn_message_parts content, calls;
    size_t content_cap, calls_cap;
    size_t texts; /* number of texts joined in text */
};

/* QN_EINVAL if a request has more messages than a conversation may have. Call it before the first
 * message is read. */
qn_err qn_talk_check(const struct qn_jref *messages, struct qn_error *e);

/* Images are added after the job's existing attachments. */
void qn_talk_init(struct qn_talk *t, struct qn_job *job, struct qn_arena *arena);
void qn_talk_deinit(struct qn_talk *t);

/* Opens a message and closes the previous one. */
void qn_talk_message(struct qn_talk *t, enum qn_role role);

/* Add to the open message. Several texts are joined by line breaks. */
void qn_talk_name(struct qn_talk *t, const char *name);
/* Sets the id of the call whose result the open TOOL message is. */
void qn_talk_answers(struct qn_talk *t, const char *call_id);
void qn_talk_text(struct qn_talk *t, const char *text);
void qn_talk_reasoning(struct qn_talk *t, const char *text);
/* Adds an image in base64; type: its media type, NULL: detected from its first bytes. QN_EINVAL
 * with at's path: not base64, empty, or too many images. */
qn_err qn_talk_picture(struct qn_talk *t, const struct qn_jref *at, const char *type,
                       const char *base64, struct qn_error *e);
/* The same for a sound; type: "audio/wav". */
qn_err qn_talk_sound(struct qn_talk *t, const struct qn_jref *at, const char *type,
                     const char *base64, struct qn_error *e);
/* Adds an image given as a data URL (RFC 2397) in base64. */
qn_err qn_talk_data_url(struct qn_talk *t, const struct qn_jref *at, const char *url,
                        struct qn_error *e);
/* Adds a tool call. id MAY be NULL. arguments: an object, or a string, which is kept unchanged;
 * absent: none. */
void qn_talk_call(struct qn_talk *t, const char *id, const char *name,
                  const struct qn_jref *arguments);

/* Ends the conversation and sets job->chat.messages. QN_EINVAL with param `what` if it is too long,
 * or has no message or too many. */
qn_err qn_talk_end(struct qn_talk *t, const char *what, struct qn_error *e);

#endif
