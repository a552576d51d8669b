/* The language-model backend: a GGUF file loaded into the engine, behind child/serve.h. */
#ifndef QN_LLM_LLM_H
#define QN_LLM_LLM_H

#include "child/serve.h"

enum {
    QN_LLM_CHUNK_MAX = 512 /* most tokens of one forward pass */
};

extern const struct qn_backend qn_llm_backend;

#endif
