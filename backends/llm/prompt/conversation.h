/* Fits a conversation to what a chat template can show: tools told in words where it knows none,
 * calls and results as text, one call to a message, system messages for templates without them; and
 * leaves out its oldest turns. Messages are JSON as in job.h. Pure. */
#ifndef QN_LLM_PROMPT_CONVERSATION_H
#define QN_LLM_PROMPT_CONVERSATION_H

#include "base/buf.h"
#include "base/error.h"

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

/* Appends the messages as the template can show them. tools: those that have to be told in words,
 * NULL: none. QN_EINVAL with the path of what is malformed. */
qn_err qn_conversation_fit(const char *messages, const char *tools, const struct qn_manner *manner,
                           struct qn_buf *out, struct qn_error *e);

/* How many turns there are: a turn begins with a user's message. The system messages before the
 * first one are none. 0 for what is no conversation. */
size_t qn_conversation_turns(const char *messages);
/* Appends the messages without their first `drop` turns, drop below their number. */
void qn_conversation_drop(const char *messages, size_t drop, struct qn_buf *out);

#endif
