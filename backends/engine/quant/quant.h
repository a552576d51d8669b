/* Block types: each file beside this one defines one type's layout (public GGUF formats, ggml) by
 * its portable reference code, which is one row of the table in dtype.c.
 *
 * _codes gives the unsigned codes of the row's weights 32·group .. + 31, for laying rows out anew:
 * a weight is scale·(code - offset) or scale·code - minimum. Blocks in a file have no alignment:
 * halves are read byte by byte. n is a multiple of the block.
 */
#ifndef QN_ENGINE_QUANT_QUANT_H
#define QN_ENGINE_QUANT_QUANT_H

#include "engine/dtype.h"

#include <string.h>

#define QN_QUANT_DECLARE(name)                                                                     \
    void qn_##name##_dequant(float *out, const void *in, int64_t n);                               \
    void qn_##name##_quant(void *out, const float *in, int64_t n);                                 \
    void qn_##name##_codes(uint8_t out[32], const void *row, int64_t group)

QN_QUANT_DECLARE(q8_0);
QN_QUANT_DECLARE(q4_0);
QN_QUANT_DECLARE(q4_k);
QN_QUANT_DECLARE(q5_k);
QN_QUANT_DECLARE(q6_k);

static inline uint16_t qn_load_u16(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline void qn_store_u16(unsigned char *p, uint16_t v)
{
    p[0] = (unsigned char)v;
    p[1] = (unsigned char)(v >> 8);
}

static inline float qn_load_f16(const unsigned char *p)
{
    return qn_f16_to_f32(qn_load_u16(p));
}

/* The twelve bytes that hold eight 6-bit scales and eight 6-bit minima of Q4_K and Q5_K. */
void qn_k_scales_unpack(const unsigned char in[12], uint8_t scale[8], uint8_t min[8]);
/* The head of a Q4_K or Q5_K block: bits of the halves d and dmin, then its scales and minima. */
void qn_k_head(const void *block, uint16_t *d, uint16_t *dmin, uint8_t scale[8], uint8_t min[8]);
/* The bits of the half d and the sixteen scales of a Q6_K block. */
void qn_q6_k_head(const void *block, uint16_t *d, int8_t scale[16]);
void qn_k_scales_pack(unsigned char out[12], const uint8_t scale[8], const uint8_t min[8]);
/* Scales of one superblock of 256 for codes 0 .. levels: x ≈ d·scale·code - dmin·min, by range. */
void qn_k_fit(const float *x, int levels, float *d, float *dmin, uint8_t scale[8], uint8_t min[8]);
/* round(v) held within 0 .. max. */
int qn_clamp_code(float v, int max);

#endif
