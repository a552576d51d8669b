/* A mixture's operations, for every instruction set that runs here and for one and three threads:
 * the choice of experts against a plain statement of it, their products against double precision.
 * Types are taken from the table. */
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

enum { ROWS = 70, COLS = 1024, EXPERTS = 64, USED = 6 };

static struct qn_device *dev;
static struct qn_scratch *scratch;
static struct qn_rng rng;

static float uniform(void) /* -1 .. 1 */
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
    const struct qn_reserve need = {
        .rows = ROWS, .cols = COLS, .experts_cols = COLS, .experts = EXPERTS, .experts_used = USED};
    for (int i = 0; cpu_kernels_all[i]; i++) {
        if (!cpu_kernels_all[i]->supported())
            continue;
        setenv("QUINCE_ISA", cpu_kernels_all[i]->name, 1);
        /* Builds with sanitizers run a short version of this test, with three threads only. */
        for (int threads = getenv("QUINCE_TEST_QUICK") ? 3 : 1; threads <= 3; threads += 2) {
            struct qn_error e;
            qn_rng_init(&rng, 11);
            if (qn_device_cpu_new(threads, &dev, &e) || qn_device_reserve(dev, &need, &e))
                fail_msg("%s", e.message);
            assert_int_equal(qn_scratch_new(dev, 64 << 20, &scratch, &e), 0);
            test();
            qn_scratch_free(scratch);
            qn_device_free(dev);
        }
    }
    unsetenv("QUINCE_ISA");
}

/* ---- the choice ---- */

/* Whether expert a beats expert b. */
static bool beats(const double *value, int a, int b)
{
    return value[a] > value[b] || (value[a] == value[b] && a < b);
}

/* The statement: score, add the bias, strike out all but the best groups, take the best, weigh. */
static void choose_plainly(const float *logit, int experts, int used,
                           const struct qn_expert_route *p, int32_t *ids, double *weights)
{
    double score[EXPERTS], value[EXPERTS], sum = 0, group[EXPERTS];
    bool out[EXPERTS] = {false};
    for (int e = 0; e < experts; e++) {
        score[e] = p->score == QN_ROUTE_SIGMOID ? 1 / (1 + exp(-logit[e])) : exp(logit[e]);
        sum += score[e];
    }
    for (int e = 0; e < experts; e++) {
        if (p->score == QN_ROUTE_SOFTMAX)
            score[e] /= sum;
        value[e] = score[e] + (p->bias ? data(p->bias)[e] : 0);
    }
    int groups = p->groups > 1 ? p->groups : 1, each = experts / groups;
    for (int g = 0; g < groups; g++) {
        double best = -INFINITY, second = -INFINITY;
        for (int e = g * each; e < (g + 1) * each; e++)
            if (value[e] > best) {
                second = best;
                best = value[e];
            } else if (value[e] > second) {
                second = value[e];
            }
        group[g] = best + (each > 1 ? second : 0);
    }
    for (int g = 0; g < groups && groups > 1; g++) {
        int better = 0;
        for (int h = 0; h < groups; h++)
            better += beats(group, h, g);
        for (int e = g * each; e < (g + 1) * each; e++)
            out[e] = better >= p->groups_used;
    }
    sum = 0;
    for (int i = 0; i < used; i++) {
        int best = -1;
        for (int e = 0; e < experts; e++)
            if (!out[e] && (best < 0 || value[e] > value[best]))
                best = e;
        out[best] = true;
        ids[i] = best;
        weights[i] = score[best];
        sum += score[best];
    }
    for (int i = 0; i < used && p->score == QN_ROUTE_SPARSEMIXER; i++) {
        double top = logit[ids[i]], near = 0;
        for (int e = 0; e < experts; e++) {
            bool before = false;
            for (int b = 0; b < i; b++)
                before |= ids[b] == e;
            if (!before && (top - logit[e]) / fmax(fabs(logit[e]), top) <= 0.02)
                near += exp(logit[e] - top);
        }
        sum += 1 / near - weights[i];
        weights[i] = 1 / near;
    }
    bool divide = p->normalise || p->score == QN_ROUTE_SOFTMAX_OF_CHOSEN;
    for (int i = 0; i < used; i++)
        weights[i] = weights[i] / (divide ? sum : 1) * p->scale;
}

static void check_choice(int experts, int used, const struct qn_expert_route *p)
{
    size_t mark = qn_scratch_mark(scratch);
    struct qn_tensor logits = offset_view(ROWS, experts);
    struct qn_tensor ids = qn_scratch_tensor(scratch, QN_I32, QN_SHAPE(ROWS, used));
    struct qn_tensor weights = qn_scratch_tensor(scratch, QN_F32, QN_SHAPE(ROWS, used));
    for (int e = 0; e < experts; e++) /* all equal: the first ones win */
        ((float *)cpu_at(&logits, 0, 0))[e] = 0.5f;
    qn_choose_experts(dev, &ids, &weights, &logits, p);
    for (int r = 0; r < ROWS; r++) {
        int32_t want[USED];
        double weight[USED];
        choose_plainly(cpu_at(&logits, r, 0), experts, used, p, want, weight);
        for (int i = 0; i < used; i++) {
            int32_t got = ((int32_t *)cpu_at(&ids, r, 0))[i];
            if (got != want[i] || !(fabs(at(&weights, r, i) - weight[i]) <= 2e-6 * weight[i]))
                fail_msg("%s score %d row %d choice %d: expert %d weight %g, not %d %g",
                         qn_device_name(dev), (int)p->score, r, i, (int)got, at(&weights, r, i),
                         (int)want[i], weight[i]);
        }
    }
    qn_scratch_reset(scratch, mark);
}

static void choices(void)
{
    struct qn_tensor bias = fresh(QN_SHAPE(EXPERTS));
    for (int score = 0; score < 4; score++)
        for (int normalise = 0; normalise < 2; normalise++) {
            struct qn_expert_route p = {.score = score, .normalise = normalise, .scale = 1};
            check_choice(8, 2, &p);
            check_choice(5, 5, &p);
            check_choice(EXPERTS, 1, &p);
            p.scale = 2.5f;
            check_choice(EXPERTS, USED, &p);
            if (score >= QN_ROUTE_SOFTMAX_OF_CHOSEN)
                continue;
            p.bias = &bias;
            check_choice(EXPERTS, USED, &p);
            p.groups = 8;
            p.groups_used = 3;
            check_choice(EXPERTS, USED, &p);
            p.groups = EXPERTS; /* groups of one */
            p.groups_used = 40;
            check_choice(EXPERTS, USED, &p);
        }
}

static void test_choices(void **state)
{
    (void)state;
    with_every_device(choices);
}

/* Whatever the logits are, the numbers are valid and differ. */
static void hostile_logits(void)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY, 3e38f, 0};
    struct qn_tensor logits = fresh(QN_SHAPE(40, 16));
    struct qn_tensor ids = qn_scratch_tensor(scratch, QN_I32, QN_SHAPE(40, 4));
    struct qn_tensor weights = fresh(QN_SHAPE(40, 4));
    for (int i = 0; i < 40 * 16; i++)
        data(&logits)[i] = bad[i / 16 < 5 ? i / 16 : (int)(qn_rng_u64(&rng) % 5)];
    for (int i = 0; i < 16; i++) /* one NaN among numbers */
        data(&logits)[20 * 16 + i] = i == 2 ? NAN : (float)(i - 8);
    for (int score = 0; score < 4; score++)
        for (int groups = 1; groups <= 4; groups += 3) {
            struct qn_expert_route p = {
                .score = score, .groups = groups, .groups_used = 2, .scale = 1};
            memset(cpu_data(&ids), 0xff, 40 * 4 * 4);
            qn_choose_experts(dev, &ids, &weights, &logits, &p);
            for (int r = 0; r < 40; r++) {
                uint32_t seen = 0;
                for (int i = 0; i < 4; i++) {
                    int32_t id = ((int32_t *)cpu_at(&ids, r, 0))[i];
                    assert_in_range(id, 0, 15);
                    assert_false(seen >> id & 1);
                    seen |= 1u << id;
                    /* A number beats NaN. */
                    assert_false(score != QN_ROUTE_SOFTMAX && r == 20 && id == 2);
                }
            }
        }
}

static void test_hostile_logits(void **state)
{
    (void)state;
    with_every_device(hostile_logits);
}

/* ---- the products ---- */

/* Distinct random experts for each row; a tenth of the rows choose the first ones. */
static struct qn_tensor random_ids(int64_t rows, int used, int experts)
{
    struct qn_tensor ids = qn_scratch_tensor(scratch, QN_I32, QN_SHAPE(rows, used));
    for (int64_t r = 0; r < rows; r++) {
        int32_t all[EXPERTS], *id = cpu_at(&ids, r, 0);
        for (int e = 0; e < experts; e++)
            all[e] = e;
        for (int i = 0; i < used; i++) {
            int at_random = i + (int)(qn_rng_u64(&rng) % (uint64_t)(experts - i));
            int32_t e = all[r % 10 == 9 ? i : at_random];
            all[r % 10 == 9 ? i : at_random] = all[i];
            id[i] = e;
        }
    }
    return ids;
}

/* y·x of one row of weights, and how far rounding the activations may lead it astray. */
static double dot(const float *w, const struct qn_tensor *x, int64_t row, int64_t cols,
                  enum rounded rounded, double *slack)
{
    double size;
    double sum = dot_bound(w, cpu_at(x, row, 0), cols, rounded, &size, slack);
    *slack += 2e-5 * size + 1e-6;
    return sum;
}

static void products_of(enum qn_dtype dtype, int experts, int64_t out, int64_t cols, int64_t rows,
                        int used)
{
    const struct qn_dtype_info *d = qn_dtype(dtype);
    enum rounded rounded = d->block > 1 ? ROUNDED_32 : ROUNDED_NOT;
    size_t mark = qn_scratch_mark(scratch);
    struct qn_error e;
    struct qn_mem *mem;
    struct qn_tensor wf = qn_scratch_tensor(scratch, QN_F32, QN_SHAPE(experts, out, cols));
    struct qn_tensor bias = fresh(QN_SHAPE(experts, out));
    struct qn_tensor w = qn_scratch_tensor(scratch, dtype, QN_SHAPE(experts, out, cols));
    random_weights_fill(dtype, cpu_data(&w), data(&wf), experts * out * cols);
    if (qn_weight_prepare(dev, &w, &mem, &e))
        fail_msg("%s", e.message);
    struct qn_tensor ids = random_ids(rows, used, experts);
    const int32_t *id = cpu_data(&ids);

    /* Two products of one input per row, the second into the middle of a wider tensor. */
    struct qn_tensor x = offset_view(rows, cols), own = offset_view(rows * used, cols);
    struct qn_tensor a = fresh(QN_SHAPE(rows * used, out)), b = offset_view(rows * used, out);
    struct qn_tensor c = offset_view(rows * used, out);
    const struct qn_expert_linear two[] = {{&a, &w, NULL}, {&b, &w, &bias}};
    qn_matmul_experts(dev, &x, &ids, two, 2);
    qn_matmul_experts(dev, &own, &ids, &(struct qn_expert_linear){&c, &w, NULL}, 1);
    if (rows % experts == 0) { /* no choice: each row goes to all */
        struct qn_tensor whole = qn_tensor_slice(&own, 0, 0, rows), y = offset_view(rows, out);
        double slack;
        qn_matmul_experts(dev, &whole, NULL, &(struct qn_expert_linear){&y, &w, NULL}, 1);
        for (int64_t r = 0; r < rows; r++)
            for (int64_t o = 0; o < out; o++) {
                const float *row = data(&wf) + (r % experts * out + o) * cols;
                double ref = dot(row, &whole, r, cols, rounded, &slack);
                assert_true(fabs(at(&y, r, o) - ref) <= slack);
            }
    }
    struct qn_tensor sum = offset_view(rows, out), weights = fresh(QN_SHAPE(rows, used));
    if (out % 2) /* without weights they are ones */
        for (int64_t i = 0; i < rows * used; i++)
            data(&weights)[i] = 1;
    qn_sum_experts(dev, &sum, &own, &w, &bias, &ids, out % 2 ? NULL : &weights);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t o = 0; o < out; o++) {
            double ref = 0, ref_slack = 1e-6, slack;
            for (int64_t i = r * used; i < (r + 1) * used; i++) {
                const float *row = data(&wf) + (id[i] * out + o) * cols;
                double y = dot(row, &x, r, cols, rounded, &slack), z = data(&bias)[id[i] * out + o];
                if (!(fabs(at(&a, i, o) - y) <= slack && fabs(at(&b, i, o) - y - z) <= slack))
                    fail_msg("%s %s: choice %d [%d]: %g and %g, not %g and %g (within %g)",
                             qn_device_name(dev), d->name, (int)i, (int)o, at(&a, i, o),
                             at(&b, i, o), y, y + z, slack);
                y = dot(row, &own, i, cols, rounded, &slack);
                if (!(fabs(at(&c, i, o) - y) <= slack))
                    fail_msg("%s %s: choice %d of its own [%d]: %g, not %g (within %g)",
                             qn_device_name(dev), d->name, (int)i, (int)o, at(&c, i, o), y, slack);
                ref += data(&weights)[i] * (y + z);
                ref_slack += fabs(data(&weights)[i]) * slack + 1e-6 * fabs(ref);
            }
            if (!(fabs(at(&sum, r, o) - ref) <= ref_slack))
                fail_msg("%s %s: sum of row %d [%d]: %g, not %g (within %g)", qn_device_name(dev),
                         d->name, (int)r, (int)o, at(&sum, r, o), ref, ref_slack);
        }
    qn_mem_free(mem);
    qn_scratch_reset(scratch, mark);
}

/* A mixture of four experts: the first takes 36 rows, more than one group of tiles, the second 26,
 * the third 23, the last none. Some of the outputs of some rows. */
static void many_rows_of(enum qn_dtype dtype)
{
    enum { N = 85, OUT = 515 };
    const enum rounded rounded = qn_dtype(dtype)->block > 1 ? ROUNDED_32 : ROUNDED_NOT;
    const int64_t cols = qn_dtype(dtype)->block == 256 ? 512 : 544;
    size_t mark = qn_scratch_mark(scratch);
    struct qn_error e;
    struct qn_mem *mem;
    struct qn_tensor wf = qn_scratch_tensor(scratch, QN_F32, QN_SHAPE(4, OUT, cols));
    struct qn_tensor bias = fresh(QN_SHAPE(4, OUT));
    struct qn_tensor w = qn_scratch_tensor(scratch, dtype, QN_SHAPE(4, OUT, cols));
    random_weights_fill(dtype, cpu_data(&w), data(&wf), 4 * OUT * cols);
    assert_int_equal(qn_weight_prepare(dev, &w, &mem, &e), 0);
    struct qn_tensor ids = qn_scratch_tensor(scratch, QN_I32, QN_SHAPE(N, 1));
    struct qn_tensor x = offset_view(N, cols), y = offset_view(N, OUT);
    struct qn_tensor sum = offset_view(N, OUT), weights = fresh(QN_SHAPE(N, 1));
    int32_t *id = cpu_data(&ids);
    for (int i = 0; i < N; i++)
        id[i] = i < 69 ? i % 3 : i < 72;
    qn_matmul_experts(dev, &x, &ids, &(struct qn_expert_linear){&y, &w, &bias}, 1);
    qn_sum_experts(dev, &sum, &x, &w, NULL, &ids, &weights);
    for (int64_t r = 0; r < N; r += 1 + r % 5)
        for (int64_t o = 0; o < OUT; o += 11) {
            double slack,
                v = dot(data(&wf) + (id[r] * OUT + o) * cols, &x, r, cols, rounded, &slack);
            double z = v + data(&bias)[id[r] * OUT + o], by = data(&weights)[r];
            if (!(fabs(at(&y, r, o) - z) <= slack &&
                  fabs(at(&sum, r, o) - by * v) <= fabs(by) * slack + 1e-6))
                fail_msg("%s %s: row %d [%d]: %g and %g, not %g and %g (within %g)",
                         qn_device_name(dev), qn_dtype(dtype)->name, (int)r, (int)o, at(&y, r, o),
                         at(&sum, r, o), z, by * v, slack);
        }
    qn_mem_free(mem);
    qn_scratch_reset(scratch, mark);
}

static void many_rows(void)
{
    static const enum qn_dtype types[] = {QN_Q4_0, QN_Q6_K, QN_F16};
    for (int i = 0; i < 3; i++)
        many_rows_of(types[i]);
}

static void test_many_rows(void **state)
{
    (void)state;
    with_every_device(many_rows);
}

static void products(void)
{
    for (int t = 0; t < QN_DTYPE_COUNT; t++) {
        int64_t block = qn_dtype(t)->block;
        if (!qn_dtype(t)->dequant)
            continue;
        products_of(t, 8, 40, block == 1 ? 70 : block, 1, 2);
        products_of(t, 4, 17, block == 1 ? 33 : block, 5, 4);
        products_of(t, 3, 5, block == 1 ? 64 : block, ROWS, 1);
        products_of(t, 5, 20, block == 1 ? 40 : block, 10, 2);
        products_of(t, 16, 33, block == 1 ? 96 : block, 33, USED);
    }
    products_of(QN_Q4_0, 9, 128, 1024, 3, 3); /* large enough for eight bits to be all */
    products_of(QN_Q8_0, 2, 600, 1024, 20, 2);
}

static void test_products(void **state)
{
    (void)state;
    with_every_device(products);
}

/* A row's results do not depend on its company. */
static void company(void)
{
    struct qn_error e;
    struct qn_mem *mem;
    struct qn_tensor w = fresh(QN_SHAPE(8, 48, 256)), q;
    q = qn_scratch_tensor(scratch, QN_Q4_K, QN_SHAPE(8, 48, 256));
    qn_dtype(QN_Q4_K)->quant(cpu_data(&q), data(&w), 8 * 48 * 256);
    assert_int_equal(qn_weight_prepare(dev, &q, &mem, &e), 0);
    struct qn_tensor ids = random_ids(30, 4, 8), x = fresh(QN_SHAPE(120, 256));
    struct qn_tensor weights = fresh(QN_SHAPE(30, 4)), together = fresh(QN_SHAPE(30, 48));
    struct qn_tensor alone = fresh(QN_SHAPE(30, 48));
    qn_sum_experts(dev, &together, &x, &q, NULL, &ids, &weights);
    for (int r = 0; r < 30; r++) {
        struct qn_tensor y = qn_tensor_slice(&alone, 0, r, 1), i = qn_tensor_slice(&ids, 0, r, 1);
        struct qn_tensor own = qn_tensor_slice(&x, 0, 4 * r, 4);
        struct qn_tensor wr = qn_tensor_slice(&weights, 0, r, 1);
        qn_sum_experts(dev, &y, &own, &q, NULL, &i, &wr);
    }
    for (int i = 0; i < 30 * 48; i++) /* the kernels' widths may add up in another order */
        assert_true(fabsf(data(&together)[i] - data(&alone)[i]) <= 1e-4f);
    qn_mem_free(mem);
}

static void test_company(void **state)
{
    (void)state;
    with_every_device(company);
}

static void scale_rows(void)
{
    struct qn_tensor x = offset_view(9, 300), y = offset_view(9, 300), s = offset_view(9, 1);
    qn_scale_rows(dev, &y, &x, &s);
    for (int r = 0; r < 9; r++)
        for (int i = 0; i < 300; i++)
            assert_true(at(&y, r, i) == (float)(at(&x, r, i) * at(&s, r, 0)));
}

static void test_scale_rows(void **state)
{
    (void)state;
    with_every_device(scale_rows);
}

static void swiglu_clamped(void)
{
    struct qn_tensor g = offset_view(5, 300), u = offset_view(5, 300), y = offset_view(5, 300);
    for (int i = 0; i < 300; i++) { /* beyond both limits */
        ((float *)cpu_at(&g, 1, 0))[i] = (float)(i - 150) / 10;
        ((float *)cpu_at(&u, 1, 0))[i] = (float)(150 - i) / 9;
    }
    qn_swiglu_clamped(dev, &y, &g, &u, 1.702f, 7.0f);
    for (int r = 0; r < 5; r++)
        for (int i = 0; i < 300; i++) {
            double a = fmin(at(&g, r, i), 7), b = fmax(fmin(at(&u, r, i), 7), -7);
            double ref = a / (1 + exp(-1.702 * a)) * (b + 1);
            assert_true(fabs(at(&y, r, i) - ref) <= 2e-6 * fabs(ref) + 1e-6);
        }
}

static void test_swiglu_clamped(void **state)
{
    (void)state;
    with_every_device(swiglu_clamped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choices),        cmocka_unit_test(test_hostile_logits),
        cmocka_unit_test(test_products),       cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_company),        cmocka_unit_test(test_scale_rows),
        cmocka_unit_test(test_swiglu_clamped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
