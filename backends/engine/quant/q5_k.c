/* Q5_K: as Q4_K, with a fifth bit: 256 weights: half floats d and dmin, twelve bytes of scales and
 * minima (k_scales.c), 32 bytes whose bit g is the fifth bit of group g, 128 bytes of low four
 * bits: x = d·scale·code - dmin·min. */
#include "engine/quant/quant.h"

enum { BLOCK = 256, BYTES = 176, SCALES = 4, HIGH = 16, CODES = 48 };

void qn_q5_k_dequant(float *out, const void *in, int64_t n)
{
    const unsigned char *b = in;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        uint8_t scale[8], min[8];
        float d = qn_load_f16(b), dmin = qn_load_f16(b + 2);
        qn_k_scales_unpack(b + SCALES, scale, min);
        for (int j = 0; j < BLOCK; j++) {
            int g = j / 32, code = b[CODES + g / 2 * 32 + j % 32] >> (g & 1 ? 4 : 0) & 15;
            code |= (b[HIGH + j % 32] >> g & 1) << 4;
            out[i + j] = d * scale[g] * (float)code - dmin * min[g];
        }
    }
}

void qn_q5_k_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        uint8_t scale[8], min[8];
        float d, dmin;
        qn_k_fit(in + i, 31, &d, &dmin, scale, min);
        memset(b, 0, BYTES);
        qn_store_u16(b, qn_f32_to_f16(d));
        qn_store_u16(b + 2, qn_f32_to_f16(dmin));
        qn_k_scales_pack(b + SCALES, scale, min);
        for (int j = 0; j < BLOCK; j++) {
            int g = j / 32;
            float step = d * scale[g];
            int code = step > 0 ? qn_clamp_code((in[i + j] + dmin * min[g]) / step, 31) : 0;
            b[CODES + g / 2 * 32 + j % 32] |= (unsigned char)((code & 15) << (g & 1 ? 4 : 0));
            b[HIGH + j % 32] |= (unsigned char)(code >> 4 << g);
        }
    }
}

void qn_q5_k_codes(uint8_t out[32], const void *row, int64_t group)
{
    const unsigned char *b = (const unsigned char *)row + group / 8 * BYTES;
    const unsigned char *low = b + CODES + group % 8 / 2 * 32, *high = b + HIGH;
    int shift = group & 1 ? 4 : 0, bit = (int)(group % 8);
    for (int j = 0; j < 32; j++)
        out[j] = (uint8_t)((low[j] >> shift & 15) | (high[j] >> bit & 1) << 4);
}

void qn_q5_k_scales(struct qn_block_scales *out, const void *block)
{
    const unsigned char *b = block;
    out->d = qn_load_u16(b);
    out->dmin = qn_load_u16(b + 2);
    qn_k_scales_unpack(b + SCALES, out->scale, out->min);
}
