/* Helpers of the quantisers: nearest codes and levels, and scales from the range of a block's
 * weights. Kept simple: they are used only by tests and tools. */
#include "engine/quant/quant.h"

#include <math.h>

int qn_clamp_code(float v, int max)
{
    float r = roundf(v);
    return r < 0 ? 0 : r > (float)max ? max : (int)r;
}

int qn_nearest_level(const int8_t *levels, int n, float x)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (fabsf((float)levels[i] - x) < fabsf((float)levels[best] - x))
            best = i;
    return best;
}

float qn_farthest(const float *x, int n)
{
    float far = 0;
    for (int j = 0; j < n; j++)
        if (fabsf(x[j]) > fabsf(far))
            far = x[j];
    return far;
}

void qn_range_fit(const float *x, int n, int levels, unsigned char *head, float *d, float *m)
{
    float lo = x[0], hi = x[0];
    for (int j = 1; j < n; j++) {
        lo = fminf(lo, x[j]);
        hi = fmaxf(hi, x[j]);
    }
    qn_store_u16(head, qn_f32_to_f16((hi - lo) / (float)levels));
    qn_store_u16(head + 2, qn_f32_to_f16(lo));
    *d = qn_load_f16(head);
    *m = qn_load_f16(head + 2);
}

uint16_t qn_ternary_fit(const float *x, uint8_t code[256])
{
    float top = 0;
    for (int j = 0; j < 256; j++)
        top = fmaxf(top, fabsf(x[j]));
    uint16_t h = qn_f32_to_f16(top);
    float d = qn_f16_to_f32(h), inv = d > 0 ? 1 / d : 0;
    for (int j = 0; j < 256; j++)
        code[j] = (uint8_t)qn_clamp_code(x[j] * inv + 1, 2);
    return h;
}
