/* gpt-oss: biases everywhere, an attention sink per head, a window on every second layer, a mixture
 * with a clamped gate, weighted by the softmax of the chosen scores. The ends of its yarn ramp are
 * not rounded. Source: arXiv:2508.10925 and the published code of openai/gpt-oss. */
#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

static qn_err configure(struct qn_loader *l, struct qn_net *net)
{
    const struct qn_rope_form form = {.dim = net->shape.rope_dim, .exact_ramp = true};
    qn_err err = qn_arch_windows(l, net, 0, 2);
    net->ropes = 1;
    return err == QN_OK ? qn_rope_load(&net->rope[0], l, &form) : err;
}

const struct qn_decoder_arch qn_gpt_oss = {
    .name = "gpt-oss",
    .pairs = QN_ROPE_HALVES,
    .needs_qkv_bias = true,
    .norms = {.mixer = "attn_norm", .ffn = "post_attention_norm"},
    .moe =
        &(const struct qn_moe_style){.score = QN_ROUTE_SOFTMAX_OF_CHOSEN, .gate = QN_MOE_CLAMPED},
    .configure = configure,
};
