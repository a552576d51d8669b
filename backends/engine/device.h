/* Devices and their memory. A device is an argument of every operation, never a global; one compute
 * thread at a time uses it. ops.h has the operations. */
#ifndef QN_ENGINE_DEVICE_H
#define QN_ENGINE_DEVICE_H

#include "base/error.h"
#include "engine/tensor.h"

#include <stddef.h>
#include <stdint.h>

struct qn_device;

/* A piece of memory that tensors are views of. */
struct qn_mem {
    struct qn_device *dev; /* whose memory it is */
    void *host;            /* its address in this process; NULL when the host cannot reach it */
    size_t bytes;
    int layout; /* 0: elements as their type says. Else rows laid out anew, as dev alone knows */
    int owned;  /* 1: qn_mem_free gives it back; 0: borrowed (a mapped file) */
};

/* The CPU as a device, with `threads` threads in all (1: no workers). The kernels' instruction set
 * is chosen and self-tested once per process; the environment QUINCE_ISA (generic, avx2, avxvnni,
 * avx512, amx) forces one: QN_EUNSUPPORTED when this machine lacks it, QN_EINVAL for another name.
 */
qn_err qn_device_cpu_new(int threads, struct qn_device **out, struct qn_error *e);
void qn_device_free(struct qn_device *dev); /* NULL allowed; all its memory must be freed before */

const char *qn_device_name(const struct qn_device *dev); /* "cpu avx512" */
int qn_device_threads(const struct qn_device *dev);
/* Between two operations only; the compute thread counts as one. */
void qn_device_set_threads(struct qn_device *dev, int threads);

/* Makes room for the widest step: matrix products of up to `rows` rows of up to `cols` columns,
 * attention with up to `heads` query heads of `head_dim`. After it no operation within these bounds
 * allocates. May be called again with larger ones. QN_ENOMEM. */
struct qn_reserve {
    int64_t rows, cols;
    int64_t heads, head_dim;
    int64_t experts, experts_used; /* of a mixture: in all, and by one row; 0 without one */
    int64_t experts_cols;          /* of their matrices */
};
qn_err qn_device_reserve(struct qn_device *dev, const struct qn_reserve *need, struct qn_error *e);

/* Zeroed memory, 64-byte aligned; pages never touched cost nothing. QN_ENOMEM with the size. */
qn_err qn_mem_new(struct qn_device *dev, size_t bytes, struct qn_mem **out, struct qn_error *e);
/* Wraps bytes that live elsewhere and outlive the mem (a mapped file). Read only. */
struct qn_mem *qn_mem_borrow(struct qn_device *dev, const void *host, size_t bytes);
void qn_mem_free(struct qn_mem *m); /* NULL allowed */

/* Whole contiguous tensors between the host and the device; qn_read waits for recorded work. */
qn_err qn_read(struct qn_device *dev, void *host, const struct qn_tensor *t);
void qn_write(struct qn_device *dev, struct qn_tensor *t, const void *host);

/* Lays a matrix [rows, cols] out anew for qn_matmul on this device, or experts' matrices [experts,
 * rows, cols] for qn_matmul_experts; t becomes the new one and *out its memory, which the caller
 * frees. The values are the same but for their order. *out is NULL, and t as it was, where the
 * device multiplies this type as the file has it; its pages are then in memory. Uses the device's
 * threads. QN_ENOMEM; QN_EIO: the file cannot be read; QN_EUNSUPPORTED names the type. */
qn_err qn_weight_prepare(struct qn_device *dev, struct qn_tensor *t, struct qn_mem **out,
                         struct qn_error *e);
/* t becomes the matrix that qn_weight_prepare made of it before, perhaps in another process, and
 * whose bytes are at host: mapped, lent, 64-byte aligned. Any bytes are safe to compute with.
 * *out as above. QN_EFORMAT: it would have another size or alignment; QN_EIO. */
qn_err qn_weight_adopt(struct qn_device *dev, struct qn_tensor *t, const void *host, size_t bytes,
                       struct qn_mem **out, struct qn_error *e);
/* Changes whenever what qn_weight_prepare makes does; 0: nothing that may be kept. */
uint32_t qn_device_layouts(const struct qn_device *dev);

#endif
