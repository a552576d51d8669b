/* Adapts a conversation to what a chat template supports: tools are described in a system message
 * if the template has no place for them, calls and results become text, messages with several calls
 * are split, system messages are merged into user messages; and drops the oldest turns. Pure. */
#ifndef QN_LLM_PROMPT_CONVERSATION_H
#define QN_LLM_PROMPT_CONVERSATION_H

#include "base/buf.h"
#include "base/error.h"
#include "contract/job.h"

#include <stdbool.h>
#include <stddef.h>

/* What a template supports, found by rendering trial conversations. */
struct qn_manner {
    bool system;       /* system messages */
    bool tools;        /* the tools */
    bool calls;        /* calls in assistant messages */
    bool many_calls;   /* more than one call in a message */
    bool results;      /* messages with the role "tool" */
    bool null_content; /* in messages with calls, empty content must be null rather than "" */
    bool thinking;     /* reasoning is read from "thinking" instead of "reasoning_content" */
    bool think_switch; /* enable_thinking and its synonyms change the rendering */
};

/* Converts the messages to what the template supports. tools: those to be described in text; NULL:
 * none. *out points into the arena and into messages. QN_EINVAL with the path of the field that has
 * too many calls; QN_ELIMIT. */
qn_err qn_conversation_fit(const struct qn_messages *messages, const char *tools,
                           const struct qn_manner *manner, struct qn_arena *arena,
                           struct qn_messages *out, struct qn_error *e);

/* Appends the text of a message's content, each part on lines of its own. */
void qn_message_text(const struct qn_message *m, struct qn_buf *out);

/* Whether any message contains a tool call or a tool result. */
bool qn_conversation_calls(const struct qn_messages *messages);
/* The number of leading system messages. */
size_t qn_conversation_leading(const struct qn_messages *messages);
/* The number of turns; a turn begins with a user message. */
size_t qn_conversation_turns(const struct qn_messages *messages);
/* *out: the messages without the first `drop` turns (fewer than all), but with the leading system
 * messages. room: memory for messages->n messages, to which *out points. */
void qn_conversation_drop(const struct qn_messages *messages, size_t drop, struct qn_message *room,
                          struct qn_messages *out);

#endif
