/* What the files of the backend share: llm.c loads the model and takes its steps, llm_prepare.c
 * makes jobs ready for their first step. */
#ifndef QN_LLM_LLM_PRIVATE_H
#define QN_LLM_LLM_PRIVATE_H

#include "grammar/constrain.h"
#include "llm/adapters.h"
#include "llm/llm.h"
#include "llm/lm.h"
#include "llm/prompt/prompt.h"
#include "llm/scheduler/batch.h"
#include "llm/scheduler/draft.h"

/* Preparing reads what loading has made; device and batch are the compute thread's. */
struct llm {
    struct qn_device *dev;
    struct qn_tokenizer *tok;
    struct qn_lm main, small; /* small: the draft model, if there is one */
    struct qn_prompter *prompter;
    struct qn_constrainer *constrainer;
    struct qn_sampler_params defaults;
    struct qn_adapters adapters;
    struct qn_draft *draft;
    struct qn_batch *batch;
    int32_t context;
    bool context_shift; /* of answers that do not say */
    char *prefix_file;  /* NULL: beginnings are not kept on disk */
    uint64_t prefix_key;
};

/* A job up to its first step. */
struct qn_llm_prepared {
    struct qn_batch_request r; /* its stops are these */
    struct qn_prompt prompt;   /* r's prompt and echo are its */
    const char *stops[QN_JOB_STOPS_MAX + 1];
};

/* llm_prepare.c: see qn_backend.prepare and discard. */
qn_err qn_llm_prepare(void *self, const struct qn_job *job, void **prepared, struct qn_error *e);
void qn_llm_discard(void *self, void *prepared);

#endif
