/* Llama 4: three of four layers attend within their own chunk of the text and use rotary positions;
 * the fourth attends to everything, without positions, and scales its queries with distance.
 * Rotated queries and keys are normalised without weights (not in the model of 128 experts). Some
 * or all layers have a mixture with one chosen expert, whose input is weighted, and a shared
 * expert. Source: the published code of meta-llama/llama-models and of Hugging Face's
 * modeling_llama4. */
#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

enum { CHUNK = 8192, PERIOD = 4, WARM_EVERY = 8192, LARGEST = 128 };

static qn_err configure(struct qn_loader *l, struct qn_net *net)
{
    int32_t chunk, experts;
    qn_err err;
    if ((err = qn_loader_count(l, "attention.sliding_window", 0, QN_NET_WINDOW_MAX, CHUNK,
                               &chunk)) != QN_OK ||
        (err = qn_loader_count(l, "expert_count", 0, QN_EXPERTS_MAX, 0, &experts)) != QN_OK)
        return err;
    for (int32_t i = 0; i < net->shape.layers; i++) {
        struct qn_attention *a = &net->layer[i].attention;
        const bool far = chunk > 0 && (i + 1) % PERIOD == 0; /* 0: a model without chunks */
        a->chunk = far ? 0 : chunk;
        a->rope = far ? -1 : 0;
        a->bare_norm = !far && experts != LARGEST;
        a->warmth = far ? 0.1f : 0;
        a->warm_every = far ? WARM_EVERY : 0;
        a->warm_from = 1; /* the position of the first token counts as 1 */
    }
    return QN_OK;
}

const struct qn_decoder_arch qn_llama4 = {
    .name = "llama4",
    .pairs = QN_ROPE_NEIGHBOURS,
    .norms = QN_PRE_NORMS,
    .moe = &(const struct qn_moe_style){.score = QN_ROUTE_SIGMOID, .weigh_input = true},
    .configure = configure,
};
