/* The frequencies of rotary positions, from a model file's metadata.
 *
 * Scalings extend a model's context: `linear` divides every frequency by a factor
 * (arXiv:2306.15595), `yarn` only the low ones (arXiv:2309.00071), `longrope` each by a divisor of
 * its own, with another set of divisors for texts within the original context (arXiv:2402.13753).
 * Llama 3 also has divisors, in the tensor rope_freqs. */
#include "nets/decoder/rope.h"

#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HALF_MAX = QN_NET_HEAD_DIM_MAX / 2 };

struct scaling {
    enum { NONE, LINEAR, YARN, LONGROPE } kind;
    float factor, attn_factor, beta_fast, beta_slow, ext_factor;
    int32_t original; /* tokens of the context before the extension */
};

static qn_err read_kind(struct qn_loader *l, struct scaling *s)
{
    static const char *const names[] = {"none", "linear", "yarn", "longrope"};
    /* files with longrope's divisors do not state the type */
    const char *type = qn_loader_has(l, "rope_factors_long.weight") ? "longrope" : "none";
    qn_err err = qn_loader_text(l, "rope.scaling.type", &type);
    if (err != QN_OK)
        return err;
    for (int i = 0; i < 4; i++)
        if (strcmp(type, names[i]) == 0) {
            s->kind = i;
            return QN_OK;
        }
    return qn_fail(
        l->e, QN_EUNSUPPORTED,
        "rotary scaling \"%.32s\" is not supported; this version knows none, linear, yarn "
        "and longrope",
        type);
}

static qn_err read_scaling(struct qn_loader *l, int32_t context_train, struct scaling *s)
{
    *s = (struct scaling){
        .factor = 1, .attn_factor = 1, .beta_fast = 32, .beta_slow = 1, .ext_factor = 1};
    if (l->stretch) {
        s->kind = l->stretch->kind == QN_STRETCH_YARN ? YARN : LINEAR;
        s->factor = l->stretch->kind == QN_STRETCH_NONE ? 1 : l->stretch->factor;
        s->original = l->stretch->original ? l->stretch->original : context_train;
        return QN_OK;
    }
    qn_err err = read_kind(l, s);
    if (err != QN_OK)
        return err;
    if (s->kind == NONE) { /* the key in files of 2023 */
        s->kind = LINEAR;
        return qn_loader_positive(l, "rope.scale_linear", &s->factor);
    }
    if ((err = qn_loader_positive(l, "rope.scaling.factor", &s->factor)) != QN_OK ||
        (err = qn_loader_positive(l, "rope.scaling.attn_factor", &s->attn_factor)) != QN_OK ||
        (err = qn_loader_positive(l, "rope.scaling.yarn_beta_fast", &s->beta_fast)) != QN_OK ||
        (err = qn_loader_positive(l, "rope.scaling.yarn_beta_slow", &s->beta_slow)) != QN_OK ||
        (err = qn_loader_real(l, "rope.scaling.yarn_ext_factor", &s->ext_factor)) != QN_OK)
        return err;
    return qn_loader_count(l, "rope.scaling.original_context_length", 1, QN_NET_CONTEXT_MAX,
                           context_train, &s->original);
}

/* Reads divisors [half]; all 1 if the file does not have the tensor. */
static qn_err read_divisors(struct qn_loader *l, const char *name, int64_t half, float *divisors,
                            bool *there)
{
    struct qn_tensor t = {0};
    qn_err err = qn_loader_vector(l, &t, QN_OPTIONAL, half, "%s", name);
    *there = t.ndim > 0;
    for (int64_t i = 0; i < half; i++)
        divisors[i] = 1;
    if (err != QN_OK || !t.ndim)
        return err;
    err = qn_read(l->dev, divisors, &t);
    for (int64_t i = 0; i < half && err == QN_OK; i++)
        if (!(divisors[i] > 0))
            return qn_fail(l->e, QN_EFORMAT, "tensor %s: element %d is %g", name, (int)i,
                           (double)divisors[i]);
    return err;
}

/* The pair that makes `turns` rotations within the original context: arXiv:2309.00071, section 3.2.
 */
static double pair_of(double turns, const struct scaling *s, int32_t dim, double base)
{
    return dim * log(s->original / (turns * 2 * acos(-1))) / (2 * log(base));
}

/* 0 for pairs that keep their frequency, 1 for those that are fully scaled. */
static double stretched(const struct scaling *s, const struct qn_rope_form *form, int64_t pair,
                        double base)
{
    const int32_t dim = form->dim;
    if (s->kind != YARN)
        return 1;
    double low = pair_of(s->beta_fast, s, dim, base), high = pair_of(s->beta_slow, s, dim, base);
    if (!form->exact_ramp) {
        low = floor(low);
        high = ceil(high);
    }
    low = low < 0 ? 0 : low;
    high = high > dim - 1 ? dim - 1 : high;
    double ramp = ((double)pair - low) / (high - low > 0.001 ? high - low : 0.001);
    return 1 - (1 - (ramp < 0 ? 0 : ramp > 1 ? 1 : ramp)) * (double)s->ext_factor;
}

static void fill(float *freq, const struct qn_rope_form *form, double base, const struct scaling *s,
                 const float *divisors)
{
    for (int64_t i = 0; i < form->dim / 2; i++) {
        double f = pow(base, -2.0 * (double)i / (double)form->dim) / (double)divisors[i];
        double part = stretched(s, form, i, base);
        freq[i] = (float)(f * (1 - part) + f / (double)s->factor * part);
    }
}

/* The factor by which scores over an extended context are scaled up: arXiv:2309.00071, section 3.4.
 */
static float steepness(const struct scaling *s, const struct qn_rope_form *form)
{
    if (s->kind != YARN || s->factor <= 1)
        return s->attn_factor;
    float grown = 0.1f * logf(s->factor);
    return s->attn_factor * (1 + grown) / (1 + form->log_multiplier * grown);
}

static qn_err keep(struct qn_rope *r, struct qn_loader *l, int64_t half, const float *freq,
                   const float *far)
{
    qn_err err = qn_mem_new(l->dev, (size_t)half * 3 * sizeof *freq, &r->mem, l->e);
    if (err != QN_OK)
        return err;
    r->freq = qn_tensor_make(QN_F32, 1, &half, r->mem, 0);
    r->far = qn_tensor_make(QN_F32, 1, &half, r->mem, (size_t)half * sizeof *freq);
    qn_write(l->dev, &r->freq, freq);
    qn_write(l->dev, &r->far, far);
    return QN_OK;
}

qn_err qn_rope_load(struct qn_rope *r, struct qn_loader *l, const struct qn_rope_form *form)
{
    const int64_t half = form->dim / 2;
    float base = 10000.0f, freq[HALF_MAX], far[HALF_MAX], divisors[HALF_MAX],
          long_divisors[HALF_MAX];
    struct scaling s = {.factor = 1, .attn_factor = 1};
    int32_t context;
    bool has_freqs = false, has_short = false, has_long = false;
    qn_err err;
    if ((err = qn_loader_positive(l, "rope.freq_base", &base)) != QN_OK ||
        (err = qn_loader_count(l, "context_length", 1, QN_NET_CONTEXT_MAX, QN_LOADER_MUST,
                               &context)) != QN_OK)
        return err;
    base = form->base > 0 ? form->base : base;
    for (int64_t i = 0; i < half; i++)
        divisors[i] = long_divisors[i] = 1;
    if (!form->plain &&
        ((err = read_scaling(l, context, &s)) != QN_OK ||
         (err = read_divisors(l, "rope_factors_short.weight", half, divisors, &has_short)) !=
             QN_OK ||
         (err = read_divisors(l, "rope_factors_long.weight", half, long_divisors, &has_long)) !=
             QN_OK))
        return err;
    if (has_short != has_long)
        return qn_fail(
            l->e, QN_EFORMAT,
            "tensors rope_factors_short.weight and rope_factors_long.weight: one is there "
            "without the other");
    if (!form->plain && !has_short) {
        if ((err = read_divisors(l, "rope_freqs.weight", half, divisors, &has_freqs)) != QN_OK)
            return err;
        memcpy(long_divisors, divisors, sizeof divisors);
    }
    if (s.kind == LONGROPE) /* the divisors include the factor */
        s.factor = 1;
    fill(freq, form, base, &s, divisors);
    fill(far, form, base, &s, long_divisors);
    r->near = has_short ? s.original : 0;
    r->scale = steepness(&s, form);
    return keep(r, l, half, freq, far);
}

qn_err qn_rope_load_axes(struct qn_rope *r, struct qn_loader *l, bool interleaved)
{
    const int32_t half = (int32_t)r->freq.shape[0];
    int32_t sections[QN_ROPE_AXES], axis[HALF_MAX];
    qn_err err = qn_loader_counts(l, "rope.dimension_sections", 0, half, QN_LOADER_MUST,
                                  QN_ROPE_AXES, sections);
    if (err != QN_OK)
        return err;
    int32_t all = sections[0] + sections[1] + sections[2] + sections[3];
    if (all == 0)
        return qn_fail(l->e, QN_EFORMAT, "metadata %s.rope.dimension_sections are all 0", l->arch);
    for (int32_t i = 0; i < half; i++) {
        int32_t at = i % all, a = 0;
        while (!interleaved && at >= sections[a])
            at -= sections[a++];
        axis[i] = interleaved && i / 3 < sections[i % 3] ? i % 3 : a;
    }
    r->axis = qn_tensor_make(QN_I32, 1, r->freq.shape, r->mem, 2 * (size_t)half * sizeof(float));
    qn_write(l->dev, &r->axis, axis);
    return QN_OK;
}

void qn_rope_deinit(struct qn_rope *r)
{
    qn_mem_free(r->mem);
}
