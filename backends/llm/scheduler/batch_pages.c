/* Assigns KV-cache pages: answers begin when pages are available, share the prefixes of other
 * sequences, and are preempted when the pool is empty. */
#include "llm/scheduler/batch_private.h"

#include "base/buf.h"
#include "base/log.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* pages per running answer that must be free before another answer begins */
enum { MARGIN_PAGES = 2 };

static int64_t pages_of(const struct qn_batch *b, int64_t tokens)
{
    return (tokens + b->m.page - 1) / b->m.page;
}

static int32_t common(const int32_t *a, const int32_t *b, int32_t n)
{
    int32_t i = 0;
    while (i < n && a[i] == b[i])
        i++;
    return i;
}

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* The space of a request in the prefix tree. mix is borrowed from the request. */
static struct qn_prefix_space space_of(const struct gen *g)
{
    return (struct qn_prefix_space){g->r.owner, &g->r.mix};
}

void qn_answer_retire(struct qn_batch *b, struct answer *a)
{
    bool leaves = !a->gen->r.no_reuse;
    int32_t left = leaves ? b->m.seq_truncate(a->seq, least(a->computed, a->exact)) : 0;
    struct qn_prefix_space in = space_of(a->gen);
    if (left > 0)
        qn_prefix_add(b->prefix, &in, a->tokens, left, a->seq);
    else
        b->m.seq_free(a->seq);
    a->seq = NULL;
    if (b->config.draft)
        qn_draft_seq_free(b->config.draft, a->draft);
    a->draft = NULL;
    b->running--;
}

void qn_answer_mark(struct qn_batch *b, struct answer *a)
{
    struct qn_prefix_space in = space_of(a->gen);
    struct qn_seq *seq;
    if (a->gen->r.no_reuse || b->m.step == 0 || a->computed % b->m.step != 0 ||
        a->computed > a->exact || b->m.seq_new(b->m.ctx, b->config.context, &seq, NULL))
        return;
    if (b->m.seq_fork(seq, a->seq, a->computed, NULL))
        b->m.seq_free(seq);
    else
        qn_prefix_add(b->prefix, &in, a->tokens, a->computed, seq);
}

static void preempt(struct qn_batch *b, struct answer *a)
{
    qn_answer_retire(b, a);
    a->state = ANSWER_WAITING;
    b->stats.preempted++;
}

/* Returns the youngest running answer; with `paused`, the youngest whose client reads too slowly.
 */
static struct answer *youngest(const struct qn_batch *b, bool paused)
{
    struct answer *found = NULL;
    for (struct answer *a = qn_first_running(b); a; a = qn_next_running(a))
        if (!paused || !qn_answer_active(a))
            found = a;
    return found;
}

/* Frees pages that are not needed by an active answer: evicts from the tree, else preempts an
 * answer whose client reads too slowly. Returns false if there is neither. */
static bool give_up_idle(struct qn_batch *b, int64_t pages, const struct answer *except)
{
    if (qn_prefix_evict(b->prefix, pages)) {
        b->stats.evicted++;
        return true;
    }
    struct answer *idle = youngest(b, true);
    if (!idle || idle == except)
        return false;
    preempt(b, idle);
    return true;
}

bool qn_answer_secure(struct qn_batch *b, struct answer *a, int32_t n)
{
    while (b->m.seq_reserve(a->seq, n, NULL)) {
        if (give_up_idle(b, pages_of(b, n), a))
            continue;
        struct answer *last = youngest(b, false);
        preempt(b, last);
        if (last == a)
            return false;
    }
    return true;
}

bool qn_answer_shift(struct qn_batch *b, struct answer *a)
{
    /* In whole pages: the kept length is rounded up, the dropped length down. */
    int32_t page = b->m.page, keep = least((int32_t)a->gen->r.keep, b->config.context / 2);
    keep = (keep + page - 1) / page * page;
    int32_t n = (b->config.context - keep) / 2 / page * page;
    if (!b->m.seq_shift || n < 1 || a->computed < keep + n)
        return false;
    struct qn_error e = {0};
    qn_err err;
    do
        err = b->m.seq_shift(a->seq, keep, n, &e);
    while (err == QN_EBUSY && give_up_idle(b, 1, a));
    if (err) {
        qn_warn("llm", "context shift failed: %s; the reply ends when the context is full",
                e.message);
        return false;
    }
    memmove(a->tokens + keep, a->tokens + keep + n,
            (size_t)(a->known - keep - n) * sizeof *a->tokens);
    a->known -= n;
    a->computed -= n;
    a->exact = least(a->exact, keep);
    if (b->config.draft)
        qn_draft_seq_free(b->config.draft, a->draft);
    a->draft = NULL;
    return true;
}

bool qn_batch_mend(struct qn_batch *b, bool now)
{
    if (!b->m.mend || !b->m.mend(b->m.ctx, now))
        return false;
    for (struct answer *a; (a = qn_first_running(b)) != NULL;)
        preempt(b, a);
    while (qn_prefix_evict(b->prefix, INT32_MAX))
        ;
    for (size_t i = 0; i < b->plan.n; i++)
        b->plan.pieces[i].answer = NULL; /* the results of this step are discarded, too */
    qn_warn("llm", "results of damaged weights are discarded and computed again");
    return true;
}

/* Where the cache of a prefix of an answer's tokens can be forked from. */
struct source {
    struct qn_seq *seq;
    int32_t len;
    bool coming; /* a running answer will have at least one page more of this prefix soon */
};

/* Finds the longest forkable prefix in the tree and the running answers. The choices of one request
 * share their prompt even if no_reuse forbids sharing with other requests. */
static struct source find_source(struct qn_batch *b, const struct gen *g, const int32_t *tokens,
                                 int32_t n)
{
    struct source s = {0};
    struct qn_prefix_space in = space_of(g);
    if (!g->r.no_reuse)
        s.len = qn_prefix_find(b->prefix, &in, tokens, n, &s.seq);
    int32_t promised = 0;
    for (struct answer *r = qn_first_running(b); r; r = qn_next_running(r)) {
        bool apart = r->gen != g && (g->r.no_reuse || r->gen->r.no_reuse);
        if (apart || r->gen->r.owner != g->r.owner || !qn_mix_equal(&r->gen->r.mix, &g->r.mix))
            continue;
        int32_t same = common(r->tokens, tokens, least(n, least(r->known, r->exact)));
        int32_t there = b->m.seq_forkable(r->seq, least(same, r->computed));
        if (there > s.len) {
            s.len = there;
            s.seq = r->seq;
        }
        if (same > promised && same > r->computed && qn_answer_active(r))
            promised = same;
    }
    s.coming = promised >= s.len + b->m.page;
    return s;
}

/* Estimates without evicting anything whether `need` more pages can be found. Shared prefixes of
 * running answers are not counted, so the estimate is optimistic. */
static bool may_fit(const struct qn_batch *b, int64_t need)
{
    int64_t free_pages, total, held = 0;
    b->m.pages(b->m.ctx, &free_pages, &total);
    for (struct answer *r = qn_first_running(b); r; r = qn_next_running(r))
        if (qn_answer_active(r))
            held += pages_of(b, r->known + 1) - r->shared / b->m.page + MARGIN_PAGES;
    return held == 0 || need + held + MARGIN_PAGES <= total;
}

/* Sends the first PROGRESS event of a request's first choice: `cached` prompt tokens are in the
 * cache, and the prompt's length. */
static void prompt_begins(struct gen *g, int32_t cached)
{
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_PROGRESS);
    g->cached = cached;
    ev.done = ev.reused = cached;
    ev.total = (int64_t)g->r.n_prompt;
    g->r.out.send(g->r.out.ctx, &ev);
}

enum began { BEGAN, HELD, DRY, GONE };

/* Gives the answer a sequence with pages for all its tokens. HELD: another answer is computing the
 * same prefix; DRY: pages must be freed first; GONE: impossible, the request has failed. */
static enum began begin(struct qn_batch *b, struct answer *a)
{
    struct gen *g = a->gen;
    bool fresh = a->state == ANSWER_NEW, rows = qn_answer_wants_rows(a);
    const int32_t *tokens = fresh ? g->r.prompt : a->tokens;
    int32_t n = fresh ? (int32_t)g->r.n_prompt : a->known;
    /* The last token is always computed, because its logits are needed. */
    struct source src = find_source(b, g, tokens, rows ? 0 : n - 1);
    if (fresh && a->index == 0 && src.coming && !rows)
        return HELD;
    if (!may_fit(b, pages_of(b, n + 1) - src.len / b->m.page))
        return DRY;
    struct qn_error e = {0};
    struct qn_seq *seq;
    qn_err err = b->m.seq_new(b->m.ctx, b->config.context, &seq, &e);
    if (err) {
        qn_gen_fail(b, g, err, e.message);
        return GONE;
    }
    if (src.len > 0 && b->m.seq_fork(seq, src.seq, src.len, NULL))
        src.len = 0; /* seq stays empty: all tokens are computed */
    int32_t want = least(n + 1, b->config.context) - src.len;
    while (b->m.seq_reserve(seq, want, NULL)) {
        if (give_up_idle(b, pages_of(b, want), NULL))
            continue;
        b->m.seq_free(seq);
        if (b->running > 0)
            return DRY;
        qn_gen_fail(
            b, g, QN_ENOMEM,
            "the cache is too small for this request: load the model with a smaller context");
        return GONE;
    }
    if (fresh) {
        size_t room = (size_t)b->config.context + 1 + QN_SPEC_MAX;
        a->tokens = qn_xmalloc(room * sizeof *a->tokens);
        memcpy(a->tokens, tokens, (size_t)n * sizeof *tokens);
        a->known = n;
        qn_sampler_init(&a->sampler, &g->r.sampling, a->index);
        qn_output_init(&a->output, a->index, &g->r.out, &g->r.stops, g->r.logprobs >= 0,
                       g->r.syntax.call ? &g->parse : NULL);
        if (g->launched++ == 0)
            prompt_begins(g, src.len);
        b->stats.cached += src.len;
    }
    if (rows)
        qn_buf_clear(&g->echo_json); /* recomputed with the prompt */
    a->seq = seq;
    a->computed = a->shared = src.len;
    a->exact = INT_MAX;
    a->state = ANSWER_RUNNING;
    b->running++;
    return BEGAN;
}

/* Resumes preempted answers, oldest first, before new ones begin. Returns false if one of them
 * cannot be resumed yet. */
static bool resume(struct qn_batch *b)
{
    for (struct gen *g = b->gens; g; g = g->next) {
        for (int64_t i = 0; i < g->launched; i++) {
            struct answer *a = &g->answers[i];
            if (a->state != ANSWER_WAITING || g->r.out.full(g->r.out.ctx))
                continue;
            if (b->running == b->config.seqs)
                return false;
            enum began how = begin(b, a);
            if (how == DRY)
                return false;
            if (how == GONE)
                return resume(b);
        }
    }
    return true;
}

static bool can_begin(const struct gen *g, bool first)
{
    bool next =
        first ? g->launched == 0 : g->launched > 0 && g->prompt_known && g->launched < g->r.choices;
    return next && !g->r.out.full(g->r.out.ctx);
}

static struct gen *first_that_can(struct gen *g, bool first)
{
    while (g && !can_begin(g, first))
        g = g->next;
    return g;
}

void qn_batch_admit(struct qn_batch *b)
{
    if (!resume(b))
        return;
    /* older requests are held until another answer has computed their prefix */
    struct gen *from = b->gens;
    while (b->running < b->config.seqs) {
        /* New requests and further choices alternate, so that neither starves the other. */
        struct gen *fresh = first_that_can(from, true), *more = first_that_can(b->gens, false);
        bool choice = more && (!fresh || !b->choice_last);
        struct gen *g = choice ? more : fresh;
        if (!g)
            return;
        struct gen *after = g->next;
        enum began how = begin(b, &g->answers[g->launched]);
        if (how == DRY)
            return;
        if (how == HELD || (how == GONE && g == from))
            from = after;
        else
            b->choice_last = choice;
    }
}
