/* IQ3_XXS: 256 weights in eight groups of 32: half float d, 64 bytes of indices of points of four
 * magnitudes, then a 32-bit word per group with four times seven bits of signs (of eight weights
 * each) and, in the top bits, a 4-bit scale: x = ±d·(2·scale + 1)/4·magnitude. */
#include "engine/quant/quant.h"

enum { BYTES = 98, INDICES = 2, WORDS = 66 };
static const float unit = 0.25f;

const int8_t qn_iq3_xxs_levels[16] = {4,  12,  20,  28,  36,  44,  52,  62,
                                      -4, -12, -20, -28, -36, -44, -52, -62};

void qn_iq3_xxs_codes(uint8_t out[32], const void *row, int64_t group)
{
    const unsigned char *b = (const unsigned char *)row + group / 8 * BYTES;
    const uint8_t *points = qn_grid_points(QN_GRID_IQ3_XXS);
    int g = (int)(group % 8);
    uint32_t word = qn_load_u32(b + WORDS + 4 * g);
    for (int k = 0; k < 8; k++)
        memcpy(out + 4 * k, points + 4 * b[INDICES + 8 * g + k], 4);
    for (int l = 0; l < 4; l++)
        qn_put_signed_point(out + 8 * l, out + 8 * l, qn_even_signs(word >> 7 * l), 3);
}

void qn_iq3_xxs_scales(struct qn_block_scales *out, const void *block)
{
    const unsigned char *b = block;
    out->d = qn_load_u16(b);
    for (int g = 0; g < 8; g++)
        out->scale[g] = (uint8_t)(2 * (b[WORDS + 4 * g + 3] >> 4) + 1);
}

void qn_iq3_xxs_dequant(float *out, const void *in, int64_t n)
{
    qn_iq_dequant(out, in, n, QN_IQ3_XXS, qn_iq3_xxs_levels, 32, unit);
}

void qn_iq3_xxs_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    for (int64_t i = 0; i < n; i += 256, b += BYTES) {
        float want[8], d, x[8];
        uint8_t s[8];
        qn_iq_want(want, in + i, 32, 62);
        qn_store_u16(b, qn_iq_fit(want, 8, 15, unit, s));
        d = qn_load_f16(b) * unit;
        for (int g = 0; g < 8; g++) {
            uint32_t word = (uint32_t)s[g] << 28;
            float inv = d > 0 ? 1 / (d * (float)(2 * s[g] + 1)) : 0;
            for (int l = 0; l < 4; l++) {
                const float *w = in + i + 32 * g + 8 * l;
                uint8_t signs = qn_even_magnitudes(x, w, inv);
                for (int k = 0; k < 2; k++)
                    b[INDICES + 8 * g + 2 * l + k] = (unsigned char)qn_grid_nearest(
                        QN_GRID_IQ3_XXS, qn_iq3_xxs_levels, x + 4 * k);
                word |= (uint32_t)(signs & 127) << 7 * l;
            }
            qn_store_u32(b + WORDS + 4 * g, word);
        }
    }
}
