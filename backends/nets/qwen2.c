/* Qwen 2 and 2.5, dense: a llama block with biases on queries, keys and values, and the two halves
 * of a head as rotated pairs. Source: arXiv:2407.10671. */
#include "nets/decoder.h"

const struct qn_decoder_arch qn_qwen2 = {
    .name = "qwen2",
    .pairs = QN_ROPE_HALVES,
    .needs_qkv_bias = true,
};
