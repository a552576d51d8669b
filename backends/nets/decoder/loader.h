/* Reads a network's metadata and tensors from a model file: checks metadata against limits, checks
 * tensor shapes, and makes sure that no tensor of the file is left unused.
 *
 * Loading has two phases. While tensors are taken, everything is checked and matrices stay where
 * they are in the file; qn_loader_finish then fails if there are tensors that were not taken, and
 * packs the matrices for the device. So an unusable file is refused before the expensive work.
 *
 * Keys are given without the architecture's prefix. Private to backends/nets; compute thread
 * only. */
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
    const struct qn_stretch *stretch; /* replaces the file's RoPE scaling, or NULL */
    struct qn_sites *sites;           /* records the matrices of products, for adapters */
    int64_t widest;                   /* the longest row of any matrix taken so far */
    int64_t widest_experts;           /* the longest row of the experts' matrices */
    uint8_t *taken;                   /* [tensors in the file] whether it has been taken */
    struct qn_tensor **matrices;      /* the tensors that qn_loader_finish has to pack */
    size_t n_matrices, cap_matrices;
    struct qn_pile *piles; /* of matrices that the file stores in pieces */
    size_t n_piles;
    float **factors; /* scales of matrices that have some, held until they are packed */
    size_t n_factors;
};

void qn_loader_init(struct qn_loader *l, struct qn_weights *w, struct qn_device *dev,
                    const char *arch, struct qn_error *e);
void qn_loader_deinit(struct qn_loader *l);

/* ---- metadata; each error names the key ---- */

/* Reads an integer. fallback: the result if the key is absent; QN_LOADER_MUST: an absent key is an
 * error (QN_ENOTFOUND). QN_EFORMAT: the value is not from min to max. */
enum { QN_LOADER_MUST = INT32_MIN };
qn_err qn_loader_count(struct qn_loader *l, const char *key, int32_t min, int32_t max,
                       int32_t fallback, int32_t *out);
/* The same for n layers: the file has one number for all, or an array of at least n. */
qn_err qn_loader_counts(struct qn_loader *l, const char *key, int32_t min, int32_t max,
                        int32_t fallback, int32_t n, int32_t *out);
/* Numbers and flags; *out is left unchanged if the key is absent. qn_loader_positive requires a
 * value above 0. */
qn_err qn_loader_positive(struct qn_loader *l, const char *key, float *out);
qn_err qn_loader_real(struct qn_loader *l, const char *key, float *out);
/* A number for each of n layers, finite and not below 0: one for all, or an array of at least n. */
qn_err qn_loader_reals(struct qn_loader *l, const char *key, int32_t n, float *out);
qn_err qn_loader_flag(struct qn_loader *l, const char *key, bool *out);
/* Reads a string, which is borrowed until the weights are closed. */
qn_err qn_loader_text(struct qn_loader *l, const char *key, const char **out);
bool qn_loader_has_key(const struct qn_loader *l, const char *key);
bool qn_loader_has_list(const struct qn_loader *l, const char *key);

/* ---- tensors ---- */

bool qn_loader_has(const struct qn_loader *l, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Takes a matrix [rows, cols] for qn_matmul. *t must keep its address until qn_loader_finish, which
 * packs it. A missing optional matrix has ndim 0. A "x.weight" of type NVFP4 is taken with its
 * scale "x.scale", if there is one (experts: one each); "x.input_scale", meant for processors that
 * multiply NVFP4 natively, is ignored. QN_ENOTFOUND, QN_EFORMAT, QN_EUNSUPPORTED. */
qn_err qn_loader_matrix(struct qn_loader *l, struct qn_tensor *t, enum qn_need need, int64_t rows,
                        int64_t cols, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* Takes several matrices with the same input that the file stores as one, stacked by rows: part i
 * gets the next rows[i] rows. Parts with equal rows may also be the planes of a tensor [parts,
 * rows, cols]. */
qn_err qn_loader_stacked(struct qn_loader *l, struct qn_tensor *const *parts, const int64_t *rows,
                         int n_parts, int64_t cols, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* Takes experts' matrices [experts, rows, cols] for qn_matmul_experts; otherwise like
 * qn_loader_matrix. Files of 2023 have "x.0.weight" and so on, one tensor per expert, in place of
 * "x_exps.weight". */
qn_err qn_loader_experts(struct qn_loader *l, struct qn_tensor *t, enum qn_need need,
                         int64_t experts, int64_t rows, int64_t cols, const char *fmt, ...)
    __attribute__((format(printf, 7, 8)));

/* Takes a matrix [heads·rows, cols] as one matrix per head, made of rows first .. first + n of that
 * head: [heads, n, cols], or transposed (qn_loader_heads_turned), [heads, cols, n]. For
 * qn_matmul_experts. */
qn_err qn_loader_heads(struct qn_loader *l, struct qn_tensor *t, int64_t heads, int64_t rows,
                       int64_t first, int64_t n, int64_t cols, const char *fmt, ...)
    __attribute__((format(printf, 8, 9)));
qn_err qn_loader_heads_turned(struct qn_loader *l, struct qn_tensor *t, int64_t heads, int64_t rows,
                              int64_t first, int64_t n, int64_t cols, const char *fmt, ...)
    __attribute__((format(printf, 8, 9)));

/* Takes a table [rows, cols] that is read by rows and stays in the file's format. */
qn_err qn_loader_table(struct qn_loader *l, struct qn_tensor *t, enum qn_need need, int64_t rows,
                       int64_t cols, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* Takes a vector [n], copied as f32; F32, F16 or BF16 in the file. QN_EFORMAT if a number is not
 * finite. */
qn_err qn_loader_vector(struct qn_loader *l, struct qn_tensor *t, enum qn_need need, int64_t n,
                        const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* The same for a small matrix [rows, cols] that is used unpacked; qn_loader_turned transposes it to
 * [cols, rows]. */
qn_err qn_loader_grid(struct qn_loader *l, struct qn_tensor *t, enum qn_need need, int64_t rows,
                      int64_t cols, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
qn_err qn_loader_turned(struct qn_loader *l, struct qn_tensor *t, enum qn_need need, int64_t rows,
                        int64_t cols, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* The row length of a tensor, for widths that no metadata key states; 0 if the file lacks it. */
int64_t qn_loader_cols(const struct qn_loader *l, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Marks the tensor of this name, if there is one, as not needed by the network. */
void qn_loader_ignore(struct qn_loader *l, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for a matrix that converters write for every layer although this layer does not use it;
 * an adapter for it is accepted and ignored, too. */
void qn_loader_unused(struct qn_loader *l, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for all tensors whose names begin with this. */
void qn_loader_ignore_all(struct qn_loader *l, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Packs all matrices; progress as in qn_net_load. QN_EUNSUPPORTED: the file has a tensor that was
 * not taken, whose name is in the message; ignoring it would change the model's output. */
qn_err qn_loader_finish(struct qn_loader *l, qn_net_progress progress, void *ctx);

#endif
