/* Element types: blocks written by hand from the format's description, the half formats over all
 * bit patterns, rounding errors of each type within its step, and panels that hold what the file
 * held. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rand.h"
#include "engine/cpu/pack.h"
#include "engine/dtype.h"

static void test_halves(void **state)
{
    (void)state;
    assert_true(qn_f16_to_f32(0x3c00) == 1 && qn_f16_to_f32(0xc000) == -2);
    assert_true(qn_f16_to_f32(0x7bff) == 65504 && qn_f16_to_f32(0x0001) == 0x1p-24f);
    assert_true(qn_f16_to_f32(0x7c00) == INFINITY && isnan(qn_f16_to_f32(0x7e00)));
    for (uint32_t h = 0; h < 65536; h++) { /* every half survives the way through f32 */
        float f = qn_f16_to_f32((uint16_t)h);
        if (isnan(f))
            assert_true(isnan(qn_f16_to_f32(qn_f32_to_f16(f))));
        else
            assert_int_equal(qn_f32_to_f16(f), h);
        float b = qn_bf16_to_f32((uint16_t)h);
        if (isnan(b))
            assert_true(isnan(qn_bf16_to_f32(qn_f32_to_bf16(b))));
        else
            assert_int_equal(qn_f32_to_bf16(b), h);
        if (h < 0x7bff) { /* between neighbours: to the nearer, a tie to the even one */
            float g = qn_f16_to_f32((uint16_t)(h + 1)), mid = (f + g) / 2;
            assert_int_equal(qn_f32_to_f16(mid), h + (h & 1));
            assert_int_equal(qn_f32_to_f16(nextafterf(mid, f)), h);
            assert_int_equal(qn_f32_to_f16(nextafterf(mid, g)), h + 1);
        }
    }
    assert_int_equal(qn_f32_to_f16(65519.996f), 0x7bff);
    assert_int_equal(qn_f32_to_f16(65520), 0x7c00);
    assert_int_equal(qn_f32_to_f16(1e30f), 0x7c00);
    assert_int_equal(qn_f32_to_f16(1e-30f), 0);
    assert_int_equal(qn_f32_to_bf16(1.00390625f), 0x3f80); /* halfway, to even */
    assert_int_equal(qn_f32_to_bf16(1.01171875f), 0x3f82);
}

static void put_half(unsigned char *p, float f)
{
    uint16_t h = qn_f32_to_f16(f);
    p[0] = (unsigned char)h;
    p[1] = (unsigned char)(h >> 8);
}

static void test_blocks_by_hand(void **state)
{
    unsigned char b[256];
    float x[256];
    (void)state;

    memset(b, 0, sizeof b); /* Q8_0: d = 0.5, q = -128, 127, 1 */
    put_half(b, 0.5f);
    b[2] = 0x80, b[3] = 127, b[33] = 1;
    qn_dtype(QN_Q8_0)->dequant(x, b, 32);
    assert_true(x[0] == -64 && x[1] == 63.5f && x[2] == 0 && x[31] == 0.5f);

    memset(b, 0, sizeof b); /* Q4_0: byte 3 holds weights 3 (low) and 19 (high) */
    put_half(b, 2);
    b[2 + 3] = 0xf1;
    qn_dtype(QN_Q4_0)->dequant(x, b, 32);
    assert_true(x[3] == 2 * (1 - 8) && x[19] == 2 * (15 - 8) && x[0] == -16);

    /* Q4_K: d = 1, dmin = 0.5. Group 1: scale 5, minimum 7 (bytes 1, 5). Group 6: scale 0x2a,
     * minimum 0x15: low nibbles in byte 10, high bits on top of bytes 2 and 6. */
    memset(b, 0, sizeof b);
    put_half(b, 1);
    put_half(b + 2, 0.5f);
    b[4 + 1] = 5, b[4 + 5] = 7;
    b[4 + 10] = 0xa | 5 << 4, b[4 + 2] = 2 << 6, b[4 + 6] = 1 << 6;
    b[16 + 9] = 0x30;      /* group 1, weight 9: code 3 */
    b[16 + 96 + 31] = 0xd; /* group 6, weight 31: code 13 */
    qn_dtype(QN_Q4_K)->dequant(x, b, 256);
    assert_true(x[32 + 9] == 5 * 3 - 0.5f * 7 && x[32] == -0.5f * 7);
    assert_true(x[192 + 31] == 0x2a * 13 - 0.5f * 0x15 && x[0] == 0);

    memset(b, 0,
           sizeof b); /* Q5_K: the same head; bit g of byte 16 + i is the fifth bit of group g */
    put_half(b, 1);
    put_half(b + 2, 0.5f);
    b[4 + 1] = 5, b[4 + 5] = 7;
    b[48 + 9] = 0x30, b[16 + 9] = 2;
    qn_dtype(QN_Q5_K)->dequant(x, b, 256);
    assert_true(x[32 + 9] == 5 * 19 - 0.5f * 7 && x[9] == 0);

    memset(
        b, 0,
        sizeof b); /* Q6_K: weight 128 + 70 is run 2 of the second half: high nibble, bits 4, 5 */
    put_half(b + 208, 0.25f);
    b[192 + 198 / 16] = (unsigned char)-3;
    b[64 + 6] = 0x90;
    b[128 + 32 + 6] = 2 << 4;
    qn_dtype(QN_Q6_K)->dequant(x, b, 256);
    assert_true(x[198] == 0.25f * -3 * (0x29 - 32) && x[199] == 0.25f * -3 * -32 && x[0] == 0);
}

/* Error after one way through the type, relative to the largest of the 32 around it. */
static void test_rounding(void **state)
{
    static const double most[QN_DTYPE_COUNT] = {
        [QN_F32] = 0,         [QN_F16] = 0x1p-11,   [QN_BF16] = 0x1p-8,   [QN_Q8_0] = 0.51 / 127,
        [QN_Q4_0] = 1.05 / 8, [QN_Q4_K] = 1.3 / 15, [QN_Q5_K] = 1.0 / 15, [QN_Q6_K] = 1.2 / 32,
    };
    struct qn_rng rng;
    float x[1024], y[1024];
    unsigned char b[4096];
    (void)state;
    qn_rng_init(&rng, 3);
    for (int i = 0; i < 1024; i++)
        x[i] = (float)(int64_t)(qn_rng_u64(&rng) >> 32) / 4294967296.0f * 2 - 1;
    memset(x + 512, 0, 256 * sizeof *x); /* a block of zeros stays one */
    for (int t = 0; t < QN_DTYPE_COUNT; t++) {
        const struct qn_dtype_info *d = qn_dtype(t);
        assert_ptr_equal(qn_dtype_by_ggml(d->ggml), d);
        assert_int_equal(qn_dtype_of(d), t);
        assert_string_equal(qn_ggml_type_name(d->ggml), d->name);
        if (!d->dequant)
            continue;
        d->quant(b, x, 1024);
        d->dequant(y, b, 1024);
        for (int i = 0; i < 1024; i++)
            if (!(fabs(y[i] - x[i]) <= most[t] * 1.0) || (x[i] == 0 && y[i] != 0))
                fail_msg("%s: %g became %g", d->name, (double)x[i], (double)y[i]);
    }
    assert_null(qn_dtype_by_ggml(10));
    assert_string_equal(qn_ggml_type_name(10), "Q2_K");
    assert_string_equal(qn_ggml_type_name(4711), "number 4711");
}

/* Codes are what the file's nibbles and bits mean: d·code - offset gives back the weights. */
static void test_codes(void **state)
{
    unsigned char b[256];
    uint8_t codes[32];
    float x[256], y[256];
    (void)state;
    for (int i = 0; i < 256; i++)
        x[i] = (float)((i * 97) % 251 - 125);
    for (int t = 0; t < QN_DTYPE_COUNT; t++) {
        const struct qn_dtype_info *d = qn_dtype(t);
        if (d->block == 1)
            continue;
        d->quant(b, x, d->block);
        d->dequant(y, b, d->block);
        for (int g = 0; g < d->block / 32; g++) {
            d->codes(codes, b, g);
            /* Within sixteen weights of one scale, weights and codes are on one line. */
            for (int half = 0; half < 2; half++) {
                const float *w = y + 32 * g + 16 * half;
                const uint8_t *c = codes + 16 * half;
                int lo = 0, hi = 0;
                for (int i = 0; i < 16; i++) {
                    lo = c[i] < c[lo] ? i : lo;
                    hi = c[i] > c[hi] ? i : hi;
                }
                assert_true(c[hi] > c[lo]);
                double step = (double)(w[hi] - w[lo]) / (c[hi] - c[lo]);
                for (int i = 0; i < 16; i++)
                    assert_true(fabs(w[lo] + step * (c[i] - c[lo]) - w[i]) < 1e-3);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_blocks_by_hand),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
