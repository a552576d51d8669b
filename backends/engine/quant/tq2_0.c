/* TQ2_0, ternary: 256 weights: 64 bytes of codes 0, 1, 2, then half float d: x = d·(code - 1). Each
 * half of 128 weights has 32 bytes: run r of its four runs of 32 is bits 2r, 2r + 1. */
#include "engine/quant/quant.h"

#include <math.h>

enum { BLOCK = 256, BYTES = 66, FACTOR = 64 };

void qn_tq2_0_codes(uint8_t out[32], const void *row, int64_t group)
{
    const unsigned char *b = (const unsigned char *)row + group / 8 * BYTES + group % 8 / 4 * 32;
    for (int j = 0; j < 32; j++)
        out[j] = b[j] >> group % 4 * 2 & 3;
}

void qn_tq2_0_dequant(float *out, const void *in, int64_t n)
{
    const unsigned char *b = in;
    uint8_t code[32];
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        float d = qn_load_f16(b + FACTOR);
        for (int j = 0; j < BLOCK; j++) {
            if (j % 32 == 0)
                qn_tq2_0_codes(code, b, j / 32);
            out[i + j] = d * (float)(code[j % 32] - 1);
        }
    }
}

void qn_tq2_0_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    uint8_t code[BLOCK];
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        memset(b, 0, BYTES);
        qn_store_u16(b + FACTOR, qn_ternary_fit(in + i, code));
        for (int j = 0; j < BLOCK; j++)
            b[j / 128 * 32 + j % 32] |= (unsigned char)(code[j] << j % 128 / 32 * 2);
    }
}

void qn_tq2_0_scales(struct qn_block_scales *out, const void *block)
{
    out->d = qn_load_u16((const unsigned char *)block + FACTOR);
}
