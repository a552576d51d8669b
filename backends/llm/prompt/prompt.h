/* From a job to the tokens the network begins with: the chat template or the raw prompt, the start
 * token, fill-in-the-middle.
 *
 * A model without a chat template gets ChatML when its vocabulary has ChatML's tokens, else plain
 * "User: ... / Assistant:" lines, which end at the next "User:". The same forms take over where the
 * model's own template does not compile or fails at a conversation (prompt_fallback.h). */
#ifndef QN_LLM_PROMPT_PROMPT_H
#define QN_LLM_PROMPT_PROMPT_H

#include "contract/job.h"
#include "llm/toolcall/calls.h"
#include "text/tokenizer.h"

struct qn_prompter;

/* tok is lent until the prompter is freed; the gguf may be closed afterwards. A template that does
 * not compile is left out, with a warning in the log. */
qn_err qn_prompter_new(const struct qn_gguf *g, const struct qn_tokenizer *tok,
                       struct qn_prompter **out, struct qn_error *e);
void qn_prompter_free(struct qn_prompter *p);

/* How this model marks reasoning and calls. */
const struct qn_syntax *qn_prompter_syntax(const struct qn_prompter *p);
/* [vocabulary] The control tokens among its marks. Lent. */
const bool *qn_prompter_marks(const struct qn_prompter *p);

/* NULL until a built-in form has replaced the model's template; then one sentence that says so,
 * without any conversation's text, and does not change again. Lent. Any thread. */
const char *qn_prompter_warning(const struct qn_prompter *p);

struct qn_prompt {
    int32_t *tokens; /* malloc'ed, at least one */
    size_t n;
    char *echo_text;  /* malloc'ed: what complete.echo shows; NULL when not asked for */
    size_t echo_skip; /* first tokens that are not part of echo_text */
    const char *stop; /* a stop string the prompt's form needs, or NULL */
    bool thinking;    /* its end has begun the model's reasoning */
};
void qn_prompt_deinit(struct qn_prompt *p);

/* QN_EINVAL (param: what is to blame; the template's own words when it raised an exception),
 * QN_EUNSUPPORTED (pictures; suffix without such tokens), QN_ECONTEXT when the prompt is far beyond
 * `context` tokens (the exact check is the batch's). */
qn_err qn_prompt_make(struct qn_prompter *p, const struct qn_job *job, int32_t context,
                      struct qn_prompt *out, struct qn_error *e);

#endif
