/* Phi 3, 3.5 and 4: a llama block whose files store queries, keys and values as one matrix, and
 * gate and up as another. Only part of each head may be rotated, and long contexts have separate
 * divisors. Phi 3.5 MoE has separate matrices, each with a bias, and LayerNorm; its router weights
 * each of two experts separately. Sources: arXiv:2404.14219, arXiv:2409.12136 and the published
 * model definition of microsoft/Phi-3.5-MoE. */
#include "nets/decoder/block_moe.h"
#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

static qn_err configure_phi(struct qn_loader *l, struct qn_net *net)
{
    return qn_arch_windows(l, net, 0,
                           /* a period beyond the last layer: the file's window applies to every
                            * layer */
                           QN_NET_LAYERS_MAX + 1);
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
