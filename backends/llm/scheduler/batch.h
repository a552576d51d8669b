/* Continuous batching: any number of requests share every forward pass.
 *
 * A choice of a request is an answer. A running answer owns a sequence, whose cache lies in pages
 * of the model's pool; it runs while pages last. Each step carries one row of every answer that is
 * generating (more where guessed tokens are put to the test) and, in what room is left, pieces of
 * prompts, so that a long prompt never stops the others; the pieces' size follows the measured
 * speed.
 *
 * Requests start in the order they came, when the pages for their prompt can be had. What an answer
 * has computed stays in a prefix tree after it: who begins alike computes only the rest. When pages
 * run out, the tree gives up what was used longest ago; then the youngest answer waits: its tokens
 * are kept, its cache is computed again later, and its client sees a pause and nothing else. A
 * request that finds another one computing the same beginning waits for it.
 *
 * Everything the batch needs of a model is in struct qn_batch_model. Compute thread only. */
#ifndef QN_LLM_SCHEDULER_BATCH_H
#define QN_LLM_SCHEDULER_BATCH_H

#include "grammar/constrain.h"
#include "llm/model.h"
#include "llm/output.h"
#include "llm/sampler.h"
#include "text/tokenizer.h"

enum {
    QN_BATCH_SEQS_MAX = 256,     /* answers in one step */
    QN_BATCH_REQUESTS_MAX = 256, /* requests in the batch, those that wait included */
    QN_BATCH_STEP_MS = 180,     /* what a step with prompt pieces aims at: below a slice's 250 ms */
    QN_BATCH_CHUNK_FIRST = 64,  /* tokens of the first prompt piece, before speed is known */
    QN_BATCH_CHUNK_MIN = 16,    /* a piece beside running answers: less would be all overhead */
    QN_BATCH_CHUNK_ALONE = 64,  /* a piece when no answer runs that it could hold up */
    QN_BATCH_LOGIT_ROWS = 32,   /* rows of a step beyond one per answer: prompt tokens when each
                                   one's logits are wanted, guessed tokens */
    QN_BATCH_PROGRESS_MS = 500, /* between two PROGRESS events */
    QN_BATCH_ECHO_MAX = 64 * 1024 * 1024,       /* bytes of a prompt's log-probabilities */
    QN_BATCH_TOKENS_JSON_MAX = 64 * 1024 * 1024 /* bytes of the tokens in DONE */
};

struct qn_batch_config {
    int seqs;               /* answers at a time, 1 to QN_BATCH_SEQS_MAX */
    int32_t context;        /* tokens of one sequence */
    int kept;               /* past sequences the tree keeps at most; 0: as pages allow */
    bool speculate;         /* guess tokens that repeat the text so far */
    struct qn_draft *draft; /* guesses by a smaller model, NULL: none; lent */
};

/* A request, ready to compute. Strings, and the bias list in sampling, are lent until the request
 * has ended; prompt, echo_text (malloc'ed), tools and the reference to
 * the constraint the batch takes when qn_batch_add says QN_OK. */
struct qn_batch_request {
    const void *key; /* who asks: for qn_batch_cancel */
    struct qn_out out;
    int32_t *prompt; /* [n_prompt], n_prompt >= 1, ids checked */
    size_t n_prompt;
    bool no_reuse;      /* takes over no other request's cache, and leaves none */
    uint64_t owner;     /* cache is shared within one owner only: struct qn_job.owner_salt */
    struct qn_mix mix;  /* the adapters its tokens go through, each with a scale other than 0 */
    bool context_shift; /* forget the older half instead of ending when the context is full */
    size_t keep;        /* the prompt's first tokens that this never forgets */
    struct qn_sampler_params sampling;
    int64_t choices;         /* n, at least 1 */
    int64_t max_tokens;      /* -1: to the end of the context */
    int64_t logprobs;        /* alternatives per token, -1: none wanted */
    struct qn_strings stops; /* at most QN_JOB_STOPS_MAX + 1; empty ones are left out */
    bool ignore_eos;
    char *echo_text;         /* what the reply begins with, NULL: nothing */
    size_t echo_skip;        /* the prompt's first tokens that are not part of echo_text */
    bool want_tokens;        /* DONE carries the tokens of prompt and answer */
    struct qn_syntax syntax; /* call NULL: all that is said is text */
    struct qn_tools *tools;  /* NULL: calls are text */
    /* Holds from where the reasoning that the prompt has begun is over; NULL: none. */
    struct qn_constraint *constraint;
    bool thinking, reasoning_in_text, single_call; /* see struct qn_parse_config */
    int64_t think_budget;    /* tokens of reasoning, then `ending` is said for the model; -1: any */
    struct qn_tokens ending; /* taken over */
};

struct qn_batch;
struct qn_prefix;

/* QN_ENOMEM when the pool has no room for one sequence of this context, or memory none for the
 * logits. */
qn_err qn_batch_new(const struct qn_batch_model *model, const struct qn_batch_config *config,
                    struct qn_batch **out, struct qn_error *e);
void qn_batch_free(struct qn_batch *b);

/* True when qn_batch_add would take a request: ask before the work of making a prompt. */
bool qn_batch_has_room(const struct qn_batch *b);
/* QN_EBUSY when QN_BATCH_REQUESTS_MAX are there; QN_ECONTEXT for a prompt longer than the context.
 */
qn_err qn_batch_add(struct qn_batch *b, const struct qn_batch_request *r, struct qn_error *e);
/* Forgets the request; no event follows. Nothing happens when it has ended already. */
void qn_batch_cancel(struct qn_batch *b, const void *key);
/* One forward pass; false when there was nothing to compute. */
bool qn_batch_step(struct qn_batch *b);

/* The tree, lent: to save it and to fill it. */
struct qn_prefix *qn_batch_prefix(struct qn_batch *b);

/* Counts since the start, for the log and the tests. */
struct qn_batch_stats {
    int64_t steps, computed; /* forward passes; tokens in them */
    int64_t cached;          /* prompt tokens that did not have to be computed */
    int64_t preempted;       /* answers that had to wait for pages */
    int64_t evicted;         /* times the tree gave something up */
    int64_t guessed, right;  /* speculated tokens, and those that came true */
};
const struct qn_batch_stats *qn_batch_stats(const struct qn_batch *b);

#endif
