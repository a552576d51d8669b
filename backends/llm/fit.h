/* How long the context and how large the cache may be: a pure decision from a few figures. */
#ifndef QN_LLM_FIT_H
#define QN_LLM_FIT_H

#include "base/error.h"

#include <stdint.h>

enum {
    QN_LLM_CONTEXT_MIN = 512, /* tokens: where shrinking to fit the memory ends */
    QN_LLM_CONTEXT_MAX = 1 << 20,
    QN_LLM_CONTEXT_GUESS = 4096, /* for a model that does not say what it was trained on */
    QN_LLM_SEQS = 64,            /* answers at a time unless asked otherwise or memory forbids */
    QN_LLM_KEPT_MIN = 2,         /* sequences of a recurrent model that are kept all the same */
    QN_LLM_POOL_CONTEXTS = 4     /* full contexts the cache has room for, where memory allows and
                                    nobody asked for another number of answers */
};

struct qn_fit_facts {
    int64_t asked;       /* tokens; 0: choose */
    int64_t trained;     /* tokens; 0: not said */
    int64_t token_bytes; /* of cache for one token */
    int64_t slots;       /* answers asked for at a time; 0: not said */
    int64_t free_bytes;  /* memory the machine can still give */
    int64_t state_bytes; /* of recurrent state for one sequence with its copies; 0: none */
};

struct qn_fit {
    int32_t context; /* tokens of one sequence */
    int64_t pool;    /* tokens of all, at least one context */
    int seqs;        /* answers at a time */
    int kept;        /* past sequences whose state is kept; 0: as many as there are pages for */
};

/* A context that was asked for is taken, within what the model was trained on, or refused when nine
 * tenths of the free memory cannot hold one (QN_ENOMEM, with the figures). One that was not is the
 * trained one, or what a quarter of the free memory holds. The cache has room for as many contexts
 * as there are answers, as far as that takes no more than a quarter of the free memory (nine tenths
 * when both were asked for). */
qn_err qn_llm_fit(const struct qn_fit_facts *f, struct qn_fit *out, struct qn_error *e);

#endif
