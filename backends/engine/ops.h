/* Every operation a network may ask of a device. The functions below check shapes (a wrong one is
 * our own bug: they print it and abort) and call the device's row of `struct qn_ops`.
 *
 * A batch holds the rows of several sequences, one after another: rows = sum of their tokens. All
 * tensors are f32 unless said otherwise; innermost dimensions are contiguous, outer ones may be
 * strided views. No operation allocates within the bounds given to qn_device_reserve. */
#ifndef QN_ENGINE_OPS_H
#define QN_ENGINE_OPS_H

#include "engine/device.h"
#include "engine/tensor.h"

/* One product of several that share their input: y = x·wᵀ + bias. */
struct qn_linear {
    struct qn_tensor *y;          /* [rows, out] */
    const struct qn_tensor *w;    /* [out, cols], any type, prepared or as in the file */
    const struct qn_tensor *bias; /* [out] f32, or NULL */
};

/* The rows of a batch that belong to one sequence, and that sequence's cache. */
struct qn_span {
    const struct qn_tensor *k_cache; /* [kv_heads, context, head_dim] f16 */
    const struct qn_tensor *v_cache; /* the same shape */
    int32_t row;                     /* its first row in the batch */
    int32_t n;                       /* its rows, at least 1 */
    int32_t past;                    /* tokens in the cache before them: the first row's position */
};

enum qn_rope_pairs {
    QN_ROPE_HALVES,    /* pairs are (i, i + n/2): qwen ("neox") */
    QN_ROPE_NEIGHBOURS /* pairs are (2i, 2i + 1): llama as GGUF stores it */
};

enum { QN_LINEAR_MAX = 8, QN_SPANS_MAX = 256 };

/* y = x·wᵀ.  x [rows, cols], w [out, cols] any type, y [rows, out]. Block weights meet activations
 * rounded to 8 bits per 32 columns (16 when the matrix is small); F32, F16 and BF16 weights meet them
 * as they are. */
void qn_matmul(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
               const struct qn_tensor *w);

/* Up to QN_LINEAR_MAX products of the same x, which is rounded once and read once. */
void qn_matmul_many(struct qn_device *dev, const struct qn_tensor *x, const struct qn_linear *parts,
                    int n_parts);

/* y[i] = table[ids[i]], widened to f32.  table [n, d] any type as in the file, ids [rows] i32, y
 * [rows, d]. An id out of range is our own bug. */
void qn_get_rows(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *table,
                 const struct qn_tensor *ids);

/* y = x / sqrt(mean(x²) + eps) · w over the innermost dimension.  x, y [.., d] (may be one), w [d]
 * f32. */
void qn_rms_norm(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                 const struct qn_tensor *w, float eps);

/* cos and sin of pos·freq·, once per batch.  table [rows, 2, n/2], pos [rows] i32, freq [n/2] in
 * radians per position, scale multiplies both (1 unless the model says otherwise). */
void qn_rope_table(struct qn_device *dev, struct qn_tensor *table, const struct qn_tensor *pos,
                   const struct qn_tensor *freq, float scale);

/* Rotates the first n elements of every head of x in place.  x [rows, heads, head_dim], table from
 * qn_rope_table, n <= head_dim. Source: RoFormer, arXiv:2104.09864, eq. 34. */
void qn_rope(struct qn_device *dev, struct qn_tensor *x, const struct qn_tensor *table,
             enum qn_rope_pairs pairs);

/* Appends the batch's keys and values to each sequence's cache.  k, v [rows, kv_heads, head_dim].
 */
void qn_kv_store(struct qn_device *dev, const struct qn_span *spans, int n_spans,
                 const struct qn_tensor *k, const struct qn_tensor *v);

/* Causal attention of every row over its own sequence: row i of a span sees past + i + 1 keys, its
 * own included (qn_kv_store comes before).  q, out [rows, heads, head_dim], heads a multiple of
 * kv_heads; head h reads cache head h / (heads / kv_heads). scores are multiplied by scale. */
void qn_attention(struct qn_device *dev, struct qn_tensor *out, const struct qn_tensor *q,
                  const struct qn_span *spans, int n_spans, float scale);

void qn_add(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *a,
            const struct qn_tensor *b); /* y = a + b, y may be a or b */
void qn_silu_mul(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *gate,
                 const struct qn_tensor *up); /* y = gate·sigmoid(gate)·up, y may be either */
void qn_softmax(struct qn_device *dev, struct qn_tensor *y,
                const struct qn_tensor *x); /* over the innermost; y may be x */

/* Element by element between views of the same shape: f32 or f16 on either side, or equal plain
 * types. */
void qn_copy(struct qn_device *dev, struct qn_tensor *dst, const struct qn_tensor *src);

/* One device's implementation: every member MUST be set; arguments are checked before the call.
 * Called on the compute thread. */
struct qn_ops {
    void (*matmul_many)(struct qn_device *, const struct qn_tensor *x,
                        const struct qn_linear *parts, int n_parts);
    void (*get_rows)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *table,
                     const struct qn_tensor *ids);
    void (*rms_norm)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x,
                     const struct qn_tensor *w, float eps);
    void (*rope_table)(struct qn_device *, struct qn_tensor *table, const struct qn_tensor *pos,
                       const struct qn_tensor *freq, float scale);
    void (*rope)(struct qn_device *, struct qn_tensor *x, const struct qn_tensor *table,
                 enum qn_rope_pairs pairs);
    void (*kv_store)(struct qn_device *, const struct qn_span *spans, int n_spans,
                     const struct qn_tensor *k, const struct qn_tensor *v);
    void (*attention)(struct qn_device *, struct qn_tensor *out, const struct qn_tensor *q,
                      const struct qn_span *spans, int n_spans, float scale);
    void (*add)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *a,
                const struct qn_tensor *b);
    void (*silu_mul)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *gate,
                     const struct qn_tensor *up);
    void (*softmax)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x);
    void (*copy)(struct qn_device *, struct qn_tensor *dst, const struct qn_tensor *src);

    qn_err (*read)(struct qn_device *, void *host, const struct qn_tensor *t);
    void (*write)(struct qn_device *, struct qn_tensor *t, const void *host);
    qn_err (*reserve)(struct qn_device *, const struct qn_reserve *need, struct qn_error *e);
    qn_err (*weight_prepare)(struct qn_device *, struct qn_tensor *t, struct qn_mem **out,
                             struct qn_error *e);
    qn_err (*mem_new)(struct qn_device *, size_t bytes, struct qn_mem **out, struct qn_error *e);
    void (*mem_free)(struct qn_device *, struct qn_mem *m);
    void (*set_threads)(struct qn_device *, int threads);
    int (*threads)(const struct qn_device *);
    void (*free)(struct qn_device *);
};

/* What every device's own struct begins with. */
struct qn_device {
    const struct qn_ops *ops;
    const char *name;
};

#endif
