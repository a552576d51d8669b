/* See backend_types.h: one row per backend type. */
#include "contract/backend_types.h"

#include "base/path.h"
#include "base/str.h"
#include "contract/cache_types.h"
#include "contract/server_args.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

/* Repacked weights take about as many bytes as the file; the KV cache and scratch memory come on
 * top. A child that may choose its context takes as much as fits, and at least CONTEXT_LEAST
 * tokens. Where the number of sequences is unknown, the cache is counted for one. */
static int64_t llm_memory(const struct qn_memory_facts *f)
{
    enum { TOKEN_BYTES = 64 * 1024, CONTEXT_LEAST = 512, BASE = 64 * 1024 * 1024 };
    int64_t token = f->kv_token_bytes > 0 ? f->kv_token_bytes : TOKEN_BYTES;
    int64_t context = f->context > 0 ? f->context : CONTEXT_LEAST;
    int64_t slots = f->slots > 0 && f->context > 0 ? f->slots : 1, caches, sum;
    token = token / qn_cache_type_bytes("f16") * qn_cache_type_bytes(f->cache_type);
    if (__builtin_mul_overflow(token, context, &caches) ||
        __builtin_mul_overflow(caches, slots, &caches) ||
        __builtin_add_overflow(f->file_bytes + f->file_bytes / 10 + BASE, caches, &sum))
        return INT64_MAX;
    return sum;
}

/* Audio and image models have no cache that grows with the length of the output. */
static int64_t media_memory(const struct qn_memory_facts *f)
{
    enum { BASE = 256 * 1024 * 1024 };
    int64_t sum;
    return __builtin_add_overflow(f->file_bytes + f->file_bytes / 10, BASE, &sum) ? INT64_MAX : sum;
}

/* The options that a model of any type has, and that the router itself applies. */
/* clang-format off */
#define OPTION(name_, kind_, type_) {.name = name_, .kind = QN_LOAD_##kind_, .type = QN_JSON_##type_}
#define ADMIN_OPTION(name_, kind_, type_) \
    {.name = name_, .kind = QN_LOAD_##kind_, .type = QN_JSON_##type_, .admin = true}
#define RANGE(name_, kind_, min_, max_, whole_) \
    {.name = name_, .kind = QN_LOAD_##kind_, .type = QN_JSON_NUMBER, .min = min_, .max = max_, .whole = whole_}
#define HOUSE_OPTIONS                                     \
    ADMIN_OPTION("pinned", HOUSE, BOOL),                  \
    RANGE("max_concurrent", HOUSE, 0, 100000, true),             \
    RANGE("max_queue", HOUSE, -1, 100000, true),                 \
    OPTION("auto_evict", HOUSE, BOOL),                    \
    RANGE("evict_idle_timeout", HOUSE, 0, 31536000, false),      \
    RANGE("evict_weight_factor", HOUSE, 0, 1000000000, false)
/* clang-format on */

static const struct qn_load_option media_options[] = {
    HOUSE_OPTIONS,
    OPTION(NULL, VALUE, ABSENT),
};
/* The options *_backend and *_args choose an external server and its arguments. Their names are
 * also in server_args.c, which must be changed with them. */
static const struct qn_load_option asr_options[] = {
    OPTION("whispercpp_backend", HOUSE, STRING),
    ADMIN_OPTION("whispercpp_args", HOUSE, STRING),
    HOUSE_OPTIONS,
    OPTION(NULL, VALUE, ABSENT),
};
static const struct qn_load_option image_options[] = {
    OPTION("sd-cpp_backend", HOUSE, STRING),
    ADMIN_OPTION("sdcpp_args", HOUSE, STRING),
    RANGE("steps", HOUSE, 1, QN_JOB_STEPS_MAX, true),
    RANGE("cfg_scale", HOUSE, 0, 100, false),
    RANGE("width", HOUSE, QN_JOB_SIDE_MIN, QN_JOB_SIDE_MAX, true),
    RANGE("height", HOUSE, QN_JOB_SIDE_MIN, QN_JOB_SIDE_MAX, true),
    HOUSE_OPTIONS,
    OPTION(NULL, VALUE, ABSENT),
};

/* A model that another machine computes uses next to no memory here. */
static int64_t remote_memory(const struct qn_memory_facts *f)
{
    enum { PROCESS = 16 * 1024 * 1024 };
    (void)f;
    return PROCESS;
}

static const struct qn_load_option llm_options[] = {
    RANGE("slots", VALUE, 1, QN_LOAD_SLOTS_MAX, true),
    {.name = "cache_type", .kind = QN_LOAD_VALUE, .type = QN_JSON_STRING, .words = qn_cache_types},
    OPTION("speculate", VALUE, BOOL),
    OPTION("context_shift", VALUE, BOOL),
    OPTION("draft_model", MODEL, STRING),
    OPTION("prefix_cache", CACHE_FILE, BOOL),
    OPTION("rope_scaling", STRETCH, STRING),
    OPTION("lora", ADAPTERS, ARRAY),
    RANGE("weight_cache", WEIGHT_CACHE, 0, QN_WEIGHT_CACHE_GIB_MAX, true),
    OPTION("llamacpp_backend", HOUSE, STRING),
    ADMIN_OPTION("llamacpp_args", HOUSE, STRING),
    HOUSE_OPTIONS,
    OPTION(NULL, VALUE, ABSENT),
};

static const struct qn_backend_type types[] = {
    {
        .type = "llm",
        .binary = "quince-llm",
        .recipe = "llamacpp",
        .load_options = llm_options,
        .offers = QN_CAN_TALK | QN_CAN_INSERT | QN_CAN_TOOLS | QN_CAN_REASON,
        .memory_estimate = llm_memory,
    },
    {
        .type = "asr",
        .binary = "quince-asr",
        .recipe = "whispercpp",
        .load_options = asr_options,
        .optional = true,
        .offers = QN_CAN_TRANSCRIBE,
        .memory_estimate = media_memory,
    },
    {
        .type = "tts",
        .binary = "quince-tts",
        .recipe = "kokoro",
        .load_options = media_options,
        .optional = true,
        .offers = QN_CAN_SPEAK,
        .memory_estimate = media_memory,
    },
    {
        .type = "image",
        .binary = "quince-image",
        .recipe = "sd-cpp",
        .load_options = image_options,
        .optional = true,
        .offers = QN_CAN_IMAGE | QN_CAN_EDIT,
        .memory_estimate = media_memory,
    },
    {
        .type = "remote",
        .binary = "quince-bridge",
        .recipe = "remote",
        .defined = true,
        .load_options = media_options,
        .optional = true,
        .offers = QN_CAPABILITIES_ALL,
        .memory_estimate = remote_memory,
    },
};

enum { TYPES = sizeof types / sizeof *types };

static bool missing[TYPES];
static atomic_bool served[TYPES]; /* a third-party server runs this type's models instead */

const struct qn_backend_type *qn_backend_type_find(const char *type)
{
    for (size_t i = 0; i < TYPES; i++)
        if (qn_str_eq(types[i].type, type))
            return &types[i];
    return NULL;
}

const struct qn_backend_type *qn_backend_type_at(size_t i)
{
    return i < TYPES ? &types[i] : NULL;
}

unsigned qn_backend_type_reach(const struct qn_backend_type *t)
{
    const struct qn_server_kind *server = qn_server_kind_of_type(t->type);
    return (qn_backend_type_missing(t) ? 0 : t->offers) |
           (server && qn_backend_type_served(t) ? server->offers : 0);
}

const struct qn_backend_type *qn_backend_type_of(const char *recipe, unsigned purposes)
{
    const struct qn_backend_type *any = NULL;
    for (size_t i = 0; i < TYPES; i++) {
        unsigned reach = qn_backend_type_reach(&types[i]);
        if (!qn_str_eq(types[i].recipe, recipe) || types[i].defined || !reach)
            continue;
        if (!purposes || reach & purposes)
            return &types[i];
        any = any ? any : &types[i];
    }
    return any;
}

void qn_backend_types_look(const char *dir)
{
    for (size_t i = 0; i < TYPES; i++) {
        char *path = qn_path_join(dir, types[i].binary);
        missing[i] = types[i].optional && access(path, X_OK) != 0;
        free(path);
    }
}

bool qn_backend_type_missing(const struct qn_backend_type *t)
{
    return missing[t - types];
}

void qn_backend_type_serve(const struct qn_backend_type *t, bool yes)
{
    atomic_store(&served[t - types], yes);
}

bool qn_backend_type_served(const struct qn_backend_type *t)
{
    return atomic_load(&served[t - types]);
}
