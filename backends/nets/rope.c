/* The frequencies of rotary positions, from a model file's metadata. */
#include "nets/rope.h"

#include "nets/decoder.h"
#include "nets/loader.h"

#include <math.h>
#include <string.h>

static qn_err scaling_factor(struct qn_loader *l, float *factor)
{
    const char *type = "none";
    qn_err err = qn_loader_text(l, "rope.scaling.type", &type);
    if (err != QN_OK)
        return err;
    *factor = 1.0f;
    if (strcmp(type, "none") == 0)
        return qn_loader_positive(l, "rope.scale_linear", factor); /* how files of 2023 said it */
    if (strcmp(type, "linear") != 0)
        return qn_fail(l->e, QN_EUNSUPPORTED,
                       "rotary scaling \"%.32s\" is not supported; this version knows none and "
                       "linear",
                       type);
    return qn_loader_positive(l, "rope.scaling.factor", factor);
}

qn_err qn_rope_load(struct qn_rope *r, struct qn_loader *l, int32_t dim)
{
    const int64_t half = dim / 2;
    float base = 10000.0f, factor;
    struct qn_tensor divisors = {0};
    qn_err err;
    if ((err = qn_loader_positive(l, "rope.freq_base", &base)) != QN_OK ||
        (err = scaling_factor(l, &factor)) != QN_OK ||
        (err = qn_loader_vector(l, &divisors, QN_OPTIONAL, half, "rope_freqs.weight")) != QN_OK)
        return err;
    float freq[QN_NET_HEAD_DIM_MAX / 2], divisor[QN_NET_HEAD_DIM_MAX / 2];
    if (divisors.ndim && (err = qn_read(l->dev, divisor, &divisors)) != QN_OK)
        return err;
    for (int64_t i = 0; i < half; i++) {
        double f = pow((double)base, -2.0 * (double)i / (double)dim) / (double)factor;
        if (divisors.ndim && !(divisor[i] > 0))
            return qn_fail(l->e, QN_EFORMAT, "tensor rope_freqs.weight: element %d is %g", (int)i,
                           (double)divisor[i]);
        freq[i] = (float)(divisors.ndim ? f / (double)divisor[i] : f);
    }
    err = qn_mem_new(l->dev, (size_t)half * sizeof *freq, &r->mem, l->e);
    if (err != QN_OK)
        return err;
    r->freq = qn_tensor_make(QN_F32, 1, &half, r->mem, 0);
    qn_write(l->dev, &r->freq, freq);
    return QN_OK;
}

void qn_rope_deinit(struct qn_rope *r)
{
    qn_mem_free(r->mem);
}
