/* The language-model backend: a GGUF file loaded into the engine, behind child/serve.h. */
#ifndef QN_LLM_LLM_H
#define QN_LLM_LLM_H

#include "child/serve.h"

enum {
    QN_LLM_SLOTS = 4,         /* answers at a time unless the option "slots" says otherwise */
    QN_LLM_CONTEXT = 4096,    /* tokens, unless asked for more, or trained on or room for fewer */
    QN_LLM_CONTEXT_MIN = 512, /* where shrinking to fit the memory ends */
    QN_LLM_CONTEXT_MAX = 1 << 20,
    QN_LLM_CHUNK_MAX = 512 /* most tokens of one forward pass */
};

extern const struct qn_backend qn_llm_backend;

#endif
