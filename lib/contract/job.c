/* Empty values and names of jobs, see job.h. */
#include "contract/job.h"

#include "base/str.h"

#include <math.h>

static const char *const task_names[QN_TASK_COUNT] = {
    [QN_TASK_NONE] = "none",
    [QN_TASK_CHAT] = "chat",
    [QN_TASK_COMPLETE] = "complete",
    [QN_TASK_EMBED] = "embed",
    [QN_TASK_RERANK] = "rerank",
};

static const char *const tool_choice_names[QN_TOOLS_COUNT] = {
    [QN_TOOLS_UNSET] = "unset",       [QN_TOOLS_AUTO] = "auto",   [QN_TOOLS_NONE] = "none",
    [QN_TOOLS_REQUIRED] = "required", [QN_TOOLS_NAMED] = "named",
};

void qn_job_init(struct qn_job *job)
{
    *job = (struct qn_job){
        .sampling =
            {
                .max_tokens = QN_UNSET,
                .temperature = NAN,
                .top_p = NAN,
                .top_k = QN_UNSET,
                .min_p = NAN,
                .typical_p = NAN,
                .repeat_penalty = NAN,
                .repeat_last_n = QN_UNSET,
                .presence_penalty = NAN,
                .frequency_penalty = NAN,
                .seed = QN_UNSET,
                .n = QN_UNSET,
                .logprobs = QN_UNSET,
                .context_shift = QN_UNSET,
            },
        .chat = {.think = QN_UNSET},
        .measure = {.dimensions = QN_UNSET},
    };
}

const char *qn_task_name(enum qn_task task)
{
    return (unsigned)task < QN_TASK_COUNT ? task_names[task] : task_names[QN_TASK_NONE];
}

const char *qn_tool_choice_name(enum qn_tool_choice c)
{
    return (unsigned)c < QN_TOOLS_COUNT ? tool_choice_names[c] : tool_choice_names[QN_TOOLS_UNSET];
}

enum qn_task qn_task_parse(const char *name)
{
    for (int i = QN_TASK_NONE + 1; i < QN_TASK_COUNT; i++)
        if (qn_str_eq(name, task_names[i]))
            return (enum qn_task)i;
    return QN_TASK_NONE;
}
