/* Turns a job into prompt tokens: chat template or raw prompt, start token, fill-in-the-middle.
 *
 * A model without a chat template gets ChatML if its vocabulary has ChatML's tokens, else plain
 * "User: ... / Assistant:" lines, with "User:" as a stop string. The same forms replace a model's
 * own template if it does not compile or fails for a conversation (prompt_fallback.h). */
#ifndef QN_LLM_PROMPT_PROMPT_H
#define QN_LLM_PROMPT_PROMPT_H

#include "contract/job.h"
#include "llm/toolcall/calls.h"
#include "text/tokenizer.h"

struct qn_prompter;

/* tok is borrowed until the prompter is freed; the gguf may be closed afterwards. A template that
 * does not compile is ignored, with a warning in the log. */
qn_err qn_prompter_new(const struct qn_gguf *g, const struct qn_tokenizer *tok,
                       struct qn_prompter **out, struct qn_error *e);
void qn_prompter_free(struct qn_prompter *p);

/* The syntax in which this model marks reasoning and tool calls. */
const struct qn_syntax *qn_prompter_syntax(const struct qn_prompter *p);
/* [vocabulary] Which tokens are control tokens used as marks. Borrowed. */
const bool *qn_prompter_marks(const struct qn_prompter *p);

/* NULL until a built-in form has replaced the model's template; then one sentence that says so. The
 * sentence contains no text of a conversation and does not change again. Borrowed. Any thread. */
const char *qn_prompter_warning(const struct qn_prompter *p);

struct qn_prompt {
    int32_t *tokens; /* malloc'ed, at least one */
    size_t n;
    char *echo_text;  /* malloc'ed: the text for complete.echo; NULL if not requested */
    size_t echo_skip; /* first tokens that are not part of echo_text */
    const char *stop; /* a stop string that the prompt's form needs, or NULL */
    bool thinking;    /* the end of the prompt has begun the model's reasoning */
};
void qn_prompt_deinit(struct qn_prompt *p);

/* QN_EINVAL (param: the field at fault; the message of the template if it raised an exception),
 * QN_EUNSUPPORTED (pictures; suffix without the tokens for it), QN_ECONTEXT if the prompt is far
 * beyond `context` tokens (the batch makes the exact check). */
qn_err qn_prompt_make(struct qn_prompter *p, const struct qn_job *job, int32_t context,
                      struct qn_prompt *out, struct qn_error *e);

#endif
