/* Kernels for AVX-512 with VNNI: one vector is one group of a panel, sixteen rows by four columns,
 * and is multiplied by four columns of an activation, broadcast to all rows. Sums across lanes are
 * never needed. */
#include "engine/cpu/ahead.h"
#include "engine/cpu/amx.h"
#include "engine/cpu/attend.h"
#include "engine/cpu/recurrent.h"

#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))

enum { P = CPU_PANEL };

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

/* (a & mask) | b and (a | b) & mask take two instructions each; a ternary-logic instruction takes
 * one. */
INLINE __m512i and_or(__m512i a, __m512i mask, __m512i b)
{
    return _mm512_ternarylogic_epi32(a, mask, b, 0xEA);
}

/* Sixteen levels, each with the type's offset, in every quarter of a vector. */
INLINE __m512i levels_of(enum qn_dtype t)
{
    const struct cpu_layout *l = cpu_layout(t);
    if (!l->levels)
        return _mm512_setzero_si512();
    __m128i v = _mm_loadu_si128((const __m128i *)l->levels);
    return _mm512_broadcast_i32x4(_mm_add_epi8(v, _mm_set1_epi8((char)l->offset)));
}

/* The values of the codes of 32 columns, including the offset, one vector per group. */
INLINE void unpack(enum qn_dtype t, const char *unit, __m512i levels, __m512i w[8])
{
    const enum cpu_codes form = cpu_layout(t)->codes;
    const __m512i low = _mm512_set1_epi8(15), two = _mm512_set1_epi8(3);
    if (form == CODES_8) {
        for (int g = 0; g < 8; g++)
            w[g] = load(unit + 64 * g);
    } else if (form == CODES_6) {
        const __m512i top = _mm512_set1_epi8(0x30);
        for (int h = 0; h < 2; h++) {
            __m512i a = load(unit + 192 * h), b = load(unit + 192 * h + 64);
            __m512i high = load(unit + 192 * h + 128);
            w[4 * h] = and_or(_mm512_slli_epi16(high, 4), top, _mm512_and_si512(a, low));
            w[4 * h + 1] = and_or(_mm512_slli_epi16(high, 2), top,
                                  _mm512_and_si512(_mm512_srli_epi16(a, 4), low));
            w[4 * h + 2] = and_or(high, top, _mm512_and_si512(b, low));
            w[4 * h + 3] = and_or(_mm512_srli_epi16(high, 2), top,
                                  _mm512_and_si512(_mm512_srli_epi16(b, 4), low));
        }
    } else if (form == CODES_4 || form == CODES_5) {
        for (int v = 0; v < 4; v++) {
            __m512i both = load(unit + 64 * v);
            w[2 * v] = _mm512_and_si512(both, low);
            w[2 * v + 1] = _mm512_and_si512(_mm512_srli_epi16(both, 4), low);
        }
    } else {
        for (int v = 0; v < 2; v++) {
            __m512i four = load(unit + 64 * v);
            w[4 * v] = _mm512_and_si512(four, two);
            w[4 * v + 1] = _mm512_and_si512(_mm512_srli_epi16(four, 2), two);
            w[4 * v + 2] = _mm512_and_si512(_mm512_srli_epi16(four, 4), two);
            w[4 * v + 3] = _mm512_and_si512(_mm512_srli_epi16(four, 6), two);
        }
    }
    if (form == CODES_5) {
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
    } else if (form == CODES_3) {
        const __m512i bit = _mm512_set1_epi8(4);
        __m512i high = load(unit + 128);
        w[0] = and_or(_mm512_slli_epi16(high, 2), bit, w[0]);
        w[1] = and_or(_mm512_slli_epi16(high, 1), bit, w[1]);
        w[2] = and_or(high, bit, w[2]);
        w[3] = and_or(_mm512_srli_epi16(high, 1), bit, w[3]);
        w[4] = and_or(_mm512_srli_epi16(high, 2), bit, w[4]);
        w[5] = and_or(_mm512_srli_epi16(high, 3), bit, w[5]);
        w[6] = and_or(_mm512_srli_epi16(high, 4), bit, w[6]);
        w[7] = and_or(_mm512_srli_epi16(high, 5), bit, w[7]);
    }
    if (cpu_layout(t)->levels)
        for (int g = 0; g < 8; g++)
            w[g] = _mm512_shuffle_epi8(levels, w[g]);
}

/* The scales of the i-th run at s; a run is the 16 or 32 columns that share a scale. d: their
 * common factor, for types that have one. */
INLINE __m512 scales_of(enum qn_dtype t, const char *s, __m512 d, int i)
{
    switch (cpu_layout(t)->scales) {
    case SCALES_E8M0: {
        __m128i e = _mm_subs_epu8(_mm_loadu_si128((const __m128i *)s), _mm_set1_epi8(1));
        return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu8_epi32(e), 23));
    }
    case SCALES_E4M3: {
        __m512i e = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(s + 16 * i)));
        return _mm512_mul_ps(_mm512_castsi512_ps(_mm512_slli_epi32(e, 20)),
                             _mm512_set1_ps(0x1p119f));
    }
    case SCALES_K32:
    case SCALES_K16:
        return _mm512_mul_ps(d, signed_bytes(s + 32 + 16 * i));
    case SCALES_K32_MIN:
        return _mm512_mul_ps(d, unsigned_bytes(s + 64 + 32 * i));
    case SCALES_K16_MIN: {
        __m128i v = _mm_loadu_si128((const __m128i *)(s + 64 + 16 * i));
        v = _mm_and_si128(v, _mm_set1_epi8(15));
        return _mm512_mul_ps(d, _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(v)));
    }
    default: /* SCALES_HALF, SCALES_HALF_MIN, SCALES_WIDE */
        return d;
    }
}

/* The half float at p, times the type's unit. */
INLINE __m512 factor(enum qn_dtype t, const char *p)
{
    __m512 d = halves(p);
    return cpu_layout(t)->unit == 1 ? d : _mm512_mul_ps(d, _mm512_set1_ps(cpu_layout(t)->unit));
}

/* The high nibbles of 16 bytes, as 32-bit integers. */
INLINE __m512i high_nibbles(const char *p)
{
    return _mm512_srli_epi32(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p)), 4);
}

/* acc + the product of groups first .. first + n - 1 of column c. */
INLINE __m512i dot(__m512i acc, const __m512i *w, int first, int n, const char *act, int c)
{
#pragma GCC unroll 8
    for (int g = first; g < first + n; g++)
        acc = _mm512_dpbusd_epi32(acc, w[g], all_i32(act + 32 * c + 4 * g));
    return acc;
}

/* The initial value of a sum that compensates the offset of the codes: -offset · (sum of q), from
 * the sums at p. */
INLINE __m512i less_offset(enum qn_dtype t, const char *p)
{
    const int offset = cpu_layout(t)->offset;
    return offset ? _mm512_slli_epi32(all_i32(p), __builtin_ctz((unsigned)offset))
                  : _mm512_setzero_si512();
}

/* 32 columns with one scale s, and for some types a minimum m. */
INLINE void unit_of_one(enum qn_dtype t, int nc, __m512 sum[8], const __m512i w[8], __m512 s,
                        __m512 m, const char *act)
{
    const enum cpu_scales form = cpu_layout(t)->scales;
    __m512i acc[8];
    for (int c = 0; c < nc; c++)
        acc[c] = less_offset(t, act + ACT_NSUM(nc) + 4 * c);
#pragma GCC unroll 8
    for (int g = 0; g < 8; g++)
#pragma GCC unroll 8
        for (int c = 0; c < nc; c++)
            acc[c] = _mm512_dpbusd_epi32(acc[c], w[g], all_i32(act + 32 * c + 4 * g));
    for (int c = 0; c < nc; c++) {
        sum[c] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(acc[c]),
                                 _mm512_mul_ps(s, all_f32(act + ACT_D(nc) + 4 * c)), sum[c]);
        if (form == SCALES_HALF_MIN)
            sum[c] = _mm512_fmadd_ps(m, all_f32(act + ACT_DS(nc) + 4 * c), sum[c]);
        else if (form == SCALES_K32_MIN)
            sum[c] = _mm512_fnmadd_ps(m, all_f32(act + ACT_DS(nc) + 4 * c), sum[c]);
    }
}

/* 32 columns with two scales, s0 and s1, and for SCALES_K16_MIN two minima in units of m. */
INLINE void unit_of_two(enum qn_dtype t, int nc, __m512 sum[8], const __m512i w[8], __m512 s0,
                        __m512 s1, __m512 m, const char *minima, const char *act)
{
    const bool min = cpu_layout(t)->scales == SCALES_K16_MIN;
    __m512i m0 = min ? high_nibbles(minima) : _mm512_setzero_si512();
    __m512i m1 = min ? high_nibbles(minima + 16) : m0;
    for (int c = 0; c < nc; c++) {
        const char *n0 = act + ACT_NHALF0(nc) + 4 * c, *n1 = act + ACT_NHALF1(nc) + 4 * c;
        __m512i lo = dot(less_offset(t, n0), w, 0, 4, act, c);
        __m512i hi = dot(less_offset(t, n1), w, 4, 4, act, c);
        __m512 part = _mm512_mul_ps(_mm512_cvtepi32_ps(lo), s0);
        part = _mm512_fmadd_ps(_mm512_cvtepi32_ps(hi), s1, part);
        /* sums of 16 columns fit 16 bits, and types with a minimum have no other sums */
        if (min) {
            __m512i both = _mm512_madd_epi16(m0, all_i32(n0));
            both = _mm512_dpwssd_epi32(both, m1, all_i32(n1));
            part = _mm512_fmadd_ps(_mm512_cvtepi32_ps(both), m, part);
        }
        sum[c] = _mm512_fmadd_ps(part, all_f32(act + ACT_D(nc) + 4 * c), sum[c]);
    }
}

INLINE void block_panel(enum qn_dtype t, int nc, float *y, const void *panel, const void *acts,
                        int64_t cols)
{
    const enum cpu_scales form = cpu_layout(t)->scales;
    const int code_bytes = cpu_code_bytes(t), scale_bytes = cpu_scale_bytes(t);
    const int units = cpu_record_units(t), step = cpu_scale_step(t);
    const bool two = form == SCALES_K16 || form == SCALES_K16_MIN || form == SCALES_E4M3;
    const bool factors = form != SCALES_E8M0 && form != SCALES_E4M3;
    const bool minima = form == SCALES_HALF_MIN || form == SCALES_K32_MIN || form == SCALES_K16_MIN;
    const char *unit = (const char *)panel + cpu_head_bytes(t), *act = acts;
    const __m512i levels = levels_of(t);
    const int ahead = ask_distance();
    __m512 sum[8], d = _mm512_setzero_ps(), dmin = d;
    for (int c = 0; c < nc; c++)
        sum[c] = _mm512_setzero_ps();
    for (int64_t u = 0; u < cols / 32; u += units) {
        const char *scale = unit;
        unit += scale_bytes;
        ask(scale + ahead, scale_bytes, ahead);
        for (int j = 0; j < units && u + j < cols / 32;
             j++, unit += code_bytes, act += ACT_BYTES(nc)) {
            const char *s = scale + step * j;
            const int i = step ? 0 : j; /* the unit's index within the scales at s */
            __m512i w[8];
            ask(unit + ahead, code_bytes, ahead);
            if (factors && i == 0)
                d = factor(t, s);
            if (minima && i == 0)
                dmin = factor(t, s + 32);
            unpack(t, unit, levels, w);
            if (two) {
                unit_of_two(t, nc, sum, w, scales_of(t, s, d, 2 * i), scales_of(t, s, d, 2 * i + 1),
                            dmin, s + 64 + 32 * i, act);
            } else {
                __m512 m = dmin;
                if (form == SCALES_K32_MIN)
                    m = _mm512_mul_ps(dmin, unsigned_bytes(s + 80 + 32 * i));
                unit_of_one(t, nc, sum, w, scales_of(t, s, d, i), m, act);
            }
        }
    }
    for (int c = 0; c < nc; c++) {
        if (cpu_head_bytes(t))
            sum[c] = _mm512_mul_ps(sum[c], _mm512_loadu_ps(panel));
        _mm512_storeu_ps(y + P * c, sum[c]);
    }
}

/* One panel of Q8_0 times a group and its rounding residuals. The integer sums are combined, in
 * units of 1/256 of the group's steps, before they are scaled. */
INLINE void both_panel(int nc, float *y, const void *panel, const void *group, const void *rest,
                       int64_t cols)
{
    const enum qn_dtype t = QN_Q8_0;
    const int code_bytes = cpu_code_bytes(t), scale_bytes = cpu_scale_bytes(t);
    const int units = cpu_record_units(t), step = cpu_scale_step(t), ahead = ask_distance();
    const char *unit = panel, *act = group, *fine = rest;
    __m512 sum[8];
    for (int c = 0; c < nc; c++)
        sum[c] = _mm512_setzero_ps();
    for (int64_t u = 0; u < cols / 32; u += units) {
        const char *scale = unit;
        unit += scale_bytes;
        ask(scale + ahead, scale_bytes, ahead);
        for (int j = 0; j < units && u + j < cols / 32; j++) {
            const __m512 s = factor(t, scale + step * j);
            __m512i w[8];
            ask(unit + ahead, code_bytes, ahead);
            unpack(t, unit, levels_of(t), w);
            for (int c = 0; c < nc; c++) {
                __m512i acc = dot(less_offset(t, act + ACT_NSUM(nc) + 4 * c), w, 0, 8, act, c);
                acc = _mm512_add_epi32(_mm512_slli_epi32(acc, 8),
                                       less_offset(t, fine + ACT_NSUM(nc) + 4 * c));
                acc = dot(acc, w, 0, 8, fine, c);
                sum[c] =
                    _mm512_fmadd_ps(_mm512_cvtepi32_ps(acc),
                                    _mm512_mul_ps(s, all_f32(fine + ACT_D(nc) + 4 * c)), sum[c]);
            }
            unit += code_bytes;
            act += ACT_BYTES(nc);
            fine += ACT_BYTES(nc);
        }
    }
    for (int c = 0; c < nc; c++)
        _mm512_storeu_ps(y + P * c, sum[c]);
}

#include "engine/cpu/plain_512.inc"
#include "engine/cpu/tile_512.inc"
#include "engine/cpu/wide_512.inc"

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

#define BOTH_KERNEL(nc)                                                                            \
    static void both_##nc(float *y, const void *panel, const void *group, const void *rest,        \
                          int64_t cols)                                                            \
    {                                                                                              \
        both_panel(nc, y, panel, group, rest, cols);                                               \
    }
BOTH_KERNEL(1)
BOTH_KERNEL(2)
BOTH_KERNEL(4)
BOTH_KERNEL(8)

#define ROWS_KERNEL(name, t, nc)                                                                   \
    static void name##_rows_##nc(float *y, const void *rows, size_t row_bytes, int n,              \
                                 const float *x, int64_t cols)                                     \
    {                                                                                              \
        plain_rows(t, nc, y, rows, row_bytes, n, x, cols);                                         \
    }
#define ROWS_KERNELS(name, t)                                                                      \
    ROWS_KERNEL(name, t, 1) ROWS_KERNEL(name, t, 2) ROWS_KERNEL(name, t, 4) ROWS_KERNEL(name, t, 8)

ROWS_KERNELS(f32, QN_F32)
ROWS_KERNELS(f16, QN_F16)
ROWS_KERNELS(bf16, QN_BF16)
#define BLOCK_KERNELS(c, name, number, elements, bytes) KERNELS(c, block_panel, QN_##name, )
QN_BLOCK_TYPES(BLOCK_KERNELS)
#define WIDE_KERNEL(c, name, number, elements, bytes)                                              \
    static void c##_wide(void *out, const void *panel, int64_t cols)                               \
    {                                                                                              \
        wide_panel(QN_##name, out, panel, cols);                                                   \
    }
QN_BLOCK_TYPES(WIDE_KERNEL)

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

#define PLAIN_ROW(name)                                                                            \
    {                                                                                              \
        name##_rows_1, name##_rows_2, name##_rows_4, name##_rows_8                                 \
    }
#define BLOCK_ROW(c, name, number, elements, bytes) [QN_##name] = ROW(c),
#define WIDE_ROW(c, name, number, elements, bytes) [QN_##name] = c##_wide,

/* Members that the AVX-512 and the AMX set share. */
#define BOTH_SETS                                                                                  \
    .rms_norm = lanes_rms_norm, .silu_mul = lanes_silu_mul, .mul = lanes_mul,                      \
    .sigmoid_mul = lanes_sigmoid_mul, .softmax = lanes_softmax, .add = lanes_add,                  \
    .dot = lanes_dot, .narrow = lanes_narrow, .widen = lanes_widen, .keep = keep_row,              \
    .attend = attend, .attend_part = attend_part, .attend_join = attend_join, .conv = lanes_conv,  \
    .delta = lanes_delta, .scan = lanes_scan, .plain_classes = plain_classes,                      \
    .plain_tile = plain_tile, .round = lanes_round, .rest = lanes_rest, .both = ROW(both),         \
    .panel = {QN_BLOCK_TYPES(BLOCK_ROW)},                                                          \
    .rows = {[QN_F32] = PLAIN_ROW(f32), [QN_F16] = PLAIN_ROW(f16), [QN_BF16] = PLAIN_ROW(bf16)},   \
    .wide_panel = {QN_BLOCK_TYPES(WIDE_ROW)}

const struct cpu_kernels cpu_kernels_avx512 = {
    .name = "avx512",
    .supported = supported,
    .wide = {NULL, CPU_WIDE_ROWS, 16, wide_tile, tile_ready, NULL, NULL},
    BOTH_SETS,
};

static bool with_tiles(void)
{
    return supported() && cpu_has_amx();
}

const struct cpu_kernels cpu_kernels_amx = {
    .name = "amx",
    .supported = with_tiles,
    .wide = {NULL, CPU_WIDE_ROWS, 12, cpu_tiles_tile, NULL, cpu_tiles_begin, cpu_tiles_end},
    BOTH_SETS,
};
