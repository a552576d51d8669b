/* Element types: one table row each, with GGUF's number of the type and the size of its blocks.
 *
 * A row of n elements is n / block blocks of bytes_per_block bytes. The portable functions of a
 * table row define the type: every fast kernel is tested against them. */
#ifndef QN_ENGINE_DTYPE_H
#define QN_ENGINE_DTYPE_H

#include <stddef.h>
#include <stdint.h>

/* Every block type: X(name in C, usual name, GGUF's number, elements and bytes of a block). The
 * table of types, the declarations of their functions and the kernels are all generated from it. */
#define QN_BLOCK_TYPES(X)                                                                          \
    X(q8_0, Q8_0, 8, 32, 34)                                                                       \
    X(q4_0, Q4_0, 2, 32, 18)                                                                       \
    X(q4_1, Q4_1, 3, 32, 20)                                                                       \
    X(q5_0, Q5_0, 6, 32, 22)                                                                       \
    X(q5_1, Q5_1, 7, 32, 24)                                                                       \
    X(q2_k, Q2_K, 10, 256, 84)                                                                     \
    X(q3_k, Q3_K, 11, 256, 110)                                                                    \
    X(q4_k, Q4_K, 12, 256, 144)                                                                    \
    X(q5_k, Q5_K, 13, 256, 176)                                                                    \
    X(q6_k, Q6_K, 14, 256, 210)                                                                    \
    X(iq2_xxs, IQ2_XXS, 16, 256, 66)                                                               \
    X(iq2_xs, IQ2_XS, 17, 256, 74)                                                                 \
    X(iq3_xxs, IQ3_XXS, 18, 256, 98)                                                               \
    X(iq1_s, IQ1_S, 19, 256, 50)                                                                   \
    X(iq4_nl, IQ4_NL, 20, 32, 18)                                                                  \
    X(iq3_s, IQ3_S, 21, 256, 110)                                                                  \
    X(iq2_s, IQ2_S, 22, 256, 82)                                                                   \
    X(iq4_xs, IQ4_XS, 23, 256, 136)                                                                \
    X(iq1_m, IQ1_M, 29, 256, 56)                                                                   \
    X(tq1_0, TQ1_0, 34, 256, 54)                                                                   \
    X(tq2_0, TQ2_0, 35, 256, 66)                                                                   \
    X(mxfp4, MXFP4, 39, 32, 17)                                                                    \
    X(nvfp4, NVFP4, 40, 64, 36)

enum qn_dtype {
    QN_F32,
    QN_F16,
    QN_BF16,
    QN_I32,
#define QN_ENUM(c, name, number, elements, bytes) QN_##name,
    QN_BLOCK_TYPES(QN_ENUM)
#undef QN_ENUM
        QN_DTYPE_COUNT
};

/* maximum over all types: elements, bytes */
enum { QN_BLOCK_MAX = 256, QN_BLOCK_BYTES_MAX = 256 };

/* The scales of one block, for packing: half floats as bits, the others in the type's own encoding,
 * one for every 16 or 32 weights. Each type uses the fields that it needs. */
struct qn_block_scales {
    uint16_t d, dmin;
    uint8_t scale[16]; /* signed scales as their bits */
    uint8_t min[16];
};

struct qn_dtype_info {
    const char *name; /* the usual name: "Q4_K" */
    uint32_t ggml;    /* GGUF's number */
    int block;        /* elements per block; 1 for plain types */
    int block_bytes;  /* bytes per block */
    /* MUST except for I32: converts n elements (a multiple of block) to f32. Any thread. */
    void (*dequant)(float *out, const void *in, int64_t n);
    /* MUST except for I32: the inverse, rounding to nearest; simple and slow, for tests and tools.
     */
    void (*quant)(void *out, const float *in, int64_t n);
    /* MUST for block types, for packing; see quant/quant.h: the codes of the row's weights 32·group
     * .. + 31, and the scales of one block. */
    void (*codes)(uint8_t out[32], const void *row, int64_t group);
    void (*scales)(struct qn_block_scales *out, const void *block);
};

const struct qn_dtype_info *qn_dtype(enum qn_dtype t);
/* The table row with this GGUF number; NULL if the type is unknown. */
const struct qn_dtype_info *qn_dtype_by_ggml(uint32_t ggml);
enum qn_dtype qn_dtype_of(const struct qn_dtype_info *info);
/* GGUF's name of any type number, including unsupported ones: "Q2_K", or "type 77". Borrowed; the
 * second form is in a thread-local buffer. */
const char *qn_ggml_type_name(uint32_t ggml);

/* Bytes of n contiguous elements; n must be a multiple of the block. */
static inline size_t qn_dtype_bytes(const struct qn_dtype_info *d, int64_t n)
{
    return (size_t)(n / d->block) * (size_t)d->block_bytes;
}

/* Half precision and bfloat16 to and from f32, rounding to nearest even, with infinities and NaN.
 */
float qn_f16_to_f32(uint16_t h);
uint16_t qn_f32_to_f16(float f);
float qn_bf16_to_f32(uint16_t h);
uint16_t qn_f32_to_bf16(float f);

#endif
