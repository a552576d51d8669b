/* Gemma, dense. Embeddings are scaled by the square root of their width, the gate is a GELU, and
 * files contain norm weights with the 1 already added. Gemma 2 has norms on both sides of each
 * block, windows on every second layer and soft caps; Gemma 3 has norms of queries and keys instead
 * of the caps, windows on five of six layers, and a separate rotation for those. Gemma 3n and 4
 * also normalise values, have per-layer inputs, and their last layers read the caches of earlier
 * ones. Sources: arXiv:2403.08295, arXiv:2408.00118, arXiv:2503.19786; for 3n and 4 their published
 * definitions. */
#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>

static qn_err configure_gemma(struct qn_loader *l, struct qn_net *net)
{
    (void)l;
    net->embedding_scale = sqrtf((float)net->shape.dim);
    return QN_OK;
}

const struct qn_decoder_arch qn_gemma = {
    .name = "gemma",
    .pairs = QN_ROPE_HALVES,
    .norms = QN_PRE_NORMS,
    .act = QN_ACT_GELU,
    .configure = configure_gemma,
};

/* The largest model of each generation, recognised by its number of layers, scales scores by its
 * width divided by its heads instead of the width of a head. */
static void scale_scores(struct qn_net *net, int32_t layers_of_largest)
{
    const struct qn_decoder_shape *s = &net->shape;
    for (int32_t i = 0; i < s->layers && s->layers == layers_of_largest; i++)
        net->layer[i].attention.scale = 1 / sqrtf((float)s->dim / (float)s->heads);
}

static qn_err configure_gemma2(struct qn_loader *l, struct qn_net *net)
{
    float cap = 50;
    qn_err err;
    net->logit_softcap = 30;
    net->embedding_scale = sqrtf((float)net->shape.dim);
    scale_scores(net, 46);
    if ((err = qn_loader_positive(l, "attn_logit_softcapping", &cap)) != QN_OK ||
        (err = qn_loader_positive(l, "final_logit_softcapping", &net->logit_softcap)) != QN_OK ||
        (err = qn_arch_windows(l, net, 4096, 2)) != QN_OK)
        return err;
    for (int32_t i = 0; i < net->shape.layers; i++)
        net->layer[i].attention.softcap = cap;
    return QN_OK;
}

const struct qn_decoder_arch qn_gemma2 = {
    .name = "gemma2",
    .pairs = QN_ROPE_HALVES,
    .norms = QN_BOTH_NORMS,
    .act = QN_ACT_GELU,
    .configure = configure_gemma2,
};

static qn_err configure_gemma3(struct qn_loader *l, struct qn_net *net)
{
    qn_err err;
    net->embedding_scale = sqrtf((float)net->shape.dim);
    scale_scores(net, 62);
    if (qn_loader_has_key(l, "final_logit_softcapping") &&
        (err = qn_loader_positive(l, "final_logit_softcapping", &net->logit_softcap)) != QN_OK)
        return err;
    if ((err = qn_arch_windows(l, net, 0, 6)) != QN_OK)
        return err;
    return qn_arch_window_rope(l, net, 10000, true);
}

const struct qn_decoder_arch qn_gemma3 = {
    .name = "gemma3",
    .pairs = QN_ROPE_HALVES,
    .qk_norm = QN_QK_NORM_HEAD,
    .norms = QN_BOTH_NORMS,
    .act = QN_ACT_GELU,
    .configure = configure_gemma3,
};

/* ---- shared caches and per-layer inputs ---- */

/* The last `shared` layers have no keys and values of their own: each reads those of the last
 * earlier layer with the same window. */
static qn_err share_caches(struct qn_loader *l, struct qn_net *net, int32_t shared)
{
    const int32_t layers = net->shape.layers;
    qn_err err = qn_loader_count(l, "attention.shared_kv_layers", 0, layers - 1, shared, &shared);
    for (int32_t i = layers - shared; i < layers && err == QN_OK; i++) {
        struct qn_attention *a = &net->layer[i].attention;
        int32_t from = layers - shared - 1;
        while (from >= 0 && net->layer[from].attention.window != a->window)
            from--;
        if (from < 0 || net->layer[from].attention.kv_heads != a->kv_heads)
            return qn_fail(
                l->e, QN_EFORMAT,
                "layer %d has no keys and values of its own, and no layer before the last "
                "%d has any of the same shape",
                i, shared);
        a->cache_of = from;
    }
    return err;
}

/* Gemma 3n: four residual streams, a low-rank path parallel to attention, sparse gates in early
 * layers. */
static qn_err configure_gemma3n(struct qn_loader *l, struct qn_net *net)
{
    const int32_t layers = net->shape.layers;
    qn_err err;
    net->embedding_scale = sqrtf((float)net->shape.dim);
    net->logit_softcap = 30;
    if ((err = qn_loader_positive(l, "final_logit_softcapping", &net->logit_softcap)) != QN_OK ||
        (err = qn_layer_inputs_configure(l, net)) != QN_OK ||
        (err = qn_altup_configure(l, net)) != QN_OK ||
        (err = qn_arch_windows(l, net, 0, 5)) != QN_OK ||
        (err = qn_arch_window_rope(l, net, 10000, true)) != QN_OK ||
        (err = share_caches(l, net, layers > 20 ? layers - 20 : 0)) != QN_OK)
        return err;
    if (net->inputs.width == 0)
        return qn_fail(l->e, QN_EFORMAT,
                       "metadata gemma3n.embedding_length_per_layer_input is missing or 0");
    for (int32_t i = 0; i < layers; i++) {
        struct qn_decoder_layer *layer = &net->layer[i];
        layer->attention.scale = 1;
        layer->attention.v_norm = true;
        /* sets 19 of 20 gates to 0 if they are normally distributed */
        layer->dense.cut = i < 10 ? 1.6448536f : 0;
    }
    float *cuts = qn_xcalloc((size_t)layers, sizeof *cuts);
    err = qn_loader_reals(l, "activation_sparsity_scale", layers, cuts);
    for (int32_t i = 0;
         i < layers && err == QN_OK && qn_loader_has_key(l, "activation_sparsity_scale"); i++)
        net->layer[i].dense.cut = cuts[i];
    free(cuts);
    return err;
}

const struct qn_decoder_arch qn_gemma3n = {
    .name = "gemma3n",
    .pairs = QN_ROPE_HALVES,
    .qk_norm = QN_QK_NORM_HEAD,
    .norms = QN_BOTH_NORMS,
    .act = QN_ACT_GELU,
    .configure = configure_gemma3n,
};

/* Gemma 4: layers with a window have another head width, and each of the two kinds of layers has
 * its own rotation. */
static qn_err configure_gemma4(struct qn_loader *l, struct qn_net *net)
{
    const struct qn_decoder_shape *s = &net->shape;
    float base = 10000;
    int32_t narrow, values, turned;
    qn_err err;
    net->embedding_scale = sqrtf((float)s->dim);
    if (qn_loader_has_key(l, "final_logit_softcapping") &&
        (err = qn_loader_positive(l, "final_logit_softcapping", &net->logit_softcap)) != QN_OK)
        return err;
    if ((err = qn_loader_count(l, "attention.key_length_swa", 2, QN_NET_HEAD_DIM_MAX, s->head_dim,
                               &narrow)) != QN_OK ||
        (err = qn_loader_count(l, "attention.value_length_swa", narrow, narrow, narrow, &values)) !=
            QN_OK ||
        (err = qn_loader_count(l, "rope.dimension_count_swa", 2, narrow, narrow / 2 * 2,
                               &turned)) != QN_OK ||
        (err = qn_loader_positive(l, "rope.freq_base_swa", &base)) != QN_OK ||
        (err = qn_layer_inputs_configure(l, net)) != QN_OK ||
        (err = qn_arch_windows(l, net, 0, 6)) != QN_OK ||
        (err = share_caches(l, net, 0)) != QN_OK ||
        (err = qn_rope_load(&net->rope[0], l, &(struct qn_rope_form){.dim = s->rope_dim})) != QN_OK)
        return err;
    net->ropes = 1;
    if (turned % 2)
        return qn_fail(l->e, QN_EFORMAT, "a rotated width of %d is not even", turned);
    err = qn_rope_load(&net->rope[1], l,
                       &(struct qn_rope_form){.dim = turned, .base = base, .plain = true});
    net->ropes = 2;
    for (int32_t i = 0; i < s->layers; i++) {
        struct qn_attention *a = &net->layer[i].attention;
        a->scale = 1;
        a->v_norm = true;
        a->rope = a->window > 0;
        a->head_dim = a->window > 0 ? narrow : s->head_dim;
    }
    return err;
}

const struct qn_decoder_arch qn_gemma4 = {
    .name = "gemma4",
    .pairs = QN_ROPE_HALVES,
    .qk_norm = QN_QK_NORM_HEAD,
    .norms = QN_BOTH_NORMS,
    .act = QN_ACT_GELU,
    .configure = configure_gemma4,
};
