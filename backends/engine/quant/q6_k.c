/* Q6_K: 256 weights: 128 bytes of low four bits, 64 bytes of high two bits, sixteen signed scales
 * (one per 16 weights), half float d: x = d·scale·(code - 32). Each half of 128 weights is four
 * runs of 32: run r has its low bits in bytes 32·(r & 1) .. of its 64, low nibble for runs 0 and 1,
 * high for 2 and 3, and its high bits at bit 2r of its 32 bytes. */
#include "engine/quant/quant.h"

#include <math.h>

enum { BLOCK = 256, BYTES = 210, HIGH = 128, SCALES = 192, FACTOR = 208 };

void qn_q6_k_dequant(float *out, const void *in, int64_t n)
{
    const unsigned char *b = in;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        float d = qn_load_f16(b + FACTOR);
        for (int j = 0; j < BLOCK; j++) {
            int half = j / 128, run = j % 128 / 32, k = j % 32;
            int code = b[64 * half + 32 * (run & 1) + k] >> (run & 2 ? 4 : 0) & 15;
            code |= (b[HIGH + 32 * half + k] >> 2 * run & 3) << 4;
            out[i + j] = d * (float)(int8_t)b[SCALES + j / 16] * (float)(code - 32);
        }
    }
}

void qn_q6_k_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        float far[16], top = 0;
        for (int s = 0; s < 16; s++) {
            far[s] = qn_farthest(in + i + 16 * s, 16);
            top = fmaxf(top, fabsf(far[s]));
        }
        memset(b, 0, BYTES);
        uint16_t h = qn_f32_to_f16(top / 32 / 127);
        float d = qn_f16_to_f32(h);
        qn_store_u16(b + FACTOR, h);
        /* the weight farthest from zero becomes code 0, which means -32 */
        for (int s = 0; s < 16; s++) {
            float scale = d > 0 ? roundf(far[s] / -32 / d) : 0;
            b[SCALES + s] = (unsigned char)(int8_t)fmaxf(-128, fminf(127, scale));
        }
        for (int j = 0; j < BLOCK; j++) {
            int half = j / 128, run = j % 128 / 32, k = j % 32;
            float step = d * (float)(int8_t)b[SCALES + j / 16];
            int code = step != 0 ? qn_clamp_code(in[i + j] / step + 32, 63) : 32;
            b[64 * half + 32 * (run & 1) + k] |= (unsigned char)((code & 15) << (run & 2 ? 4 : 0));
            b[HIGH + 32 * half + k] |= (unsigned char)(code >> 4 << 2 * run);
        }
    }
}

void qn_q6_k_codes(uint8_t out[32], const void *row, int64_t group)
{
    const unsigned char *b = (const unsigned char *)row + group / 8 * BYTES;
    int half = (int)(group % 8 / 4), run = (int)(group % 4), shift = run & 2 ? 4 : 0;
    const unsigned char *low = b + 64 * half + 32 * (run & 1), *high = b + HIGH + 32 * half;
    for (int j = 0; j < 32; j++)
        out[j] = (uint8_t)((low[j] >> shift & 15) | (high[j] >> 2 * run & 3) << 4);
}

void qn_q6_k_scales(struct qn_block_scales *out, const void *block)
{
    const unsigned char *b = block;
    out->d = qn_load_u16(b + FACTOR);
    memcpy(out->scale, b + SCALES, 16);
}
