/* Alternating updates. Sources: arXiv:2301.13310; laurel, arXiv:2411.07501; the published model
 * definition of Gemma 3n. */
#include "nets/decoder/altup.h"

#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

#include <math.h>

/* ---- loading ---- */

qn_err qn_altup_configure(struct qn_loader *l, struct qn_net *net)
{
    qn_err err =
        qn_loader_count(l, "altup.num_inputs", 2, QN_ALTUP_STREAMS_MAX, 4, &net->altup.streams);
    if (err != QN_OK)
        return err;
    return qn_loader_count(l, "altup.active_idx", 0, net->altup.streams - 1, 0, &net->altup.active);
}

qn_err qn_altup_load(struct qn_loader *l, struct qn_net *net)
{
    struct qn_altup *a = &net->altup;
    struct qn_tensor *widen[QN_ALTUP_STREAMS_MAX - 1], *merge[QN_ALTUP_STREAMS_MAX - 1];
    int64_t rows[QN_ALTUP_STREAMS_MAX - 1];
    const int n = a->streams - 1;
    if (a->streams == 0)
        return QN_OK;
    for (int i = 0; i < n; i++) {
        widen[i] = &a->widen[i];
        merge[i] = &a->merge[i];
        rows[i] = net->shape.dim;
    }
    qn_err err = qn_loader_stacked(l, widen, rows, n, net->shape.dim, "altup_proj.weight");
    if (err != QN_OK)
        return err;
    return qn_loader_stacked(l, merge, rows, n, net->shape.dim, "altup_unembd_proj.weight");
}

static qn_err load_laurel(struct qn_loader *l, const struct qn_net *net, struct qn_altup_layer *a,
                          int i)
{
    const int64_t dim = net->shape.dim, rank = qn_loader_cols(l, "blk.%d.laurel_r.weight", i);
    qn_err err;
    if (rank > QN_ALTUP_RANK_MAX)
        return qn_fail(l->e, QN_EFORMAT, "tensor blk.%d.laurel_r.weight has rank %lld, at most %d",
                       i, (long long)rank, QN_ALTUP_RANK_MAX);
    /* if the tensor is missing, the load below reports it */
    a->rank = rank > 0 ? (int32_t)rank : 1;
    if ((err = qn_loader_matrix(l, &a->laurel_down, QN_REQUIRED, a->rank, dim,
                                "blk.%d.laurel_l.weight", i)) != QN_OK ||
        (err = qn_loader_matrix(l, &a->laurel_up, QN_REQUIRED, dim, a->rank,
                                "blk.%d.laurel_r.weight", i)) != QN_OK)
        return err;
    return qn_loader_vector(l, &a->laurel_norm, QN_REQUIRED, dim, "blk.%d.laurel_post_norm.weight",
                            i);
}

qn_err qn_altup_layer_load(struct qn_loader *l, struct qn_net *net, struct qn_decoder_layer *layer)
{
    struct qn_altup_layer *a = &layer->altup;
    const int64_t dim = net->shape.dim, n = net->altup.streams;
    const enum qn_need must = QN_REQUIRED;
    const int i = layer->index;
    qn_err err;
    if (n == 0)
        return QN_OK;
    if ((err = qn_loader_matrix(l, &a->router, must, n, dim, "blk.%d.altup_router.weight", i)) !=
            QN_OK ||
        (err = qn_loader_vector(l, &a->router_norm, must, dim, "blk.%d.altup_router_norm.weight",
                                i)) != QN_OK ||
        (err = qn_loader_matrix(l, &a->predict, must, n * n, n, "blk.%d.altup_predict_coef.weight",
                                i)) != QN_OK ||
        (err = qn_loader_matrix(l, &a->correct, must, n, n, "blk.%d.altup_correct_coef.weight",
                                i)) != QN_OK ||
        (err = qn_loader_vector(l, &a->correct_scale, must, dim,
                                "blk.%d.altup_correct_scale.weight", i)) != QN_OK)
        return err;
    return load_laurel(l, net, a, i);
}

/* ---- running ---- */

/* The tensors of a layer in addition to x, h and out of the decoder. */
struct work {
    struct qn_tensor stream[QN_ALTUP_STREAMS_MAX],
        predicted[QN_ALTUP_STREAMS_MAX];   /* [rows, dim] */
    struct qn_tensor laurel, modes, coefs; /* [rows, dim], [rows, streams], [rows, streams²] */
};

static int32_t widest_rank(const struct qn_net *net)
{
    int32_t rank = 0;
    for (int32_t i = 0; i < net->shape.layers; i++)
        rank = net->layer[i].altup.rank > rank ? net->layer[i].altup.rank : rank;
    return rank;
}

size_t qn_altup_bytes(const struct qn_net *net, int64_t rows)
{
    const int64_t n = net->altup.streams;
    if (n == 0)
        return 0;
    return (size_t)(2 * n + 1) * qn_block_f32_bytes(rows, net->shape.dim) +
           qn_block_f32_bytes(rows, n) + qn_block_f32_bytes(rows, n * n) +
           qn_block_f32_bytes(rows, widest_rank(net));
}

/* modes = tanh(router·(norm(x) / dim)). */
static void route(struct qn_net *net, const struct qn_altup_layer *a, const struct qn_step_rows *b,
                  struct qn_tensor *modes, const struct qn_tensor *x, struct qn_tensor *h)
{
    qn_rms_norm(net->dev, h, x, &a->router_norm, net->shape.eps);
    qn_scale(net->dev, h, h, 1 / (float)net->shape.dim);
    qn_block_matmul(net, b, modes, h, &a->router);
    qn_softcap(net->dev, modes, modes, 1);
}

/* y += s·x by rows, where s is column `at` of coefs. */
static void add_scaled(struct qn_net *net, struct qn_tensor *y, const struct qn_tensor *coefs,
                       int64_t at, const struct qn_tensor *x, struct qn_tensor *h)
{
    struct qn_tensor s = qn_tensor_slice(coefs, 1, at, 1);
    qn_scale_rows(net->dev, h, x, &s);
    qn_add(net->dev, y, y, h);
}

/* predicted[i] = stream[i] + sum over j of coefs[i, j]·stream[j]. */
static void predict(struct qn_net *net, const struct qn_altup_layer *a,
                    const struct qn_step_rows *b, struct work *w, struct qn_tensor *h)
{
    const int n = net->altup.streams;
    route(net, a, b, &w->modes, &w->stream[net->altup.active], h);
    qn_block_matmul(net, b, &w->coefs, &w->modes, &a->predict);
    for (int i = 0; i < n; i++) {
        qn_copy(net->dev, &w->predicted[i], &w->stream[i]);
        for (int j = 0; j < n; j++)
            add_scaled(net, &w->predicted[i], &w->coefs, i * n + j, &w->stream[j], h);
    }
}

/* stream[i] = predicted[i] + (1 + coefs[i])·(computed - predicted[active]). Overwrites computed. */
static void correct(struct qn_net *net, const struct qn_altup_layer *a,
                    const struct qn_step_rows *b, struct work *w, struct qn_tensor *computed,
                    struct qn_tensor *h)
{
    struct qn_tensor coefs = qn_tensor_slice(&w->coefs, 1, 0, net->altup.streams);
    route(net, a, b, &w->modes, computed, h);
    qn_block_matmul(net, b, &coefs, &w->modes, &a->correct);
    qn_scale(net->dev, h, &w->predicted[net->altup.active], -1);
    qn_add(net->dev, computed, computed, h);
    for (int i = 0; i < net->altup.streams; i++) {
        qn_add(net->dev, &w->stream[i], &w->predicted[i], computed);
        add_scaled(net, &w->stream[i], &coefs, i, computed, h);
    }
}

/* laurel = h + norm(up·down·h). */
static void laurel(struct qn_net *net, const struct qn_altup_layer *a, const struct qn_step_rows *b,
                   struct qn_tensor *out, const struct qn_tensor *h)
{
    size_t mark = qn_scratch_mark(net->scratch);
    struct qn_tensor narrow = qn_block_f32(net, h->shape[0], a->rank);
    qn_block_matmul(net, b, &narrow, h, &a->laurel_down);
    qn_block_matmul(net, b, out, &narrow, &a->laurel_up);
    qn_rms_norm(net->dev, out, out, &a->laurel_norm, net->shape.eps);
    qn_add(net->dev, out, out, h);
    qn_scratch_reset(net->scratch, mark);
}

static void run_layer(struct qn_net *net, const struct qn_decoder_layer *l, struct qn_step_rows *b,
                      struct work *w, struct qn_tensor *h, struct qn_tensor *out)
{
    struct qn_device *dev = net->dev;
    predict(net, &l->altup, b, w, h);
    qn_norm_apply(net, h, &w->predicted[net->altup.active], &l->mixer_norm);
    laurel(net, &l->altup, b, &w->laurel, h);
    l->mixer->forward(net, l, b, out, h);
    qn_norm_apply(net, out, out, &l->mixer_post_norm);
    qn_add(dev, out, out, &w->predicted[net->altup.active]);
    qn_add(dev, &w->laurel, &w->laurel, out);
    qn_scale(dev, &w->laurel, &w->laurel, sqrtf(0.5f));

    qn_norm_apply(net, h, &w->laurel, &l->ffn_norm);
    l->ffn->forward(net, l, b, out, h);
    qn_norm_apply(net, out, out, &l->ffn_post_norm);
    qn_add(dev, out, out, &w->laurel);
    correct(net, &l->altup, b, w, out, h);

    qn_scale_cols(dev, h, &w->stream[net->altup.active], &l->altup.correct_scale);
    qn_layer_input_run(net, l, b, out, h);
    for (int i = 1; i < net->altup.streams; i++)
        qn_add(dev, &w->stream[i], &w->stream[i], out);
}

/* The index of the i-th stream other than the active one. */
static int other(const struct qn_net *net, int i)
{
    return i < net->altup.active ? i : i + 1;
}

void qn_altup_run(struct qn_net *net, struct qn_step_rows *b, struct qn_tensor *x,
                  struct qn_tensor *h, struct qn_tensor *out)
{
    const int n = net->altup.streams;
    struct work w;
    size_t mark = qn_scratch_mark(net->scratch);
    for (int i = 0; i < n; i++) {
        w.stream[i] = qn_block_f32(net, b->rows, net->shape.dim);
        w.predicted[i] = qn_block_f32(net, b->rows, net->shape.dim);
    }
    w.laurel = qn_block_f32(net, b->rows, net->shape.dim);
    w.modes = qn_block_f32(net, b->rows, n);
    w.coefs = qn_block_f32(net, b->rows, (int64_t)n * n);

    qn_copy(net->dev, &w.stream[net->altup.active], x);
    for (int i = 0; i < n - 1; i++) {
        struct qn_tensor *to = &w.stream[other(net, i)];
        qn_matmul(net->dev, to, x, &net->altup.widen[i]);
        qn_match_norm(net->dev, to, to, x);
    }
    for (int32_t i = 0; i < net->shape.layers; i++)
        run_layer(net, &net->layer[i], b, &w, h, out);

    b->last = true;
    for (int i = 0; i < n; i++)
        w.stream[i] = qn_batch_wanted(net, b, &w.stream[i]);
    b->rows = b->outputs;
    *x = qn_tensor_slice(x, 0, 0, b->rows);
    *h = qn_tensor_slice(h, 0, 0, b->rows);
    qn_copy(net->dev, x, &w.stream[net->altup.active]);
    for (int i = 0; i < n - 1 && b->rows > 0; i++) {
        qn_matmul(net->dev, h, &w.stream[other(net, i)], &net->altup.merge[i]);
        qn_match_norm(net->dev, h, h, &w.stream[net->altup.active]);
        qn_add(net->dev, x, x, h);
    }
    qn_scale(net->dev, x, x, 1 / (float)n);
    qn_scratch_reset(net->scratch, mark);
}
