/* Types shared by the files of the CPU device: the device itself and the table of kernels from
 * which isa.c chooses. Included only within this folder, by the kernel tests and by the benchmark.
 */
#ifndef QN_ENGINE_CPU_CPU_H
#define QN_ENGINE_CPU_CPU_H

#include "engine/cpu/pack.h"
#include "engine/ops.h"
#include "engine/pool.h"

#include <stdbool.h>

enum { CPU_ALIGN = 64 };

/* Some queries of one sequence that share a cache head. */
struct cpu_attend {
    float *out;     /* [n][group][v_dim], strides below, in floats */
    const float *q; /* [n][group][k_dim] */
    int64_t out_row, q_row, out_head, q_head;
    const char *k, *v;    /* this head's rows in page 0 */
    const int32_t *pages; /* of the sequence */
    size_t page_bytes, k_row, v_row;
    enum qn_dtype k_type, v_type;
    int n;     /* query rows */
    int group; /* query heads that share this cache head */
    int k_dim, v_dim;
    int64_t first;         /* keys that row 0 attends to without a window; row i: first + i */
    int32_t window, chunk; /* as in qn_attend_params */
    float scale, softcap;
    const float *sinks; /* [group] or NULL */
    float *work;        /* working memory of cpu_attend_floats() floats */
    float *part;        /* the sums of splits: see attend_part */
    int64_t part_step;  /* floats from one split's sums to the next */
};

/* The arguments of the kernels in recurrent.h; strides from token to token are in floats, columns
 * are multiples of 16. */
enum { CPU_CONV_MAX = QN_CONV_MAX };
struct cpu_conv {
    float *y; /* [n][channels] */
    const float *x, *w, *bias;
    float *state; /* [kernel - 1][channels] */
    int64_t y_row, x_row, w_row, state_row, channels;
    int n, kernel;
    bool silu;
};
struct cpu_delta {
    float *out;
    const float *q, *k, *v, *decay, *beta;
    float *state; /* [k_dim][columns] */
    int64_t out_row, q_row, k_row, v_row, decay_row, beta_row, k_dim, columns;
    int n;
};
struct cpu_scan {
    float *out;
    const float *x, *b, *c, *decay, *dt;
    float d;
    float *state; /* [states][columns] */
    int64_t out_row, x_row, b_row, c_row, decay_row, dt_row, states, columns;
    int n;
};

/* One panel of 16 weight rows times one group of nc activations, both in the formats of pack.h,
 * over all columns: y [nc][16]. */
typedef void (*cpu_panel_fn)(float *y, const void *panel, const void *activations, int64_t cols);
/* The same for plain weights, n (1 to 16) rows in the file's format, row_bytes apart and unaligned.
 * The contents of y for rows beyond n are unspecified. */
typedef void (*cpu_rows_fn)(float *y, const void *rows, size_t row_bytes, int n,
                            const float *activations, int64_t cols);

/* One panel of Q8_0 times a group and its rounding residuals, as one sum of products with
 * sixteen-bit activations: y [nc][16]. */
typedef void (*cpu_both_fn)(float *y, const void *panel, const void *group, const void *rest,
                            int64_t cols);

/* Two panels in wide form times one group of activations. */
struct cpu_tile {
    float *y;               /* row r, output o of panel p: y[p * y_panel + r * y_row + o] */
    int64_t y_panel, y_row; /* in floats */
    enum qn_dtype type;
    const void *first, *second; /* equal if there is only one panel */
    /* A group of `rows` rows in pack.h's format. The products with rest are added, for Q8_0 as in
     * `both`; NULL: none. */
    const void *group, *rest;
    int n; /* rows of the group that are valid, and of y that are written */
    int64_t cols;
    const char *ask, *ask_end; /* memory to prefetch during the product */
};

/* Products of many rows with block weights that are unpacked once for all of them (pack.h). The
 * results are bit-identical to those of `panel` and `both`: the same sums of integers, scaled in
 * the same order. */
struct cpu_wide {
    bool (*supported)(void); /* NULL: on every processor that supports the set */
    int rows;                /* rows of one group: CPU_WIDE_ROWS; 0: this set has no wide form */
    int from;                /* number of rows from which unpacking a panel beforehand pays off */
    void (*tile)(const struct cpu_tile *t);
    /* Converts a group of `rows` rows from `round`'s format to what `tile` requires; NULL: not
     * needed. */
    void (*ready)(void *group, int64_t cols);
    /* Called before a thread's first tile of a type and after its last; NULL: not needed. */
    void (*begin)(enum qn_dtype type);
    void (*end)(void);
};

/* The inner loops for one instruction set. Rows are contiguous; y may be an input where ops.h
 * permits it. */
struct cpu_kernels {
    const char *name;
    bool (*supported)(void);
    void (*rms_norm)(float *y, const float *x, const float *w, int64_t n, float eps);
    void (*silu_mul)(float *y, const float *gate, const float *up, int64_t n);
    void (*mul)(float *y, const float *a, const float *b, int64_t n);
    void (*sigmoid_mul)(float *y, const float *gate, const float *x, int64_t n);
    void (*softmax)(float *y, const float *x, int64_t n);
    void (*add)(float *y, const float *a, const float *b, int64_t n);
    float (*dot)(const float *a, const float *b, int64_t n);
    void (*narrow)(uint16_t *f16, const float *x, int64_t n);
    void (*widen)(float *y, const uint16_t *f16, int64_t n);
    /* Stores one row of keys or values in the cache's type. */
    void (*keep)(enum qn_dtype type, void *to, const float *from, int64_t n);
    void (*attend)(const struct cpu_attend *a); /* n·group at most CPU_ATTEND_QUERIES */
    /* The same in two steps: first the sums of one split of the keys, CPU_ATTEND_SPLIT long, to
     * a->part [n·group][v_dim padded + 2]; then the result from n splits. */
    void (*attend_part)(const struct cpu_attend *a, int64_t split);
    void (*attend_join)(const struct cpu_attend *a, int64_t n);
    void (*conv)(const struct cpu_conv *a);
    void (*delta)(const struct cpu_delta *a);
    void (*scan)(const struct cpu_scan *a);
    /* Rounds activations for products with block weights: n rows x[0] .. x[n - 1] (n <= nc) as one
     * group of nc, cols a multiple of 32. */
    void (*round)(void *group, int nc, const float *const *x, int n, int64_t cols);
    /* The residuals of that rounding, in the same format, in 1/256 of the group's steps. */
    void (*rest)(void *rest, const void *group, int nc, const float *const *x, int n, int64_t cols);
    cpu_panel_fn panel[QN_DTYPE_COUNT][4]; /* by block type, and for nc = 1, 2, 4, 8 */
    /* likewise; NULL: the results of `panel` for the group and for the residuals are added */
    cpu_both_fn both[4];
    cpu_rows_fn rows[QN_DTYPE_COUNT][4]; /* by plain type, likewise */
    /* Converts n (1 to 16) rows of plain weights or activations to the wide form, padded with
     * zeros; NULL: not supported. */
    void (*plain_classes)(enum qn_dtype type, float *out, const char *const *rows, int n,
                          int64_t cols);
    void (*plain_tile)(const struct cpu_tile *t); /* products of these; bit-identical to `rows` */
    struct cpu_wide wide;                         /* of block weights */
    /* Converts a panel to the wide form; NULL if the set or the type has none. */
    void (*wide_panel[QN_DTYPE_COUNT])(void *out, const void *panel, int64_t cols);
};

extern const struct cpu_kernels cpu_kernels_generic, cpu_kernels_avx2, cpu_kernels_avxvnni,
    cpu_kernels_avx512, cpu_kernels_amx;
/* Whether the processor converts half precision: __builtin_cpu_supports of clang 14 has no name for
 * this feature. */
bool cpu_has_f16c(void);
/* Whether AMX tiles of bytes are available; the first call requests them from the operating system.
 */
bool cpu_has_amx(void);

/* All sets compiled into this program, best first, generic last, NULL at the end; the processor may
 * not support all of them. */
extern const struct cpu_kernels *const cpu_kernels_all[];

/* Tests every kernel of one set, whose processor features must be present: writes those that pass
 * to out, and generic ones for the rest. Returns how many were replaced. */
int cpu_kernels_try(const struct cpu_kernels *set, struct cpu_kernels *out);

/* Chooses the set named by QUINCE_ISA, or the best that the processor supports. Each kernel is
 * tested; one that faults or gives another result than the generic kernel is replaced by the
 * generic one, and one log line reports that. Borrowed, valid for ever. Any thread. */
qn_err cpu_kernels_choose(const struct cpu_kernels **out, struct qn_error *e);

enum {
    CPU_ATTEND_QUERIES = 32, /* limit of rows times group of one block */
    CPU_ATTEND_KEYS = QN_KV_PAGE,
    CPU_ATTEND_SPLIT = 512, /* number of keys whose sums are computed separately */
    /* limit of splits for dividing keys among threads; longer contexts are not divided */
    CPU_ATTEND_SPLITS_MAX = 128,
    CPU_ATTEND_PAD = 32 /* head widths are padded to a multiple of this */
};

/* The first key that a query at position pos attends to. */
static inline int64_t cpu_first_key(const struct cpu_attend *a, int64_t pos)
{
    int64_t from = a->window && pos >= a->window ? pos - a->window + 1 : 0;
    int64_t chunk = a->chunk ? pos / a->chunk * a->chunk : 0;
    return from > chunk ? from : chunk;
}

/* Floats of working memory that one thread needs for attention: a page of keys and one of values,
 * queries and sums, and for each query its scores and a few numbers. */
static inline int64_t cpu_attend_floats(int64_t head_dim)
{
    int64_t wide = (head_dim + CPU_ATTEND_PAD - 1) / CPU_ATTEND_PAD * CPU_ATTEND_PAD;
    return (CPU_ATTEND_KEYS + 3 * CPU_ATTEND_QUERIES) * wide +
           CPU_ATTEND_QUERIES * (CPU_ATTEND_KEYS + CPU_ATTEND_PAD + 4);
}

/* Floats for the sums of the splits of one row's attention. */
static inline int64_t cpu_parts_floats(int64_t heads, int64_t head_dim)
{
    return CPU_ATTEND_SPLITS_MAX * heads * (head_dim + CPU_ATTEND_PAD + 2);
}

struct cpu_device {
    struct qn_device base;
    const struct cpu_kernels *k;
    struct qn_pool *pool;
    char name[32];
    void *rows; /* the prepared activations of the current matmul */
    size_t rows_bytes;
    float *work;         /* per thread, one after another */
    int64_t work_floats; /* of one thread */
    float *parts;        /* the sums of splits: cpu_parts_floats() floats */
    int32_t *choices;    /* a mixture's rows by expert: cpu_experts_ints() integers */
    struct qn_reserve reserved;
};

static inline struct cpu_device *cpu(struct qn_device *dev)
{
    return (struct cpu_device *)dev;
}

static inline void *cpu_data(const struct qn_tensor *t)
{
    return (char *)t->mem->host + t->offset;
}

/* The address of element [i, j, 0] of a tensor of up to three dimensions. */
static inline void *cpu_at(const struct qn_tensor *t, int64_t i, int64_t j)
{
    char *p = cpu_data(t);
    if (t->ndim >= 2)
        p += i * t->stride[0];
    if (t->ndim >= 3)
        p += j * t->stride[1];
    return p;
}

/* Reports more rows or columns than qn_device_reserve was called with, a bug of ours, and aborts.
 */
_Noreturn void cpu_not_reserved(const char *op, int64_t rows, int64_t cols);

/* number of elements; operations on fewer stay on the calling thread, because waking another thread
 * costs more than it saves */
enum { CPU_SMALL = 16 * 1024 }; /* elements */

void cpu_matmul_many(struct qn_device *, const struct qn_tensor *x, const struct qn_linear *parts,
                     int n_parts, float onto);
qn_err cpu_weight_prepare(struct qn_device *, struct qn_tensor *t, struct qn_mem **out,
                          struct qn_error *e);
qn_err cpu_weight_adopt(struct qn_device *, struct qn_tensor *t, const void *host, size_t bytes,
                        struct qn_mem **out, struct qn_error *e);
size_t cpu_matmul_bytes(const struct cpu_kernels *k, int64_t rows,
                        int64_t cols);   /* of cpu_device.rows */
int64_t cpu_matmul_floats(int64_t cols); /* of each thread's working memory */
void cpu_choose_experts(struct qn_device *, struct qn_tensor *ids, struct qn_tensor *weights,
                        const struct qn_tensor *logits, const struct qn_expert_route *route);
void cpu_matmul_experts(struct qn_device *, const struct qn_tensor *x, const struct qn_tensor *ids,
                        const struct qn_expert_linear *parts, int n_parts);
void cpu_sum_experts(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x,
                     const struct qn_tensor *w, const struct qn_tensor *bias,
                     const struct qn_tensor *ids, const struct qn_tensor *weights);
size_t cpu_experts_bytes(const struct cpu_kernels *k,
                         const struct qn_reserve *r); /* of cpu_device.rows */
int64_t cpu_experts_ints(const struct qn_reserve *r);
void cpu_get_rows(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *table,
                  const struct qn_tensor *ids);
void cpu_rms_norm(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x,
                  const struct qn_tensor *w, float eps);
void cpu_layer_norm(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x,
                    const struct qn_tensor *w, const struct qn_tensor *b, float eps);
void cpu_scale_cols(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x,
                    const struct qn_tensor *w);
void cpu_match_norm(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x,
                    const struct qn_tensor *like);
void cpu_cut_below(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x, float times);
void cpu_gelu_mul(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *gate,
                  const struct qn_tensor *up);
void cpu_scale(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x, float factor);
void cpu_softcap(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x, float limit);
void cpu_softmax(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x);
void cpu_add(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *a,
             const struct qn_tensor *b);
void cpu_silu_mul(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *gate,
                  const struct qn_tensor *up);
void cpu_scale_rows(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x,
                    const struct qn_tensor *s);
void cpu_swiglu_clamped(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *gate,
                        const struct qn_tensor *up, float alpha, float limit);
void cpu_copy(struct qn_device *, struct qn_tensor *dst, const struct qn_tensor *src);
void cpu_rope_table(struct qn_device *, struct qn_tensor *table, const struct qn_tensor *pos,
                    const struct qn_tensor *freq, float scale);
void cpu_rope_table_axes(struct qn_device *, struct qn_tensor *table, const struct qn_tensor *pos,
                         const struct qn_tensor *freq, const struct qn_tensor *axis, float scale);
void cpu_rope(struct qn_device *, struct qn_tensor *x, const struct qn_tensor *table,
              enum qn_rope_pairs pairs);
void cpu_kv_store(struct qn_device *, const struct qn_kv_layer *cache, const struct qn_span *spans,
                  int n_spans, const struct qn_tensor *k, const struct qn_tensor *v);
void cpu_attention(struct qn_device *, struct qn_tensor *out, const struct qn_tensor *q,
                   const struct qn_kv_layer *cache, const struct qn_span *spans, int n_spans,
                   const struct qn_attend_params *params);
void cpu_mul(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *a,
             const struct qn_tensor *b);
void cpu_relu_squared(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x);
void cpu_sigmoid_mul(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *gate,
                     const struct qn_tensor *x);
void cpu_sigmoid(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x);
void cpu_l2_norm(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x, float eps,
                 float scale);
void cpu_short_conv(struct qn_device *, struct qn_tensor *y, const struct qn_tensor *x,
                    const struct qn_tensor *w, const struct qn_tensor *bias, bool silu,
                    const struct qn_span *spans, const struct qn_tensor *states, int n_spans);
void cpu_time_steps(struct qn_device *, struct qn_tensor *decay, struct qn_tensor *dt,
                    const struct qn_tensor *raw, const struct qn_tensor *bias,
                    const struct qn_tensor *a);
void cpu_delta_rule(struct qn_device *, struct qn_tensor *out, const struct qn_delta *d,
                    const struct qn_span *spans, const struct qn_tensor *states, int n_spans);
void cpu_mamba2_scan(struct qn_device *, struct qn_tensor *out, const struct qn_scan *d,
                     const struct qn_span *spans, const struct qn_tensor *states, int n_spans);

#endif
