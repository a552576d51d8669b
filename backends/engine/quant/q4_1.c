/* Q4_1: 32 weights, half floats d and m, then 16 bytes; byte j holds weight j in its low and weight
 * j + 16 in its high four bits: x = d·code + m. */
#include "engine/quant/quant.h"

enum { BLOCK = 32, BYTES = 20, CODES = 4 };

void qn_q4_1_dequant(float *out, const void *in, int64_t n)
{
    const unsigned char *b = in;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        float d = qn_load_f16(b), m = qn_load_f16(b + 2);
        for (int j = 0; j < BLOCK / 2; j++) {
            out[i + j] = d * (float)(b[CODES + j] & 15) + m;
            out[i + j + BLOCK / 2] = d * (float)(b[CODES + j] >> 4) + m;
        }
    }
}

void qn_q4_1_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        float d, m;
        qn_range_fit(in + i, BLOCK, 15, b, &d, &m);
        float inv = d > 0 ? 1 / d : 0;
        for (int j = 0; j < BLOCK / 2; j++) {
            int lo = qn_clamp_code((in[i + j] - m) * inv, 15);
            int hi = qn_clamp_code((in[i + j + BLOCK / 2] - m) * inv, 15);
            b[CODES + j] = (unsigned char)(lo | hi << 4);
        }
    }
}

void qn_q4_1_codes(uint8_t out[32], const void *row, int64_t group)
{
    qn_nibbles(out, (const unsigned char *)row + group * BYTES + CODES);
}

void qn_q4_1_scales(struct qn_block_scales *out, const void *block)
{
    const unsigned char *b = block;
    out->d = qn_load_u16(b);
    out->dmin = qn_load_u16(b + 2);
}
