/* Every operation of the CPU device, for every instruction set that runs here and for one and three
 * threads, against double precision. Types are taken from the table, so a new row is tested by
 * being there. Each check states its tolerance. */
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

static struct qn_device *dev;
static struct qn_scratch *scratch;
static struct qn_rng rng;

static float normal(void)
{
    float s = 0; /* sum of four uniform numbers: near enough to normal, and bounded */
    for (int i = 0; i < 4; i++)
        s += (float)(qn_rng_u64(&rng) >> 40) / 16777216.0f - 0.5f;
    return s * 1.7f;
}

static float *data(const struct qn_tensor *t)
{
    return cpu_data(t);
}

static struct qn_tensor fresh(size_t ndim, const int64_t *shape)
{
    struct qn_tensor t = qn_scratch_tensor(scratch, QN_F32, ndim, shape);
    for (int64_t i = 0; i < qn_tensor_elements(&t); i++)
        data(&t)[i] = normal();
    return t;
}

/* A view of the middle of a larger tensor, so that rows are neither adjacent nor aligned. */
static struct qn_tensor offset_view(int64_t rows, int64_t cols)
{
    struct qn_tensor t = fresh(QN_SHAPE(rows + 2, cols + 5));
    t = qn_tensor_slice(&t, 0, 1, rows);
    return qn_tensor_slice(&t, 1, 3, cols);
}

static double at(const struct qn_tensor *t, int64_t i, int64_t j)
{
    return ((const float *)cpu_at(t, i, 0))[j];
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
            assert_int_equal(
                qn_device_reserve(
                    dev,
                    &(struct qn_reserve){.rows = 64, .cols = 1280, .heads = 32, .head_dim = 256},
                    &e),
                0);
            assert_int_equal(qn_scratch_new(dev, 96 << 20, &scratch, &e), 0);
            test();
            qn_scratch_free(scratch);
            qn_device_free(dev);
        }
    }
    unsetenv("QUINCE_ISA");
}

/* One product against double precision. Quantised weights meet activations rounded to 8 bits per 32
 * columns, so each may be off by half a step: that bound is strict; the mean square must be far
 * less. */
static void check_product(const struct qn_tensor *y, const struct qn_tensor *x, const float *w,
                          enum qn_dtype dtype, const struct qn_tensor *bias, const char *what)
{
    bool rounded = qn_dtype(dtype)->block > 1;
    int64_t cols = x->shape[1];
    double err2 = 0, ref2 = 0;
    for (int64_t r = 0; r < y->shape[0]; r++)
        for (int64_t o = 0; o < y->shape[1]; o++) {
            double ref = bias ? data(bias)[o] : 0, size = fabs(ref), slack = 0;
            for (int64_t b = 0; b < cols; b += 32) {
                double top = 0, sum = 0;
                for (int64_t i = b; i < cols && i < b + 32; i++) {
                    ref += w[o * cols + i] * at(x, r, i);
                    size += fabs(w[o * cols + i] * at(x, r, i));
                    sum += fabs(w[o * cols + i]);
                    top = fmax(top, fabs(at(x, r, i)));
                }
                slack += rounded ? sum * top / 127 * 0.501 : 0;
            }
            double got = at(y, r, o), err = fabs(got - ref);
            if (!(err <= slack + 2e-5 * size + 1e-6))
                fail_msg("%s %s %s: y[%d,%d] = %g, not %g (tolerance %g)", qn_device_name(dev),
                         qn_dtype(dtype)->name, what, (int)r, (int)o, got, ref,
                         slack + 2e-5 * size);
            err2 += err * err;
            ref2 += ref * ref;
        }
    if (sqrt(err2 / (ref2 + 1e-12)) > (rounded ? 0.015 : 1e-5))
        fail_msg("%s %s %s: relative error %g", qn_device_name(dev), qn_dtype(dtype)->name, what,
                 sqrt(err2 / ref2));
}

static void products_of(enum qn_dtype dtype, int64_t out, int64_t cols, int64_t rows)
{
    const struct qn_dtype_info *d = qn_dtype(dtype);
    size_t mark = qn_scratch_mark(scratch);
    struct qn_error e;
    struct qn_tensor wf = fresh(QN_SHAPE(out, cols)), bias = fresh(QN_SHAPE(out));
    struct qn_tensor file = qn_scratch_tensor(scratch, dtype, QN_SHAPE(out, cols));
    d->quant(cpu_data(&file), data(&wf), out * cols);
    d->dequant(data(&wf), cpu_data(&file), out * cols);
    struct qn_tensor prepared = file;
    struct qn_mem *mem;
    if (qn_weight_prepare(dev, &prepared, &mem, &e))
        fail_msg("%s", e.message);

    struct qn_tensor x = offset_view(rows, cols), y = offset_view(rows, out);
    for (int64_t i = 0; i < cols && i < 40; i++) /* a block of zeros must not divide by zero */
        ((float *)cpu_at(&x, 0, 0))[i] = 0;
    qn_matmul(dev, &y, &x, &file);
    check_product(&y, &x, data(&wf), dtype, NULL, "as in the file");
    qn_matmul(dev, &y, &x, &prepared);
    check_product(&y, &x, data(&wf), dtype, NULL, "prepared");
    /* Three products of one input, with and without bias; the neighbours of y stay as they were. */
    struct qn_tensor all = fresh(QN_SHAPE(rows, 3 * out + 2)),
                     was = fresh(QN_SHAPE(rows, 3 * out + 2));
    struct qn_tensor part[3];
    for (int i = 0; i < 3; i++)
        part[i] = qn_tensor_slice(&all, 1, 1 + i * out, out);
    qn_copy(dev, &was, &all);
    struct qn_linear lin[3] = {
        {&part[0], &prepared, &bias}, {&part[1], &file, NULL}, {&part[2], &prepared, NULL}};
    qn_matmul_many(dev, &x, lin, 3);
    check_product(&part[0], &x, data(&wf), dtype, &bias, "first of three, with bias");
    check_product(&part[1], &x, data(&wf), dtype, NULL, "second of three");
    check_product(&part[2], &x, data(&wf), dtype, NULL, "third of three");
    for (int64_t r = 0; r < rows; r++) {
        assert_true(at(&all, r, 0) == at(&was, r, 0));
        assert_true(at(&all, r, 3 * out + 1) == at(&was, r, 3 * out + 1));
    }
    qn_mem_free(mem);
    qn_scratch_reset(scratch, mark);
}

static void products(void)
{
    static const int64_t rows[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 17, 33, 64};
    for (int t = 0; t < QN_DTYPE_COUNT; t++) {
        int block = qn_dtype(t)->block;
        if (!qn_dtype(t)->dequant)
            continue;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            int64_t out = 1 + (int64_t)i * 7 % 40;
            int64_t cols = block == 1 ? 63 + (int64_t)i : (int64_t)block * (1 + (int64_t)i % 3);
            products_of(t, out, cols, rows[i]);
        }
        products_of(t, 96, 512, 20);
        products_of(t, 33, 1280, 1);
        if (block > 1)
            products_of(t, 1030, 1024, 2); /* large enough for eight bits to be all */
    }
}

static void test_products(void **state)
{
    (void)state;
    with_every_device(products);
}

static void get_rows(void)
{
    static const int32_t ids[] = {4, 0, 6, 6};
    for (int t = 0; t < QN_DTYPE_COUNT; t++) {
        const struct qn_dtype_info *d = qn_dtype(t);
        if (!d->dequant)
            continue;
        struct qn_tensor wf = fresh(QN_SHAPE(7, 512)), y = offset_view(4, 512);
        struct qn_tensor w = qn_scratch_tensor(scratch, t, QN_SHAPE(7, 512));
        struct qn_tensor id = qn_scratch_tensor(scratch, QN_I32, QN_SHAPE(4));
        d->quant(cpu_data(&w), data(&wf), 7 * 512);
        d->dequant(data(&wf), cpu_data(&w), 7 * 512);
        qn_write(dev, &id, ids);
        qn_get_rows(dev, &y, &w, &id);
        for (int r = 0; r < 4; r++) /* exact: the same portable function */
            assert_memory_equal(cpu_at(&y, r, 0), data(&wf) + ids[r] * 512, 512 * 4);
    }
}

static void test_get_rows(void **state)
{
    (void)state;
    with_every_device(get_rows);
}

static void norms(void)
{
    static const int64_t widths[] = {1, 7, 64, 100, 1024};
    for (int i = 0; i < 5; i++) {
        int64_t n = widths[i];
        struct qn_tensor x = offset_view(40, n), w = fresh(QN_SHAPE(n)), y = offset_view(40, n);
        qn_rms_norm(dev, &y, &x, &w, 1e-5f);
        for (int r = 0; r < 40; r++) {
            double sum = 0;
            for (int64_t j = 0; j < n; j++)
                sum += at(&x, r, j) * at(&x, r, j);
            for (int64_t j = 0; j < n; j++) {
                double ref = at(&x, r, j) / sqrt(sum / (double)n + 1e-5) * data(&w)[j];
                assert_true(fabs(at(&y, r, j) - ref) <= 2e-6 * fabs(ref) + 1e-7);
            }
        }
        qn_softmax(dev, &y, &x);
        for (int r = 0; r < 40; r++) {
            double sum = 0;
            for (int64_t j = 0; j < n; j++)
                sum += exp(at(&x, r, j));
            for (int64_t j = 0; j < n; j++)
                assert_true(fabs(at(&y, r, j) - exp(at(&x, r, j)) / sum) <= 2e-6);
        }
    }
    /* Per head, in place, within a wider tensor: the q norm of qwen3 on one third of a QKV row. */
    struct qn_tensor qkv = fresh(QN_SHAPE(5, 9, 32)), w = fresh(QN_SHAPE(32));
    struct qn_tensor was = fresh(QN_SHAPE(5, 9, 32)), q = qn_tensor_slice(&qkv, 1, 3, 3);
    qn_copy(dev, &was, &qkv);
    qn_rms_norm(dev, &q, &q, &w, 1e-6f);
    for (int r = 0; r < 5; r++)
        for (int h = 0; h < 9; h++) {
            const float *a = cpu_at(&was, r, h), *b = cpu_at(&qkv, r, h);
            double sum = 0;
            for (int j = 0; j < 32; j++)
                sum += (double)a[j] * a[j];
            for (int j = 0; j < 32; j++) {
                double ref = h < 3 || h >= 6 ? a[j] : a[j] / sqrt(sum / 32 + 1e-6) * data(&w)[j];
                assert_true(fabs(b[j] - ref) <= 2e-6 * fabs(ref));
            }
        }
}

static void test_norms(void **state)
{
    (void)state;
    with_every_device(norms);
}

static void elementwise(void)
{
    struct qn_tensor a = offset_view(9, 3001), b = offset_view(9, 3001), y = offset_view(9, 3001);
    for (int j = 0; j < 3001; j++) /* beyond the range where e^x neither overflows nor vanishes */
        ((float *)cpu_at(&a, 0, 0))[j] = (float)(j - 1500) / 12;
    qn_add(dev, &y, &a, &b);
    for (int r = 0; r < 9; r++)
        for (int j = 0; j < 3001; j++)
            assert_true(at(&y, r, j) == (float)(at(&a, r, j) + at(&b, r, j)));
    qn_silu_mul(dev, &y, &a, &b);
    for (int r = 0; r < 9; r++)
        for (int j = 0; j < 3001; j++) {
            double ref = at(&a, r, j) / (1 + exp(-at(&a, r, j))) * at(&b, r, j);
            assert_true(fabs(at(&y, r, j) - ref) <= 1e-6 * fabs(ref) + 1e-30);
        }
    double before = at(&a, 8, 3000);
    qn_add(dev, &a, &a, &b); /* in place */
    assert_true(at(&a, 8, 3000) == (float)(before + at(&b, 8, 3000)));

    /* f32 to f16 and back through a transposed pair of outer dimensions. */
    struct qn_tensor x = fresh(QN_SHAPE(3, 4, 19)), back = fresh(QN_SHAPE(3, 4, 19));
    struct qn_tensor h = qn_scratch_tensor(scratch, QN_F16, QN_SHAPE(4, 3, 19)), ht = h;
    ht.shape[0] = 3;
    ht.shape[1] = 4;
    ht.stride[0] = h.stride[1];
    ht.stride[1] = h.stride[0];
    qn_copy(dev, &ht, &x);
    qn_copy(dev, &back, &ht);
    for (int i = 0; i < 3 * 4 * 19; i++)
        assert_true(data(&back)[i] == qn_f16_to_f32(qn_f32_to_f16(data(&x)[i])));
}

static void test_elementwise(void **state)
{
    (void)state;
    with_every_device(elementwise);
}

static void rope(void)
{
    static const int32_t at_pos[] = {0, 1, 77, 131071};
    for (int pairs = 0; pairs < 2; pairs++)
        for (int half = 5; half <= 16; half += 11) { /* a part of the head, and all of it */
            struct qn_tensor x = fresh(QN_SHAPE(4, 3, 32)), was = fresh(QN_SHAPE(4, 3, 32));
            struct qn_tensor freq = fresh(QN_SHAPE(half)), table = fresh(QN_SHAPE(4, 2, half));
            struct qn_tensor pos = qn_scratch_tensor(scratch, QN_I32, QN_SHAPE(4));
            for (int i = 0; i < half; i++)
                data(&freq)[i] = (float)pow(10000, -(double)i / half);
            qn_write(dev, &pos, at_pos);
            qn_copy(dev, &was, &x);
            qn_rope_table(dev, &table, &pos, &freq, 1.25f);
            qn_rope(dev, &x, &table, pairs);
            for (int r = 0; r < 4; r++)
                for (int h = 0; h < 3; h++) {
                    const float *a = cpu_at(&was, r, h), *b = cpu_at(&x, r, h);
                    for (int i = 0; i < half; i++) {
                        int i0 = pairs == QN_ROPE_HALVES ? i : 2 * i;
                        int i1 = pairs == QN_ROPE_HALVES ? i + half : 2 * i + 1;
                        double c = 1.25 * cos((double)at_pos[r] * data(&freq)[i]);
                        double s = 1.25 * sin((double)at_pos[r] * data(&freq)[i]);
                        assert_true(fabs(b[i0] - (a[i0] * c - a[i1] * s)) < 2e-6);
                        assert_true(fabs(b[i1] - (a[i0] * s + a[i1] * c)) < 2e-6);
                    }
                    for (int i = 2 * half; i < 32; i++)
                        assert_true(a[i] == b[i]);
                }
        }
}

static void test_rope(void **state)
{
    (void)state;
    with_every_device(rope);
}

/* heads over kv_heads, head_dim, and for each of three sequences its past and its new rows. */
static void attention_of(int64_t heads, int64_t kv_heads, int64_t hd, const int past[3],
                         const int n[3])
{
    size_t mark = qn_scratch_mark(scratch);
    int total = n[0] + n[1] + n[2], row = 0;
    struct qn_tensor q = fresh(QN_SHAPE(total, heads + 1, hd)),
                     out = fresh(QN_SHAPE(total, heads, hd));
    struct qn_tensor k = fresh(QN_SHAPE(total, kv_heads, hd)),
                     v = fresh(QN_SHAPE(total, kv_heads, hd));
    struct qn_tensor kc[3], vc[3];
    struct qn_span spans[3];
    q = qn_tensor_slice(&q, 1, 1, heads); /* a strided view, as of a fused QKV row */
    for (int s = 0; s < 3; s++) {
        struct qn_tensor fk = fresh(QN_SHAPE(kv_heads, 200, hd)),
                         fv = fresh(QN_SHAPE(kv_heads, 200, hd));
        kc[s] = qn_scratch_tensor(scratch, QN_F16, QN_SHAPE(kv_heads, 200, hd));
        vc[s] = qn_scratch_tensor(scratch, QN_F16, QN_SHAPE(kv_heads, 200, hd));
        for (int64_t i = 0; i < kv_heads * 200 * hd; i++) /* past the end of use lies garbage */
            if (i / hd % 200 >= past[s])
                data(&fk)[i] = data(&fv)[i] = NAN;
        qn_copy(dev, &kc[s], &fk);
        qn_copy(dev, &vc[s], &fv);
        spans[s] = (struct qn_span){&kc[s], &vc[s], row, n[s], past[s]};
        row += n[s];
    }
    qn_kv_store(dev, spans, 3, &k, &v);
    float scale = 1.0f / sqrtf((float)hd);
    qn_attention(dev, &out, &q, spans, 3, scale);
    for (int s = 0; s < 3; s++)
        for (int i = 0; i < n[s]; i++)
            for (int64_t h = 0; h < heads; h++) {
                int64_t kv = h / (heads / kv_heads), sees = past[s] + i + 1;
                double p[200], sum = 0, ref[256] = {0};
                const float *qr = cpu_at(&q, spans[s].row + i, h);
                const float *got = cpu_at(&out, spans[s].row + i, h);
                for (int64_t j = 0; j < sees; j++) {
                    const uint16_t *kr = cpu_at(&kc[s], kv, j);
                    double dot = 0;
                    for (int64_t c = 0; c < hd; c++)
                        dot += (double)qr[c] * qn_f16_to_f32(kr[c]);
                    sum += p[j] = exp(dot * scale);
                }
                for (int64_t j = 0; j < sees; j++) {
                    const uint16_t *vr = cpu_at(&vc[s], kv, j);
                    for (int64_t c = 0; c < hd; c++)
                        ref[c] += p[j] / sum * qn_f16_to_f32(vr[c]);
                }
                for (int64_t c = 0; c < hd; c++)
                    if (!(fabs(got[c] - ref[c]) < 3e-6))
                        fail_msg(
                            "%s: heads %d/%d dim %d, sequence %d row %d head %d [%d]: %g, not %g",
                            qn_device_name(dev), (int)heads, (int)kv_heads, (int)hd, s, i, (int)h,
                            (int)c, (double)got[c], ref[c]);
            }
    qn_scratch_reset(scratch, mark);
}

static void attention(void)
{
    attention_of(4, 2, 64, (int[]){0, 5, 130}, (int[]){1, 1, 1});
    attention_of(4, 2, 64, (int[]){63, 64, 65}, (int[]){1, 2, 3});
    attention_of(3, 1, 16, (int[]){0, 0, 90}, (int[]){70, 1, 33});
    attention_of(16, 8, 128, (int[]){0, 17, 150}, (int[]){40, 1, 9});
    attention_of(32, 1, 40, (int[]){0, 3, 64}, (int[]){2, 1, 5}); /* a group wider than one block */
    attention_of(7, 7, 256, (int[]){1, 0, 12}, (int[]){5, 6, 1});
    attention_of(5, 5, 12, (int[]){1, 0, 12}, (int[]){5, 6, 1});
}

static void test_attention(void **state)
{
    (void)state;
    with_every_device(attention);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products), cmocka_unit_test(test_get_rows),
        cmocka_unit_test(test_norms),    cmocka_unit_test(test_elementwise),
        cmocka_unit_test(test_rope),     cmocka_unit_test(test_attention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
