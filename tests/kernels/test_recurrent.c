/* The recurrent operations of the CPU device against their definitions in double precision, for
 * every instruction set that runs here and for one and three threads. Three sequences share each
 * batch; a text must give the same bits alone, in company and in other chunks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rand.h"
#include "engine/cpu/cpu.h"
#include "engine/ops.h"
#include "engine/scratch.h"

enum { SPANS = 3 };

static struct qn_device *dev;
static struct qn_scratch *scratch;
static struct qn_rng rng;

static float uniform(void)
{
    return (float)(qn_rng_u64(&rng) >> 40) / 8388608.0f - 1.0f;
}

static float *data(const struct qn_tensor *t)
{
    return cpu_data(t);
}

static struct qn_tensor fresh(size_t ndim, const int64_t *shape)
{
    struct qn_tensor t = qn_scratch_tensor(scratch, QN_F32, ndim, shape);
    for (int64_t i = 0; i < qn_tensor_elements(&t); i++)
        data(&t)[i] = uniform();
    return t;
}

static struct qn_tensor copied(const struct qn_tensor *from)
{
    struct qn_tensor t = qn_scratch_tensor(scratch, QN_F32, (size_t)from->ndim, from->shape);
    qn_copy(dev, &t, from);
    return t;
}

/* The middle of wider rows, so that rows are neither adjacent nor aligned. */
static struct qn_tensor view(int64_t rows, int64_t heads, int64_t dim)
{
    struct qn_tensor t = fresh(QN_SHAPE(rows, heads + 2, dim));
    return qn_tensor_slice(&t, 1, 1, heads);
}

static double at(const struct qn_tensor *t, int64_t i, int64_t j, int64_t k)
{
    return ((const float *)cpu_at(t, i, j))[k];
}

static double near(const char *what, double got, double ref, double tolerance)
{
    if (!(fabs(got - ref) <= tolerance * (1 + fabs(ref))))
        fail_msg("%s %s: %g, not %g", qn_device_name(dev), what, got, ref);
    return got;
}

static void with_every_device(void (*test)(void))
{
    for (int i = 0; cpu_kernels_all[i]; i++) {
        if (!cpu_kernels_all[i]->supported())
            continue;
        setenv("QUINCE_ISA", cpu_kernels_all[i]->name, 1);
        for (int threads = 1; threads <= 3; threads += 2) {
            struct qn_error e;
            qn_rng_init(&rng, 7);
            if (qn_device_cpu_new(threads, &dev, &e))
                fail_msg("%s", e.message);
            assert_int_equal(qn_scratch_new(dev, 16 << 20, &scratch, &e), 0);
            test();
            qn_scratch_free(scratch);
            qn_device_free(dev);
        }
    }
    unsetenv("QUINCE_ISA");
}

/* Three sequences of 1, 6 and 17 rows, not in the order of their rows. */
static const struct qn_span three[SPANS] = {{.row = 17, .n = 6}, {.row = 23, .n = 1}, {.n = 17}};
enum { ROWS = 24, LONG = 2 /* the span of 17 rows */ };

static struct qn_tensor rows_of(const struct qn_tensor *t, const struct qn_span *s)
{
    return qn_tensor_slice(t, 0, s->row, s->n);
}

static void same_rows(const char *what, const struct qn_tensor *a, const struct qn_tensor *b)
{
    for (int64_t r = 0; r < a->shape[0]; r++)
        for (int64_t h = 0; h < (a->ndim == 3 ? a->shape[1] : 1); h++)
            if (memcmp(cpu_at(a, r, h), cpu_at(b, r, h),
                       (size_t)a->shape[a->ndim - 1] * sizeof(float)))
                fail_msg("%s %s: row %d of the same text differs", qn_device_name(dev), what,
                         (int)r);
}

/* ---- convolution ---- */

static void conv_of(int kernel, int64_t channels, bool silu, bool biased)
{
    size_t mark = qn_scratch_mark(scratch);
    struct qn_tensor x3 = view(ROWS, 1, channels), x = x3;
    x.ndim = 2;
    x.shape[1] = channels;
    x.stride[1] = 4;
    struct qn_tensor y = fresh(QN_SHAPE(ROWS, channels)), w = fresh(QN_SHAPE(kernel, channels));
    struct qn_tensor bias = fresh(QN_SHAPE(channels)), state[SPANS], was[SPANS], again;
    for (int i = 0; i < SPANS; i++) {
        state[i] = fresh(QN_SHAPE(kernel - 1, channels));
        was[i] = copied(&state[i]);
    }
    again = copied(&state[LONG]);
    qn_short_conv(dev, &y, &x, &w, biased ? &bias : NULL, silu, three, state, SPANS);
    for (int i = 0; i < SPANS; i++)
        for (int64_t c = 0; c < channels; c++) {
            double in[64];
            for (int t = 0; t < kernel - 1; t++)
                in[t] = at(&was[i], t, 0, c);
            for (int t = 0; t < three[i].n; t++)
                in[kernel - 1 + t] = at(&x, three[i].row + t, 0, c);
            for (int t = 0; t < three[i].n; t++) {
                double sum = biased ? data(&bias)[c] : 0;
                for (int j = 0; j < kernel; j++)
                    sum += at(&w, j, 0, c) * in[t + j];
                near("conv", at(&y, three[i].row + t, 0, c), silu ? sum / (1 + exp(-sum)) : sum,
                     1e-6);
            }
            for (int t = 0; t < kernel - 1; t++)
                assert_true(at(&state[i], t, 0, c) == in[three[i].n + t]);
        }
    /* The long one again: alone, one token first, then three, then the others. */
    struct qn_tensor y2 = fresh(QN_SHAPE(ROWS, channels));
    for (int row = 0, n = 1; row < three[LONG].n;
         row += n, n = row == 1 ? 3 : three[LONG].n - row) {
        const struct qn_span s = {.row = row, .n = n};
        qn_short_conv(dev, &y2, &x, &w, biased ? &bias : NULL, silu, &s, &again, 1);
    }
    struct qn_tensor a = rows_of(&y, &three[LONG]), b = rows_of(&y2, &three[LONG]);
    same_rows("conv", &a, &b);
    same_rows("conv state", &state[LONG], &again);
    qn_scratch_reset(scratch, mark);
}

static void conv(void)
{
    conv_of(4, 48, true, true);
    conv_of(4, 1100, true, false); /* more channels than one item takes, and a rest */
    conv_of(3, 37, false, false);
    conv_of(2, 5, true, true);
    conv_of(QN_CONV_MAX, 20, false, true);
}

static void test_conv(void **state)
{
    (void)state;
    with_every_device(conv);
}

/* Where the CPU keeps element [i, j] of a state matrix: in blocks of 64 columns. */
static int64_t place(int64_t i, int64_t j, int64_t rows, int64_t columns)
{
    int64_t block = j / 64 * 64, wide = columns - block < 64 ? columns - block : 64;
    return block * rows + i * wide + j - block;
}

/* ---- gated delta rule ---- */

static struct qn_tensor in_unit(int64_t rows, int64_t heads)
{
    struct qn_tensor t = fresh(QN_SHAPE(rows, heads));
    for (int64_t i = 0; i < rows * heads; i++)
        data(&t)[i] = 0.5f + 0.5f * data(&t)[i];
    return t;
}

static void delta_reference(const struct qn_delta *d, const struct qn_tensor *out,
                            const struct qn_tensor *was, const struct qn_tensor *left,
                            const struct qn_span *span, int64_t h)
{
    int64_t heads = d->v->shape[1], k_heads = d->k->shape[1];
    int64_t dk = d->k->shape[2], dv = d->v->shape[2];
    int64_t kh = d->tiled ? h % k_heads : h / (heads / k_heads);
    double *s = calloc((size_t)(dk * dv), sizeof *s);
    for (int64_t i = 0; i < dk; i++)
        for (int64_t j = 0; j < dv; j++)
            s[i * dv + j] = data(was)[h * dk * dv + place(i, j, dk, dv)];
    for (int64_t r = span->row; r < span->row + span->n; r++) {
        double decay = at(d->decay, r, 0, h), beta = at(d->beta, r, 0, h);
        for (int64_t j = 0; j < dv; j++) {
            double seen = 0, read = 0;
            for (int64_t i = 0; i < dk; i++)
                seen += (s[i * dv + j] *= decay) * at(d->k, r, kh, i);
            for (int64_t i = 0; i < dk; i++) {
                s[i * dv + j] += at(d->k, r, kh, i) * beta * (at(d->v, r, h, j) - seen);
                read += s[i * dv + j] * at(d->q, r, kh, i);
            }
            near("delta", at(out, r, h, j), read, 2e-5);
        }
    }
    for (int64_t i = 0; i < dk; i++)
        for (int64_t j = 0; j < dv; j++)
            near("delta state", data(left)[h * dk * dv + place(i, j, dk, dv)], s[i * dv + j], 2e-5);
    free(s);
}

static void delta_of(int64_t k_heads, int64_t v_heads, int64_t dk, int64_t dv, bool tiled)
{
    size_t mark = qn_scratch_mark(scratch);
    struct qn_tensor q = view(ROWS, k_heads, dk), k = view(ROWS, k_heads, dk);
    struct qn_tensor v = view(ROWS, v_heads, dv), out = view(ROWS, v_heads, dv);
    struct qn_tensor decay = in_unit(ROWS, v_heads), beta = in_unit(ROWS, v_heads);
    struct qn_tensor state[SPANS], was[SPANS], again, out2 = view(ROWS, v_heads, dv);
    qn_l2_norm(dev, &q, &q, 1e-6f, 0.25f);
    qn_l2_norm(dev, &k, &k, 1e-6f, 1.0f);
    const struct qn_delta d = {&q, &k, &v, &decay, &beta, tiled};
    for (int i = 0; i < SPANS; i++) {
        state[i] = fresh(QN_SHAPE(v_heads, dk, dv));
        was[i] = copied(&state[i]);
    }
    again = copied(&state[LONG]);
    qn_delta_rule(dev, &out, &d, three, state, SPANS);
    for (int i = 0; i < SPANS; i++)
        for (int64_t h = 0; h < v_heads; h++)
            delta_reference(&d, &out, &was[i], &state[i], &three[i], h);
    for (int row = 0, n = 1; row < three[LONG].n;
         row += n, n = row == 1 ? 3 : three[LONG].n - row) {
        const struct qn_span s = {.row = row, .n = n};
        qn_delta_rule(dev, &out2, &d, &s, &again, 1);
    }
    struct qn_tensor a = rows_of(&out, &three[LONG]), b = rows_of(&out2, &three[LONG]);
    same_rows("delta", &a, &b);
    same_rows("delta state", &state[LONG], &again);
    qn_scratch_reset(scratch, mark);
}

static void delta(void)
{
    delta_of(2, 4, 32, 32, false);
    delta_of(2, 4, 32, 32, true);
    delta_of(1, 1, 128, 128, false);
    delta_of(3, 3, 17, 80, false); /* a whole item of columns and a rest */
    delta_of(1, 2, 8, 16, true);
}

static void test_delta(void **state)
{
    (void)state;
    with_every_device(delta);
}

/* ---- mamba 2 ---- */

static void scan_reference(const struct qn_scan *d, const struct qn_tensor *out,
                           const struct qn_tensor *was, const struct qn_tensor *left,
                           const struct qn_span *span, int64_t h)
{
    int64_t heads = d->x->shape[1], group = h / (heads / d->b->shape[1]);
    int64_t states = d->b->shape[2], dim = d->x->shape[2];
    double *s = calloc((size_t)(states * dim), sizeof *s);
    for (int64_t i = 0; i < states; i++)
        for (int64_t j = 0; j < dim; j++)
            s[i * dim + j] = data(was)[h * states * dim + place(i, j, states, dim)];
    for (int64_t r = span->row; r < span->row + span->n; r++)
        for (int64_t j = 0; j < dim; j++) {
            double x = at(d->x, r, h, j), y = data(d->d)[h] * x;
            for (int64_t n = 0; n < states; n++) {
                s[n * dim + j] = s[n * dim + j] * at(d->decay, r, 0, h) +
                                 at(d->b, r, group, n) * at(d->dt, r, 0, h) * x;
                y += s[n * dim + j] * at(d->c, r, group, n);
            }
            near("scan", at(out, r, h, j), y, 2e-5);
        }
    for (int64_t i = 0; i < states; i++)
        for (int64_t j = 0; j < dim; j++)
            near("scan state", data(left)[h * states * dim + place(i, j, states, dim)],
                 s[i * dim + j], 2e-5);
    free(s);
}

static void scan_of(int64_t heads, int64_t groups, int64_t dim, int64_t states)
{
    size_t mark = qn_scratch_mark(scratch);
    struct qn_tensor x = view(ROWS, heads, dim), out = view(ROWS, heads, dim);
    struct qn_tensor b = view(ROWS, groups, states), c = view(ROWS, groups, states);
    struct qn_tensor decay = in_unit(ROWS, heads), dt = in_unit(ROWS, heads);
    struct qn_tensor skip = fresh(QN_SHAPE(heads)), out2 = view(ROWS, heads, dim);
    struct qn_tensor state[SPANS], was[SPANS], again;
    const struct qn_scan d = {&x, &b, &c, &decay, &dt, &skip};
    for (int i = 0; i < SPANS; i++) {
        state[i] = fresh(QN_SHAPE(heads, states, dim));
        was[i] = copied(&state[i]);
    }
    again = copied(&state[LONG]);
    qn_mamba2_scan(dev, &out, &d, three, state, SPANS);
    for (int i = 0; i < SPANS; i++)
        for (int64_t h = 0; h < heads; h++)
            scan_reference(&d, &out, &was[i], &state[i], &three[i], h);
    for (int row = 0, n = 1; row < three[LONG].n;
         row += n, n = row == 1 ? 3 : three[LONG].n - row) {
        const struct qn_span s = {.row = row, .n = n};
        qn_mamba2_scan(dev, &out2, &d, &s, &again, 1);
    }
    /* The kernel takes four tokens at a time or one, and a compiler may round the two differently.
     */
    for (int r = 0; r < three[LONG].n; r++)
        for (int64_t h = 0; h < heads; h++)
            for (int64_t j = 0; j < dim; j++)
                near("scan in chunks", at(&out2, r, h, j), at(&out, r, h, j), 2e-6);
    for (int64_t i = 0; i < heads * states * dim; i++)
        near("scan state in chunks", data(&again)[i], data(&state[LONG])[i], 2e-6);
    qn_scratch_reset(scratch, mark);
}

static void scan(void)
{
    scan_of(4, 2, 32, 16);
    scan_of(6, 1, 64, 128);
    scan_of(2, 2, 80, 33); /* a whole item of columns and a rest */
    scan_of(1, 1, 16, 1);
}

static void test_scan(void **state)
{
    (void)state;
    with_every_device(scan);
}

/* ---- the small ones beside them ---- */

static void steps(void)
{
    struct qn_tensor raw = fresh(QN_SHAPE(40, 7)), decay = fresh(QN_SHAPE(40, 7));
    struct qn_tensor dt = fresh(QN_SHAPE(40, 7)), bias = fresh(QN_SHAPE(7)), a = fresh(QN_SHAPE(7));
    for (int i = 0; i < 40 * 7; i++) /* as far as e^x overflows, on both sides */
        data(&raw)[i] = (float)(i - 140);
    for (int h = 0; h < 7; h++)
        data(&a)[h] = -expf(data(&a)[h]);
    qn_time_steps(dev, &decay, &dt, &raw, &bias, &a);
    for (int r = 0; r < 40; r++)
        for (int h = 0; h < 7; h++) {
            double x = at(&raw, r, 0, h) + data(&bias)[h], step = x > 40 ? x : log1p(exp(x));
            assert_true(fabs(at(&dt, r, 0, h) - step) <= 3e-6 * step + 1e-30);
            assert_true(fabs(at(&decay, r, 0, h) - exp(step * data(&a)[h])) <= 1e-5);
        }
    struct qn_tensor only = fresh(QN_SHAPE(40, 7));
    qn_time_steps(dev, &only, NULL, &raw, &bias, &a);
    same_rows("decay", &only, &decay);
    qn_sigmoid(dev, &raw, &raw);
    for (int i = 0; i < 40 * 7; i++)
        assert_true(fabs(data(&raw)[i] - 1 / (1 + exp(140.0 - i))) <= 1e-6);
}

static void gates(void)
{
    struct qn_tensor x = view(9, 3, 301), gate = view(9, 3, 301), y = view(9, 3, 301);
    for (int j = 0; j < 301; j++)
        ((float *)cpu_at(&gate, 0, 0))[j] = (float)(j - 150);
    qn_sigmoid_mul(dev, &y, &gate, &x);
    for (int r = 0; r < 9; r++)
        for (int h = 0; h < 3; h++)
            for (int j = 0; j < 301; j++)
                near("gate", at(&y, r, h, j), at(&x, r, h, j) / (1 + exp(-at(&gate, r, h, j))),
                     1e-6);
    struct qn_tensor product = fresh(QN_SHAPE(9, 903)), factor = fresh(QN_SHAPE(9, 903));
    struct qn_tensor both = copied(&factor);
    qn_mul(dev, &both, &both, &product);
    for (int i = 0; i < 9 * 903; i++)
        assert_true(data(&both)[i] == (float)(data(&factor)[i] * data(&product)[i]));
    qn_relu_squared(dev, &both, &product);
    for (int i = 0; i < 9 * 903; i++)
        assert_true(data(&both)[i] ==
                    (data(&product)[i] > 0 ? (float)(data(&product)[i] * data(&product)[i]) : 0));
    struct qn_tensor was = copied(&x);
    qn_l2_norm(dev, &x, &x, 1e-6f, 0.5f);
    struct qn_tensor w = fresh(QN_SHAPE(3, 301));
    qn_rms_norm(dev, &y, &was, &w, 1e-5f);
    for (int r = 0; r < 9; r++)
        for (int h = 0; h < 3; h++) {
            double sum = 0;
            for (int j = 0; j < 301; j++)
                sum += at(&was, r, h, j) * at(&was, r, h, j);
            for (int j = 0; j < 301; j++) {
                near("l2 norm", at(&x, r, h, j), 0.5 * at(&was, r, h, j) / sqrt(sum + 1e-6), 1e-6);
                near("rms norm by heads", at(&y, r, h, j),
                     at(&was, r, h, j) / sqrt(sum / 301 + 1e-5) * at(&w, h, 0, j), 3e-6);
            }
        }
}

static void test_small(void **state)
{
    (void)state;
    with_every_device(steps);
    with_every_device(gates);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv),
        cmocka_unit_test(test_delta),
        cmocka_unit_test(test_scan),
        cmocka_unit_test(test_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
