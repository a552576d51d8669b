/* Decoders with a mixture of experts that differ from the decoders in other files only in their row
 * of the table. Sources: arXiv:2409.02060 (olmoe), arXiv:2508.06471 (GLM 4.5), arXiv:2506.05767
 * (dots.llm1), and the published model definitions of baidu/ERNIE-4.5, inclusionAI/Ling-mini-2.0,
 * tencent/Hunyuan-A13B and MiniMaxAI/MiniMax-M2. */
#include "nets/decoder/arch.h"
#include "nets/decoder/block_moe.h"

const struct qn_decoder_arch qn_olmoe = {
    .name = "olmoe",
    .pairs = QN_ROPE_HALVES,
    .qk_norm = QN_QK_NORM_WIDTH,
    .norms = QN_PRE_NORMS,
    .moe = &(const struct qn_moe_style){.score = QN_ROUTE_SOFTMAX},
};

/* GLM 4.5 and 4.6. The smaller ones have no norms of queries and keys. */
const struct qn_decoder_arch qn_glm4moe = {
    .name = "glm4moe",
    .pairs = QN_ROPE_HALVES,
    .qk_norm = QN_QK_NORM_HEAD_OR_NONE,
    .norms = {.mixer = "attn_norm", .ffn = "post_attention_norm"},
    .moe = &(const struct qn_moe_style){.score = QN_ROUTE_SIGMOID},
};

const struct qn_decoder_arch qn_ernie4_5_moe = {
    .name = "ernie4_5-moe",
    .pairs = QN_ROPE_NEIGHBOURS,
    .norms = QN_PRE_NORMS,
    .moe = &(const struct qn_moe_style){.score = QN_ROUTE_SOFTMAX, .normalise = true},
};

const struct qn_decoder_arch qn_dots1 = {
    .name = "dots1",
    .pairs = QN_ROPE_HALVES,
    .qk_norm = QN_QK_NORM_HEAD,
    .norms = QN_PRE_NORMS,
    .moe = &(const struct qn_moe_style){.score = QN_ROUTE_SIGMOID},
};

/* Ling and Ring 2.0. */
const struct qn_decoder_arch qn_bailingmoe2 = {
    .name = "bailingmoe2",
    .pairs = QN_ROPE_HALVES,
    .qk_norm = QN_QK_NORM_HEAD,
    .norms = QN_PRE_NORMS,
    .moe = &(const struct qn_moe_style){.score = QN_ROUTE_SIGMOID},
};

const struct qn_decoder_arch qn_hunyuan_moe = {
    .name = "hunyuan-moe",
    .pairs = QN_ROPE_HALVES,
    .qk_norm = QN_QK_NORM_HEAD_LATE,
    .norms = QN_PRE_NORMS,
    .moe = &(const struct qn_moe_style){.score = QN_ROUTE_SOFTMAX, .normalise = true},
};

const struct qn_decoder_arch qn_minimax_m2 = {
    .name = "minimax-m2",
    .pairs = QN_ROPE_HALVES,
    .qk_norm = QN_QK_NORM_WIDTH,
    .norms = QN_PRE_NORMS,
    .moe = &(const struct qn_moe_style){.score = QN_ROUTE_SIGMOID, .normalise = true},
};
