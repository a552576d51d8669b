/* The table of profiles, see profile.h. Numbers are those of the API's documentation, where it has
 * any. */
#include "answers/profile.h"

#include "base/str.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

enum { LEMONADE, OLLAMA, AUTO, LAYERSCALE, DPPAN, KOLOSAL, LOCALLLM, ROWS };
static_assert((int)ROWS == (int)QN_PROFILE_COUNT, "each profile has a row");

#define OF_THE_MODEL                                                                               \
    {                                                                                              \
        .temperature = NAN, .top_p = NAN                                                           \
    }
#define OF_THE_MODEL_WITH_PROMPT                                                                   \
    {                                                                                              \
        .temperature = NAN, .top_p = NAN, .max_with_prompt = true                                  \
    }

enum {
    BOTH = QN_HEALTH_SYSTEM | QN_HEALTH_MODELS,
    PHONE = QN_HEALTH_ENGINES | QN_HEALTH_OK | BOTH,
};

static const struct qn_profile rows[] =
    {
        [LEMONADE] =
            {
                .name = QN_PROFILE_MAIN_NAME,
                .owned_by = "lemonade",
                .family = QN_FAMILY_ERROR,
                .chat_family = QN_FAMILY_ERROR,
                .chat = OF_THE_MODEL,
                .complete = OF_THE_MODEL_WITH_PROMPT,
                .model = QN_MODEL_REQUIRED,
                .queue = -1,
                .health = BOTH,
                .health_versioned = BOTH,
            },
        [OLLAMA] =
            {
                .name = "ollama",
                .owned_by = "lemonade",
                .family = QN_FAMILY_ERROR,
                .chat_family = QN_FAMILY_ERROR,
                .chat = OF_THE_MODEL,
                .complete = OF_THE_MODEL,
                .model = QN_MODEL_NAMED_ONLY,
                .queue = -1,
                .health = BOTH,
                .health_versioned = BOTH,
            },
        [AUTO] =
            {
                .name = "auto",
                .owned_by = "lemonade",
                .family = QN_FAMILY_ERROR,
                .chat_family = QN_FAMILY_ERROR,
                .chat = OF_THE_MODEL,
                .complete = OF_THE_MODEL,
                .model = QN_MODEL_NAMED_ONLY,
                .queue = -1,
                .health = PHONE,
                .health_versioned = BOTH | QN_HEALTH_HEALTHY,
            },
        [LAYERSCALE] =
            {
                .name = "layerscale",
                .owned_by = "layerscale",
                .family = QN_FAMILY_NUMBER,
                .chat_family = QN_FAMILY_NUMBER,
                .chat = {.max_tokens = 256, .temperature = 0.7, .top_p = 1},
                .complete = {.max_tokens = 256, .temperature = 0.7, .top_p = 1},
                .temperature_max = 2,
                .model = QN_MODEL_ANY,
                .queue = -1,
                .health = QN_HEALTH_SILENT,
                .health_versioned = QN_HEALTH_SILENT,
            },
        [DPPAN] =
            {
                .name = "dppan",
                .owned_by = "dppan",
                .family = QN_FAMILY_ERROR,
                .chat_family = QN_FAMILY_TEXT,
                /* The clients of this profile recognise an unknown model by this status. */
                .statuses = {{QN_ENOTFOUND, 422, NULL}},
                .chat = {.max_tokens = 512, .temperature = 0.8, .top_p = 0.95},
                .complete = {.max_tokens = 512, .temperature = 0.8, .top_p = 0.95},
                .model = QN_MODEL_REQUIRED,
                .queue = -1,
                .health = BOTH | QN_HEALTH_OK,
                .health_versioned = BOTH,
            },
        [KOLOSAL] =
            {
                .name = "kolosal",
                .owned_by = "lemonade",
                .family = QN_FAMILY_ENGINES,
                .chat_family = QN_FAMILY_ENGINES,
                .statuses = {{QN_ECHILD, 500, "inference_error"}},
                .chat = {.max_tokens = 128, .temperature = 1, .top_p = 1},
                .complete = {.max_tokens = 16, .temperature = 1, .top_p = 1},
                .temperature_max = 2,
                .model = QN_MODEL_REQUIRED,
                .queue = -1,
                .unfinished = "",
                .usage_in_last = true,
                .health = BOTH | QN_HEALTH_HEALTHY,
                .health_versioned = BOTH | QN_HEALTH_HEALTHY,
            },
        [LOCALLLM] =
            {
                .name = "localllm",
                .owned_by = "local",
                .family = QN_FAMILY_NUMBER,
                .chat_family = QN_FAMILY_NUMBER,
                .statuses = {{QN_ECONTEXT, 413, NULL}, {QN_ECHILD, 500, NULL}},
                .error_then_done = true,
                .chat = {.temperature = 0.8, .top_p = NAN, .top_k = 40, .max_with_prompt = true},
                .complete =
                    {.temperature = 0.8, .top_p = NAN, .top_k = 40, .max_with_prompt = true},
                .model = QN_MODEL_NAMED_ONLY,
                .numbered_requests = true,
                .queue = 8,
                .queue_full = {429, "queue_full", NULL, 5},
                .timed_out = {408, "timeout", "Inference timeout", 1},
                .health = PHONE,
                .health_versioned = BOTH,
            },
};

const struct qn_profile *qn_profile_at(int i)
{
    return i >= 0 && i < QN_PROFILE_COUNT ? &rows[i] : qn_profile_main();
}

int qn_profile_index(const struct qn_profile *p)
{
    return (int)(p - rows);
}

const struct qn_profile *qn_profile_find(const char *name)
{
    for (int i = 0; i < QN_PROFILE_COUNT; i++)
        if (qn_str_eq(name, rows[i].name))
            return &rows[i];
    return NULL;
}

const struct qn_profile *qn_profile_main(void)
{
    return &rows[LEMONADE];
}

const struct qn_profile *qn_profile_more(void)
{
    return &rows[AUTO];
}

const struct qn_profile *qn_profile_ollama(void)
{
    return &rows[OLLAMA];
}
