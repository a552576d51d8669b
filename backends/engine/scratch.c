/* A stack allocator for activations in one block of device memory. */
#include "engine/scratch.h"
#include "base/buf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { ALIGN = 64 };

struct qn_scratch {
    struct qn_mem *mem;
    size_t used, peak;
};

qn_err qn_scratch_new(struct qn_device *dev, size_t bytes, struct qn_scratch **out,
                      struct qn_error *e)
{
    struct qn_mem *mem;
    qn_err err = qn_mem_new(dev, bytes, &mem, e);
    if (err)
        return err;
    *out = qn_xcalloc(1, sizeof **out);
    (*out)->mem = mem;
    return QN_OK;
}

void qn_scratch_free(struct qn_scratch *s)
{
    if (!s)
        return;
    qn_mem_free(s->mem);
    free(s);
}

size_t qn_scratch_need(enum qn_dtype dtype, int64_t elements)
{
    size_t n = qn_dtype_bytes(qn_dtype(dtype), elements);
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

struct qn_tensor qn_scratch_tensor(struct qn_scratch *s, enum qn_dtype dtype, size_t ndim,
                                   const int64_t *shape)
{
    struct qn_tensor t = qn_tensor_make(dtype, (int)ndim, shape, s->mem, s->used);
    size_t need = qn_scratch_need(dtype, qn_tensor_elements(&t));
    /* checked in Release builds too: the next write would be out of bounds */
    if (need > s->mem->bytes - s->used) {
        fprintf(stderr, "scratch: %zu bytes in use, %zu more wanted, %zu in all\n", s->used, need,
                s->mem->bytes);
        abort();
    }
    s->used += need;
    if (s->used > s->peak)
        s->peak = s->used;
    return t;
}

size_t qn_scratch_mark(const struct qn_scratch *s)
{
    return s->used;
}

void qn_scratch_reset(struct qn_scratch *s, size_t mark)
{
    assert(mark <= s->used);
    s->used = mark;
}

size_t qn_scratch_peak(const struct qn_scratch *s)
{
    return s->peak;
}
