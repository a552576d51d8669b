/* The CPU device: its memory, its working memory, its row of operations. */
#include "base/buf.h"
#include "engine/cpu/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Memory from this size on is requested in huge pages: caches are read in pieces of a few KiB that
 * are megabytes apart, and each piece would need its own TLB entry. */
enum { HUGE_FROM = 16 << 20 };

static qn_err mem_new(struct qn_device *dev, size_t bytes, struct qn_mem **out, struct qn_error *e)
{
    void *p = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return qn_fail(e, QN_ENOMEM, "no memory for %zu MiB: unload a model or use a smaller one",
                       bytes >> 20);
    if (bytes >= HUGE_FROM)
        madvise(p, bytes, MADV_HUGEPAGE); /* a hint; failure is harmless */
    struct qn_mem *m = qn_xcalloc(1, sizeof *m);
    *m = (struct qn_mem){.dev = dev, .host = p, .bytes = bytes, .owned = 1};
    *out = m;
    return QN_OK;
}

static void mem_free(struct qn_device *dev, struct qn_mem *m)
{
    (void)dev;
    munmap(m->host, m->bytes ? m->bytes : 1);
}

static qn_err read_tensor(struct qn_device *dev, void *host, const struct qn_tensor *t)
{
    (void)dev;
    memcpy(host, cpu_data(t), qn_tensor_bytes(t));
    return QN_OK;
}

static void write_tensor(struct qn_device *dev, struct qn_tensor *t, const void *host)
{
    (void)dev;
    memcpy(cpu_data(t), host, qn_tensor_bytes(t));
}

_Noreturn void cpu_not_reserved(const char *op, int64_t rows, int64_t cols)
{
    fprintf(stderr, "%s: %lld rows of %lld were not reserved\n", op, (long long)rows,
            (long long)cols);
    abort();
}

/* Allocates `floats` of working memory per thread: for attention's blocks, or rows of a product. */
static qn_err room_for_threads(struct cpu_device *d, int64_t floats, int threads,
                               struct qn_error *e)
{
    floats = (floats + 15) / 16 * 16;
    void *p = aligned_alloc(CPU_ALIGN, (size_t)floats * sizeof(float) * (size_t)threads);
    if (!p)
        return qn_fail(e, QN_ENOMEM, "no memory for the working space of %d threads", threads);
    free(d->work);
    d->work = p;
    d->work_floats = floats;
    return QN_OK;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static qn_err reserve(struct qn_device *dev, const struct qn_reserve *need, struct qn_error *e)
{
    struct cpu_device *d = cpu(dev);
    struct qn_reserve r = {
        .rows = larger(need->rows, d->reserved.rows),
        .cols = larger(need->cols, d->reserved.cols),
        .heads = larger(need->heads, d->reserved.heads),
        .head_dim = larger(need->head_dim, d->reserved.head_dim),
        .experts = larger(need->experts, d->reserved.experts),
        .experts_used = larger(need->experts_used, d->reserved.experts_used),
        .experts_cols = larger(need->experts_cols, d->reserved.experts_cols),
    };
    size_t bytes = cpu_matmul_bytes(d->k, r.rows, r.cols);
    if (bytes < cpu_experts_bytes(d->k, &r))
        bytes = cpu_experts_bytes(d->k, &r);
    if (bytes > d->rows_bytes) {
        void *p = aligned_alloc(CPU_ALIGN, bytes);
        if (!p)
            return qn_fail(e, QN_ENOMEM, "no memory for %zu MiB of activations", bytes >> 20);
        free(d->rows);
        d->rows = p;
        d->rows_bytes = bytes;
    }
    if (cpu_experts_ints(&r) > cpu_experts_ints(&d->reserved)) {
        free(d->choices);
        d->choices = qn_alloc_sized((size_t)cpu_experts_ints(&r), sizeof *d->choices, SIZE_MAX);
        if (!d->choices)
            return qn_fail(e, QN_ENOMEM, "no memory for %lld choices of experts",
                           (long long)(r.rows * r.experts_used));
    }
    if (cpu_parts_floats(r.heads, r.head_dim) >
        cpu_parts_floats(d->reserved.heads, d->reserved.head_dim)) {
        free(d->parts); /* most of it is never touched */
        d->parts = qn_alloc_sized((size_t)cpu_parts_floats(r.heads, r.head_dim), sizeof *d->parts,
                                  SIZE_MAX);
        if (!d->parts)
            return qn_fail(e, QN_ENOMEM, "no memory for the attention of %lld heads",
                           (long long)r.heads);
    }
    int64_t floats = larger(cpu_attend_floats(r.head_dim), cpu_matmul_floats(r.cols));
    if (floats > d->work_floats) {
        qn_err err = room_for_threads(d, floats, qn_pool_threads(d->pool), e);
        if (err)
            return err;
    }
    d->reserved = r;
    return QN_OK;
}

static int threads_of(const struct qn_device *dev)
{
    return qn_pool_threads(((const struct cpu_device *)dev)->pool);
}

static void free_device(struct qn_device *dev)
{
    struct cpu_device *d = cpu(dev);
    qn_pool_free(d->pool);
    free(d->rows);
    free(d->work);
    free(d->parts);
    free(d->choices);
    free(d);
}

/* Keeps the present threads if the system refuses to start new ones: only the speed depends on
 * them. */
static void set_threads(struct qn_device *dev, int threads)
{
    struct cpu_device *d = cpu(dev);
    struct qn_pool *p;
    threads = threads < 1 ? 1 : threads > QN_POOL_THREADS_MAX ? QN_POOL_THREADS_MAX : threads;
    if (threads == qn_pool_threads(d->pool) || qn_pool_new(threads, &p, NULL) != QN_OK)
        return;
    if (room_for_threads(d, d->work_floats, threads, NULL) != QN_OK) {
        qn_pool_free(p);
        return;
    }
    qn_pool_free(d->pool);
    d->pool = p;
}

static const struct qn_ops ops = {
    .matmul_many = cpu_matmul_many,
    .choose_experts = cpu_choose_experts,
    .matmul_experts = cpu_matmul_experts,
    .sum_experts = cpu_sum_experts,
    .get_rows = cpu_get_rows,
    .rms_norm = cpu_rms_norm,
    .rope_table = cpu_rope_table,
    .rope_table_axes = cpu_rope_table_axes,
    .rope = cpu_rope,
    .kv_store = cpu_kv_store,
    .attention = cpu_attention,
    .add = cpu_add,
    .layer_norm = cpu_layer_norm,
    .silu_mul = cpu_silu_mul,
    .scale_rows = cpu_scale_rows,
    .scale_cols = cpu_scale_cols,
    .match_norm = cpu_match_norm,
    .cut_below = cpu_cut_below,
    .gelu_mul = cpu_gelu_mul,
    .scale = cpu_scale,
    .softcap = cpu_softcap,
    .swiglu_clamped = cpu_swiglu_clamped,
    .softmax = cpu_softmax,
    .copy = cpu_copy,
    .mul = cpu_mul,
    .relu_squared = cpu_relu_squared,
    .sigmoid_mul = cpu_sigmoid_mul,
    .sigmoid = cpu_sigmoid,
    .l2_norm = cpu_l2_norm,
    .short_conv = cpu_short_conv,
    .time_steps = cpu_time_steps,
    .delta_rule = cpu_delta_rule,
    .mamba2_scan = cpu_mamba2_scan,
    .read = read_tensor,
    .write = write_tensor,
    .reserve = reserve,
    .weight_prepare = cpu_weight_prepare,
    .weight_adopt = cpu_weight_adopt,
    .mem_new = mem_new,
    .mem_free = mem_free,
    .set_threads = set_threads,
    .threads = threads_of,
    .free = free_device,
};

qn_err qn_device_cpu_new(int threads, struct qn_device **out, struct qn_error *e)
{
    const struct cpu_kernels *k;
    qn_err err = cpu_kernels_choose(&k, e);
    if (err)
        return err;
    struct cpu_device *d = qn_xcalloc(1, sizeof *d);
    d->base.ops = &ops;
    d->base.name = d->name;
    d->base.layouts = CPU_LAYOUTS;
    d->k = k;
    snprintf(d->name, sizeof d->name, "cpu %s", k->name);
    err = qn_pool_new(threads, &d->pool, e);
    if (!err)
        err =
            reserve(&d->base,
                    &(struct qn_reserve){.rows = 1, .cols = 4096, .heads = 16, .head_dim = 128}, e);
    if (err) {
        free_device(&d->base);
        return err;
    }
    *out = &d->base;
    return QN_OK;
}
