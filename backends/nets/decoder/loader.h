/* What a network takes from a model file: metadata within limits, tensors of the shapes they must
 * have, and the certainty that nothing of the file was left out.
 *
 * Loading has two phases. While tensors are taken, everything is checked and matrices stay where
 * they are in the file; qn_loader_finish then refuses tensors that were not taken and lays the
 * matrices out for the device. A file that cannot run is refused before any work is done on it.
 *
 * Keys are given without the architecture's prefix. Private to this room; compute thread only. */
#ifndef QN_NETS_DECODER_LOADER_H
#define QN_NETS_DECODER_LOADER_H

#include "engine/tensor.h"
#include "engine/weights.h"
#include "nets/decoder/adapter.h"
#include "nets/nets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum qn_need { QN_REQUIRED, QN_OPTIONAL };

struct qn_pile;

struct qn_loader {
    struct qn_weights *w;
    struct qn_device *dev;
    const char *arch; /* the prefix of metadata keys */
    struct qn_error *e;
    const struct qn_stretch *stretch; /* in place of what the file says, or NULL */
    struct qn_sites *sites;           /* where products' matrices are noted for adapters */
    int64_t widest;                   /* the longest row of any matrix taken so far */
    int64_t widest_experts;           /* the same of experts' matrices */
    uint8_t *taken;                   /* [tensors in the file] */
    struct qn_tensor **matrices;      /* taken and not yet laid out: where they are kept */
    size_t n_matrices, cap_matrices;
    struct qn_pile *piles; /* of matrices that the file has in pieces */
    size_t n_piles;
    float **factors; /* of matrices that have some, until they are laid out */
    size_t n_factors;
};

void qn_loader_init(struct qn_loader *l, struct qn_weights *w, struct qn_device *dev,
                    const char *arch, struct qn_error *e);
void qn_loader_deinit(struct qn_loader *l);

/* ---- metadata; each failure names the key ---- */

/* A whole number from min to max. fallback: what an absent key means; QN_LOADER_MUST: it must be
 * there (QN_ENOTFOUND). QN_EFORMAT outside the limits. */
enum { QN_LOADER_MUST = INT32_MIN };
qn_err qn_loader_count(struct qn_loader *l, const char *key, int32_t min, int32_t max,
                       int32_t fallback, int32_t *out);
/* The same for n layers: the file has one number for all, or an array of at least n. */
qn_err qn_loader_counts(struct qn_loader *l, const char *key, int32_t min, int32_t max,
                        int32_t fallback, int32_t n, int32_t *out);
/* Numbers and flags; *out holds what an absent key means. `positive` must be above 0. */
qn_err qn_loader_positive(struct qn_loader *l, const char *key, float *out);
qn_err qn_loader_real(struct qn_loader *l, const char *key, float *out);
/* A number for each of n layers, finite and not below 0: one for all, or a list of at least n. */
qn_err qn_loader_reals(struct qn_loader *l, const char *key, int32_t n, float *out);
qn_err qn_loader_flag(struct qn_loader *l, const char *key, bool *out);
/* Lent until the weights are closed. */
qn_err qn_loader_text(struct qn_loader *l, const char *key, const char **out);
bool qn_loader_has_key(const struct qn_loader *l, const char *key);
bool qn_loader_has_list(const struct qn_loader *l, const char *key);

/* ---- tensors ---- */

bool qn_loader_has(const struct qn_loader *l, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A matrix [rows, cols] for qn_matmul. *t must stay where it is until qn_loader_finish, which lays
 * it out. An optional one that is missing keeps ndim 0. With "x.weight" of type NVFP4 goes its
 * factor "x.scale", if there is one (experts: one each); "x.input_scale", for processors that
 * multiply such numbers as they are, means nothing here. QN_ENOTFOUND, QN_EFORMAT, QN_EUNSUPPORTED.
 */
qn_err qn_loader_matrix(struct qn_loader *l, struct qn_tensor *t, enum qn_need need, int64_t rows,
                        int64_t cols, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* Several matrices of the same input that the file keeps as one, below each other: part i gets the
 * next rows[i] rows. Parts with rows alike may also be the planes of a tensor [parts, rows, cols].
 */
qn_err qn_loader_stacked(struct qn_loader *l, struct qn_tensor *const *parts, const int64_t *rows,
                         int n_parts, int64_t cols, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* Experts' matrices [experts, rows, cols] for qn_matmul_experts; otherwise as above. Where there is
 * no "x_exps.weight", files of 2023 have "x.0.weight" and on, one for each expert. */
qn_err qn_loader_experts(struct qn_loader *l, struct qn_tensor *t, enum qn_need need,
                         int64_t experts, int64_t rows, int64_t cols, const char *fmt, ...)
    __attribute__((format(printf, 7, 8)));

/* A matrix [heads·rows, cols] as a matrix for each head, made of rows first .. first + n of the
 * head's own: [heads, n, cols], or turned, [heads, cols, n]. For qn_matmul_experts. */
qn_err qn_loader_heads(struct qn_loader *l, struct qn_tensor *t, int64_t heads, int64_t rows,
                       int64_t first, int64_t n, int64_t cols, const char *fmt, ...)
    __attribute__((format(printf, 8, 9)));
qn_err qn_loader_heads_turned(struct qn_loader *l, struct qn_tensor *t, int64_t heads, int64_t rows,
                              int64_t first, int64_t n, int64_t cols, const char *fmt, ...)
    __attribute__((format(printf, 8, 9)));

/* A table [rows, cols] read by rows, as it lies in the file. */
qn_err qn_loader_table(struct qn_loader *l, struct qn_tensor *t, enum qn_need need, int64_t rows,
                       int64_t cols, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* A vector [n], copied as f32; F32, F16 and BF16 in the file. QN_EFORMAT when a number is not
 * finite. */
qn_err qn_loader_vector(struct qn_loader *l, struct qn_tensor *t, enum qn_need need, int64_t n,
                        const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* The same for a small matrix [rows, cols] that is used as it is; qn_loader_turned keeps it the
 * other way round, as [cols, rows]. */
qn_err qn_loader_grid(struct qn_loader *l, struct qn_tensor *t, enum qn_need need, int64_t rows,
                      int64_t cols, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
qn_err qn_loader_turned(struct qn_loader *l, struct qn_tensor *t, enum qn_need need, int64_t rows,
                        int64_t cols, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* The length of the rows of a tensor, for widths that no key of the metadata tells; 0 when the file
 * does not have it. */
int64_t qn_loader_cols(const struct qn_loader *l, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Says that the tensor of this name, if there is one, means nothing to the network. */
void qn_loader_ignore(struct qn_loader *l, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The same of a matrix that converters write for every layer but this one never multiplies with: an
 * adapter may change it, which means as little. */
void qn_loader_unused(struct qn_loader *l, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The same of all tensors whose names begin so. */
void qn_loader_ignore_all(struct qn_loader *l, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* QN_EUNSUPPORTED names a tensor of the file that was not taken: leaving it out would change the
 * model's answers. Else lays all matrices out; progress as in qn_net_load. */
qn_err qn_loader_finish(struct qn_loader *l, qn_net_progress progress, void *ctx);

#endif
