/* Built-in chat templates for models without one, and for conversations with which a model's own
 * template fails. */
#ifndef QN_LLM_PROMPT_PROMPT_FALLBACK_H
#define QN_LLM_PROMPT_PROMPT_FALLBACK_H

#include "base/error.h"
#include "contract/job.h"

#include <stdbool.h>

struct qn_builtin_form {
    const char *source; /* source of the chat template */
    const char *stop;   /* the stop string that the form needs, or NULL */
};

/* ChatML if the vocabulary has its tokens, else "User: ... / Assistant:" lines. */
struct qn_builtin_form qn_builtin_form(bool has_chatml);

/* Whether the built-in form may be used after the model's template failed with this error: only if
 * the template is invalid, or raised an exception for a conversation of plain texts with the usual
 * roles. Conversations that need the template (tools, calls, other roles), exceeded limits and
 * continued messages remain errors. */
bool qn_may_fall_back(qn_err err, const struct qn_error *e, const struct qn_chat *chat);

#endif
