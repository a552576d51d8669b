#include "llm/sampler.h"

#include "base/buf.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* One row per number: its offset in the request and in the parameters, the metadata key with which
 * a model file may set it, the default if neither sets it, and the range allowed for the metadata's
 * value. */
static const struct param_row {
    const char *key; /* NULL: not settable by a model file */
    bool integer;
    size_t request, param;
    double value, min, max;
} rows[] = {
#define REAL(field, key, value, min, max)                                                          \
    {                                                                                              \
        key, false, offsetof(struct qn_sampling, field),                                           \
            offsetof(struct qn_sampler_params, field), value, min, max                             \
    }
#define WHOLE(field, key, value, min, max)                                                         \
    {                                                                                              \
        key, true, offsetof(struct qn_sampling, field), offsetof(struct qn_sampler_params, field), \
            value, min, max                                                                        \
    }
    REAL(temperature, "general.sampling.temp", 0.8, 0, 100),
    REAL(top_p, "general.sampling.top_p", 0.95, 0, 1),
    REAL(min_p, "general.sampling.min_p", 0.05, 0, 1),
    WHOLE(top_k, "general.sampling.top_k", 40, 0, INT32_MAX),
    REAL(repeat_penalty, "general.sampling.penalty_repeat", 1, 0.01, 100),
    WHOLE(repeat_last_n, "general.sampling.penalty_last_n", 64, -1, INT32_MAX),
    REAL(presence_penalty, NULL, 0, -2, 2),
    REAL(frequency_penalty, NULL, 0, -2, 2),
#undef REAL
#undef WHOLE
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

static double *real_at(void *base, size_t offset)
{
    return (double *)(void *)((char *)base + offset);
}

static int64_t *whole_at(void *base, size_t offset)
{
    return (int64_t *)(void *)((char *)base + offset);
}

qn_err qn_sampler_defaults(const struct qn_gguf *g, struct qn_sampler_params *out,
                           struct qn_error *e)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < N_ROWS; i++) {
        const struct param_row *r = &rows[i];
        double v = r->value;
        if (r->key && qn_gguf_has(g, r->key)) {
            int64_t whole = 0;
            qn_err err = r->integer ? qn_gguf_i64(g, r->key, INT32_MIN, INT32_MAX, &whole, e)
                                    : qn_gguf_f64(g, r->key, &v, e);
            if (err)
                return err;
            if (r->integer)
                v = (double)whole;
            /* In model files any top_k below 1 means "off". */
            if (r->integer && r->min == 0 && v < 0)
                v = 0;
            if (!(v >= r->min && v <= r->max))
                return qn_fail(e, QN_EFORMAT, "metadata %s is %g, outside %g to %g", r->key, v,
                               r->min, r->max);
        }
        if (r->integer)
            *whole_at(out, r->param) = (int64_t)v;
        else
            *real_at(out, r->param) = v;
    }
    return QN_OK;
}

qn_err qn_sampler_resolve(const struct qn_sampler_params *defaults,
                          const struct qn_sampling *request, int32_t vocab,
                          struct qn_sampler_params *out, struct qn_error *e)
{
    *out = *defaults;
    struct qn_sampling asked = *request;
    for (size_t i = 0; i < N_ROWS; i++) {
        const struct param_row *r = &rows[i];
        if (r->integer) {
            int64_t v = *whole_at(&asked, r->request);
            if (v != QN_UNSET)
                *whole_at(out, r->param) = v;
        } else {
            double v = *real_at(&asked, r->request);
            if (!isnan(v))
                *real_at(out, r->param) = v;
        }
    }
    for (size_t i = 0; i < request->logit_bias.n; i++) {
        int64_t id = request->logit_bias.v[i].token;
        if (id < 0 || id >= vocab)
            return qn_fail_param(
                e, QN_EINVAL, "logit_bias",
                "logit_bias: token %lld is not in the model's vocabulary of %d tokens",
                (long long)id, (int)vocab);
    }
    out->bias = request->logit_bias;
    if (request->seed != QN_UNSET)
        out->seed = (uint64_t)request->seed;
    else
        qn_random_bytes(&out->seed, sizeof out->seed);
    return QN_OK;
}

void qn_sampler_work_init(struct qn_sampler_work *w, int32_t vocab, size_t context)
{
    w->vocab = vocab;
    w->cands = qn_xcalloc((size_t)vocab, sizeof *w->cands);
    w->window_max = context + 1;
    w->window = qn_xcalloc(w->window_max, sizeof *w->window);
}

void qn_sampler_work_deinit(struct qn_sampler_work *w)
{
    free(w->cands);
    free(w->window);
    memset(w, 0, sizeof *w);
}

void qn_sampler_init(struct qn_sampler *s, const struct qn_sampler_params *p, int64_t index)
{
    s->p = *p;
    qn_rng_init(&s->rng, p->seed + (uint64_t)index);
}

/* True if a ranks below b: a smaller logit, or an equal logit and a larger id. */
static bool weaker(struct qn_token_candidate a, struct qn_token_candidate b)
{
    return a.logit < b.logit || (a.logit == b.logit && a.id > b.id);
}

static int by_strength(const void *a, const void *b)
{
    const struct qn_token_candidate *x = a, *y = b;
    return weaker(*x, *y) ? 1 : weaker(*y, *x) ? -1 : 0;
}

/* Restores the heap order (the weakest at the root) below `at`. */
static void sift_down(struct qn_token_candidate *heap, size_t n, size_t at)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= n)
            return;
        if (child + 1 < n && weaker(heap[child + 1], heap[child]))
            child++;
        if (!weaker(heap[child], heap[at]))
            return;
        struct qn_token_candidate t = heap[at];
        heap[at] = heap[child];
        heap[child] = t;
        at = child;
    }
}

size_t qn_top_logits(const float *logits, int32_t vocab, size_t k, struct qn_token_candidate *out)
{
    size_t n = 0;
    int32_t i = 0;
    for (; i < vocab && n < k; i++)
        if (isfinite(logits[i]))
            out[n++] = (struct qn_token_candidate){i, logits[i]};
    if (n == 0)
        return 0;
    if (i < vocab) {
        for (size_t at = n / 2; at-- > 0;)
            sift_down(out, n, at);
        for (; i < vocab; i++) {
            /* Ids ascend, so a token with an equal logit ranks below the candidates in the heap. */
            if (logits[i] > out[0].logit && isfinite(logits[i])) {
                out[0] = (struct qn_token_candidate){i, logits[i]};
                sift_down(out, n, 0);
            }
        }
    }
    qsort(out, n, sizeof *out, by_strength);
    return n;
}

static int32_t argmax(const float *logits, int32_t vocab)
{
    int32_t best = -1;
    float most = -INFINITY;
    for (int32_t i = 0; i < vocab; i++) {
        if (logits[i] > most && isfinite(logits[i])) {
            best = i;
            most = logits[i];
        }
    }
    return best;
}

double qn_log_sum_exp(const float *logits, int32_t vocab)
{
    int32_t best = argmax(logits, vocab);
    if (best < 0)
        return 0;
    float max = logits[best];
    double sum = 0;
    for (int32_t i = 0; i < vocab; i++)
        if (isfinite(logits[i]))
            sum += (double)expf(logits[i] - max);
    return (double)max + log(sum);
}

void qn_stage_bias(float *logits, const struct qn_biases *bias)
{
    for (size_t i = 0; i < bias->n; i++)
        logits[bias->v[i].token] += (float)bias->v[i].bias;
}

static int by_id(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* A token that occurred c times loses c * frequency + presence; before that its logit is divided by
 * the repeat penalty (multiplied if negative, so that the logit always decreases). Source: CTRL,
 * arXiv:1909.05858, section 4.1, and the OpenAI API reference for the other two. */
void qn_stage_penalties(float *logits, const struct qn_sampler_params *p, const int32_t *history,
                        size_t n, struct qn_sampler_work *w)
{
    if (p->repeat_penalty == 1 && p->presence_penalty == 0 && p->frequency_penalty == 0)
        return;
    size_t window = n;
    if (p->repeat_last_n >= 0 && (uint64_t)p->repeat_last_n < n)
        window = (size_t)p->repeat_last_n;
    if (window > w->window_max)
        window = w->window_max;
    if (window == 0)
        return;
    memcpy(w->window, history + (n - window), window * sizeof *history);
    qsort(w->window, window, sizeof *w->window, by_id);
    for (size_t i = 0; i < window;) {
        size_t end = i;
        while (end < window && w->window[end] == w->window[i])
            end++;
        float *l = &logits[w->window[i]];
        *l = *l > 0 ? *l / (float)p->repeat_penalty : *l * (float)p->repeat_penalty;
        *l -= (float)((double)(end - i) * p->frequency_penalty + p->presence_penalty);
        i = end;
    }
}

size_t qn_stage_top_p(const struct qn_token_candidate *c, size_t n, double p)
{
    if (p >= 1 || n <= 1)
        return n;
    double total = 0, seen = 0;
    for (size_t i = 0; i < n; i++)
        total += exp((double)c[i].logit - (double)c[0].logit);
    for (size_t i = 0; i < n; i++) {
        seen += exp((double)c[i].logit - (double)c[0].logit);
        if (seen >= p * total)
            return i + 1;
    }
    return n;
}

size_t qn_stage_min_p(const struct qn_token_candidate *c, size_t n, double p)
{
    if (p <= 0 || n <= 1)
        return n;
    double cut = (double)c[0].logit + log(p);
    size_t keep = 1;
    while (keep < n && (double)c[keep].logit >= cut)
        keep++;
    return keep;
}

int32_t qn_stage_draw(const struct qn_token_candidate *c, size_t n, double temperature, double r)
{
    assert(n > 0 && temperature > 0);
    float max = c[0].logit;
    for (size_t i = 1; i < n; i++)
        if (c[i].logit > max)
            max = c[i].logit;
    double total = 0;
    for (size_t i = 0; i < n; i++)
        total += exp(((double)c[i].logit - (double)max) / temperature);
    double left = r * total;
    for (size_t i = 0; i < n; i++) {
        left -= exp(((double)c[i].logit - (double)max) / temperature);
        if (left < 0)
            return c[i].id;
    }
    /* Rounding may leave the sum slightly below r; the likeliest candidate is taken then. */
    for (size_t i = 0; i < n; i++)
        if (c[i].logit == max)
            return c[i].id;
    return c[0].id;
}

/* Collects all finite logits not below cut, in the order of the vocabulary. */
static size_t collect(const float *logits, int32_t vocab, double cut,
                      struct qn_token_candidate *out)
{
    size_t n = 0;
    for (int32_t i = 0; i < vocab; i++)
        if (isfinite(logits[i]) && (double)logits[i] >= cut)
            out[n++] = (struct qn_token_candidate){i, logits[i]};
    return n;
}

/* top_p over the whole vocabulary without sorting it: only logits near the largest can be within
 * top_p, so increasingly wide bands below the largest are tried until one holds enough probability.
 */
static size_t whole_top_p(const float *logits, int32_t vocab, double p, double max,
                          struct qn_token_candidate *out)
{
    double total = exp(qn_log_sum_exp(logits, vocab) - max);
    for (double band = 4;; band *= 2) {
        size_t n = collect(logits, vocab, max - band, out);
        double held = 0;
        for (size_t i = 0; i < n; i++)
            held += exp((double)out[i].logit - max);
        bool enough = held >= p * total;
        if (!enough && band < 128)
            continue;
        qsort(out, n, sizeof *out, by_strength);
        double seen = 0;
        for (size_t i = 0; i < n; i++) {
            seen += exp((double)out[i].logit - max);
            if (seen >= p * total)
                return i + 1;
        }
        return n;
    }
}

int32_t qn_sampler_pick(struct qn_sampler *s, struct qn_sampler_work *w, float *logits,
                        const int32_t *history, size_t n)
{
    const struct qn_sampler_params *p = &s->p;
    qn_stage_bias(logits, &p->bias);
    qn_stage_penalties(logits, p, history, n, w);
    if (p->temperature <= 0)
        return argmax(logits, w->vocab);

    struct qn_token_candidate *c = w->cands;
    size_t kept;
    if (p->top_k > 0 && p->top_k < w->vocab) {
        kept = qn_top_logits(logits, w->vocab, (size_t)p->top_k, c);
        kept = qn_stage_top_p(c, kept, p->top_p);
        kept = qn_stage_min_p(c, kept, p->min_p);
    } else {
        int32_t best = argmax(logits, w->vocab);
        if (best < 0)
            return -1;
        double max = (double)logits[best];
        if (p->top_p < 1) {
            kept = whole_top_p(logits, w->vocab, p->top_p, max, c);
            kept = qn_stage_min_p(c, kept, p->min_p);
        } else {
            /* min_p alone needs no sorting: one pass collects the tokens that pass it. */
            kept = collect(logits, w->vocab, p->min_p > 0 ? max + log(p->min_p) : -INFINITY, c);
        }
    }
    return kept > 0 ? qn_stage_draw(c, kept, p->temperature, qn_rng_f64(&s->rng)) : -1;
}
