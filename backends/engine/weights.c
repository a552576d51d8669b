/* Named tensors and metadata of a GGUF file, checked before they are lent. */
#include "engine/weights.h"
#include "base/arena.h"
#include "base/buf.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STRINGS_MAX = 64 * 1024 * 1024 };

struct qn_weights {
    struct qn_gguf *gguf;
    struct qn_mem *file; /* the mapping as memory of `dev`; made at the first get */
    bool mapped;         /* from a file: pages that leave memory come back from there */
    struct qn_device *dev;
    struct qn_mem **made; /* matrices laid out anew and copies of vectors */
    size_t n_made, cap_made;
    int64_t made_bytes;
    struct qn_arena *strings; /* NUL-terminated copies of metadata strings */
};

qn_err qn_weights_from_gguf(struct qn_weights **out, struct qn_gguf *g, struct qn_error *e)
{
    (void)e;
    struct qn_weights *w = qn_xcalloc(1, sizeof *w);
    w->gguf = g;
    w->strings = qn_arena_new(STRINGS_MAX);
    *out = w;
    return QN_OK;
}

qn_err qn_weights_open(struct qn_weights **out, const char *path, struct qn_error *e)
{
    struct qn_gguf *g;
    qn_err err = qn_gguf_open(path, &g, e);
    if (!err)
        err = qn_weights_from_gguf(out, g, e);
    if (!err)
        (*out)->mapped = true;
    return err;
}

void qn_weights_close(struct qn_weights *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->n_made; i++)
        qn_mem_free(w->made[i]);
    free(w->made);
    qn_mem_free(w->file);
    qn_gguf_close(w->gguf);
    qn_arena_free(w->strings);
    free(w);
}

const struct qn_gguf *qn_weights_gguf(const struct qn_weights *w)
{
    return w->gguf;
}

static const struct qn_gguf_tensor *
find(const struct qn_weights *w, char name[QN_GGUF_NAME_MAX + 1], const char *fmt, va_list ap)
{
    int n = vsnprintf(name, QN_GGUF_NAME_MAX + 1, fmt, ap);
    return n < 0 || n > QN_GGUF_NAME_MAX ? NULL : qn_gguf_tensor_find(w->gguf, name);
}

bool qn_weights_has(const struct qn_weights *w, const char *fmt, ...)
{
    char name[QN_GGUF_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    const struct qn_gguf_tensor *t = find(w, name, fmt, ap);
    va_end(ap);
    return t != NULL;
}

/* Checks one entry of the file's table and reverses its shape. */
static qn_err read_entry(const struct qn_gguf_tensor *g, const char *name, struct qn_tensor *t,
                         struct qn_error *e)
{
    const struct qn_dtype_info *d = qn_dtype_by_ggml(g->type);
    if (!d || !d->dequant)
        return qn_fail(e, QN_EUNSUPPORTED,
                       "tensor %s has type %s, which this version cannot compute with", name,
                       qn_ggml_type_name(g->type));
    if (g->ndim < 1 || g->ndim > QN_DIMS_MAX)
        return qn_fail(e, QN_EFORMAT, "tensor %s has %d dimensions, not 1 to %d", name, g->ndim,
                       QN_DIMS_MAX);
    int64_t shape[QN_DIMS_MAX];
    uint64_t blocks = 1;
    for (int i = 0; i < g->ndim; i++) {
        uint64_t n = g->ne[i];
        if (i == 0) {
            if (n % (uint64_t)d->block)
                return qn_fail(e, QN_EFORMAT,
                               "tensor %s has rows of %" PRIu64
                               ", not a multiple of %d as %s needs",
                               name, n, d->block, d->name);
            n /= (uint64_t)d->block;
        }
        if (n == 0 || n > INT32_MAX || __builtin_mul_overflow(blocks, n, &blocks))
            return qn_fail(e, QN_EFORMAT, "tensor %s has a dimension of %" PRIu64, name, g->ne[i]);
        shape[g->ndim - 1 - i] = (int64_t)g->ne[i];
    }
    uint64_t bytes;
    if (__builtin_mul_overflow(blocks, (uint64_t)d->block_bytes, &bytes) || bytes > g->max_bytes)
        return qn_fail(e, QN_EFORMAT,
                       "tensor %s reaches past the end of the file: the file is cut off or damaged",
                       name);
    *t = qn_tensor_make(qn_dtype_of(d), g->ndim, shape, NULL, 0);
    return QN_OK;
}

qn_err qn_weights_get(struct qn_weights *w, struct qn_device *dev, struct qn_tensor *t,
                      struct qn_error *e, const char *fmt, ...)
{
    char name[QN_GGUF_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    const struct qn_gguf_tensor *g = find(w, name, fmt, ap);
    va_end(ap);
    if (!g)
        return qn_fail(e, QN_ENOTFOUND, "tensor %s is missing from the model file", name);
    qn_err err = read_entry(g, name, t, e);
    if (err)
        return err;
    if (w->file && w->dev != dev)
        return qn_fail(e, QN_EUNSUPPORTED, "tensor %s: one file, one device", name);
    if (!w->file) {
        w->file = qn_mem_borrow(dev, qn_gguf_data(w->gguf), qn_gguf_file_bytes(w->gguf));
        w->dev = dev;
    }
    t->mem = w->file;
    t->offset = (size_t)((const char *)g->data - (const char *)w->file->host);
    return QN_OK;
}

static void shape_text(const struct qn_tensor *t, char *out, size_t n)
{
    qn_tensor_describe(t, out, n);
    *strchr(out, ']') = '\0';
}

qn_err qn_weights_expect(const struct qn_tensor *t, const char *what, struct qn_error *e,
                         size_t ndim, const int64_t *shape)
{
    bool same = t->ndim == (int)ndim;
    for (size_t i = 0; same && i < ndim; i++)
        same = t->shape[i] == shape[i];
    if (same)
        return QN_OK;
    char have[128], want[128];
    struct qn_tensor wanted = {.dtype = QN_F32, .ndim = (int)ndim};
    memcpy(wanted.shape, shape, ndim * sizeof *shape);
    shape_text(t, have, sizeof have);
    shape_text(&wanted, want, sizeof want);
    return qn_fail(e, QN_EFORMAT, "tensor %s has shape %s], but the model's metadata ask for %s]",
                   what, have, want);
}

/* All of the file's pages may leave memory, those that reading ahead brought in, too; what is read
 * again comes back. Advice: nothing to do if refused. Other memory than a file's would be lost. */
static void drop_pages(const struct qn_weights *w)
{
    if (w->mapped)
        madvise((void *)qn_gguf_data(w->gguf), qn_gguf_file_bytes(w->gguf), MADV_DONTNEED);
}

/* Asks for [p, p + n) of the mapping in large pieces: sixteen rows read in turn look like chance.
 */
static void read_ahead(const void *p, size_t n)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)p / page * page;
    madvise((void *)first, (uintptr_t)p + n - first, MADV_WILLNEED); /* advice: it may be refused */
}

static void keep(struct qn_weights *w, struct qn_mem *mem)
{
    if (w->n_made == w->cap_made) {
        w->cap_made = w->cap_made ? 2 * w->cap_made : 64;
        w->made = qn_xrealloc(w->made, w->cap_made * sizeof *w->made);
    }
    w->made[w->n_made++] = mem;
    w->made_bytes += (int64_t)mem->bytes;
}

static void forget(struct qn_weights *w, struct qn_mem *mem)
{
    for (size_t i = 0; i < w->n_made; i++)
        if (w->made[i] == mem) {
            w->made_bytes -= (int64_t)mem->bytes;
            qn_mem_free(mem);
            w->made[i] = w->made[--w->n_made];
            return;
        }
}

qn_err qn_weights_prepare(struct qn_weights *w, struct qn_device *dev, struct qn_tensor *t,
                          struct qn_error *e)
{
    struct qn_tensor before = *t;
    struct qn_mem *mem;
    if (before.mem == w->file && w->mapped)
        read_ahead((const char *)w->file->host + before.offset, qn_tensor_bytes(&before));
    qn_err err = qn_weight_prepare(dev, t, &mem, e);
    if (err)
        return err;
    keep(w, mem);
    if (before.mem == w->file)
        drop_pages(w);
    else
        forget(w, before.mem);
    return QN_OK;
}

qn_err qn_weights_turn(struct qn_weights *w, struct qn_device *dev, struct qn_tensor *t,
                       struct qn_error *e)
{
    const struct qn_dtype_info *from = qn_dtype(t->dtype);
    const int64_t n = t->shape[0], rows = t->shape[1], cols = t->shape[2];
    const enum qn_dtype to = t->dtype == QN_F16 || from->block > 1 ? QN_F16 : QN_F32;
    struct qn_tensor turned = qn_tensor_make(to, 3, (const int64_t[]){n, cols, rows}, NULL, 0);
    float *row = qn_xcalloc((size_t)cols, sizeof *row);
    qn_err err = qn_mem_new(dev, qn_tensor_bytes(&turned), &turned.mem, e);
    for (int64_t i = 0; i < n && !err; i++)
        for (int64_t r = 0; r < rows; r++) {
            from->dequant(row,
                          (const char *)t->mem->host + t->offset + i * t->stride[0] +
                              r * t->stride[1],
                          cols);
            char *out = (char *)turned.mem->host + i * turned.stride[0] + r * turned.stride[2];
            for (int64_t c = 0; c < cols; c++)
                qn_dtype(to)->quant(out + c * turned.stride[1], row + c, 1);
        }
    free(row);
    if (err)
        return err;
    keep(w, turned.mem);
    *t = turned;
    return QN_OK;
}

qn_err qn_weights_copy_vector(struct qn_weights *w, struct qn_device *dev, struct qn_tensor *t,
                              const char *what, struct qn_error *e)
{
    assert(qn_tensor_contiguous(t) && t->mem == w->file);
    const int64_t n = qn_tensor_elements(t);
    if (qn_dtype(t->dtype)->block != 1)
        return qn_fail(e, QN_EUNSUPPORTED, "tensor %s is %s; vectors must be F32, F16 or BF16", what,
                       qn_dtype(t->dtype)->name);
    float *v = qn_alloc_sized((size_t)n, sizeof *v, SIZE_MAX);
    struct qn_mem *mem = NULL;
    qn_err err = v ? QN_OK : qn_fail(e, QN_ENOMEM, "no memory for tensor %s", what);
    if (!err)
        qn_dtype(t->dtype)->dequant(v, (const char *)t->mem->host + t->offset, n);
    for (int64_t i = 0; i < n && !err; i++)
        if (!isfinite(v[i]))
            err = qn_fail(e, QN_EFORMAT, "tensor %s holds the number %g", what,
                          (double)v[i]);
    if (!err)
        err = qn_mem_new(dev, (size_t)n * sizeof *v, &mem, e);
    if (!err) {
        keep(w, mem);
        *t = qn_tensor_make(QN_F32, t->ndim, t->shape, mem, 0);
        qn_write(dev, t, v);
    }
    free(v);
    return err;
}

int64_t qn_weights_parameters(const struct qn_weights *w)
{
    int64_t sum = 0;
    for (size_t i = 0; i < qn_gguf_tensor_count(w->gguf); i++) {
        const struct qn_gguf_tensor *t = qn_gguf_tensor_at(w->gguf, i);
        uint64_t n = 1;
        for (int d = 0; d < t->ndim; d++)
            if (__builtin_mul_overflow(n, t->ne[d], &n) || n > INT64_MAX / 2)
                return sum;
        if (__builtin_add_overflow(sum, (int64_t)n, &sum))
            return INT64_MAX;
    }
    return sum;
}

int64_t qn_weights_prepared_bytes(const struct qn_weights *w)
{
    return w->made_bytes;
}

qn_err qn_weights_u32(const struct qn_weights *w, const char *key, uint32_t *out,
                      struct qn_error *e)
{
    int64_t v;
    qn_err err = qn_gguf_i64(w->gguf, key, 0, UINT32_MAX, &v, e);
    if (!err)
        *out = (uint32_t)v;
    return err;
}

qn_err qn_weights_u32_opt(const struct qn_weights *w, const char *key, uint32_t *out,
                          struct qn_error *e)
{
    return qn_gguf_has(w->gguf, key) ? qn_weights_u32(w, key, out, e) : QN_OK;
}

qn_err qn_weights_f32(const struct qn_weights *w, const char *key, float *out, struct qn_error *e)
{
    double v;
    qn_err err = qn_gguf_f64(w->gguf, key, &v, e);
    if (!err)
        *out = (float)v;
    return err;
}

qn_err qn_weights_f32_opt(const struct qn_weights *w, const char *key, float *out,
                          struct qn_error *e)
{
    return qn_gguf_has(w->gguf, key) ? qn_weights_f32(w, key, out, e) : QN_OK;
}

qn_err qn_weights_bool_opt(const struct qn_weights *w, const char *key, bool *out,
                           struct qn_error *e)
{
    return qn_gguf_has(w->gguf, key) ? qn_gguf_bool(w->gguf, key, out, e) : QN_OK;
}

qn_err qn_weights_str(struct qn_weights *w, const char *key, const char **out, struct qn_error *e)
{
    struct qn_gguf_str s;
    qn_err err = qn_gguf_str(w->gguf, key, &s, e);
    if (err)
        return err;
    char *copy = s.n < STRINGS_MAX ? qn_arena_try(w->strings, s.n + 1) : NULL;
    if (!copy)
        return qn_fail(e, QN_ELIMIT, "metadata key %s: a string of %zu bytes is too long", key,
                       s.n);
    memcpy(copy, s.s, s.n);
    *out = copy;
    return QN_OK;
}

qn_err qn_weights_str_opt(struct qn_weights *w, const char *key, const char **out,
                          struct qn_error *e)
{
    return qn_gguf_has(w->gguf, key) ? qn_weights_str(w, key, out, e) : QN_OK;
}
