/* DeepSeek: mixtures of many small experts with additional shared ones. The first generation has
 * llama's attention; from V2 on it is latent (block_mla.c), which Kimi, GLM 4.7 Flash and others
 * use under the same architecture name. Sources: arXiv:2401.06066, arXiv:2405.04434,
 * arXiv:2412.19437. */
#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

#include <math.h>
#include <string.h>

const struct qn_decoder_arch qn_deepseek = {
    .name = "deepseek",
    .pairs = QN_ROPE_NEIGHBOURS,
    .norms = QN_PRE_NORMS,
    .moe = &(const struct qn_moe_style){.score = QN_ROUTE_SOFTMAX},
};

/* With yarn the model multiplies its scores by the square of 1 + 0.1·m·ln factor and leaves the
 * sines unscaled; the file has 0.1·m. Without that value yarn is applied as usual. */
static qn_err configure_deepseek2(struct qn_loader *l, struct qn_net *net)
{
    struct qn_rope_form form = {.dim = net->shape.rope_dim};
    const char *scaling = "none";
    float growth = 0, factor = 1;
    qn_err err;
    if ((err = qn_mla_configure(l, net)) != QN_OK ||
        (err = qn_loader_text(l, "rope.scaling.type", &scaling)) != QN_OK ||
        (err = qn_loader_positive(l, "rope.scaling.factor", &factor)) != QN_OK ||
        (err = qn_loader_real(l, "rope.scaling.yarn_log_multiplier", &growth)) != QN_OK)
        return err;
    if (strcmp(scaling, "yarn") == 0 && growth != 0 && factor > 1) {
        form.log_multiplier = 1;
        growth = 1 + growth * logf(factor);
        for (int32_t i = 0; i < net->shape.layers; i++)
            net->layer[i].mla.scale *= growth * growth;
    }
    net->ropes = 1;
    return qn_rope_load(&net->rope[0], l, &form);
}

const struct qn_decoder_arch qn_deepseek2 = {
    .name = "deepseek2",
    .pairs = QN_ROPE_NEIGHBOURS,
    .norms = QN_PRE_NORMS,
    .moe = &(const struct qn_moe_style){.score = QN_ROUTE_SOFTMAX},
    .configure = configure_deepseek2,
};
