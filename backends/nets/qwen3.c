/* Qwen 3, dense: Qwen 2 without the biases, its queries and keys normalised per head instead; the
 * head's width no longer follows from the model's. Source: arXiv:2505.09388. */
#include "nets/decoder.h"

const struct qn_decoder_arch qn_qwen3 = {
    .name = "qwen3",
    .pairs = QN_ROPE_HALVES,
    .qk_norm = true,
};
