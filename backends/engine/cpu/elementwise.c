/* Operations that process each element once: sums, gates, copies, table rows. */
#include "engine/cpu/activations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
    const struct cpu_kernels *k;
    void (*row)(const struct job *j, int64_t r);
    struct qn_tensor *y;
    const struct qn_tensor *a, *b;
    /* of swiglu_clamped; alpha: also the factor of scale; limit: also softcap's */
    float alpha, limit;
    int64_t rows, cols, chunk; /* chunk: rows per item */
};

static void run_rows(void *arg, int64_t item, int worker)
{
    const struct job *j = arg;
    (void)worker;
    int64_t end = (item + 1) * j->chunk < j->rows ? (item + 1) * j->chunk : j->rows;
    for (int64_t r = item * j->chunk; r < end; r++)
        j->row(j, r);
}

static void run(struct qn_device *dev, struct job *j)
{
    const struct qn_tensor *y = j->y;
    j->k = cpu(dev)->k;
    j->cols = y->shape[y->ndim - 1];
    j->rows = 1;
    for (int i = 0; i < y->ndim - 1; i++)
        j->rows *= y->shape[i];
    if (j->rows == 0 || j->cols == 0)
        return;
    j->chunk = j->cols < CPU_SMALL ? CPU_SMALL / j->cols : 1;
    qn_pool_run(cpu(dev)->pool, run_rows, j, (j->rows + j->chunk - 1) / j->chunk);
}

static void add_row(const struct job *j, int64_t r)
{
    j->k->add(cpu_at(j->y, r, 0), cpu_at(j->a, r, 0), cpu_at(j->b, r, 0), j->cols);
}

void cpu_add(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *a,
             const struct qn_tensor *b)
{
    run(dev, &(struct job){.row = add_row, .y = y, .a = a, .b = b});
}

static void silu_mul_row(const struct job *j, int64_t r)
{
    j->k->silu_mul(cpu_at(j->y, r, 0), cpu_at(j->a, r, 0), cpu_at(j->b, r, 0), j->cols);
}

void cpu_silu_mul(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *gate,
                  const struct qn_tensor *up)
{
    run(dev, &(struct job){.row = silu_mul_row, .y = y, .a = gate, .b = up});
}

static void mul_row(const struct job *j, int64_t r)
{
    j->k->mul(cpu_at(j->y, r, 0), cpu_at(j->a, r, 0), cpu_at(j->b, r, 0), j->cols);
}

void cpu_mul(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *a,
             const struct qn_tensor *b)
{
    run(dev, &(struct job){.row = mul_row, .y = y, .a = a, .b = b});
}

static void relu_squared_row(const struct job *j, int64_t r)
{
    const float *x = cpu_at(j->a, r, 0);
    float *y = cpu_at(j->y, r, 0);
    for (int64_t i = 0; i < j->cols; i++) {
        float v = x[i] > 0 ? x[i] : 0;
        y[i] = v * v;
    }
}

void cpu_relu_squared(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x)
{
    run(dev, &(struct job){.row = relu_squared_row, .y = y, .a = x});
}

static void sigmoid_mul_row(const struct job *j, int64_t r)
{
    int64_t inner = j->y->ndim == 3 ? j->y->shape[1] : 1, i = r / inner, h = r % inner;
    j->k->sigmoid_mul(cpu_at(j->y, i, h), cpu_at(j->a, i, h), cpu_at(j->b, i, h), j->cols);
}

void cpu_sigmoid_mul(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *gate,
                     const struct qn_tensor *x)
{
    run(dev, &(struct job){.row = sigmoid_mul_row, .y = y, .a = gate, .b = x});
}

static void scale_each_row(const struct job *j, int64_t r)
{
    float *y = cpu_at(j->y, r, 0), s = *(const float *)cpu_at(j->b, r, 0);
    const float *x = cpu_at(j->a, r, 0);
    for (int64_t i = 0; i < j->cols; i++)
        y[i] = s * x[i];
}

void cpu_scale_rows(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                    const struct qn_tensor *s)
{
    run(dev, &(struct job){.row = scale_each_row, .y = y, .a = x, .b = s});
}

/* Formulas that can be expressed by another kernel are transformed to its form, a tile at a time.
 */
enum { TILE = 256 };

/* gelu(x) = x·sigmoid(2·sqrt(2/pi)·(x + 0.044715·x³)), so with s = 2·sqrt(2/pi)·(1 + 0.044715·x²)
 * gelu(g)·u is silu(g·s)·u/s. */
static void gelu_mul_row(const struct job *j, int64_t r)
{
    float *y = cpu_at(j->y, r, 0), g[TILE], u[TILE];
    const float *gate = cpu_at(j->a, r, 0), *up = cpu_at(j->b, r, 0);
    for (int64_t first = 0; first < j->cols; first += TILE) {
        int n = (int)(j->cols - first < TILE ? j->cols - first : TILE);
        for (int i = 0; i < n; i++) {
            float a = gate[first + i], s = 1.5957691216f * (1 + 0.044715f * a * a);
            g[i] = a * s;
            u[i] = up[first + i] / s;
        }
        j->k->silu_mul(y + first, g, u, n);
    }
}

void cpu_gelu_mul(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *gate,
                  const struct qn_tensor *up)
{
    run(dev, &(struct job){.row = gelu_mul_row, .y = y, .a = gate, .b = up});
}

static void scale_row(const struct job *j, int64_t r)
{
    float *y = cpu_at(j->y, r, 0);
    const float *x = cpu_at(j->a, r, 0), factor = j->alpha;
    for (int64_t i = 0; i < j->cols; i++)
        y[i] = factor * x[i];
}

void cpu_scale(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x, float factor)
{
    run(dev, &(struct job){.row = scale_row, .y = y, .a = x, .alpha = factor});
}

static void scale_cols_row(const struct job *j, int64_t r)
{
    float *y = cpu_at(j->y, r, 0);
    const float *x = cpu_at(j->a, r, 0), *w = cpu_data(j->b);
    for (int64_t i = 0; i < j->cols; i++)
        y[i] = w[i] * x[i];
}

void cpu_scale_cols(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                    const struct qn_tensor *w)
{
    run(dev, &(struct job){.row = scale_cols_row, .y = y, .a = x, .b = w});
}

/* tanh(a) = 2·sigmoid(2a) - 1. */
static void softcap_row(const struct job *j, int64_t r)
{
    float *y = cpu_at(j->y, r, 0), g[TILE], u[TILE], limit = j->limit;
    const float *x = cpu_at(j->a, r, 0), twice = 2 / limit;
    for (int64_t first = 0; first < j->cols; first += TILE) {
        int n = (int)(j->cols - first < TILE ? j->cols - first : TILE);
        for (int i = 0; i < n; i++) {
            g[i] = x[first + i] * twice;
            u[i] = 2 * limit;
        }
        j->k->sigmoid_mul(y + first, g, u, n);
        for (int i = 0; i < n; i++)
            y[first + i] -= limit;
    }
}

void cpu_softcap(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x, float limit)
{
    run(dev, &(struct job){.row = softcap_row, .y = y, .a = x, .limit = limit});
}

/* g·sigmoid(alpha·g)·(u + 1) is silu(alpha·g)·(u + 1)/alpha. */
static void swiglu_clamped_row(const struct job *j, int64_t r)
{
    float *y = cpu_at(j->y, r, 0), g[TILE], u[TILE], limit = j->limit;
    const float *gate = cpu_at(j->a, r, 0), *up = cpu_at(j->b, r, 0), inverse = 1 / j->alpha;
    for (int64_t first = 0; first < j->cols; first += TILE) {
        int n = (int)(j->cols - first < TILE ? j->cols - first : TILE);
        for (int i = 0; i < n; i++) {
            float a = gate[first + i], b = up[first + i];
            g[i] = (a < limit ? a : limit) * j->alpha;
            b = b < limit ? b : limit;
            u[i] = ((b > -limit ? b : -limit) + 1) * inverse;
        }
        j->k->silu_mul(y + first, g, u, n);
    }
}

void cpu_swiglu_clamped(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *gate,
                        const struct qn_tensor *up, float alpha, float limit)
{
    run(dev,
        &(struct job){
            .row = swiglu_clamped_row, .y = y, .a = gate, .b = up, .alpha = alpha, .limit = limit});
}

static void get_row(const struct job *j, int64_t r)
{
    int32_t id = ((const int32_t *)cpu_data(j->b))[r];
    if (id < 0 || id >= j->a->shape[0]) {
        fprintf(stderr, "get_rows: row %d of %lld\n", (int)id, (long long)j->a->shape[0]);
        abort();
    }
    if (j->a->mem->layout == CPU_LAYOUT_PANELS)
        cpu_unpack_row(j->a->dtype, cpu_at(j->y, r, 0), cpu_panel_at(j->a, 0, id / CPU_PANEL),
                       id % CPU_PANEL, j->cols);
    else
        qn_dtype(j->a->dtype)->dequant(cpu_at(j->y, r, 0), cpu_at(j->a, id, 0), j->cols);
}

void cpu_get_rows(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *table,
                  const struct qn_tensor *ids)
{
    run(dev, &(struct job){.row = get_row, .y = y, .a = table, .b = ids});
}

/* The address of row r, counting through all dimensions but the innermost. */
static void *row_of(const struct qn_tensor *t, int64_t r)
{
    char *p = cpu_data(t);
    for (int i = t->ndim - 2; i >= 0; i--) {
        p += r % t->shape[i] * t->stride[i];
        r /= t->shape[i];
    }
    return p;
}

static void copy_row(const struct job *j, int64_t r)
{
    void *dst = row_of(j->y, r);
    const void *src = row_of(j->a, r);
    if (j->y->dtype == j->a->dtype)
        memmove(dst, src, qn_dtype_bytes(qn_dtype(j->y->dtype), j->cols));
    else if (j->y->dtype == QN_F16)
        j->k->narrow(dst, src, j->cols);
    else
        j->k->widen(dst, src, j->cols);
}

void cpu_copy(struct qn_device *dev, struct qn_tensor *dst, const struct qn_tensor *src)
{
    run(dev, &(struct job){.row = copy_row, .y = dst, .a = src});
}
