/* IQ3_S: 256 weights: half float d, 64 bytes of low bits of the indices of points of four
 * magnitudes, eight bytes of their high bits (eight to a byte), 32 bytes of signs, four bytes of
 * 4-bit scales, one per 32 weights, low nibble first: x = ±d·(2·scale + 1)·magnitude. */
#include "engine/quant/quant.h"

#include <math.h>

enum { BYTES = 110, LOW = 2, HIGH = 66, SIGNS = 74, SCALES = 106 };

const int8_t qn_iq3_s_levels[16] = {1, 3, 5, 7, 9, 11, 13, 15, -1, -3, -5, -7, -9, -11, -13, -15};

void qn_iq3_s_codes(uint8_t out[32], const void *row, int64_t group)
{
    const unsigned char *b = (const unsigned char *)row + group / 8 * BYTES;
    const uint8_t *points = qn_grid_points(QN_GRID_IQ3_S);
    int g = (int)(group % 8);
    for (int k = 0; k < 8; k++) {
        int index = b[LOW + 8 * g + k] | (b[HIGH + g] >> k & 1) << 8;
        memcpy(out + 4 * k, points + 4 * index, 4);
    }
    for (int l = 0; l < 4; l++)
        qn_put_signed_point(out + 8 * l, out + 8 * l, b[SIGNS + 4 * g + l], 3);
}

void qn_iq3_s_scales(struct qn_block_scales *out, const void *block)
{
    const unsigned char *b = block;
    out->d = qn_load_u16(b);
    for (int g = 0; g < 8; g++)
        out->scale[g] = (uint8_t)(2 * (b[SCALES + g / 2] >> g % 2 * 4 & 15) + 1);
}

void qn_iq3_s_dequant(float *out, const void *in, int64_t n)
{
    qn_iq_dequant(out, in, n, QN_IQ3_S, qn_iq3_s_levels, 32, 1);
}

void qn_iq3_s_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    for (int64_t i = 0; i < n; i += 256, b += BYTES) {
        float want[8], d, x[4];
        uint8_t s[8];
        memset(b, 0, BYTES);
        qn_iq_want(want, in + i, 32, 15);
        qn_store_u16(b, qn_iq_fit(want, 8, 15, 1, s));
        d = qn_load_f16(b);
        for (int g = 0; g < 8; g++)
            b[SCALES + g / 2] |= (unsigned char)(s[g] << g % 2 * 4);
        for (int k = 0; k < 64; k++) {
            const float *w = in + i + 4 * k;
            float inv = d > 0 ? 1 / (d * (float)(2 * s[k / 8] + 1)) : 0;
            for (int j = 0; j < 4; j++) {
                x[j] = fabsf(w[j]) * inv;
                b[SIGNS + k / 2] |= (unsigned char)((w[j] < 0) << (k % 2 * 4 + j));
            }
            int index = qn_grid_nearest(QN_GRID_IQ3_S, qn_iq3_s_levels, x);
            b[LOW + k] = (unsigned char)index;
            b[HIGH + k / 8] |= (unsigned char)(index >> 8 << k % 8);
        }
    }
}
