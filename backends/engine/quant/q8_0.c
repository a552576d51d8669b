/* Q8_0: 32 weights, one half-float scale d, then 32 signed bytes: x = d·q. */
#include "engine/quant/quant.h"

#include <math.h>

enum { BLOCK = 32, BYTES = 34 };

void qn_q8_0_dequant(float *out, const void *in, int64_t n)
{
    const unsigned char *b = in;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        float d = qn_load_f16(b);
        for (int j = 0; j < BLOCK; j++)
            out[i + j] = d * (float)(int8_t)b[2 + j];
    }
}

void qn_q8_0_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        float top = 0;
        for (int j = 0; j < BLOCK; j++)
            top = fmaxf(top, fabsf(in[i + j]));
        uint16_t h = qn_f32_to_f16(top / 127);
        float d = qn_f16_to_f32(h);
        qn_store_u16(b, h);
        for (int j = 0; j < BLOCK; j++) {
            float q = d > 0 ? roundf(in[i + j] / d) : 0;
            b[2 + j] = (unsigned char)(int8_t)fmaxf(-127, fminf(127, q));
        }
    }
}

/* Codes are q + 128, so that they are unsigned. */
void qn_q8_0_codes(uint8_t out[32], const void *row, int64_t group)
{
    const unsigned char *b = (const unsigned char *)row + group * BYTES;
    for (int j = 0; j < BLOCK; j++)
        out[j] = b[2 + j] ^ 0x80;
}

void qn_q8_0_scales(struct qn_block_scales *out, const void *block)
{
    out->d = qn_load_u16(block);
}
