/* Rows of keys and values in the cache's format: storing them, and widening them to f32, in vectors
 * of the width that the including file is compiled for. F16, BF16, F32, Q8_0 and Q4_0 (formats:
 * quant/). */
#ifndef QN_ENGINE_CPU_CACHE_ROWS_H
#define QN_ENGINE_CPU_CACHE_ROWS_H

#include "engine/cpu/lanes.h"

/* WIDTH bytes, signed or unsigned, one per lane; not the compiler's own vector conversion, which
 * uses single elements if the widths differ. */
static inline ivec ivec_from_bytes(const char *p)
{
#if defined(__AVX512F__)
    return (ivec)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p));
#elif defined(__AVX2__)
    return (ivec)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p));
#else
    ivec v;
    for (int i = 0; i < WIDTH; i++)
        v[i] = (int8_t)p[i];
    return v;
#endif
}

static inline ivec ivec_from_codes(const char *p)
{
#if defined(__AVX512F__)
    return (ivec)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p));
#elif defined(__AVX2__)
    return (ivec)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
#else
    ivec v;
    for (int i = 0; i < WIDTH; i++)
        v[i] = (uint8_t)p[i];
    return v;
#endif
}

/* Stores the low byte of each lane. */
static inline void ivec_to_bytes(char *p, ivec v)
{
#if defined(__AVX512F__)
    _mm_storeu_si128((__m128i *)p, _mm512_cvtepi32_epi8((__m512i)v));
#else
    for (int i = 0; i < WIDTH; i++)
        p[i] = (char)v[i];
#endif
}

static inline vec vec_from_ints(ivec v)
{
    return __builtin_convertvector(v, vec);
}

static inline uint16_t cache_u16(const char *p)
{
    uint16_t h;
    memcpy(&h, p, sizeof h);
    return h;
}

static inline float cache_half(const char *p)
{
#if defined(__F16C__)
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(cache_u16(p))));
#else
    return qn_f16_to_f32(cache_u16(p));
#endif
}

static inline vec vec_limit(vec v, float lo, float hi)
{
    const vec zero = {0}, low = zero + lo, high = zero + hi;
    v = vec_choose(v > low, v, low); /* also replaces NaN */
    return vec_choose(v < high, v, high);
}

/* Rounds v to the nearest integers, ties to even, for magnitudes below 2^22. */
static inline ivec vec_whole(vec v)
{
    return (ivec)(v + 12582912.0f) - 0x4b400000;
}

static inline void keep_q8_0(char *block, const float *x)
{
    vec high = {0};
    for (int j = 0; j < 32; j += WIDTH) {
        vec v = vec_load(x + j), negative = -v;
        v = vec_choose(v > negative, v, negative);
        high = vec_choose(v > high, v, high);
    }
    uint16_t h = qn_f32_to_f16(vec_highest(high) / 127);
    float d = qn_f16_to_f32(h), inv = d > 0 ? 1 / d : 0;
    memcpy(block, &h, sizeof h);
    for (int j = 0; j < 32; j += WIDTH) {
        ivec q = vec_whole(vec_limit(vec_load(x + j) * inv, -127, 127));
        ivec_to_bytes(block + 2 + j, q);
    }
}

static inline void keep_q4_0(char *block, const float *x)
{
    vec high = {0}, low = {0};
    for (int j = 0; j < 32; j += WIDTH) {
        vec v = vec_load(x + j);
        high = vec_choose(v > high, v, high);
        low = vec_choose(v < low, v, low);
    }
    float top = vec_highest(high), bottom = vec_highest(-low);
    uint16_t h = qn_f32_to_f16((top > bottom ? top : -bottom) / -8);
    float d = qn_f16_to_f32(h), inv = d != 0 ? 1 / d : 0;
    memcpy(block, &h, sizeof h);
    for (int j = 0; j < 16; j += WIDTH) {
        ivec lo = vec_whole(vec_limit(vec_load(x + j) * inv, -8, 7)) + 8;
        ivec hi = vec_whole(vec_limit(vec_load(x + j + 16) * inv, -8, 7)) + 8;
        ivec_to_bytes(block + 2 + j, lo | hi << 4);
    }
}

/* Stores n elements, a multiple of the type's block. */
static void keep_row(enum qn_dtype type, void *to, const float *from, int64_t n)
{
    char *p = to;
    switch (type) {
    case QN_F16:
        lanes_narrow(to, from, n);
        break;
    case QN_F32:
        memcpy(to, from, (size_t)n * sizeof *from);
        break;
    case QN_Q8_0:
        for (int64_t i = 0; i < n; i += 32, p += 34)
            keep_q8_0(p, from + i);
        break;
    case QN_Q4_0:
        for (int64_t i = 0; i < n; i += 32, p += 18)
            keep_q4_0(p, from + i);
        break;
    default:
        qn_dtype(type)->quant(to, from, n);
    }
}

static inline vec vec_from_halves(const char *p)
{
#if defined(__AVX512F__)
    return (vec)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
#elif defined(__AVX2__)
    return (vec)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
#else
    vec v;
    for (int i = 0; i < WIDTH; i++)
        v[i] = cache_half(p + 2 * i);
    return v;
#endif
}

static inline vec vec_from_bf16(const char *p)
{
#if defined(__AVX512F__)
    return (vec)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p)),
                                  16);
#elif defined(__AVX2__)
    return (vec)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)), 16);
#else
    ivec v;
    for (int i = 0; i < WIDTH; i++)
        v[i] = (int32_t)((uint32_t)cache_u16(p + 2 * i) << 16);
    return (vec)v;
#endif
}

/* Elements c .. c + WIDTH - 1 of a cached row; c a multiple of WIDTH, all within the row. */
static inline __attribute__((always_inline)) vec cached(enum qn_dtype type, const char *row, int c)
{
    if (type == QN_F16)
        return vec_from_halves(row + 2 * c);
    if (type == QN_F32) {
        vec v;
        memcpy(&v, row + 4 * c, sizeof v);
        return v;
    }
    if (type == QN_BF16)
        return vec_from_bf16(row + 2 * c);
    if (type == QN_Q8_0) {
        const char *block = row + c / 32 * 34;
        return vec_from_ints(ivec_from_bytes(block + 2 + c % 32)) * cache_half(block);
    }
    const char *block =
        row + c / 32 * 18; /* Q4_0: low nibbles are elements 0 .. 15, high the rest */
    ivec q = ivec_from_codes(block + 2 + c % 16);
    return vec_from_ints((c % 32 < 16 ? q & 15 : q >> 4) - 8) * cache_half(block);
}

/* One element, for types whose rows need not be a multiple of WIDTH. */
static inline float cached_one(enum qn_dtype type, const char *row, int c)
{
    float v;
    qn_dtype(type)->dequant(&v, row + (size_t)c * (size_t)qn_dtype(type)->block_bytes, 1);
    return v;
}

static inline __attribute__((always_inline)) void widen_typed(enum qn_dtype type, float *to,
                                                              const char *row, int dim)
{
    int c = 0;
    for (; c + WIDTH <= dim; c += WIDTH)
        vec_store(to + c, cached(type, row, c));
    for (; c < dim; c++)
        to[c] = cached_one(type, row, c);
}

static void widen_row(enum qn_dtype type, float *to, const char *row, int dim)
{
    switch (type) {
    case QN_F16:
        widen_typed(QN_F16, to, row, dim);
        break;
    case QN_F32:
        widen_typed(QN_F32, to, row, dim);
        break;
    case QN_BF16:
        widen_typed(QN_BF16, to, row, dim);
        break;
    case QN_Q8_0:
        widen_typed(QN_Q8_0, to, row, dim);
        break;
    default:
        widen_typed(QN_Q4_0, to, row, dim);
    }
}

#endif
