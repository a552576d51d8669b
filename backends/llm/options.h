/* The load options of a language model, passed by the router as JSON; one table lists them. */
#ifndef QN_LLM_OPTIONS_H
#define QN_LLM_OPTIONS_H

#include "base/json.h"
#include "engine/dtype.h"
#include "llm/adapters.h"
#include "nets/nets.h"

#include <stdbool.h>

struct qn_llm_options {
    int64_t slots;             /* "slots": concurrent sequences; 0: see llm/fit.h */
    enum qn_dtype cache;       /* "cache_type": dtype of keys and values: f16, q8_0, q4_0 or f32 */
    bool speculate;            /* "speculate": speculate by prompt lookup */
    bool context_shift;        /* "context_shift": a full context drops its older half */
    const char *draft_model;   /* "draft_model": a GGUF file for speculation, or NULL; borrowed */
    struct qn_stretch stretch; /* "rope_scaling": as qn_stretch_parse reads it */
    bool stretched;            /* whether rope_scaling was given; else the file's scaling is used */
    struct qn_adapter_options lora; /* "lora": adapters that requests can use */
    struct qn_weight_cache {
        const char *folder; /* NULL: no cache; borrowed */
        int64_t gib;
    } weights; /* "weight_cache": {"folder": .., "gib": ..}, see engine/kept.h */
    /* "prefix_cache": the file in which prefixes are stored, or NULL; borrowed */
    const char *prefix_cache;
};

/* Reads the JSON object; options that it does not have get their defaults. QN_EINVAL: an unknown
 * option, whose name is in the message, or an invalid value. */
qn_err qn_llm_options_read(const struct qn_jref *object, struct qn_llm_options *out,
                           struct qn_error *e);
const char *qn_llm_cache_name(enum qn_dtype t); /* "q8_0" */

#endif
