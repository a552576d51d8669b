/* Which of a prompt's first tokens a context shift never drops: the system messages, and the tools
 * if the template writes them there. */
#ifndef QN_LLM_SCHEDULER_KEEP_H
#define QN_LLM_SCHEDULER_KEEP_H

#include "llm/prompt/prompt.h"

/* Returns at least 1, because attention needs the first token (attention sink). Renders the same
 * conversation with only its system messages and counts the tokens that both prompts begin with. */
size_t qn_prompt_keep(struct qn_prompter *p, const struct qn_job *job, int32_t context,
                      const struct qn_prompt *prompt);

#endif
