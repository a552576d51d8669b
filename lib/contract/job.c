/* Default values and names of jobs, see job.h. */
#include "contract/job.h"

#include "base/str.h"

#include <math.h>
#include <string.h>

static const char *const task_names[QN_TASK_COUNT] = {
    [QN_TASK_NONE] = "none",   [QN_TASK_CHAT] = "chat",     [QN_TASK_COMPLETE] = "complete",
    [QN_TASK_EMBED] = "embed", [QN_TASK_RERANK] = "rerank", [QN_TASK_TRANSCRIBE] = "transcribe",
    [QN_TASK_SPEAK] = "speak", [QN_TASK_IMAGE] = "image",
};

static const char *const tool_choice_names[QN_TOOLS_COUNT] = {
    [QN_TOOLS_UNSET] = "unset",       [QN_TOOLS_AUTO] = "auto",   [QN_TOOLS_NONE] = "none",
    [QN_TOOLS_REQUIRED] = "required", [QN_TOOLS_NAMED] = "named",
};

static const char *const role_names[QN_ATTACHMENT_COUNT] = {
    [QN_ATTACHMENT_NONE] = "none",
    [QN_ATTACHMENT_AUDIO] = "audio",
    [QN_ATTACHMENT_IMAGE] = "image",
    [QN_ATTACHMENT_MASK] = "mask",
};

static const char *const image_names[QN_IMAGE_COUNT] = {
    [QN_IMAGE_NONE] = "none",           [QN_IMAGE_GENERATE] = "generate", [QN_IMAGE_EDIT] = "edit",
    [QN_IMAGE_VARIATION] = "variation", [QN_IMAGE_UPSCALE] = "upscale",
};

void qn_job_init(struct qn_job *job)
{
    *job = (struct qn_job){
#define WHOLE(name, least, most) .name = QN_UNSET,
#define REAL(name, least, most) .name = NAN,
        .sampling = {QN_SAMPLING_NUMBERS(WHOLE, REAL)},
        .chat = {.think = QN_UNSET, .think_budget = QN_UNSET},
        .embed = {.dimensions = QN_UNSET},
        .speak = {.speed = NAN},
        .image =
            {
                .width = QN_UNSET,
                .height = QN_UNSET,
                .steps = QN_UNSET,
                .cfg_scale = NAN,
                .strength = NAN,
                .flow_shift = NAN,
            },
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

const char *qn_attachment_role_name(enum qn_attachment_role r)
{
    return (unsigned)r < QN_ATTACHMENT_COUNT ? role_names[r] : role_names[QN_ATTACHMENT_NONE];
}

bool qn_media_type_valid(const char *type)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "/!#$&^_.+-";
    size_t n = strspn(type, letters);
    return n > 0 && n <= QN_JOB_MEDIA_TYPE_MAX && !type[n];
}

const char *qn_image_kind_name(enum qn_image_kind k)
{
    return (unsigned)k < QN_IMAGE_COUNT ? image_names[k] : image_names[QN_IMAGE_NONE];
}

enum qn_task qn_task_parse(const char *name)
{
    for (int i = QN_TASK_NONE + 1; i < QN_TASK_COUNT; i++)
        if (qn_str_eq(name, task_names[i]))
            return (enum qn_task)i;
    return QN_TASK_NONE;
}
