/* Inner loops in plain C, written so that a compiler turns them into vectors of whatever width the
 * including file is compiled for: sums run in LANES independent lanes, nothing depends on a
 * neighbour. Each dot_<isa>.c includes this once; the generic set is these loops and nothing else.
 */
#ifndef QN_ENGINE_CPU_LANES_H
#define QN_ENGINE_CPU_LANES_H

#include "engine/cpu/cpu.h"

#include <math.h>
#include <string.h>
#if defined(__F16C__)
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

/* e^x by 2^n · polynomial; relative error below 2e-7 where the result is normal, 0 below about -87.
 */
static inline float lanes_exp(float x)
{
    x = x > -87.3f ? x : -87.3f; /* a NaN, too: below, it would not fit an integer */
    x = x < 88.3f ? x : 88.3f;
    float n = x * 1.44269504f;
    int32_t i = (int32_t)(n + (n < 0 ? -0.5f : 0.5f));
    float f = (float)i, r = x - f * 0.693145752f - f * 1.42860677e-6f; /* ln 2 in two parts */
    float p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    int32_t bits = (i + 127) << 23;
    float two;
    memcpy(&two, &bits, 4);
    return p * two;
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

static void lanes_silu_mul(float *y, const float *gate, const float *up, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = gate[i] / (1.0f + lanes_exp(-gate[i])) * up[i];
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
    float acc[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int j = 0; j < LANES; j++) {
            y[i + j] = lanes_exp(x[i + j] - top);
            acc[j] += y[i + j];
        }
    float sum = lanes_sum(acc);
    for (; i < n; i++) {
        y[i] = lanes_exp(x[i] - top);
        sum += y[i];
    }
    return sum;
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

/* x = d·q with q in -127 .. 127, rounded to nearest, ties to even: adding 1.5·2^23 leaves the
 * rounded number in the low byte of the mantissa. */
static inline void lanes_round_block(char *block, int nc, int c, const float *x)
{
    const float shift = 12582912.0f;
    int8_t *q = (int8_t *)block + ACT_Q(nc) + 32 * c;
    float top = 0;
    int32_t code[32], half[2] = {0, 0};
    for (int j = 0; j < 32; j++) {
        float m = fabsf(x[j]);
        top = m > top ? m : top;
    }
    float d = top / 127, inv = top > 1e-30f ? 127 / top : 0;
    for (int j = 0; j < 32; j++) {
        float v = x[j] * inv + shift;
        int32_t bits;
        memcpy(&bits, &v, 4);
        code[j] = (int8_t)bits; /* within a byte also where x is not finite */
        q[j] = (int8_t)code[j];
    }
    for (int j = 0; j < 16; j++) {
        half[0] -= code[j];
        half[1] -= code[j + 16];
    }
    int32_t nsum = half[0] + half[1];
    float ds = -d * (float)nsum;
    memcpy(block + ACT_D(nc) + 4 * c, &d, 4);
    memcpy(block + ACT_DS(nc) + 4 * c, &ds, 4);
    memcpy(block + ACT_NSUM(nc) + 4 * c, &nsum, 4);
    memcpy(block + ACT_NHALF0(nc) + 4 * c, &half[0], 4);
    memcpy(block + ACT_NHALF1(nc) + 4 * c, &half[1], 4);
}

static void lanes_round(void *group, int nc, const float *const *x, int n, int64_t cols)
{
    static const float zeros[32];
    char *block = group;
    for (int64_t k = 0; k < cols; k += 32, block += ACT_BYTES(nc))
        for (int c = 0; c < nc; c++)
            lanes_round_block(block, nc, c, c < n ? x[c] + k : zeros);
}

static void lanes_interleave(float *group, int nc, const float *const *x, int n, int64_t cols)
{
    for (int c = 0; c < nc; c++)
        for (int64_t k = 0; k < cols; k++)
            group[k * nc + c] = c < n ? x[c][k] : 0;
}

#endif
