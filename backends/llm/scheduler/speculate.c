/* See speculate.h. Prompt lookup: A. Saxena, "Prompt Lookup Decoding", 2023. Verifying guesses
 * against samples of the target model is the coupling of arXiv:2211.17192 with a deterministic
 * draft. */
#include "llm/scheduler/speculate.h"

#include <string.h>

#define COST_DECAY 0.97   /* a step's weight is multiplied by this with each later step */
#define LUCK_DECAY 0.9    /* a guess's weight is multiplied by this with each later guess */
#define PRIOR_TRIED 2.0   /* the prior acceptance rate: two tokens verified */
#define PRIOR_RIGHT 1.4   /* and this many accepted */
#define ROWS_VARIANCE 0.1 /* least variance of the rows per step that shows the cost of a row */
#define MARGIN 1.1        /* the expected gain of a guess must exceed its cost by this factor */

enum { FIRST_GUESS = 2 }; /* tokens guessed while the cost of a row is unknown */

int32_t qn_spec_lookup(const int32_t *tokens, int32_t n, int32_t max, int32_t *out)
{
    int32_t best = 0, from = 0;
    for (int32_t end = n - 1; end >= QN_SPEC_NGRAM_MIN && best < QN_SPEC_NGRAM_MAX; end--) {
        /* Compares tokens[end - k .. end) with the last k tokens. */
        if (tokens[end - 1] != tokens[n - 1])
            continue;
        int32_t k = 1;
        while (k < end && k < QN_SPEC_NGRAM_MAX && tokens[end - 1 - k] == tokens[n - 1 - k])
            k++;
        if (k > best) {
            best = k;
            from = end;
        }
    }
    if (best < QN_SPEC_NGRAM_MIN)
        return 0;
    int32_t count = n - from < max ? n - from : max;
    memcpy(out, tokens + from, (size_t)count * sizeof *out);
    return count;
}

void qn_spec_cost_note(struct qn_spec_cost *c, int32_t rows, double ms)
{
    double x = rows;
    c->w = c->w * COST_DECAY + 1;
    c->x = c->x * COST_DECAY + x;
    c->t = c->t * COST_DECAY + ms;
    c->xx = c->xx * COST_DECAY + x * x;
    c->xt = c->xt * COST_DECAY + x * ms;
    double mean = c->x / c->w, variance = c->xx / c->w - mean * mean;
    if (variance < ROWS_VARIANCE)
        return;
    double slope = (c->xt / c->w - mean * (c->t / c->w)) / variance;
    c->row_ms = slope > 0 ? slope : 0;
}

/* The estimated time of a step with `rows` rows. */
static double step_ms(const struct qn_spec_cost *c, int32_t rows)
{
    double ms = (c->t + c->row_ms * (rows * c->w - c->x)) / c->w;
    return ms > c->row_ms ? ms : c->row_ms;
}

int32_t qn_spec_worth(struct qn_spec_luck *l, const struct qn_spec_cost *c, int32_t rows,
                      double draft_ms, int32_t max)
{
    if (l->wait > 0 || c->w <= 0)
        return 0;
    double chance = (l->right + PRIOR_RIGHT) / (l->tried + PRIOR_TRIED), reached = 1;
    /* One more row pays off if a token by speculation is cheaper than a token without it. */
    double token = step_ms(c, rows) / rows, price = (c->row_ms + draft_ms) * MARGIN;
    int32_t n = 0;
    if (c->row_ms <= 0 && max > FIRST_GUESS)
        max = FIRST_GUESS;
    while (n < max && (reached *= chance) * token > price)
        n++;
    if (n == 0 && max > 0) {
        l->pause = l->pause ? l->pause * 2 : QN_SPEC_PAUSE_MIN;
        if (l->pause > QN_SPEC_PAUSE_MAX)
            l->pause = QN_SPEC_PAUSE_MAX;
        l->wait = l->pause;
        l->tried = l->right = 0; /* the next attempt starts from the prior */
    }
    return n;
}

void qn_spec_note(struct qn_spec_luck *l, int32_t guessed, int32_t right)
{
    for (int32_t i = 0; i < guessed && i <= right; i++) {
        l->tried = l->tried * LUCK_DECAY + 1;
        l->right = l->right * LUCK_DECAY + (i < right);
    }
    if (right == guessed && guessed > 0)
        l->pause = 0;
}

void qn_spec_pass(struct qn_spec_luck *l, int32_t tokens)
{
    l->wait = l->wait > tokens ? l->wait - tokens : 0;
}
