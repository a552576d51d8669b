/* See backend_types.h: one row per backend type. */
#include "contract/backend_types.h"

#include "base/str.h"

#include <stddef.h>

/* Weights laid out for computing take about the file's size; caches and scratch come on top. A
 * child that may choose its context takes what fits, at least this. */
static int64_t llm_memory(const struct qn_memory_facts *f)
{
    enum { TOKEN_BYTES = 64 * 1024, CONTEXT_LEAST = 512, SLOTS = 4, BASE = 64 * 1024 * 1024 };
    int64_t token = f->kv_token_bytes > 0 ? f->kv_token_bytes : TOKEN_BYTES;
    int64_t context = f->context > 0 ? f->context : CONTEXT_LEAST;
    int64_t slots = f->slots > 0 ? f->slots : SLOTS, caches, sum;
    if (__builtin_mul_overflow(token, context, &caches) ||
        __builtin_mul_overflow(caches, slots, &caches) ||
        __builtin_add_overflow(f->file_bytes + f->file_bytes / 10 + BASE, caches, &sum))
        return INT64_MAX;
    return sum;
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
