/* Random weights of each type. The same weights are quantised once per process and repeated,
 * because quantising a type with a grid takes longer than the products under test. */
#ifndef QN_TEST_RANDOM_WEIGHTS_H
#define QN_TEST_RANDOM_WEIGHTS_H

#include "base/rand.h"
#include "engine/dtype.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The weights repeat after 85 blocks of 256 elements, so that rows of neighbouring experts
 * differ. */
enum { RANDOM_WEIGHTS = 85 * 256 };

struct random_weights {
    char *file;    /* the weights in the format of a model file; NULL: not made yet */
    float *values; /* the same weights, dequantised */
};

static inline const struct random_weights *random_weights_of(enum qn_dtype dtype)
{
    static struct random_weights made[QN_DTYPE_COUNT];
    struct random_weights *m = &made[dtype];
    if (m->file)
        return m;
    const struct qn_dtype_info *d = qn_dtype(dtype);
    struct qn_rng rng;
    qn_rng_init(&rng, 11);
    m->file = malloc(qn_dtype_bytes(d, RANDOM_WEIGHTS));
    m->values = malloc(RANDOM_WEIGHTS * sizeof *m->values);
    if (!m->file || !m->values)
        abort();
    for (int i = 0; i < RANDOM_WEIGHTS; i++) {
        float s = 0; /* sum of four uniform numbers: close to a normal distribution, and bounded */
        for (int k = 0; k < 4; k++)
            s += (float)(qn_rng_u64(&rng) >> 40) / 16777216.0f - 0.5f;
        m->values[i] = s * 1.7f;
    }
    d->quant(m->file, m->values, RANDOM_WEIGHTS);
    d->dequant(m->values, m->file, RANDOM_WEIGHTS);
    return m;
}

/* Writes n weights to `file`, in the format of a model file, and their dequantised values to
 * `values`. n: a multiple of the block size. */
static inline void random_weights_fill(enum qn_dtype dtype, void *file, float *values, int64_t n)
{
    const struct random_weights *from = random_weights_of(dtype);
    const struct qn_dtype_info *d = qn_dtype(dtype);
    for (int64_t at = 0; at < n; at += RANDOM_WEIGHTS) {
        int64_t some = n - at < RANDOM_WEIGHTS ? n - at : RANDOM_WEIGHTS;
        memcpy((char *)file + qn_dtype_bytes(d, at), from->file, qn_dtype_bytes(d, some));
        memcpy(values + at, from->values, (size_t)some * sizeof *values);
    }
}

#endif
