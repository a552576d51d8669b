/* Continuous batching: all requests share every forward pass.
 *
 * A request has `choices` choices (n of the OpenAI API); the generation of one choice is called an
 * answer. A running answer owns a sequence, whose KV cache consists of pages of the model's pool.
 * Each step computes one row of every generating answer (more if guessed tokens are verified) and,
 * within the remaining budget, chunks of prompts, so that a long prompt never stalls the other
 * answers; the chunk size follows the measured speed.
 *
 * Requests start in order of arrival, as soon as pages for their prompt are available. When an
 * answer ends, its sequence goes into a prefix tree, so that a later request with the same
 * beginning computes only the rest. When pages run out, the tree evicts the least recently used
 * sequences; after that the youngest answer is preempted: its tokens are kept and its cache is
 * recomputed later, so its client sees only a pause. A request whose prefix is being computed by
 * another request waits for that.
 *
 * Everything that the batch needs of a model is in struct qn_batch_model. Compute thread only. */
#ifndef QN_LLM_SCHEDULER_BATCH_H
#define QN_LLM_SCHEDULER_BATCH_H

#include "grammar/constrain.h"
#include "llm/model.h"
#include "llm/output.h"
#include "llm/sampler.h"
#include "text/tokenizer.h"

enum {
    QN_BATCH_SEQS_MAX = 256,     /* answers in one step */
    QN_BATCH_REQUESTS_MAX = 256, /* requests in the batch, waiting ones included */
    /* target time of a step with prompt chunks; below the 250 ms of a step */
    QN_BATCH_STEP_MS = 180,
    QN_BATCH_CHUNK_FIRST = 64, /* tokens of the first prompt chunk, before the speed is known */
    /* smallest chunk besides generating answers; a smaller one is mostly overhead */
    QN_BATCH_CHUNK_MIN = 16,
    QN_BATCH_CHUNK_ALONE = 64, /* smallest chunk if no generating answer would be delayed */
    /* rows of a step beyond one per answer: prompt tokens whose logits are all needed, and guessed
     * tokens */
    QN_BATCH_LOGIT_ROWS = 32,
    QN_BATCH_PROGRESS_MS = 500,                 /* interval between PROGRESS events */
    QN_BATCH_ECHO_MAX = 64 * 1024 * 1024,       /* bytes of a prompt's log-probabilities */
    QN_BATCH_TOKENS_JSON_MAX = 64 * 1024 * 1024 /* bytes of the tokens in DONE */
};

struct qn_batch_config {
    int seqs;               /* concurrent answers, 1 to QN_BATCH_SEQS_MAX */
    int32_t context;        /* tokens of one sequence */
    int kept;               /* most sequences in the prefix tree; 0: limited by pages only */
    bool speculate;         /* speculate by prompt lookup */
    struct qn_draft *draft; /* draft model for speculation; NULL: none; borrowed */
};

/* A request that is ready to compute. Strings, and the bias list in sampling, are borrowed until
 * the request has ended. The batch takes ownership of prompt, echo_text (malloc'ed), tools and the
 * reference to the constraint when qn_batch_add returns QN_OK. */
struct qn_batch_request {
    const void *key; /* identifies the request for qn_batch_cancel */
    struct qn_out out;
    int32_t *prompt; /* [n_prompt], n_prompt >= 1, ids validated */
    size_t n_prompt;
    bool no_reuse;  /* neither uses the cache of other requests nor leaves its own in the tree */
    uint64_t owner; /* the cache is shared only within one owner: struct qn_job.owner_salt */
    /* the LoRA set: the adapters its tokens go through, each with a scale other than 0 */
    struct qn_mix mix;
    bool context_shift; /* drop the older half of a full context instead of ending */
    size_t keep;        /* the prompt's first tokens that a context shift never drops */
    struct qn_sampler_params sampling;
    int64_t choices;         /* n of the OpenAI API, at least 1 */
    int64_t max_tokens;      /* -1: until the context is full */
    int64_t logprobs;        /* alternatives per token, -1: no log-probabilities */
    struct qn_strings stops; /* at most QN_JOB_STOPS_MAX + 1; empty strings are ignored */
    bool ignore_eos;
    char *echo_text;         /* text sent before the generated text; NULL: none */
    size_t echo_skip;        /* the prompt's first tokens that are not part of echo_text */
    bool want_tokens;        /* DONE contains the tokens of prompt and reply */
    struct qn_syntax syntax; /* call NULL: all output is text */
    struct qn_tools *tools;  /* NULL: calls are passed on as text */
    /* Applies once the reasoning that the prompt has begun is over; NULL: none. */
    struct qn_constraint *constraint;
    bool thinking, reasoning_in_text, single_call; /* see struct qn_parse_config */
    int64_t think_budget;    /* reasoning tokens after which `ending` is injected; -1: unlimited */
    struct qn_tokens ending; /* taken over */
};

struct qn_batch;
struct qn_prefix;

/* QN_ENOMEM if the pool is smaller than one sequence of this context, or memory for the logits is
 * missing. */
qn_err qn_batch_new(const struct qn_batch_model *model, const struct qn_batch_config *config,
                    struct qn_batch **out, struct qn_error *e);
void qn_batch_free(struct qn_batch *b);

/* Whether qn_batch_add would accept a request; call it before preparing a prompt. */
bool qn_batch_has_room(const struct qn_batch *b);
/* QN_EBUSY if QN_BATCH_REQUESTS_MAX requests are in the batch; QN_ECONTEXT for a prompt longer than
 * the context. */
qn_err qn_batch_add(struct qn_batch *b, const struct qn_batch_request *r, struct qn_error *e);
/* Discards the request without further events. No effect if the request has already ended. */
void qn_batch_cancel(struct qn_batch *b, const void *key);
/* The thinking budget of a request is used up from now on. */
void qn_batch_end_reasoning(struct qn_batch *b, const void *key);
/* Runs one forward pass; returns false if there was nothing to compute. */
bool qn_batch_step(struct qn_batch *b);

/* The prefix tree, borrowed, to be saved and restored. */
struct qn_prefix *qn_batch_prefix(struct qn_batch *b);

/* Counters since creation, for the log and the tests. */
struct qn_batch_stats {
    int64_t steps, computed; /* forward passes; tokens computed in them */
    int64_t cached;          /* prompt tokens found in the cache */
    int64_t preempted;       /* preempted answers */
    int64_t evicted;         /* evictions from the prefix tree */
    int64_t guessed, right;  /* speculated tokens, and accepted ones */
};
const struct qn_batch_stats *qn_batch_stats(const struct qn_batch *b);

#endif
