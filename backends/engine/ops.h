/* Every operation that a network may request of a device. The functions below check shapes (a wrong
 * one is a bug of ours: they print it and abort) and call the device's row of `struct qn_ops`.
 *
 * A batch holds the rows of several sequences, one after another: rows = sum of their tokens. All
 * tensors are f32 unless stated otherwise; innermost dimensions are contiguous, outer ones may be
 * strided views. No operation allocates within the limits given to qn_device_reserve. */
#ifndef QN_ENGINE_OPS_H
#define QN_ENGINE_OPS_H

#include "engine/device.h"
#include "engine/tensor.h"

/* One of several products that share their input: y = x·wᵀ + bias. */
struct qn_linear {
    struct qn_tensor *y;          /* [rows, out] */
    const struct qn_tensor *w;    /* [out, cols], any type, packed or as in the file */
    const struct qn_tensor *bias; /* [out] f32, or NULL */
};

enum { QN_KV_PAGE = 32 }; /* tokens of one cache page */

/* How one layer's keys and values are stored in the pages of a pool: page p begins at p·page_bytes
 * of mem; within it, head h has QN_KV_PAGE rows of keys at k_offset + h·head_bytes, one after
 * another, and as many rows of values at v_offset + h·head_bytes. */
struct qn_kv_layer {
    struct qn_mem *mem;
    size_t page_bytes, head_bytes, k_offset, v_offset;
    size_t k_row, v_row;          /* bytes from one row to the next */
    enum qn_dtype k_type, v_type; /* F32, F16, BF16, Q8_0 or Q4_0 */
    int32_t kv_heads, k_dim, v_dim;
    bool v_in_k; /* values are the first v_dim elements of the keys */
};

/* The rows of a batch that belong to one sequence, and that sequence's pages. */
struct qn_span {
    int32_t row;  /* its first row in the batch */
    int32_t n;    /* its rows, at least 1 */
    int32_t past; /* tokens in the cache before them: the first row's position */
    /* token t is row t % QN_KV_PAGE of page pages[t / QN_KV_PAGE]; entries that no row attends to
     * may be -1 */
    const int32_t *pages;
};

/* Which keys a row attends to, and how its scores are transformed. */
struct qn_attend_params {
    float scale;    /* scores are q·k·scale */
    float softcap;  /* then softcap·tanh(score / softcap), unless 0 */
    int32_t window; /* the row at position p attends to p - window + 1 .. p; 0: all before it */
    int32_t chunk;  /* and to nothing before the last multiple of chunk; 0: no such limit */
    const struct qn_tensor
        /* [heads] f32 or NULL: attention sinks, an additional score per head without a value */
        *sinks;
};

enum qn_rope_pairs {
    QN_ROPE_HALVES,    /* pairs are (i, i + n/2): qwen ("neox") */
    QN_ROPE_NEIGHBOURS /* pairs are (2i, 2i + 1): llama as stored in GGUF */
};

enum { QN_ROPE_AXES = 4 }; /* time, height, width, and one that no known model uses */

enum { QN_LINEAR_MAX = 8, QN_SPANS_MAX = 256, QN_EXPERTS_MAX = 1024, QN_EXPERTS_USED_MAX = 64 };

/* y = x·wᵀ.  x [rows, cols], w [out, cols] any type, y [rows, out]. For block weights, activations
 * are rounded to 8 bits per 32 columns (16 bits if the matrix is small); for many rows and a large
 * matrix a device may round both to 8 bits per 128 columns. For F32, F16 and BF16 weights
 * activations are not rounded. */
void qn_matmul(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
               const struct qn_tensor *w);

/* Up to QN_LINEAR_MAX products of the same x, which is rounded and read only once. */
void qn_matmul_many(struct qn_device *dev, const struct qn_tensor *x, const struct qn_linear *parts,
                    int n_parts);

/* y += factor·x·wᵀ, otherwise like qn_matmul. */
void qn_matmul_onto(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                    const struct qn_tensor *w, float factor);

/* Which experts of a mixture each row uses, and with which weights.  logits [rows, experts]; the
 * chosen experts are written to ids [rows, used] i32 and weights [rows, used], best first, ties by
 * expert number. Every id is valid and occurs once per row, whatever the logits are (NaN ranks
 * last). Sources: arXiv:2101.03961, arXiv:2401.04088 (softmax), arXiv:2412.19437 section 2.1.2
 * (sigmoid, bias, groups), arXiv:2409.12136 (sparsemixer; near: less than 2 % away, as published).
 */
struct qn_expert_route {
    enum qn_route_score {
        QN_ROUTE_SOFTMAX,           /* weight: softmax over all experts */
        QN_ROUTE_SIGMOID,           /* weight: the logit's sigmoid */
        QN_ROUTE_SOFTMAX_OF_CHOSEN, /* chosen by logit; weight: softmax over the chosen */
        /* chosen by logit; weight: softmax over the experts not chosen before whose logits are near
         * the chosen one's */
        QN_ROUTE_SPARSEMIXER
    } score;
    /* [experts] f32, added for choosing only, not to the weights; or NULL */
    const struct qn_tensor *bias;
    int32_t groups; /* above 1: experts are divided into this many equal groups, and only ... */
    /* ... experts of the best groups (by the sum of their best two) are eligible */
    int32_t groups_used;
    bool normalise; /* a row's weights are divided by their sum */
    float scale;    /* the weights are finally multiplied by this */
};
void qn_choose_experts(struct qn_device *dev, struct qn_tensor *ids, struct qn_tensor *weights,
                       const struct qn_tensor *logits, const struct qn_expert_route *route);

/* One of several products that share their input and their choice of experts. */
struct qn_expert_linear {
    struct qn_tensor *y;          /* [rows·used, out] */
    const struct qn_tensor *w;    /* [experts, out, cols], packed if of a block type */
    const struct qn_tensor *bias; /* [experts, out] f32, or NULL */
};

/* y[r·used + i] = x·w[ids[r, i]]ᵀ + bias[ids[r, i]] for up to QN_LINEAR_MAX products. ids [rows,
 * used] i32; x [rows, cols], or [rows·used, cols] if each choice has its own input. ids NULL: every
 * row uses all experts, each with its own input (one matrix per attention head). An id out of range
 * is a bug of ours. */
void qn_matmul_experts(struct qn_device *dev, const struct qn_tensor *x,
                       const struct qn_tensor *ids, const struct qn_expert_linear *parts,
                       int n_parts);

/* y[r] = sum over i of weights[r, i]·(x[r·used + i]·w[ids[r, i]]ᵀ + bias[ids[r, i]]), summed in the
 * order of the experts' numbers.  y [rows, out], x [rows·used, cols], weights [rows, used] or NULL
 * for ones. */
void qn_sum_experts(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                    const struct qn_tensor *w, const struct qn_tensor *bias,
                    const struct qn_tensor *ids, const struct qn_tensor *weights);

/* y[i] = table[ids[i]], converted to f32.  table [n, d] any type, packed or as in the file, ids
 * [rows] i32, y [rows, d]. An id out of range is a bug of ours. */
void qn_get_rows(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *table,
                 const struct qn_tensor *ids);

/* y = x / sqrt(mean(x²) + eps) · w over the innermost dimension.  x, y [.., d] (may be the same), w
 * [d] f32, or [heads, d] for x [rows, heads, d]. */
void qn_rms_norm(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                 const struct qn_tensor *w, float eps);

/* y = (x - mean(x)) / sqrt(variance(x) + eps) · w + b over the innermost dimension.  x, y [.., d]
 * (may be the same), w [d] f32, or [heads, d] for x [rows, heads, d], b [d] f32 or NULL. Source:
 * arXiv:1607.06450. */
void qn_layer_norm(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                   const struct qn_tensor *w, const struct qn_tensor *b, float eps);

/* cos and sin of pos·freq, once per batch.  table [rows, 2, n/2], pos [rows] i32, freq [n/2] in
 * radians per position; scale multiplies both (1 for most models). */
void qn_rope_table(struct qn_device *dev, struct qn_tensor *table, const struct qn_tensor *pos,
                   const struct qn_tensor *freq, float scale);

/* The same for tokens with positions in a picture: pos [rows, 4], and pair i is rotated by the
 * position in column axis[i], axis [n/2] i32. Source: M-RoPE, arXiv:2409.12191, section 2.1. */
void qn_rope_table_axes(struct qn_device *dev, struct qn_tensor *table, const struct qn_tensor *pos,
                        const struct qn_tensor *freq, const struct qn_tensor *axis, float scale);

/* Rotates the first n elements of every head of x in place.  x [rows, heads, head_dim], table from
 * qn_rope_table, n <= head_dim. Source: RoFormer, arXiv:2104.09864, eq. 34. */
void qn_rope(struct qn_device *dev, struct qn_tensor *x, const struct qn_tensor *table,
             enum qn_rope_pairs pairs);

/* Appends the batch's keys and values to each sequence's cache, rounded to its types. k [rows,
 * kv_heads, k_dim], v [rows, kv_heads, v_dim], or NULL if values are part of the keys. */
void qn_kv_store(struct qn_device *dev, const struct qn_kv_layer *cache,
                 const struct qn_span *spans, int n_spans, const struct qn_tensor *k,
                 const struct qn_tensor *v);

/* Causal attention of every row over its own sequence: row i of a span attends to the keys up to
 * its own position past + i (call qn_kv_store first), within window and chunk.  q [rows, heads,
 * k_dim], out [rows, heads, v_dim], heads a multiple of kv_heads; head h reads cache head h /
 * (heads / kv_heads). A row's result depends neither on the other spans nor on the threads. */
void qn_attention(struct qn_device *dev, struct qn_tensor *out, const struct qn_tensor *q,
                  const struct qn_kv_layer *cache, const struct qn_span *spans, int n_spans,
                  const struct qn_attend_params *params);

void qn_add(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *a,
            const struct qn_tensor *b); /* y = a + b, y may be a or b */
void qn_silu_mul(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *gate,
                 const struct qn_tensor *up); /* y = gate·sigmoid(gate)·up, y may be either */
/* y[i] = s[i]·x[i].  x, y [rows, d] (may be the same), s [rows, 1]. */
void qn_scale_rows(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                   const struct qn_tensor *s);
/* y[r] = w·x[r], element by element.  x, y [rows, d] (may be the same), w [d]. */
void qn_scale_cols(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                   const struct qn_tensor *w);
/* Every row of y is that of x, scaled to the norm of like's row.  All [rows, d]; y may be x. */
void qn_match_norm(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                   const struct qn_tensor *like);
/* y = max(0, x - (mean + times·standard deviation)), both over the row.  x, y [rows, d]; y may be
 * x. Source: arXiv:2506.06644. */
void qn_cut_below(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                  float times);
/* y = gelu(gate)·up by the approximation with tanh, y may be either. Source: arXiv:1606.08415. */
void qn_gelu_mul(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *gate,
                 const struct qn_tensor *up);
void qn_scale(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
              float factor); /* y = factor·x, [rows, d]; y may be x */
/* y = limit·tanh(x / limit), [rows, d]; y may be x. Source: arXiv:2408.00118. */
void qn_softcap(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x, float limit);
/* y = g·sigmoid(alpha·g)·(u + 1) with g = min(gate, limit), and u = up clamped to ±limit; y may be
 * either. Source: the published code of gpt-oss. */
void qn_swiglu_clamped(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *gate,
                       const struct qn_tensor *up, float alpha, float limit);
void qn_softmax(struct qn_device *dev, struct qn_tensor *y,
                const struct qn_tensor *x); /* softmax over the innermost dimension; y may be x */

/* Copies element by element between views of the same shape: f32 or f16 on either side, or equal
 * plain types. */
void qn_copy(struct qn_device *dev, struct qn_tensor *dst, const struct qn_tensor *src);

/* y = a · b, element by element, all [rows, d]; y may be a or b. */
void qn_mul(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *a,
            const struct qn_tensor *b);
/* y = max(x, 0)², both [rows, d]; y may be x. */
void qn_relu_squared(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x);
/* y = x · sigmoid(gate), all [rows, d] or [rows, heads, d]; y may be x or gate. */
void qn_sigmoid_mul(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *gate,
                    const struct qn_tensor *x);
/* y = 1 / (1 + e^-x), both [rows, n] with few columns (one per head); y may be x. */
void qn_sigmoid(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x);
/* y = scale · x / sqrt(sum(x²) + eps) over the innermost dimension.  x, y [.., d]; y may be x. */
void qn_l2_norm(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x, float eps,
                float scale);

/* ---- recurrent layers: spans[i] has its state in states[i], f32 and contiguous, which the
 * operation reads and updates to the state after the span's last token; the order of a matrix's
 * elements in it is defined by the device, and all zeros is the initial state. Only row and n of a
 * span are read. Results do not depend on batch or chunks: a span's result is bit-identical for the
 * same rows and state. ---- */

enum { QN_CONV_MAX = 16 /* longest kernel of qn_short_conv */ };

/* Causal depthwise convolution over a sequence's tokens: y[t] = bias + sum over j < kernel of w[j]
 * · x[t + 1 - kernel + j], then silu if requested.  x, y [rows, channels] (different memory), w
 * [kernel, channels], kernel 2 .. QN_CONV_MAX, bias [channels] or NULL, state [kernel - 1,
 * channels]: the inputs before the first token, oldest first. */
void qn_short_conv(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                   const struct qn_tensor *w, const struct qn_tensor *bias, bool silu,
                   const struct qn_span *spans, const struct qn_tensor *states, int n_spans);

/* dt = softplus(raw + bias), decay = e^(dt·a).  raw, decay, dt [rows, heads], dt may be NULL or
 * raw, bias, a [heads]; a is negative in valid models. Source: arXiv:2312.00752, algorithm 2. */
void qn_time_steps(struct qn_device *dev, struct qn_tensor *decay, struct qn_tensor *dt,
                   const struct qn_tensor *raw, const struct qn_tensor *bias,
                   const struct qn_tensor *a);

/* Gated delta rule, a state S [k_dim, v_dim] for each value head:
 *   S = decay·S + k ⊗ beta·(v - decay·Sᵀk),  out = Sᵀq
 * v_heads is a multiple of k_heads; v_dim a multiple of 16; state [v_heads, k_dim, v_dim].
 * Source: arXiv:2412.06464, eq. 10. */
struct qn_delta {
    const struct qn_tensor *q, *k; /* [rows, k_heads, k_dim], already normalised and scaled */
    const struct qn_tensor *v;     /* [rows, v_heads, v_dim] */
    const struct qn_tensor *decay, *beta; /* [rows, v_heads] */
    bool tiled; /* value head h uses key head h % k_heads, else h / (v_heads / k_heads) */
};
void qn_delta_rule(struct qn_device *dev, struct qn_tensor *out, const struct qn_delta *d,
                   const struct qn_span *spans, const struct qn_tensor *states, int n_spans);

/* Mamba-2's recurrence, a state S [states, head_dim] for each head:
 *   S = decay·S + b ⊗ dt·x,  out = Sᵀc + d·x
 * heads is a multiple of groups, head h uses group h / (heads / groups); head_dim a multiple of 16;
 * state [heads, states, head_dim]. Source: arXiv:2405.21060, eq. 2 with a scalar decay. */
struct qn_scan {
    const struct qn_tensor *x;          /* [rows, heads, head_dim] */
    const struct qn_tensor *b, *c;      /* [rows, groups, states] */
    const struct qn_tensor *decay, *dt; /* [rows, heads] */
    const struct qn_tensor *d;          /* [heads] */
};
void qn_mamba2_scan(struct qn_device *dev, struct qn_tensor *out, const struct qn_scan *d,
                    const struct qn_span *spans, const struct qn_tensor *states, int n_spans);

/* One device's implementation: every member MUST be set; arguments are checked before the call.
 * Called on the compute thread. */
struct qn_ops {
    /* onto 0: each y is overwritten; else y += onto·(x·wᵀ + bias) */
    void (*matmul_many)(struct qn_device *, const struct qn_tensor *x,
                        const struct qn_linear *parts, int n_parts, float onto);
    void (*choose_experts)(struct qn_device *, struct qn_tensor *ids, struct qn_tensor *weights,
                           const struct qn_tensor *logits, const struct qn_expert_route *route);
    void (*matmul_experts)(struct qn_device *, const struct qn_tensor *x,
                           const struct qn_tensor *ids, const struct qn_expert_linear *parts,
                           int n_parts);
    void (*sum_experts)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x,
                        const struct qn_tensor *w, const struct qn_tensor *bias,
                        const struct qn_tensor *ids, const struct qn_tensor *weights);
    void (*get_rows)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *table,
                     const struct qn_tensor *ids);
    void (*rms_norm)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x,
                     const struct qn_tensor *w, float eps);
    void (*layer_norm)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x,
                       const struct qn_tensor *w, const struct qn_tensor *b, float eps);
    void (*rope_table)(struct qn_device *, struct qn_tensor *table, const struct qn_tensor *pos,
                       const struct qn_tensor *freq, float scale);
    void (*rope_table_axes)(struct qn_device *, struct qn_tensor *table,
                            const struct qn_tensor *pos, const struct qn_tensor *freq,
                            const struct qn_tensor *axis, float scale);
    void (*rope)(struct qn_device *, struct qn_tensor *x, const struct qn_tensor *table,
                 enum qn_rope_pairs pairs);
    void (*kv_store)(struct qn_device *, const struct qn_kv_layer *cache,
                     const struct qn_span *spans, int n_spans, const struct qn_tensor *k,
                     const struct qn_tensor *v);
    void (*attention)(struct qn_device *, struct qn_tensor *out, const struct qn_tensor *q,
                      const struct qn_kv_layer *cache, const struct qn_span *spans, int n_spans,
                      const struct qn_attend_params *params);
    void (*add)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *a,
                const struct qn_tensor *b);
    void (*silu_mul)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *gate,
                     const struct qn_tensor *up);
    void (*scale_rows)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x,
                       const struct qn_tensor *s);
    void (*scale_cols)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x,
                       const struct qn_tensor *w);
    void (*match_norm)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x,
                       const struct qn_tensor *like);
    void (*cut_below)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x,
                      float times);
    void (*gelu_mul)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *gate,
                     const struct qn_tensor *up);
    void (*scale)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x, float factor);
    void (*softcap)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x,
                    float limit);
    void (*swiglu_clamped)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *gate,
                           const struct qn_tensor *up, float alpha, float limit);
    void (*softmax)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x);
    void (*copy)(struct qn_device *, struct qn_tensor *dst, const struct qn_tensor *src);

    void (*mul)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *a,
                const struct qn_tensor *b);
    void (*relu_squared)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x);
    void (*sigmoid_mul)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *gate,
                        const struct qn_tensor *x);
    void (*sigmoid)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x);
    void (*l2_norm)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x, float eps,
                    float scale);
    void (*short_conv)(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x,
                       const struct qn_tensor *w, const struct qn_tensor *bias, bool silu,
                       const struct qn_span *spans, const struct qn_tensor *states, int n_spans);
    void (*time_steps)(struct qn_device *, struct qn_tensor *decay, struct qn_tensor *dt,
                       const struct qn_tensor *raw, const struct qn_tensor *bias,
                       const struct qn_tensor *a);
    void (*delta_rule)(struct qn_device *, struct qn_tensor *out, const struct qn_delta *d,
                       const struct qn_span *spans, const struct qn_tensor *states, int n_spans);
    void (*mamba2_scan)(struct qn_device *, struct qn_tensor *out, const struct qn_scan *d,
                        const struct qn_span *spans, const struct qn_tensor *states, int n_spans);

    qn_err (*read)(struct qn_device *, void *host, const struct qn_tensor *t);
    void (*write)(struct qn_device *, struct qn_tensor *t, const void *host);
    qn_err (*reserve)(struct qn_device *, const struct qn_reserve *need, struct qn_error *e);
    qn_err (*weight_prepare)(struct qn_device *, struct qn_tensor *t, struct qn_mem **out,
                             struct qn_error *e);
    qn_err (*weight_adopt)(struct qn_device *, struct qn_tensor *t, const void *host, size_t bytes,
                           struct qn_mem **out, struct qn_error *e);
    qn_err (*mem_new)(struct qn_device *, size_t bytes, struct qn_mem **out, struct qn_error *e);
    void (*mem_free)(struct qn_device *, struct qn_mem *m);
    void (*set_threads)(struct qn_device *, int threads);
    int (*threads)(const struct qn_device *);
    void (*free)(struct qn_device *);
};

/* The first member of every device's own struct. */
struct qn_device {
    const struct qn_ops *ops;
    const char *name;
    /* version of weight_prepare's packed formats; 0: they must not be stored beyond the process */
    uint32_t layouts;
};

#endif
