/* Inner loops in plain C, written so that a compiler vectorises them for the width that the
 * including file is compiled for: sums are kept in LANES independent lanes, and no iteration
 * depends on its neighbour. Each dot_<isa>.c includes this once; the generic set consists of only
 * these loops. */
#ifndef QN_ENGINE_CPU_LANES_H
#define QN_ENGINE_CPU_LANES_H

#include "engine/cpu/cpu.h"

#include <math.h>
#include <string.h>
#if defined(__F16C__) || defined(__AVX2__)
#include <immintrin.h>
#endif

enum { LANES = 32 };

static inline float lanes_sum(const float v[LANES])
{
    float half[LANES / 2];
    for (int i = 0; i < LANES / 2; i++)
        half[i] = v[i] + v[i + LANES / 2];
    for (int w = LANES / 4; w; w /= 2)
        for (int i = 0; i < w; i++)
            half[i] += half[i + w];
    return half[0];
}

#if defined(__AVX512F__)
enum { WIDTH = 16 };
#elif defined(__AVX2__)
enum { WIDTH = 8 };
#else
enum { WIDTH = 4 };
#endif

typedef float vec __attribute__((vector_size(4 * WIDTH)));
typedef int32_t ivec __attribute__((vector_size(4 * WIDTH)));

static inline vec vec_load(const float *p)
{
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void vec_store(float *p, vec v)
{
    memcpy(p, &v, sizeof v);
}

/* The first n floats at p; the remaining lanes are those of `others`. */
static inline vec vec_load_part(const float *p, int64_t n, vec others)
{
    memcpy(&others, p, (size_t)n * sizeof *p);
    return others;
}

static inline vec vec_choose(ivec mask, vec a, vec b)
{
    return (vec)((mask & (ivec)a) | (~mask & (ivec)b));
}

static inline float vec_sum(vec v)
{
#if defined(__AVX512F__)
    return _mm512_reduce_add_ps((__m512)v);
#else
    float s = 0;
    for (int i = 0; i < WIDTH; i++)
        s += v[i];
    return s;
#endif
}

static inline float vec_highest(vec v)
{
#if defined(__AVX512F__)
    return _mm512_reduce_max_ps((__m512)v);
#else
    float s = v[0];
    for (int i = 1; i < WIDTH; i++)
        s = v[i] > s ? v[i] : s;
    return s;
#endif
}

/* e^x as 2^n · polynomial; relative error below 2e-7 where the result is normal, almost 0 below
 * -87. */
static inline vec vec_exp(vec x)
{
    const float shift = 12582912.0f; /* 1.5·2^23: after adding it, n is in the low bits */
    const vec zero = {0}, lo = zero - 87.3f, hi = zero + 88.3f;
    x = vec_choose(x > lo, x, lo); /* also replaces NaN, which would not fit an integer below */
    x = vec_choose(x < hi, x, hi);
    vec n = x * 1.44269504f + shift;
    vec f = n - shift, r = x - f * 0.693145752f - f * 1.42860677e-6f; /* ln 2 in two parts */
    vec p = r * (1.0f / 5040) + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    return p * (vec)(((ivec)n - 0x4b400000 + 127) << 23);
}

static inline float lanes_exp(float x)
{
    vec v = {x};
    return vec_exp(v)[0];
}

static void lanes_rms_norm(float *y, const float *x, const float *w, int64_t n, float eps)
{
    float acc[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int j = 0; j < LANES; j++)
            acc[j] += x[i + j] * x[i + j];
    float sum = lanes_sum(acc);
    for (; i < n; i++)
        sum += x[i] * x[i];
    float f = 1.0f / sqrtf(sum / (float)n + eps);
    for (i = 0; i < n; i++)
        y[i] = x[i] * f * w[i];
}

static inline vec vec_silu(vec gate)
{
    return gate / (1.0f + vec_exp(-gate));
}

static void lanes_silu_mul(float *y, const float *gate, const float *up, int64_t n)
{
    int64_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH)
        vec_store(y + i, vec_silu(vec_load(gate + i)) * vec_load(up + i));
    vec zero = {0}, last = vec_silu(vec_load_part(gate + i, n - i, zero));
    last *= vec_load_part(up + i, n - i, zero);
    memcpy(y + i, &last, (size_t)(n - i) * sizeof *y);
}

static void lanes_add(float *y, const float *a, const float *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = a[i] + b[i];
}

static inline float lanes_max(const float *x, int64_t n)
{
    float acc[LANES], top;
    for (int j = 0; j < LANES; j++)
        acc[j] = -INFINITY;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int j = 0; j < LANES; j++)
            acc[j] = x[i + j] > acc[j] ? x[i + j] : acc[j];
    top = acc[0];
    for (int j = 1; j < LANES; j++)
        top = acc[j] > top ? acc[j] : top;
    for (; i < n; i++)
        top = x[i] > top ? x[i] : top;
    return top;
}

/* y = e^(x - top); returns the sum. */
static inline float lanes_exp_sum(float *y, const float *x, float top, int64_t n)
{
    vec sum = {0};
    int64_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        vec e = vec_exp(vec_load(x + i) - top);
        vec_store(y + i, e);
        sum += e;
    }
    float total = vec_sum(sum);
    if (i < n) {
        vec zero = {0}, e = vec_exp(vec_load_part(x + i, n - i, zero) - top);
        memcpy(y + i, &e, (size_t)(n - i) * sizeof *y);
        for (int j = 0; j < n - i; j++)
            total += e[j];
    }
    return total;
}

static void lanes_softmax(float *y, const float *x, int64_t n)
{
    float f = 1.0f / lanes_exp_sum(y, x, lanes_max(x, n), n);
    for (int64_t i = 0; i < n; i++)
        y[i] *= f;
}

static void lanes_narrow(uint16_t *f16, const float *x, int64_t n)
{
    int64_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i *)(f16 + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i), 0));
#endif
    for (; i < n; i++)
        f16[i] = qn_f32_to_f16(x[i]);
}

static void lanes_widen(float *y, const uint16_t *f16, int64_t n)
{
    int64_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(f16 + i))));
#endif
    for (; i < n; i++)
        y[i] = qn_f16_to_f32(f16[i]);
}

static inline float lanes_dot(const float *a, const float *b, int64_t n)
{
    float acc[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int j = 0; j < LANES; j++)
            acc[j] += a[i + j] * b[i + j];
    float sum = lanes_sum(acc);
    for (; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* q = 32 integers in -127 .. 127 with x ≈ d·q, rounded to nearest, ties to even; returns d. half:
 * the sums of the first and last 16. q fits a byte even if x is not finite. */
#if defined(__AVX512F__)
static inline float round_32(int8_t *q, int32_t half[2], const float *x)
{
    const __m128i flip = _mm_set1_epi8((char)0x80), zero = _mm_setzero_si128();
    __m512 v[2] = {_mm512_loadu_ps(x), _mm512_loadu_ps(x + 16)};
    float top = _mm512_reduce_max_ps(_mm512_max_ps(_mm512_abs_ps(v[0]), _mm512_abs_ps(v[1])));
    __m512 inv = _mm512_set1_ps(top > 1e-30f ? 127 / top : 0);
    for (int i = 0; i < 2; i++) {
        __m128i code = _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(_mm512_mul_ps(v[i], inv)));
        __m128i sums = _mm_sad_epu8(_mm_xor_si128(code, flip), zero);
        half[i] = _mm_cvtsi128_si32(sums) + _mm_extract_epi16(sums, 4) - 16 * 128;
        _mm_storeu_si128((__m128i *)(q + 16 * i), code);
    }
    return top / 127;
}
#elif defined(__AVX2__)
static inline float round_32(int8_t *q, int32_t half[2], const float *x)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    const __m128i flip = _mm_set1_epi8((char)0x80), zero = _mm_setzero_si128();
    __m256 v[4], high = _mm256_setzero_ps();
    for (int i = 0; i < 4; i++) {
        v[i] = _mm256_loadu_ps(x + 8 * i);
        high = _mm256_max_ps(high, _mm256_andnot_ps(sign, v[i]));
    }
    __m128 h = _mm_max_ps(_mm256_castps256_ps128(high), _mm256_extractf128_ps(high, 1));
    h = _mm_max_ps(h, _mm_movehl_ps(h, h));
    float top = _mm_cvtss_f32(_mm_max_ss(h, _mm_movehdup_ps(h)));
    __m256 inv = _mm256_set1_ps(top > 1e-30f ? 127 / top : 0);
    for (int i = 0; i < 2; i++) {
        __m256i a = _mm256_cvtps_epi32(_mm256_mul_ps(v[2 * i], inv));
        __m256i b = _mm256_cvtps_epi32(_mm256_mul_ps(v[2 * i + 1], inv));
        __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
        __m128i code =
            _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
        __m128i sums = _mm_sad_epu8(_mm_xor_si128(code, flip), zero);
        half[i] = _mm_cvtsi128_si32(sums) + _mm_extract_epi16(sums, 4) - 16 * 128;
        _mm_storeu_si128((__m128i *)(q + 16 * i), code);
    }
    return top / 127;
}
#else
static inline float round_32(int8_t *q, int32_t half[2], const float *x)
{
    /* 1.5·2^23: after adding it, the rounded number is in the lowest byte */
    const float shift = 12582912.0f;
    float top = 0;
    for (int j = 0; j < 32; j++) {
        float m = fabsf(x[j]);
        top = m > top ? m : top;
    }
    float inv = top > 1e-30f ? 127 / top : 0;
    half[0] = half[1] = 0;
    for (int j = 0; j < 32; j++) {
        float v = x[j] * inv + shift;
        int32_t bits;
        memcpy(&bits, &v, 4);
        q[j] = (int8_t)bits;
        half[j / 16] += q[j];
    }
    return top / 127;
}
#endif

/* q = the residual x - d·from in units of d/256, rounded, in -127 .. 127: d and `from` are those of
 * round_32(). half as there. */
#if defined(__AVX512F__)
static inline void rest_32(int8_t *q, int32_t half[2], const float *x, float d, const int8_t *from)
{
    const __m128i flip = _mm_set1_epi8((char)0x80), zero = _mm_setzero_si128();
    const __m512 step = _mm512_set1_ps(d), inv = _mm512_set1_ps(d > 7.9e-33f ? 256 / d : 0);
    for (int i = 0; i < 2; i++) {
        __m128i coarse = _mm_loadu_si128((const __m128i *)(from + 16 * i));
        __m512 v = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(coarse));
        v = _mm512_mul_ps(_mm512_fnmadd_ps(v, step, _mm512_loadu_ps(x + 16 * i)), inv);
        v = _mm512_min_ps(_mm512_max_ps(v, _mm512_set1_ps(-127)), _mm512_set1_ps(127));
        __m128i code = _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v));
        __m128i sums = _mm_sad_epu8(_mm_xor_si128(code, flip), zero);
        half[i] = _mm_cvtsi128_si32(sums) + _mm_extract_epi16(sums, 4) - 16 * 128;
        _mm_storeu_si128((__m128i *)(q + 16 * i), code);
    }
}
#else
static inline void rest_32(int8_t *q, int32_t half[2], const float *x, float d, const int8_t *from)
{
    const float shift = 12582912.0f, inv = d > 7.9e-33f ? 256 / d : 0; /* as in round_32() */
    half[0] = half[1] = 0;
    for (int j = 0; j < 32; j++) {
        float v = (x[j] - d * (float)from[j]) * inv;
        v = v > -127 ? v : -127;
        v = (v < 127 ? v : 127) + shift;
        int32_t bits;
        memcpy(&bits, &v, 4);
        q[j] = (int8_t)bits;
        half[j / 16] += q[j];
    }
}
#endif

/* Writes the values stored beside the codes of 32 columns of row c. */
static inline void put_sums(char *block, int nc, int c, float d, const int32_t half[2])
{
    float ds = d * (float)(half[0] + half[1]);
    int32_t nsum = -half[0] - half[1], nhalf[2] = {-half[0], -half[1]};
    memcpy(block + ACT_D(nc) + 4 * c, &d, 4);
    memcpy(block + ACT_DS(nc) + 4 * c, &ds, 4);
    memcpy(block + ACT_NSUM(nc) + 4 * c, &nsum, 4);
    memcpy(block + ACT_NHALF0(nc) + 4 * c, &nhalf[0], 4);
    memcpy(block + ACT_NHALF1(nc) + 4 * c, &nhalf[1], 4);
}

static inline void lanes_round_block(char *block, int nc, int c, const float *x)
{
    int32_t half[2];
    float d = round_32((int8_t *)block + ACT_Q(nc) + 32 * c, half, x);
    put_sums(block, nc, c, d, half);
}

static void lanes_round(void *group, int nc, const float *const *x, int n, int64_t cols)
{
    static const float zeros[32];
    char *block = group;
    for (int64_t k = 0; k < cols; k += 32, block += ACT_BYTES(nc))
        for (int c = 0; c < nc; c++)
            lanes_round_block(block, nc, c, c < n ? x[c] + k : zeros);
}

static void lanes_rest(void *rest, const void *group, int nc, const float *const *x, int n,
                       int64_t cols)
{
    static const float zeros[32];
    char *block = rest;
    const char *coarse = group;
    for (int64_t k = 0; k < cols; k += 32, block += ACT_BYTES(nc), coarse += ACT_BYTES(nc))
        for (int c = 0; c < nc; c++) {
            const int8_t *from = (const int8_t *)coarse + ACT_Q(nc) + 32 * c;
            int32_t half[2];
            float d;
            memcpy(&d, coarse + ACT_D(nc) + 4 * c, 4);
            rest_32((int8_t *)block + ACT_Q(nc) + 32 * c, half, c < n ? x[c] + k : zeros, d, from);
            put_sums(block, nc, c, d / 256, half);
        }
}

#endif
