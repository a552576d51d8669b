/* Qwen3-Next and Qwen 3.5: three layers of a gated delta net, then one of attention with a gate on
 * its output, repeated; dense or mixture of experts. The two families' files differ in the order of
 * value heads and in how the delta net's projections are divided into tensors. Sources: the models'
 * published definitions; arXiv:2412.06464, arXiv:2505.06708. */
#include "nets/decoder/arch.h"

#include "base/buf.h"
#include "nets/decoder/block_moe.h"
#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

#include <stdlib.h>

/* recurrent[i]: layer i is a delta net. The file has a list, or else every interval-th layer is
 * attention. */
static qn_err read_kinds(struct qn_loader *l, int32_t layers, int32_t *recurrent)
{
    int32_t interval;
    if (qn_loader_has_key(l, "attention.recurrent_layers"))
        return qn_loader_counts(l, "attention.recurrent_layers", 0, 1, QN_LOADER_MUST, layers,
                                recurrent);
    qn_err err = qn_loader_count(l, "full_attention_interval", 1, QN_NET_LAYERS_MAX, 4, &interval);
    for (int32_t i = 0; i < layers && err == QN_OK; i++)
        recurrent[i] = (i + 1) % interval != 0;
    return err;
}

static qn_err configure(struct qn_loader *l, struct qn_net *net, bool tiled)
{
    struct qn_delta_net shape = {.tiled = tiled};
    qn_err err = qn_delta_configure(l, &shape);
    if (err != QN_OK)
        return err;
    int32_t *recurrent = qn_xcalloc((size_t)net->shape.layers, sizeof *recurrent);
    err = read_kinds(l, net->shape.layers, recurrent);
    for (int32_t i = 0; i < net->shape.layers && err == QN_OK; i++) {
        struct qn_decoder_layer *layer = &net->layer[i];
        layer->attention.gated = true;
        if (!recurrent[i])
            continue;
        layer->mixer = &qn_block_delta;
        layer->delta = shape;
    }
    free(recurrent);
    return err;
}

static qn_err configure_qwen3next(struct qn_loader *l, struct qn_net *net)
{
    return configure(l, net, false);
}

static qn_err configure_qwen35(struct qn_loader *l, struct qn_net *net)
{
    return configure(l, net, true);
}

#define NORMS                                                                                      \
    {                                                                                              \
        .mixer = "attn_norm", .ffn = "post_attention_norm"                                         \
    }

static const struct qn_moe_style moe = {.score = QN_ROUTE_SOFTMAX, .normalise = true};

const struct qn_decoder_arch qn_qwen3next = {
    .name = "qwen3next",
    .pairs = QN_ROPE_HALVES,
    .qk_norm = QN_QK_NORM_HEAD,
    .norms = NORMS,
    .recurrent = true,
    .moe = &moe,
    .configure = configure_qwen3next,
};

const struct qn_decoder_arch qn_qwen35 = {
    .name = "qwen35",
    .pairs = QN_ROPE_HALVES,
    .qk_norm = QN_QK_NORM_HEAD,
    .norms = NORMS,
    .recurrent = true,
    .configure = configure_qwen35,
};

const struct qn_decoder_arch qn_qwen35moe = {
    .name = "qwen35moe",
    .pairs = QN_ROPE_HALVES,
    .qk_norm = QN_QK_NORM_HEAD,
    .norms = NORMS,
    .recurrent = true,
    .moe = &moe,
    .configure = configure_qwen35,
};
