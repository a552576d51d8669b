/* The mixture of experts: a router scores all experts for each token, the token goes through the
 * best few, and their outputs are summed by weight. Some models have an additional shared expert
 * for every token. Sources: arXiv:2101.03961, arXiv:2401.04088 (mixtral); shared experts
 * arXiv:2401.06066; bias and groups arXiv:2412.19437. */
#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

/* Constants of gpt-oss's gate, from its published code. */
static const float clamp_alpha = 1.702f, clamp_limit = 7.0f;

/* ---- metadata ---- */

static qn_err read_route(struct qn_loader *l, const struct qn_moe_style *style, int32_t experts,
                         int32_t used, struct qn_expert_route *r)
{
    static const enum qn_route_score scores[] = {QN_ROUTE_SOFTMAX, QN_ROUTE_SIGMOID,
                                                 QN_ROUTE_SOFTMAX_OF_CHOSEN};
    int32_t score;
    qn_err err;
    *r = (struct qn_expert_route){.normalise = style->normalise};
    if ((err = qn_loader_count(l, "expert_gating_func", 0, 3, 0, &score)) != QN_OK ||
        (err = qn_loader_count(l, "expert_group_count", 0, experts, 0, &r->groups)) != QN_OK ||
        (err = qn_loader_count(l, "expert_group_used_count", 0, experts, r->groups,
                               &r->groups_used)) != QN_OK ||
        (err = qn_loader_flag(l, "expert_weights_norm", &r->normalise)) != QN_OK ||
        (err = qn_loader_real(l, "expert_weights_scale", &r->scale)) != QN_OK)
        return err;
    r->score = score ? scores[score - 1] : style->score;
    /* 0: absent, or written by some converters for "none" */
    r->scale = r->scale == 0 ? 1 : r->scale;
    if (r->groups > 1 && (experts % r->groups || r->groups_used < 1 || r->groups_used > r->groups ||
                          experts / r->groups * r->groups_used < used))
        return qn_fail(l->e, QN_EFORMAT,
                       "%d of %d groups of experts cannot give %d of %d experts to a token",
                       r->groups_used, r->groups, used, experts);
    return QN_OK;
}

static qn_err width_of(struct qn_loader *l, int32_t layer, const char *tensor, int32_t *width)
{
    int64_t cols = qn_loader_cols(l, "blk.%d.%s.weight", layer, tensor);
    if (cols > QN_NET_FF_MAX)
        return qn_fail(l->e, QN_EFORMAT,
                       "tensor blk.%d.%s.weight has rows of %lld; this version "
                       "takes up to %d",
                       layer, tensor, (long long)cols, QN_NET_FF_MAX);
    *width = (int32_t)cols;
    return QN_OK;
}

qn_err qn_moe_configure(struct qn_loader *l, struct qn_net *net)
{
    const struct qn_moe_style *style = net->arch->moe;
    int32_t experts, used;
    struct qn_expert_route route;
    qn_err err = qn_loader_count(l, "expert_count", 0, QN_EXPERTS_MAX, 0, &experts);
    if (err != QN_OK || experts == 0)
        return err;
    if (!style)
        return qn_fail(l->e, QN_EUNSUPPORTED,
                       "a mixture of %d experts is not supported for %s; this version runs its "
                       "dense models",
                       experts, l->arch);
    if ((err = qn_loader_count(l, "expert_used_count", 1,
                               experts < QN_EXPERTS_USED_MAX ? experts : QN_EXPERTS_USED_MAX,
                               QN_LOADER_MUST, &used)) != QN_OK ||
        (err = read_route(l, style, experts, used, &route)) != QN_OK)
        return err;
    for (int32_t i = 0; i < net->shape.layers; i++) {
        struct qn_moe *m = &net->layer[i].moe;
        if (!qn_loader_has(l, "blk.%d.ffn_gate_inp.weight", i))
            continue;
        *m = (struct qn_moe){.experts = experts, .used = used, .route = route};
        const bool apart = qn_loader_has(l, "blk.%d.ffn_down.0.weight", i);
        if ((err = width_of(l, i, apart ? "ffn_down.0" : "ffn_down_exps", &m->width)) != QN_OK ||
            (err = width_of(l, i, "ffn_down_shexp", &m->shared_width)) != QN_OK)
            return err;
        net->layer[i].ffn = &qn_block_moe;
    }
    return QN_OK;
}

/* ---- tensors ---- */

static qn_err load_router(struct qn_loader *l, const struct qn_net *net, struct qn_moe *m, int i)
{
    const int64_t dim = net->shape.dim;
    qn_err err;
    if ((err = qn_loader_matrix(l, &m->router, QN_REQUIRED, m->experts, dim,
                                "blk.%d.ffn_gate_inp.weight", i)) != QN_OK ||
        (err = qn_loader_vector(l, &m->router_b, QN_OPTIONAL, m->experts,
                                "blk.%d.ffn_gate_inp.bias", i)) != QN_OK)
        return err;
    return qn_loader_vector(l, &m->choice_b, QN_OPTIONAL, m->experts, "blk.%d.exp_probs_b.bias", i);
}

static bool gated(const struct qn_net *net)
{
    return net->arch->moe->gate != QN_MOE_RELU_SQUARED;
}

static qn_err load_experts(struct qn_loader *l, const struct qn_net *net, struct qn_moe *m, int i)
{
    const int64_t dim = net->shape.dim, n = m->experts, ff = m->width;
    const enum qn_need must = QN_REQUIRED, may = QN_OPTIONAL;
    qn_err err;
    if ((err = qn_loader_experts(l, &m->down, must, n, dim, ff, "blk.%d.ffn_down_exps.weight",
                                 i)) != QN_OK ||
        (err = qn_loader_grid(l, &m->down_b, may, n, dim, "blk.%d.ffn_down_exps.bias", i)) != QN_OK)
        return err;
    if (qn_loader_has(l, "blk.%d.ffn_gate_up_exps.weight", i)) {
        if ((err = qn_loader_experts(l, &m->gate_up, must, n, 2 * ff, dim,
                                     "blk.%d.ffn_gate_up_exps.weight", i)) != QN_OK)
            return err;
        return qn_loader_grid(l, &m->gate_up_b, may, n, 2 * ff, "blk.%d.ffn_gate_up_exps.bias", i);
    }
    if (gated(net) && ((err = qn_loader_experts(l, &m->gate, must, n, ff, dim,
                                                "blk.%d.ffn_gate_exps.weight", i)) != QN_OK ||
                       (err = qn_loader_grid(l, &m->gate_b, may, n, ff, "blk.%d.ffn_gate_exps.bias",
                                             i)) != QN_OK))
        return err;
    if ((err = qn_loader_experts(l, &m->up, must, n, ff, dim, "blk.%d.ffn_up_exps.weight", i)) !=
        QN_OK)
        return err;
    return qn_loader_grid(l, &m->up_b, may, n, ff, "blk.%d.ffn_up_exps.bias", i);
}

static qn_err load_shared(struct qn_loader *l, const struct qn_net *net, struct qn_moe *m, int i)
{
    const int64_t dim = net->shape.dim, ff = m->shared_width;
    const enum qn_need must = QN_REQUIRED;
    qn_err err;
    if (!ff)
        return QN_OK;
    if (gated(net) && (err = qn_loader_matrix(l, &m->shared_gate, must, ff, dim,
                                              "blk.%d.ffn_gate_shexp.weight", i)) != QN_OK)
        return err;
    if ((err = qn_loader_matrix(l, &m->shared_up, must, ff, dim, "blk.%d.ffn_up_shexp.weight",
                                i)) != QN_OK ||
        (err = qn_loader_matrix(l, &m->shared_down, must, dim, ff, "blk.%d.ffn_down_shexp.weight",
                                i)) != QN_OK ||
        (err = qn_loader_vector(l, &m->shared_router, QN_OPTIONAL, dim,
                                "blk.%d.ffn_gate_inp_shexp.weight", i)) != QN_OK)
        return err;
    if (m->shared_router.ndim)
        m->shared_router = qn_tensor_reshape(&m->shared_router, QN_SHAPE(1, dim));
    return QN_OK;
}

static qn_err load(struct qn_loader *l, struct qn_net *net, struct qn_decoder_layer *layer)
{
    struct qn_moe *m = &layer->moe;
    qn_err err;
    if ((err = load_router(l, net, m, layer->index)) != QN_OK ||
        (err = load_experts(l, net, m, layer->index)) != QN_OK ||
        (err = load_shared(l, net, m, layer->index)) != QN_OK)
        return err;
    m->route.bias = qn_block_or_null(&m->choice_b);
    return QN_OK;
}

/* ---- the forward pass ---- */

static size_t scratch_bytes(const struct qn_net *net, const struct qn_decoder_layer *layer,
                            int64_t rows)
{
    const struct qn_moe *m = &layer->moe;
    const int64_t choices = rows * m->used;
    size_t routing = qn_block_f32_bytes(rows, m->experts) + 2 * qn_block_f32_bytes(rows, m->used);
    size_t experts = qn_block_f32_bytes(choices, 2 * m->width);
    size_t shared = 0;
    if (m->shared_width)
        shared = 2 * qn_block_f32_bytes(rows, m->shared_width) +
                 qn_block_f32_bytes(rows, net->shape.dim) + qn_block_f32_bytes(rows, 1);
    return routing + experts + shared;
}

static void reserve(const struct qn_decoder_layer *layer, struct qn_reserve *need)
{
    const struct qn_moe *m = &layer->moe;
    need->experts = m->experts > need->experts ? m->experts : need->experts;
    need->experts_used = m->used > need->experts_used ? m->used : need->experts_used;
}

/* hidden [choices, width] = relu²(up_e·in), the input of the chosen experts' down. */
static void without_gate(struct qn_net *net, const struct qn_moe *m, const struct qn_step_rows *b,
                         struct qn_tensor *hidden, const struct qn_tensor *in,
                         const struct qn_tensor *ids)
{
    const struct qn_expert_linear up = {hidden, &m->up, qn_block_or_null(&m->up_b)};
    qn_block_matmul_experts(net, b, in, ids, &up, 1);
    qn_relu_squared(net->dev, hidden, hidden);
}

/* hidden = act(gate_e·in) · up_e·in; `both` [choices, 2·width] holds gate and up, and the result in
 * its first half. */
static void with_gate(struct qn_net *net, const struct qn_moe *m, const struct qn_step_rows *b,
                      struct qn_tensor *both, const struct qn_tensor *in,
                      const struct qn_tensor *ids, const struct qn_tensor *weights)
{
    struct qn_tensor gate = qn_tensor_slice(both, 1, 0, m->width);
    struct qn_tensor up = qn_tensor_slice(both, 1, m->width, m->width);
    if (m->gate_up.ndim) {
        const struct qn_expert_linear merged = {both, &m->gate_up, qn_block_or_null(&m->gate_up_b)};
        qn_block_matmul_experts(net, b, in, ids, &merged, 1);
    } else {
        const struct qn_expert_linear two[] = {{&gate, &m->gate, qn_block_or_null(&m->gate_b)},
                                               {&up, &m->up, qn_block_or_null(&m->up_b)}};
        qn_block_matmul_experts(net, b, in, ids, two, 2);
    }
    if (weights) { /* without biases the weights can be applied before or after the product */
        struct qn_tensor each =
            qn_tensor_reshape(weights, QN_SHAPE(qn_tensor_elements(weights), 1));
        qn_scale_rows(net->dev, both, both, &each);
    }
    if (net->arch->moe->gate == QN_MOE_CLAMPED)
        qn_swiglu_clamped(net->dev, &gate, &gate, &up, clamp_alpha, clamp_limit);
    else
        qn_silu_mul(net->dev, &gate, &gate, &up);
}

/* out = sum over the chosen experts e of weight_e · down_e(hidden_e(in)). */
static void run_experts(struct qn_net *net, const struct qn_moe *m, const struct qn_step_rows *b,
                        struct qn_tensor *out, const struct qn_tensor *in,
                        const struct qn_tensor *ids, const struct qn_tensor *weights)
{
    const bool into = net->arch->moe->weigh_input, gates = gated(net);
    struct qn_tensor all = qn_block_f32(net, qn_tensor_elements(ids), (gates ? 2 : 1) * m->width);
    struct qn_tensor hidden = qn_tensor_slice(&all, 1, 0, m->width);
    if (gates)
        with_gate(net, m, b, &all, in, ids, into ? weights : NULL);
    else
        without_gate(net, m, b, &hidden, in, ids);
    const struct qn_expert_linear down = {out, &m->down, qn_block_or_null(&m->down_b)};
    qn_block_sum_experts(net, b, &hidden, &down, ids, into ? NULL : weights);
}

static void forward(struct qn_net *net, const struct qn_decoder_layer *layer,
                    const struct qn_step_rows *b, struct qn_tensor *out, const struct qn_tensor *in)
{
    const struct qn_moe *m = &layer->moe;
    struct qn_device *dev = net->dev;
    size_t mark = qn_scratch_mark(net->scratch);
    struct qn_tensor scores = qn_block_f32(net, b->rows, m->experts);
    struct qn_tensor weights = qn_block_f32(net, b->rows, m->used);
    struct qn_tensor ids =
        qn_scratch_tensor(net->scratch, QN_I32, QN_SHAPE(b->rows, (int64_t)m->used));
    const struct qn_linear router = {&scores, &m->router, qn_block_or_null(&m->router_b)};

    if (!m->shared_width) {
        qn_block_matmul_many(net, b, in, &router, 1);
        qn_choose_experts(dev, &ids, &weights, &scores, &m->route);
        run_experts(net, m, b, out, in, &ids, &weights);
        qn_scratch_reset(net->scratch, mark);
        return;
    }
    struct qn_tensor gate = qn_block_f32(net, b->rows, m->shared_width);
    struct qn_tensor up = qn_block_f32(net, b->rows, m->shared_width);
    struct qn_tensor shared = qn_block_f32(net, b->rows, net->shape.dim);
    struct qn_tensor part = qn_block_f32(net, b->rows, 1);
    struct qn_linear first[4] = {router, {&up, &m->shared_up, NULL}};
    int n = 2;
    if (gated(net))
        first[n++] = (struct qn_linear){&gate, &m->shared_gate, NULL};
    if (m->shared_router.ndim)
        first[n++] = (struct qn_linear){&part, &m->shared_router, NULL};
    qn_block_matmul_many(net, b, in, first, n);
    qn_choose_experts(dev, &ids, &weights, &scores, &m->route);
    run_experts(net, m, b, out, in, &ids, &weights);
    if (gated(net))
        qn_silu_mul(dev, &up, &gate, &up);
    else
        qn_relu_squared(dev, &up, &up);
    qn_block_matmul(net, b, &shared, &up, &m->shared_down);
    if (m->shared_router.ndim) {
        qn_sigmoid(dev, &part, &part);
        qn_scale_rows(dev, &shared, &shared, &part);
    }
    qn_add(dev, out, out, &shared);
    qn_scratch_reset(net->scratch, mark);
}

const struct qn_block qn_block_moe = {
    .load = load, .scratch_bytes = scratch_bytes, .reserve = reserve, .forward = forward};

/* Computes only the wanted rows, for a block that is the last layer's mixer. */
static void forward_alone(struct qn_net *net, const struct qn_decoder_layer *layer,
                          const struct qn_step_rows *b, struct qn_tensor *out,
                          const struct qn_tensor *in)
{
    qn_block_wanted(forward, net, layer, b, out, in);
}

const struct qn_block qn_block_moe_alone = {
    .load = load, .scratch_bytes = scratch_bytes, .reserve = reserve, .forward = forward_alone};
