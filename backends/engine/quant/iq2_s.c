/* IQ2_S: 256 weights: half float d, 32 bytes of low bits of the indices of points of eight
 * magnitudes, 32 bytes of signs, eight bytes of the indices' two high bits (four to a byte), eight
 * bytes of 4-bit scales, one per 16 weights, low nibble first: x = ±d·(2·scale + 1)/8·magnitude. */
#include "engine/quant/quant.h"

#include <math.h>

enum { BYTES = 82, LOW = 2, SIGNS = 34, HIGH = 66, SCALES = 74 };
static const float unit = 0.125f;

void qn_iq2_s_codes(uint8_t out[32], const void *row, int64_t group)
{
    const unsigned char *b = (const unsigned char *)row + group / 8 * BYTES;
    const uint8_t *points = qn_grid_points(QN_GRID_IQ2_S);
    int g = (int)(group % 8);
    for (int l = 0; l < 4; l++) {
        int index = b[LOW + 4 * g + l] | (b[HIGH + g] >> 2 * l & 3) << 8;
        qn_put_signed_point(out + 8 * l, points + 8 * index, b[SIGNS + 4 * g + l], 2);
    }
}

void qn_iq2_s_scales(struct qn_block_scales *out, const void *block)
{
    const unsigned char *b = block;
    out->d = qn_load_u16(b);
    qn_odd_scales(out->scale, b + SCALES);
}

void qn_iq2_s_dequant(float *out, const void *in, int64_t n)
{
    qn_iq_dequant(out, in, n, QN_IQ2_S, qn_iq2_levels, 16, unit);
}

void qn_iq2_s_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    for (int64_t i = 0; i < n; i += 256, b += BYTES) {
        float want[16], d, x[8];
        uint8_t s[16];
        memset(b, 0, BYTES);
        qn_iq_want(want, in + i, 16, 43);
        qn_store_u16(b, qn_iq_fit(want, 16, 15, unit, s));
        d = qn_load_f16(b) * unit;
        qn_put_odd_scales(b + SCALES, s);
        for (int l = 0; l < 32; l++) {
            const float *w = in + i + 8 * l;
            float inv = d > 0 ? 1 / (d * (float)(2 * s[l / 2] + 1)) : 0;
            for (int j = 0; j < 8; j++) {
                x[j] = fabsf(w[j]) * inv;
                b[SIGNS + l] |= (unsigned char)((w[j] < 0) << j);
            }
            int index = qn_grid_nearest(QN_GRID_IQ2_S, qn_iq2_levels, x);
            b[LOW + l] = (unsigned char)index;
            b[HIGH + l / 4] |= (unsigned char)(index >> 8 << l % 4 * 2);
        }
    }
}
