/* The table of element types, GGUF's names of all its types, and the two 16-bit float formats. */
#include "engine/dtype.h"
#include "engine/quant/quant.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

float qn_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exp = (h >> 10) & 31, man = h & 0x3ff, bits;
    float f;
    if (exp == 31) {
        bits = sign | 0x7f800000u | man << 13;
    } else if (exp) {
        bits = sign | (exp + 112) << 23 | man << 13;
    } else { /* zero or subnormal: man · 2^-24 is exact in f32 */
        f = (float)man * 0x1p-24f;
        memcpy(&bits, &f, 4);
        bits |= sign;
    }
    memcpy(&f, &bits, 4);
    return f;
}

uint16_t qn_f32_to_f16(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    uint32_t sign = bits >> 16 & 0x8000, mag = bits & 0x7fffffff;
    if (mag >= 0x7f800000u)
        return (uint16_t)(sign | 0x7c00 | (mag > 0x7f800000u ? 0x200 | (mag >> 13 & 0x3ff) : 0));
    if (mag >= 0x477ff000u) /* 65520: rounds to beyond the largest half */
        return (uint16_t)(sign | 0x7c00);
    if (mag >= 0x38800000u) /* 2^-14: a normal half */
        return (uint16_t)(sign | ((mag - 0x38000000u + 0xfff + (mag >> 13 & 1)) >> 13));
    /* Subnormal: adding 0.5 moves the units of 2^-24 to the end of the f32 mantissa, rounded to
     * even. */
    float a;
    memcpy(&a, &mag, 4);
    a += 0.5f;
    memcpy(&bits, &a, 4);
    return (uint16_t)(sign | (bits - 0x3f000000u));
}

float qn_bf16_to_f32(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

uint16_t qn_f32_to_bf16(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    if ((bits & 0x7fffffff) > 0x7f800000u)
        return (uint16_t)(bits >> 16 | 0x40); /* stays a NaN */
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static void f32_copy_in(float *out, const void *in, int64_t n)
{
    memcpy(out, in, (size_t)n * sizeof(float));
}

static void f32_copy_out(void *out, const float *in, int64_t n)
{
    memcpy(out, in, (size_t)n * sizeof(float));
}

static void f16_dequant(float *out, const void *in, int64_t n)
{
    const unsigned char *p = in; /* data in a file may be unaligned */
    for (int64_t i = 0; i < n; i++)
        out[i] = qn_f16_to_f32(qn_load_u16(p + 2 * i));
}

static void f16_quant(void *out, const float *in, int64_t n)
{
    unsigned char *p = out;
    for (int64_t i = 0; i < n; i++)
        qn_store_u16(p + 2 * i, qn_f32_to_f16(in[i]));
}

static void bf16_dequant(float *out, const void *in, int64_t n)
{
    const unsigned char *p = in;
    for (int64_t i = 0; i < n; i++)
        out[i] = qn_bf16_to_f32(qn_load_u16(p + 2 * i));
}

static void bf16_quant(void *out, const float *in, int64_t n)
{
    unsigned char *p = out;
    for (int64_t i = 0; i < n; i++)
        qn_store_u16(p + 2 * i, qn_f32_to_bf16(in[i]));
}

static const struct qn_dtype_info table[QN_DTYPE_COUNT] = {
    [QN_F32] = {"F32", 0, 1, 4, f32_copy_in, f32_copy_out, NULL, NULL},
    [QN_F16] = {"F16", 1, 1, 2, f16_dequant, f16_quant, NULL, NULL},
    [QN_BF16] = {"BF16", 30, 1, 2, bf16_dequant, bf16_quant, NULL, NULL},
    [QN_I32] = {"I32", 26, 1, 4, NULL, NULL, NULL, NULL},
#define ROW(c, name, number, elements, bytes)                                                      \
    [QN_##name] = {#name,          number,         elements,       bytes, qn_##c##_dequant,        \
                   qn_##c##_quant, qn_##c##_codes, qn_##c##_scales},
    QN_BLOCK_TYPES(ROW)
#undef ROW
};

/* All of GGUF's numbers, so that a message can name an unsupported type. Gaps are types since
 * removed. */
static const char *const ggml_names[] = {
    "F32",   "F16",        "Q4_0",       "Q4_1",       "Q4_2",     "Q4_3",     "Q5_0",
    "Q5_1",  "Q8_0",       "Q8_1",       "Q2_K",       "Q3_K",     "Q4_K",     "Q5_K",
    "Q6_K",  "Q8_K",       "IQ2_XXS",    "IQ2_XS",     "IQ3_XXS",  "IQ1_S",    "IQ4_NL",
    "IQ3_S", "IQ2_S",      "IQ4_XS",     "I8",         "I16",      "I32",      "I64",
    "F64",   "IQ1_M",      "BF16",       "Q4_0_4_4",   "Q4_0_4_8", "Q4_0_8_8", "TQ1_0",
    "TQ2_0", "IQ4_NL_4_4", "IQ4_NL_4_8", "IQ4_NL_8_8", "MXFP4",    "NVFP4",    "Q1_0",
};

const struct qn_dtype_info *qn_dtype(enum qn_dtype t)
{
    assert(t >= 0 && t < QN_DTYPE_COUNT);
    return &table[t];
}

const struct qn_dtype_info *qn_dtype_by_ggml(uint32_t ggml)
{
    for (int i = 0; i < QN_DTYPE_COUNT; i++)
        if (table[i].ggml == ggml)
            return &table[i];
    return NULL;
}

enum qn_dtype qn_dtype_of(const struct qn_dtype_info *info)
{
    return (enum qn_dtype)(info - table);
}

const char *qn_ggml_type_name(uint32_t ggml)
{
    static _Thread_local char number[24];
    if (ggml < sizeof ggml_names / sizeof *ggml_names)
        return ggml_names[ggml];
    snprintf(number, sizeof number, "number %u", (unsigned)ggml);
    return number;
}
