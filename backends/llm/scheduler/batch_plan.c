/* Plans one step: a row for every generating answer, speculated tokens after it where they pay off,
 * and prompt chunks as large as the time limit allows. */
#include "llm/scheduler/batch_private.h"

/* While generating, exactly one known token is not computed. */
static bool generating(const struct answer *a)
{
    return qn_answer_active(a) && a->known - a->computed == 1 && !qn_answer_wants_rows(a);
}

static bool has_prompt_work(const struct answer *a)
{
    return qn_answer_active(a) && !generating(a);
}

static int32_t least(int64_t a, int64_t b)
{
    return (int32_t)(a < b ? a : b);
}

/* How many tokens may be speculated for this answer in a step that already has `extra` further
 * rows. */
static int32_t guess_limit(const struct qn_batch *b, const struct answer *a, int extra)
{
    int64_t most = QN_BATCH_LOGIT_ROWS - extra;
    most = least(most, b->m.max_chunk - b->config.seqs - extra);
    most = least(most, QN_SPEC_MAX);
    most = least(most, b->config.context - a->known);
    if (a->gen->r.max_tokens >= 0)
        most = least(most, a->gen->r.max_tokens - a->generated - 1);
    return most > 0 ? (int32_t)most : 0;
}

/* Drops guesses that the constraint forbids; they would be rejected anyway. */
static void drop_forbidden(struct answer *a)
{
    struct qn_constraint_state s = {0};
    int32_t n = 0;
    if (!a->constraint.constraint)
        return;
    qn_constraint_copy(&s, &a->constraint);
    while (n < a->guesses && qn_constraint_accept(&s, a->tokens[a->known + n]))
        n++;
    qn_constraint_end(&s);
    a->guesses = n;
}

/* Uses the draft model for answers that prompt lookup found nothing for. */
static void guess_by_draft(struct qn_batch *b, int32_t rows, int extra)
{
    struct qn_draft_want wants[QN_BATCH_LOGIT_ROWS];
    struct answer *whose[QN_BATCH_LOGIT_ROWS];
    size_t n = 0;
    double ms = qn_draft_token_ms(b->config.draft);
    for (struct answer *a = qn_first_running(b); a && n < QN_BATCH_LOGIT_ROWS;
         a = qn_next_running(a)) {
        if (!generating(a) || a->guesses > 0)
            continue;
        int32_t most = qn_spec_worth(&a->drafts, &b->cost, rows, ms, guess_limit(b, a, extra));
        if (most == 0)
            continue;
        extra += most;
        whose[n] = a;
        wants[n++] = (struct qn_draft_want){.seq = &a->draft,
                                            .tokens = a->tokens,
                                            .known = a->known,
                                            .max = most,
                                            .out = a->tokens + a->known};
    }
    qn_draft_guess(b->config.draft, wants, n);
    for (size_t i = 0; i < n; i++) {
        whose[i]->guesses = wants[i].got;
        whose[i]->by_draft = true;
        drop_forbidden(whose[i]);
    }
}

/* Sets the speculated tokens of every generating answer. */
static void guess(struct qn_batch *b)
{
    int32_t rows = 0;
    bool prompts = false;
    for (struct answer *a = qn_first_running(b); a; a = qn_next_running(a)) {
        a->guesses = 0;
        a->by_draft = false;
        rows += generating(a);
        prompts |= has_prompt_work(a);
    }
    if (!b->m.rewinds || prompts)
        return; /* with prompt chunks the step is full enough */
    int extra = 0;
    for (struct answer *a = qn_first_running(b); a && b->config.speculate; a = qn_next_running(a)) {
        int32_t most = guess_limit(b, a, extra);
        if (!generating(a) || most == 0)
            continue;
        most = qn_spec_worth(&a->repeats, &b->cost, rows, 0, most);
        if (most > 0)
            a->guesses = qn_spec_lookup(a->tokens, a->known, most, a->tokens + a->known);
        drop_forbidden(a);
        extra += a->guesses;
    }
    if (b->config.draft)
        guess_by_draft(b, rows, extra);
}

static float *take_rows(struct qn_batch *b, int32_t n)
{
    float *at = b->logits + b->plan.rows * (size_t)b->m.vocab;
    b->plan.rows += (size_t)n;
    b->plan.extra += n - 1;
    return at;
}

static void add(struct qn_batch *b, struct answer *a, int32_t n, int32_t guessed, bool all,
                float *logits)
{
    struct plan *p = &b->plan;
    p->pieces[p->n] = (struct piece){.answer = a, .n = n, .guessed = guessed};
    p->chunks[p->n++] = (struct qn_chunk){.seq = a->seq,
                                          .tokens = a->tokens + a->computed,
                                          .mix = &a->gen->r.mix,
                                          .n = n,
                                          .all_rows = all,
                                          .logits = logits};
    p->tokens += n;
}

/* Reserves pages for the tokens that each answer may compute, oldest first. This happens before
 * planning, so a preempted answer is not in the plan. A prompt's pages were reserved when it began,
 * but a page may have become shared since then and needs a copy. */
static void secure_pages(struct qn_batch *b)
{
    for (struct answer *a = qn_first_running(b); a; a = qn_next_running(a))
        if (qn_answer_active(a))
            qn_answer_secure(b, a, least(a->known - a->computed, b->m.max_chunk));
}

static void plan_answers(struct qn_batch *b)
{
    for (struct answer *a = qn_first_running(b); a; a = qn_next_running(a)) {
        if (!generating(a))
            continue;
        if (a->guesses > 0 && b->m.seq_reserve(a->seq, 1 + a->guesses, NULL))
            a->guesses = 0; /* nothing is preempted for speculation */
        int32_t n = 1 + a->guesses;
        add(b, a, n, a->guesses, n > 1, take_rows(b, n));
    }
}

/* How many prompt tokens this step may compute besides `taken` tokens of generating answers. */
static int32_t prompt_budget(const struct qn_batch *b, int taken)
{
    int least_piece = taken > 0 ? QN_BATCH_CHUNK_MIN : QN_BATCH_CHUNK_ALONE;
    int budget = QN_BATCH_CHUNK_FIRST;
    if (b->token_ms > 0) {
        double fits = QN_BATCH_STEP_MS / b->token_ms;
        budget = fits > b->m.max_chunk ? b->m.max_chunk : (int)fits;
    }
    if (budget < least_piece)
        budget = least_piece;
    return least(budget, b->m.max_chunk - taken);
}

static int32_t prompt_left(const struct answer *a)
{
    return a->known - a->computed - a->share;
}

/* Half of the budget goes to the oldest prompt, so that none starves; the rest goes to the prompts
 * with the fewest tokens left, so that long prompts do not delay short ones. */
static void share_out(struct qn_batch *b, int32_t budget)
{
    struct answer *oldest = NULL;
    for (struct answer *a = qn_first_running(b); a; a = qn_next_running(a)) {
        a->share = 0;
        if (!oldest && has_prompt_work(a))
            oldest = a;
    }
    if (!oldest || budget < 1)
        return;
    oldest->share = least(prompt_left(oldest), (budget + 1) / 2);
    budget -= oldest->share;
    while (budget > 0) {
        struct answer *next = NULL;
        for (struct answer *a = oldest; a; a = qn_next_running(a))
            if (has_prompt_work(a) && prompt_left(a) > 0 &&
                (!next || prompt_left(a) < prompt_left(next)))
                next = a;
        if (!next)
            return;
        int32_t n = least(prompt_left(next), budget);
        next->share += n;
        budget -= n;
    }
}

/* Limits a chunk to end at the next multiple of step, where the sequence is stored in the tree. */
static int32_t to_next_mark(const struct qn_batch *b, const struct answer *a, int32_t n)
{
    return b->m.step > 0 ? least(n, b->m.step - a->computed % b->m.step) : n;
}

static void plan_prompts(struct qn_batch *b)
{
    bool rows_lent = false;
    share_out(b, prompt_budget(b, b->plan.tokens));
    for (struct answer *a = qn_first_running(b); a; a = qn_next_running(a)) {
        int32_t n = a->share;
        bool all = qn_answer_wants_rows(a);
        if (n == 0 || (all && rows_lent))
            continue;
        if (all)
            n = least(n, QN_BATCH_LOGIT_ROWS - b->plan.extra);
        n = to_next_mark(b, a, n);
        bool last = n == a->known - a->computed;
        add(b, a, n, 0, all, all ? take_rows(b, n) : last ? take_rows(b, 1) : NULL);
        rows_lent |= all;
        b->plan.prompts = true;
    }
}

void qn_batch_plan(struct qn_batch *b)
{
    struct plan *p = &b->plan;
    p->n = p->rows = 0;
    p->tokens = p->extra = 0;
    p->prompts = false;
    secure_pages(b);
    guess(b);
    plan_answers(b);
    plan_prompts(b);
}

void qn_batch_learn(struct qn_batch *b, double ms)
{
    if (!b->plan.prompts) {
        qn_spec_cost_note(&b->cost, b->plan.tokens, ms);
        return;
    }
    /* Averaged with the previous value: the cost per token grows with the context and falls with
     * the chunk size, so this converges to steps of QN_BATCH_STEP_MS. */
    double cost = ms / b->plan.tokens;
    if (cost < 1e-6)
        cost = 1e-6;
    b->token_ms = b->token_ms > 0 ? (b->token_ms + cost) / 2 : cost;
}
