/* A model's named tensors and its metadata. Shapes are reversed once, here: outermost first.
 *
 * A model is one file, or several parts. Files are mapped; a tensor from qn_weights_get borrows the
 * mapping. Every tensor's size is checked against the file before it is returned. Compute thread
 * only. */
#ifndef QN_ENGINE_WEIGHTS_H
#define QN_ENGINE_WEIGHTS_H

#include "base/error.h"
#include "engine/device.h"
#include "formats/gguf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_weights;

/* path: the first part; the other parts are in the same folder: see formats/gguf_split.h. */
qn_err qn_weights_open(struct qn_weights **w, const char *path, struct qn_error *e);
/* Creates weights from a parsed GGUF, and takes ownership of it (also on failure). */
qn_err qn_weights_from_gguf(struct qn_weights **w, struct qn_gguf *g, struct qn_error *e);
void qn_weights_close(struct qn_weights *w); /* NULL allowed; frees all memory owned by w */
/* borrowed: vocabulary, template */
const struct qn_gguf *qn_weights_gguf(const struct qn_weights *w);

/* The number of tensors in all parts, a tensor by number, and the number of the tensor with a name,
 * or -1. */
size_t qn_weights_tensors(const struct qn_weights *w);
const struct qn_gguf_tensor *qn_weights_tensor(const struct qn_weights *w, size_t i);
int64_t qn_weights_find(const struct qn_weights *w, const char *name);

bool qn_weights_has(const struct qn_weights *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Gets the tensor with that name, borrowed from the mapping. QN_ENOTFOUND; QN_EUNSUPPORTED: an
 * unknown type, whose name is in the message; QN_EFORMAT: rows that are not whole blocks, or data
 * past the end of the file. */
qn_err qn_weights_get(struct qn_weights *w, struct qn_device *dev, struct qn_tensor *t,
                      struct qn_error *e, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* QN_EFORMAT unless t has exactly this shape; the message contains both shapes and `what`. */
qn_err qn_weights_expect(const struct qn_tensor *t, const char *what, struct qn_error *e,
                         size_t ndim, const int64_t *shape);

/* Packs the matrix t, a tensor of w, for qn_matmul (see qn_weight_prepare) and lets the system drop
 * the file's pages, or leaves t in the file if the device uses it unpacked. New memory belongs to
 * w. The file's own tensor can still be read. */
qn_err qn_weights_prepare(struct qn_weights *w, struct qn_device *dev, struct qn_tensor *t,
                          struct qn_error *e);

/* Joins the n parts [rows, cols], tensors of w and of the type of t, to t [n, rows, cols] in memory
 * of w. Preparing t frees that memory. QN_ENOMEM. */
qn_err qn_weights_pile(struct qn_weights *w, struct qn_device *dev, struct qn_tensor *t,
                       const struct qn_tensor *parts, struct qn_error *e);

/* Enables the weight cache (engine/kept.h): packed matrices are stored in files of this folder,
 * limit_bytes in all, and loaded from there. Call between opening w, whose path this is, and the
 * first prepare. */
void qn_weights_keep_in(struct qn_weights *w, struct qn_device *dev, const char *folder,
                        int64_t limit_bytes, const char *path);
/* Call after the last prepare: starts writing new matrices to the cache in the background. */
void qn_weights_keep(struct qn_weights *w);
/* waits until they are written, or writing has failed */
void qn_weights_keep_wait(struct qn_weights *w);
/* Returns true if cached weights were found damaged and have been packed again, in place: previous
 * results may be wrong. Costs almost nothing unless `now` is set: then the remaining weights are
 * verified, which may take seconds. */
bool qn_weights_mend(struct qn_weights *w, bool now);

/* Transposes t [n, rows, cols], a tensor of w, to [n, cols, rows] in memory of w: F16 if it was F16
 * or a block type, else F32. Preparing t frees that memory. QN_ENOMEM. */
qn_err qn_weights_turn(struct qn_weights *w, struct qn_device *dev, struct qn_tensor *t,
                       struct qn_error *e);

/* Copies t, a tensor of w (F32, F16 or BF16), to memory of w as F32, so that a few used bytes do
 * not keep pages of the file in memory. QN_EFORMAT if a number is not finite, QN_EUNSUPPORTED for
 * another type; `what` is what the messages call the tensor. */
qn_err qn_weights_copy_vector(struct qn_weights *w, struct qn_device *dev, struct qn_tensor *t,
                              const char *what, struct qn_error *e);

int64_t qn_weights_parameters(const struct qn_weights *w); /* number of elements of all tensors */
/* Bytes that computing reads: memory of packed matrices and vectors, and of matrices left in the
 * file. */
int64_t qn_weights_prepared_bytes(const struct qn_weights *w);

/* Metadata. QN_ENOTFOUND: the key is absent; QN_EFORMAT: another type, or out of range; messages
 * contain the key. The _opt functions leave *out unchanged if the key is absent. Strings are
 * NUL-terminated and borrowed. */
qn_err qn_weights_u32(const struct qn_weights *w, const char *key, uint32_t *out,
                      struct qn_error *e);
qn_err qn_weights_u32_opt(const struct qn_weights *w, const char *key, uint32_t *out,
                          struct qn_error *e);
qn_err qn_weights_f32(const struct qn_weights *w, const char *key, float *out, struct qn_error *e);
qn_err qn_weights_f32_opt(const struct qn_weights *w, const char *key, float *out,
                          struct qn_error *e);
qn_err qn_weights_bool_opt(const struct qn_weights *w, const char *key, bool *out,
                           struct qn_error *e);
qn_err qn_weights_str(struct qn_weights *w, const char *key, const char **out, struct qn_error *e);
qn_err qn_weights_str_opt(struct qn_weights *w, const char *key, const char **out,
                          struct qn_error *e);

#endif
