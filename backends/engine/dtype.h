/* Element types: one table row each, with the number GGUF gives it and the size of its blocks.
 *
 * A row of n elements is n / block blocks of bytes_per_block bytes. The portable functions of a row
 * are the definition of the type: every fast kernel is tested against them. */
#ifndef QN_ENGINE_DTYPE_H
#define QN_ENGINE_DTYPE_H

#include <stddef.h>
#include <stdint.h>

enum qn_dtype {
    QN_F32,
    QN_F16,
    QN_BF16,
    QN_I32,
    QN_Q8_0,
    QN_Q4_0,
    QN_Q4_K,
    QN_Q5_K,
    QN_Q6_K,
    QN_DTYPE_COUNT
};

enum { QN_BLOCK_MAX = 256, QN_BLOCK_BYTES_MAX = 256 }; /* over all types: elements, bytes */

struct qn_dtype_info {
    const char *name; /* as people write it: "Q4_K" */
    uint32_t ggml;    /* GGUF's number */
    int block;        /* elements per block; 1 for plain types */
    int block_bytes;  /* bytes per block */
    /* MUST but for I32: n elements (a multiple of block) to f32. Any thread. */
    void (*dequant)(float *out, const void *in, int64_t n);
    /* MUST but for I32: the inverse, rounding to nearest; simple and slow, for tests and tools. */
    void (*quant)(void *out, const float *in, int64_t n);
    /* MUST for block types: the codes of 32 weights, for laying rows out anew; see quant/quant.h.
     */
    void (*codes)(uint8_t out[32], const void *row, int64_t group);
};

const struct qn_dtype_info *qn_dtype(enum qn_dtype t);
/* The row with this GGUF number; NULL when this version does not know it. */
const struct qn_dtype_info *qn_dtype_by_ggml(uint32_t ggml);
enum qn_dtype qn_dtype_of(const struct qn_dtype_info *info);
/* GGUF's name of any type number, also of those not supported: "Q2_K", or "type 77". Lent; the
 * number form is in a buffer per thread. */
const char *qn_ggml_type_name(uint32_t ggml);

/* Bytes of n elements side by side; n must be a multiple of the block. */
static inline size_t qn_dtype_bytes(const struct qn_dtype_info *d, int64_t n)
{
    return (size_t)(n / d->block) * (size_t)d->block_bytes;
}

/* Half precision and bfloat16, rounding to nearest even, with infinities and NaN. */
float qn_f16_to_f32(uint16_t h);
uint16_t qn_f32_to_f16(float f);
float qn_bf16_to_f32(uint16_t h);
uint16_t qn_f32_to_bf16(float f);

#endif
