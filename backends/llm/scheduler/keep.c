/* See keep.h. */
#include "llm/scheduler/keep.h"

#include "base/buf.h"
#include "llm/prompt/conversation.h"

#include <stdlib.h>
#include <string.h>

size_t qn_prompt_keep(struct qn_prompter *p, const struct qn_job *job, int32_t context,
                      const struct qn_prompt *prompt)
{
    size_t leading = qn_conversation_leading(&job->chat.messages), keep = 1;
    if (job->task != QN_TASK_CHAT || !leading)
        return keep;
    /* The leading system messages, followed by an empty user message. */
    struct qn_message_part nothing = {.kind = QN_PART_TEXT, .attachment = QN_UNSET, .text = ""};
    struct qn_message *messages = qn_xcalloc(leading + 1, sizeof *messages);
    struct qn_prompt beginning = {0};
    struct qn_job system = *job;
    memcpy(messages, job->chat.messages.v, leading * sizeof *messages);
    messages[leading] = (struct qn_message){.role = QN_ROLE_USER, .parts = {&nothing, 1}};
    system.chat.messages = (struct qn_messages){messages, leading + 1};
    system.chat.continue_last = false;
    /* A template may refuse such a conversation; then nothing but the first token is kept. */
    if (qn_prompt_make(p, &system, context, &beginning, NULL) == QN_OK) {
        size_t same = 0;
        while (same < beginning.n && same < prompt->n &&
               beginning.tokens[same] == prompt->tokens[same])
            same++;
        keep = same > keep ? same : keep;
        qn_prompt_deinit(&beginning);
    }
    free(messages);
    return keep;
}
