/* Types shared by the backend's files: llm.c loads the model and takes its steps, llm_prepare.c
 * prepares jobs for their first step. */
#ifndef QN_LLM_LLM_PRIVATE_H
#define QN_LLM_LLM_PRIVATE_H

#include "grammar/constrain.h"
#include "llm/adapters.h"
#include "llm/llm.h"
#include "llm/lm.h"
#include "llm/prompt/prompt.h"
#include "llm/scheduler/batch.h"
#include "llm/scheduler/draft.h"

/* Preparing threads only read what loading has set; device and batch belong to the compute thread.
 */
struct llm {
    struct qn_device *dev;
    struct qn_tokenizer *tok;
    struct qn_lm main, small; /* small: the draft model, if loaded */
    struct qn_prompter *prompter;
    struct qn_constrainer *constrainer;
    struct qn_sampler_params defaults;
    struct qn_adapters adapters;
    struct qn_draft *draft;
    struct qn_batch *batch;
    int32_t context;
    bool context_shift; /* default for requests that do not set it */
    char *prefix_file;  /* NULL: prefixes are not stored on disk */
    uint64_t prefix_key;
};

/* A job that is ready for its first step. */
struct qn_llm_prepared {
    struct qn_batch_request r; /* its stops are the array in this struct */
    struct qn_prompt prompt;   /* r's prompt and echo_text are owned by this */
    const char *stops[QN_JOB_STOPS_MAX + 1];
};

/* llm_prepare.c: see qn_backend.prepare and discard. */
qn_err qn_llm_prepare(void *self, const struct qn_job *job, void **prepared, struct qn_error *e);
void qn_llm_discard(void *self, void *prepared);

#endif
