/* IQ2_XXS: 256 weights in eight groups of 32: half float d, then 8 bytes per group: four indices of
 * points of eight magnitudes, and a 32-bit word with four times seven bits of signs and, in the top
 * bits, a 4-bit scale: x = ±d·(2·scale + 1)/8·magnitude. */
#include "engine/quant/quant.h"

enum { BYTES = 66, GROUPS = 2 };
static const float unit = 0.125f;

const int8_t qn_iq2_levels[16] = {8, 25, 43, 0, -8, -25, -43};

void qn_iq2_xxs_codes(uint8_t out[32], const void *row, int64_t group)
{
    const unsigned char *b = (const unsigned char *)row + group / 8 * BYTES + GROUPS;
    const uint8_t *points = qn_grid_points(QN_GRID_IQ2_XXS);
    b += group % 8 * 8;
    uint32_t word = qn_load_u32(b + 4);
    for (int l = 0; l < 4; l++)
        qn_put_signed_point(out + 8 * l, points + 8 * b[l], qn_even_signs(word >> 7 * l), 2);
}

void qn_iq2_xxs_scales(struct qn_block_scales *out, const void *block)
{
    const unsigned char *b = block;
    out->d = qn_load_u16(b);
    for (int g = 0; g < 8; g++)
        out->scale[g] = (uint8_t)(2 * (b[GROUPS + 8 * g + 7] >> 4) + 1);
}

void qn_iq2_xxs_dequant(float *out, const void *in, int64_t n)
{
    qn_iq_dequant(out, in, n, QN_IQ2_XXS, qn_iq2_levels, 32, unit);
}

void qn_iq2_xxs_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    for (int64_t i = 0; i < n; i += 256, b += BYTES) {
        float want[8], d, x[8];
        uint8_t s[8];
        qn_iq_want(want, in + i, 32, 43);
        qn_store_u16(b, qn_iq_fit(want, 8, 15, unit, s));
        d = qn_load_f16(b) * unit;
        for (int g = 0; g < 8; g++) {
            uint32_t word = (uint32_t)s[g] << 28;
            float inv = d > 0 ? 1 / (d * (float)(2 * s[g] + 1)) : 0;
            for (int l = 0; l < 4; l++) {
                const float *w = in + i + 32 * g + 8 * l;
                uint8_t signs = qn_even_magnitudes(x, w, inv);
                b[GROUPS + 8 * g + l] =
                    (unsigned char)qn_grid_nearest(QN_GRID_IQ2_XXS, qn_iq2_levels, x);
                word |= (uint32_t)(signs & 127) << 7 * l;
            }
            qn_store_u32(b + GROUPS + 8 * g + 4, word);
        }
    }
}
