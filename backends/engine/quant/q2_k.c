/* Q2_K: 256 weights: sixteen bytes (one per 16 weights) with a scale in the low and a minimum in
 * the high four bits, 64 bytes of codes, half floats d and dmin: x = d·scale·code - dmin·min. Each
 * half of 128 weights has 32 bytes of codes: run r of its four runs of 32 is bits 2r, 2r + 1. */
#include "engine/quant/quant.h"

#include <math.h>

enum { BLOCK = 256, BYTES = 84, CODES = 16, FACTOR = 80 };

void qn_q2_k_codes(uint8_t out[32], const void *row, int64_t group)
{
    const unsigned char *b = (const unsigned char *)row + group / 8 * BYTES;
    const unsigned char *q = b + CODES + group % 8 / 4 * 32;
    int shift = (int)(group % 4) * 2;
    for (int j = 0; j < 32; j++)
        out[j] = q[j] >> shift & 3;
}

void qn_q2_k_dequant(float *out, const void *in, int64_t n)
{
    const unsigned char *b = in;
    uint8_t code[32];
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        float d = qn_load_f16(b + FACTOR), dmin = qn_load_f16(b + FACTOR + 2);
        for (int j = 0; j < BLOCK; j++) {
            if (j % 32 == 0)
                qn_q2_k_codes(code, b, j / 32);
            int s = b[j / 16];
            out[i + j] = d * (float)(s & 15) * (float)code[j % 32] - dmin * (float)(s >> 4);
        }
    }
}

void qn_q2_k_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        float width[16], low[16], widest = 0, lowest = 0;
        for (int s = 0; s < 16; s++) {
            float hi = 0, lo = 0; /* the minimum cannot be positive */
            for (int j = 0; j < 16; j++) {
                hi = fmaxf(hi, in[i + 16 * s + j]);
                lo = fminf(lo, in[i + 16 * s + j]);
            }
            width[s] = (hi - lo) / 3;
            low[s] = -lo;
            widest = fmaxf(widest, width[s]);
            lowest = fmaxf(lowest, low[s]);
        }
        memset(b, 0, BYTES);
        qn_store_u16(b + FACTOR, qn_f32_to_f16(widest / 15));
        qn_store_u16(b + FACTOR + 2, qn_f32_to_f16(lowest / 15));
        float d = qn_load_f16(b + FACTOR), dmin = qn_load_f16(b + FACTOR + 2);
        for (int s = 0; s < 16; s++) {
            int scale = d > 0 ? qn_clamp_code(width[s] / d, 15) : 0;
            int min = dmin > 0 ? qn_clamp_code(low[s] / dmin, 15) : 0;
            float step = d * (float)scale;
            b[s] = (unsigned char)(scale | min << 4);
            for (int j = 16 * s; j < 16 * s + 16; j++) {
                float above = in[i + j] + dmin * (float)min;
                int code = step > 0 ? qn_clamp_code(above / step, 3) : 0;
                b[CODES + j / 128 * 32 + j % 32] |= (unsigned char)(code << j % 128 / 32 * 2);
            }
        }
    }
}

void qn_q2_k_scales(struct qn_block_scales *out, const void *block)
{
    const unsigned char *b = block;
    out->d = qn_load_u16(b + FACTOR);
    out->dmin = qn_load_u16(b + FACTOR + 2);
    for (int s = 0; s < 16; s++) {
        out->scale[s] = b[s] & 15;
        out->min[s] = b[s] >> 4;
    }
}
