/* Matrix products. */
#include "engine/cpu/cpu.h"

#include <string.h>

size_t cpu_matmul_bytes(int64_t rows, int64_t cols)
{
    return (size_t)rows * (size_t)cols * sizeof(float);
}

struct job {
    struct cpu_device *dev;
    const struct qn_tensor *x;
    const struct qn_linear *parts;
    int64_t start[QN_LINEAR_MAX + 1]; /* items before each product */
    int n_parts;
};

enum { ROWS = 16 }; /* weight rows of one item */

/* Weights as the file has them: each row is widened once and meets all activations. */
static void rows_item(void *arg, int64_t item, int worker)
{
    const struct job *j = arg;
    int p = 0;
    while (item >= j->start[p + 1])
        p++;
    const struct qn_linear *l = &j->parts[p];
    int64_t first = (item - j->start[p]) * ROWS, cols = l->w->shape[1];
    int64_t end = first + ROWS < l->w->shape[0] ? first + ROWS : l->w->shape[0];
    float *row = j->dev->work + worker * j->dev->work_floats;
    const float *bias = l->bias ? cpu_data(l->bias) : NULL;
    for (int64_t o = first; o < end; o++) {
        qn_dtype(l->w->dtype)->dequant(row, cpu_at(l->w, o, 0), cols);
        for (int64_t r = 0; r < j->x->shape[0]; r++) {
            const float *x = cpu_at(j->x, r, 0);
            float sum = 0;
            for (int64_t i = 0; i < cols; i++)
                sum += row[i] * x[i];
            ((float *)cpu_at(l->y, r, 0))[o] = sum + (bias ? bias[o] : 0);
        }
    }
}

void cpu_matmul_many(struct qn_device *dev, const struct qn_tensor *x,
                     const struct qn_linear *parts, int n_parts)
{
    struct job j = {.dev = cpu(dev), .x = x, .parts = parts, .n_parts = n_parts};
    for (int i = 0; i < n_parts; i++)
        j.start[i + 1] = j.start[i] + (parts[i].w->shape[0] + ROWS - 1) / ROWS;
    qn_pool_run(j.dev->pool, rows_item, &j, j.start[n_parts]);
}

qn_err cpu_weight_prepare(struct qn_device *dev, struct qn_tensor *t, struct qn_mem **out,
                          struct qn_error *e)
{
    (void)e;
    *out = qn_mem_borrow(dev, cpu_data(t), qn_tensor_bytes(t));
    *t = qn_tensor_make(t->dtype, t->ndim, t->shape, *out, 0);
    return QN_OK;
}
