/* Q5_0: as Q4_0 with a fifth bit: 32 weights, one half-float scale d, four bytes whose bit j is the
 * fifth bit of weight j, 16 bytes; byte j holds weight j in its low and weight j + 16 in its high
 * four bits: x = d·(code - 16). */
#include "engine/quant/quant.h"

enum { BLOCK = 32, BYTES = 22, HIGH = 2, CODES = 6 };

void qn_q5_0_codes(uint8_t out[32], const void *row, int64_t group)
{
    const unsigned char *b = (const unsigned char *)row + group * BYTES;
    qn_five_bits(out, b + HIGH, b + CODES);
}

void qn_q5_0_dequant(float *out, const void *in, int64_t n)
{
    const unsigned char *b = in;
    uint8_t code[BLOCK];
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        float d = qn_load_f16(b);
        qn_five_bits(code, b + HIGH, b + CODES);
        for (int j = 0; j < BLOCK; j++)
            out[i + j] = d * (float)(code[j] - 16);
    }
}

/* The scale is chosen so that the weight farthest from zero becomes code 0, which means -16. */
void qn_q5_0_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        uint16_t h = qn_f32_to_f16(qn_farthest(in + i, BLOCK) / -16);
        float d = qn_f16_to_f32(h), inv = d != 0 ? 1 / d : 0;
        memset(b, 0, BYTES);
        qn_store_u16(b, h);
        for (int j = 0; j < BLOCK; j++)
            qn_put_five_bits(b + HIGH, b + CODES, j, qn_clamp_code(in[i + j] * inv + 16, 31));
    }
}

void qn_q5_0_scales(struct qn_block_scales *out, const void *block)
{
    out->d = qn_load_u16(block);
}
