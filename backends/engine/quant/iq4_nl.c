/* IQ4_NL: 32 weights, one half-float scale d, then 16 bytes; byte j holds weight j in its low and
 * weight j + 16 in its high four bits: x = d·level[code], levels dense around zero. */
#include "engine/quant/quant.h"

enum { BLOCK = 32, BYTES = 18 };

const int8_t qn_iq4_levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                  1,    13,   25,  38,  53,  69,  89,  113};

void qn_iq4_nl_dequant(float *out, const void *in, int64_t n)
{
    const unsigned char *b = in;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        float d = qn_load_f16(b);
        for (int j = 0; j < BLOCK / 2; j++) {
            out[i + j] = d * qn_iq4_levels[b[2 + j] & 15];
            out[i + j + BLOCK / 2] = d * qn_iq4_levels[b[2 + j] >> 4];
        }
    }
}

/* The weight farthest from zero becomes level -127. */
void qn_iq4_nl_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        uint16_t h = qn_f32_to_f16(qn_farthest(in + i, BLOCK) / -127);
        float d = qn_f16_to_f32(h), inv = d != 0 ? 1 / d : 0;
        qn_store_u16(b, h);
        for (int j = 0; j < BLOCK / 2; j++) {
            int lo = qn_nearest_level(qn_iq4_levels, 16, in[i + j] * inv);
            int hi = qn_nearest_level(qn_iq4_levels, 16, in[i + j + BLOCK / 2] * inv);
            b[2 + j] = (unsigned char)(lo | hi << 4);
        }
    }
}

void qn_iq4_nl_codes(uint8_t out[32], const void *row, int64_t group)
{
    qn_nibbles(out, (const unsigned char *)row + group * BYTES + 2);
}

void qn_iq4_nl_scales(struct qn_block_scales *out, const void *block)
{
    out->d = qn_load_u16(block);
}
