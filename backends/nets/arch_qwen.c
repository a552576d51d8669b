/* Qwen. Qwen 2 and 2.5: a llama block with biases on queries, keys and values, and the two
 * halves of a head as rotated pairs. Qwen 3: no biases, queries and keys normalised per head
 * instead; the head's width no longer follows from the model's. Sources: arXiv:2407.10671,
 * arXiv:2505.09388.
 *
 * Their mixtures of experts differ in the block alone: Qwen 2's takes the softmax over all experts
 * as it is and has a shared expert with a gate, Qwen 3's divides by the sum of the chosen. */
#include "nets/arch.h"
#include "nets/block_moe.h"

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

/* Seed-OSS: Qwen 2's biases, with another name for the second norm. */
const struct qn_decoder_arch qn_seed_oss = {
    .name = "seed_oss",
    .pairs = QN_ROPE_HALVES,
    .norms = {.mixer = "attn_norm", .ffn = "post_attention_norm"},
};
