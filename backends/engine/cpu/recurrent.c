/* State-space and linear-attention layers: divides a batch into independent pieces (a sequence's
 * head, and a few columns of its state), one per work item. */
#include "engine/cpu/cpu.h"

#include <math.h>

/* Channels of a convolution, and columns of a state, of one item. The columns of a head's state are
 * stored in blocks of this many, each block row after row: rows that are a power of two apart would
 * map to a few sets of the L1 cache, which was half as fast. */
enum { CONV_CHANNELS = 512, COLUMNS = 64 };

struct job {
    const struct cpu_kernels *k;
    struct qn_tensor *out;
    const struct qn_span *spans;
    const struct qn_tensor *states;
    union {
        struct {
            const struct qn_tensor *x, *w, *bias;
            bool silu;
        } conv;
        const struct qn_delta *delta;
        const struct qn_scan *scan;
    };
    int64_t heads, blocks; /* a span has heads · blocks items */
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t row_floats(const struct qn_tensor *t)
{
    return t->stride[0] / (int64_t)sizeof(float);
}

static void conv_item(void *arg, int64_t item, int worker)
{
    const struct job *j = arg;
    const struct qn_span *s = &j->spans[item / j->blocks];
    const struct qn_tensor *state = &j->states[item / j->blocks], *w = j->conv.w;
    int64_t first = item % j->blocks * CONV_CHANNELS;
    (void)worker;
    j->k->conv(&(struct cpu_conv){
        .y = (float *)cpu_at(j->out, s->row, 0) + first,
        .x = (const float *)cpu_at(j->conv.x, s->row, 0) + first,
        .w = (const float *)cpu_data(w) + first,
        .bias = j->conv.bias ? (const float *)cpu_data(j->conv.bias) + first : NULL,
        .state = (float *)cpu_data(state) + first,
        .y_row = row_floats(j->out),
        .x_row = row_floats(j->conv.x),
        .w_row = row_floats(w),
        .state_row = row_floats(state),
        .channels = smaller(CONV_CHANNELS, w->shape[1] - first),
        .n = s->n,
        .kernel = (int)w->shape[0],
        .silu = j->conv.silu,
    });
}

void cpu_short_conv(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                    const struct qn_tensor *w, const struct qn_tensor *bias, bool silu,
                    const struct qn_span *spans, const struct qn_tensor *states, int n_spans)
{
    struct job j = {.k = cpu(dev)->k, .out = y, .spans = spans, .states = states};
    j.conv.x = x;
    j.conv.w = w;
    j.conv.bias = bias;
    j.conv.silu = silu;
    j.blocks = (x->shape[1] + CONV_CHANNELS - 1) / CONV_CHANNELS;
    qn_pool_run(cpu(dev)->pool, conv_item, &j, n_spans * j.blocks);
}

/* Block `block` of head h of a state [heads, rows, columns]. */
static float *state_block(const struct qn_tensor *state, int64_t h, int64_t block)
{
    return (float *)cpu_at(state, h, 0) + block * COLUMNS * state->shape[1];
}

static void delta_item(void *arg, int64_t item, int worker)
{
    const struct job *j = arg;
    const struct qn_delta *d = j->delta;
    int64_t block = item % j->blocks, h = item / j->blocks % j->heads;
    int64_t span = item / j->blocks / j->heads, k_heads = d->k->shape[1];
    int64_t kh = d->tiled ? h % k_heads : h / (j->heads / k_heads);
    const struct qn_span *s = &j->spans[span];
    (void)worker;
    j->k->delta(&(struct cpu_delta){
        .out = (float *)cpu_at(j->out, s->row, h) + block * COLUMNS,
        .q = cpu_at(d->q, s->row, kh),
        .k = cpu_at(d->k, s->row, kh),
        .v = (const float *)cpu_at(d->v, s->row, h) + block * COLUMNS,
        .decay = (const float *)cpu_at(d->decay, s->row, 0) + h,
        .beta = (const float *)cpu_at(d->beta, s->row, 0) + h,
        .state = state_block(&j->states[span], h, block),
        .out_row = row_floats(j->out),
        .q_row = row_floats(d->q),
        .k_row = row_floats(d->k),
        .v_row = row_floats(d->v),
        .decay_row = row_floats(d->decay),
        .beta_row = row_floats(d->beta),
        .k_dim = d->k->shape[2],
        .columns = smaller(COLUMNS, d->v->shape[2] - block * COLUMNS),
        .n = s->n,
    });
}

void cpu_delta_rule(struct qn_device *dev, struct qn_tensor *out, const struct qn_delta *d,
                    const struct qn_span *spans, const struct qn_tensor *states, int n_spans)
{
    struct job j = {.k = cpu(dev)->k, .out = out, .spans = spans, .states = states, .delta = d};
    j.heads = d->v->shape[1];
    j.blocks = (d->v->shape[2] + COLUMNS - 1) / COLUMNS;
    qn_pool_run(cpu(dev)->pool, delta_item, &j, n_spans * j.heads * j.blocks);
}

static void scan_item(void *arg, int64_t item, int worker)
{
    const struct job *j = arg;
    const struct qn_scan *d = j->scan;
    int64_t block = item % j->blocks, h = item / j->blocks % j->heads;
    int64_t span = item / j->blocks / j->heads, group = h / (j->heads / d->b->shape[1]);
    const struct qn_span *s = &j->spans[span];
    (void)worker;
    j->k->scan(&(struct cpu_scan){
        .out = (float *)cpu_at(j->out, s->row, h) + block * COLUMNS,
        .x = (const float *)cpu_at(d->x, s->row, h) + block * COLUMNS,
        .b = cpu_at(d->b, s->row, group),
        .c = cpu_at(d->c, s->row, group),
        .decay = (const float *)cpu_at(d->decay, s->row, 0) + h,
        .dt = (const float *)cpu_at(d->dt, s->row, 0) + h,
        .d = ((const float *)cpu_data(d->d))[h],
        .state = state_block(&j->states[span], h, block),
        .out_row = row_floats(j->out),
        .x_row = row_floats(d->x),
        .b_row = row_floats(d->b),
        .c_row = row_floats(d->c),
        .decay_row = row_floats(d->decay),
        .dt_row = row_floats(d->dt),
        .states = d->b->shape[2],
        .columns = smaller(COLUMNS, d->x->shape[2] - block * COLUMNS),
        .n = s->n,
    });
}

void cpu_mamba2_scan(struct qn_device *dev, struct qn_tensor *out, const struct qn_scan *d,
                     const struct qn_span *spans, const struct qn_tensor *states, int n_spans)
{
    struct job j = {.k = cpu(dev)->k, .out = out, .spans = spans, .states = states, .scan = d};
    j.heads = d->x->shape[1];
    j.blocks = (d->x->shape[2] + COLUMNS - 1) / COLUMNS;
    qn_pool_run(cpu(dev)->pool, scan_item, &j, n_spans * j.heads * j.blocks);
}

/* One number per head and row: too few to use threads. */
void cpu_time_steps(struct qn_device *dev, struct qn_tensor *decay, struct qn_tensor *dt,
                    const struct qn_tensor *raw, const struct qn_tensor *bias,
                    const struct qn_tensor *a)
{
    const float *b = cpu_data(bias), *rate = cpu_data(a);
    (void)dev;
    for (int64_t r = 0; r < raw->shape[0]; r++) {
        const float *from = cpu_at(raw, r, 0);
        float *to = cpu_at(decay, r, 0), *step = dt ? cpu_at(dt, r, 0) : NULL;
        for (int64_t h = 0; h < raw->shape[1]; h++) {
            float x = from[h] + b[h], soft = fmaxf(x, 0) + log1pf(expf(-fabsf(x)));
            to[h] = expf(soft * rate[h]);
            if (step)
                step[h] = soft;
        }
    }
}

void cpu_sigmoid(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x)
{
    (void)dev;
    for (int64_t r = 0; r < x->shape[0]; r++) {
        const float *from = cpu_at(x, r, 0);
        float *to = cpu_at(y, r, 0);
        for (int64_t i = 0; i < x->shape[1]; i++)
            to[i] = 1 / (1 + expf(-from[i]));
    }
}
