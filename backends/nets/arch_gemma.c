/* Gemma, dense. Embeddings are scaled by the root of their width, the gate is a GELU, and files
 * keep norm weights with their 1 added. Gemma 2 has norms on both sides of each block, windows on
 * every second layer and soft caps; Gemma 3 has norms of queries and keys in the caps' place,
 * windows on five of six layers, and a rotation of its own for those. Sources: arXiv:2403.08295,
 * arXiv:2408.00118, arXiv:2503.19786. */
#include "nets/decoder.h"
#include "nets/loader.h"

#include <math.h>

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

/* The largest model of each generation, told by its depth, scales scores by its width over its
 * heads instead of the width of a head. */
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
