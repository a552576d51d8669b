/* Phi 3, 3.5 and 4: a llama block whose files keep queries, keys and values as one matrix, and gate
 * and up as another. Part of each head may be rotated, and long contexts have divisors of their
 * own. Phi 3.5 MoE has matrices of their own, each with a bias, and LayerNorm; its router weighs
 * each of two experts by itself. Sources: arXiv:2404.14219, arXiv:2409.12136 and the published
 * model definition of microsoft/Phi-3.5-MoE. */
#include "nets/decoder/block_moe.h"
#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

static qn_err configure_phi(struct qn_loader *l, struct qn_net *net)
{
    return qn_arch_windows(l, net, 0,
                           QN_NET_LAYERS_MAX + 1); /* the file's window is every layer's */
}

const struct qn_decoder_arch qn_phi3 = {
    .name = "phi3",
    .pairs = QN_ROPE_HALVES,
    .norms = QN_PRE_NORMS,
    .merged_gate = true,
    .configure = configure_phi,
};

const struct qn_decoder_arch qn_phimoe = {
    .name = "phimoe",
    .pairs = QN_ROPE_HALVES,
    .norm = QN_NORM_LAYER,
    .norms = QN_PRE_NORMS,
    .moe = &(const struct qn_moe_style){.score = QN_ROUTE_SPARSEMIXER},
    .configure = configure_phi,
};
