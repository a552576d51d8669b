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
    for (int i = 0; i < 2; i++) {
        k.wide[i].begin = in_c_begin;
        k.wide[i].end = in_c_end;
    }
    k.wide[0].round = in_c_round;
    k.wide[0].tile = in_c_tile;
    k.wide[1].supported = cpu_has_bf16;
    k.wide[1].round = in_c_pairs_round;
    k.wide[1].tile = in_c_pairs_tile;
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
    int8_t a[16][64] = {{0}}, b[16][64] = {{0}};
    int32_t sum[16][16] = {{0}};
    (void)state;
    memcpy(a[0], (int8_t[]){1, -2, 3, -4}, 4);
    memcpy(&a[0][60], (int8_t[]){-128, 0, 0, 1}, 4);  /* depth 15 */
    memcpy(&b[0][4], (int8_t[]){5, 6, -7, -128}, 4);  /* meets depth 0, column 1 */
    memcpy(&b[15][4], (int8_t[]){-128, 9, 9, 10}, 4); /* meets depth 15, column 1 */
    memcpy(&a[15][8], (int8_t[]){2, 2, 2, 2}, 4);     /* row 15, depth 2 */
    memcpy(&b[2][60], (int8_t[]){1, 2, 3, 4}, 4);     /* depth 2, column 15 */
    sum[0][1] = 1000;
    sum[3][3] = -7;
    in_c_begin();
    in_c_bytes(sum, a, b);
    in_c_end();
    /* 5 - 12 - 21 + 512 = 484; 16384 + 10 = 16394 */
    assert_int_equal(sum[0][1], 1000 + 484 + 16394);
    assert_int_equal(sum[15][15], 2 + 4 + 6 + 8);
    assert_int_equal(sum[3][3], -7);
    assert_int_equal(sum[0][0] | sum[0][15] | sum[15][1], 0);
}

static void test_pairs_by_hand(void **state)
{
    uint16_t a[16][32] = {{0}}, b[16][32] = {{0}};
    float sum[16][16] = {{0}};
    (void)state;
    a[2][6] = qn_f32_to_bf16(1.5f); /* row 2, depth 3 */
    a[2][7] = qn_f32_to_bf16(-2);
    b[3][10] = qn_f32_to_bf16(4); /* depth 3, column 5 */
    b[3][11] = qn_f32_to_bf16(0.25f);
    sum[2][5] = 0.125f;
    in_c_begin();
    in_c_pairs(sum, a, b);
    in_c_end();
    assert_true(sum[2][5] == 0.125f + 6 - 0.5f);
    assert_true(sum[5][2] == 0 && sum[2][4] == 0);
}

/* ---- one pair of panels ---- */

enum { COLS_MAX = 3 * CPU_WIDE };

static float x[CPU_TILES_ROWS][COLS_MAX];
static char panel[2][COLS_MAX / CPU_WIDE * CPU_PAIRS_PANEL] __attribute__((aligned(64)));
static char group[COLS_MAX / CPU_WIDE * CPU_TILES_PAIRS_GROUP] __attribute__((aligned(64)));
static float y[CPU_TILES_ROWS + 1][2 * CPU_PANEL + 3]; /* of two panels side by side, and a rest */

/* A byte of a panel in wide form: row o, column i. */
static int8_t *byte_at(int p, int o, int i)
{
    char *wide = panel[p] + i / CPU_WIDE * CPU_WIDE_PANEL;
    return (int8_t *)wide + i % CPU_WIDE / 4 * 64 + 4 * o + i % 4;
}

static float *scale_at(int p, int o, int i)
{
    return (float *)(void *)(panel[p] + i / CPU_WIDE * CPU_WIDE_PANEL + 16 * CPU_WIDE) + o;
}

static uint16_t *half_at(int p, int o, int i)
{
    return (uint16_t *)(void *)panel[p] + i / 2 * 32 + 2 * o + i % 2;
}

static const float *const *fill_rows(const float *rows[CPU_TILES_ROWS])
{
    for (int r = 0; r < CPU_TILES_ROWS; r++) {
        rows[r] = x[r];
        for (int i = 0; i < COLS_MAX; i++)
            x[r][i] = r == 4 && i < CPU_WIDE ? 0 : uniform(); /* zeros must not divide */
    }
    return rows;
}

/* Each row's activations are rounded to 127 steps of their largest in 128 columns. */
static double rounded(int r, int i)
{
    float top = 0;
    for (int c = i / CPU_WIDE * CPU_WIDE; c < i / CPU_WIDE * CPU_WIDE + CPU_WIDE; c++)
        top = fmaxf(top, fabsf(x[r][c]));
    return top > 0 ? nearbyint((double)(x[r][i] * (127 / top))) * (double)top / 127 : 0;
}

/* Rows and columns that are not the tile's stay as they were: -1. */
static void multiply(const struct cpu_wide *form, int n, int cols, const char *ask,
                     const char *ask_end)
{
    for (int r = 0; r <= CPU_TILES_ROWS; r++)
        for (int o = 0; o < 2 * CPU_PANEL + 3; o++)
            y[r][o] = -1;
    form->begin();
    form->tile(&(struct cpu_tile){.y = y[0],
                                  .y_panel = CPU_PANEL,
                                  .y_row = 2 * CPU_PANEL + 3,
                                  .first = panel[0],
                                  .second = panel[1],
                                  .group = group,
                                  .n = n,
                                  .cols = cols,
                                  .ask = ask,
                                  .ask_end = ask_end});
    form->end();
    for (int r = 0; r <= CPU_TILES_ROWS; r++)
        for (int o = r < n ? 2 * CPU_PANEL : 0; o < 2 * CPU_PANEL + 3; o++)
            assert_true(y[r][o] == -1);
}

static void check_bytes(const struct cpu_wide *form, int n, int cols)
{
    const float *rows[CPU_TILES_ROWS];
    char asked[700];
    fill_rows(rows);
    for (int p = 0; p < 2; p++)
        for (int o = 0; o < CPU_PANEL; o++)
            for (int i = 0; i < cols; i++) {
                *byte_at(p, o, i) = (int8_t)(qn_rng_u64(&rng) % 255 - 127);
                *scale_at(p, o, i) = 0.01f * (1 + (float)o + (float)(i / CPU_WIDE));
            }
    memset(group, 0x7f, sizeof group);
    form->round(group, rows, n, cols);
    multiply(form, n, cols, asked, asked + sizeof asked);
    for (int p = 0; p < 2; p++)
        for (int r = 0; r < n; r++)
            for (int o = 0; o < CPU_PANEL; o++) {
                double want = 0, size = 1e-6;
                for (int i = 0; i < cols; i++) {
                    double v = rounded(r, i) * *byte_at(p, o, i) * (double)*scale_at(p, o, i);
                    want += v;
                    size += fabs(v);
                }
                if (!(fabs((double)y[r][CPU_PANEL * p + o] - want) <= 1e-6 * size))
                    fail_msg("%d rows, %d columns: panel %d row %d output %d is %g, not %g", n,
                             cols, p, r, o, (double)y[r][CPU_PANEL * p + o], want);
            }
}

static void check_pairs(const struct cpu_wide *form, int n, int cols)
{
    const float *rows[CPU_TILES_ROWS];
    fill_rows(rows);
    for (int p = 0; p < 2; p++)
        for (int o = 0; o < CPU_PANEL; o++)
            for (int i = 0; i < cols; i++)
                *half_at(p, o, i) = qn_f32_to_bf16(uniform());
    memset(group, 0x7f, sizeof group);
    form->round(group, rows, n, cols);
    multiply(form, n, cols, NULL, NULL);
    for (int p = 0; p < 2; p++)
        for (int r = 0; r < n; r++)
            for (int o = 0; o < CPU_PANEL; o++) {
                double want = 0, size = 1e-6;
                for (int i = 0; i < cols; i++) {
                    double v = (double)qn_bf16_to_f32(qn_f32_to_bf16(x[r][i])) *
                               (double)qn_bf16_to_f32(*half_at(p, o, i));
                    want += v;
                    size += fabs(v);
                }
                if (!(fabs((double)y[r][CPU_PANEL * p + o] - want) <= 1e-6 * size))
                    fail_msg("%d rows, %d columns: panel %d row %d output %d is %g, not %g", n,
                             cols, p, r, o, (double)y[r][CPU_PANEL * p + o], want);
            }
}

static void test_tiles(void **state)
{
    static const int some[] = {1, 2, 15, 16, 17, 31, 32};
    struct cpu_kernels c = set_in_c();
    (void)state;
    for (int i = 0; i < 7; i++)
        for (int cols = CPU_WIDE; cols <= COLS_MAX; cols += CPU_WIDE) {
            check_bytes(&c.wide[0], some[i], cols);
            if (cpu_has_bf16())
                check_pairs(&c.wide[1], some[i], cols);
            if (cpu_has_amx())
                check_bytes(&cpu_kernels_amx.wide[0], some[i], cols);
            if (cpu_has_amx_bf16())
                check_pairs(&cpu_kernels_amx.wide[1], some[i], cols);
        }
}

/* The start-up trial keeps them; where one fails, AVX-512's forms stand in. */
static void wrong_tile(const struct cpu_tile *t)
{
    in_c_tile(t);
    t->y[t->y_panel + (t->n - 1) * t->y_row + CPU_PANEL - 1] += 10;
}

static void no_begin(void)
{
    raise(SIGILL);
}

static void test_trial(void **state)
{
    struct cpu_kernels in_c = set_in_c(), out;
    (void)state;
    assert_int_equal(cpu_kernels_try(&in_c, &out), 0);
    assert_ptr_equal(out.wide[0].tile, in_c_tile);
    in_c.wide[0].tile = wrong_tile;
    in_c.wide[1].begin = no_begin;
    assert_int_equal(cpu_kernels_try(&in_c, &out), cpu_has_bf16() ? 2 : 1);
    assert_ptr_equal(out.wide[0].tile, cpu_kernels_avx512.wide[0].tile);
    if (cpu_has_bf16())
        assert_ptr_equal(out.wide[1].tile, cpu_kernels_avx512.wide[1].tile);
    assert_non_null(out.wide_panel[QN_Q4_0]);
}

/* ---- whole products ---- */

/* Matrices of one type, with a bias and onto what is there, by two sets: the same to the bit for
 * blocks, whose roundings and order of additions are the same, and nearly so for BF16. */
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
        if (!(fabs(a - b) <= (d->block > 1 ? 0 : 1e-4)))
            fail_msg("%s, %d rows: row %d output %d is %.9g, with AVX-512 %.9g", d->name, (int)rows,
                     (int)(i / out / 2), (int)(i % (2 * out)), b, a);
    }
    free(result[0]);
    free(result[1]);
}

/* A mixture of two experts, of 40 and 23 rows, likewise. */
static void check_experts(enum qn_dtype type)
{
    enum { N = 63, OUT = 515, COLS = 1056 };
    const struct cpu_kernels in_c = set_in_c();
    const struct qn_reserve need = {
        .rows = N, .cols = COLS, .experts_cols = COLS, .experts = 2, .experts_used = 1};
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
        struct qn_tensor in = qn_scratch_tensor(scratch, QN_F32, QN_SHAPE(N, COLS));
        struct qn_tensor to = qn_scratch_tensor(scratch, QN_F32, QN_SHAPE(N, OUT));
        struct qn_tensor one = qn_scratch_tensor(scratch, QN_F32, QN_SHAPE(17, COLS));
        struct qn_tensor ids = qn_scratch_tensor(scratch, QN_I32, QN_SHAPE(N, 1));
        struct qn_tensor w = qn_scratch_tensor(scratch, type, QN_SHAPE(2, OUT, COLS));
        for (int64_t i = 0; i < N * COLS; i++)
            ((float *)cpu_data(&in))[i] = uniform();
        for (int64_t i = 0; i < 17 * COLS; i++)
            ((float *)cpu_data(&one))[i] = uniform();
        for (int i = 0; i < N; i++)
            ((int32_t *)cpu_data(&ids))[i] = i % 2 && i < 46;
        for (int64_t o = 0; o < 2 * OUT; o++)
            qn_dtype(type)->quant((char *)cpu_data(&w) + (size_t)o * (size_t)w.stride[1],
                                  cpu_at(&one, o % 17, 0), COLS);
        struct qn_mem *mem;
        assert_int_equal(qn_weight_prepare(dev, &w, &mem, &e), QN_OK);
        qn_sum_experts(dev, &to, &in, &w, NULL, &ids, NULL);
        result[side] = malloc(sizeof(float) * N * OUT);
        assert_non_null(result[side]);
        memcpy(result[side], cpu_data(&to), sizeof(float) * N * OUT);
        cpu(dev)->k = was;
        qn_mem_free(mem);
        qn_scratch_free(scratch);
        qn_device_free(dev);
    }
    for (int64_t i = 0; i < N * OUT; i++) {
        const double a = (double)result[0][i], b = (double)result[1][i];
        if (!(fabs(a - b) <= (qn_dtype(type)->block > 1 ? 0 : 1e-4)))
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
    static const enum qn_dtype types[] = {QN_Q4_0, QN_Q8_0, QN_Q4_K, QN_Q6_K, QN_F16, QN_BF16};
    static const int64_t rows[] = {48, 49, 63, 64, 65, 95};
    (void)state;
    setenv("QUINCE_ISA", "avx512", 1);
    for (int i = 0; i < 6; i++)
        if (qn_dtype(types[i])->block > 1 || cpu_has_bf16())
            check_products(types[i], rows[i], 1041, 1024);
    check_products(QN_Q8_0, 50, 8200, 160); /* tiles of 128 columns, filled up */
    unsetenv("QUINCE_ISA");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_by_hand), cmocka_unit_test(test_pairs_by_hand),
        cmocka_unit_test(test_tiles),         cmocka_unit_test(test_trial),
        cmocka_unit_test(test_products),      cmocka_unit_test(test_experts),
    };
    if (!cpu_kernels_avx512.supported()) {
        printf("this processor has no AVX-512, which the kernels of tiles round and add up with\n");
        return 0;
    }
    qn_rng_init(&rng, 3);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
