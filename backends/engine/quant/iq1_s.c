/* IQ1_S: 256 weights in eight groups of 32: half float d, 32 bytes of low bits of the indices of
 * points of eight ternary numbers, then a 16-bit word per group: four times the three high bits of
 * an index, a 3-bit scale, and in the top bit the sign of the added 1/8: x = d·(2·scale +
 * 1)·(ternary ± 1/8).
 *
 * With codes 0, 1, 2 that is d/8·(8·(2·scale + 1)·code - (8 ∓ 1)·(2·scale + 1)): a scale and a
 * minimum, which is the form used for packing. */
#include "engine/quant/quant.h"

#include <math.h>

enum { BYTES = 50, LOW = 2, WORDS = 34 };

static const int8_t plus[3] = {-7, 1, 9}, minus[3] = {-9, -1, 7}; /* eighths, of codes 0, 1, 2 */

void qn_iq1_s_codes(uint8_t out[32], const void *row, int64_t group)
{
    const unsigned char *b = (const unsigned char *)row + group / 8 * BYTES;
    const uint8_t *points = qn_grid_points(QN_GRID_IQ1);
    int g = (int)(group % 8), word = qn_load_u16(b + WORDS + 2 * g);
    for (int l = 0; l < 4; l++) {
        int index = b[LOW + 4 * g + l] | (word >> 3 * l & 7) << 8;
        memcpy(out + 8 * l, points + 8 * index, 8);
    }
}

void qn_iq1_s_scales(struct qn_block_scales *out, const void *block)
{
    const unsigned char *b = block;
    out->d = out->dmin = qn_load_u16(b);
    for (int g = 0; g < 8; g++) {
        int word = qn_load_u16(b + WORDS + 2 * g), s = 2 * (word >> 12 & 7) + 1;
        out->scale[g] = (uint8_t)(8 * s);
        out->min[g] = (uint8_t)((word & 0x8000 ? 9 : 7) * s);
    }
}

void qn_iq1_s_dequant(float *out, const void *in, int64_t n)
{
    const unsigned char *b = in;
    struct qn_block_scales s;
    uint8_t code[32];
    for (int64_t i = 0; i < n; i += 256, b += BYTES) {
        qn_iq1_s_scales(&s, b);
        float d = qn_f16_to_f32(s.d) * 0.125f;
        for (int j = 0; j < 256; j++) {
            if (j % 32 == 0)
                qn_iq1_s_codes(code, b, j / 32);
            out[i + j] = d * (float)(s.scale[j / 32] * code[j % 32] - s.min[j / 32]);
        }
    }
}

void qn_iq1_s_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    for (int64_t i = 0; i < n; i += 256, b += BYTES) {
        float want[8], d, x[8];
        uint8_t s[8];
        qn_iq1_want(want, in + i, 32);
        qn_store_u16(b, qn_iq_fit(want, 8, 7, 1, s));
        d = qn_load_f16(b);
        for (int g = 0; g < 8; g++) {
            float inv = d > 0 ? 8 / (d * (float)(2 * s[g] + 1)) : 0, least = INFINITY;
            for (int sign = 0; sign < 2; sign++) {
                const int8_t *levels = sign ? minus : plus;
                float error = 0;
                int index[4], word = s[g] << 12 | sign << 15;
                for (int l = 0; l < 4; l++) {
                    for (int j = 0; j < 8; j++)
                        x[j] = in[i + 32 * g + 8 * l + j] * inv;
                    index[l] = qn_grid_nearest(QN_GRID_IQ1, levels, x);
                    error += qn_grid_error(QN_GRID_IQ1, levels, x, index[l]);
                    word |= index[l] >> 8 << 3 * l;
                }
                if (error >= least)
                    continue;
                least = error;
                qn_store_u16(b + WORDS + 2 * g, (uint16_t)word);
                for (int l = 0; l < 4; l++)
                    b[LOW + 4 * g + l] = (unsigned char)index[l];
            }
        }
    }
}
