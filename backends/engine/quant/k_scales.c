/* Helpers of Q4_K and Q5_K: a superblock of 256 weights has eight groups of 32, each with a 6-bit
 * scale and a 6-bit minimum, packed into twelve bytes, under two half-precision factors. */
#include "engine/quant/quant.h"

#include <math.h>

/* Groups 0..3: low six bits of bytes 0..3 (scales) and 4..7 (minima). Groups 4..7: four low bits in
 * bytes 8..11 (scale low, minimum high nibble), two high bits in the top bits of bytes 0..3 and
 * 4..7. */
void qn_k_scales_unpack(const unsigned char in[12], uint8_t scale[8], uint8_t min[8])
{
    for (int j = 0; j < 4; j++) {
        scale[j] = in[j] & 63;
        min[j] = in[j + 4] & 63;
        scale[j + 4] = (uint8_t)((in[j + 8] & 15) | in[j] >> 6 << 4);
        min[j + 4] = (uint8_t)(in[j + 8] >> 4 | in[j + 4] >> 6 << 4);
    }
}

void qn_k_scales_pack(unsigned char out[12], const uint8_t scale[8], const uint8_t min[8])
{
    for (int j = 0; j < 4; j++) {
        out[j] = (unsigned char)(scale[j] | scale[j + 4] >> 4 << 6);
        out[j + 4] = (unsigned char)(min[j] | min[j + 4] >> 4 << 6);
        out[j + 8] = (unsigned char)((scale[j + 4] & 15) | (min[j + 4] & 15) << 4);
    }
}

void qn_k_fit(const float *x, int levels, float *d, float *dmin, uint8_t scale[8], uint8_t min[8])
{
    float width[8], low[8], widest = 0, lowest = 0;
    for (int j = 0; j < 8; j++) {
        float hi = 0, lo = 0; /* the minimum cannot be positive: zero is always in the range */
        for (int i = 0; i < 32; i++) {
            hi = fmaxf(hi, x[32 * j + i]);
            lo = fminf(lo, x[32 * j + i]);
        }
        width[j] = (hi - lo) / (float)levels;
        low[j] = -lo;
        widest = fmaxf(widest, width[j]);
        lowest = fmaxf(lowest, low[j]);
    }
    *d = qn_f16_to_f32(qn_f32_to_f16(widest / 63));
    *dmin = qn_f16_to_f32(qn_f32_to_f16(lowest / 63));
    for (int j = 0; j < 8; j++) {
        scale[j] = (uint8_t)(*d > 0 ? qn_clamp_code(width[j] / *d, 63) : 0);
        min[j] = (uint8_t)(*dmin > 0 ? qn_clamp_code(low[j] / *dmin, 63) : 0);
    }
}
