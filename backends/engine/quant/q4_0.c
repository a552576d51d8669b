/* Q4_0: 32 weights, one half-float scale d, then 16 bytes; byte j holds weight j in its low and
 * weight j + 16 in its high four bits: x = d·(code - 8). */
#include "engine/quant/quant.h"

enum { BLOCK = 32, BYTES = 18 };

void qn_q4_0_dequant(float *out, const void *in, int64_t n)
{
    const unsigned char *b = in;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        float d = qn_load_f16(b);
        for (int j = 0; j < BLOCK / 2; j++) {
            out[i + j] = d * (float)((b[2 + j] & 15) - 8);
            out[i + j + BLOCK / 2] = d * (float)((b[2 + j] >> 4) - 8);
        }
    }
}

/* The scale is chosen so that the weight farthest from zero becomes code 0, which means -8. */
void qn_q4_0_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        uint16_t h = qn_f32_to_f16(qn_farthest(in + i, BLOCK) / -8);
        float d = qn_f16_to_f32(h), inv = d != 0 ? 1 / d : 0;
        qn_store_u16(b, h);
        for (int j = 0; j < BLOCK / 2; j++) {
            int lo = qn_clamp_code(in[i + j] * inv + 8, 15);
            int hi = qn_clamp_code(in[i + j + BLOCK / 2] * inv + 8, 15);
            b[2 + j] = (unsigned char)(lo | hi << 4);
        }
    }
}

void qn_q4_0_codes(uint8_t out[32], const void *row, int64_t group)
{
    qn_nibbles(out, (const unsigned char *)row + group * BYTES + 2);
}

void qn_q4_0_scales(struct qn_block_scales *out, const void *block)
{
    out->d = qn_load_u16(block);
}
