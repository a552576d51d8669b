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

#include "dot_bound.h"
#include "random_weights.h"

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
    int64_t n = qn_tensor_elements(&t);
    for (int64_t i = 0; i < n; i++)
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
        /* Builds with sanitizers run a short version of this test, with three threads only. */
        for (int threads = getenv("QUINCE_TEST_QUICK") ? 3 : 1; threads <= 3; threads += 2) {
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

/* One product against double precision. The bound of each element is strict (dot_bound.h); the mean
 * square must be far less. */
static void check_product(const struct qn_tensor *y, const struct qn_tensor *x, const float *w,
                          enum qn_dtype dtype, const struct qn_tensor *bias, const char *what)
{
    bool rounded = qn_dtype(dtype)->block > 1;
    int64_t cols = x->shape[1], step = y->shape[1] > 128 ? 7 : 1; /* of many, some of each lane */
    enum rounded rounding = rounded ? ROUNDED_32 : ROUNDED_NOT;
    double err2 = 0, ref2 = 0;
    for (int64_t r = 0; r<y->shape[0]; r += y->shape[0]> 40 && y->shape[1] > 1000 ? 7 : 1)
        for (int64_t o = 0; o < y->shape[1]; o += step) {
            double start = bias ? data(bias)[o] : 0, size, slack;
            double ref =
                start + dot_bound(w + o * cols, cpu_at(x, r, 0), cols, rounding, &size, &slack);
            size += fabs(start);
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
    size_t mark = qn_scratch_mark(scratch);
    struct qn_error e;
    struct qn_tensor wf = qn_scratch_tensor(scratch, QN_F32, QN_SHAPE(out, cols));
    struct qn_tensor bias = fresh(QN_SHAPE(out));
    struct qn_tensor file = qn_scratch_tensor(scratch, dtype, QN_SHAPE(out, cols));
    random_weights_fill(dtype, cpu_data(&file), data(&wf), out * cols);
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
    /* Onto what is there already. */
    for (int i = 0; i < 2; i++) {
        const struct qn_linear anew = {&part[i], i ? &file : &prepared, NULL};
        struct qn_tensor before = fresh(QN_SHAPE(rows, out)), sum = offset_view(rows, out);
        qn_copy(dev, &sum, &before);
        qn_matmul_many(dev, &x, &anew, 1);
        qn_matmul_onto(dev, &sum, &x, anew.w, -0.25f);
        for (int64_t r = 0; r < rows; r++)
            for (int64_t o = 0; o < out; o++) {
                double want = at(&before, r, o) - 0.25 * at(&part[i], r, o);
                assert_true(fabs(at(&sum, r, o) - want) <=
                            1e-6 * (fabs(at(&before, r, o)) + fabs(at(&part[i], r, o))));
            }
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
        if (block > 1 && qn_device_threads(dev) > 1 && cpu(dev)->k->wide.rows)
            products_of(t, 1041, block < 128 ? 1024 + block : 1024, 50); /* in the wide form */
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
        if (!qn_dtype(t)->dequant)
            continue;
        struct qn_tensor wf = fresh(QN_SHAPE(7, 512)), y = offset_view(4, 512);
        struct qn_tensor w = qn_scratch_tensor(scratch, t, QN_SHAPE(7, 512));
        struct qn_tensor id = qn_scratch_tensor(scratch, QN_I32, QN_SHAPE(4));
        random_weights_fill(t, cpu_data(&w), data(&wf), 7 * 512);
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
        struct qn_tensor b = fresh(QN_SHAPE(n));
        qn_layer_norm(dev, &y, &x, &w, i % 2 ? &b : NULL, 1e-5f);
        for (int r = 0; r < 40; r++) {
            double mean = 0, variance = 0;
            for (int64_t j = 0; j < n; j++)
                mean += at(&x, r, j) / (double)n;
            for (int64_t j = 0; j < n; j++)
                variance += (at(&x, r, j) - mean) * (at(&x, r, j) - mean) / (double)n;
            for (int64_t j = 0; j < n; j++) {
                double ref = (at(&x, r, j) - mean) / sqrt(variance + 1e-5) * data(&w)[j];
                ref += i % 2 ? data(&b)[j] : 0;
                assert_true(fabs(at(&y, r, j) - ref) <= 5e-6 * (1 + fabs(ref)));
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
    /* Each head with weights of its own. */
    struct qn_tensor xh = fresh(QN_SHAPE(4, 3, 40)), wh = fresh(QN_SHAPE(3, 40));
    struct qn_tensor yh = fresh(QN_SHAPE(4, 3, 40));
    qn_layer_norm(dev, &yh, &xh, &wh, NULL, 1e-5f);
    for (int i = 0; i < 12; i++) {
        const float *from = data(&xh) + i * 40;
        double mean = 0, variance = 0;
        for (int j = 0; j < 40; j++)
            mean += from[j] / 40.0;
        for (int j = 0; j < 40; j++)
            variance += (from[j] - mean) * (from[j] - mean) / 40;
        for (int j = 0; j < 40; j++) {
            double ref = (from[j] - mean) / sqrt(variance + 1e-5) * data(&wh)[i % 3 * 40 + j];
            assert_true(fabs(data(&yh)[i * 40 + j] - ref) <= 5e-6 * (1 + fabs(ref)));
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
    qn_gelu_mul(dev, &y, &a, &b);
    for (int r = 0; r < 9; r++)
        for (int j = 0; j < 3001; j++) {
            double g = at(&a, r, j), z = sqrt(2 / acos(-1)) * (g + 0.044715 * g * g * g);
            double ref = 0.5 * g * (1 + tanh(z)) * at(&b, r, j);
            assert_true(fabs(at(&y, r, j) - ref) <= 1e-6 * fabs(ref) + 1e-6);
        }
    qn_softcap(dev, &y, &a, 30);
    for (int r = 0; r < 9; r++)
        for (int j = 0; j < 3001; j++)
            assert_true(fabs(at(&y, r, j) - 30 * tanh(at(&a, r, j) / 30)) <= 1e-5);
    struct qn_tensor w = fresh(QN_SHAPE(3001));
    qn_scale_cols(dev, &y, &b, &w);
    for (int r = 0; r < 9; r++)
        for (int j = 0; j < 3001; j++)
            assert_true(at(&y, r, j) == (float)at(&b, r, j) * data(&w)[j]);
    struct qn_tensor cut = offset_view(9, 3001);
    qn_match_norm(dev, &y, &b, &a);
    qn_cut_below(dev, &cut, &b, 0.7f);
    for (int r = 0; r < 9; r++) {
        double mean = 0, square = 0, like = 0;
        for (int j = 0; j < 3001; j++) {
            mean += at(&b, r, j) / 3001;
            square += at(&b, r, j) * at(&b, r, j) / 3001;
            like += at(&a, r, j) * at(&a, r, j) / 3001;
        }
        double edge = mean + 0.7 * sqrt(square - mean * mean);
        for (int j = 0; j < 3001; j++) {
            double longer = at(&b, r, j) * sqrt(like / square);
            assert_true(fabs(at(&y, r, j) - longer) <= 1e-5 * fabs(longer));
            assert_true(fabs(at(&cut, r, j) - fmax(0, at(&b, r, j) - edge)) <= 1e-5);
        }
    }
    qn_scale(dev, &y, &a, -0.3f);
    for (int r = 0; r < 9; r++)
        for (int j = 0; j < 3001; j++)
            assert_true(at(&y, r, j) == (float)(-0.3f * (float)at(&a, r, j)));
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

/* ---- attention ---- */

/* One case: its shapes, what a row sees, and for each of three sequences its past and new rows. */
struct attention {
    int64_t heads, kv_heads, k_dim, v_dim;
    enum qn_dtype k, v;
    bool v_in_k, sinks;
    float softcap;
    int32_t window, chunk;
    int past[3], n[3];
    double tolerance; /* of an output */
};

enum { PAGES = 128, SEQ_PAGES = 40, SEEN_MAX = SEQ_PAGES * QN_KV_PAGE };

static struct qn_kv_layer cache_of(const struct attention *a)
{
    struct qn_kv_layer c = {.k_type = a->k,
                            .v_type = a->v_in_k ? a->k : a->v,
                            .kv_heads = (int32_t)a->kv_heads,
                            .k_dim = (int32_t)a->k_dim,
                            .v_dim = (int32_t)a->v_dim,
                            .v_in_k = a->v_in_k};
    c.k_row = qn_dtype_bytes(qn_dtype(a->k), a->k_dim);
    c.v_row = a->v_in_k ? c.k_row : qn_dtype_bytes(qn_dtype(a->v), a->v_dim);
    c.k_offset = 64;
    c.v_offset = a->v_in_k ? c.k_offset : c.k_offset + c.k_row * QN_KV_PAGE;
    c.head_bytes = (c.k_row + (a->v_in_k ? 0 : c.v_row)) * QN_KV_PAGE;
    c.page_bytes = 64 + c.head_bytes * (size_t)a->kv_heads;
    assert_int_equal(qn_mem_new(dev, c.page_bytes * PAGES, &c.mem, NULL), QN_OK);
    return c;
}

/* The row of token t of a sequence, as the cache holds it. */
static void cached_row(const struct qn_kv_layer *c, const int32_t *pages, int64_t head, int64_t t,
                       float *k, float *v)
{
    const char *page = (char *)c->mem->host + (size_t)pages[t / QN_KV_PAGE] * c->page_bytes +
                       (size_t)head * c->head_bytes;
    size_t row = (size_t)(t % QN_KV_PAGE);
    qn_dtype(c->k_type)->dequant(k, page + c->k_offset + row * c->k_row, c->k_dim);
    qn_dtype(c->v_type)->dequant(v, page + c->v_offset + row * c->v_row, c->v_dim);
}

static bool sees(const struct attention *a, int64_t pos, int64_t key)
{
    return key <= pos && !(a->window && key <= pos - a->window) &&
           !(a->chunk && key / a->chunk != pos / a->chunk);
}

/* What row i of a sequence should be, in double precision, from the cache as it is. */
static void attention_ref(const struct attention *a, const struct qn_kv_layer *c,
                          const int32_t *pages, int64_t pos, int64_t head, const float *q,
                          const float *sinks, double *ref)
{
    static float k[640], v[640];
    double score[SEEN_MAX], sum = sinks ? exp((double)sinks[head]) : 0;
    int64_t kv = head / (a->heads / a->kv_heads);
    for (int64_t j = 0; j <= pos; j++) {
        double dot = 0;
        score[j] = 0;
        if (!sees(a, pos, j))
            continue;
        cached_row(c, pages, kv, j, k, v);
        for (int64_t i = 0; i < a->k_dim; i++)
            dot += (double)q[i] * (double)k[i];
        dot /= sqrt((double)a->k_dim);
        if (a->softcap != 0)
            dot = (double)a->softcap * tanh(dot / (double)a->softcap);
        sum += score[j] = exp(dot);
    }
    for (int64_t i = 0; i < a->v_dim; i++)
        ref[i] = 0;
    for (int64_t j = 0; j <= pos; j++) {
        if (score[j] == 0)
            continue;
        cached_row(c, pages, kv, j, k, v);
        for (int64_t i = 0; i < a->v_dim; i++)
            ref[i] += score[j] / sum * (double)v[i];
    }
}

/* Stores the past of each sequence, fills the rest of the pages with NAN, and takes pages that no
 * row of a window sees away; then the new rows. */
static void fill_past(const struct attention *a, const struct qn_kv_layer *c, int32_t *pages, int s)
{
    size_t mark = qn_scratch_mark(scratch);
    for (int t = 0; t < a->past[s]; t += 32) {
        int n = a->past[s] - t < 32 ? a->past[s] - t : 32;
        struct qn_tensor k = fresh(QN_SHAPE(n, a->kv_heads, a->k_dim));
        struct qn_tensor v = fresh(QN_SHAPE(n, a->kv_heads, a->v_dim));
        struct qn_span span = {.row = 0, .n = n, .past = t, .pages = pages};
        qn_kv_store(dev, c, &span, 1, &k, a->v_in_k ? NULL : &v);
        qn_scratch_reset(scratch, mark);
    }
    for (int i = 0; a->window && i < SEQ_PAGES; i++)
        if ((i + 1) * QN_KV_PAGE <= a->past[s] - a->window + 1)
            pages[i] = -1;
}

static void attention_of(const struct attention *a)
{
    size_t mark = qn_scratch_mark(scratch);
    int total = a->n[0] + a->n[1] + a->n[2], row = 0;
    struct qn_tensor q = fresh(QN_SHAPE(total, a->heads + 1, a->k_dim));
    struct qn_tensor out = fresh(QN_SHAPE(total, a->heads, a->v_dim));
    struct qn_tensor k = fresh(QN_SHAPE(total, a->kv_heads, a->k_dim));
    struct qn_tensor v = fresh(QN_SHAPE(total, a->kv_heads, a->v_dim));
    struct qn_tensor sinks = fresh(QN_SHAPE(a->heads));
    struct qn_kv_layer c = cache_of(a);
    struct qn_span spans[3];
    int32_t pages[3][SEQ_PAGES];
    double ref[640];
    const struct qn_attend_params params = {.scale = 1.0f / sqrtf((float)a->k_dim),
                                            .softcap = a->softcap,
                                            .window = a->window,
                                            .chunk = a->chunk,
                                            .sinks = a->sinks ? &sinks : NULL};
    assert_int_equal(
        qn_device_reserve(
            dev, &(struct qn_reserve){.rows = 1, .cols = 1, .heads = a->heads, .head_dim = 640},
            NULL),
        QN_OK);
    q = qn_tensor_slice(&q, 1, 1, a->heads); /* a strided view, as of a fused QKV row */
    memset(c.mem->host, 0xff, c.mem->bytes); /* past the end of use lies NAN */
    for (int s = 0; s < 3; s++) {
        for (int i = 0; i < SEQ_PAGES; i++)
            pages[s][i] = (7 * (SEQ_PAGES * s + i) + 3) % PAGES; /* no two alike */
        fill_past(a, &c, pages[s], s);
        spans[s] = (struct qn_span){row, a->n[s], a->past[s], pages[s]};
        row += a->n[s];
    }
    qn_kv_store(dev, &c, spans, 3, &k, a->v_in_k ? NULL : &v);
    qn_attention(dev, &out, &q, &c, spans, 3, &params);
    for (int s = 0; s < 3; s++)
        for (int i = 0; i < a->n[s]; i++)
            for (int64_t h = 0; h < a->heads; h++) {
                const float *got = cpu_at(&out, spans[s].row + i, h);
                attention_ref(a, &c, pages[s], a->past[s] + i, h, cpu_at(&q, spans[s].row + i, h),
                              a->sinks ? data(&sinks) : NULL, ref);
                for (int64_t d = 0; d < a->v_dim; d++)
                    if (!(fabs((double)got[d] - ref[d]) < a->tolerance))
                        fail_msg("%s: %s and %s, heads %d/%d dim %d/%d window %d chunk %d: "
                                 "sequence %d row %d head %d [%d]: %g, not %g",
                                 qn_device_name(dev), qn_dtype(a->k)->name, qn_dtype(a->v)->name,
                                 (int)a->heads, (int)a->kv_heads, (int)a->k_dim, (int)a->v_dim,
                                 (int)a->window, (int)a->chunk, s, i, (int)h, (int)d,
                                 (double)got[d], ref[d]);
            }
    qn_mem_free(c.mem);
    qn_scratch_reset(scratch, mark);
}

static void attention(void)
{
    static const struct attention cases[] = {
        {4, 2, 64, 64, .past = {0, 5, 130}, .n = {1, 1, 1}},
        {4, 2, 64, 64, .past = {63, 64, 65}, .n = {1, 2, 3}},
        {3, 1, 16, 16, .past = {0, 0, 90}, .n = {70, 1, 33}},
        {16, 8, 128, 128, .past = {0, 17, 150}, .n = {40, 1, 9}},
        {8, 4, 128, 128, .past = {0, 270, 255}, .n = {260, 17, 1}},
        {40, 1, 40, 40, .past = {0, 3, 64}, .n = {2, 1, 5}}, /* a group wider than one block */
        {7, 7, 256, 256, .past = {1, 0, 12}, .n = {5, 6, 1}},
        {5, 5, 12, 12, .past = {1, 0, 12}, .n = {5, 6, 1}},
        {4, 2, 64, 64, .window = 40, .past = {0, 200, 39}, .n = {100, 1, 3}},
        {4, 2, 64, 64, .window = 1, .past = {0, 31, 32}, .n = {3, 2, 1}},
        {4, 2, 64, 64, .window = 20, .past = {300, 64, 31}, .n = {1, 70, 2}},
        {4, 2, 64, 64, .chunk = 50, .past = {0, 49, 130}, .n = {120, 2, 1}},
        {4, 1, 64, 64, .sinks = true, .past = {0, 100, 3}, .n = {9, 1, 40}},
        {4, 1, 64, 64, .sinks = true, .window = 16, .past = {0, 100, 3}, .n = {9, 1, 40}},
        {8, 2, 96, 96, .softcap = 1.5f, .past = {0, 250, 3}, .n = {9, 12, 40}},
        {6, 2, 192, 128, .past = {0, 230, 3}, .n = {40, 50, 4}},
        {16, 1, 576, 512, .v_in_k = true, .past = {0, 100, 3}, .n = {5, 1, 2}},
        {4, 2, 64, 64, .past = {1100, 511, 512}, .n = {1, 2, 40}}, /* several sums of keys */
        {8, 1, 64, 64, .sinks = true, .window = 600, .past = {1200, 0, 700}, .n = {4, 1, 70}},
        {130, 1, 64, 64, .past = {0, 30, 3}, .n = {1, 1, 2}},
    };
    static const enum qn_dtype types[][2] = {{QN_F16, QN_F16},   {QN_F32, QN_F32},
                                             {QN_BF16, QN_BF16}, {QN_Q8_0, QN_Q8_0},
                                             {QN_Q8_0, QN_Q4_0}, {QN_Q4_0, QN_F16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            struct attention a = cases[i];
            a.k = types[t][0];
            a.v = types[t][1];
            a.tolerance = 3e-6;
            if (a.k_dim % 32 && qn_dtype(a.k)->block > 1)
                continue;
            if (a.past[0] > 1000 && t % 3) /* long ones take their time */
                continue;
            attention_of(&a);
        }
}

/* One long sequence by one thread, and its keys shared out among several: not a bit differs. */
static void test_attention_does_not_depend_on_threads(void **state)
{
    enum { HEADS = 6, KV = 2, DIM = 64, PAST = 2100, ROWS = 2, SEEN = PAST + ROWS };
    static float first[ROWS * HEADS * DIM], k[SEEN * KV * DIM], v[SEEN * KV * DIM];
    static float q[ROWS * HEADS * DIM];
    int32_t pages[SEEN / QN_KV_PAGE + 1];
    (void)state;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        pages[i] = (int32_t)i;
    for (int i = 0; i < SEEN * KV * DIM; i++) {
        k[i] = sinf((float)i * 0.7f) * 3;
        v[i] = cosf((float)i * 1.3f);
    }
    for (int i = 0; i < ROWS * HEADS * DIM; i++)
        q[i] = sinf((float)i * 2.1f);
    for (int threads = 1; threads <= 5; threads += 2) {
        struct qn_device *d;
        struct qn_mem *mem, *cache;
        const size_t row = DIM * 2, head = 2 * QN_KV_PAGE * row, in = sizeof k / sizeof *k;
        const struct qn_attend_params params = {.scale = 0.125f};
        assert_int_equal(qn_device_cpu_new(threads, &d, NULL), QN_OK);
        assert_int_equal(
            qn_device_reserve(d, &(struct qn_reserve){.heads = HEADS, .head_dim = DIM}, NULL),
            QN_OK);
        assert_int_equal(qn_mem_new(d, sizeof k + sizeof v + 2 * sizeof q, &mem, NULL), QN_OK);
        assert_int_equal(qn_mem_new(d, KV * head * (SEEN / QN_KV_PAGE + 1), &cache, NULL), QN_OK);
        const struct qn_kv_layer layer = {.mem = cache,
                                          .page_bytes = KV * head,
                                          .head_bytes = head,
                                          .v_offset = head / 2,
                                          .k_row = row,
                                          .v_row = row,
                                          .k_type = QN_F16,
                                          .v_type = QN_F16,
                                          .kv_heads = KV,
                                          .k_dim = DIM,
                                          .v_dim = DIM};
        struct qn_tensor tk = qn_tensor_make(QN_F32, QN_SHAPE(SEEN, KV, DIM), mem, 0);
        struct qn_tensor tv = qn_tensor_make(QN_F32, QN_SHAPE(SEEN, KV, DIM), mem, 4 * in);
        struct qn_tensor tq = qn_tensor_make(QN_F32, QN_SHAPE(ROWS, HEADS, DIM), mem, 8 * in);
        struct qn_tensor out =
            qn_tensor_make(QN_F32, QN_SHAPE(ROWS, HEADS, DIM), mem, 8 * in + sizeof q);
        qn_write(d, &tk, k);
        qn_write(d, &tv, v);
        qn_write(d, &tq, q);
        struct qn_span all = {.n = SEEN, .pages = pages};
        struct qn_span last = {.n = ROWS, .past = PAST, .pages = pages};
        qn_kv_store(d, &layer, &all, 1, &tk, &tv);
        qn_attention(d, &out, &tq, &layer, &last, 1, &params);
        if (threads == 1)
            memcpy(first, cpu_data(&out), sizeof first);
        else
            assert_memory_equal(first, cpu_data(&out), sizeof first);
        qn_mem_free(cache);
        qn_mem_free(mem);
        qn_device_free(d);
    }
}

static void test_attention(void **state)
{
    (void)state;
    with_every_device(attention);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_get_rows),
        cmocka_unit_test(test_norms),
        cmocka_unit_test(test_elementwise),
        cmocka_unit_test(test_rope),
        cmocka_unit_test(test_attention),
        cmocka_unit_test(test_attention_does_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
