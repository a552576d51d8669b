/* See draft.h. */
#include "llm/scheduler/draft.h"

#include "base/buf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct qn_draft_seq {
    struct qn_seq *seq;
    int32_t *tokens; /* [context]: the n tokens in the cache */
    int32_t n;
};

struct qn_draft {
    struct qn_batch_model m;
    int32_t ids, context;
    float *logits; /* [QN_DRAFT_SEQS, vocab] */
    double token_ms;
};

qn_err qn_draft_new(const struct qn_batch_model *model, int32_t ids, int32_t context,
                    struct qn_draft **out, struct qn_error *e)
{
    assert(model->max_chunk >= QN_DRAFT_READ + QN_DRAFT_SEQS && ids <= model->vocab);
    struct qn_draft *d = qn_xcalloc(1, sizeof *d);
    d->m = *model;
    d->ids = ids;
    d->context = context;
    d->logits = qn_alloc_sized((size_t)QN_DRAFT_SEQS * (size_t)model->vocab, sizeof *d->logits,
                               SIZE_MAX / 2);
    if (!d->logits) {
        free(d);
        return qn_fail(e, QN_ENOMEM, "no memory for the logits of the draft model");
    }
    *out = d;
    return QN_OK;
}

void qn_draft_free(struct qn_draft *d)
{
    if (!d)
        return;
    free(d->logits);
    free(d);
}

void qn_draft_seq_free(struct qn_draft *d, struct qn_draft_seq *s)
{
    if (!s)
        return;
    d->m.seq_free(s->seq);
    free(s->tokens);
    free(s);
}

static struct qn_draft_seq *seq_new(struct qn_draft *d)
{
    struct qn_draft_seq *s = qn_xcalloc(1, sizeof *s);
    if (d->m.seq_new(d->m.ctx, d->context, &s->seq, NULL)) {
        free(s);
        return NULL;
    }
    s->tokens = qn_xmalloc((size_t)d->context * sizeof *s->tokens);
    return s;
}

/* Truncates the sequence to the prefix it shares with the answer, which drops rejected guesses. */
static void rewind_to(struct qn_draft *d, struct qn_draft_seq *s, const int32_t *tokens,
                      int32_t known)
{
    int32_t same = 0, most = s->n < known - 1 ? s->n : known - 1;
    while (same < most && s->tokens[same] == tokens[same])
        same++;
    if (same < s->n)
        s->n = d->m.seq_truncate(s->seq, same);
}

static int32_t likeliest(const float *row, int32_t ids)
{
    int32_t best = 0;
    for (int32_t i = 1; i < ids; i++)
        if (row[i] > row[best])
            best = i;
    return best;
}

/* Runs one forward pass of the draft model and records the new tokens. */
static void read_tokens(struct qn_draft *d, struct qn_draft_seq **seqs, struct qn_chunk *chunks,
                        size_t n)
{
    d->m.forward(d->m.ctx, chunks, n);
    for (size_t i = 0; i < n; i++) {
        memcpy(seqs[i]->tokens + seqs[i]->n, chunks[i].tokens,
               (size_t)chunks[i].n * sizeof *seqs[i]->tokens);
        seqs[i]->n += chunks[i].n;
    }
}

void qn_draft_guess(struct qn_draft *d, struct qn_draft_want *wants, size_t n)
{
    struct qn_draft_want *ready[QN_DRAFT_SEQS]; /* wants whose known tokens are all computed */
    struct qn_draft_seq *seqs[QN_DRAFT_SEQS];
    struct qn_chunk chunks[QN_DRAFT_SEQS];
    size_t count = 0, n_chunks = 0;
    int32_t room = QN_DRAFT_READ;
    assert(n <= QN_DRAFT_SEQS);
    int64_t start = d->m.now_us(), made = 0;
    for (size_t i = 0; i < n; i++) {
        struct qn_draft_want *w = &wants[i];
        w->got = 0;
        if (!*w->seq && !(*w->seq = seq_new(d)))
            continue;
        struct qn_draft_seq *s = *w->seq;
        rewind_to(d, s, w->tokens, w->known);
        int32_t left = w->known - s->n, take = left < room ? left : room;
        if (take > d->context - s->n)
            take = d->context - s->n;
        if (take < 1 || d->m.seq_reserve(s->seq, take, NULL))
            continue;
        room -= take;
        seqs[n_chunks] = s;
        bool all = take == left;
        chunks[n_chunks++] =
            (struct qn_chunk){.seq = s->seq,
                              .tokens = w->tokens + s->n,
                              .n = take,
                              .logits = all ? d->logits + count * (size_t)d->m.vocab : NULL};
        if (all)
            ready[count++] = w;
    }
    if (n_chunks > 0)
        read_tokens(d, seqs, chunks, n_chunks);
    while (count > 0) {
        /* One guess for each remaining want; the pass goes on with those that want more. */
        size_t rest = 0;
        n_chunks = 0;
        for (size_t i = 0; i < count; i++) {
            struct qn_draft_want *w = ready[i];
            struct qn_draft_seq *s = *w->seq;
            w->out[w->got++] = likeliest(d->logits + i * (size_t)d->m.vocab, d->ids);
            made++;
            if (w->got == w->max || s->n == d->context || d->m.seq_reserve(s->seq, 1, NULL))
                continue;
            seqs[n_chunks] = s;
            chunks[n_chunks++] =
                (struct qn_chunk){.seq = s->seq, .tokens = &w->out[w->got - 1], .n = 1};
            ready[rest++] = w;
        }
        for (size_t i = 0; i < rest; i++)
            chunks[i].logits = d->logits + i * (size_t)d->m.vocab;
        if (rest > 0)
            read_tokens(d, seqs, chunks, rest);
        count = rest;
    }
    if (made > 0) {
        double ms = (double)(d->m.now_us() - start) / 1000.0 / (double)made;
        d->token_ms = d->token_ms > 0 ? (3 * d->token_ms + ms) / 4 : ms;
    }
}

double qn_draft_token_ms(const struct qn_draft *d)
{
    return d->token_ms;
}
