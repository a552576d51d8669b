/* See options.h. */
#include "llm/options.h"

#include "base/str.h"
#include "contract/backend_types.h"
#include "contract/cache_types.h"
#include "llm/scheduler/batch.h"

#include <stddef.h>

_Static_assert((int)QN_LOAD_SLOTS_MAX <= (int)QN_BATCH_SEQS_MAX,
               "the scheduler takes so many answers");
_Static_assert((int)QN_LOAD_ADAPTERS_MAX <= (int)QN_ADAPTERS_MAX,
               "a network takes so many adapters");

enum kind { COUNT, TRUTH, TEXT, CACHE, STRETCH, ADAPTERS, WEIGHTS };

static const struct row {
    const char *name;
    enum kind kind;
    size_t offset;
} rows[] = {
    {"slots", COUNT, offsetof(struct qn_llm_options, slots)},
    {"cache_type", CACHE, offsetof(struct qn_llm_options, cache)},
    {"speculate", TRUTH, offsetof(struct qn_llm_options, speculate)},
    {"context_shift", TRUTH, offsetof(struct qn_llm_options, context_shift)},
    {"draft_model", TEXT, offsetof(struct qn_llm_options, draft_model)},
    {"lora", ADAPTERS, offsetof(struct qn_llm_options, lora)},
    {"rope_scaling", STRETCH, offsetof(struct qn_llm_options, stretch)},
    {"prefix_cache", TEXT, offsetof(struct qn_llm_options, prefix_cache)},
    {"weight_cache", WEIGHTS, offsetof(struct qn_llm_options, weights)},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const struct {
    const char *name;
    enum qn_dtype type;
} caches[] = {
#define CACHE_TYPE(name, dtype, bytes) {#name, QN_##dtype},
    QN_CACHE_TYPES_OWN(CACHE_TYPE)};
enum { CACHES = sizeof caches / sizeof *caches };

const char *qn_llm_cache_name(enum qn_dtype t)
{
    for (size_t i = 0; i < CACHES; i++)
        if (caches[i].type == t)
            return caches[i].name;
    return "";
}

static qn_err read_cache(const struct qn_jref *v, enum qn_dtype *out, struct qn_error *e)
{
    const char *text;
    qn_err err = qn_json_str(v, &text, e);
    if (err)
        return err;
    for (size_t i = 0; i < CACHES; i++)
        if (qn_str_ieq(text, caches[i].name)) {
            *out = caches[i].type;
            return QN_OK;
        }
    return qn_json_fail(v, e, "must be " QN_CACHE_TYPES_OWN_TEXT ", not '%.40s'", text);
}

static qn_err read_weights(const struct qn_jref *v, struct qn_weight_cache *out, struct qn_error *e)
{
    struct qn_jref folder = qn_json_get(v, "folder"), gib = qn_json_get(v, "gib");
    qn_err err = qn_json_str(&folder, &out->folder, e);
    return err ? err : qn_json_i64(&gib, 1, QN_WEIGHT_CACHE_GIB_MAX, &out->gib, e);
}

static qn_err read_stretch(const struct qn_jref *v, struct qn_llm_options *out, struct qn_error *e)
{
    const char *text;
    struct qn_error why = {0};
    qn_err err = qn_json_str(v, &text, e);
    if (err)
        return err;
    if (qn_stretch_parse(text, &out->stretch, &why) != QN_OK)
        return qn_fail_param(e, QN_EINVAL, v->key, "%s", why.message);
    out->stretched = true;
    return QN_OK;
}

static qn_err read_value(const struct row *r, const struct qn_jref *v, void *at, struct qn_error *e)
{
    switch (r->kind) {
    case COUNT:
        return qn_json_i64_opt(v, 1, QN_LOAD_SLOTS_MAX, at, e);
    case TRUTH:
        return qn_json_bool_opt(v, at, e);
    case TEXT:
        return qn_json_str_opt(v, at, e);
    case WEIGHTS:
        return read_weights(v, at, e);
    case ADAPTERS:
        return qn_adapter_options_read(v, at, e);
    case STRETCH:
    case CACHE:
        break;
    }
    return read_cache(v, at, e);
}

qn_err qn_llm_options_read(const struct qn_jref *object, struct qn_llm_options *out,
                           struct qn_error *e)
{
    *out = (struct qn_llm_options){.cache = QN_F16, .speculate = true};
    struct qn_jref v;
    for (bool more = qn_json_first(object, &v); more; more = qn_json_next(&v)) {
        size_t i = 0;
        while (i < ROWS && !qn_str_eq(rows[i].name, v.key))
            i++;
        if (i == ROWS)
            return qn_fail_param(
                e, QN_EINVAL, v.key,
                "unknown option \"%s\" for a language model: slots, cache_type, "
                "speculate, context_shift, draft_model, lora, rope_scaling, prefix_cache and "
                "weight_cache exist",
                v.key);
        qn_err err = rows[i].kind == STRETCH
                         ? read_stretch(&v, out, e)
                         : read_value(&rows[i], &v, (char *)out + rows[i].offset, e);
        if (err)
            return err;
    }
    return QN_OK;
}
