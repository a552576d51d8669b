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

/* n rows of halves, `wide` floats apart, filled up with zeros; rows up to a whole QUAD are zeros
 * too. Meanwhile the rows at `next` that will be wanted afterwards are asked for (they need not
 * exist): the arithmetic between would leave the memory idle, and then wait for it. */
static void widen_rows(float *to, const uint16_t *from, int64_t step, int n, int dim, int wide,
                       uintptr_t next, int64_t next_step)
{
    int whole = (n + QUAD - 1) / QUAD * QUAD, full = dim / WIDTH * WIDTH;
    for (int j = 0; j < n; j++) {
        for (int c = 0; c < dim; c += 32)
            __builtin_prefetch((const void *)(next + 2 * (uintptr_t)(j * next_step + c)));
        for (int c = 0; c < full; c += WIDTH)
            vec_store(to + j * wide + c, vec_from_halves(from + j * step + c));
        for (int c = full; c < wide; c++)
            to[j * wide + c] = c < dim ? qn_f16_to_f32(from[j * step + c]) : 0;
    }
    memset(to + n * wide, 0, sizeof *to * (size_t)((whole - n) * wide));
}

/* One query's scores of a block become weights relative to its highest score so far; the sums kept
 * for the blocks before are brought to the same. n of the nk keys count; s has room for whole
 * vectors. */
static void soften(float *s, int n, int nk, float *top, float *sum, float *acc, int wide)
{
    if (n > 0) {
        int end = (n + WIDTH - 1) / WIDTH * WIDTH;
        for (int j = n; j < end; j++)
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
    }
    for (int j = n > 0 ? n : 0; j < nk; j++)
        s[j] = 0;
}

static void attend(const struct cpu_attend *a)
{
    const int d = a->head_dim, wide = (d + WIDTH - 1) / WIDTH * WIDTH, nq = a->n * a->group;
    float *kv = a->work, *q = kv + CPU_ATTEND_KEYS * wide, *acc = q + CPU_ATTEND_QUERIES * wide;
    float *p = acc + CPU_ATTEND_QUERIES * wide;
    float *top = p + CPU_ATTEND_QUERIES * CPU_ATTEND_KEYS, *sum = top + CPU_ATTEND_QUERIES;
    int64_t keys = a->first + a->n - 1;
    for (int i = 0; i < nq; i++) {
        const float *from = a->q + i / a->group * a->q_row + i % a->group * a->q_head;
        for (int c = 0; c < wide; c++) {
            q[i * wide + c] = c < d ? from[c] * a->scale : 0;
            acc[i * wide + c] = 0;
        }
        top[i] = -INFINITY;
        sum[i] = 0;
    }
    for (int64_t k0 = 0; k0 < keys; k0 += CPU_ATTEND_KEYS) {
        int nk = keys - k0 < CPU_ATTEND_KEYS ? (int)(keys - k0) : CPU_ATTEND_KEYS;
        const uint16_t *v = a->v + k0 * a->v_row;
        widen_rows(kv, a->k + k0 * a->k_row, a->k_row, nk, d, wide, (uintptr_t)v, a->v_row);
        score(nq, p, q, kv, nk, wide);
        for (int i = 0; i < nq; i++) {
            int64_t sees = a->first + i / a->group - k0; /* causal: later keys do not count */
            soften(p + i * CPU_ATTEND_KEYS, sees < nk ? (int)sees : nk, nk, &top[i], &sum[i],
                   acc + i * wide, wide);
        }
        widen_rows(kv, v, a->v_row, nk, d, wide,
                   (uintptr_t)a->k + 2 * (uintptr_t)((k0 + nk) * a->k_row), a->k_row);
        weigh_all(nq, acc, p, kv, nk, wide);
    }
    for (int i = 0; i < nq; i++) {
        float *out = a->out + i / a->group * a->out_row + i % a->group * a->out_head,
              f = 1 / sum[i];
        for (int c = 0; c < d; c++)
            out[c] = acc[i * wide + c] * f;
    }
}

#endif
