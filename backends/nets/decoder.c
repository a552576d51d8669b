/* The forward pass of a decoder: tokens of several sequences in, logits out.
 *
 * One batch holds the new tokens of every chunk, row after row. Products treat all rows alike;
 * only attention and the cache look at whose row it is. Nothing here allocates: activations come
 * from the scratch that was sized at load. Source: arXiv:1706.03762, with the pre-norm block of
 * arXiv:2302.13971. */
#include "nets/decoder.h"

#include <assert.h>
#include <math.h>

struct batch {
    int32_t rows, spans, outputs;
};

static struct qn_tensor f32_2d(struct qn_net *net, int64_t rows, int64_t cols)
{
    return qn_scratch_tensor(net->scratch, QN_F32, QN_SHAPE(rows, cols));
}

static struct qn_tensor as_heads(const struct qn_tensor *t, int64_t heads, int64_t head_dim)
{
    return qn_tensor_reshape(t, QN_SHAPE(t->shape[0], heads, head_dim));
}

static const struct qn_tensor *or_null(const struct qn_tensor *bias)
{
    return bias->ndim ? bias : NULL;
}

size_t qn_decoder_scratch_bytes(const struct qn_decoder_shape *s, int32_t rows)
{
    int64_t n = rows, q = (int64_t)s->heads * s->head_dim, kv = (int64_t)s->kv_heads * s->head_dim;
    size_t stream = 2 * qn_scratch_need(QN_F32, n * s->dim) + qn_scratch_need(QN_F32, n * q);
    size_t place = 2 * qn_scratch_need(QN_I32, n) + qn_scratch_need(QN_F32, n * s->rope_dim);
    size_t attention = qn_scratch_need(QN_F32, n * q) + 2 * qn_scratch_need(QN_F32, n * kv);
    size_t ffn = 2 * qn_scratch_need(QN_F32, n * s->ff);
    size_t logits = qn_scratch_need(QN_F32, (int64_t)QN_NET_LOGIT_ROWS * s->dim) +
                    qn_scratch_need(QN_F32, (int64_t)QN_NET_LOGIT_ROWS * s->vocab);
    size_t widest = attention > ffn ? attention : ffn;
    return stream + place + (widest > logits ? widest : logits);
}

/* Lays the chunks' tokens side by side and notes which rows' logits go where. */
static struct batch gather(struct qn_net *net, const struct qn_chunk *chunks, size_t n_chunks)
{
    assert(n_chunks <= QN_SPANS_MAX);
    struct batch b = {0, (int32_t)n_chunks, 0};
    for (size_t c = 0; c < n_chunks; c++) {
        const struct qn_chunk *chunk = &chunks[c];
        struct qn_seq *seq = chunk->seq;
        assert(chunk->n >= 1 && chunk->n <= net->max_chunk - b.rows);
        assert(chunk->n <= seq->context - seq->len);
        net->spans[c] = (struct qn_span){.row = b.rows, .n = chunk->n, .past = seq->len};
        int32_t first_out = chunk->all_logits ? 0 : chunk->n - 1;
        for (int32_t i = 0; i < chunk->n; i++, b.rows++) {
            assert(chunk->tokens[i] >= 0 && chunk->tokens[i] < net->shape.vocab);
            net->ids[b.rows] = chunk->tokens[i];
            net->positions[b.rows] = seq->len + i;
            if (!chunk->logits || i < first_out)
                continue;
            net->out_row[b.outputs] = b.rows;
            net->out_to[b.outputs++] =
                chunk->logits + (size_t)(i - first_out) * (size_t)net->shape.vocab;
        }
    }
    return b;
}

/* mixed = attention(rope(norm(x)·W_q), rope(norm(x)·W_k), norm(x)·W_v). */
static void attend(struct qn_net *net, const struct qn_decoder_layer *l, const struct batch *b,
                   struct qn_tensor *mixed, const struct qn_tensor *x, struct qn_tensor *h,
                   const struct qn_tensor *angles)
{
    const struct qn_decoder_shape *s = &net->shape;
    struct qn_device *dev = net->dev;
    size_t mark = qn_scratch_mark(net->scratch);

    struct qn_tensor q = f32_2d(net, b->rows, (int64_t)s->heads * s->head_dim);
    struct qn_tensor k = f32_2d(net, b->rows, (int64_t)s->kv_heads * s->head_dim);
    struct qn_tensor v = f32_2d(net, b->rows, (int64_t)s->kv_heads * s->head_dim);
    struct qn_tensor qh = as_heads(&q, s->heads, s->head_dim);
    struct qn_tensor kh = as_heads(&k, s->kv_heads, s->head_dim);
    struct qn_tensor vh = as_heads(&v, s->kv_heads, s->head_dim);
    struct qn_tensor mixed_h = as_heads(mixed, s->heads, s->head_dim);

    qn_rms_norm(dev, h, x, &l->attn_norm, s->eps);
    const struct qn_linear qkv[] = {{&q, &l->q, or_null(&l->q_b)},
                                    {&k, &l->k, or_null(&l->k_b)},
                                    {&v, &l->v, or_null(&l->v_b)}};
    qn_matmul_many(dev, h, qkv, 3);
    if (net->arch->qk_norm) {
        qn_rms_norm(dev, &qh, &qh, &l->q_norm, s->eps);
        qn_rms_norm(dev, &kh, &kh, &l->k_norm, s->eps);
    }
    qn_rope(dev, &qh, angles, net->arch->pairs);
    qn_rope(dev, &kh, angles, net->arch->pairs);
    qn_kv_store(dev, net->spans, b->spans, &kh, &vh);
    qn_attention(dev, &mixed_h, &qh, net->spans, b->spans, 1.0f / sqrtf((float)s->head_dim));

    qn_scratch_reset(net->scratch, mark);
}

/* After the last attention no row needs another: those whose logits are wanted move to the front,
 * the others end here. */
static void keep_wanted_rows(struct qn_net *net, struct batch *b, struct qn_tensor *mixed,
                             struct qn_tensor *x, struct qn_tensor *h)
{
    struct qn_tensor *moved[] = {mixed, x};
    for (int t = 0; t < 2; t++) {
        for (int32_t i = 0; i < b->outputs; i++) {
            struct qn_tensor from = qn_tensor_slice(moved[t], 0, net->out_row[i], 1);
            struct qn_tensor to = qn_tensor_slice(moved[t], 0, i, 1);
            if (net->out_row[i] != i)
                qn_copy(net->dev, &to, &from);
        }
        *moved[t] = qn_tensor_slice(moved[t], 0, 0, b->outputs);
    }
    *h = qn_tensor_slice(h, 0, 0, b->outputs);
    b->rows = b->outputs;
}

/* x += W_o · mixed. */
static void project(struct qn_net *net, const struct qn_decoder_layer *l,
                    const struct qn_tensor *mixed, struct qn_tensor *x, struct qn_tensor *h)
{
    const struct qn_linear o = {h, &l->o, or_null(&l->o_b)};
    qn_matmul_many(net->dev, mixed, &o, 1);
    qn_add(net->dev, x, x, h);
}

/* x += W_down · (silu(norm(x)·W_gate) · norm(x)·W_up). */
static void feed_forward(struct qn_net *net, const struct qn_decoder_layer *l,
                         const struct batch *b, struct qn_tensor *x, struct qn_tensor *h)
{
    size_t mark = qn_scratch_mark(net->scratch);
    struct qn_tensor gate = f32_2d(net, b->rows, net->shape.ff);
    struct qn_tensor up = f32_2d(net, b->rows, net->shape.ff);

    qn_rms_norm(net->dev, h, x, &l->ffn_norm, net->shape.eps);
    const struct qn_linear both[] = {{&gate, &l->gate, NULL}, {&up, &l->up, NULL}};
    qn_matmul_many(net->dev, h, both, 2);
    qn_silu_mul(net->dev, &gate, &gate, &up);
    qn_matmul(net->dev, h, &gate, &l->down);
    qn_add(net->dev, x, x, h);

    qn_scratch_reset(net->scratch, mark);
}

/* norm(x)·W_out, a few rows at a time, each straight to its reader. */
static void logits(struct qn_net *net, const struct batch *b, const struct qn_tensor *x)
{
    for (int32_t done = 0; done < b->rows;) {
        int32_t n = b->rows - done;
        if (n > QN_NET_LOGIT_ROWS)
            n = QN_NET_LOGIT_ROWS;
        size_t mark = qn_scratch_mark(net->scratch);
        struct qn_tensor h = f32_2d(net, n, net->shape.dim);
        struct qn_tensor y = f32_2d(net, n, net->shape.vocab);
        struct qn_tensor rows = qn_tensor_slice(x, 0, done, n);
        qn_rms_norm(net->dev, &h, &rows, &net->output_norm, net->shape.eps);
        qn_matmul(net->dev, &y, &h, &net->output);
        for (int32_t i = 0; i < n; i++) {
            struct qn_tensor row = qn_tensor_slice(&y, 0, i, 1);
            qn_read(net->dev, net->out_to[done + i], &row);
        }
        qn_scratch_reset(net->scratch, mark);
        done += n;
    }
}

void qn_net_forward(struct qn_net *net, struct qn_chunk *chunks, size_t n_chunks)
{
    if (n_chunks == 0)
        return;
    const struct qn_decoder_shape *s = &net->shape;
    size_t mark = qn_scratch_mark(net->scratch);
    struct batch b = gather(net, chunks, n_chunks);

    struct qn_tensor ids = qn_scratch_tensor(net->scratch, QN_I32, QN_SHAPE(b.rows));
    struct qn_tensor pos = qn_scratch_tensor(net->scratch, QN_I32, QN_SHAPE(b.rows));
    struct qn_tensor angles =
        qn_scratch_tensor(net->scratch, QN_F32, QN_SHAPE(b.rows, 2, s->rope_dim / 2));
    struct qn_tensor x = f32_2d(net, b.rows, s->dim);
    struct qn_tensor h = f32_2d(net, b.rows, s->dim);
    struct qn_tensor mixed = f32_2d(net, b.rows, (int64_t)s->heads * s->head_dim);

    qn_write(net->dev, &ids, net->ids);
    qn_write(net->dev, &pos, net->positions);
    qn_get_rows(net->dev, &x, &net->embedding, &ids);
    qn_rope_table(net->dev, &angles, &pos, &net->freq, 1.0f);
    for (int32_t i = 0; i < s->layers; i++) {
        for (size_t c = 0; c < n_chunks; c++) {
            net->spans[c].k_cache = &chunks[c].seq->k[i];
            net->spans[c].v_cache = &chunks[c].seq->v[i];
        }
        const struct qn_decoder_layer *l = &net->layer[i];
        attend(net, l, &b, &mixed, &x, &h, &angles);
        if (i + 1 == s->layers)
            keep_wanted_rows(net, &b, &mixed, &x, &h);
        if (b.rows == 0)
            break;
        project(net, l, &mixed, &x, &h);
        feed_forward(net, l, &b, &x, &h);
    }
    logits(net, &b, &x);

    for (size_t c = 0; c < n_chunks; c++)
        chunks[c].seq->len += chunks[c].n;
    qn_scratch_reset(net->scratch, mark);
}
