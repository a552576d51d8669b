/* One element of a product in double precision, and how far a kernel's may be from it. */
#ifndef QN_TEST_DOT_BOUND_H
#define QN_TEST_DOT_BOUND_H

#include <math.h>
#include <stdint.h>

/* How the kernel rounds. ROUNDED_32: activations to 8 bits per 32 columns, so each may be off by
 * half a step. ROUNDED_128: that step is of 128 columns, and weights are rounded to 8 bits as well:
 * a step of their scale's reach, which is up to twice what their codes use. */
enum rounded { ROUNDED_NOT, ROUNDED_32, ROUNDED_128 };

/* Of w [cols] and x [cols]. *size: of what was summed, for the error of sums in single precision;
 * *slack: what the rounding allows. */
static inline double dot_bound(const float *w, const float *x, int64_t cols, enum rounded rounded,
                               double *size, double *slack)
{
    const int64_t block = rounded == ROUNDED_128 ? 128 : 32;
    double sum = 0;
    *size = *slack = 0;
    for (int64_t b = 0; b < cols; b += block) {
        double top_x = 0, top_w = 0, sum_x = 0, sum_w = 0;
        for (int64_t i = b; i < cols && i < b + block; i++) {
            double v = x[i], u = w[i];
            sum += u * v;
            *size += fabs(u * v);
            sum_x += fabs(v);
            sum_w += fabs(u);
            top_x = fmax(top_x, fabs(v));
            top_w = fmax(top_w, fabs(u));
        }
        *slack += rounded != ROUNDED_NOT ? sum_w * top_x / 127 * 0.501 : 0;
        *slack += rounded == ROUNDED_128 ? sum_x * 2 * top_w / 126.5 * 0.52 : 0;
    }
    return sum;
}

#endif
