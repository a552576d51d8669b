/* Llama 1 to 3, models stored in the same way, and close relatives. GGUF stores their queries and
 * keys with rotated pairs as neighbours. Llama 3's longer context is encoded in a tensor of rotary
 * divisors in the file. Sources: arXiv:2302.13971, arXiv:2407.21783. */
#include "nets/decoder/block_moe.h"
#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

const struct qn_decoder_arch qn_llama = {
    .name = "llama",
    .pairs = QN_ROPE_NEIGHBOURS,
    .norms = QN_PRE_NORMS,
    .moe = &(const struct qn_moe_style){.score = QN_ROUTE_SOFTMAX, .normalise = true},
};

/* Ministral 3 and Mistral Small 4: queries are scaled up with their position. */
static qn_err configure_mistral3(struct qn_loader *l, struct qn_net *net)
{
    struct qn_rope_form form = {.dim = net->shape.rope_dim};
    float warmth = 0;
    int32_t every;
    qn_err err;
    if ((err = qn_loader_real(l, "attention.temperature_scale", &warmth)) != QN_OK ||
        (err = qn_loader_count(l, "rope.scaling.original_context_length", 1, QN_NET_CONTEXT_MAX,
                               net->shape.context_train, &every)) != QN_OK ||
        (err = qn_loader_count(l, "attention.temperature_length", 1, QN_NET_CONTEXT_MAX, every,
                               &every)) != QN_OK ||
        (err = qn_loader_real(l, "rope.scaling.yarn_log_multiplier", &form.log_multiplier)) !=
            QN_OK)
        return err;
    for (int32_t i = 0; i < net->shape.layers && warmth != 0; i++) {
        net->layer[i].attention.warmth = warmth;
        net->layer[i].attention.warm_every = every;
    }
    net->ropes = 1;
    return qn_rope_load(&net->rope[0], l, &form);
}

const struct qn_decoder_arch qn_mistral3 = {
    .name = "mistral3",
    .pairs = QN_ROPE_NEIGHBOURS,
    .norms = QN_PRE_NORMS,
    .configure = configure_mistral3,
};

/* SmolLM 3: every fourth layer has no rotary positions (arXiv:2501.18795). */
static qn_err configure_smollm3(struct qn_loader *l, struct qn_net *net)
{
    (void)l;
    for (int32_t i = 3; i < net->shape.layers; i += 4)
        net->layer[i].attention.rope = -1;
    return QN_OK;
}

const struct qn_decoder_arch qn_smollm3 = {
    .name = "smollm3",
    .pairs = QN_ROPE_NEIGHBOURS,
    .norms = QN_PRE_NORMS,
    .configure = configure_smollm3,
};

/* Granite 3 and later: four multipliers (arXiv:2408.13359), and rotary positions may be off. */
qn_err qn_arch_granite(struct qn_loader *l, struct qn_net *net)
{
    float attention = net->layer[0].attention.scale, logits = 1;
    bool rotates = true;
    qn_err err;
    if ((err = qn_loader_positive(l, "embedding_scale", &net->embedding_scale)) != QN_OK ||
        (err = qn_loader_positive(l, "residual_scale", &net->residual_scale)) != QN_OK ||
        (err = qn_loader_positive(l, "attention.scale", &attention)) != QN_OK ||
        (err = qn_loader_positive(l, "logit_scale", &logits)) != QN_OK ||
        (err = qn_loader_flag(l, "rope.scaling.finetuned", &rotates)) != QN_OK)
        return err;
    net->logit_scale = 1 / logits;
    for (int32_t i = 0; i < net->shape.layers; i++) {
        net->layer[i].attention.scale = attention;
        net->layer[i].attention.rope = rotates ? 0 : -1;
    }
    return QN_OK;
}

const struct qn_decoder_arch qn_granite = {
    .name = "granite",
    .pairs = QN_ROPE_NEIGHBOURS,
    .norms = QN_PRE_NORMS,
    .configure = qn_arch_granite,
};

const struct qn_decoder_arch qn_granitemoe = {
    .name = "granitemoe",
    .pairs = QN_ROPE_NEIGHBOURS,
    .norms = QN_PRE_NORMS,
    .moe = &(const struct qn_moe_style){.score = QN_ROUTE_SOFTMAX, .normalise = true},
    .configure = qn_arch_granite,
};

/* ERNIE 4.5, dense. */
const struct qn_decoder_arch qn_ernie4_5 = {
    .name = "ernie4_5",
    .pairs = QN_ROPE_NEIGHBOURS,
    .norms = QN_PRE_NORMS,
};
