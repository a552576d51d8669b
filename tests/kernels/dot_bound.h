/* One element of a product in double precision, and how far a kernel's may be from it. */
#ifndef QN_TEST_DOT_BOUND_H
#define QN_TEST_DOT_BOUND_H

#include <math.h>
#include <stdint.h>

/* How the kernel rounds. ROUNDED_32: activations to 8 bits per 32 columns, so each may be off by
 * half a step. */
enum rounded { ROUNDED_NOT, ROUNDED_32 };

/* Of w [cols] and x [cols]. *size: of what was summed, for the error of sums in single precision;
 * *slack: what the rounding allows. */
static inline double dot_bound(const float *w, const float *x, int64_t cols, enum rounded rounded,
                               double *size, double *slack)
{
    double sum = 0;
    *size = *slack = 0;
    for (int64_t b = 0; b < cols; b += 32) {
        double top_x = 0, sum_w = 0;
        for (int64_t i = b; i < cols && i < b + 32; i++) {
            double v = x[i], u = w[i];
            sum += u * v;
            *size += fabs(u * v);
            sum_w += fabs(u);
            top_x = fmax(top_x, fabs(v));
        }
        *slack += rounded != ROUNDED_NOT ? sum_w * top_x / 127 * 0.501 : 0;
    }
    return sum;
}

#endif
