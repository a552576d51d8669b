/* Q5_1: as Q4_1 with a fifth bit: 32 weights, half floats d and m, four bytes whose bit j is the
 * fifth bit of weight j, 16 bytes; byte j holds weight j in its low and weight j + 16 in its high
 * four bits: x = d·code + m. */
#include "engine/quant/quant.h"

#include <math.h>

enum { BLOCK = 32, BYTES = 24, HIGH = 4, CODES = 8 };

void qn_q5_1_codes(uint8_t out[32], const void *row, int64_t group)
{
    const unsigned char *b = (const unsigned char *)row + group * BYTES;
    qn_five_bits(out, b + HIGH, b + CODES);
}

void qn_q5_1_dequant(float *out, const void *in, int64_t n)
{
    const unsigned char *b = in;
    uint8_t code[BLOCK];
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        float d = qn_load_f16(b), m = qn_load_f16(b + 2);
        qn_five_bits(code, b + HIGH, b + CODES);
        for (int j = 0; j < BLOCK; j++)
            out[i + j] = d * (float)code[j] + m;
    }
}

void qn_q5_1_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        float d, m;
        memset(b, 0, BYTES);
        qn_range_fit(in + i, BLOCK, 31, b, &d, &m);
        float inv = d > 0 ? 1 / d : 0;
        for (int j = 0; j < BLOCK; j++)
            qn_put_five_bits(b + HIGH, b + CODES, j, qn_clamp_code((in[i + j] - m) * inv, 31));
    }
}

void qn_q5_1_scales(struct qn_block_scales *out, const void *block)
{
    const unsigned char *b = block;
    out->d = qn_load_u16(b);
    out->dmin = qn_load_u16(b + 2);
}
