/* Block types: each file in this folder defines one type's format (public GGUF formats, ggml) by
 * its portable reference code, which is one row of the table in dtype.c.
 *
 * _codes gives the unsigned codes of the row's weights 32·group .. + 31 and _scales the scales of
 * one block, for packing (cpu/pack.h says how they are applied): a weight is scale·(code - offset),
 * scale·code - minimum, or scale·levels[code] if codes are not evenly spaced. Blocks in a file are
 * unaligned: half floats are read byte by byte. n is a multiple of the block. */
#ifndef QN_ENGINE_QUANT_QUANT_H
#define QN_ENGINE_QUANT_QUANT_H

#include "engine/dtype.h"

#include <string.h>

#define QN_QUANT_DECLARE(c, name, number, elements, bytes)                                         \
    void qn_##c##_dequant(float *out, const void *in, int64_t n);                                  \
    void qn_##c##_quant(void *out, const float *in, int64_t n);                                    \
    void qn_##c##_codes(uint8_t out[32], const void *row, int64_t group);                          \
    void qn_##c##_scales(struct qn_block_scales *out, const void *block);
QN_BLOCK_TYPES(QN_QUANT_DECLARE)
#undef QN_QUANT_DECLARE

/* The value of each code, for types whose codes are not evenly spaced: of E2M1 numbers (twice the
 * number), IQ4, IQ2 (magnitude + 4·negative), IQ3 (magnitude + 8·negative) and IQ1_M (in eighths:
 * ternary code + 4·negative delta). Padded with zeros. */
extern const int8_t qn_fp4_levels[16], qn_iq4_levels[16], qn_iq2_levels[16], qn_iq3_xxs_levels[16],
    qn_iq3_s_levels[16], qn_iq1_m_levels[16];

static inline uint16_t qn_load_u16(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline void qn_store_u16(unsigned char *p, uint16_t v)
{
    p[0] = (unsigned char)v;
    p[1] = (unsigned char)(v >> 8);
}

static inline uint32_t qn_load_u32(const unsigned char *p)
{
    return (uint32_t)qn_load_u16(p) | (uint32_t)qn_load_u16(p + 2) << 16;
}

static inline void qn_store_u32(unsigned char *p, uint32_t v)
{
    qn_store_u16(p, (uint16_t)v);
    qn_store_u16(p + 2, (uint16_t)(v >> 16));
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bytes of words are taken in order");

/* Bit j of b as byte j of the result, 0 or 1. */
static inline uint64_t qn_bits_to_bytes(uint8_t b)
{
    uint64_t each = b * 0x0101010101010101u & 0x8040201008040201u;
    return (each + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
}

/* Eight digits of a point with sign bits above them: bit j of signs is bit `top` of code j. */
static inline void qn_put_signed_point(uint8_t out[8], const uint8_t point[8], uint8_t signs,
                                       int top)
{
    uint64_t digits;
    memcpy(&digits, point, 8);
    digits |= qn_bits_to_bytes(signs) << top;
    memcpy(out, &digits, 8);
}

static inline float qn_load_f16(const unsigned char *p)
{
    return qn_f16_to_f32(qn_load_u16(p));
}

/* Sixteen bytes as 32 codes: byte j holds code j in its low and code j + 16 in its high four bits.
 */
static inline void qn_nibbles(uint8_t out[32], const unsigned char in[16])
{
    for (int j = 0; j < 16; j++) {
        out[j] = in[j] & 15;
        out[j + 16] = in[j] >> 4;
    }
}

/* The twelve bytes that hold eight 6-bit scales and eight 6-bit minima of Q4_K and Q5_K. */
void qn_k_scales_unpack(const unsigned char in[12], uint8_t scale[8], uint8_t min[8]);
void qn_k_scales_pack(unsigned char out[12], const uint8_t scale[8], const uint8_t min[8]);
/* Finds the scales of one superblock of 256 for codes 0 .. levels, by range: x ≈ d·scale·code -
 * dmin·min. */
void qn_k_fit(const float *x, int levels, float *d, float *dmin, uint8_t scale[8], uint8_t min[8]);
/* The codes of 32 weights of five bits; and the inverse for one code, into bits that are still 0.
 */
void qn_five_bits(uint8_t out[32], const unsigned char high[4], const unsigned char low[16]);
void qn_put_five_bits(unsigned char high[4], unsigned char low[16], int j, int code);
/* The half floats d and m for x ≈ d·code + m with codes 0 .. levels, written to head and rounded.
 */
void qn_range_fit(const float *x, int n, int levels, unsigned char *head, float *d, float *m);
/* The half float d and codes 0, 1, 2 for x ≈ d·(code - 1), of 256 weights. */
uint16_t qn_ternary_fit(const float *x, uint8_t code[256]);
/* The one of n weights that is farthest from zero. */
float qn_farthest(const float *x, int n);
/* The index of the level nearest to x. */
int qn_nearest_level(const int8_t *levels, int n, float x);
/* round(v) clamped to 0 .. max. */
int qn_clamp_code(float v, int max);

/* Grids of the IQ types: the points of [3]^8 or [8]^4 that are used, by index. */
enum qn_grid {
    QN_GRID_IQ2_XXS,
    QN_GRID_IQ2_XS,
    QN_GRID_IQ2_S,
    QN_GRID_IQ1,
    QN_GRID_IQ3_XXS,
    QN_GRID_IQ3_S
};
/* Points [n][dim] of digits: dim 8 and digits 0 .. 2, for IQ3 dim 4 and digits 0 .. 7. Borrowed. */
const uint8_t *qn_grid_points(enum qn_grid g);
/* The index of the point whose levels (of its digits) are nearest to x [dim]. */
int qn_grid_nearest(enum qn_grid g, const int8_t *levels, const float *x);
/* The square of the distance of point `index` from x. */
float qn_grid_error(enum qn_grid g, const int8_t *levels, const float *x, int index);
/* The signs of eight weights from seven bits: the number of negative weights is even. Bit j of the
 * result: weight j is negative. */
uint8_t qn_even_signs(unsigned seven);
/* Eight weights as magnitudes times inv with an even number of signs, which are returned; if one
 * weight's sign had to change, its magnitude stays negative. */
uint8_t qn_even_magnitudes(float x[8], const float w[8], float inv);
/* Eight bytes of sixteen 4-bit scales, low nibble first, as 2·scale + 1; and the inverse, bytes of
 * scales 0 .. 15. */
void qn_odd_scales(uint8_t out[16], const unsigned char in[8]);
void qn_put_odd_scales(unsigned char out[8], const uint8_t scale[16]);
/* Blocks of 256 as x = unit·d·scale·levels[code] with a scale for `per` weights; exact. */
void qn_iq_dequant(float *out, const void *in, int64_t n, enum qn_dtype t, const int8_t *levels,
                   int per, float unit);
/* The half float d and scales s (0 .. s_max) of 256 / per runs: unit·d·(2s + 1) ≈ want[run]. */
uint16_t qn_iq_fit(const float *want, int runs, int s_max, float unit, uint8_t *s);
/* Sets want[run] so that the largest magnitude of each run becomes `top`. */
void qn_iq_want(float *want, const float *x, int per, int top);
/* Sets want[run] for ternary weights: the best scale for normally distributed weights. */
void qn_iq1_want(float *want, const float *x, int per);

#endif
