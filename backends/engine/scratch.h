/* Activations: one piece of device memory, handed out from the bottom, given back to a mark.
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

/* A contiguous tensor, 64-byte aligned. Running out is our own bug and aborts: size it with
 * qn_scratch_need summed over the tensors alive at once. */
struct qn_tensor qn_scratch_tensor(struct qn_scratch *s, enum qn_dtype dtype, size_t ndim,
                                   const int64_t *shape);
size_t qn_scratch_mark(const struct qn_scratch *s);
void qn_scratch_reset(struct qn_scratch *s, size_t mark);
size_t qn_scratch_peak(const struct qn_scratch *s); /* most bytes ever in use */
/* Bytes one tensor takes, alignment included. */
size_t qn_scratch_need(enum qn_dtype dtype, int64_t elements);

#endif
