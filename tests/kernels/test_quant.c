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

static void test_low_bits_by_hand(void **state)
{
    unsigned char b[256];
    float x[256];
    (void)state;

    memset(b, 0, sizeof b); /* Q4_1: d = 2, m = -1 */
    put_half(b, 2);
    put_half(b + 2, -1);
    b[4 + 3] = 0xf1;
    qn_dtype(QN_Q4_1)->dequant(x, b, 32);
    assert_true(x[3] == 1 && x[19] == 29 && x[0] == -1);

    memset(b, 0, sizeof b); /* Q5_0: bit 17 of the four bytes is the fifth bit of weight 17 */
    put_half(b, 2);
    b[2 + 2] = 2, b[6 + 1] = 0x30;
    qn_dtype(QN_Q5_0)->dequant(x, b, 32);
    assert_true(x[17] == 2 * (19 - 16) && x[1] == -32 && x[16] == -32);

    memset(b, 0, sizeof b); /* Q5_1 */
    put_half(b, 0.5f);
    put_half(b + 2, 4);
    b[4 + 3] = 0x80, b[8 + 15] = 0xa0;
    qn_dtype(QN_Q5_1)->dequant(x, b, 32);
    assert_true(x[31] == 0.5f * 26 + 4 && x[15] == 4);

    memset(b, 0, sizeof b); /* Q2_K: weight 200 is the second half's run 2: bits 4, 5 */
    put_half(b + 80, 0.5f);
    put_half(b + 82, 0.25f);
    b[200 / 16] = 0x5b, b[16 + 32 + 8] = 0x30;
    qn_dtype(QN_Q2_K)->dequant(x, b, 256);
    assert_true(x[200] == 0.5f * 11 * 3 - 0.25f * 5 && x[201] == -1.25f && x[72] == 0);

    memset(b, 0, sizeof b); /* Q3_K: weight 77 is run 2; its scale, 42 - 32, is number 4 */
    put_half(b + 108, 0.5f);
    b[96 + 4] = 0x0a, b[96 + 8] = 2 << 2;
    b[32 + 13] = 2 << 4, b[13] = 1 << 2;
    qn_dtype(QN_Q3_K)->dequant(x, b, 256);
    assert_true(x[77] == 0.5f * 10 * 2 && x[78] == 0.5f * 10 * -4 && x[0] == 0.5f * -32 * -4);

    memset(b, 0, sizeof b); /* IQ4_NL */
    put_half(b, 0.25f);
    b[2 + 5] = 0x0f;
    qn_dtype(QN_IQ4_NL)->dequant(x, b, 32);
    assert_true(x[5] == 0.25f * 113 && x[21] == 0.25f * -127);

    memset(b, 0, sizeof b); /* IQ4_XS: scale of group 3 is 37 - 32 */
    put_half(b, 2);
    b[2] = 2 << 6, b[4 + 1] = 5 << 4, b[8 + 48 + 2] = 0x90;
    qn_dtype(QN_IQ4_XS)->dequant(x, b, 256);
    assert_true(x[96 + 2] == 10 * -127 && x[96 + 18] == 10 * 13 && x[0] == -64 * -127);

    memset(b, 0, sizeof b); /* MXFP4: 2^1; 0xd is -3, 7 is 6, 1 is a half */
    b[0] = 128, b[1] = 0x7d, b[2] = 1;
    qn_dtype(QN_MXFP4)->dequant(x, b, 32);
    assert_true(x[0] == -6 && x[16] == 12 && x[1] == 1 && x[31] == 0);

    memset(b, 0, sizeof b); /* NVFP4: 0x41 is 2·(1 + 1/8), 0x02 is 2/8·2^-6; 0xe is -4, 2 is 1 */
    b[2] = 0x41, b[4 + 16 + 3] = 0x2e;
    b[0] = 0x02, b[4] = 0x02;
    qn_dtype(QN_NVFP4)->dequant(x, b, 64);
    assert_true(x[35] == -9 && x[43] == 2.25f && x[0] == 0.00390625f && x[63] == 0);

    memset(b, 0, sizeof b); /* TQ2_0: weight 229 is the second half's run 3 */
    put_half(b + 64, 3);
    b[32 + 5] = 0x80;
    qn_dtype(QN_TQ2_0)->dequant(x, b, 256);
    assert_true(x[229] == 3 && x[101] == -3 && x[197] == -3);

    memset(b, 0, sizeof b); /* TQ1_0: 0.2012 in base three is 177/243: 187/256, rounded up */
    put_half(b + 52, 3);
    b[50] = 187;
    qn_dtype(QN_TQ1_0)->dequant(x, b, 256);
    assert_true(x[242] == 3 && x[246] == -3 && x[250] == 0 && x[254] == 3 && x[0] == -3);
}

/* Grids begin, lowest digit first: 0, 2, 11, 02, 22 of three (IQ2, IQ1), 0, 2, 4, 11 of eight
 * (IQ3_XXS), 0, 1, 2, 5, 7, 01 of eight (IQ3_S). */
static void test_grids_by_hand(void **state)
{
    unsigned char b[256];
    float x[256];
    (void)state;

    memset(b, 0, sizeof b); /* IQ2_XXS: 8·(2·3 + 1)/8 = 7; one sign given, the eighth follows */
    put_half(b, 8);
    b[2] = 2, b[6] = 2, b[9] = 3 << 4;
    qn_dtype(QN_IQ2_XXS)->dequant(x, b, 256);
    assert_true(x[0] == 7 * 25 && x[1] == 7 * -25 && x[2] == 7 * 8 && x[7] == 7 * -8);
    assert_true(x[8] == 7 * 8 && x[32] == 8);

    memset(b, 0, sizeof b); /* IQ2_XS: point 1 with two signs; scale 2 of the second 16 */
    put_half(b, 8);
    b[2 + 4] = 1, b[2 + 5] = 3 << 1, b[66] = 2 << 4;
    qn_dtype(QN_IQ2_XS)->dequant(x, b, 256);
    assert_true(x[16] == 5 * -43 && x[17] == 5 * -8 && x[23] == 5 * 8 && x[0] == 8);

    memset(b, 0, sizeof b); /* IQ2_S: point 4 as 22; signs stand apart; scale 1 of the last 16 */
    put_half(b, 8);
    b[2 + 31] = 4, b[34 + 31] = 0x80, b[74 + 7] = 1 << 4;
    qn_dtype(QN_IQ2_S)->dequant(x, b, 256);
    assert_true(x[248] == 3 * 43 && x[249] == 3 * 43 && x[250] == 3 * 8 && x[255] == 3 * -8);

    memset(b, 0, sizeof b); /* IQ3_XXS: point 3 as the second four; 4·(2·1 + 1)/4 */
    put_half(b, 4);
    b[3] = 3, b[66] = 1 << 4, b[69] = 1 << 4;
    qn_dtype(QN_IQ3_XXS)->dequant(x, b, 256);
    assert_true(x[4] == 3 * -12 && x[5] == 3 * 12 && x[6] == 3 * 4 && x[7] == 3 * -4);

    memset(b, 0, sizeof b); /* IQ3_S: point 5 */
    put_half(b, 0.5f);
    b[2 + 9] = 5, b[74 + 4] = 0x20, b[106] = 3 << 4;
    qn_dtype(QN_IQ3_S)->dequant(x, b, 256);
    assert_true(x[36] == 3.5f && x[37] == 3.5f * -3 && x[38] == 3.5f && x[0] == 0.5f);

    memset(b, 0, sizeof b); /* IQ1_S: point 1; scale 2; an eighth is taken off in group 1 only */
    put_half(b, 8);
    b[2 + 4] = 1, b[34 + 3] = 0xa0;
    qn_dtype(QN_IQ1_S)->dequant(x, b, 256);
    assert_true(x[32] == 40 - 5 && x[33] == -40 - 5 && x[0] == -8 + 1);

    memset(b, 0, sizeof b); /* IQ1_M: the half 0x4800 is 8; point 2 as the second eight, less 1/8 */
    b[48 + 5] = 8 << 4, b[48 + 7] = 4 << 4;
    b[1] = 2, b[32] = 0x80, b[48] = 3;
    qn_dtype(QN_IQ1_M)->dequant(x, b, 256);
    assert_true(x[8] == 7 * (0 - 1) && x[10] == 7 * (-8 - 1) && x[0] == 7 * (-8 + 1));
    assert_true(x[16] == -8 + 1);
}

/* Error after one way through the type, of numbers from -1 to 1. */
static void test_rounding(void **state)
{
    static const double most[QN_DTYPE_COUNT] = {
        [QN_F32] = 0,
        [QN_F16] = 0x1p-11,
        [QN_BF16] = 0x1p-8,
        [QN_Q8_0] = 0.51 / 127,
        [QN_Q4_0] = 1.05 / 8, /* codes -8 to 7: the other end may lie half a step further off */
        [QN_Q4_1] = 1.05 / 15,
        [QN_Q5_0] = 1.05 / 16,
        [QN_Q5_1] = 1.05 / 31,
        [QN_Q2_K] = 1.3 / 3,
        [QN_Q3_K] = 1.3 / 4,
        [QN_Q4_K] = 1.3 / 15,
        [QN_Q5_K] = 1.0 / 15,
        [QN_Q6_K] = 1.2 / 32,
        [QN_IQ4_NL] = 14.5 / 113, /* the way from 113 to 127 */
        [QN_IQ4_XS] = 18.0 / 113,
        [QN_IQ3_XXS] = 0.5, /* a grid has no point near some of its cube's */
        [QN_IQ3_S] = 0.4,
        [QN_IQ2_XXS] = 1.3, /* the sign of one in eight may be wrong */
        [QN_IQ2_XS] = 1.3,
        [QN_IQ2_S] = 0.7,
        [QN_IQ1_S] = 1.2,
        [QN_IQ1_M] = 1.2,
        [QN_TQ1_0] = 0.505,
        [QN_TQ2_0] = 0.505,
        [QN_MXFP4] = 0.26, /* between 4 and 6, of up to 7 */
        [QN_NVFP4] = 0.19,
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
    assert_null(qn_dtype_by_ggml(9));
    assert_string_equal(qn_ggml_type_name(9), "Q8_1");
    assert_string_equal(qn_ggml_type_name(4711), "number 4711");
}

/* A small float of the bits of a scale byte, as SCALES_E4M3 and SCALES_E8M0 have them. */
static double byte_scale(enum cpu_scales form, uint8_t b)
{
    if (form == SCALES_E8M0)
        return ldexp(1, b - 128);
    return ldexp(b >> 3 ? 8 + (b & 7) : (b & 7) * 2, (b >> 3) - 11);
}

/* Codes and scales, by what pack.h says they stand for, are the weights of the file. */
static void test_codes_and_scales(void **state)
{
    unsigned char b[256];
    uint8_t codes[32];
    float x[256], y[256];
    (void)state;
    for (int i = 0; i < 256; i++)
        x[i] = (float)((i * 97) % 251 - 125) * (float)(1 + i / 16);
    for (int t = 0; t < QN_DTYPE_COUNT; t++) {
        const struct qn_dtype_info *d = qn_dtype(t);
        const struct cpu_layout *l = cpu_layout(t);
        struct qn_block_scales s = {0};
        if (d->block == 1)
            continue;
        d->quant(b, x, d->block);
        d->dequant(y, b, d->block);
        d->scales(&s, b);
        for (int i = 0; i < d->block; i++) {
            double f = qn_f16_to_f32(s.d), m = 0, v;
            if (i % 32 == 0)
                d->codes(codes, b, i / 32);
            v = codes[i % 32];
            assert_true(v + (l->levels ? l->levels[codes[i % 32]] - v + l->offset : 0) <= l->top);
            v = l->levels ? l->levels[codes[i % 32]] : v - l->offset;
            switch (l->scales) {
            case SCALES_HALF:
            case SCALES_WIDE:
                break;
            case SCALES_HALF_MIN:
                m = -qn_f16_to_f32(s.dmin);
                break;
            case SCALES_E8M0:
                f = byte_scale(SCALES_E8M0, s.scale[i / 32]);
                break;
            case SCALES_E4M3:
                f = byte_scale(SCALES_E4M3, s.scale[i / 16]);
                break;
            case SCALES_K32:
                f *= (int8_t)s.scale[i / 32];
                break;
            case SCALES_K16:
                f *= (int8_t)s.scale[i / 16];
                break;
            case SCALES_K32_MIN:
                f *= s.scale[i / 32];
                m = (double)qn_f16_to_f32(s.dmin) * s.min[i / 32];
                break;
            case SCALES_K16_MIN:
                f *= s.scale[i / 16];
                m = (double)qn_f16_to_f32(s.dmin) * s.min[i / 16];
            }
            double want = l->unit * (f * v - m);
            if (!(fabs(want - y[i]) <= 1e-6 * (fabs(want) + fabs(m))))
                fail_msg("%s: weight %d is %g, not %g", d->name, i, want, (double)y[i]);
        }
    }
}

/* Sixteen rows and eleven, laid out: each is found again. */
static void test_rows_of_panels(void **state)
{
    enum { COLS = 512 };
    static unsigned char file[CPU_PANEL * COLS * 4], panel[CPU_PANEL * COLS * 4];
    float x[COLS], want[COLS], got[COLS];
    (void)state;
    for (int t = 0; t < QN_DTYPE_COUNT; t++) {
        const struct qn_dtype_info *d = qn_dtype(t);
        const size_t row_bytes = qn_dtype_bytes(d, COLS);
        if (d->block == 1)
            continue;
        for (int r = 0; r < CPU_PANEL; r++) {
            for (int i = 0; i < COLS; i++)
                x[i] = (float)((i * 97 + r * 61) % 251 - 125) * (float)(1 + i / 16) / 64;
            d->quant(file + (size_t)r * row_bytes, x, COLS);
        }
        for (int n = CPU_PANEL; n >= 11; n -= 5) {
            cpu_pack_panel(t, panel, file, row_bytes, n, COLS);
            for (int r = 0; r < CPU_PANEL; r++) {
                if (r < n)
                    d->dequant(want, file + (size_t)r * row_bytes, COLS);
                cpu_unpack_row(t, got, panel, r, COLS);
                for (int i = 0; i < COLS && r < n; i++)
                    if (!(fabsf(got[i] - want[i]) <= 1e-5f * (1 + fabsf(want[i]))))
                        fail_msg("%s: weight %d of row %d is %g, not %g", d->name, i, r,
                                 (double)got[i], (double)want[i]);
            }
        }
    }
}

/* What is laid out anew takes little more than the file for the types people run. */
static void test_panel_sizes(void **state)
{
    static const enum qn_dtype grids[] = {QN_IQ2_XXS, QN_IQ2_XS, QN_IQ2_S, QN_IQ3_XXS,
                                          QN_IQ3_S,   QN_IQ1_S,  QN_IQ1_M, QN_TQ1_0};
    (void)state;
    for (int t = 0; t < QN_DTYPE_COUNT; t++) {
        double most = 1.06;
        for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
            most = grids[i] == (enum qn_dtype)t ? 2.1 : most;
        double file = (double)qn_dtype_bytes(qn_dtype(t), 4096) * CPU_PANEL;
        assert_true((double)cpu_panel_bytes(t, 4096) <= most * file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_halves),           cmocka_unit_test(test_blocks_by_hand),
        cmocka_unit_test(test_low_bits_by_hand), cmocka_unit_test(test_grids_by_hand),
        cmocka_unit_test(test_rounding),         cmocka_unit_test(test_codes_and_scales),
        cmocka_unit_test(test_rows_of_panels),   cmocka_unit_test(test_panel_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
