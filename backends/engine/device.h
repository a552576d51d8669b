/* Devices and their memory. A device is an argument of every operation, never a global; one compute
 * thread at a time uses it. ops.h has the operations. */
#ifndef QN_ENGINE_DEVICE_H
#define QN_ENGINE_DEVICE_H

#include "base/error.h"
#include "engine/tensor.h"

#include <stddef.h>
#include <stdint.h>

struct qn_device;

/* A block of device memory, of which tensors are views. */
struct qn_mem {
    struct qn_device *dev; /* the device it belongs to */
    void *host;            /* its address in this process; NULL if the host cannot access it */
    size_t bytes;
    /* 0: elements as their type defines. Else rows in a packed form known only to dev */
    int layout;
    int owned; /* 1: qn_mem_free frees it; 0: borrowed (a mapped file) */
};

/* The CPU as a device, with `threads` threads in all (1: no workers). The kernels' instruction set
 * is chosen and self-tested once per process; the environment variable QUINCE_ISA (generic, avx2,
 * avxvnni, avx512, amx) forces one: QN_EUNSUPPORTED if this machine lacks it, QN_EINVAL for another
 * name. */
qn_err qn_device_cpu_new(int threads, struct qn_device **out, struct qn_error *e);
void qn_device_free(struct qn_device *dev); /* NULL allowed; all its memory must be freed first */

const char *qn_device_name(const struct qn_device *dev); /* "cpu avx512" */
int qn_device_threads(const struct qn_device *dev);
/* Call it only between two operations; `threads` includes the compute thread. */
void qn_device_set_threads(struct qn_device *dev, int threads);

/* Allocates working memory for the largest step: matrix products of up to `rows` rows of up to
 * `cols` columns, attention with up to `heads` query heads of `head_dim`. Operations within these
 * limits do not allocate. May be called again with larger ones. QN_ENOMEM. */
struct qn_reserve {
    int64_t rows, cols;
    int64_t heads, head_dim;
    /* of a mixture: number of experts, and how many a row uses; 0 without a mixture */
    int64_t experts, experts_used;
    int64_t experts_cols; /* columns of the experts' matrices */
};
qn_err qn_device_reserve(struct qn_device *dev, const struct qn_reserve *need, struct qn_error *e);

/* Allocates zeroed memory, 64-byte aligned; pages that are never touched use no memory. QN_ENOMEM
 * with the size. */
qn_err qn_mem_new(struct qn_device *dev, size_t bytes, struct qn_mem **out, struct qn_error *e);
/* Wraps existing bytes that outlive the mem (a mapped file). Read only. */
struct qn_mem *qn_mem_borrow(struct qn_device *dev, const void *host, size_t bytes);
void qn_mem_free(struct qn_mem *m); /* NULL allowed */

/* Copy whole contiguous tensors between host and device; qn_read waits for queued work. */
qn_err qn_read(struct qn_device *dev, void *host, const struct qn_tensor *t);
void qn_write(struct qn_device *dev, struct qn_tensor *t, const void *host);

/* Packs a matrix [rows, cols] for qn_matmul on this device, or experts' matrices [experts, rows,
 * cols] for qn_matmul_experts; t becomes the packed matrix and *out its memory, which the caller
 * frees. The values are unchanged, only their order differs. If the device multiplies this type in
 * the file's format, t is unchanged and *out NULL; the pages of t are then in memory. Uses the
 * device's threads. QN_ENOMEM; QN_EIO: the file cannot be read; QN_EUNSUPPORTED: the device does
 * not multiply this type, whose name is in the message. */
qn_err qn_weight_prepare(struct qn_device *dev, struct qn_tensor *t, struct qn_mem **out,
                         struct qn_error *e);
/* Replaces t with the form that qn_weight_prepare has packed it to before, perhaps in another
 * process, and whose bytes are at host: mapped, borrowed, 64-byte aligned. Any content of these
 * bytes is safe to compute with. *out as above. QN_EFORMAT: wrong size or alignment; QN_EIO. */
qn_err qn_weight_adopt(struct qn_device *dev, struct qn_tensor *t, const void *host, size_t bytes,
                       struct qn_mem **out, struct qn_error *e);
/* A version number of the packed formats of qn_weight_prepare; 0: they must not be stored. */
uint32_t qn_device_layouts(const struct qn_device *dev);

#endif
