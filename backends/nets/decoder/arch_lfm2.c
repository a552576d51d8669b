/* LFM2: gated short convolutions, and attention in the few layers that have key-value heads.
 * Source: arXiv:2511.23404. */
#include "nets/decoder/arch.h"

#include "nets/decoder/block_moe.h"
#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

static qn_err configure(struct qn_loader *l, struct qn_net *net)
{
    int32_t kernel;
    qn_err err = qn_loader_count(l, "shortconv.l_cache", 2, QN_CONV_MAX, QN_LOADER_MUST, &kernel);
    for (int32_t i = 0; i < net->shape.layers && err == QN_OK; i++) {
        struct qn_decoder_layer *layer = &net->layer[i];
        if (layer->attention.kv_heads > 0)
            continue;
        layer->mixer = &qn_block_conv;
        layer->conv.kernel = kernel;
    }
    return err;
}

/* LFM2 with a mixture of experts, which are chosen by the sigmoids of their scores plus a bias; the
 * first layers are dense. */
const struct qn_decoder_arch qn_lfm2moe = {
    .name = "lfm2moe",
    .pairs = QN_ROPE_HALVES,
    .recurrent = true,
    .qk_norm = QN_QK_NORM_HEAD,
    .norms = {.mixer = "attn_norm", .ffn = "ffn_norm", .output = "token_embd_norm"},
    .moe = &(const struct qn_moe_style){.score = QN_ROUTE_SIGMOID, .normalise = true},
    .configure = configure,
};

const struct qn_decoder_arch qn_lfm2 = {
    .name = "lfm2",
    .pairs = QN_ROPE_HALVES,
    .recurrent = true,
    .qk_norm = QN_QK_NORM_HEAD,
    .norms = {.mixer = "attn_norm", .ffn = "ffn_norm", .output = "token_embd_norm"},
    .configure = configure,
};
