/* A model's named tensors and its metadata. Shapes are reversed once, here: outermost first.
 *
 * A model is one file, or several parts of one. Files are mapped; a tensor got from one borrows the
 * mapping. Every tensor's size is checked
 * against the file before it is lent. Compute thread only. */
#ifndef QN_ENGINE_WEIGHTS_H
#define QN_ENGINE_WEIGHTS_H

#include "base/error.h"
#include "engine/device.h"
#include "formats/gguf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_weights;

/* The other parts of a model lie beside its first, whose path is given: see formats/gguf_split.h.
 */
qn_err qn_weights_open(struct qn_weights **w, const char *path, struct qn_error *e);
/* Over a parsed GGUF, which it owns from then on (also when it fails). */
qn_err qn_weights_from_gguf(struct qn_weights **w, struct qn_gguf *g, struct qn_error *e);
void qn_weights_close(struct qn_weights *w); /* NULL allowed; frees what it made */
const struct qn_gguf *qn_weights_gguf(const struct qn_weights *w); /* lent: vocabulary, template */

/* The tensors of all parts, by number, and the number of the one so named, or -1. */
size_t qn_weights_tensors(const struct qn_weights *w);
const struct qn_gguf_tensor *qn_weights_tensor(const struct qn_weights *w, size_t i);
int64_t qn_weights_find(const struct qn_weights *w, const char *name);

bool qn_weights_has(const struct qn_weights *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The tensor of that name, lent from the mapping. QN_ENOTFOUND, QN_EUNSUPPORTED (a type this
 * version does not know, named), QN_EFORMAT (rows that are no whole blocks, data past the end of
 * the file). */
qn_err qn_weights_get(struct qn_weights *w, struct qn_device *dev, struct qn_tensor *t,
                      struct qn_error *e, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* QN_EFORMAT unless t has exactly this shape; the message names both and `what`. */
qn_err qn_weights_expect(const struct qn_tensor *t, const char *what, struct qn_error *e,
                         size_t ndim, const int64_t *shape);

/* Lays the matrix t, got from w, out anew for qn_matmul (see qn_weight_prepare) and lets the file's
 * pages go, or leaves it in them where the device takes it so. New memory belongs to w. The file's
 * own tensor may still be got and read. */
qn_err qn_weights_prepare(struct qn_weights *w, struct qn_device *dev, struct qn_tensor *t,
                          struct qn_error *e);

/* t [n, rows, cols] becomes its n parts [rows, cols], got from w and of its type, one after another
 * in memory of w. Preparing it gives that memory back. QN_ENOMEM. */
qn_err qn_weights_pile(struct qn_weights *w, struct qn_device *dev, struct qn_tensor *t,
                       const struct qn_tensor *parts, struct qn_error *e);

/* Keeps laid-out matrices in files of this folder, limit_bytes in all, and takes those that are
 * there (engine/kept.h). Between opening w, whose path this is, and the first prepare. */
void qn_weights_keep_in(struct qn_weights *w, struct qn_device *dev, const char *folder,
                        int64_t limit_bytes, const char *path);
/* After the last prepare: begins to write what is new, in the background. */
void qn_weights_keep(struct qn_weights *w);
void qn_weights_keep_wait(struct qn_weights *w); /* until it is written, or cannot be */
/* True when kept weights were found damaged and have been laid out anew, in place: what was
 * computed with them before is wrong. Costs next to nothing unless `now`: then what has not been
 * checked is checked, which may take seconds. */
bool qn_weights_mend(struct qn_weights *w, bool now);

/* t [n, rows, cols], got from w, becomes [n, cols, rows] in memory of w: F16 where it was F16 or a
 * block type, else F32. Preparing it gives that memory back. QN_ENOMEM. */
qn_err qn_weights_turn(struct qn_weights *w, struct qn_device *dev, struct qn_tensor *t,
                       struct qn_error *e);

/* Copies t, got from w (F32, F16 or BF16), into memory of w as F32: a few bytes in use must not
 * keep pages of the file in memory. QN_EFORMAT when a number is not finite, QN_EUNSUPPORTED for
 * another type; `what` names it. */
qn_err qn_weights_copy_vector(struct qn_weights *w, struct qn_device *dev, struct qn_tensor *t,
                              const char *what, struct qn_error *e);

int64_t qn_weights_parameters(const struct qn_weights *w); /* elements of all tensors */
/* Bytes that computing reads: memory made for matrices and vectors, and matrices left in the file.
 */
int64_t qn_weights_prepared_bytes(const struct qn_weights *w);

/* Metadata. Absent: QN_ENOTFOUND; other type or out of range: QN_EFORMAT. Each message names the
 * key. The _opt forms leave *out as it was when the key is absent. Strings come NUL-terminated and
 * lent. */
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
