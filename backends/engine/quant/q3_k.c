/* Q3_K: 256 weights: 32 bytes whose bit g is the third bit of run g of 32 weights, 64 bytes of low
 * two bits (as Q2_K's), twelve bytes of sixteen 6-bit scales (one per 16 weights), half float d: x
 * = d·(scale - 32)·(code - 4). Scale s has its low four bits in byte s % 8 of the twelve, low
 * nibble for s < 8, and its high two bits in byte 8 + s % 4, at bit 2·(s / 4). */
#include "engine/quant/quant.h"

#include <math.h>

enum { BLOCK = 256, BYTES = 110, CODES = 32, SCALES = 96, FACTOR = 108 };

static int scale_of(const unsigned char *b, int s)
{
    const unsigned char *p = b + SCALES;
    int low = p[s % 8] >> (s < 8 ? 0 : 4) & 15, high = p[8 + s % 4] >> s / 4 * 2 & 3;
    return (low | high << 4) - 32;
}

void qn_q3_k_codes(uint8_t out[32], const void *row, int64_t group)
{
    const unsigned char *b = (const unsigned char *)row + group / 8 * BYTES;
    int g = (int)(group % 8);
    const unsigned char *q = b + CODES + g / 4 * 32;
    for (int j = 0; j < 32; j++)
        out[j] = (uint8_t)((q[j] >> g % 4 * 2 & 3) | (b[j] >> g & 1) << 2);
}

void qn_q3_k_dequant(float *out, const void *in, int64_t n)
{
    const unsigned char *b = in;
    uint8_t code[32];
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        float d = qn_load_f16(b + FACTOR);
        for (int j = 0; j < BLOCK; j++) {
            if (j % 32 == 0)
                qn_q3_k_codes(code, b, j / 32);
            out[i + j] = d * (float)scale_of(b, j / 16) * (float)(code[j % 32] - 4);
        }
    }
}

void qn_q3_k_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        float far[16], top = 0;
        for (int s = 0; s < 16; s++) {
            far[s] = qn_farthest(in + i + 16 * s, 16);
            top = fmaxf(top, fabsf(far[s]));
        }
        memset(b, 0, BYTES);
        qn_store_u16(b + FACTOR, qn_f32_to_f16(top / 4 / 31));
        float d = qn_load_f16(b + FACTOR);
        /* the weight farthest from zero becomes code 0, which means -4 */
        for (int s = 0; s < 16; s++) {
            int scale = d > 0 ? qn_clamp_code(far[s] / -4 / d + 32, 63) : 32;
            b[SCALES + s % 8] |= (unsigned char)((scale & 15) << (s < 8 ? 0 : 4));
            b[SCALES + 8 + s % 4] |= (unsigned char)(scale >> 4 << s / 4 * 2);
        }
        for (int j = 0; j < BLOCK; j++) {
            float step = d * (float)scale_of(b, j / 16);
            int code = step != 0 ? qn_clamp_code(in[i + j] / step + 4, 7) : 4;
            b[CODES + j / 128 * 32 + j % 32] |= (unsigned char)((code & 3) << j % 128 / 32 * 2);
            b[j % 32] |= (unsigned char)(code >> 2 << j / 32);
        }
    }
}

void qn_q3_k_scales(struct qn_block_scales *out, const void *block)
{
    out->d = qn_load_u16((const unsigned char *)block + FACTOR);
    for (int s = 0; s < 16; s++)
        out->scale[s] = (uint8_t)scale_of(block, s);
}
