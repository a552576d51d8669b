/* Llama 1 to 3 and everything that is stored like it: pre-norm blocks, grouped queries, SwiGLU.
 * GGUF keeps its queries and keys with the rotated pairs side by side. Llama 3's longer context is
 * a tensor of rotary divisors in the file. Sources: arXiv:2302.13971, arXiv:2407.21783. */
#include "nets/arch.h"
#include "nets/block_moe.h"

const struct qn_decoder_arch qn_llama = {
    .name = "llama",
    .pairs = QN_ROPE_NEIGHBOURS,
    .norms = QN_PRE_NORMS,
    .moe = &(const struct qn_moe_style){.score = QN_ROUTE_SOFTMAX, .normalise = true},
};
