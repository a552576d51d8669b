/* The options of loading a language model, as the router hands them down: one table names them. */
#ifndef QN_LLM_OPTIONS_H
#define QN_LLM_OPTIONS_H

#include "base/json.h"
#include "engine/dtype.h"
#include "llm/adapters.h"
#include "nets/nets.h"

#include <stdbool.h>

struct qn_llm_options {
    int64_t slots;             /* "slots": answers at a time; 0: see llm/fit.h */
    enum qn_dtype cache;       /* "cache_type": of keys and values: f16, q8_0, q4_0 or f32 */
    bool speculate;            /* "speculate": guess tokens that repeat the text so far */
    bool context_shift;        /* "context_shift": a full context forgets its older half */
    const char *draft_model;   /* "draft_model": a GGUF file that guesses, or NULL; lent */
    struct qn_stretch stretch; /* "rope_scaling": of the context, as qn_stretch_parse reads it */
    bool stretched;            /* whether it was given: else the file's is used */
    struct qn_adapter_options lora; /* "lora": adapters that answers may go through */
    struct qn_weight_cache {
        const char *folder; /* NULL: none; lent */
        int64_t gib;
    } weights;                /* "weight_cache": {"folder": .., "gib": ..}, see engine/kept.h */
    const char *prefix_cache; /* "prefix_cache": the file that keeps beginnings, or NULL; lent */
};

/* The defaults, with what the JSON object says put over them. QN_EINVAL names what is unknown. */
qn_err qn_llm_options_read(const struct qn_jref *object, struct qn_llm_options *out,
                           struct qn_error *e);
const char *qn_llm_cache_name(enum qn_dtype t); /* "q8_0" */

#endif
