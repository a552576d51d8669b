/* Attention of a few queries over one cache head, in vectors of the width that the including file
 * is compiled for. Each dot_<isa>.c includes this once.
 *
 * Online softmax (Milakov, Gimelshein, arXiv:1805.02867), page by page: QUAD keys are multiplied by
 * up to QUERIES queries at a time, so that every loaded vector is used several times; then the
 * page's values likewise, along their rows. Few queries read the cache in its own format; for more
 * queries a page is widened to f32 once. While one page is processed, the next is prefetched, a
 * line at a time between the products: the processor drops prefetches that exceed its buffers, so a
 * row prefetched at once arrives only in part (a quarter slower here), and 8 KiB ahead is just far
 * enough. A query's reference exponent is raised, and its sums rescaled, only if a score exceeds
 * the reference by HEADROOM: instead of waiting for the maximum of each page's scores there is a
 * branch that is hardly ever taken.
 *
 * Each split of CPU_ATTEND_SPLIT keys has separate sums, which are then combined in order, whether
 * one thread computed them or several: the result is bit-identical. */
#ifndef QN_ENGINE_CPU_ATTEND_H
#define QN_ENGINE_CPU_ATTEND_H

#include "engine/cpu/cache_rows.h"

/* Numbers of queries, keys and vectors of columns processed at once, limited by the processor's
 * registers. */
#if defined(__AVX512F__)
enum { QUERIES = 4, QUAD = 4, OCTET = 8 };
#else
enum { QUERIES = 2, QUAD = 4, OCTET = 4 };
#endif

/* out[0..3] = the sums of a, b, c and d. */
static inline void vec_sums(float *out, vec a, vec b, vec c, vec d)
{
#if defined(__AVX512F__)
    __m512 ab = _mm512_add_ps(_mm512_unpacklo_ps((__m512)a, (__m512)b),
                              _mm512_unpackhi_ps((__m512)a, (__m512)b));
    __m512 cd = _mm512_add_ps(_mm512_unpacklo_ps((__m512)c, (__m512)d),
                              _mm512_unpackhi_ps((__m512)c, (__m512)d));
    __m512 abcd = _mm512_add_ps(_mm512_shuffle_ps(ab, cd, 0x44), _mm512_shuffle_ps(ab, cd, 0xee));
    __m256 half = _mm256_add_ps(_mm512_castps512_ps256(abcd), _mm512_extractf32x8_ps(abcd, 1));
    _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)));
#elif defined(__AVX2__)
    __m256 abcd =
        _mm256_hadd_ps(_mm256_hadd_ps((__m256)a, (__m256)b), _mm256_hadd_ps((__m256)c, (__m256)d));
    _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(abcd), _mm256_extractf128_ps(abcd, 1)));
#else
    for (int i = 0; i < WIDTH; i++) {
        out[0] = i ? out[0] + a[i] : a[i];
        out[1] = i ? out[1] + b[i] : b[i];
        out[2] = i ? out[2] + c[i] : c[i];
        out[3] = i ? out[3] + d[i] : d[i];
    }
#endif
}

/* Weights may grow to e^HEADROOM before the reference is raised. */
static const float HEADROOM = 8;

/* Whether any lane of a mask is set. */
static inline bool vec_any(ivec mask)
{
#if defined(__AVX512F__)
    return _mm512_movepi32_mask((__m512i)mask) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_ps((__m256)mask) != 0;
#else
    int32_t any = 0;
    for (int i = 0; i < WIDTH; i++)
        any |= mask[i];
    return any != 0;
#endif
}

/* Rows in the cache's format, or widened; `ask`: as many rows to prefetch, which are read after
 * these, or NULL. */
struct attend_rows {
    const char *at, *ask;
    size_t step;
};

/* Bytes of keys or values in a page from which prefetching the immediately following data is far
 * enough ahead. */
enum { NEAR_BYTES = 8192 };

/* Bytes of n elements of a cached row. */
static inline int cached_bytes(enum qn_dtype type, int n)
{
    const int of_32 = type == QN_F32 ? 128 : type == QN_Q8_0 ? 34 : type == QN_Q4_0 ? 18 : 64;
    return n * of_32 / 32;
}

static inline void ask_row(const struct attend_rows *r, int j)
{
    if (r->ask)
        for (size_t c = 0; c < r->step; c += 64)
            __builtin_prefetch(r->ask + (size_t)j * r->step + c);
}

/* s[i][0..3] = q[i] · k[0..3] for nq queries of `wide` floats. */
static inline __attribute__((always_inline)) void score_quad(enum qn_dtype type, const int nq,
                                                             float *s, const float *q, int wide,
                                                             const char *k, const char *ask,
                                                             size_t step)
{
    vec sum[QUERIES][QUAD] = {{{0}}};
    for (int c = 0; c < wide; c += WIDTH) {
        vec kv[QUAD];
        for (int j = 0; j < QUAD; j++)
            kv[j] = cached(type, k + (size_t)j * step, c);
        for (int b = 0; ask && b + 32 < cached_bytes(type, QUAD * WIDTH); b += 64)
            __builtin_prefetch(ask + cached_bytes(type, QUAD * c) + b);
        for (int i = 0; i < nq; i++) {
            vec qv = vec_load(q + i * wide + c);
            for (int j = 0; j < QUAD; j++)
                sum[i][j] += qv * kv[j];
        }
    }
    for (int i = 0; i < nq; i++)
        vec_sums(s + i * CPU_ATTEND_KEYS, sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

/* Scores [nq][CPU_ATTEND_KEYS] of nq queries; rows beyond the last key are read, too. */
static inline __attribute__((always_inline)) void score(enum qn_dtype type, int nq, float *s,
                                                        const float *q, int wide,
                                                        const struct attend_rows *k, int keys)
{
    for (int j = 0; j < keys; j += QUAD) {
        const char *row = k->at + (size_t)j * k->step;
        const char *ask = k->ask ? k->ask + (size_t)j * k->step : NULL;
        for (int i = 0, m; i < nq; i += m, ask = NULL) {
            float *to = s + i * CPU_ATTEND_KEYS + j;
            m = nq - i >= QUERIES ? QUERIES : nq - i >= 2 ? 2 : 1;
            if (m == QUERIES)
                score_quad(type, QUERIES, to, q + i * wide, wide, row, ask, k->step);
            else if (m == 2)
                score_quad(type, 2, to, q + i * wide, wide, row, ask, k->step);
            else
                score_quad(type, 1, to, q + i * wide, wide, row, ask, k->step);
        }
    }
}

/* acc[i] += sum over j of p[i][j] · v[j] for nq queries and the n vectors of each row from c on. */
static inline __attribute__((always_inline)) void
weigh_part(enum qn_dtype type, const int nq, const int n, float *acc, const float *p, int wide,
           const struct attend_rows *v, int c, int keys, const char *ask)
{
    const int bytes = cached_bytes(type, WIDTH), each = bytes > 64 ? 1 : 64 / bytes;
    vec sum[QUERIES][OCTET];
    for (int i = 0; i < nq; i++)
        for (int d = 0; d < n; d++)
            sum[i][d] = vec_load(acc + i * wide + c + d * WIDTH);
    for (int j = 0; j < keys; j++) {
        const size_t skip = (size_t)j * v->step;
        float w[QUERIES];
        for (int i = 0; i < nq; i++)
            w[i] = p[i * CPU_ATTEND_KEYS + j];
        for (int d = 0; d < n; d++) {
            vec part = cached(type, v->at + skip, c + d * WIDTH);
            if (ask && d % each == 0)
                __builtin_prefetch(ask + skip + cached_bytes(type, c + d * WIDTH));
            for (int i = 0; i < nq; i++)
                sum[i][d] += w[i] * part;
        }
    }
    for (int i = 0; i < nq; i++)
        for (int d = 0; d < n; d++)
            vec_store(acc + i * wide + c + d * WIDTH, sum[i][d]);
}

static inline __attribute__((always_inline)) void
weigh_columns(enum qn_dtype type, const int n, int nq, float *acc, const float *p, int wide,
              const struct attend_rows *v, int c, int keys)
{
    const char *ask = v->ask;
    for (int i = 0, m; i < nq; i += m, ask = NULL) {
        float *a = acc + i * wide;
        const float *w = p + i * CPU_ATTEND_KEYS;
        m = n == OCTET ? 2 : QUERIES;
        m = nq - i >= m ? m : nq - i >= 2 ? 2 : 1;
        if (m == 4)
            weigh_part(type, QUERIES, n, a, w, wide, v, c, keys, ask);
        else if (m == 2)
            weigh_part(type, 2, n, a, w, wide, v, c, keys, ask);
        else
            weigh_part(type, 1, n, a, w, wide, v, c, keys, ask);
    }
}

/* Processes whole rows at a time for up to two queries, half as much for more. */
static inline __attribute__((always_inline)) void weigh(enum qn_dtype type, int nq, float *acc,
                                                        const float *p, int wide,
                                                        const struct attend_rows *v, int keys)
{
    int c = 0;
    for (; OCTET > QUAD && nq <= 2 && c + OCTET * WIDTH <= wide; c += OCTET * WIDTH)
        weigh_columns(type, OCTET, nq, acc, p, wide, v, c, keys);
    for (; c + QUAD * WIDTH <= wide; c += QUAD * WIDTH)
        weigh_columns(type, QUAD, nq, acc, p, wide, v, c, keys);
    for (; c < wide; c += WIDTH)
        weigh_columns(type, 1, nq, acc, p, wide, v, c, keys);
}

/* score() and weigh() specialised for each type, not inlined. */
#define ATTEND_TYPED(name, type)                                                                   \
    static __attribute__((noinline)) void score_##name(int nq, float *s, const float *q, int wide, \
                                                       const struct attend_rows *k, int keys)      \
    {                                                                                              \
        score(type, nq, s, q, wide, k, keys);                                                      \
    }                                                                                              \
    static __attribute__((noinline)) void weigh_##name(                                            \
        int nq, float *acc, const float *p, int wide, const struct attend_rows *v, int keys)       \
    {                                                                                              \
        weigh(type, nq, acc, p, wide, v, keys);                                                    \
    }
ATTEND_TYPED(f32, QN_F32)
ATTEND_TYPED(f16, QN_F16)
ATTEND_TYPED(bf16, QN_BF16)
ATTEND_TYPED(q8_0, QN_Q8_0)
ATTEND_TYPED(q4_0, QN_Q4_0)

typedef void (*attend_product)(int nq, float *out, const float *in, int wide,
                               const struct attend_rows *rows, int keys);

static attend_product score_of(enum qn_dtype type)
{
    return type == QN_F16    ? score_f16
           : type == QN_F32  ? score_f32
           : type == QN_BF16 ? score_bf16
           : type == QN_Q8_0 ? score_q8_0
                             : score_q4_0;
}

static attend_product weigh_of(enum qn_dtype type)
{
    return type == QN_F16    ? weigh_f16
           : type == QN_F32  ? weigh_f32
           : type == QN_BF16 ? weigh_bf16
           : type == QN_Q8_0 ? weigh_q8_0
                             : weigh_q4_0;
}

/* Widens n rows of any type to rows of `wide` floats at `to`, padded with zeros; rows up to a
 * multiple of QUAD are zeros too. */
static struct attend_rows widened(float *to, const struct attend_rows *from, enum qn_dtype type,
                                  int n, int dim, int wide)
{
    int whole = (n + QUAD - 1) / QUAD * QUAD;
    for (int j = 0; j < n; j++) {
        ask_row(from, j);
        widen_row(type, to + j * wide, from->at + (size_t)j * from->step, dim);
        if (dim < wide)
            memset(to + j * wide + dim, 0, sizeof *to * (size_t)(wide - dim));
    }
    memset(to + n * wide, 0, sizeof *to * (size_t)((whole - n) * wide));
    return (struct attend_rows){(const char *)to, NULL, sizeof *to * (size_t)wide};
}

/* score = cap·tanh(score / cap) */
static void cap_scores(float *s, int n, float cap)
{
    for (int j = 0; j < n; j += WIDTH) {
        vec e = vec_exp(vec_load(s + j) * (2 / cap));
        vec_store(s + j, cap - 2 * cap / (e + 1));
    }
}

/* The running sums of a query: sum [WIDTH] of weights relative to e^top, and acc [wide] of values.
 */
struct attend_sum {
    float *top, *sum, *acc;
};

/* Raises the reference to the highest of n scores, n a multiple of WIDTH. */
static __attribute__((noinline)) void raise_top(const struct attend_sum *q, const float *s, int n,
                                                int wide)
{
    vec high = vec_load(s);
    for (int j = WIDTH; j < n; j += WIDTH) {
        vec v = vec_load(s + j);
        high = vec_choose(v > high, v, high);
    }
    float top = vec_highest(high), f = lanes_exp(*q->top - top);
    *q->top = top;
    vec_store(q->sum, vec_load(q->sum) * f);
    for (int c = 0; c < wide; c += WIDTH)
        vec_store(q->acc + c, vec_load(q->acc + c) * f);
}

/* Converts one query's scores of a page to weights relative to its reference. Of the nk keys only
 * those in [from, to) count; s has room for whole vectors. */
static void soften(float *s, int from, int to, int nk, const struct attend_sum *q, int wide)
{
    if (from < to) {
        const int end = (to + WIDTH - 1) / WIDTH * WIDTH;
        for (int j = 0; j < from; j++)
            s[j] = -INFINITY;
        for (int j = to; j < end; j++)
            s[j] = -INFINITY;
        ivec above = {0};
        for (int j = 0; j < end; j += WIDTH)
            above |= vec_load(s + j) > *q->top + HEADROOM;
        if (vec_any(above))
            raise_top(q, s, end, wide);
        vec total = vec_load(q->sum);
        for (int j = 0; j < end; j += WIDTH) {
            /* of -inf: negligible, but not exactly 0 */
            vec e = vec_exp(vec_load(s + j) - *q->top);
            vec_store(s + j, e);
            total += e;
        }
        vec_store(q->sum, total);
    } else {
        to = 0;
    }
    for (int j = to; j < nk; j++)
        s[j] = 0;
}

/* The sums of some queries over some keys. */
struct attend_sums {
    float *acc;       /* [nq][vd] */
    float *top, *sum; /* [nq] */
};

/* The working memory of one call. */
struct attend_work {
    const struct cpu_attend *a;
    int nq, kd, vd; /* number of queries; widths, padded to whole vectors */
    float *q;       /* [nq][kd] */
    float *rows;    /* CPU_ATTEND_KEYS rows, widened */
    float *p;       /* [nq][CPU_ATTEND_KEYS] */
    float *total;   /* [nq][WIDTH] sums of weights */
};

static struct attend_sums sums_at(float *at, int nq, int vd)
{
    return (struct attend_sums){at, at + nq * vd, at + nq * vd + nq};
}

static void clear_sums(const struct attend_sums *s, int nq, int vd)
{
    memset(s->acc, 0, sizeof *s->acc * (size_t)(nq * vd));
    for (int i = 0; i < nq; i++) {
        s->top[i] = -INFINITY;
        s->sum[i] = 0;
    }
}

/* The rows of one page, and what to prefetch with them: the data read next if that is far enough
 * ahead, else the same rows of the next page. */
static void rows_of_page(const struct cpu_attend *a, int64_t page, bool last, struct attend_rows *k,
                         struct attend_rows *v)
{
    const size_t at = (size_t)a->pages[page] * a->page_bytes;
    *k = (struct attend_rows){a->k + at, NULL, a->k_row};
    *v = (struct attend_rows){a->v + at, NULL, a->v_row};
    const bool near = a->k != a->v && a->k_row * QN_KV_PAGE >= NEAR_BYTES;
    if (near)
        k->ask = v->at;
    if (last)
        return;
    const size_t next = (size_t)a->pages[page + 1] * a->page_bytes;
    if (!near)
        k->ask = a->k + next;
    if (a->k != a->v)
        v->ask = (near ? a->k : a->v) + next;
}

/* Computes the sums over the keys [begin, end); begin is at the start of a page. */
static void attend_range(const struct attend_work *w, const struct attend_sums *sums, int64_t begin,
                         int64_t end)
{
    const struct cpu_attend *a = w->a;
    const bool widen_k = w->nq > 2 * QUERIES || a->k_dim != w->kd;
    const bool widen_v = w->nq > 2 * QUERIES || a->v_dim != w->vd;
    const attend_product score_page = score_of(widen_k ? QN_F32 : a->k_type);
    const attend_product weigh_page = weigh_of(widen_v ? QN_F32 : a->v_type);
    clear_sums(sums, w->nq, w->vd);
    memset(w->total, 0, sizeof *w->total * (size_t)(w->nq * WIDTH));
    for (int64_t k0 = begin; k0 < end; k0 += QN_KV_PAGE) {
        int nk = end - k0 < CPU_ATTEND_KEYS ? (int)(end - k0) : CPU_ATTEND_KEYS;
        struct attend_rows k, v;
        rows_of_page(a, k0 / QN_KV_PAGE, k0 + QN_KV_PAGE >= a->first + a->n - 1, &k, &v);
        if (widen_k)
            k = widened(w->rows, &k, a->k_type, nk, a->k_dim, w->kd);
        score_page(w->nq, w->p, w->q, w->kd, &k, nk);
        for (int i = 0; i < w->nq; i++) {
            int64_t pos = a->first - 1 + i / a->group, from = cpu_first_key(a, pos) - k0;
            int64_t to = pos + 1 - k0; /* causal: later keys are ignored */
            float *p = w->p + i * CPU_ATTEND_KEYS;
            struct attend_sum q = {&sums->top[i], w->total + i * WIDTH, sums->acc + i * w->vd};
            if (a->softcap != 0)
                cap_scores(p, nk, a->softcap);
            from = from < 0 ? 0 : from > nk ? nk : from;
            soften(p, (int)from, to < nk ? (int)to : nk, nk, &q, w->vd);
        }
        if (widen_v)
            v = widened(w->rows, &v, a->v_type, nk, a->v_dim, w->vd);
        weigh_page(w->nq, sums->acc, w->p, w->vd, &v, nk);
    }
    for (int i = 0; i < w->nq; i++)
        sums->sum[i] = vec_sum(vec_load(w->total + i * WIDTH));
}

/* all += part */
static void join_sums(const struct attend_sums *all, const struct attend_sums *part, int nq, int vd)
{
    for (int i = 0; i < nq; i++) {
        float top = part->top[i] > all->top[i] ? part->top[i] : all->top[i];
        float f = lanes_exp(all->top[i] - top), g = lanes_exp(part->top[i] - top);
        if (part->top[i] == -INFINITY)
            continue; /* the row attends to none of these keys */
        for (int c = i * vd; c < i * vd + vd; c += WIDTH)
            vec_store(all->acc + c, vec_load(all->acc + c) * f + vec_load(part->acc + c) * g);
        all->sum[i] = all->sum[i] * f + part->sum[i] * g;
        all->top[i] = top;
    }
}

static void give_results(const struct attend_work *w, const struct attend_sums *sums)
{
    const struct cpu_attend *a = w->a;
    for (int i = 0; i < w->nq; i++) {
        float *out = a->out + i / a->group * a->out_row + i % a->group * a->out_head, f = 1;
        float sum = sums->sum[i], top = sums->top[i];
        if (a->sinks) {
            float sink = a->sinks[i % a->group], high = sink > top ? sink : top;
            f = lanes_exp(top - high);
            sum = sum * f + lanes_exp(sink - high);
        }
        f /= sum;
        for (int c = 0; c < a->v_dim; c++)
            out[c] = sums->acc[i * w->vd + c] * f;
    }
}

static struct attend_work work_of(const struct cpu_attend *a)
{
    struct attend_work w = {.a = a, .nq = a->n * a->group};
    w.kd = (a->k_dim + WIDTH - 1) / WIDTH * WIDTH;
    w.vd = (a->v_dim + WIDTH - 1) / WIDTH * WIDTH;
    w.q = a->work;
    w.rows = w.q + w.nq * w.kd;
    w.p = w.rows + CPU_ATTEND_KEYS * (w.kd > w.vd ? w.kd : w.vd);
    w.total = w.p + w.nq * CPU_ATTEND_KEYS;
    for (int i = 0; i < w.nq; i++) {
        const float *from = a->q + i / a->group * a->q_row + i % a->group * a->q_head;
        for (int c = 0; c < w.kd; c++)
            w.q[i * w.kd + c] = c < a->k_dim ? from[c] * a->scale : 0;
    }
    return w;
}

static void attend(const struct cpu_attend *a)
{
    const struct attend_work w = work_of(a);
    float *at = w.total + w.nq * WIDTH;
    struct attend_sums all = sums_at(at, w.nq, w.vd);
    struct attend_sums part = sums_at(at + w.nq * (w.vd + 2), w.nq, w.vd);
    int64_t keys = a->first + a->n - 1;
    int64_t begin = cpu_first_key(a, a->first - 1) / QN_KV_PAGE * QN_KV_PAGE, end;
    clear_sums(&all, w.nq, w.vd);
    for (; begin < keys; begin = end) {
        end = (begin / CPU_ATTEND_SPLIT + 1) * CPU_ATTEND_SPLIT;
        end = end < keys ? end : keys;
        attend_range(&w, &part, begin, end);
        join_sums(&all, &part, w.nq, w.vd);
    }
    give_results(&w, &all);
}

/* Computes one split only, and stores its sums in a->part. */
static void attend_part(const struct cpu_attend *a, int64_t split)
{
    const struct attend_work w = work_of(a);
    const struct attend_sums part = sums_at(a->part, w.nq, w.vd);
    int64_t keys = a->first + a->n - 1, end = (split + 1) * CPU_ATTEND_SPLIT;
    int64_t begin = cpu_first_key(a, a->first - 1) / QN_KV_PAGE * QN_KV_PAGE;
    begin = begin > split * CPU_ATTEND_SPLIT ? begin : split * CPU_ATTEND_SPLIT;
    attend_range(&w, &part, begin, end < keys ? end : keys);
}

/* Combines the sums of n splits, from a->part on, into the result. */
static void attend_join(const struct cpu_attend *a, int64_t n)
{
    const struct attend_work w = work_of(a);
    struct attend_sums all = sums_at(w.p, w.nq, w.vd);
    clear_sums(&all, w.nq, w.vd);
    for (int64_t i = 0; i < n; i++) {
        struct attend_sums part = sums_at(a->part + i * a->part_step, w.nq, w.vd);
        join_sums(&all, &part, w.nq, w.vd);
    }
    give_results(&w, &all);
}

#endif
