/* A network written down for the tests of batching: its sequences remember their tokens in pages of
 * a pool, and its next token is a hash of all of them and of the adapters they went through, so any
 * wrong cache, order or mix-up shows in the text. With it, a client that keeps what it is sent. */
#ifndef QN_TESTS_FAKE_NET_H
#define QN_TESTS_FAKE_NET_H

#include "llm/scheduler/batch.h"

#include "base/buf.h"
#include "base/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    VOCAB = 97,
    END = 0,
    CONTROL = 1,
    CONTEXT = 64,
    CHUNK = 24,
    PAGE = 4,
    POOL = 400,
    LONGEST = 2 * CONTEXT
};

/* A sequence's tokens lie in pages of a pool, shared and copied on write as the real cache's. */
struct fake_seq {
    int32_t page[LONGEST / PAGE];
    int32_t pages, n, context;
};

struct fake_net {
    int forwards, computed; /* calls, tokens */
    int most_chunks;        /* sequences of the widest call */
    int most_rows;          /* tokens of the widest call that were not a prompt's */
    int forks;
    int seqs;
    int total;          /* pages of the pool */
    bool ends;          /* the end token may come */
    bool broken;        /* no logit is finite */
    bool damaged;       /* broken, until it is mended */
    int mended, looked; /* calls of mend that did; those that were to look */
    bool parrot;        /* the next token is a function of the last alone: text repeats soon */
    int snapshots;      /* > 0: the state is known at its multiples and at the end only */
    int window;         /* > 0: only its last so many lengths can be gone back to */
    bool no_shift;
    bool wide;           /* forwards of the draft model's width are allowed */
    int row_us, step_us; /* what a forward takes, on the clock */
    int64_t now_us;      /* which only forwards move */
    int32_t text[POOL][PAGE];
    int refs[POOL];
};
static struct fake_net net;

static inline struct qn_seq *opaque(struct fake_seq *s)
{
    return (struct qn_seq *)(void *)s;
}

static inline struct fake_seq *fake_of(const struct qn_seq *s)
{
    return (struct fake_seq *)(uintptr_t)s;
}

static inline int pages_free(void)
{
    int n = 0;
    for (int i = 0; i < net.total; i++)
        n += net.refs[i] == 0;
    return n;
}

static inline int32_t page_take(void)
{
    for (int32_t i = 0; i < net.total; i++)
        if (net.refs[i] == 0) {
            net.refs[i] = 1;
            return i;
        }
    fail();
    return -1;
}

/* What of a token's mix its cache shows, above the token itself. */
static inline int32_t trace_of(const struct qn_mix *mix)
{
    int32_t trace = 0;
    for (int32_t i = 0; mix && i < mix->n; i++)
        trace = trace * 31 + 1 + mix->part[i].adapter + (int32_t)(mix->part[i].scale * 16);
    return (trace & 0x7fff) << 16;
}

static inline int32_t next_of(const int32_t *tokens, int32_t n)
{
    if (net.parrot)
        return 2 + ((tokens[n - 1] & 0xffff) * 5 + 3) % 7;
    uint32_t h = 2166136261u;
    for (int32_t i = 0; i < n; i++)
        h = (h ^ (uint32_t)tokens[i]) * 16777619u;
    h ^= h >> 15;
    if (net.ends && h % 11 == 0)
        return END;
    return (int32_t)(h % (VOCAB - 2)) + 2;
}

static inline qn_err fake_seq_new(void *ctx, int32_t context, struct qn_seq **out,
                                  struct qn_error *e)
{
    (void)ctx;
    (void)e;
    assert_true(context <= LONGEST);
    net.seqs++;
    struct fake_seq *s = qn_xcalloc(1, sizeof *s);
    s->context = context;
    *out = opaque(s);
    return QN_OK;
}

static inline int32_t fake_len(const struct qn_seq *s)
{
    return fake_of(s)->n;
}

static inline void cut_pages(struct fake_seq *s, int32_t pages)
{
    while (s->pages > pages) {
        assert_true(net.refs[s->page[s->pages - 1]] > 0);
        net.refs[s->page[--s->pages]]--;
    }
}

static inline void fake_seq_free(struct qn_seq *s)
{
    net.seqs--;
    cut_pages(fake_of(s), 0);
    free(s);
}

static inline int32_t fake_forkable(const struct qn_seq *seq, int32_t len)
{
    const struct fake_seq *s = fake_of(seq);
    if (len >= s->n)
        return s->n;
    if (net.window)
        return len >= s->n - net.window ? len : 0;
    return net.snapshots ? len - len % net.snapshots : len;
}

static inline int32_t fake_truncate(struct qn_seq *seq, int32_t len)
{
    struct fake_seq *s = fake_of(seq);
    assert_true(len >= 0 && len <= s->n);
    s->n = fake_forkable(seq, len);
    cut_pages(s, (s->n + PAGE - 1) / PAGE);
    return s->n;
}

static inline qn_err fake_reserve(struct qn_seq *seq, int32_t n, struct qn_error *e)
{
    (void)e;
    struct fake_seq *s = fake_of(seq);
    assert_true(n >= 1 && s->n + n <= s->context);
    bool copy = s->n % PAGE != 0 && net.refs[s->page[s->n / PAGE]] > 1;
    int need = (s->n + n + PAGE - 1) / PAGE - s->pages + copy;
    if (need > pages_free())
        return QN_EBUSY;
    if (copy) {
        int32_t old = s->page[s->n / PAGE], own = page_take();
        memcpy(net.text[own], net.text[old], sizeof net.text[own]);
        net.refs[old]--;
        s->page[s->n / PAGE] = own;
    }
    while (s->pages * PAGE < s->n + n)
        s->page[s->pages++] = page_take();
    return QN_OK;
}

static inline qn_err fake_fork(struct qn_seq *dst, const struct qn_seq *src, int32_t len,
                               struct qn_error *e)
{
    const struct fake_seq *from = fake_of(src);
    struct fake_seq *to = fake_of(dst);
    (void)e;
    assert_true(len <= from->n && dst != src && to->n == 0 && to->pages == 0);
    assert_int_equal(fake_forkable(src, len), len);
    for (int32_t i = 0; i * PAGE < len; i++) {
        to->page[to->pages++] = from->page[i];
        net.refs[from->page[i]]++;
    }
    to->n = len;
    net.forks++;
    return QN_OK;
}

static inline void text_of(const struct fake_seq *s, int32_t *tokens)
{
    for (int32_t i = 0; i < s->n; i++)
        tokens[i] = net.text[s->page[i / PAGE]][i % PAGE];
}

static inline void append(struct fake_seq *s, int32_t token)
{
    assert_true(s->n / PAGE < s->pages); /* it was reserved */
    int32_t page = s->page[s->n / PAGE];
    assert_int_equal(net.refs[page], 1); /* no other sequence's text is overwritten */
    net.text[page][s->n++ % PAGE] = token;
}

static inline qn_err fake_shift(struct qn_seq *seq, int32_t from, int32_t n, struct qn_error *e)
{
    if (net.no_shift)
        return qn_fail(e, QN_EUNSUPPORTED, "this network cannot");
    struct fake_seq *s = fake_of(seq);
    int32_t tokens[LONGEST], len = s->n;
    assert_true(from + n <= len && from % PAGE == 0 && n % PAGE == 0);
    text_of(s, tokens);
    fake_truncate(seq, from);
    assert_int_equal(fake_reserve(seq, len - n - from, NULL), QN_OK);
    for (int32_t i = from + n; i < len; i++)
        append(s, tokens[i]);
    return QN_OK;
}

static inline void fake_pages(void *ctx, int64_t *free_pages, int64_t *total)
{
    (void)ctx;
    *free_pages = pages_free();
    *total = net.total;
}

static inline void fake_logits(const struct fake_seq *s, float *row)
{
    int32_t tokens[LONGEST];
    text_of(s, tokens);
    for (int i = 0; i < VOCAB; i++)
        row[i] = net.broken ? NAN : (float)(i % 5) / 10;
    if (!net.broken)
        row[next_of(tokens, s->n)] = 20;
}

static inline void fake_forward(void *ctx, struct qn_chunk *chunks, size_t n)
{
    (void)ctx;
    int total = 0;
    for (size_t i = 0; i < n; i++) {
        struct fake_seq *s = fake_of(chunks[i].seq);
        assert_true(s->n + chunks[i].n <= s->context);
        for (size_t k = 0; k < i; k++)
            assert_true(chunks[k].seq != chunks[i].seq);
        for (int32_t t = 0; t < chunks[i].n; t++) {
            append(s, chunks[i].tokens[t] | trace_of(chunks[i].mix));
            if (chunks[i].logits && (chunks[i].all_rows || t == chunks[i].n - 1))
                fake_logits(s, chunks[i].logits + (chunks[i].all_rows ? t * VOCAB : 0));
        }
        total += chunks[i].n;
    }
    assert_true(total > 0 && (net.wide || total <= CHUNK));
    net.forwards++;
    net.computed += total;
    if ((int)n > net.most_chunks)
        net.most_chunks = (int)n;
    if (total > net.most_rows)
        net.most_rows = total;
    net.now_us += net.step_us + net.row_us * total;
}

static inline bool fake_mend(void *ctx, bool now)
{
    (void)ctx;
    net.looked += now;
    if (!net.damaged || !now)
        return false;
    net.damaged = net.broken = false;
    net.mended++;
    return true;
}

static inline int64_t fake_now(void)
{
    return net.now_us;
}

static inline const char *fake_bytes(void *ctx, int32_t id, size_t *len)
{
    static char text[VOCAB][8];
    (void)ctx;
    assert_true(id >= 0 && id < VOCAB);
    *len = (size_t)sprintf(text[id], "%d.", (int)id);
    return text[id];
}

static inline bool fake_control(void *ctx, int32_t id)
{
    (void)ctx;
    return id == CONTROL;
}

static inline bool fake_end(void *ctx, int32_t id)
{
    (void)ctx;
    return id == END;
}

static const struct qn_batch_model model = {
    .vocab = VOCAB,
    .page = PAGE,
    .max_chunk = CHUNK,
    .now_us = fake_now,
    .rewinds = true,
    .seq_new = fake_seq_new,
    .seq_free = fake_seq_free,
    .seq_len = fake_len,
    .seq_reserve = fake_reserve,
    .seq_truncate = fake_truncate,
    .seq_forkable = fake_forkable,
    .seq_fork = fake_fork,
    .seq_shift = fake_shift,
    .pages = fake_pages,
    .forward = fake_forward,
    .mend = fake_mend,
    .token_bytes = fake_bytes,
    .token_is_control = fake_control,
    .token_is_end = fake_end,
};

/* What one request's client sees. */
struct client {
    struct qn_buf text[QN_JOB_CHOICES_MAX];
    struct qn_buf reasoning; /* of all choices */
    struct qn_buf logprobs;
    int done, progress, ended, usages;
    enum qn_finish finish[QN_JOB_CHOICES_MAX];
    struct qn_event usage;
    struct qn_error error;
    bool full;
};

static inline void client_send(void *ctx, const struct qn_event *ev)
{
    struct client *c = ctx;
    assert_int_equal(c->ended, 0); /* nothing follows the end */
    switch (ev->kind) {
    case QN_EV_TEXT:
        qn_buf_str(&c->text[ev->index], ev->text);
        if (ev->logprobs)
            qn_buf_str(&c->logprobs, ev->logprobs);
        break;
    case QN_EV_REASONING:
        qn_buf_str(&c->reasoning, ev->text);
        break;
    case QN_EV_DONE:
        c->finish[ev->index] = ev->finish;
        c->done++;
        break;
    case QN_EV_USAGE:
        c->usage = *ev;
        c->usages++;
        break;
    case QN_EV_PROGRESS:
        c->progress++;
        break;
    case QN_EV_ERROR:
        c->error = ev->error;
        c->ended++;
        break;
    default:
        assert_int_equal(ev->kind, QN_EV_END);
        c->ended++;
    }
}

static inline bool client_full(void *ctx)
{
    return ((struct client *)ctx)->full;
}

static inline void client_init(struct client *c)
{
    memset(c, 0, sizeof *c);
    for (int i = 0; i < QN_JOB_CHOICES_MAX; i++)
        qn_buf_init(&c->text[i], 1 << 20);
    qn_buf_init(&c->logprobs, 1 << 20);
    qn_buf_init(&c->reasoning, 1 << 20);
}

static inline void client_deinit(struct client *c)
{
    for (int i = 0; i < QN_JOB_CHOICES_MAX; i++)
        qn_buf_deinit(&c->text[i]);
    qn_buf_deinit(&c->logprobs);
    qn_buf_deinit(&c->reasoning);
}

static inline struct qn_batch_request request(struct client *c, const int32_t *prompt, size_t n,
                                              int64_t max_tokens)
{
    client_init(c);
    struct qn_batch_request r = {.key = c,
                                 .out = {c, client_send, client_full},
                                 .n_prompt = n,
                                 .choices = 1,
                                 .max_tokens = max_tokens,
                                 .logprobs = -1};
    r.prompt = qn_xmalloc(n * sizeof *prompt);
    memcpy(r.prompt, prompt, n * sizeof *prompt);
    r.sampling = (struct qn_sampler_params){
        .temperature = 0, .top_p = 1, .repeat_penalty = 1, .repeat_last_n = -1};
    return r;
}

/* The greedy text after this prompt, worked out without a batch. */
static inline const char *expected_through(const struct qn_mix *mix, const int32_t *prompt,
                                           size_t n, int count)
{
    static char text[1024];
    int32_t tokens[LONGEST + 1];
    for (size_t i = 0; i < n; i++)
        tokens[i] = prompt[i] | trace_of(mix);
    text[0] = 0;
    for (int i = 0; i < count; i++) {
        int32_t id = next_of(tokens, (int32_t)n);
        if (id == END)
            break;
        sprintf(text + strlen(text), "%d.", (int)id);
        tokens[n++] = id | trace_of(mix);
    }
    return text;
}

static inline const char *expected(const int32_t *prompt, size_t n, int count)
{
    return expected_through(NULL, prompt, n, count);
}

static inline void fill(int32_t *prompt, size_t n, int32_t salt)
{
    for (size_t i = 0; i < n; i++)
        prompt[i] = 2 + ((int32_t)i * 7 + salt) % (VOCAB - 2);
}

static inline struct qn_batch *batch_of(struct qn_batch_config config, int pages)
{
    memset(&net, 0, sizeof net);
    net.total = pages;
    struct qn_batch *b;
    struct qn_error e = {0};
    assert_int_equal(qn_batch_new(&model, &config, &b, &e), QN_OK);
    return b;
}

static inline struct qn_batch *batch_new(int seqs)
{
    return batch_of((struct qn_batch_config){.seqs = seqs, .context = CONTEXT}, POOL);
}

/* Every page and sequence has come back. */
static inline void batch_done(struct qn_batch *b)
{
    qn_batch_free(b);
    assert_int_equal(net.seqs, 0);
    assert_int_equal(pages_free(), net.total);
}

static inline void run_out(struct qn_batch *b)
{
    while (qn_batch_step(b))
        ;
}

#endif
