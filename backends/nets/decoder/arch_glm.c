/* GLM 4 (0414), dense: norms on both sides of each block, the first half of each head rotated, gate
 * and up in one matrix. Source: the published model definition of THUDM/GLM-4-9B-0414. */
#include "nets/decoder/arch.h"

const struct qn_decoder_arch qn_glm4 = {
    .name = "glm4",
    .pairs = QN_ROPE_NEIGHBOURS,
    .norms = QN_BOTH_NORMS,
    .merged_gate = true,
};
