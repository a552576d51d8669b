/* Kernels for AVX-512 with VNNI: one vector is one group of a panel, sixteen rows by four columns,
 * and meets four columns of an activation broadcast to all rows. No sums across lanes are ever
 * needed. */
#include "engine/cpu/attend.h"
#include "engine/cpu/recurrent.h"

#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))

enum {
    P = CPU_PANEL,
    AHEAD = 8192 /* bytes of a panel that are asked for before their turn */
};

INLINE __m512i load(const void *p)
{
    return _mm512_loadu_si512(p);
}

INLINE __m512 halves(const void *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}

INLINE __m512 unsigned_bytes(const void *p)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p)));
}

INLINE __m512 signed_bytes(const void *p)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p)));
}

INLINE __m512i all_i32(const char *p)
{
    int32_t v;
    memcpy(&v, p, 4);
    return _mm512_set1_epi32(v);
}

INLINE __m512 all_f32(const char *p)
{
    float v;
    memcpy(&v, p, 4);
    return _mm512_set1_ps(v);
}

/* Asks for the lines of n bytes before their turn. */
INLINE void ask(const char *p, int n)
{
    for (int i = 0; i < n; i += 64)
        _mm_prefetch(p + i, _MM_HINT_T0);
}

/* (a & mask) | b and (a | b) & mask would be two instructions; one truth table each does it. */
INLINE __m512i and_or(__m512i a, __m512i mask, __m512i b)
{
    return _mm512_ternarylogic_epi32(a, mask, b, 0xEA);
}

/* The codes of 32 columns, one vector per group. */
INLINE void unpack(enum qn_dtype t, const char *unit, __m512i w[8])
{
    const __m512i low = _mm512_set1_epi8(15);
    if (t == QN_Q8_0) {
        for (int g = 0; g < 8; g++)
            w[g] = load(unit + 64 * g);
    } else if (t == QN_Q6_K) {
        const __m512i two = _mm512_set1_epi8(0x30);
        for (int h = 0; h < 2; h++) {
            __m512i a = load(unit + 192 * h), b = load(unit + 192 * h + 64);
            __m512i high = load(unit + 192 * h + 128);
            w[4 * h] = and_or(_mm512_slli_epi16(high, 4), two, _mm512_and_si512(a, low));
            w[4 * h + 1] = and_or(_mm512_slli_epi16(high, 2), two,
                                  _mm512_and_si512(_mm512_srli_epi16(a, 4), low));
            w[4 * h + 2] = and_or(high, two, _mm512_and_si512(b, low));
            w[4 * h + 3] = and_or(_mm512_srli_epi16(high, 2), two,
                                  _mm512_and_si512(_mm512_srli_epi16(b, 4), low));
        }
    } else {
        for (int v = 0; v < 4; v++) {
            __m512i both = load(unit + 64 * v);
            w[2 * v] = _mm512_and_si512(both, low);
            w[2 * v + 1] = _mm512_and_si512(_mm512_srli_epi16(both, 4), low);
        }
        if (t == QN_Q5_K) {
            const __m512i bit = _mm512_set1_epi8(16);
            __m512i high = load(unit + 256);
            w[0] = and_or(_mm512_slli_epi16(high, 4), bit, w[0]);
            w[1] = and_or(_mm512_slli_epi16(high, 3), bit, w[1]);
            w[2] = and_or(_mm512_slli_epi16(high, 2), bit, w[2]);
            w[3] = and_or(_mm512_slli_epi16(high, 1), bit, w[3]);
            w[4] = and_or(high, bit, w[4]);
            w[5] = and_or(_mm512_srli_epi16(high, 1), bit, w[5]);
            w[6] = and_or(_mm512_srli_epi16(high, 2), bit, w[6]);
            w[7] = and_or(_mm512_srli_epi16(high, 3), bit, w[7]);
        }
    }
}

/* acc + the product of groups first .. first + n - 1 of column c. */
INLINE __m512i dot(__m512i acc, const __m512i *w, int first, int n, const char *act, int c)
{
#pragma GCC unroll 8
    for (int g = first; g < first + n; g++)
        acc = _mm512_dpbusd_epi32(acc, w[g], all_i32(act + 32 * c + 4 * g));
    return acc;
}

/* Q8_0 and Q4_0: one scale per 32 columns. The codes' offset is taken off by starting the sums at
 * -offset · (sum of q). */
INLINE void simple_panel(enum qn_dtype t, int code_bytes, int shift, int nc, float *y,
                         const void *panel, const void *acts, int64_t cols)
{
    const char *unit = panel, *scale = unit, *act = acts;
    __m512 sum[8];
    for (int c = 0; c < nc; c++)
        sum[c] = _mm512_setzero_ps();
    for (int64_t k = 0; k < cols / 32; k++, unit += code_bytes, scale += 32, act += ACT_BYTES(nc)) {
        __m512i w[8], acc[8];
        if (k % 2 == 0) {
            scale = unit;
            unit += 64;
            if (nc <= 4)
                ask(unit + AHEAD, 64 + 2 * code_bytes);
        }
        unpack(t, unit, w);
        __m512 d = halves(scale);
        for (int c = 0; c < nc; c++)
            acc[c] = _mm512_slli_epi32(all_i32(act + ACT_NSUM(nc) + 4 * c), shift);
#pragma GCC unroll 8
        for (int g = 0; g < 8; g++)
#pragma GCC unroll 8
            for (int c = 0; c < nc; c++)
                acc[c] = _mm512_dpbusd_epi32(acc[c], w[g], all_i32(act + 32 * c + 4 * g));
        for (int c = 0; c < nc; c++)
            sum[c] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(acc[c]),
                                     _mm512_mul_ps(d, all_f32(act + ACT_D(nc) + 4 * c)), sum[c]);
    }
    for (int c = 0; c < nc; c++)
        _mm512_storeu_ps(y + P * c, sum[c]);
}

/* Q4_K and Q5_K: a scale and a minimum per 32 columns, two factors per 256. */
INLINE void min_panel(enum qn_dtype t, int code_bytes, int nc, float *y, const void *panel,
                      const void *acts, int64_t cols)
{
    const char *unit = panel, *act = acts;
    __m512 sum[8];
    for (int c = 0; c < nc; c++)
        sum[c] = _mm512_setzero_ps();
    for (int64_t b = 0; b < cols / 256; b++) {
        const char *scale = unit;
        __m512 d = halves(scale), dmin = halves(scale + 32);
        if (nc <= 4)
            ask(scale + AHEAD, 320);
        unit += 320;
        for (int j = 0; j < 8; j++, unit += code_bytes, act += ACT_BYTES(nc)) {
            __m512i w[8], acc[8];
            if (nc <= 4)
                ask(unit + AHEAD, code_bytes);
            unpack(t, unit, w);
            __m512 ds = _mm512_mul_ps(d, unsigned_bytes(scale + 64 + 32 * j));
            __m512 dm = _mm512_mul_ps(dmin, unsigned_bytes(scale + 80 + 32 * j));
            for (int c = 0; c < nc; c++)
                acc[c] = _mm512_setzero_si512();
#pragma GCC unroll 8
            for (int g = 0; g < 8; g++)
#pragma GCC unroll 8
                for (int c = 0; c < nc; c++)
                    acc[c] = _mm512_dpbusd_epi32(acc[c], w[g], all_i32(act + 32 * c + 4 * g));
            for (int c = 0; c < nc; c++) {
                sum[c] =
                    _mm512_fmadd_ps(_mm512_cvtepi32_ps(acc[c]),
                                    _mm512_mul_ps(ds, all_f32(act + ACT_D(nc) + 4 * c)), sum[c]);
                sum[c] = _mm512_fnmadd_ps(dm, all_f32(act + ACT_DS(nc) + 4 * c), sum[c]);
            }
        }
    }
    for (int c = 0; c < nc; c++)
        _mm512_storeu_ps(y + P * c, sum[c]);
}

/* Q6_K: a signed scale per 16 columns, one factor per 256, offset 32. */
INLINE void q6_panel(int nc, float *y, const void *panel, const void *acts, int64_t cols)
{
    const char *unit = panel, *act = acts;
    __m512 sum[8];
    for (int c = 0; c < nc; c++)
        sum[c] = _mm512_setzero_ps();
    for (int64_t b = 0; b < cols / 256; b++) {
        const char *scale = unit;
        __m512 d = halves(scale);
        if (nc <= 4)
            ask(scale + AHEAD, 320);
        unit += 320;
        for (int j = 0; j < 8; j++, unit += 384, act += ACT_BYTES(nc)) {
            __m512i w[8];
            if (nc <= 4)
                ask(unit + AHEAD, 384);
            unpack(QN_Q6_K, unit, w);
            __m512 s0 = _mm512_mul_ps(d, signed_bytes(scale + 32 + 32 * j));
            __m512 s1 = _mm512_mul_ps(d, signed_bytes(scale + 48 + 32 * j));
            for (int c = 0; c < nc; c++) {
                __m512i lo = _mm512_slli_epi32(all_i32(act + ACT_NHALF0(nc) + 4 * c), 5);
                __m512i hi = _mm512_slli_epi32(all_i32(act + ACT_NHALF1(nc) + 4 * c), 5);
                lo = dot(lo, w, 0, 4, act, c);
                hi = dot(hi, w, 4, 4, act, c);
                __m512 part = _mm512_mul_ps(_mm512_cvtepi32_ps(lo), s0);
                part = _mm512_fmadd_ps(_mm512_cvtepi32_ps(hi), s1, part);
                sum[c] = _mm512_fmadd_ps(part, all_f32(act + ACT_D(nc) + 4 * c), sum[c]);
            }
        }
    }
    for (int c = 0; c < nc; c++)
        _mm512_storeu_ps(y + P * c, sum[c]);
}

INLINE __m512 plain(enum qn_dtype t, const void *panel, int64_t k)
{
    if (t == QN_F32)
        return _mm512_loadu_ps((const float *)panel + k * P);
    if (t == QN_F16)
        return halves((const uint16_t *)panel + k * P);
    __m256i h = _mm256_loadu_si256((const __m256i *)((const uint16_t *)panel + k * P));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

/* F32, F16, BF16. Few columns need several sums each, or every addition waits for the one before.
 */
INLINE void plain_panel(enum qn_dtype t, int nc, float *y, const void *panel, const void *acts,
                        int64_t cols)
{
    enum { SUMS = 16 };
    const int depth = SUMS / nc, size = t == QN_F32 ? 4 : 2;
    const float *x = acts;
    __m512 sum[SUMS];
    for (int i = 0; i < SUMS; i++)
        sum[i] = _mm512_setzero_ps();
    int64_t k = 0;
    for (; k + depth <= cols; k += depth) {
        if (nc <= 4)
            ask((const char *)panel + k * P * size + AHEAD, depth * P * size);
#pragma GCC unroll 16
        for (int i = 0; i < depth; i++) {
            __m512 w = plain(t, panel, k + i);
#pragma GCC unroll 8
            for (int c = 0; c < nc; c++)
                sum[i * nc + c] =
                    _mm512_fmadd_ps(w, _mm512_set1_ps(x[(k + i) * nc + c]), sum[i * nc + c]);
        }
    }
    for (; k < cols; k++) {
        __m512 w = plain(t, panel, k);
        for (int c = 0; c < nc; c++)
            sum[c] = _mm512_fmadd_ps(w, _mm512_set1_ps(x[k * nc + c]), sum[c]);
    }
    for (int c = 0; c < nc; c++) {
        for (int i = 1; i < depth; i++)
            sum[c] = _mm512_add_ps(sum[c], sum[i * nc + c]);
        _mm512_storeu_ps(y + P * c, sum[c]);
    }
}

#define KERNEL(name, nc, call)                                                                     \
    static void name##_##nc(float *y, const void *panel, const void *acts, int64_t cols)           \
    {                                                                                              \
        call;                                                                                      \
    }
#define KERNELS(name, fn, ...)                                                                     \
    KERNEL(name, 1, fn(__VA_ARGS__ 1, y, panel, acts, cols))                                       \
    KERNEL(name, 2, fn(__VA_ARGS__ 2, y, panel, acts, cols))                                       \
    KERNEL(name, 4, fn(__VA_ARGS__ 4, y, panel, acts, cols))                                       \
    KERNEL(name, 8, fn(__VA_ARGS__ 8, y, panel, acts, cols))

KERNELS(f32, plain_panel, QN_F32, )
KERNELS(f16, plain_panel, QN_F16, )
KERNELS(bf16, plain_panel, QN_BF16, )
KERNELS(q8_0, simple_panel, QN_Q8_0, 512, 7, )
KERNELS(q4_0, simple_panel, QN_Q4_0, 256, 3, )
KERNELS(q4_k, min_panel, QN_Q4_K, 256, )
KERNELS(q5_k, min_panel, QN_Q5_K, 320, )
KERNELS(q6_k, q6_panel, )

static bool supported(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("fma") && cpu_has_f16c();
}

#define ROW(name)                                                                                  \
    {                                                                                              \
        name##_1, name##_2, name##_4, name##_8                                                     \
    }

const struct cpu_kernels cpu_kernels_avx512 = {
    .name = "avx512",
    .supported = supported,
    .rms_norm = lanes_rms_norm,
    .silu_mul = lanes_silu_mul,
    .mul = lanes_mul,
    .sigmoid_mul = lanes_sigmoid_mul,
    .softmax = lanes_softmax,
    .add = lanes_add,
    .dot = lanes_dot,
    .narrow = lanes_narrow,
    .widen = lanes_widen,
    .attend = attend,
    .conv = lanes_conv,
    .delta = lanes_delta,
    .scan = lanes_scan,
    .round = lanes_round,
    .interleave = lanes_interleave,
    .panel = {[QN_F32] = ROW(f32),
              [QN_F16] = ROW(f16),
              [QN_BF16] = ROW(bf16),
              [QN_Q8_0] = ROW(q8_0),
              [QN_Q4_0] = ROW(q4_0),
              [QN_Q4_K] = ROW(q4_k),
              [QN_Q5_K] = ROW(q5_k),
              [QN_Q6_K] = ROW(q6_k)},
};
