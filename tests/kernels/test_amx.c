/* Products in tiles (AMX). This machine's processor need not have them: the kernels are compiled
 * over instructions stated in C as well (amx_in_c.h), and every layout, edge and sum is tested with
 * those, alone and in whole products, against double precision and against AVX-512. Where there are
 * tiles, the processor's are tested beside them. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "amx_in_c.h"
#include "base/rand.h"
#include "engine/cpu/amx.h"
#include "engine/scratch.h"

static struct qn_rng rng;

/* The set with tiles in C in place of the processor's. */
static struct cpu_kernels set_in_c(void)
{
    struct cpu_kernels k = cpu_kernels_amx;
    k.name = "amx in C";
    k.wide.begin = in_c_begin;
    k.wide.end = in_c_end;
    k.wide.tile = in_c_tile;
    return k;
}

static float uniform(void)
{
    return (float)(qn_rng_u64(&rng) >> 40) / 8388608.0f - 1.0f;
}

/* ---- the instructions ---- */

/* Row 0 of a holds 1, -2, 3, -4 in its first element; element [0][1] of b 5, 6, -7, -128, and so
 * on: products added up by hand. */
static void test_bytes_by_hand(void **state)
{
    int8_t a[16][32] = {{0}}, b[8][64] = {{0}};
    int32_t sum[16][16] = {{0}};
    (void)state;
    memcpy(a[0], (int8_t[]){1, -2, 3, -4}, 4);
    memcpy(&a[0][28], (int8_t[]){-128, 0, 0, 1}, 4); /* depth 7 */
    memcpy(&b[0][4], (int8_t[]){5, 6, -7, -128}, 4); /* meets depth 0, column 1 */
    memcpy(&b[7][4], (int8_t[]){-128, 9, 9, 10}, 4); /* meets depth 7, column 1 */
    memcpy(&a[15][8], (int8_t[]){2, 2, 2, 2}, 4);    /* row 15, depth 2 */
    memcpy(&b[2][60], (int8_t[]){1, 2, 3, 4}, 4);    /* depth 2, column 15 */
    sum[0][1] = 1000;
    sum[3][3] = -7;
    in_c_begin(QN_Q4_0);
    in_c_bytes(sum, a, b);
    in_c_end();
    /* 5 - 12 - 21 + 512 = 484; 16384 + 10 = 16394 */
    assert_int_equal(sum[0][1], 1000 + 484 + 16394);
    assert_int_equal(sum[15][15], 2 + 4 + 6 + 8);
    assert_int_equal(sum[3][3], -7);
    assert_int_equal(sum[0][0] | sum[0][15] | sum[15][1], 0);
}

/* ---- one pair of panels ---- */

enum { COLS_MAX = 3 * 256, N = CPU_WIDE_ROWS };

static float x[N][COLS_MAX];
static float weights[2 * CPU_PANEL][COLS_MAX];
static char file[2 * CPU_PANEL * COLS_MAX * 4], panel[2][CPU_PANEL * COLS_MAX * 4];
static char wide[2][CPU_ALIGN + COLS_MAX / 32 * CPU_WIDE_UNIT_MAX] __attribute__((aligned(64)));
static char group[2][COLS_MAX / 32 * ACT_BYTES(N)] __attribute__((aligned(64)));
static char single[2][COLS_MAX / 32 * ACT_BYTES(1)] __attribute__((aligned(64)));
static float y[N + 1][2 * CPU_PANEL + 3]; /* of two panels side by side, and a rest */

/* Weights and activations of `cols` columns, in all layouts. */
static void make_inputs(const struct cpu_kernels *k, enum qn_dtype type, int n, int cols)
{
    const struct qn_dtype_info *d = qn_dtype(type);
    const size_t row = qn_dtype_bytes(d, cols);
    for (int o = 0; o < 2 * CPU_PANEL; o++) {
        for (int i = 0; i < cols; i++)
            weights[o][i] = uniform();
        d->quant(file + (size_t)o * row, weights[o], cols);
    }
    const float *rows[N];
    for (int r = 0; r < N; r++) {
        rows[r] = x[r];
        for (int i = 0; i < cols; i++)
            x[r][i] = r == 4 && i < 32 ? 0 : uniform(); /* zeros must not divide */
    }
    for (int p = 0; p < 2; p++) {
        cpu_pack_panel(type, panel[p], file + (size_t)(p * CPU_PANEL) * row, row, CPU_PANEL, cols);
        if (cpu_head_bytes(type))
            cpu_panel_set_factor(panel[p], 0.7f);
        k->wide_panel[type](wide[p], panel[p], cols);
    }
    memset(group, 0x7f, sizeof group);
    k->round(group[0], N, rows, n, cols);
    k->rest(group[1], group[0], N, rows, n, cols);
    for (int i = 0; i < 2 && k->wide.ready; i++)
        k->wide.ready(group[i], cols);
}

/* What one row of activations gives with a panel in the kernels of one row. */
static void row_alone(const struct cpu_kernels *k, enum qn_dtype type, float *out, int p,
                      const float *from, int cols, bool rest)
{
    float more[CPU_PANEL];
    k->round(single[0], 1, &from, 1, cols);
    k->rest(single[1], single[0], 1, &from, 1, cols);
    if (rest && type == QN_Q8_0) {
        k->both[0](out, panel[p], single[0], single[1], cols);
        return;
    }
    k->panel[type][0](out, panel[p], single[0], cols);
    k->panel[type][0](more, panel[p], single[1], cols);
    for (int i = 0; i < CPU_PANEL && rest; i++)
        out[i] += more[i];
}

static void check_tile(const struct cpu_kernels *k, enum qn_dtype type, int n, int cols, bool rest)
{
    static const char asked[700];
    make_inputs(k, type, n, cols);
    for (int r = 0; r <= N; r++)
        for (int o = 0; o < 2 * CPU_PANEL + 3; o++)
            y[r][o] = -1;
    if (k->wide.begin)
        k->wide.begin(type);
    k->wide.tile(&(struct cpu_tile){.y = y[0],
                                    .y_panel = CPU_PANEL,
                                    .y_row = 2 * CPU_PANEL + 3,
                                    .type = type,
                                    .first = wide[0],
                                    .second = wide[1],
                                    .group = group[0],
                                    .rest = rest ? group[1] : NULL,
                                    .n = n,
                                    .cols = cols,
                                    .ask = asked,
                                    .ask_end = asked + sizeof asked});
    if (k->wide.end)
        k->wide.end();
    for (int r = 0; r <= N; r++)
        for (int o = r < n ? 2 * CPU_PANEL : 0; o < 2 * CPU_PANEL + 3; o++)
            assert_true(y[r][o] == -1); /* not the tile's */
    for (int r = 0; r < n; r++)
        for (int o = 0; o < 2 * CPU_PANEL; o++) {
            float want[CPU_PANEL];
            row_alone(k, type, want, o / CPU_PANEL, x[r], cols, rest);
            const float sum = want[o % CPU_PANEL];
            if (sum != y[r][o])
                fail_msg("%s, %s, %d rows, %d columns: row %d output %d is %.9g, alone %.9g",
                         k->name, qn_dtype(type)->name, n, cols, r, o, (double)y[r][o],
                         (double)sum);
        }
}

/* In tiles, of AMX and of AVX-512, a row gets the bits that it gets alone, of every type. */
static void test_tiles(void **state)
{
    static const int some[] = {1, 13, 16};
    const struct cpu_kernels c = set_in_c();
    (void)state;
    for (int t = 0; t < QN_DTYPE_COUNT; t++) {
        const struct qn_dtype_info *d = qn_dtype(t);
        if (!d->dequant || d->block == 1)
            continue;
        for (int i = 0; i < 3; i++) {
            const int cols = d->block == 256 ? 512 : d->block * (i + 4) + 32 % d->block;
            check_tile(&c, t, some[i], cols, i == 1 || t == QN_Q8_0);
            check_tile(&cpu_kernels_avx512, t, some[i], cols, i == 1 || t == QN_Q8_0);
            if (cpu_has_amx())
                check_tile(&cpu_kernels_amx, t, some[i], cols, i == 1);
        }
    }
}

/* The start-up trial keeps them; where one fails, panels stand in. */
static void wrong_tile(const struct cpu_tile *t)
{
    in_c_tile(t);
    t->y[t->y_panel + (t->n - 1) * t->y_row + CPU_PANEL - 1] += 10;
}

static void bad_begin(enum qn_dtype type)
{
    if (type == QN_Q4_K)
        raise(SIGILL);
    in_c_begin(type);
}

static void wrong_plain_tile(const struct cpu_tile *t)
{
    cpu_kernels_avx512.plain_tile(t);
    t->y[t->y_panel + (t->n - 1) * t->y_row] += 10;
}

static void test_trial(void **state)
{
    struct cpu_kernels in_c = set_in_c(), out;
    (void)state;
    assert_int_equal(cpu_kernels_try(&in_c, &out), 0);
    assert_ptr_equal(out.wide.tile, in_c_tile);
    in_c.wide.begin = bad_begin;
    assert_int_equal(cpu_kernels_try(&in_c, &out), 1);
    assert_null(out.wide_panel[QN_Q4_K]);
    assert_non_null(out.wide_panel[QN_Q4_0]);
    in_c.wide.tile = wrong_tile;
    in_c.plain_tile = wrong_plain_tile;
    cpu_kernels_try(&in_c, &out);
    for (int t = 0; t < QN_DTYPE_COUNT; t++)
        assert_null(out.wide_panel[t]);
    assert_null(out.plain_tile);
}

/* ---- whole products ---- */

/* Matrices of one type, with a bias and onto what is there, by two sets: the same to the bit, for
 * roundings and the order of additions are the same. */
static void check_products(enum qn_dtype type, int64_t rows, int64_t out, int64_t cols)
{
    const struct cpu_kernels in_c = set_in_c();
    const struct qn_dtype_info *d = qn_dtype(type);
    struct qn_device *dev;
    struct qn_scratch *scratch;
    struct qn_error e;
    float *result[2];
    for (int side = 0; side < 2; side++) {
        qn_rng_init(&rng, 5);
        assert_int_equal(qn_device_cpu_new(2, &dev, &e), QN_OK);
        const struct cpu_kernels *was = cpu(dev)->k;
        if (side)
            cpu(dev)->k = &in_c;
        assert_int_equal(
            qn_device_reserve(dev, &(struct qn_reserve){.rows = rows, .cols = cols}, &e), QN_OK);
        assert_int_equal(qn_scratch_new(dev, 48 << 20, &scratch, &e), QN_OK);
        struct qn_tensor in = qn_scratch_tensor(scratch, QN_F32, QN_SHAPE(rows, cols));
        struct qn_tensor bias = qn_scratch_tensor(scratch, QN_F32, QN_SHAPE(out));
        struct qn_tensor one = qn_scratch_tensor(scratch, QN_F32, QN_SHAPE(17, cols));
        struct qn_tensor w = qn_scratch_tensor(scratch, type, QN_SHAPE(out, cols));
        struct qn_tensor both = qn_scratch_tensor(scratch, QN_F32, QN_SHAPE(rows, 2 * out));
        struct qn_tensor to = qn_tensor_slice(&both, 1, 0, out);
        struct qn_tensor plain = qn_tensor_slice(&both, 1, out, out);
        for (int64_t i = 0; i < rows * cols; i++)
            ((float *)cpu_data(&in))[i] = uniform();
        for (int64_t i = 0; i < out; i++)
            ((float *)cpu_data(&bias))[i] = uniform();
        for (int64_t i = 0; i < 17 * cols; i++)
            ((float *)cpu_data(&one))[i] = uniform();
        for (int64_t o = 0; o < out; o++)
            d->quant(cpu_at(&w, o, 0), cpu_at(&one, o % 17, 0), cols);
        struct qn_mem *mem;
        assert_int_equal(qn_weight_prepare(dev, &w, &mem, &e), QN_OK);
        const struct qn_linear two[] = {{&to, &w, &bias}, {&plain, &w, NULL}};
        qn_matmul_many(dev, &in, two, 2);
        qn_matmul_onto(dev, &to, &in, &w, -0.5f);
        result[side] = malloc(sizeof(float) * (size_t)(rows * 2 * out));
        assert_non_null(result[side]);
        memcpy(result[side], cpu_data(&both), sizeof(float) * (size_t)(rows * 2 * out));
        cpu(dev)->k = was;
        qn_mem_free(mem);
        qn_scratch_free(scratch);
        qn_device_free(dev);
    }
    for (int64_t i = 0; i < rows * 2 * out; i++) {
        const double a = (double)result[0][i], b = (double)result[1][i];
        if (a != b)
            fail_msg("%s, %d rows: row %d output %d is %.9g, with AVX-512 %.9g", d->name, (int)rows,
                     (int)(i / out / 2), (int)(i % (2 * out)), b, a);
    }
    free(result[0]);
    free(result[1]);
}

/* A mixture of two experts, of 40 and 23 rows, likewise. */
static void check_experts(enum qn_dtype type)
{
    enum { ROWS = 63, OUT = 515, COLS = 1056 };
    const struct cpu_kernels in_c = set_in_c();
    const struct qn_reserve need = {
        .rows = ROWS, .cols = COLS, .experts_cols = COLS, .experts = 2, .experts_used = 1};
    struct qn_device *dev;
    struct qn_scratch *scratch;
    struct qn_error e;
    float *result[2];
    for (int side = 0; side < 2; side++) {
        qn_rng_init(&rng, 6);
        assert_int_equal(qn_device_cpu_new(2, &dev, &e), QN_OK);
        const struct cpu_kernels *was = cpu(dev)->k;
        if (side)
            cpu(dev)->k = &in_c;
        assert_int_equal(qn_device_reserve(dev, &need, &e), QN_OK);
        assert_int_equal(qn_scratch_new(dev, 48 << 20, &scratch, &e), QN_OK);
        struct qn_tensor in = qn_scratch_tensor(scratch, QN_F32, QN_SHAPE(ROWS, COLS));
        struct qn_tensor to = qn_scratch_tensor(scratch, QN_F32, QN_SHAPE(ROWS, OUT));
        struct qn_tensor one = qn_scratch_tensor(scratch, QN_F32, QN_SHAPE(17, COLS));
        struct qn_tensor ids = qn_scratch_tensor(scratch, QN_I32, QN_SHAPE(ROWS, 1));
        struct qn_tensor w = qn_scratch_tensor(scratch, type, QN_SHAPE(2, OUT, COLS));
        for (int64_t i = 0; i < ROWS * COLS; i++)
            ((float *)cpu_data(&in))[i] = uniform();
        for (int64_t i = 0; i < 17 * COLS; i++)
            ((float *)cpu_data(&one))[i] = uniform();
        for (int i = 0; i < ROWS; i++)
            ((int32_t *)cpu_data(&ids))[i] = i % 2 && i < 46;
        for (int64_t o = 0; o < 2 * OUT; o++)
            qn_dtype(type)->quant((char *)cpu_data(&w) + (size_t)o * (size_t)w.stride[1],
                                  cpu_at(&one, o % 17, 0), COLS);
        struct qn_mem *mem;
        assert_int_equal(qn_weight_prepare(dev, &w, &mem, &e), QN_OK);
        qn_sum_experts(dev, &to, &in, &w, NULL, &ids, NULL);
        result[side] = malloc(sizeof(float) * ROWS * OUT);
        assert_non_null(result[side]);
        memcpy(result[side], cpu_data(&to), sizeof(float) * ROWS * OUT);
        cpu(dev)->k = was;
        qn_mem_free(mem);
        qn_scratch_free(scratch);
        qn_device_free(dev);
    }
    for (int64_t i = 0; i < ROWS * OUT; i++) {
        const double a = (double)result[0][i], b = (double)result[1][i];
        if (a != b)
            fail_msg("%s: row %d output %d is %.9g, with AVX-512 %.9g", qn_dtype(type)->name,
                     (int)(i / OUT), (int)(i % OUT), b, a);
    }
    free(result[0]);
    free(result[1]);
}

static void test_experts(void **state)
{
    (void)state;
    setenv("QUINCE_ISA", "avx512", 1);
    check_experts(QN_Q4_0);
    unsetenv("QUINCE_ISA");
}

static void test_products(void **state)
{
    static const enum qn_dtype types[] = {QN_Q4_0, QN_Q8_0, QN_Q4_K, QN_Q6_K, QN_Q2_K};
    static const int64_t rows[] = {12, 16, 17, 31, 50};
    (void)state;
    setenv("QUINCE_ISA", "avx512", 1);
    for (int i = 0; i < 5; i++)
        check_products(types[i], rows[i], 1041, 1024);
    check_products(QN_Q4_0, 20, 70, 96); /* small: what rounding leaves over is multiplied, too */
    unsetenv("QUINCE_ISA");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_by_hand), cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_trial),         cmocka_unit_test(test_products),
        cmocka_unit_test(test_experts),
    };
    if (!cpu_kernels_avx512.supported()) {
        printf("this processor has no AVX-512, which the kernels of tiles round and add up with\n");
        return 0;
    }
    qn_rng_init(&rng, 3);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
