/* Which of a prompt's first tokens a context shift never forgets: the system messages, and tools
 * where the template writes them there. */
#ifndef QN_LLM_SCHEDULER_KEEP_H
#define QN_LLM_SCHEDULER_KEEP_H

#include "llm/prompt/prompt.h"

/* At least 1: attention leans on the first token of all. Found by writing the same conversation
 * with nothing but its system messages: as far as both agree. */
size_t qn_prompt_keep(struct qn_prompter *p, const struct qn_job *job, int32_t context,
                      const struct qn_prompt *prompt);

#endif
