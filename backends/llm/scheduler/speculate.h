/* Speculation: guessing the next tokens, so that one forward pass can confirm several of them.
 *
 * A guess never changes what is said: the answer's own sampler draws a token from each row of
 * logits, and the guess only decides how many rows are of use. So a wrong guess costs time and
 * nothing else. How many tokens are worth guessing follows from what has been measured: how often
 * this answer's guesses came true, what a step costs and what one row more costs. Where guessing
 * does not pay it stops, and is tried again later, less and less often. Pure; compute thread only.
 */
#ifndef QN_LLM_SCHEDULER_SPECULATE_H
#define QN_LLM_SCHEDULER_SPECULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_SPEC_MAX = 12,        /* tokens guessed at once */
    QN_SPEC_NGRAM_MIN = 2,   /* tokens that must repeat before a guess is made of them */
    QN_SPEC_NGRAM_MAX = 16,  /* and those that are looked at */
    QN_SPEC_PAUSE_MIN = 16,  /* tokens without a guess after it stopped paying, doubling */
    QN_SPEC_PAUSE_MAX = 1024 /* up to this */
};

/* Prompt lookup: finds where the longest end of tokens [n] occurred before (the latest such place)
 * and copies up to max tokens that followed it there. Returns how many, 0 when nothing repeats.
 * O(n) as a rule. */
int32_t qn_spec_lookup(const int32_t *tokens, int32_t n, int32_t max, int32_t *out);

/* What steps cost, learned from them: base + row·rows milliseconds. */
struct qn_spec_cost {
    double w, x, t, xx, xt; /* decayed sums over steps: 1, rows, ms, rows², rows·ms */
    double row_ms;          /* slope; 0 until rows have varied */
};
void qn_spec_cost_note(struct qn_spec_cost *c, int32_t rows, double ms);

/* One answer's luck with one kind of guess. All zero to begin with. */
struct qn_spec_luck {
    double tried, right; /* decayed counts of guessed tokens that were put to the test */
    int32_t wait, pause; /* tokens until the next try, and how long the last pause was */
};

/* Tokens worth guessing for one of `rows` answers that are generating, at most max. draft_ms: what
 * making one guess costs by itself. */
int32_t qn_spec_worth(struct qn_spec_luck *l, const struct qn_spec_cost *c, int32_t rows,
                      double draft_ms, int32_t max);
/* Of `guessed` tokens the first `right` came true. */
void qn_spec_note(struct qn_spec_luck *l, int32_t guessed, int32_t right);
/* `tokens` more have been generated: what counts down a pause. */
void qn_spec_pass(struct qn_spec_luck *l, int32_t tokens);

#endif
