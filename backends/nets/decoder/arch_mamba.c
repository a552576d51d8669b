/* Mamba 2 alone; in parallel with attention in every layer (Falcon H1, whose files have its
 * multipliers already applied to the weights); in most layers, with attention in those that have
 * key-value heads (Granite 4); or each layer one block of three kinds (Nemotron H). Sources:
 * arXiv:2405.21060, arXiv:2507.22448, arXiv:2504.03624, and Granite 4's published definition. */
#include "nets/decoder/arch.h"

#include "nets/decoder/block_moe.h"
#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

static qn_err configure(struct qn_loader *l, struct qn_net *net, const struct qn_block *mixer)
{
    struct qn_mamba2 shape = {0};
    qn_err err = qn_mamba2_configure(l, &shape);
    for (int32_t i = 0; i < net->shape.layers && err == QN_OK; i++) {
        net->layer[i].mamba2 = shape;
        net->layer[i].mixer = mixer;
    }
    return err;
}

static qn_err configure_mamba2(struct qn_loader *l, struct qn_net *net)
{
    for (int32_t i = 0; i < net->shape.layers; i++)
        net->layer[i].ffn = NULL;
    return configure(l, net, &qn_block_mamba2);
}

static qn_err configure_granite(struct qn_loader *l, struct qn_net *net)
{
    qn_err err = qn_arch_granite(l, net);
    if (err == QN_OK)
        err = configure(l, net, &qn_block_mamba2);
    for (int32_t i = 0; i < net->shape.layers && err == QN_OK; i++)
        if (net->layer[i].attention.kv_heads > 0)
            net->layer[i].mixer = &qn_block_attention;
    return err;
}

/* Each layer is one block: a mixture if it has a router, a feed-forward block if it has a
 * feed-forward width, attention if it has key-value heads, else Mamba 2. There are no rotary
 * positions. */
static qn_err configure_nemotron_h(struct qn_loader *l, struct qn_net *net)
{
    qn_err err = configure(l, net, &qn_block_mamba2);
    for (int32_t i = 0; i < net->shape.layers && err == QN_OK; i++) {
        struct qn_decoder_layer *layer = &net->layer[i];
        const bool mixture = layer->ffn == &qn_block_moe;
        layer->ffn = NULL;
        layer->attention.rope = -1;
        if (mixture)
            layer->mixer = &qn_block_moe_alone;
        else if (layer->dense.width > 0)
            layer->mixer = &qn_block_ffn_alone;
        else if (layer->attention.kv_heads > 0)
            layer->mixer = &qn_block_attention;
    }
    return err;
}

static qn_err configure_falcon_h1(struct qn_loader *l, struct qn_net *net)
{
    return configure(l, net, &qn_block_attention_and_mamba2);
}

const struct qn_decoder_arch qn_mamba2_arch = {
    .name = "mamba2",
    .recurrent = true,
    .norms = {.mixer = "attn_norm"},
    .configure = configure_mamba2,
};

const struct qn_decoder_arch qn_granitehybrid = {
    .name = "granitehybrid",
    .recurrent = true,
    .pairs = QN_ROPE_NEIGHBOURS,
    .norms = QN_PRE_NORMS,
    .moe = &(const struct qn_moe_style){.score = QN_ROUTE_SOFTMAX, .normalise = true},
    .configure = configure_granite,
};

const struct qn_decoder_arch qn_nemotron_h = {
    .name = "nemotron_h",
    .recurrent = true,
    .norms = {.mixer = "attn_norm"},
    .act = QN_ACT_RELU_SQUARED,
    .configure = configure_nemotron_h,
};

/* Nemotron 3: mixtures instead of feed-forward blocks. */
const struct qn_decoder_arch qn_nemotron_h_moe = {
    .name = "nemotron_h_moe",
    .recurrent = true,
    .norms = {.mixer = "attn_norm"},
    .act = QN_ACT_RELU_SQUARED,
    .moe = &(const struct qn_moe_style){.score = QN_ROUTE_SIGMOID, .gate = QN_MOE_RELU_SQUARED},
    .configure = configure_nemotron_h,
};

const struct qn_decoder_arch qn_falcon_h1 = {
    .name = "falcon-h1",
    .pairs = QN_ROPE_HALVES,
    .norms = QN_PRE_NORMS,
    .configure = configure_falcon_h1,
};
