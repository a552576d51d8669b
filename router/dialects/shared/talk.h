/* A conversation in the form chat templates read, built piece by piece: what every dialect's
 * messages become. Loop thread only.
 *
 *   [{"role","content",["name"],["reasoning_content"],["tool_call_id"],["tool_calls":[{"id","type":"function",
 *     "function":{"name","arguments":{...}}}]]}, ...]
 *
 * content is a string; with pictures it is an array of {"type":"text","text"} and
 * {"type":"image_url","image_url":
 * {"url":"data:image/png;base64,..."}} in the order they came. Roles: system, user, assistant,
 * tool. */
#ifndef QN_DIALECTS_SHARED_TALK_H
#define QN_DIALECTS_SHARED_TALK_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

enum { QN_TALK_MESSAGES_MAX = 10000 };

struct qn_talk {
    struct qn_buf out; /* the array so far */
    struct qn_jw w;
    size_t n;  /* messages begun */
    bool open; /* the last one is not closed */
    /* the open message's parts, written when it is closed: */
    struct qn_buf text, parts, calls, reasoning;
    size_t texts, images, n_calls;
    bool content; /* it has a content, perhaps empty; else it is null */
};

/* QN_EINVAL when a request has more messages than a conversation may. To be called before the first
 * of them is read. */
qn_err qn_talk_check(const struct qn_jref *messages, struct qn_error *e);

void qn_talk_init(struct qn_talk *t);
void qn_talk_deinit(struct qn_talk *t);

/* Begins a message and closes the one before. */
void qn_talk_message(struct qn_talk *t, const char *role);

/* More of the open message. Several texts are joined by line breaks. */
void qn_talk_text(struct qn_talk *t, const char *text);
void qn_talk_image(struct qn_talk *t, const char *url); /* a data URL */
void qn_talk_reasoning(struct qn_talk *t, const char *text);
/* id MAY be NULL. arguments: an object, or a string that holds one; what is neither (a model's own
 * slip, sent back to us) stays text. */
void qn_talk_call(struct qn_talk *t, const char *id, const char *name,
                  const struct qn_jref *arguments);
/* Any other member, "name" or "tool_call_id". Call it right after qn_talk_message. */
void qn_talk_member(struct qn_talk *t, const char *key, const char *value);

/* Closes the conversation and puts its JSON into the arena. QN_EINVAL with param `what` when it is
 * too long or has no or too many messages. */
qn_err qn_talk_end(struct qn_talk *t, struct qn_arena *arena, const char *what, const char **out,
                   struct qn_error *e);

#endif
