/* Per-layer inputs. Source: the published model definition of Gemma 3n. */
#include "nets/decoder/layer_inputs.h"

#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

#include <math.h>

qn_err qn_layer_inputs_configure(struct qn_loader *l, struct qn_net *net)
{
    return qn_loader_count(l, "embedding_length_per_layer_input", 0, QN_LAYER_INPUT_MAX, 0,
                           &net->inputs.width);
}

qn_err qn_layer_inputs_load(struct qn_loader *l, struct qn_net *net)
{
    struct qn_layer_inputs *in = &net->inputs;
    const int64_t all = (int64_t)in->width * net->shape.layers;
    qn_err err;
    if (in->width == 0)
        return QN_OK;
    if ((err = qn_loader_table(l, &in->table, QN_REQUIRED, net->shape.vocab, all,
                               "per_layer_token_embd.weight")) != QN_OK ||
        (err = qn_loader_matrix(l, &in->proj, QN_REQUIRED, all, net->shape.dim,
                                "per_layer_model_proj.weight")) != QN_OK)
        return err;
    return qn_loader_vector(l, &in->norm, QN_REQUIRED, in->width, "per_layer_proj_norm.weight");
}

qn_err qn_layer_input_load(struct qn_loader *l, struct qn_net *net, struct qn_decoder_layer *layer)
{
    struct qn_layer_input *in = &layer->input;
    const int64_t dim = net->shape.dim, width = net->inputs.width;
    const int i = layer->index;
    qn_err err;
    if (width == 0)
        return QN_OK;
    if ((err = qn_loader_matrix(l, &in->gate, QN_REQUIRED, width, dim, "blk.%d.inp_gate.weight",
                                i)) != QN_OK ||
        (err = qn_loader_matrix(l, &in->proj, QN_REQUIRED, dim, width, "blk.%d.proj.weight", i)) !=
            QN_OK)
        return err;
    return qn_loader_vector(l, &in->norm, QN_REQUIRED, dim, "blk.%d.post_norm.weight", i);
}

size_t qn_layer_inputs_bytes(const struct qn_net *net, int64_t rows)
{
    const int64_t all = (int64_t)net->inputs.width * net->shape.layers;
    return all ? 2 * qn_block_f32_bytes(rows, all) : 0;
}

size_t qn_layer_input_bytes(const struct qn_net *net, int64_t rows)
{
    return net->inputs.width ? qn_block_f32_bytes(rows, net->inputs.width) : 0;
}

void qn_layer_inputs_make(struct qn_net *net, struct qn_step_rows *b, const struct qn_tensor *ids,
                          const struct qn_tensor *x)
{
    const struct qn_layer_inputs *in = &net->inputs;
    struct qn_device *dev = net->dev;
    if (in->width == 0)
        return;
    const int64_t all = (int64_t)in->width * net->shape.layers;
    struct qn_tensor from_x = qn_block_f32(net, b->rows, all);
    struct qn_tensor from_table = qn_block_f32(net, b->rows, all);
    struct qn_tensor by_layer = qn_block_heads(&from_x, net->shape.layers, in->width);
    qn_get_rows(dev, &from_table, &in->table, ids);
    qn_scale(dev, &from_table, &from_table, sqrtf((float)in->width / 2));
    qn_block_matmul(net, b, &from_x, x, &in->proj);
    qn_scale(dev, &from_x, &from_x, 1 / sqrtf((float)net->shape.dim));
    qn_rms_norm(dev, &by_layer, &by_layer, &in->norm, net->shape.eps);
    qn_scale(dev, &from_x, &from_x, sqrtf(0.5f));
    qn_add(dev, &from_x, &from_x, &from_table);
    b->inputs = from_x;
}

void qn_layer_input_run(struct qn_net *net, const struct qn_decoder_layer *layer,
                        const struct qn_step_rows *b, struct qn_tensor *out,
                        const struct qn_tensor *x)
{
    const struct qn_layer_input *in = &layer->input;
    const int64_t width = net->inputs.width;
    size_t mark = qn_scratch_mark(net->scratch);
    struct qn_tensor gate = qn_block_f32(net, b->rows, width);
    struct qn_tensor mine = qn_tensor_slice(&b->inputs, 1, layer->index * width, width);
    mine = qn_batch_wanted(net, b, &mine);
    qn_block_matmul(net, b, &gate, x, &in->gate);
    qn_gelu_mul(net->dev, &gate, &gate, &mine);
    qn_block_matmul(net, b, out, &gate, &in->proj);
    qn_rms_norm(net->dev, out, out, &in->norm, net->shape.eps);
    qn_scratch_reset(net->scratch, mark);
}
