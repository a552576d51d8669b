/* NVFP4: 64 weights, four scale bytes (one per 16 weights), then 32 bytes of E2M1 numbers: of each
 * 16 weights, byte j of their eight holds weight j in its low and weight j + 8 in its high four
 * bits: x = scale·number. A scale is an E4M3 number without sign: four bits of exponent, three of
 * mantissa. The additional scale of the whole matrix in NVIDIA's files is a separate tensor. */
#include "engine/quant/quant.h"

#include <math.h>

enum { BLOCK = 64, BYTES = 36, RUN = 16 };

/* Half of the E4M3 number, since the levels are doubled. 0x7f, NaN by the format, is 0 as in ggml.
 */
static float half_scale(uint8_t s)
{
    int exponent = s >> 3 & 15, mantissa = s & 7;
    if (s == 0x7f)
        return 0;
    return exponent ? ldexpf((float)(8 + mantissa), exponent - 11) : ldexpf((float)mantissa, -10);
}

void qn_nvfp4_dequant(float *out, const void *in, int64_t n)
{
    const unsigned char *b = in;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES)
        for (int run = 0; run < BLOCK / RUN; run++) {
            const unsigned char *q = b + 4 + run * RUN / 2;
            float d = half_scale(b[run]), *x = out + i + run * RUN;
            for (int j = 0; j < RUN / 2; j++) {
                x[j] = d * qn_fp4_levels[q[j] & 15];
                x[j + RUN / 2] = d * qn_fp4_levels[q[j] >> 4];
            }
        }
}

/* Scales are in ascending order of their bytes; the nearest is found by trying all. */
static uint8_t nearest_scale(float half)
{
    uint8_t best = 0;
    for (int s = 1; s < 0x7f; s++)
        if (fabsf(half_scale((uint8_t)s) - half) < fabsf(half_scale(best) - half))
            best = (uint8_t)s;
    return best;
}

void qn_nvfp4_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES)
        for (int run = 0; run < BLOCK / RUN; run++) {
            const float *x = in + i + run * RUN;
            float top = 0;
            for (int j = 0; j < RUN; j++)
                top = fmaxf(top, fabsf(x[j]));
            b[run] = nearest_scale(top / 12);
            float d = half_scale(b[run]), inv = d > 0 ? 1 / d : 0;
            for (int j = 0; j < RUN / 2; j++) {
                int lo = qn_nearest_level(qn_fp4_levels, 16, x[j] * inv);
                int hi = qn_nearest_level(qn_fp4_levels, 16, x[j + RUN / 2] * inv);
                b[4 + run * RUN / 2 + j] = (unsigned char)(lo | hi << 4);
            }
        }
}

void qn_nvfp4_codes(uint8_t out[32], const void *row, int64_t group)
{
    const unsigned char *b = (const unsigned char *)row + group / 2 * BYTES + 4 + group % 2 * RUN;
    for (int j = 0; j < 32; j++)
        out[j] = b[j / RUN * (RUN / 2) + j % (RUN / 2)] >> (j % RUN < RUN / 2 ? 0 : 4) & 15;
}

void qn_nvfp4_scales(struct qn_block_scales *out, const void *block)
{
    const unsigned char *b = block;
    for (int run = 0; run < BLOCK / RUN; run++)
        out->scale[run] = b[run] == 0x7f ? 0 : b[run] & 0x7f;
}
