/* Continuous batching: several requests share every forward pass.
 *
 * A slot is one sequence with its cache of keys and values; a choice of a request occupies one.
 * Each step carries one token of every generating slot and, in what room is left, pieces of
 * prompts, so that a long prompt never stops the others; the pieces' size follows the measured
 * speed. A slot keeps its tokens after a choice has ended: whoever comes next with the same
 * beginning computes only the rest, in that slot or from a copy of it. Choices of one request share
 * its prompt so, too.
 *
 * Everything the batch needs of a model is in struct qn_batch_model, so that it can be tested with
 * a network that is written down in a test. Compute thread only. */
#ifndef QN_LLM_BATCH_H
#define QN_LLM_BATCH_H

#include "llm/output.h"
#include "llm/sampler.h"
#include "nets/nets.h"

enum {
    QN_BATCH_SLOTS_MAX = 256,
    QN_BATCH_STEP_MS = 180,     /* what a step with prompt pieces aims at: below a slice's 250 ms */
    QN_BATCH_CHUNK_FIRST = 64,  /* tokens of the first prompt piece, before speed is known */
    QN_BATCH_CHUNK_MIN = 16,    /* a piece beside running answers: less would be all overhead */
    QN_BATCH_CHUNK_ALONE = 64,  /* a piece when no answer runs that it could hold up */
    QN_BATCH_LOGIT_ROWS = 32,   /* prompt tokens per step when each one's logits are wanted */
    QN_BATCH_PROGRESS_MS = 500, /* between two PROGRESS events */
    QN_BATCH_ECHO_MAX = 64 * 1024 * 1024 /* bytes of a prompt's log-probabilities */
};

struct qn_batch_model {
    void *ctx;
    int32_t vocab;
    int max_chunk; /* tokens of one forward, at least the number of slots */
    qn_err (*seq_new)(void *ctx, int32_t context, struct qn_seq **out,
                      struct qn_error *e); /* MUST, all */
    void (*seq_free)(struct qn_seq *s);
    int32_t (*seq_truncate)(struct qn_seq *s, int32_t len); /* as in nets.h, also the next two */
    qn_err (*seq_fork)(struct qn_seq *dst, const struct qn_seq *src, int32_t len,
                       struct qn_error *e);
    qn_err (*seq_reserve)(struct qn_seq *s, int32_t n, struct qn_error *e);
    void (*forward)(void *ctx, struct qn_chunk *chunks, size_t n);
    const char *(*token_bytes)(void *ctx, int32_t id, size_t *len); /* lent */
    bool (*token_is_control)(void *ctx, int32_t id);                /* adds nothing to the text */
    bool (*token_is_end)(void *ctx, int32_t id);
};

/* A request, ready to compute. Strings, and the bias list in sampling, are lent until the request
 * has ended; prompt and echo_text (malloc'ed) the batch takes when qn_batch_add says QN_OK. */
struct qn_batch_request {
    const void *key; /* who asks: for qn_batch_cancel */
    struct qn_out out;
    int32_t *prompt; /* [n_prompt], n_prompt >= 1, ids checked */
    size_t n_prompt;
    struct qn_sampler_params sampling;
    int64_t choices;         /* n, at least 1 */
    int64_t max_tokens;      /* -1: to the end of the context */
    int64_t logprobs;        /* alternatives per token, -1: none wanted */
    struct qn_strings stops; /* at most QN_JOB_STOPS_MAX + 1; empty ones are left out */
    bool ignore_eos;
    char *echo_text;  /* what the reply begins with, NULL: nothing */
    size_t echo_skip; /* the prompt's first tokens that are not part of echo_text */
};

struct qn_batch;

/* QN_ENOMEM when the caches do not fit. */
qn_err qn_batch_new(const struct qn_batch_model *model, int slots, int32_t context,
                    struct qn_batch **out, struct qn_error *e);
void qn_batch_free(struct qn_batch *b);

/* True when qn_batch_add would find a slot: ask before the work of making a prompt. */
bool qn_batch_has_room(const struct qn_batch *b);
/* QN_EBUSY without a free slot; QN_ECONTEXT for a prompt longer than the context. */
qn_err qn_batch_add(struct qn_batch *b, const struct qn_batch_request *r, struct qn_error *e);
/* Forgets the request; no event follows. Nothing happens when it has ended already. */
void qn_batch_cancel(struct qn_batch *b, const void *key);
/* One forward pass; false when there was nothing to compute. */
bool qn_batch_step(struct qn_batch *b);

#endif
