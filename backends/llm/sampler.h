/* Samples the next token: from one row of logits and the preceding tokens to one id.
 *
 * Order of the stages: logit_bias, penalties (repeat, presence, frequency); then temperature 0
 * takes the largest logit, any other temperature applies top_k, top_p, min_p and temperature and
 * draws with the seeded generator. Every truncation keeps at least one token. The same seed, logits
 * and history give the same token on every machine. Logits that are not finite are never chosen.
 *
 * Greedy sampling allocates nothing. Compute thread only. */
#ifndef QN_LLM_SAMPLER_H
#define QN_LLM_SAMPLER_H

#include "base/rand.h"
#include "contract/job.h"
#include "formats/gguf.h"

#include <stddef.h>
#include <stdint.h>

struct qn_sampler_params {
    double temperature; /* 0: greedy */
    double top_p;
    double min_p;
    int64_t top_k; /* 0: off */
    double repeat_penalty;
    int64_t repeat_last_n; /* number of preceding tokens that the penalties consider; -1: all */
    double presence_penalty;
    double frequency_penalty;
    struct qn_biases bias; /* borrowed */
    uint64_t seed;
};

/* The defaults of one model: the built-in table, overridden by the file's general.sampling.*
 * metadata. QN_EFORMAT for a metadata value out of range. */
qn_err qn_sampler_defaults(const struct qn_gguf *g, struct qn_sampler_params *out,
                           struct qn_error *e);

/* *out = the request's values, else the defaults. An unset seed becomes a random one. QN_EINVAL
 * (param logit_bias) for a token outside the vocabulary. The bias list is borrowed from the
 * request. */
qn_err qn_sampler_resolve(const struct qn_sampler_params *defaults,
                          const struct qn_sampling *request, int32_t vocab,
                          struct qn_sampler_params *out, struct qn_error *e);

struct qn_token_candidate {
    int32_t id;
    float logit;
};

/* Scratch memory shared by all samplers of one model. */
struct qn_sampler_work {
    int32_t vocab;
    struct qn_token_candidate *cands; /* [vocab] */
    int32_t *window;                  /* [window_max] */
    size_t window_max;
};
void qn_sampler_work_init(struct qn_sampler_work *w, int32_t vocab, size_t context);
void qn_sampler_work_deinit(struct qn_sampler_work *w);

struct qn_sampler {
    struct qn_sampler_params p;
    struct qn_rng rng;
};
/* index: the number of the choice within the request; its seed is p->seed + index. */
void qn_sampler_init(struct qn_sampler *s, const struct qn_sampler_params *p, int64_t index);

/* Returns the chosen id, or -1 if no logit is finite. logits [vocab] are modified in place. history
 * [n]: all preceding tokens, including the prompt. */
int32_t qn_sampler_pick(struct qn_sampler *s, struct qn_sampler_work *w, float *logits,
                        const int32_t *history, size_t n);

/* Selects the k largest finite logits, in descending order, equal ones by id; returns how many (at
 * most k). O(vocab log k) in the worst case, about one comparison per logit in practice. */
size_t qn_top_logits(const float *logits, int32_t vocab, size_t k, struct qn_token_candidate *out);

/* log(sum(exp(logits))) over the finite ones: logits[i] minus this is token i's log-probability. */
double qn_log_sum_exp(const float *logits, int32_t vocab);

/* The stages, public for their tests. The truncations take n candidates sorted by qn_top_logits and
 * return how many they keep. */
void qn_stage_bias(float *logits, const struct qn_biases *bias);
void qn_stage_penalties(float *logits, const struct qn_sampler_params *p, const int32_t *history,
                        size_t n, struct qn_sampler_work *w);
size_t qn_stage_top_p(const struct qn_token_candidate *c, size_t n, double p);
size_t qn_stage_min_p(const struct qn_token_candidate *c, size_t n, double p);
/* Returns the index of the candidate whose interval of the cumulative probability at this
 * temperature contains r, r in [0, 1). */
int32_t qn_stage_draw(const struct qn_token_candidate *c, size_t n, double temperature, double r);

#endif
