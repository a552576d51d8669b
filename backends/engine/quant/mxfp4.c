/* MXFP4: 32 weights, one byte e, then 16 bytes; byte j holds weight j in its low and weight j + 16
 * in its high four bits, each an E2M1 number: x = 2^(e - 127)·number. Source: OCP Microscaling
 * Formats (MX) 1.0; 255, which it keeps for NaN, is 2^128 here as in ggml. */
#include "engine/quant/quant.h"

#include <math.h>

enum { BLOCK = 32, BYTES = 17 };

/* E2M1: sign, two bits of exponent, one of mantissa. The table has twice the number, so that all
 * entries are integers. */
const int8_t qn_fp4_levels[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/* Half of 2^(e - 127), since the levels are doubled. */
static float half_power(uint8_t e)
{
    return ldexpf(1, e - 128);
}

void qn_mxfp4_dequant(float *out, const void *in, int64_t n)
{
    const unsigned char *b = in;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        float d = half_power(b[0]);
        for (int j = 0; j < BLOCK / 2; j++) {
            out[i + j] = d * qn_fp4_levels[b[1 + j] & 15];
            out[i + j + BLOCK / 2] = d * qn_fp4_levels[b[1 + j] >> 4];
        }
    }
}

/* The power of two that scales the largest weight to just below 6, the largest number, or slightly
 * above it where rounding to 6 loses less than a coarser step would. */
void qn_mxfp4_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        float top = 0;
        int e = 0;
        for (int j = 0; j < BLOCK; j++)
            top = fmaxf(top, fabsf(in[i + j]));
        if (top > 0)
            e = (int)ceilf(log2f(top / 7)) + 127;
        e = e < 0 ? 0 : e > 254 ? 254 : e;
        b[0] = (unsigned char)e;
        float d = half_power(b[0]);
        for (int j = 0; j < BLOCK / 2; j++) {
            int lo = qn_nearest_level(qn_fp4_levels, 16, in[i + j] / d);
            int hi = qn_nearest_level(qn_fp4_levels, 16, in[i + j + BLOCK / 2] / d);
            b[1 + j] = (unsigned char)(lo | hi << 4);
        }
    }
}

void qn_mxfp4_codes(uint8_t out[32], const void *row, int64_t group)
{
    qn_nibbles(out, (const unsigned char *)row + group * BYTES + 1);
}

void qn_mxfp4_scales(struct qn_block_scales *out, const void *block)
{
    out->scale[0] = *(const unsigned char *)block;
}
