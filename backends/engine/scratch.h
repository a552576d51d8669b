/* Scratch memory for activations: one block of device memory, allocated from the bottom and
 * released to a mark (a stack).
 *
 *   size_t m = qn_scratch_mark(s);
 *   struct qn_tensor h = qn_scratch_tensor(s, QN_F32, QN_SHAPE(n, d));
 *   ...
 *   qn_scratch_reset(s, m);
 *
 * Contents are not cleared. Compute thread only. */
#ifndef QN_ENGINE_SCRATCH_H
#define QN_ENGINE_SCRATCH_H

#include "engine/device.h"

struct qn_scratch;

qn_err qn_scratch_new(struct qn_device *dev, size_t bytes, struct qn_scratch **out,
                      struct qn_error *e);
void qn_scratch_free(struct qn_scratch *s); /* NULL allowed */

/* A contiguous tensor, 64-byte aligned. Exhausting the memory is a bug of ours and aborts: size it
 * as the sum of qn_scratch_need over the tensors in use at once. */
struct qn_tensor qn_scratch_tensor(struct qn_scratch *s, enum qn_dtype dtype, size_t ndim,
                                   const int64_t *shape);
size_t qn_scratch_mark(const struct qn_scratch *s);
void qn_scratch_reset(struct qn_scratch *s, size_t mark);
size_t qn_scratch_peak(const struct qn_scratch *s); /* the most bytes that were in use at once */
/* Bytes that one tensor takes, including alignment. */
size_t qn_scratch_need(enum qn_dtype dtype, int64_t elements);

#endif
