/* Normalisation over the innermost dimension. */
#include "engine/cpu/cpu.h"

#include <math.h>

struct job {
    const struct cpu_kernels *k;
    void (*row)(const struct job *j, float *y, const float *x, int64_t r, int64_t n);
    struct qn_tensor *y;
    const struct qn_tensor *x, *w, *b;
    float eps, scale;
    int64_t inner, rows, chunk; /* inner: rows of the middle dimension; rows: all rows; chunk: rows
                                   per item */
};

static const float *weights_of(const struct job *j, int64_t r)
{
    return j->w->ndim == 2 ? cpu_at(j->w, r % j->inner, 0) : cpu_data(j->w);
}

static void rms_row(const struct job *j, float *y, const float *x, int64_t r, int64_t n)
{
    j->k->rms_norm(y, x, weights_of(j, r), n, j->eps);
}

static float mean_of(const float *x, int64_t n)
{
    enum { SUMS = 16 };
    float sum[SUMS] = {0}, mean = 0;
    int64_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (int s = 0; s < SUMS; s++)
            sum[s] += x[i + s];
    for (; i < n; i++)
        sum[0] += x[i];
    for (int s = 0; s < SUMS; s++)
        mean += sum[s];
    return mean / (float)n;
}

/* After subtracting the mean, the mean square is the variance. */
static void layer_row(const struct job *j, float *y, const float *x, int64_t r, int64_t n)
{
    const float mean = mean_of(x, n);
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] - mean;
    j->k->rms_norm(y, y, weights_of(j, r), n, j->eps);
    if (j->b)
        j->k->add(y, y, cpu_data(j->b), n);
}

static void cut_row(const struct job *j, float *y, const float *x, int64_t r, int64_t n)
{
    const float mean = mean_of(x, n);
    (void)r;
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] - mean;
    const float edge = j->scale * sqrtf(j->k->dot(y, y, n) / (float)n);
    for (int64_t i = 0; i < n; i++)
        y[i] = y[i] > edge ? y[i] - edge : 0;
}

/* The mean square of x is taken to be at least 1e-5: zeros cannot be scaled to another norm. */
static void match_row(const struct job *j, float *y, const float *x, int64_t r, int64_t n)
{
    const float *like = cpu_at(j->w, r, 0);
    float square = j->k->dot(x, x, n) / (float)n, want = j->k->dot(like, like, n) / (float)n;
    float f = sqrtf(want / (square > 1e-5f ? square : 1e-5f));
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] * f;
}

static void l2_row(const struct job *j, float *y, const float *x, int64_t r, int64_t n)
{
    float f = j->scale / sqrtf(j->k->dot(x, x, n) + j->eps);
    (void)r;
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] * f;
}

static void softmax_row(const struct job *j, float *y, const float *x, int64_t r, int64_t n)
{
    (void)r;
    j->k->softmax(y, x, n);
}

static void norm_rows(void *arg, int64_t item, int worker)
{
    const struct job *j = arg;
    (void)worker;
    int64_t end = (item + 1) * j->chunk < j->rows ? (item + 1) * j->chunk : j->rows;
    for (int64_t r = item * j->chunk; r < end; r++)
        j->row(j, cpu_at(j->y, r / j->inner, r % j->inner),
               cpu_at(j->x, r / j->inner, r % j->inner), r, j->x->shape[j->x->ndim - 1]);
}

static void run(struct qn_device *dev, struct job *j)
{
    const struct qn_tensor *x = j->x;
    int64_t cols = x->shape[x->ndim - 1];
    j->k = cpu(dev)->k;
    j->inner = x->ndim == 3 ? x->shape[1] : 1;
    j->rows = x->ndim == 1 ? 1 : x->shape[0] * j->inner;
    if (j->rows == 0)
        return;
    j->chunk = cols < CPU_SMALL ? CPU_SMALL / cols : 1;
    qn_pool_run(cpu(dev)->pool, norm_rows, j, (j->rows + j->chunk - 1) / j->chunk);
}

void cpu_rms_norm(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                  const struct qn_tensor *w, float eps)
{
    run(dev, &(struct job){.row = rms_row, .y = y, .x = x, .w = w, .eps = eps});
}

void cpu_layer_norm(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                    const struct qn_tensor *w, const struct qn_tensor *b, float eps)
{
    run(dev, &(struct job){.row = layer_row, .y = y, .x = x, .w = w, .b = b, .eps = eps});
}

void cpu_match_norm(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                    const struct qn_tensor *like)
{
    run(dev, &(struct job){.row = match_row, .y = y, .x = x, .w = like});
}

void cpu_cut_below(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                   float times)
{
    run(dev, &(struct job){.row = cut_row, .y = y, .x = x, .scale = times});
}

void cpu_softmax(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x)
{
    run(dev, &(struct job){.row = softmax_row, .y = y, .x = x});
}

void cpu_l2_norm(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x, float eps,
                 float scale)
{
    run(dev, &(struct job){.row = l2_row, .y = y, .x = x, .eps = eps, .scale = scale});
}
