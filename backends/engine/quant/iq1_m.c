/* IQ1_M: 256 weights: 32 bytes of low bits of the indices of points of eight ternary numbers, 16
 * bytes of two nibbles each (an index's three high bits and, in the top bit, the sign of the added
 * 1/8), then four 16-bit words: twelve bits of 3-bit scales, one per 16 weights, and in the top
 * four bits a quarter of the half float d, the lowest bits first: x = d·(2·scale + 1)·(ternary ±
 * 1/8). */
#include "engine/quant/quant.h"

enum { BYTES = 56, HIGH = 32, WORDS = 48 };
static const float unit = 0.125f;

const int8_t qn_iq1_m_levels[16] = {-7, 1, 9, 0, -9, -1, 7};

void qn_iq1_m_codes(uint8_t out[32], const void *row, int64_t group)
{
    const unsigned char *b = (const unsigned char *)row + group / 8 * BYTES;
    const uint8_t *points = qn_grid_points(QN_GRID_IQ1);
    int g = (int)(group % 8);
    for (int l = 0; l < 4; l++) {
        int high = b[HIGH + 2 * g + l / 2] >> l % 2 * 4 & 15;
        int index = b[4 * g + l] | (high & 7) << 8;
        qn_put_signed_point(out + 8 * l, points + 8 * index, high & 8 ? 0xff : 0, 2);
    }
}

void qn_iq1_m_scales(struct qn_block_scales *out, const void *block)
{
    const unsigned char *b = block;
    unsigned d = 0;
    for (int k = 0; k < 4; k++) {
        unsigned word = qn_load_u16(b + WORDS + 2 * k);
        d |= word >> 12 << 4 * k;
        for (int r = 0; r < 4; r++)
            out->scale[4 * k + r] = (uint8_t)(2 * (word >> 3 * r & 7) + 1);
    }
    out->d = (uint16_t)d;
}

void qn_iq1_m_dequant(float *out, const void *in, int64_t n)
{
    qn_iq_dequant(out, in, n, QN_IQ1_M, qn_iq1_m_levels, 16, unit);
}

void qn_iq1_m_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    for (int64_t i = 0; i < n; i += 256, b += BYTES) {
        float want[16], x[8];
        uint8_t s[16];
        qn_iq1_want(want, in + i, 16);
        unsigned h = qn_iq_fit(want, 16, 7, 1, s);
        float d = qn_f16_to_f32((uint16_t)h) * unit;
        memset(b, 0, BYTES);
        for (int k = 0; k < 4; k++) {
            unsigned word = (h >> 4 * k & 15) << 12;
            for (int r = 0; r < 4; r++)
                word |= (unsigned)s[4 * k + r] << 3 * r;
            qn_store_u16(b + WORDS + 2 * k, (uint16_t)word);
        }
        for (int l = 0; l < 32; l++) {
            float inv = d > 0 ? 1 / (d * (float)(2 * s[l / 2] + 1)) : 0, error[2];
            int index[2];
            for (int j = 0; j < 8; j++)
                x[j] = in[i + 8 * l + j] * inv;
            for (int sign = 0; sign < 2; sign++) {
                const int8_t *levels = qn_iq1_m_levels + 4 * sign;
                index[sign] = qn_grid_nearest(QN_GRID_IQ1, levels, x);
                error[sign] = qn_grid_error(QN_GRID_IQ1, levels, x, index[sign]);
            }
            int sign = error[1] < error[0];
            b[l] = (unsigned char)index[sign];
            b[HIGH + l / 2] |= (unsigned char)((index[sign] >> 8 | sign << 3) << l % 2 * 4);
        }
    }
}
