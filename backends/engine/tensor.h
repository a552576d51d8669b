/* Tensors: a view (type, shape, strides, offset) of a device's memory.
 *
 * Shapes are outermost first, as in papers: [seq, heads, head_dim]. Strides are in bytes. The
 * innermost dimension is always contiguous; for block types its stride is that of one block. A view
 * never owns memory: the qn_mem belongs to the code that created it. */
#ifndef QN_ENGINE_TENSOR_H
#define QN_ENGINE_TENSOR_H

#include "engine/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_DIMS_MAX = 4 };

struct qn_mem; /* see device.h */

struct qn_tensor {
    enum qn_dtype dtype;
    int ndim;                    /* 1 to 4 */
    int64_t shape[QN_DIMS_MAX];  /* unused dimensions are 1 */
    int64_t stride[QN_DIMS_MAX]; /* bytes; stride[ndim - 1] is one element (or block) */
    struct qn_mem *mem;
    size_t offset; /* bytes from the start of mem */
    /* Scales by which the matrices of the outermost of three dimensions are multiplied, one each,
     * or one for a single matrix; NULL: none. Borrowed. Only NVFP4 has them, and only until
     * qn_weight_prepare includes them in the packed form. */
    const float *factors;
};

/* A contiguous tensor at offset in mem. */
struct qn_tensor qn_tensor_make(enum qn_dtype dtype, int ndim, const int64_t *shape,
                                struct qn_mem *mem, size_t offset);

int64_t qn_tensor_elements(const struct qn_tensor *t);
size_t qn_tensor_bytes(const struct qn_tensor *t); /* of a contiguous tensor of this shape */
bool qn_tensor_contiguous(const struct qn_tensor *t);
bool qn_tensor_same_shape(const struct qn_tensor *a, const struct qn_tensor *b);

/* Views of first .. first + n along dimension dim; for the innermost dimension both must be
 * multiples of the block. */
struct qn_tensor qn_tensor_slice(const struct qn_tensor *t, int dim, int64_t first, int64_t n);
/* The same elements in another shape; t must be contiguous (asserted). */
struct qn_tensor qn_tensor_reshape(const struct qn_tensor *t, int ndim, const int64_t *shape);

/* Writes "[8, 16, 128] F32" for messages; cut at n - 1 bytes. */
void qn_tensor_describe(const struct qn_tensor *t, char *out, size_t n);

#define QN_SHAPE(...)                                                                              \
    (sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[])                        \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

#endif
