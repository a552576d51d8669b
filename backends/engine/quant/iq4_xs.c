/* IQ4_XS: 256 weights in eight groups of 32: half float d, two bytes of high and four of low bits
 * of the groups' 6-bit scales, then 16 bytes per group as IQ4_NL's: x = d·(scale - 32)·level[code].
 * Scale g has its low four bits in byte g / 2 of the four, low nibble for even g, and its high two
 * bits at bit 2g of the sixteen. */
#include "engine/quant/quant.h"

#include <math.h>

enum { BLOCK = 256, BYTES = 136, HIGH = 2, LOW = 4, CODES = 8 };

static int scale_of(const unsigned char *b, int g)
{
    int low = b[LOW + g / 2] >> g % 2 * 4 & 15, high = qn_load_u16(b + HIGH) >> 2 * g & 3;
    return (low | high << 4) - 32;
}

void qn_iq4_xs_dequant(float *out, const void *in, int64_t n)
{
    const unsigned char *b = in;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES)
        for (int g = 0; g < 8; g++) {
            const unsigned char *q = b + CODES + 16 * g;
            float d = qn_load_f16(b) * (float)scale_of(b, g), *x = out + i + 32 * g;
            for (int j = 0; j < 16; j++) {
                x[j] = d * qn_iq4_levels[q[j] & 15];
                x[j + 16] = d * qn_iq4_levels[q[j] >> 4];
            }
        }
}

/* The weight farthest from zero becomes level -127. */
void qn_iq4_xs_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        float far[8], top = 0;
        unsigned high = 0;
        for (int g = 0; g < 8; g++) {
            far[g] = qn_farthest(in + i + 32 * g, 32);
            top = fmaxf(top, fabsf(far[g]));
        }
        memset(b, 0, BYTES);
        qn_store_u16(b, qn_f32_to_f16(top / 127 / 31));
        float d = qn_load_f16(b);
        for (int g = 0; g < 8; g++) {
            int scale = d > 0 ? qn_clamp_code(far[g] / -127 / d + 32, 63) : 32;
            b[LOW + g / 2] |= (unsigned char)((scale & 15) << g % 2 * 4);
            high |= (unsigned)scale >> 4 << 2 * g;
        }
        qn_store_u16(b + HIGH, (uint16_t)high);
        for (int j = 0; j < BLOCK; j++) {
            float step = d * (float)scale_of(b, j / 32);
            int code = qn_nearest_level(qn_iq4_levels, 16, step != 0 ? in[i + j] / step : 0);
            b[CODES + j / 32 * 16 + j % 16] |= (unsigned char)(code << (j % 32 < 16 ? 0 : 4));
        }
    }
}

void qn_iq4_xs_codes(uint8_t out[32], const void *row, int64_t group)
{
    const unsigned char *b = (const unsigned char *)row + group / 8 * BYTES;
    qn_nibbles(out, b + CODES + group % 8 * 16);
}

void qn_iq4_xs_scales(struct qn_block_scales *out, const void *block)
{
    out->d = qn_load_u16(block);
    for (int g = 0; g < 8; g++)
        out->scale[g] = (uint8_t)scale_of(block, g);
}
