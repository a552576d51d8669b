/* OLMo 2 and 3, and Exaone 4: norms only after each block, and norms of queries and keys. OLMo 3
 * adds windows to three of four layers, and the context's scaling does not apply to those; the
 * layers without a window in Exaone 4 have no rotary positions. Sources: arXiv:2501.00656,
 * arXiv:2507.11407. */
#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

#define POST_NORMS                                                                                 \
    {                                                                                              \
        .mixer_post = "post_attention_norm", .ffn_post = "post_ffw_norm"                           \
    }

static float file_base(struct qn_loader *l)
{
    float base = 10000;
    return qn_loader_positive(l, "rope.freq_base", &base) == QN_OK ? base : 10000;
}

static qn_err configure_olmo2(struct qn_loader *l, struct qn_net *net)
{
    qn_err err = qn_arch_windows(l, net, 0, 4);
    return err == QN_OK ? qn_arch_window_rope(l, net, file_base(l), true) : err;
}

const struct qn_decoder_arch qn_olmo2 = {
    .name = "olmo2",
    .pairs = QN_ROPE_HALVES,
    .qk_norm = QN_QK_NORM_WIDTH,
    .norms = POST_NORMS,
    .configure = configure_olmo2,
};

static qn_err configure_exaone4(struct qn_loader *l, struct qn_net *net)
{
    bool any = false;
    qn_err err = qn_arch_windows(l, net, 0, 4);
    for (int32_t i = 0; i < net->shape.layers; i++)
        any = any || net->layer[i].attention.window > 0;
    for (int32_t i = 0; i < net->shape.layers && any; i++)
        net->layer[i].attention.rope = net->layer[i].attention.window > 0 ? 0 : -1;
    return err;
}

const struct qn_decoder_arch qn_exaone4 = {
    .name = "exaone4",
    .pairs = QN_ROPE_HALVES,
    .qk_norm = QN_QK_NORM_HEAD,
    .norms = POST_NORMS,
    .configure = configure_exaone4,
};
