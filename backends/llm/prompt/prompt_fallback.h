/* Built-in forms of conversations: of models without a chat template, and for conversations that a
 * model's own template fails at. */
#ifndef QN_LLM_PROMPT_PROMPT_FALLBACK_H
#define QN_LLM_PROMPT_PROMPT_FALLBACK_H

#include "base/error.h"
#include "contract/job.h"

#include <stdbool.h>

struct qn_builtin_form {
    const char *source; /* a chat template */
    const char *stop;   /* the stop string it needs, or NULL */
};

/* ChatML where the vocabulary has its tokens, else "User: ... / Assistant:" lines. */
struct qn_builtin_form qn_builtin_form(bool has_chatml);

/* Whether the built-in form takes a conversation over after the model's template failed with this
 * error: when the template itself is wrong, or raised an exception over a conversation of the usual
 * roles and texts alone. What needs the template (tools, calls, other roles), limits, and continued
 * messages stay errors. */
bool qn_may_fall_back(qn_err err, const struct qn_error *e, const struct qn_chat *chat);

#endif
