/* IQ2_XS: 256 weights: half float d, 32 words of 16 bits (the index of a point of eight magnitudes
 * in the low nine, seven bits of signs above), then eight bytes of 4-bit scales, one per 16
 * weights, low nibble first: x = ±d·(2·scale + 1)/8·magnitude. */
#include "engine/quant/quant.h"

enum { BYTES = 74, WORDS = 2, SCALES = 66 };
static const float unit = 0.125f;

void qn_iq2_xs_codes(uint8_t out[32], const void *row, int64_t group)
{
    const unsigned char *b = (const unsigned char *)row + group / 8 * BYTES + WORDS;
    const uint8_t *points = qn_grid_points(QN_GRID_IQ2_XS);
    b += group % 8 * 8;
    for (int l = 0; l < 4; l++) {
        unsigned word = qn_load_u16(b + 2 * l);
        qn_put_signed_point(out + 8 * l, points + 8 * (word & 511), qn_even_signs(word >> 9), 2);
    }
}

void qn_iq2_xs_scales(struct qn_block_scales *out, const void *block)
{
    const unsigned char *b = block;
    out->d = qn_load_u16(b);
    qn_odd_scales(out->scale, b + SCALES);
}

void qn_iq2_xs_dequant(float *out, const void *in, int64_t n)
{
    qn_iq_dequant(out, in, n, QN_IQ2_XS, qn_iq2_levels, 16, unit);
}

void qn_iq2_xs_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    for (int64_t i = 0; i < n; i += 256, b += BYTES) {
        float want[16], d, x[8];
        uint8_t s[16];
        qn_iq_want(want, in + i, 16, 43);
        qn_store_u16(b, qn_iq_fit(want, 16, 15, unit, s));
        d = qn_load_f16(b) * unit;
        qn_put_odd_scales(b + SCALES, s);
        for (int l = 0; l < 32; l++) {
            const float *w = in + i + 8 * l;
            float inv = d > 0 ? 1 / (d * (float)(2 * s[l / 2] + 1)) : 0;
            uint8_t signs = qn_even_magnitudes(x, w, inv);
            int index = qn_grid_nearest(QN_GRID_IQ2_XS, qn_iq2_levels, x);
            qn_store_u16(b + WORDS + 2 * l, (uint16_t)(index | (signs & 127) << 9));
        }
    }
}
