/* Choosing the next token: from one row of logits and the tokens before it to one id.
 *
 * Order of the stages: logit_bias, penalties (repeat, presence, frequency), then temperature 0
 * takes the largest logit; else top_k, top_p, min_p, temperature, and a draw by the seeded
 * generator. Every truncation keeps at least one token. The same seed, logits and history give the
 * same token on every machine. Logits that are not finite are never chosen.
 *
 * The greedy way allocates nothing. Compute thread only. */
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
    int64_t repeat_last_n; /* tokens of history the penalties look at; -1: all */
    double presence_penalty;
    double frequency_penalty;
    struct qn_biases bias; /* lent */
    uint64_t seed;
};

/* The defaults of one model: quince's own table, with what the file's general.sampling.* metadata
 * says put over it. A value out of range there is QN_EFORMAT. */
qn_err qn_sampler_defaults(const struct qn_gguf *g, struct qn_sampler_params *out,
                           struct qn_error *e);

/* *out = what the request sets, else the defaults. An unset seed becomes a random one. QN_EINVAL
 * (param logit_bias) for a token the vocabulary does not have. The bias list stays the request's.
 */
qn_err qn_sampler_resolve(const struct qn_sampler_params *defaults,
                          const struct qn_sampling *request, int32_t vocab,
                          struct qn_sampler_params *out, struct qn_error *e);

struct qn_token_candidate {
    int32_t id;
    float logit;
};

/* Scratch that all samplers of one model share. */
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
/* index: the choice's number among n; its seed is p->seed + index. */
void qn_sampler_init(struct qn_sampler *s, const struct qn_sampler_params *p, int64_t index);

/* Returns the chosen id, -1 when no logit is finite. logits [vocab] are changed in place.
 * history [n]: every token before this one, the prompt's included. */
int32_t qn_sampler_pick(struct qn_sampler *s, struct qn_sampler_work *w, float *logits,
                        const int32_t *history, size_t n);

/* The k largest finite logits, largest first, equal ones by id; returns how many (at most k).
 * O(vocab log k) at worst, about one comparison per logit in practice. */
size_t qn_top_logits(const float *logits, int32_t vocab, size_t k, struct qn_token_candidate *out);

/* log(sum(exp(logits))) over the finite ones: logits[i] - this is token i's log-probability. */
double qn_log_sum_exp(const float *logits, int32_t vocab);

/* The stages, for their tests. The truncations take n candidates sorted by qn_top_logits and
 * return how many stay. */
void qn_stage_bias(float *logits, const struct qn_biases *bias);
void qn_stage_penalties(float *logits, const struct qn_sampler_params *p, const int32_t *history,
                        size_t n, struct qn_sampler_work *w);
size_t qn_stage_top_p(const struct qn_token_candidate *c, size_t n, double p);
size_t qn_stage_min_p(const struct qn_token_candidate *c, size_t n, double p);
/* r in [0, 1): the candidate whose share of the probability at this temperature r falls in. */
int32_t qn_stage_draw(const struct qn_token_candidate *c, size_t n, double temperature, double r);

#endif
