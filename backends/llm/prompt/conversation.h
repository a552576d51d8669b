/* Fits a conversation to what a chat template can show: tools told in words where it knows none,
 * calls and results as text, one call to a message, system messages for templates without them; and
 * leaves out its oldest turns. Pure. */
#ifndef QN_LLM_PROMPT_CONVERSATION_H
#define QN_LLM_PROMPT_CONVERSATION_H

#include "base/buf.h"
#include "base/error.h"
#include "contract/job.h"

#include <stdbool.h>
#include <stddef.h>

/* What a template shows, found by trying. */
struct qn_manner {
    bool system;       /* system messages */
    bool tools;        /* the tools */
    bool calls;        /* an assistant's calls */
    bool many_calls;   /* more than one of them in a message */
    bool results;      /* messages of the role "tool" */
    bool null_content; /* beside calls it wants no text to be null rather than "" */
    bool thinking;     /* it reads reasoning from "thinking" instead of "reasoning_content" */
    bool think_switch; /* enable_thinking and the like make a difference */
};

/* The messages as the template can show them. tools: those that have to be told in words, NULL:
 * none. What *out points to lies in the arena or is lent by the messages. QN_EINVAL with the path
 * of what is too much; QN_ELIMIT. */
qn_err qn_conversation_fit(const struct qn_messages *messages, const char *tools,
                           const struct qn_manner *manner, struct qn_arena *arena,
                           struct qn_messages *out, struct qn_error *e);

/* Appends the text of a message's content, its parts on lines of their own. */
void qn_message_text(const struct qn_message *m, struct qn_buf *out);

/* Whether a tool is called in it, or answers. */
bool qn_conversation_calls(const struct qn_messages *messages);
/* How many system messages a conversation begins with. */
size_t qn_conversation_leading(const struct qn_messages *messages);
/* How many turns there are: a turn begins with a user's message. */
size_t qn_conversation_turns(const struct qn_messages *messages);
/* The messages without their first `drop` turns, drop below their number, but with the leading
 * system messages. room: for as many messages as there are. */
void qn_conversation_drop(const struct qn_messages *messages, size_t drop, struct qn_message *room,
                          struct qn_messages *out);

#endif
