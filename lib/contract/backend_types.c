/* See backend_types.h: one row per backend type. */
#include "contract/backend_types.h"

#include "base/str.h"

#include <stddef.h>

/* Weights laid out for computing take about the file's size; caches and scratch come on top. */
static int64_t llm_memory(int64_t file_bytes, int64_t context)
{
    const int64_t per_token = 64 * 1024; /* keys and values of a 1B model in f16 */
    const int64_t base = 64 * 1024 * 1024;
    return file_bytes + file_bytes / 10 + context * per_token + base;
}

static const struct qn_backend_type types[] = {
    {
        .type = "llm",
        .binary = "quince-llm",
        .recipe = "llamacpp",
        .tasks = 1u << QN_TASK_CHAT | 1u << QN_TASK_COMPLETE,
        .memory_estimate = llm_memory,
    },
};

const struct qn_backend_type *qn_backend_type_at(unsigned i)
{
    return i < sizeof types / sizeof *types ? &types[i] : NULL;
}

const struct qn_backend_type *qn_backend_type_find(const char *type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (qn_str_eq(types[i].type, type))
            return &types[i];
    return NULL;
}

bool qn_backend_type_can(const struct qn_backend_type *t, enum qn_task task)
{
    return (t->tasks & 1u << task) != 0;
}
