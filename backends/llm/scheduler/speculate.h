/* Speculative decoding: guesses the next tokens, so that one forward pass can verify several of
 * them.
 *
 * A guess never changes the output: the answer's own sampler draws a token from each row of logits,
 * and the guesses only decide how many rows are usable. A wrong guess costs only time. How many
 * tokens are worth guessing is computed from measurements: the answer's acceptance rate, the cost
 * of a step and the cost of one more row. Speculation stops while it does not pay off and is
 * retried at growing intervals. Pure; compute thread only. */
#ifndef QN_LLM_SCHEDULER_SPECULATE_H
#define QN_LLM_SCHEDULER_SPECULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_SPEC_MAX = 12,       /* tokens guessed in one step */
    QN_SPEC_NGRAM_MIN = 2,  /* length of the repetition from which a guess is made */
    QN_SPEC_NGRAM_MAX = 16, /* length after which no longer repetition is searched */
    /* tokens without speculation after it stopped paying off; doubled each time, */
    QN_SPEC_PAUSE_MIN = 16,
    QN_SPEC_PAUSE_MAX = 1024 /* up to this many */
};

/* Prompt lookup: finds the longest suffix of tokens [n] that occurred earlier (the latest
 * occurrence) and copies up to max tokens that followed it there. Returns how many; 0 if nothing
 * repeats. O(n) in usual texts. */
int32_t qn_spec_lookup(const int32_t *tokens, int32_t n, int32_t max, int32_t *out);

/* The measured cost of a step: base + row·rows milliseconds, by linear regression. */
struct qn_spec_cost {
    /* exponentially decayed sums over steps: 1, rows, ms, rows², rows·ms */
    double w, x, t, xx, xt;
    double row_ms; /* slope; 0 until the number of rows has varied */
};
void qn_spec_cost_note(struct qn_spec_cost *c, int32_t rows, double ms);

/* The acceptance rate of one answer for one source of guesses. Zero-initialised. */
struct qn_spec_luck {
    double tried, right; /* exponentially decayed counts of verified and of accepted guesses */
    int32_t wait, pause; /* tokens until the next attempt; length of the last pause */
};

/* How many tokens are worth guessing for one of `rows` generating answers, at most max. draft_ms:
 * the cost of making one guess. */
int32_t qn_spec_worth(struct qn_spec_luck *l, const struct qn_spec_cost *c, int32_t rows,
                      double draft_ms, int32_t max);
/* Records that the first `right` of `guessed` tokens were accepted. */
void qn_spec_note(struct qn_spec_luck *l, int32_t guessed, int32_t right);
/* Counts down a pause by `tokens` generated tokens. */
void qn_spec_pass(struct qn_spec_luck *l, int32_t tokens);

#endif
