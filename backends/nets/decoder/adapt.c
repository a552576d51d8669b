/* Products during a pass, with the contributions of LoRA adapters for the rows that use some.
 *
 * W·x is computed once for all rows; then scale·B·(A·x) of each adapter that changes W is added for
 * each run of rows with the same LoRA set. Products with the same input read it once, as the base
 * products do. Without adapters in use a product costs one more comparison. Nothing is allocated.
 */
#include "nets/decoder/adapter.h"

#include "nets/decoder/decoder.h"

#include <assert.h>
#include <string.h>

/* ---- rows ---- */

bool qn_mix_equal(const struct qn_mix *a, const struct qn_mix *b)
{
    const int32_t n = a ? a->n : 0;
    if (n != (b ? b->n : 0))
        return false;
    for (int32_t i = 0; i < n; i++)
        if (a->part[i].adapter != b->part[i].adapter || a->part[i].scale != b->part[i].scale)
            return false;
    return true;
}

void qn_adapt_sort(struct qn_chunk *sorted, const struct qn_chunk *chunks, size_t n)
{
    bool done[QN_SPANS_MAX] = {false};
    size_t at = 0;
    assert(n <= QN_SPANS_MAX);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n && !done[i]; j++)
            if (!done[j] && qn_mix_equal(chunks[i].mix, chunks[j].mix)) {
                sorted[at++] = chunks[j];
                done[j] = j > i;
            }
}

static void extend(struct qn_adapt_run *runs, int32_t *n, const struct qn_mix *mix, int32_t row,
                   int32_t rows)
{
    struct qn_adapt_run *last = *n ? &runs[*n - 1] : NULL;
    if (!mix || mix->n == 0 || rows == 0)
        return;
    if (last && last->row + last->n == row && qn_mix_equal(last->mix, mix))
        last->n += rows;
    else
        runs[(*n)++] = (struct qn_adapt_run){.row = row, .n = rows, .mix = mix};
}

void qn_adapt_begin(struct qn_net *net, struct qn_step_rows *b, const struct qn_chunk *chunks)
{
    struct qn_adapting *a = net->adapting;
    int32_t row = 0, out = 0;
    if (!a)
        return;
    a->rows = b->rows;
    a->outputs = b->outputs;
    a->n_all = a->n_wanted = 0;
    for (int32_t c = 0; c < b->spans; c++) {
        const struct qn_chunk *chunk = &chunks[c];
        const int32_t outs = qn_chunk_results(chunk);
        for (int32_t i = 0; chunk->mix && i < chunk->mix->n; i++)
            assert(chunk->mix->part[i].adapter >= 0 && chunk->mix->part[i].adapter < net->adapters);
        extend(a->all, &a->n_all, chunk->mix, row, chunk->n);
        extend(a->wanted, &a->n_wanted, chunk->mix, out, outs);
        row += chunk->n;
        out += outs;
    }
    if (a->n_all > 0)
        b->adapting = a;
}

/* The runs for a product of this many rows: of the whole batch, or of the wanted rows. */
static const struct qn_adapt_run *runs_of(const struct qn_step_rows *b, int64_t rows, int32_t *n)
{
    const struct qn_adapting *a = b->adapting;
    const bool all = rows == a->rows;
    assert(all || rows == a->outputs);
    *n = all ? a->n_all : a->n_wanted;
    return all ? a->all : a->wanted;
}

/* ---- products ---- */

static struct qn_tensor room(struct qn_net *net, int64_t rows, int64_t cols)
{
    return qn_scratch_tensor(net->adapt_scratch, QN_F32, QN_SHAPE(rows, cols));
}

/* Adds one adapter's contribution for the rows x [n, cols] to rows row .. row + n of each part's y.
 */
static void add_parts(struct qn_net *net, const struct qn_mix_part *m, const struct qn_tensor *x,
                      const struct qn_linear *parts, int n_parts, int64_t row)
{
    const struct qn_pair *pair[QN_LINEAR_MAX];
    struct qn_tensor low[QN_LINEAR_MAX];
    struct qn_linear down[QN_LINEAR_MAX];
    int whose[QN_LINEAR_MAX], n = 0;
    size_t mark = qn_scratch_mark(net->adapt_scratch);
    for (int i = 0; i < n_parts; i++) {
        if (!(pair[n] = qn_adapter_pair(net->adapter[m->adapter], parts[i].w)))
            continue;
        low[n] = room(net, x->shape[0], pair[n]->a.shape[0]);
        down[n] = (struct qn_linear){&low[n], &pair[n]->a, NULL};
        whose[n++] = i;
    }
    if (n > 0)
        qn_matmul_many(net->dev, x, down, n);
    for (int i = 0; i < n; i++) {
        struct qn_tensor y = qn_tensor_slice(parts[whose[i]].y, 0, row, x->shape[0]);
        qn_matmul_onto(net->dev, &y, &low[i], &pair[i]->b, m->scale * pair[i]->scale);
    }
    qn_scratch_reset(net->adapt_scratch, mark);
}

void qn_block_matmul_many(struct qn_net *net, const struct qn_step_rows *b,
                          const struct qn_tensor *x, const struct qn_linear *parts, int n_parts)
{
    int32_t n;
    qn_matmul_many(net->dev, x, parts, n_parts);
    if (!b->adapting)
        return;
    const struct qn_adapt_run *runs = runs_of(b, x->shape[0], &n);
    for (int32_t r = 0; r < n; r++) {
        const struct qn_tensor mine = qn_tensor_slice(x, 0, runs[r].row, runs[r].n);
        for (int32_t i = 0; i < runs[r].mix->n; i++)
            add_parts(net, &runs[r].mix->part[i], &mine, parts, n_parts, runs[r].row);
    }
}

void qn_block_matmul(struct qn_net *net, const struct qn_step_rows *b, struct qn_tensor *y,
                     const struct qn_tensor *x, const struct qn_tensor *w)
{
    const struct qn_linear part = {y, w, NULL};
    qn_block_matmul_many(net, b, x, &part, 1);
}

/* ---- products with experts' matrices ---- */

/* The rows of a run out of t, which has the same number of rows for every row of the batch. */
static struct qn_tensor of_run(const struct qn_adapt_run *run, const struct qn_tensor *t,
                               int64_t each)
{
    return qn_tensor_slice(t, 0, run->row * each, run->n * each);
}

/* Arguments of a product with experts. */
struct chosen {
    /* ids NULL: every row goes to all experts, see qn_matmul_experts */
    const struct qn_tensor *x, *ids;
    const struct qn_expert_linear *part;
    bool sum; /* qn_sum_experts ... */
    const struct qn_tensor *weights;
};

static void add_chosen(struct qn_net *net, const struct qn_mix_part *m,
                       const struct qn_adapt_run *run, const struct chosen *c, int64_t rows)
{
    const struct qn_expert_linear *part = c->part;
    const struct qn_pair *pair = qn_adapter_pair(net->adapter[m->adapter], part->w);
    if (!pair)
        return;
    size_t mark = qn_scratch_mark(net->adapt_scratch);
    const struct qn_tensor x = of_run(run, c->x, c->x->shape[0] / rows);
    struct qn_tensor y = of_run(run, part->y, part->y->shape[0] / rows), ids, weights;
    if (c->ids)
        ids = of_run(run, c->ids, 1);
    if (c->weights)
        weights = of_run(run, c->weights, 1);
    struct qn_tensor low =
        room(net, c->ids ? qn_tensor_elements(&ids) : x.shape[0], pair->a.shape[1]);
    struct qn_tensor high = room(net, y.shape[0], y.shape[1]);
    const struct qn_expert_linear down = {&low, &pair->a, NULL}, up = {&high, &pair->b, NULL};
    qn_matmul_experts(net->dev, &x, c->ids ? &ids : NULL, &down, 1);
    qn_scale(net->dev, &low, &low, m->scale * pair->scale);
    if (c->sum)
        qn_sum_experts(net->dev, &high, &low, &pair->b, NULL, &ids, c->weights ? &weights : NULL);
    else
        qn_matmul_experts(net->dev, &low, c->ids ? &ids : NULL, &up, 1);
    qn_add(net->dev, &y, &y, &high);
    qn_scratch_reset(net->adapt_scratch, mark);
}

static void add_to_chosen(struct qn_net *net, const struct qn_step_rows *b, const struct chosen *c)
{
    const int64_t rows = c->ids ? c->ids->shape[0] : c->x->shape[0] / c->part->w->shape[0];
    int32_t n;
    const struct qn_adapt_run *runs = runs_of(b, rows, &n);
    for (int32_t r = 0; r < n; r++)
        for (int32_t i = 0; i < runs[r].mix->n; i++)
            add_chosen(net, &runs[r].mix->part[i], &runs[r], c, rows);
}

void qn_block_matmul_experts(struct qn_net *net, const struct qn_step_rows *b,
                             const struct qn_tensor *x, const struct qn_tensor *ids,
                             const struct qn_expert_linear *parts, int n_parts)
{
    qn_matmul_experts(net->dev, x, ids, parts, n_parts);
    for (int p = 0; p < n_parts && b->adapting; p++)
        add_to_chosen(net, b, &(struct chosen){.x = x, .ids = ids, .part = &parts[p]});
}

void qn_block_sum_experts(struct qn_net *net, const struct qn_step_rows *b,
                          const struct qn_tensor *x, const struct qn_expert_linear *part,
                          const struct qn_tensor *ids, const struct qn_tensor *weights)
{
    const struct chosen c = {.x = x, .ids = ids, .part = part, .sum = true, .weights = weights};
    qn_sum_experts(net->dev, part->y, x, part->w, part->bias, ids, weights);
    if (b->adapting)
        add_to_chosen(net, b, &c);
}

/* ---- embedding and output ---- */

void qn_adapt_embedding(struct qn_net *net, const struct qn_step_rows *b, struct qn_tensor *x,
                        const struct qn_tensor *ids)
{
    if (!b->adapting)
        return;
    for (int32_t r = 0; r < b->adapting->n_all; r++) {
        const struct qn_adapt_run *run = &b->adapting->all[r];
        const struct qn_tensor mine = qn_tensor_slice(ids, 0, run->row, run->n);
        struct qn_tensor to = qn_tensor_slice(x, 0, run->row, run->n);
        for (int32_t i = 0; i < run->mix->n; i++) {
            const struct qn_adapter *a = net->adapter[run->mix->part[i].adapter];
            if (!a->rows.ndim)
                continue;
            size_t mark = qn_scratch_mark(net->adapt_scratch);
            struct qn_tensor low = room(net, run->n, a->rows.shape[1]);
            qn_get_rows(net->dev, &low, &a->rows, &mine);
            qn_matmul_onto(net->dev, &to, &low, &a->embedding.b,
                           run->mix->part[i].scale * a->embedding.scale);
            qn_scratch_reset(net->adapt_scratch, mark);
        }
    }
}

void qn_adapt_logits(struct qn_net *net, const struct qn_step_rows *b, struct qn_tensor *y,
                     const struct qn_tensor *h, int32_t first)
{
    const struct qn_linear part = {y, &net->output, NULL};
    const int32_t end = first + (int32_t)h->shape[0];
    if (!b->adapting)
        return;
    for (int32_t r = 0; r < b->adapting->n_wanted; r++) {
        const struct qn_adapt_run *run = &b->adapting->wanted[r];
        const int32_t from = run->row > first ? run->row : first;
        const int32_t to = run->row + run->n < end ? run->row + run->n : end;
        if (from >= to)
            continue;
        const struct qn_tensor mine = qn_tensor_slice(h, 0, from - first, to - from);
        for (int32_t i = 0; i < run->mix->n; i++)
            add_parts(net, &run->mix->part[i], &mine, &part, 1, from - first);
    }
}

/* ---- scratch size ---- */

size_t qn_adapt_scratch_bytes(const struct qn_net *net, const struct qn_adapter *a)
{
    int64_t used = 1, rank = a->rows.ndim ? a->rows.shape[1] : 1, high = 0;
    for (int32_t i = 0; i < net->shape.layers; i++) {
        const struct qn_decoder_layer *l = &net->layer[i];
        used = l->moe.used > used ? l->moe.used : used;
        used = l->mla.heads > used ? l->mla.heads : used;
    }
    for (size_t i = 0; i < a->n; i++) {
        const struct qn_tensor *b = &a->pair[i].b;
        rank = b->shape[b->ndim - 1] > rank ? b->shape[b->ndim - 1] : rank;
        if (b->ndim == 3 && b->shape[1] > high)
            high = b->shape[1];
    }
    const int64_t chosen = net->max_chunk * used;
    size_t dense = QN_LINEAR_MAX * qn_block_f32_bytes(net->max_chunk, rank);
    size_t experts = high ? qn_block_f32_bytes(chosen, rank) + qn_block_f32_bytes(chosen, high) : 0;
    return experts > dense ? experts : dense;
}
