/* Kernels in vectors of 256 bits: a group of a panel is two vectors, eight rows by four columns
 * each. The including file says what set it makes: SET_NAME, SET (the table's symbol) and, with
 * -mavxvnni, HAVE_DOT (AVX-VNNI: a code times an activation, four at once, into 32 bits).
 *
 * Without a dot product instruction, codes are multiplied in pairs into 16-bit sums (maddubs), and
 * as many of those are added as fit: a code of b bits times 127, twice, n times over must stay
 * below 2^15. */
#include "engine/cpu/attend.h"

#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))

enum { P = CPU_PANEL, AHEAD = 8192, COLUMNS_AT_ONCE = 4 };

INLINE __m256i load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

INLINE __m256 halves(const void *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}

INLINE __m256 unsigned_bytes(const void *p)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p)));
}

INLINE __m256 signed_bytes(const void *p)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p)));
}

INLINE __m256i all_i32(const char *p)
{
    int32_t v;
    memcpy(&v, p, 4);
    return _mm256_set1_epi32(v);
}

INLINE __m256 all_f32(const char *p)
{
    float v;
    memcpy(&v, p, 4);
    return _mm256_set1_ps(v);
}

/* The codes of group g (0 .. 7) of 32 columns, for rows 8·side .. + 7. */
INLINE __m256i codes_of(enum qn_dtype t, const char *unit, int g, int side)
{
    const __m256i low = _mm256_set1_epi8(15);
    const char *p = unit + 32 * side;
    if (t == QN_Q8_0)
        return load(p + 64 * g);
    if (t == QN_Q6_K)
        p += g / 4 * 192;
    __m256i v = load(p + (t == QN_Q6_K ? g % 4 / 2 : g / 2) * 64);
    v = _mm256_and_si256(g & 1 ? _mm256_srli_epi16(v, 4) : v, low);
    if (t == QN_Q5_K) {
        __m256i high = load(p + 256);
        high = g < 4 ? _mm256_slli_epi16(high, 4 - g) : _mm256_srli_epi16(high, g - 4);
        v = _mm256_or_si256(v, _mm256_and_si256(high, _mm256_set1_epi8(16)));
    } else if (t == QN_Q6_K) {
        __m256i high = load(p + 128);
        int h = g % 4;
        high = h < 3 ? _mm256_slli_epi16(high, 4 - 2 * h) : _mm256_srli_epi16(high, 2);
        v = _mm256_or_si256(v, _mm256_and_si256(high, _mm256_set1_epi8(0x30)));
    }
    return v;
}

/* sum[c] = the products of groups first .. first + n - 1 for nc columns starting at q, 32 bytes
 * apart. With HAVE_DOT, Q8_0's codes are unsigned and their offset is still to be taken off;
 * without, not. */
#ifdef HAVE_DOT
INLINE void dot(enum qn_dtype t, const char *unit, int side, int first, int n, const char *q,
                int nc, __m256i sum[COLUMNS_AT_ONCE])
{
    for (int c = 0; c < nc; c++)
        sum[c] = _mm256_setzero_si256();
#pragma GCC unroll 8
    for (int g = first; g < first + n; g++) {
        __m256i w = codes_of(t, unit, g, side);
#pragma GCC unroll 4
        for (int c = 0; c < nc; c++)
            sum[c] = _mm256_dpbusd_avx_epi32(sum[c], w, all_i32(q + 32 * c + 4 * g));
    }
}
enum { Q8_0_SHIFT = 7 };
#else
enum { Q8_0_SHIFT = 0 };
/* How many groups' 16-bit sums may be added: 15, 31 and 63 times 127 times 2; Q8_0 is signed first.
 */
INLINE int together(enum qn_dtype t)
{
    return t == QN_Q8_0 ? 1 : t == QN_Q6_K ? 2 : t == QN_Q5_K ? 4 : 8;
}

INLINE void dot(enum qn_dtype t, const char *unit, int side, int first, int n, const char *q,
                int nc, __m256i sum[COLUMNS_AT_ONCE])
{
    const __m256i ones = _mm256_set1_epi16(1);
    int run = together(t) < n ? together(t) : n;
    for (int c = 0; c < nc; c++)
        sum[c] = _mm256_setzero_si256();
#pragma GCC unroll 8
    for (int g0 = first; g0 < first + n; g0 += run) {
        __m256i pairs[COLUMNS_AT_ONCE];
#pragma GCC unroll 8
        for (int g = g0; g < g0 + run; g++) {
            __m256i w = codes_of(t, unit, g, side);
            if (t == QN_Q8_0)
                w = _mm256_xor_si256(w, _mm256_set1_epi8((char)0x80));
#pragma GCC unroll 4
            for (int c = 0; c < nc; c++) {
                __m256i x = all_i32(q + 32 * c + 4 * g), m;
                if (t == QN_Q8_0)
                    m = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
                else
                    m = _mm256_maddubs_epi16(w, x);
                pairs[c] = g == g0 ? m : _mm256_add_epi16(pairs[c], m);
            }
        }
#pragma GCC unroll 4
        for (int c = 0; c < nc; c++)
            sum[c] = _mm256_add_epi32(sum[c], _mm256_madd_epi16(pairs[c], ones));
    }
}
#endif

/* What 32 columns (the j-th of their block) add to `total` for rows 8·side .. + 7 and nc columns of
 * a group of `width`, whose activations begin at q and whose factors at f. */
INLINE void block_unit(enum qn_dtype t, int width, int nc, int side, __m256 total[COLUMNS_AT_ONCE],
                       const char *unit, const char *scale, int j, const char *q, const char *f)
{
    __m256 d = halves(scale + 16 * side);
    __m256i sum[COLUMNS_AT_ONCE];
    if (t == QN_Q6_K) {
        for (int half = 0; half < 2; half++) {
            int at = half ? ACT_NHALF1(width) : ACT_NHALF0(width);
            const char *s8 = scale + 32 + 32 * j + 16 * half + 8 * side;
            __m256 s = _mm256_mul_ps(d, signed_bytes(s8));
            dot(t, unit, side, 4 * half, 4, q, nc, sum);
            for (int c = 0; c < nc; c++) {
                __m256i offset = _mm256_slli_epi32(all_i32(f + at + 4 * c), 5);
                __m256 v = _mm256_cvtepi32_ps(_mm256_add_epi32(sum[c], offset));
                __m256 k = _mm256_mul_ps(s, all_f32(f + ACT_D(width) + 4 * c));
                total[c] = _mm256_fmadd_ps(v, k, total[c]);
            }
        }
        return;
    }
    dot(t, unit, side, 0, 8, q, nc, sum);
    if (t == QN_Q8_0 || t == QN_Q4_0) {
        const int shift = t == QN_Q4_0 ? 3 : Q8_0_SHIFT; /* of the codes' offset */
        for (int c = 0; c < nc; c++) {
            __m256i v = sum[c];
            if (shift)
                v = _mm256_add_epi32(
                    v, _mm256_slli_epi32(all_i32(f + ACT_NSUM(width) + 4 * c), shift));
            __m256 k = _mm256_mul_ps(d, all_f32(f + ACT_D(width) + 4 * c));
            total[c] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(v), k, total[c]);
        }
        return;
    }
    const char *s8 = scale + 64 + 32 * j + 8 * side;
    __m256 s = _mm256_mul_ps(d, unsigned_bytes(s8));
    __m256 m = _mm256_mul_ps(halves(scale + 32 + 16 * side), unsigned_bytes(s8 + 16));
    for (int c = 0; c < nc; c++) {
        __m256 k = _mm256_mul_ps(s, all_f32(f + ACT_D(width) + 4 * c));
        total[c] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum[c]), k, total[c]);
        total[c] = _mm256_fnmadd_ps(m, all_f32(f + ACT_DS(width) + 4 * c), total[c]);
    }
}

/* Asks for the lines of n bytes before their turn. */
INLINE void ask(const char *p, int n)
{
    for (int i = 0; i < n; i += 64)
        _mm_prefetch(p + i, _MM_HINT_T0);
}

/* Columns c0 .. c0 + nc - 1 of a group of `width` and `sides` times eight rows from 8·side on, over
 * all columns of the weights. */
INLINE void block_part(enum qn_dtype t, int code_bytes, int scale_bytes, int blocks, int width,
                       int c0, int nc, int side, int sides, float *y, const char *panel,
                       const char *act, int64_t cols)
{
    const char *unit = panel, *scale = unit + cols / 32 * code_bytes;
    const int64_t next =
        (int64_t)cpu_panel_bytes(t, cols); /* to the same place of the next panel */
    __m256 total[2][COLUMNS_AT_ONCE];
    for (int i = 0; i < sides; i++)
        for (int c = 0; c < nc; c++)
            total[i][c] = _mm256_setzero_ps();
    for (int64_t b = 0; b < cols / 32 / blocks; b++, scale += scale_bytes) {
        if (width <= 4 && side == 0)
            ask(scale + next, scale_bytes);
        for (int j = 0; j < blocks; j++, unit += code_bytes, act += ACT_BYTES(width)) {
            if (width <= 4 && side == 0)
                ask(unit + AHEAD, code_bytes);
            for (int i = 0; i < sides; i++)
                block_unit(t, width, nc, side + i, total[i], unit, scale, j, act + 32 * c0,
                           act + 4 * c0);
        }
    }
    for (int i = 0; i < sides; i++)
        for (int c = 0; c < nc; c++)
            _mm256_storeu_ps(y + P * (c0 + c) + 8 * (side + i), total[i][c]);
}

/* One or two columns take both sides in one pass, so that the memory never waits; more fill the
 * registers with one. */
INLINE void block_panel(enum qn_dtype t, int code_bytes, int scale_bytes, int blocks, int width,
                        float *y, const void *panel, const void *acts, int64_t cols)
{
    const int nc = width < COLUMNS_AT_ONCE ? width : COLUMNS_AT_ONCE, sides = nc <= 2 ? 2 : 1;
    for (int c0 = 0; c0 < width; c0 += nc)
        for (int side = 0; side < 2; side += sides)
            block_part(t, code_bytes, scale_bytes, blocks, width, c0, nc, side, sides, y, panel,
                       acts, cols);
}

INLINE __m256 plain(enum qn_dtype t, const void *panel, int64_t at)
{
    if (t == QN_F32)
        return _mm256_loadu_ps((const float *)panel + at);
    if (t == QN_F16)
        return halves((const uint16_t *)panel + at);
    __m128i h = _mm_loadu_si128((const __m128i *)((const uint16_t *)panel + at));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

/* Four sums for each half of the rows: fewer columns take more rows of the panel at once. */
INLINE void plain_part(enum qn_dtype t, int width, int c0, int nc, float *y, const void *panel,
                       const float *x, int64_t cols)
{
    const int depth = COLUMNS_AT_ONCE / nc, size = t == QN_F32 ? 4 : 2;
    __m256 sum[2][COLUMNS_AT_ONCE];
    for (int i = 0; i < COLUMNS_AT_ONCE; i++)
        sum[0][i] = sum[1][i] = _mm256_setzero_ps();
    int64_t k = 0;
    for (; k + depth <= cols; k += depth) {
        if (width <= 4)
            ask((const char *)panel + k * P * size + AHEAD, depth * P * size);
#pragma GCC unroll 4
        for (int i = 0; i < depth; i++) {
            __m256 w0 = plain(t, panel, (k + i) * P), w1 = plain(t, panel, (k + i) * P + 8);
#pragma GCC unroll 4
            for (int c = 0; c < nc; c++) {
                __m256 v = _mm256_set1_ps(x[(k + i) * width + c0 + c]);
                sum[0][i * nc + c] = _mm256_fmadd_ps(w0, v, sum[0][i * nc + c]);
                sum[1][i * nc + c] = _mm256_fmadd_ps(w1, v, sum[1][i * nc + c]);
            }
        }
    }
    for (; k < cols; k++)
        for (int c = 0; c < nc; c++) {
            __m256 v = _mm256_set1_ps(x[k * width + c0 + c]);
            sum[0][c] = _mm256_fmadd_ps(plain(t, panel, k * P), v, sum[0][c]);
            sum[1][c] = _mm256_fmadd_ps(plain(t, panel, k * P + 8), v, sum[1][c]);
        }
    for (int side = 0; side < 2; side++)
        for (int c = 0; c < nc; c++) {
            for (int i = 1; i < depth; i++)
                sum[side][c] = _mm256_add_ps(sum[side][c], sum[side][i * nc + c]);
            _mm256_storeu_ps(y + P * (c0 + c) + 8 * side, sum[side][c]);
        }
}

INLINE void plain_panel(enum qn_dtype t, int width, float *y, const void *panel, const void *acts,
                        int64_t cols)
{
    const int nc = width < COLUMNS_AT_ONCE ? width : COLUMNS_AT_ONCE;
    for (int c0 = 0; c0 < width; c0 += nc)
        plain_part(t, width, c0, nc, y, panel, acts, cols);
}

#define KERNEL(name, nc, call)                                                                     \
    static void name##_##nc(float *y, const void *panel, const void *acts, int64_t cols)           \
    {                                                                                              \
        call;                                                                                      \
    }
#define KERNELS(name, fn, ...)                                                                     \
    KERNEL(name, 1, fn(__VA_ARGS__, 1, y, panel, acts, cols))                                      \
    KERNEL(name, 2, fn(__VA_ARGS__, 2, y, panel, acts, cols))                                      \
    KERNEL(name, 4, fn(__VA_ARGS__, 4, y, panel, acts, cols))                                      \
    KERNEL(name, 8, fn(__VA_ARGS__, 8, y, panel, acts, cols))

KERNELS(f32, plain_panel, QN_F32)
KERNELS(f16, plain_panel, QN_F16)
KERNELS(bf16, plain_panel, QN_BF16)
KERNELS(q8_0, block_panel, QN_Q8_0, 512, 32, 1)
KERNELS(q4_0, block_panel, QN_Q4_0, 256, 32, 1)
KERNELS(q4_k, block_panel, QN_Q4_K, 256, 320, 8)
KERNELS(q5_k, block_panel, QN_Q5_K, 320, 320, 8)
KERNELS(q6_k, block_panel, QN_Q6_K, 384, 288, 8)

#define ROW(name)                                                                                  \
    {                                                                                              \
        name##_1, name##_2, name##_4, name##_8                                                     \
    }

const struct cpu_kernels SET = {
    .name = SET_NAME,
    .supported = supported,
    .rms_norm = lanes_rms_norm,
    .silu_mul = lanes_silu_mul,
    .softmax = lanes_softmax,
    .add = lanes_add,
    .dot = lanes_dot,
    .narrow = lanes_narrow,
    .widen = lanes_widen,
    .attend = attend,
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
