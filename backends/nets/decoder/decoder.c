/* The forward pass of a decoder: tokens of several sequences in, logits or hidden states out.
 *
 * One batch holds the new tokens of all chunks, row after row. Products treat all rows alike; only
 * operations that mix tokens need to know which sequence a row belongs to. Nothing is allocated:
 * activations are in scratch memory that was sized at load. Source: arXiv:1706.03762, with the
 * pre-norm layer of arXiv:2302.13971 and its variants as in the architecture's row. */
#include "nets/decoder/decoder.h"
#include "nets/decoder/seq.h"

#include <assert.h>

/* ---- helpers for blocks ---- */

struct qn_tensor qn_block_f32(struct qn_net *net, int64_t rows, int64_t cols)
{
    return qn_scratch_tensor(net->scratch, QN_F32, QN_SHAPE(rows, cols));
}

size_t qn_block_f32_bytes(int64_t rows, int64_t cols)
{
    return qn_scratch_need(QN_F32, rows * cols);
}

struct qn_tensor qn_block_heads(const struct qn_tensor *t, int64_t heads, int64_t head_dim)
{
    return qn_tensor_reshape(t, QN_SHAPE(t->shape[0], heads, head_dim));
}

struct qn_tensor qn_block_part(const struct qn_tensor *t, int64_t first, int64_t heads,
                               int64_t head_dim)
{
    struct qn_tensor part = qn_tensor_slice(t, 1, first, heads * head_dim);
    part.ndim = 3;
    part.shape[1] = heads;
    part.shape[2] = head_dim;
    part.stride[1] = head_dim * t->stride[1];
    part.stride[2] = t->stride[1];
    return part;
}

const struct qn_tensor *qn_block_or_null(const struct qn_tensor *t)
{
    return t->ndim ? t : NULL;
}

struct qn_tensor qn_batch_wanted(struct qn_net *net, const struct qn_step_rows *b,
                                 const struct qn_tensor *t)
{
    if (!b->last)
        return *t;
    for (int32_t i = 0; i < b->outputs; i++) {
        struct qn_tensor from = qn_tensor_slice(t, 0, net->out_row[i], 1);
        struct qn_tensor to = qn_tensor_slice(t, 0, i, 1);
        if (net->out_row[i] != i)
            qn_copy(net->dev, &to, &from);
    }
    return qn_tensor_slice(t, 0, 0, b->outputs);
}

void qn_block_wanted(qn_block_forward forward, struct qn_net *net,
                     const struct qn_decoder_layer *layer, const struct qn_step_rows *b,
                     struct qn_tensor *out, const struct qn_tensor *in)
{
    struct qn_tensor rows = qn_batch_wanted(net, b, in);
    struct qn_step_rows wanted = *b;
    wanted.rows = (int32_t)rows.shape[0];
    if (wanted.rows > 0)
        forward(net, layer, &wanted, out, &rows);
}

/* ---- scratch size ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

size_t qn_decoder_scratch_bytes(const struct qn_net *net, int32_t rows)
{
    const struct qn_decoder_shape *s = &net->shape;
    size_t stream = 3 * qn_block_f32_bytes(rows, s->dim);
    size_t place =
        2 * qn_scratch_need(QN_I32, rows) + qn_scratch_need(QN_I32, QN_ROPE_AXES * (int64_t)rows);
    for (int32_t r = 0; r < net->ropes; r++)
        place += qn_block_f32_bytes(rows, 2 * net->rope[r].freq.shape[0]);
    size_t widest = qn_block_f32_bytes(QN_NET_RESULT_ROWS, s->dim) +
                    (net->output.ndim ? qn_block_f32_bytes(QN_NET_RESULT_ROWS, s->vocab) : 0);
    for (int32_t i = net->part.first; i < net->part.end; i++) {
        const struct qn_decoder_layer *l = &net->layer[i];
        widest = larger(widest, l->mixer->scratch_bytes(net, l, rows));
        if (l->ffn)
            widest = larger(widest, l->ffn->scratch_bytes(net, l, rows));
    }
    widest = larger(widest, qn_layer_input_bytes(net, rows));
    return stream + place + qn_layer_inputs_bytes(net, rows) + qn_altup_bytes(net, rows) + widest;
}

/* ---- the forward pass ---- */

/* Records where the results of row i of the chunk, the batch's next row, are to be written. */
static void note_result(struct qn_net *net, struct qn_step_rows *b, const struct qn_chunk *chunk,
                        int32_t i)
{
    const int32_t at = i - (chunk->n - qn_chunk_results(chunk));
    if (at < 0)
        return;
    net->out_row[b->outputs] = b->rows;
    net->logits_to[b->outputs] =
        chunk->logits ? chunk->logits + (size_t)at * (size_t)net->shape.vocab : NULL;
    net->hidden_to[b->outputs++] =
        chunk->hidden ? chunk->hidden + (size_t)at * (size_t)net->shape.dim : NULL;
}

/* Concatenates the chunks' tokens and records which rows' results are wanted. */
static struct qn_step_rows gather(struct qn_net *net, const struct qn_chunk *chunks,
                                  size_t n_chunks)
{
    assert(n_chunks <= QN_SPANS_MAX);
    struct qn_step_rows b = {.spans = (int32_t)n_chunks};
    for (size_t c = 0; c < n_chunks; c++) {
        const struct qn_chunk *chunk = &chunks[c];
        struct qn_seq *seq = chunk->seq;
        net->seqs[c] = seq;
        assert(chunk->n >= 1 && chunk->n <= net->max_chunk - b.rows);
        assert(chunk->embeddings || net->part.first == 0);
        assert(!chunk->logits || net->output.ndim);
        assert(seq->len + (int64_t)chunk->n <= (int64_t)seq->table.n * QN_KV_PAGE);
        for (int g = 0; g < QN_KV_GROUPS; g++)
            net->spans[g][c] = (struct qn_span){
                .row = b.rows, .n = chunk->n, .past = seq->len, .pages = seq->table.page[g]};
        for (int32_t i = 0; i < chunk->n; i++, b.rows++) {
            net->ids[b.rows] = chunk->embeddings ? 0 : chunk->tokens[i];
            assert(net->ids[b.rows] >= 0 && net->ids[b.rows] < net->shape.vocab);
            for (int a = 0; a < QN_ROPE_AXES; a++)
                net->places[b.rows * QN_ROPE_AXES + a] =
                    chunk->positions ? chunk->positions[i * QN_ROPE_AXES + a] : seq->len + i;
            net->positions[b.rows] = net->places[b.rows * QN_ROPE_AXES];
            assert(net->positions[b.rows] >= 0);
            note_result(net, &b, chunk, i);
        }
    }
    return b;
}

/* Copies part `part` of the embeddings into the rows of x that belong to chunks with embeddings. */
static void place_embeddings(struct qn_net *net, struct qn_tensor *x, const struct qn_step_rows *b,
                             const struct qn_chunk *chunks, int32_t part)
{
    const int64_t dim = net->shape.dim, width = dim * (1 + net->deepstack);
    for (int32_t c = 0; c < b->spans; c++)
        for (int32_t i = 0; i < chunks[c].n && chunks[c].embeddings; i++) {
            struct qn_tensor row = qn_tensor_slice(x, 0, net->spans[0][c].row + i, 1);
            qn_write(net->dev, &row, chunks[c].embeddings + i * width + part * dim);
        }
}

/* x [rows, dim] = the tokens' embeddings, or the embeddings given in their place. */
static void embed(struct qn_net *net, struct qn_step_rows *b, const struct qn_chunk *chunks,
                  struct qn_tensor *x)
{
    if (net->part.first > 0) {
        place_embeddings(net, x, b, chunks, 0);
        return;
    }
    struct qn_tensor ids = qn_scratch_tensor(net->scratch, QN_I32, QN_SHAPE(b->rows));
    qn_write(net->dev, &ids, net->ids);
    qn_get_rows(net->dev, x, &net->embedding, &ids);
    qn_adapt_embedding(net, b, x, &ids);
    if (net->embedding_scale != 1)
        qn_scale(net->dev, x, x, net->embedding_scale);
    place_embeddings(net, x, b, chunks, 0);
    qn_layer_inputs_make(net, b, &ids, x);
}

/* Computes the rotation angles of every row, once for all layers. */
static void place(struct qn_net *net, struct qn_step_rows *b, const struct qn_chunk *chunks)
{
    struct qn_tensor pos = qn_scratch_tensor(net->scratch, QN_I32, QN_SHAPE(b->rows));
    struct qn_tensor places =
        qn_scratch_tensor(net->scratch, QN_I32, QN_SHAPE(b->rows, QN_ROPE_AXES));
    qn_write(net->dev, &pos, net->positions);
    qn_write(net->dev, &places, net->places);
    for (int32_t r = 0; r < net->ropes; r++) {
        const struct qn_rope *rope = &net->rope[r];
        b->angles[r] =
            qn_scratch_tensor(net->scratch, QN_F32, QN_SHAPE(b->rows, 2, rope->freq.shape[0]));
        for (int32_t c = 0; c < b->spans; c++) {
            const struct qn_span *s = &net->spans[0][c];
            struct qn_tensor at = qn_tensor_slice(&pos, 0, s->row, s->n);
            struct qn_tensor angles = qn_tensor_slice(&b->angles[r], 0, s->row, s->n);
            bool far = rope->near > 0 && chunks[c].seq->context > rope->near;
            const struct qn_tensor *freq = far ? &rope->far : &rope->freq;
            struct qn_tensor in = qn_tensor_slice(&places, 0, s->row, s->n);
            if (rope->axis.ndim)
                qn_rope_table_axes(net->dev, &angles, &in, freq, &rope->axis, rope->scale);
            else
                qn_rope_table(net->dev, &angles, &at, freq, rope->scale);
        }
    }
}

void qn_norm_apply(struct qn_net *net, struct qn_tensor *y, const struct qn_tensor *x,
                   const struct qn_norm *n)
{
    if (n->w.ndim && net->arch->norm == QN_NORM_LAYER)
        qn_layer_norm(net->dev, y, x, &n->w, qn_block_or_null(&n->b), net->shape.eps);
    else if (n->w.ndim)
        qn_rms_norm(net->dev, y, x, &n->w, net->shape.eps);
    else if (y != x)
        qn_copy(net->dev, y, x);
}

/* x += scale · post_norm(out); overwrites out. */
static void add_block(struct qn_net *net, struct qn_tensor *x, struct qn_tensor *out,
                      const struct qn_norm *post)
{
    qn_norm_apply(net, out, out, post);
    if (net->residual_scale != 1)
        qn_scale(net->dev, out, out, net->residual_scale);
    qn_add(net->dev, x, x, out);
}

/* x += post_norm(block(norm(x))), twice; in a parallel layer both blocks have the same input. After
 * the part's last layer x contains only the wanted rows. */
static void run_layer(struct qn_net *net, const struct qn_decoder_layer *l, struct qn_step_rows *b,
                      struct qn_tensor *x, struct qn_tensor *h, struct qn_tensor *out)
{
    if (b->last)
        *out = qn_tensor_slice(out, 0, 0, b->outputs);
    qn_norm_apply(net, h, x, &l->mixer_norm);
    l->mixer->forward(net, l, b, out, h);
    if (b->last) {
        *x = qn_batch_wanted(net, b, x);
        *h = qn_batch_wanted(net, b, h);
        b->rows = b->outputs;
    }
    if (b->rows == 0)
        return;
    add_block(net, x, out, &l->mixer_post_norm);

    if (l->ffn) {
        if (!net->arch->parallel)
            qn_norm_apply(net, h, x, &l->ffn_norm);
        l->ffn->forward(net, l, b, out, h);
        add_block(net, x, out, &l->ffn_post_norm);
    }
    if (net->inputs.width) {
        qn_layer_input_run(net, l, b, out, x);
        qn_add(net->dev, x, x, out);
    }
    if (l->out_scale != 1)
        qn_scale(net->dev, x, x, l->out_scale);
}

/* x += the part of the embeddings for the layer after this one; overwrites h. Source:
 * arXiv:2406.04334. */
static void add_deepstack(struct qn_net *net, const struct qn_step_rows *b,
                          const struct qn_chunk *chunks, int32_t layer, struct qn_tensor *x,
                          struct qn_tensor *h)
{
    bool any = false;
    for (int32_t c = 0; c < b->spans; c++)
        any = any || chunks[c].embeddings;
    if (layer >= net->deepstack || !any)
        return;
    qn_scale(net->dev, h, x, 0);
    place_embeddings(net, h, b, chunks, layer + 1);
    qn_add(net->dev, x, x, h);
}

/* Copies row i of t to to[i] unless that is NULL. */
static void hand_out(struct qn_net *net, const struct qn_tensor *t, float *const *to)
{
    for (int32_t i = 0; i < t->shape[0]; i++) {
        struct qn_tensor row = qn_tensor_slice(t, 0, i, 1);
        if (to[i])
            qn_read(net->dev, to[i], &row);
    }
}

/* Computes h·W_out for the wanted rows first .. first + rows of h. */
static void logits(struct qn_net *net, const struct qn_step_rows *b, const struct qn_tensor *h,
                   int32_t first)
{
    struct qn_tensor y = qn_block_f32(net, h->shape[0], net->shape.vocab);
    const struct qn_linear output = {&y, &net->output, qn_block_or_null(&net->output_b)};
    qn_matmul_many(net->dev, h, &output, 1);
    qn_adapt_logits(net, b, &y, h, first);
    if (net->logit_scale != 1)
        qn_scale(net->dev, &y, &y, net->logit_scale);
    if (net->logit_softcap > 0)
        qn_softcap(net->dev, &y, &y, net->logit_softcap);
    hand_out(net, &y, net->logits_to + first);
}

/* Computes norm(x) and norm(x)·W_out, a few rows at a time, and copies them to their destinations.
 */
static void results(struct qn_net *net, const struct qn_step_rows *b, const struct qn_tensor *x)
{
    for (int32_t done = 0; done < b->rows;) {
        int32_t n = b->rows - done;
        if (n > QN_NET_RESULT_ROWS)
            n = QN_NET_RESULT_ROWS;
        size_t mark = qn_scratch_mark(net->scratch);
        struct qn_tensor h = qn_block_f32(net, n, net->shape.dim);
        struct qn_tensor rows = qn_tensor_slice(x, 0, done, n);
        qn_norm_apply(net, &h, &rows, &net->output_norm);
        hand_out(net, &h, net->hidden_to + done);
        bool any = false;
        for (int32_t i = 0; i < n; i++)
            any = any || net->logits_to[done + i];
        if (any)
            logits(net, b, &h, done);
        qn_scratch_reset(net->scratch, mark);
        done += n;
    }
}

void qn_net_forward(struct qn_net *net, struct qn_chunk *chunks, size_t n_chunks)
{
    if (n_chunks == 0)
        return;
    const struct qn_decoder_shape *s = &net->shape;
    struct qn_chunk sorted[QN_SPANS_MAX];
    if (net->adapters > 0 && n_chunks > 1) {
        qn_adapt_sort(sorted, chunks, n_chunks);
        chunks = sorted;
    }
    size_t mark = qn_scratch_mark(net->scratch);
    struct qn_step_rows b = gather(net, chunks, n_chunks);
    qn_adapt_begin(net, &b, chunks);

    struct qn_tensor x = qn_block_f32(net, b.rows, s->dim);
    struct qn_tensor h = qn_block_f32(net, b.rows, s->dim);
    struct qn_tensor out = qn_block_f32(net, b.rows, s->dim);
    embed(net, &b, chunks, &x);
    place(net, &b, chunks);
    if (net->altup.streams)
        qn_altup_run(net, &b, &x, &h, &out);
    for (int32_t i = net->part.first; i < net->part.end && !net->altup.streams; i++) {
        b.last = i + 1 == net->part.end;
        run_layer(net, &net->layer[i], &b, &x, &h, &out);
        add_deepstack(net, &b, chunks, i, &x, &h);
    }
    results(net, &b, &x);

    for (size_t c = 0; c < n_chunks; c++)
        qn_seq_advance(chunks[c].seq, chunks[c].n);
    qn_scratch_reset(net->scratch, mark);
}
