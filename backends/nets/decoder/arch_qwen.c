/* Qwen. Qwen 2 and 2.5: a llama block with biases on queries, keys and values, and the two halves
 * of a head as rotated pairs. Qwen 3: no biases, queries and keys normalised per head instead; the
 * head's width is independent of the model's. Sources: arXiv:2407.10671, arXiv:2505.09388.
 *
 * Their mixtures of experts differ only in the block: Qwen 2's uses the softmax over all experts
 * unnormalised and has a shared expert with a gate, Qwen 3's divides by the sum of the chosen. */
#include "nets/decoder/block_moe.h"
#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

const struct qn_decoder_arch qn_qwen2 = {
    .name = "qwen2",
    .pairs = QN_ROPE_HALVES,
    .needs_qkv_bias = true,
    .norms = QN_PRE_NORMS,
};

const struct qn_decoder_arch qn_qwen3 = {
    .name = "qwen3",
    .pairs = QN_ROPE_HALVES,
    .qk_norm = QN_QK_NORM_HEAD,
    .norms = QN_PRE_NORMS,
};

const struct qn_decoder_arch qn_qwen2moe = {
    .name = "qwen2moe",
    .pairs = QN_ROPE_HALVES,
    .norms = QN_PRE_NORMS,
    .moe = &(const struct qn_moe_style){.score = QN_ROUTE_SOFTMAX},
};

const struct qn_decoder_arch qn_qwen3moe = {
    .name = "qwen3moe",
    .pairs = QN_ROPE_HALVES,
    .qk_norm = QN_QK_NORM_HEAD,
    .norms = QN_PRE_NORMS,
    .moe = &(const struct qn_moe_style){.score = QN_ROUTE_SOFTMAX, .normalise = true},
};

/* The text models of the vision models: pairs of a head are rotated by the positions on a picture's
 * axes, in Qwen 3 with interleaved axes; and the output of Qwen 3's projector has further parts for
 * the first layers. Sources: arXiv:2409.12191, arXiv:2511.21631. */
static qn_err configure_picture(struct qn_loader *l, struct qn_net *net, bool interleaved)
{
    qn_err err = qn_rope_load(&net->rope[0], l, &(struct qn_rope_form){.dim = net->shape.rope_dim});
    if (err != QN_OK)
        return err;
    net->ropes = 1;
    return qn_rope_load_axes(&net->rope[0], l, interleaved);
}

static qn_err configure_qwen2vl(struct qn_loader *l, struct qn_net *net)
{
    return configure_picture(l, net, false);
}

static qn_err configure_qwen3vl(struct qn_loader *l, struct qn_net *net)
{
    qn_err err =
        qn_loader_count(l, "n_deepstack_layers", 0, net->shape.layers - 1, 0, &net->deepstack);
    return err == QN_OK ? configure_picture(l, net, true) : err;
}

const struct qn_decoder_arch qn_qwen2vl = {
    .name = "qwen2vl",
    .pairs = QN_ROPE_HALVES,
    .needs_qkv_bias = true,
    .norms = QN_PRE_NORMS,
    .configure = configure_qwen2vl,
};

const struct qn_decoder_arch qn_qwen3vl = {
    .name = "qwen3vl",
    .pairs = QN_ROPE_HALVES,
    .qk_norm = QN_QK_NORM_HEAD,
    .norms = QN_PRE_NORMS,
    .configure = configure_qwen3vl,
};

const struct qn_decoder_arch qn_qwen3vlmoe = {
    .name = "qwen3vlmoe",
    .pairs = QN_ROPE_HALVES,
    .qk_norm = QN_QK_NORM_HEAD,
    .norms = QN_PRE_NORMS,
    .moe = &(const struct qn_moe_style){.score = QN_ROUTE_SOFTMAX, .normalise = true},
    .configure = configure_qwen3vl,
};

/* Seed-OSS: Qwen 2's biases, with another name for the second norm. */
const struct qn_decoder_arch qn_seed_oss = {
    .name = "seed_oss",
    .pairs = QN_ROPE_HALVES,
    .norms = {.mixer = "attn_norm", .ffn = "post_attention_norm"},
};
