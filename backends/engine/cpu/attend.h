/* Attention of a few queries over one cache head, in vectors of the width the including file is
 * compiled for. Each dot_<isa>.c includes this once.
 *
 * Online softmax (Milakov, Gimelshein, arXiv:1805.02867) in blocks of keys. A block of K is widened
 * to f32 once for all queries; QUAD keys meet up to QUERIES queries at a time, so that every vector
 * loaded is used several times. Then a block of V likewise, along its rows. */
#ifndef QN_ENGINE_CPU_ATTEND_H
#define QN_ENGINE_CPU_ATTEND_H

#include "engine/cpu/lanes.h"

/* Queries at once: as many as the processor has registers for. */
#if defined(__AVX512F__)
enum { QUERIES = 4 };
#else
enum { QUERIES = 2 };
#endif
enum { QUAD = 4 };

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

/* s[i][0..3] = q[i] · k[0..3] for nq queries; rows are `wide` floats. */
static inline __attribute__((always_inline)) void score_quad(const int nq, float *s, const float *q,
                                                             const float *k, int wide)
{
    vec sum[QUERIES][QUAD] = {{{0}}};
    for (int c = 0; c < wide; c += WIDTH) {
        vec kv[QUAD];
        for (int j = 0; j < QUAD; j++)
            kv[j] = vec_load(k + j * wide + c);
        for (int i = 0; i < nq; i++) {
            vec qv = vec_load(q + i * wide + c);
            for (int j = 0; j < QUAD; j++)
                sum[i][j] += qv * kv[j];
        }
    }
    for (int i = 0; i < nq; i++)
        vec_sums(s + i * CPU_ATTEND_KEYS, sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

/* acc[i] += sum over j of p[i][j] · v[j] for nq queries and the n vectors of each row from v on. */
static inline __attribute__((always_inline)) void
weigh(const int nq, const int n, float *acc, const float *p, const float *v, int keys, int wide)
{
    vec sum[QUERIES][QUAD];
    for (int i = 0; i < nq; i++)
        for (int c = 0; c < n; c++)
            sum[i][c] = vec_load(acc + i * wide + c * WIDTH);
    for (int j = 0; j < keys; j++) {
        vec row[QUAD];
        for (int c = 0; c < n; c++)
            row[c] = vec_load(v + j * wide + c * WIDTH);
        for (int i = 0; i < nq; i++) {
            float w = p[i * CPU_ATTEND_KEYS + j];
            for (int c = 0; c < n; c++)
                sum[i][c] += w * row[c];
        }
    }
    for (int i = 0; i < nq; i++)
        for (int c = 0; c < n; c++)
            vec_store(acc + i * wide + c * WIDTH, sum[i][c]);
}

static void score(int nq, float *s, const float *q, const float *k, int keys, int wide)
{
    int i = 0;
    for (; i + QUERIES <= nq; i += QUERIES)
        for (int j = 0; j < keys; j += QUAD)
            score_quad(QUERIES, s + i * CPU_ATTEND_KEYS + j, q + i * wide, k + j * wide, wide);
    for (; i + 2 <= nq; i += 2)
        for (int j = 0; j < keys; j += QUAD)
            score_quad(2, s + i * CPU_ATTEND_KEYS + j, q + i * wide, k + j * wide, wide);
    for (; i < nq; i++)
        for (int j = 0; j < keys; j += QUAD)
            score_quad(1, s + i * CPU_ATTEND_KEYS + j, q + i * wide, k + j * wide, wide);
}

static void weigh_all(int nq, float *acc, const float *p, const float *v, int keys, int wide)
{
    for (int i = 0, n; i < nq; i += n) {
        const float *pi = p + i * CPU_ATTEND_KEYS;
        n = nq - i >= QUERIES ? QUERIES : nq - i >= 2 ? 2 : 1;
        int c = 0;
        for (; c + QUAD * WIDTH <= wide; c += QUAD * WIDTH) {
            if (n == QUERIES)
                weigh(QUERIES, QUAD, acc + i * wide + c, pi, v + c, keys, wide);
            else if (n == 2)
                weigh(2, QUAD, acc + i * wide + c, pi, v + c, keys, wide);
            else
                weigh(1, QUAD, acc + i * wide + c, pi, v + c, keys, wide);
        }
        for (; c < wide; c += WIDTH) {
            if (n == QUERIES)
                weigh(QUERIES, 1, acc + i * wide + c, pi, v + c, keys, wide);
            else if (n == 2)
                weigh(2, 1, acc + i * wide + c, pi, v + c, keys, wide);
            else
                weigh(1, 1, acc + i * wide + c, pi, v + c, keys, wide);
        }
    }
}

static inline vec vec_from_halves(const uint16_t *p)
{
#if defined(__AVX512F__)
    return (vec)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
#elif defined(__AVX2__)
    return (vec)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
#else
    vec v;
    for (int i = 0; i < WIDTH; i++)
        v[i] = qn_f16_to_f32(p[i]);
    return v;
#endif
}

/* n rows of any type of cache to rows of `wide` floats, filled up with zeros; rows up to a whole
 * QUAD are zeros too. Meanwhile the page at `next` that will be wanted afterwards is asked for (it
 * need not exist): the arithmetic between would leave the memory idle, and then wait for it. */
static void widen_rows(float *to, const char *from, enum qn_dtype type, size_t step, int n, int dim,
                       int wide, uintptr_t next, size_t next_step)
{
    int whole = (n + QUAD - 1) / QUAD * QUAD, full = dim / WIDTH * WIDTH;
    for (int j = 0; j < n; j++) {
        const char *row = from + (size_t)j * step;
        float *y = to + j * wide;
        for (size_t c = 0; c < next_step; c += 64)
            __builtin_prefetch((const void *)(next + (size_t)j * next_step + c));
        if (type == QN_F16) {
            const uint16_t *halves = (const uint16_t *)(const void *)row;
            for (int c = 0; c < full; c += WIDTH)
                vec_store(y + c, vec_from_halves(halves + c));
            for (int c = full; c < dim; c++)
                y[c] = qn_f16_to_f32(halves[c]);
        } else {
            qn_dtype(type)->dequant(y, row, dim);
        }
        memset(y + dim, 0, sizeof *y * (size_t)(wide - dim));
    }
    memset(to + n * wide, 0, sizeof *to * (size_t)((whole - n) * wide));
}

/* score = cap·tanh(score / cap) */
static void cap_scores(float *s, int n, float cap)
{
    for (int j = 0; j < n; j += WIDTH) {
        vec e = vec_exp(vec_load(s + j) * (2 / cap));
        vec_store(s + j, cap - 2 * cap / (e + 1));
    }
}

/* One query's scores of a block become weights relative to its highest score so far; the sums kept
 * for the blocks before are brought to the same. Of the nk keys those in [from, to) count; s has
 * room for whole vectors. */
static void soften(float *s, int from, int to, int nk, float *top, float *sum, float *acc, int wide)
{
    if (from < to) {
        int end = (to + WIDTH - 1) / WIDTH * WIDTH;
        for (int j = 0; j < from; j++)
            s[j] = -INFINITY;
        for (int j = to; j < end; j++)
            s[j] = -INFINITY;
        vec high = vec_load(s), total = {0};
        for (int j = WIDTH; j < end; j += WIDTH) {
            vec v = vec_load(s + j);
            high = vec_choose(v > high, v, high);
        }
        float f = 1, now = vec_highest(high);
        if (now > *top) {
            f = lanes_exp(*top - now);
            *top = now;
            for (int c = 0; c < wide; c += WIDTH)
                vec_store(acc + c, vec_load(acc + c) * f);
        }
        for (int j = 0; j < end; j += WIDTH) {
            vec e = vec_exp(vec_load(s + j) - *top); /* of -inf: too small to count, not yet 0 */
            vec_store(s + j, e);
            total += e;
        }
        *sum = *sum * f + vec_sum(total);
    } else {
        to = 0;
    }
    for (int j = to; j < nk; j++)
        s[j] = 0;
}

/* The first key that the row at position pos sees. */
static inline int64_t first_key(const struct cpu_attend *a, int64_t pos)
{
    int64_t from = a->window && pos >= a->window ? pos - a->window + 1 : 0;
    int64_t chunk = a->chunk ? pos / a->chunk * a->chunk : 0;
    return from > chunk ? from : chunk;
}

static void attend(const struct cpu_attend *a)
{
    const int kd = (a->k_dim + WIDTH - 1) / WIDTH * WIDTH;
    const int vd = (a->v_dim + WIDTH - 1) / WIDTH * WIDTH, wide = kd > vd ? kd : vd;
    const int nq = a->n * a->group;
    float *kv = a->work, *q = kv + CPU_ATTEND_KEYS * wide, *acc = q + CPU_ATTEND_QUERIES * wide;
    float *p = acc + CPU_ATTEND_QUERIES * wide;
    float *top = p + CPU_ATTEND_QUERIES * CPU_ATTEND_KEYS, *sum = top + CPU_ATTEND_QUERIES;
    int64_t keys = a->first + a->n - 1, start = first_key(a, a->first - 1) / QN_KV_PAGE;
    for (int i = 0; i < nq; i++) {
        const float *from = a->q + i / a->group * a->q_row + i % a->group * a->q_head;
        for (int c = 0; c < kd; c++)
            q[i * kd + c] = c < a->k_dim ? from[c] * a->scale : 0;
        memset(acc + i * vd, 0, sizeof *acc * (size_t)vd);
        top[i] = -INFINITY;
        sum[i] = 0;
    }
    for (int64_t page = start; page * QN_KV_PAGE < keys; page++) {
        int64_t k0 = page * QN_KV_PAGE;
        int nk = keys - k0 < CPU_ATTEND_KEYS ? (int)(keys - k0) : CPU_ATTEND_KEYS;
        size_t at = (size_t)a->pages[page] * a->page_bytes, next = at;
        if (k0 + nk < keys)
            next = (size_t)a->pages[page + 1] * a->page_bytes;
        widen_rows(kv, a->k + at, a->k_type, a->k_row, nk, a->k_dim, kd, (uintptr_t)a->v + at,
                   a->v_row);
        score(nq, p, q, kv, nk, kd);
        for (int i = 0; i < nq; i++) {
            int64_t pos = a->first - 1 + i / a->group, from = first_key(a, pos) - k0;
            int64_t to = pos + 1 - k0; /* causal: later keys do not count */
            if (a->softcap != 0)
                cap_scores(p + i * CPU_ATTEND_KEYS, nk, a->softcap);
            soften(p + i * CPU_ATTEND_KEYS,
                   from < 0    ? 0
                   : from > nk ? nk
                               : (int)from,
                   to < nk ? (int)to : nk, nk, &top[i], &sum[i], acc + i * vd, vd);
        }
        widen_rows(kv, a->v + at, a->v_type, a->v_row, nk, a->v_dim, vd, (uintptr_t)a->k + next,
                   a->k_row);
        weigh_all(nq, acc, p, kv, nk, vd);
    }
    for (int i = 0; i < nq; i++) {
        float *out = a->out + i / a->group * a->out_row + i % a->group * a->out_head, f = 1;
        if (a->sinks) {
            float sink = a->sinks[i % a->group], high = sink > top[i] ? sink : top[i];
            f = lanes_exp(top[i] - high);
            sum[i] = sum[i] * f + lanes_exp(sink - high);
        }
        f /= sum[i];
        for (int c = 0; c < a->v_dim; c++)
            out[c] = acc[i * vd + c] * f;
    }
}

#endif
