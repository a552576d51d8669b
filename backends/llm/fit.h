/* Chooses the context length and the KV cache's size: a pure function of a few figures. */
#ifndef QN_LLM_FIT_H
#define QN_LLM_FIT_H

#include "base/error.h"

#include <stdint.h>

enum {
    /* tokens: lower limit when the context is reduced to fit the memory */
    QN_LLM_CONTEXT_MIN = 512,
    QN_LLM_CONTEXT_MAX = 1 << 20,
    QN_LLM_CONTEXT_GUESS = 4096, /* for a model whose file does not state its training context */
    QN_LLM_SEQS = 64, /* concurrent sequences unless requested otherwise or limited by memory */
    /* sequences of a recurrent model that are kept even if memory is short */
    QN_LLM_KEPT_MIN = 2,
    /* full contexts that the cache has room for, if memory allows and no other number of slots was
     * requested */
    QN_LLM_POOL_CONTEXTS = 4
};

struct qn_fit_facts {
    int64_t asked;       /* requested context in tokens; 0: choose */
    int64_t trained;     /* training context in tokens; 0: unknown */
    int64_t token_bytes; /* cache bytes per token */
    int64_t slots;       /* requested concurrent sequences; 0: not set */
    int64_t free_bytes;  /* memory that the system can still provide */
    int64_t state_bytes; /* bytes of recurrent state of one sequence with its copies; 0: none */
};

struct qn_fit {
    int32_t context; /* tokens of one sequence */
    int64_t pool;    /* tokens of the whole cache, at least one context */
    int seqs;        /* concurrent sequences */
    int kept;        /* past sequences whose state is kept; 0: limited by pages only */
};

/* A requested context is used, limited to the training context, or refused with QN_ENOMEM and the
 * figures if nine tenths of the free memory cannot hold one such context. Otherwise the context is
 * the training context, or what a quarter of the free memory holds. The cache has room for one
 * context per slot, as far as that needs at most a quarter of the free memory (nine tenths if
 * context and slots were both requested). */
qn_err qn_llm_fit(const struct qn_fit_facts *f, struct qn_fit *out, struct qn_error *e);

#endif
