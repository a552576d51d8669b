/* Command R and Command R7B: one LayerNorm without bias, then both blocks in parallel, and logits
 * scaled down. Command R+ also normalises queries and keys. In Command R7B three of four layers
 * have a window, and only those have rotary positions. Source: the published model definitions of
 * CohereForAI. */
#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

static qn_err configure_command_r(struct qn_loader *l, struct qn_net *net)
{
    return qn_loader_positive(l, "logit_scale", &net->logit_scale);
}

const struct qn_decoder_arch qn_command_r = {
    .name = "command-r",
    .pairs = QN_ROPE_NEIGHBOURS,
    .qk_norm = QN_QK_NORM_EACH_OR_NONE,
    .norm = QN_NORM_LAYER,
    .norms = {.mixer = "attn_norm"},
    .parallel = true,
    .configure = configure_command_r,
};

static qn_err configure_cohere2(struct qn_loader *l, struct qn_net *net)
{
    qn_err err = qn_loader_positive(l, "logit_scale", &net->logit_scale);
    if (err == QN_OK)
        err = qn_arch_windows(l, net, 4096, 4);
    for (int32_t i = 0; i < net->shape.layers; i++)
        net->layer[i].attention.rope = net->layer[i].attention.window > 0 ? 0 : -1;
    return err;
}

const struct qn_decoder_arch qn_cohere2 = {
    .name = "cohere2",
    .pairs = QN_ROPE_NEIGHBOURS,
    .norm = QN_NORM_LAYER,
    .norms = {.mixer = "attn_norm"},
    .parallel = true,
    .configure = configure_cohere2,
};
