/* Creates, slices and describes views. Elements are not accessed here. */
#include "engine/tensor.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

struct qn_tensor qn_tensor_make(enum qn_dtype dtype, int ndim, const int64_t *shape,
                                struct qn_mem *mem, size_t offset)
{
    const struct qn_dtype_info *d = qn_dtype(dtype);
    struct qn_tensor t = {.dtype = dtype, .ndim = ndim, .mem = mem, .offset = offset};
    assert(ndim >= 1 && ndim <= QN_DIMS_MAX);
    assert(shape[ndim - 1] % d->block == 0);
    for (int i = 0; i < QN_DIMS_MAX; i++)
        t.shape[i] = i < ndim ? shape[i] : 1;
    int64_t step = d->block_bytes;
    for (int i = ndim - 1; i >= 0; i--) {
        t.stride[i] = step;
        step *= i == ndim - 1 ? t.shape[i] / d->block : t.shape[i];
    }
    return t;
}

int64_t qn_tensor_elements(const struct qn_tensor *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->ndim; i++)
        n *= t->shape[i];
    return n;
}

size_t qn_tensor_bytes(const struct qn_tensor *t)
{
    return qn_dtype_bytes(qn_dtype(t->dtype), qn_tensor_elements(t));
}

bool qn_tensor_contiguous(const struct qn_tensor *t)
{
    struct qn_tensor c = qn_tensor_make(t->dtype, t->ndim, t->shape, t->mem, t->offset);
    for (int i = 0; i < t->ndim; i++)
        if (t->shape[i] > 1 && c.stride[i] != t->stride[i])
            return false;
    return true;
}

bool qn_tensor_same_shape(const struct qn_tensor *a, const struct qn_tensor *b)
{
    if (a->ndim != b->ndim)
        return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->shape[i] != b->shape[i])
            return false;
    return true;
}

struct qn_tensor qn_tensor_slice(const struct qn_tensor *t, int dim, int64_t first, int64_t n)
{
    struct qn_tensor s = *t;
    int block = dim == t->ndim - 1 ? qn_dtype(t->dtype)->block : 1;
    assert(dim >= 0 && dim < t->ndim && first >= 0 && n >= 0 && first + n <= t->shape[dim]);
    assert(first % block == 0 && n % block == 0);
    s.shape[dim] = n;
    s.offset += (size_t)(first / block * t->stride[dim]);
    return s;
}

struct qn_tensor qn_tensor_reshape(const struct qn_tensor *t, int ndim, const int64_t *shape)
{
    assert(qn_tensor_contiguous(t));
    struct qn_tensor r = qn_tensor_make(t->dtype, ndim, shape, t->mem, t->offset);
    assert(qn_tensor_elements(&r) == qn_tensor_elements(t));
    return r;
}

void qn_tensor_describe(const struct qn_tensor *t, char *out, size_t n)
{
    size_t used = 0;
    for (int i = 0; i < t->ndim && used < n; i++)
        used += (size_t)snprintf(out + used, n - used, "%s%" PRId64, i ? ", " : "[", t->shape[i]);
    if (used < n)
        snprintf(out + used, n - used, "] %s", qn_dtype(t->dtype)->name);
}
