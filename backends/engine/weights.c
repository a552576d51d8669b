/* Named tensors and metadata of a GGUF file, checked before they are returned. */
#include "engine/weights.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/log.h"
#include "engine/kept.h"
#include "formats/gguf_split.h"

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

/* One file of the model. */
struct part {
    struct qn_gguf *gguf;
    struct qn_mem *file; /* the mapping as memory of `dev`; created at the first qn_weights_get */
    size_t first;        /* the number of its first tensor among those of all parts */
};

struct qn_weights {
    struct part *part; /* part[0] has the metadata */
    size_t n_parts, n_tensors;
    bool mapped; /* from files: pages dropped from memory can be read again */
    struct qn_device *dev;
    struct qn_mem **made; /* packed matrices and copies of vectors */
    size_t n_made, cap_made;
    /* lent_bytes: of matrices that are multiplied in the file's format */
    int64_t made_bytes, lent_bytes;
    struct qn_kept_weights *kept; /* or NULL */
    struct qn_arena *strings;     /* NUL-terminated copies of metadata strings */
};

/* QN_EFORMAT if a name occurs in an earlier part, too. */
static qn_err check_names(const struct qn_weights *w, size_t part, struct qn_error *e)
{
    const struct qn_gguf *g = w->part[part].gguf;
    for (size_t i = 0; part > 0 && i < qn_gguf_tensor_count(g); i++) {
        struct qn_gguf_str s = qn_gguf_tensor_at(g, i)->name;
        char name[QN_GGUF_NAME_MAX + 1];
        snprintf(name, sizeof name, "%.*s", (int)s.n, s.s);
        for (size_t p = 0; p < part; p++)
            if (qn_gguf_tensor_find(w->part[p].gguf, name))
                return qn_fail(e, QN_EFORMAT, "tensor %s is in part %zu and in part %zu", name,
                               p + 1, part + 1);
    }
    return QN_OK;
}

/* Creates the weights from n parsed files, and takes ownership of them (also on failure). */
static qn_err over(struct qn_weights **out, struct qn_gguf *const *parts, size_t n,
                   struct qn_error *e)
{
    struct qn_weights *w = qn_xcalloc(1, sizeof *w);
    w->part = qn_xcalloc(n, sizeof *w->part);
    w->n_parts = n;
    w->strings = qn_arena_new(STRINGS_MAX);
    for (size_t i = 0; i < n; i++) {
        w->part[i] = (struct part){.gguf = parts[i], .first = w->n_tensors};
        w->n_tensors += qn_gguf_tensor_count(parts[i]);
    }
    qn_err err = QN_OK;
    for (size_t i = 0; i < n && !err; i++)
        err = check_names(w, i, e);
    if (err)
        qn_weights_close(w);
    else
        *out = w;
    return err;
}

qn_err qn_weights_from_gguf(struct qn_weights **out, struct qn_gguf *g, struct qn_error *e)
{
    return over(out, &g, 1, e);
}

qn_err qn_weights_open(struct qn_weights **out, const char *path, struct qn_error *e)
{
    struct qn_gguf *parts[QN_GGUF_PARTS_MAX];
    size_t n;
    qn_err err = qn_gguf_open_parts(path, parts, &n, e);
    if (!err)
        err = over(out, parts, n, e);
    if (err)
        return err;
    (*out)->mapped = true;
    for (size_t i = 0; i < n; i++) /* a hint: read in large pages what is not in memory yet */
        madvise((void *)qn_gguf_data(parts[i]), qn_gguf_file_bytes(parts[i]), MADV_HUGEPAGE);
    return QN_OK;
}

void qn_weights_close(struct qn_weights *w)
{
    if (!w)
        return;
    qn_kept_free(w->kept); /* first, because its thread may be reading the matrices */
    for (size_t i = 0; i < w->n_made; i++)
        qn_mem_free(w->made[i]);
    free(w->made);
    for (size_t i = 0; i < w->n_parts; i++) {
        qn_mem_free(w->part[i].file);
        qn_gguf_close(w->part[i].gguf);
    }
    free(w->part);
    qn_arena_free(w->strings);
    free(w);
}

const struct qn_gguf *qn_weights_gguf(const struct qn_weights *w)
{
    return w->part[0].gguf;
}

size_t qn_weights_tensors(const struct qn_weights *w)
{
    return w->n_tensors;
}

static const struct part *part_of(const struct qn_weights *w, size_t i)
{
    const struct part *p = &w->part[w->n_parts - 1];
    while (p->first > i)
        p--;
    return p;
}

const struct qn_gguf_tensor *qn_weights_tensor(const struct qn_weights *w, size_t i)
{
    const struct part *p = part_of(w, i);
    return qn_gguf_tensor_at(p->gguf, i - p->first);
}

int64_t qn_weights_find(const struct qn_weights *w, const char *name)
{
    for (size_t p = 0; p < w->n_parts; p++) {
        const struct qn_gguf_tensor *t = qn_gguf_tensor_find(w->part[p].gguf, name);
        if (t)
            return (int64_t)w->part[p].first + (t - qn_gguf_tensor_at(w->part[p].gguf, 0));
    }
    return -1;
}

/* The number of the tensor with this name, or -1. */
static int64_t find(const struct qn_weights *w, char name[QN_GGUF_NAME_MAX + 1], const char *fmt,
                    va_list ap)
{
    int n = vsnprintf(name, QN_GGUF_NAME_MAX + 1, fmt, ap);
    return n < 0 || n > QN_GGUF_NAME_MAX ? -1 : qn_weights_find(w, name);
}

bool qn_weights_has(const struct qn_weights *w, const char *fmt, ...)
{
    char name[QN_GGUF_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    int64_t i = find(w, name, fmt, ap);
    va_end(ap);
    return i >= 0;
}

/* Checks one entry of the file's tensor table and reverses its shape. */
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
    int64_t i = find(w, name, fmt, ap);
    va_end(ap);
    if (i < 0)
        return qn_fail(e, QN_ENOTFOUND, "tensor %s is missing from the model file", name);
    const struct qn_gguf_tensor *g = qn_weights_tensor(w, (size_t)i);
    struct part *p = &w->part[part_of(w, (size_t)i) - w->part];
    qn_err err = read_entry(g, name, t, e);
    if (err)
        return err;
    if (w->dev && w->dev != dev)
        return qn_fail(e, QN_EUNSUPPORTED, "tensor %s: one file, one device", name);
    w->dev = dev;
    if (!p->file)
        p->file = qn_mem_borrow(dev, qn_gguf_data(p->gguf), qn_gguf_file_bytes(p->gguf));
    t->mem = p->file;
    t->offset = (size_t)((const char *)g->data - (const char *)p->file->host);
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

static bool in_file(const struct qn_weights *w, const struct qn_mem *mem)
{
    for (size_t i = 0; i < w->n_parts; i++)
        if (mem && w->part[i].file == mem)
            return true;
    return false;
}

/* Reads [p, p + n) of the mapping ahead in large requests: sixteen rows read alternately look like
 * random access to the system. */
static void read_ahead(const void *p, size_t n)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)p / page * page;
    /* a hint; failure is harmless */
    madvise((void *)first, (uintptr_t)p + n - first, MADV_WILLNEED);
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

/* Lets the system drop the file's pages, including those that read-ahead has loaded; they are read
 * again if needed. A hint; failure is harmless. Only for memory mapped from a file: other memory
 * would lose its content. */
static void drop_pages(const struct qn_weights *w, const struct qn_mem *file)
{
    if (w->mapped)
        madvise(file->host, file->bytes, MADV_DONTNEED);
}

void qn_weights_keep_in(struct qn_weights *w, struct qn_device *dev, const char *folder,
                        int64_t limit_bytes, const char *path)
{
    uint64_t identity = qn_device_layouts(dev);
    assert(!w->kept && w->n_made == 0);
    if (!w->mapped || identity == 0)
        return;
    for (size_t i = 0; i < w->n_parts; i++)
        identity = qn_hash_u64(identity, qn_gguf_identity(w->part[i].gguf));
    w->kept = qn_kept_new(folder, limit_bytes, path, identity);
}

void qn_weights_keep(struct qn_weights *w)
{
    if (w->kept)
        qn_kept_write(w->kept);
}

void qn_weights_keep_wait(struct qn_weights *w)
{
    if (w->kept)
        qn_kept_wait(w->kept);
}

static struct qn_laidout_matrix name_of(const struct qn_weights *w, const struct qn_tensor *t)
{
    struct qn_laidout_matrix m = {
        .source = t->offset, .dtype = (uint32_t)t->dtype, .ndim = (uint32_t)t->ndim};
    while (w->part[m.part].file != t->mem)
        m.part++;
    memcpy(m.shape, t->shape, sizeof m.shape);
    memcpy(m.stride, t->stride, sizeof m.stride);
    return m;
}

/* Replaces t, a tensor of a file, with its packed form from the cache. False if there is none that
 * fits. */
static bool take_kept(struct qn_weights *w, struct qn_device *dev, struct qn_tensor *t)
{
    if (!w->kept || !in_file(w, t->mem))
        return false;
    struct qn_laidout_matrix which = name_of(w, t);
    struct qn_error e = {0};
    struct qn_mem *mem;
    const void *data = qn_kept_find(w->kept, &which);
    if (!data)
        return false;
    drop_pages(w, t->mem);
    if (qn_weight_adopt(dev, t, data, (size_t)which.bytes, &mem, &e) != QN_OK) {
        qn_warn("engine", "a matrix of the weight cache is not used: %s", e.message);
        return false;
    }
    qn_kept_add(w->kept, &which, data, true);
    keep(w, mem);
    return true;
}

qn_err qn_weights_prepare(struct qn_weights *w, struct qn_device *dev, struct qn_tensor *t,
                          struct qn_error *e)
{
    if (take_kept(w, dev, t))
        return QN_OK;
    struct qn_tensor before = *t;
    struct qn_mem *mem;
    if (in_file(w, before.mem) && w->mapped)
        read_ahead((const char *)before.mem->host + before.offset, qn_tensor_bytes(&before));
    qn_err err = qn_weight_prepare(dev, t, &mem, e);
    if (err)
        return err;
    if (!mem) {
        if (in_file(w, before.mem))
            w->lent_bytes += (int64_t)qn_tensor_bytes(&before);
        return QN_OK;
    }
    keep(w, mem);
    if (!in_file(w, before.mem)) {
        forget(w, before.mem);
        return QN_OK;
    }
    drop_pages(w, before.mem);
    if (w->kept) {
        struct qn_laidout_matrix which = name_of(w, &before);
        which.bytes = mem->bytes;
        qn_kept_add(w->kept, &which, mem->host, false);
    }
    return QN_OK;
}

/* Packs the matrix again from the model's file. */
static qn_err mend(struct qn_weights *w, uint32_t i, const struct qn_laidout_matrix *m,
                   struct qn_error *e)
{
    struct qn_tensor t = {.dtype = (enum qn_dtype)m->dtype,
                          .ndim = (int)m->ndim,
                          .mem = w->part[m->part].file,
                          .offset = (size_t)m->source};
    struct qn_mem *mem;
    memcpy(t.shape, m->shape, sizeof t.shape);
    memcpy(t.stride, m->stride, sizeof t.stride);
    qn_err err = qn_weight_prepare(w->dev, &t, &mem, e);
    if (err)
        return err;
    if (mem && mem->bytes == m->bytes)
        err = qn_kept_mend(w->kept, i, mem->host, e);
    else
        err = qn_fail(e, QN_EINTERNAL, "its packed size has changed");
    if (mem)
        qn_mem_free(mem);
    drop_pages(w, w->part[m->part].file);
    return err;
}

bool qn_weights_mend(struct qn_weights *w, bool now)
{
    if (!w->kept || !qn_kept_damaged(w->kept, now))
        return false;
    const struct qn_laidout_matrix *m;
    int mended = 0;
    for (uint32_t i = 0; (m = qn_kept_next_bad(w->kept, &i)) != NULL; i++) {
        struct qn_error e = {0};
        if (mend(w, i, m, &e) != QN_OK) {
            qn_error_log("engine", "damaged weights cannot be repaired: %s; load the model again",
                         e.message);
            qn_kept_give_up(w->kept);
            return false;
        }
        mended++;
    }
    qn_info("engine", "matrices=%d repaired", mended);
    qn_kept_write(w->kept);
    return mended > 0;
}

qn_err qn_weights_pile(struct qn_weights *w, struct qn_device *dev, struct qn_tensor *t,
                       const struct qn_tensor *parts, struct qn_error *e)
{
    struct qn_tensor whole = qn_tensor_make(t->dtype, 3, t->shape, NULL, 0);
    const size_t each = qn_tensor_bytes(&parts[0]);
    qn_err err = qn_mem_new(dev, qn_tensor_bytes(&whole), &whole.mem, e);
    if (err)
        return err;
    for (int64_t i = 0; i < t->shape[0]; i++) {
        assert(qn_tensor_contiguous(&parts[i]) && parts[i].dtype == t->dtype);
        memcpy((char *)whole.mem->host + (size_t)i * each,
               (const char *)parts[i].mem->host + parts[i].offset, each);
    }
    keep(w, whole.mem);
    *t = whole;
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
            from->dequant(
                row, (const char *)t->mem->host + t->offset + i * t->stride[0] + r * t->stride[1],
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
    assert(qn_tensor_contiguous(t) && in_file(w, t->mem));
    const int64_t n = qn_tensor_elements(t);
    if (qn_dtype(t->dtype)->block != 1)
        return qn_fail(e, QN_EUNSUPPORTED, "tensor %s is %s; vectors must be F32, F16 or BF16",
                       what, qn_dtype(t->dtype)->name);
    float *v = qn_alloc_sized((size_t)n, sizeof *v, SIZE_MAX);
    struct qn_mem *mem = NULL;
    qn_err err = v ? QN_OK : qn_fail(e, QN_ENOMEM, "no memory for tensor %s", what);
    if (!err)
        qn_dtype(t->dtype)->dequant(v, (const char *)t->mem->host + t->offset, n);
    for (int64_t i = 0; i < n && !err; i++)
        if (!isfinite(v[i]))
            err = qn_fail(e, QN_EFORMAT, "tensor %s holds the number %g", what, (double)v[i]);
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
    for (size_t i = 0; i < w->n_tensors; i++) {
        const struct qn_gguf_tensor *t = qn_weights_tensor(w, i);
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
    return w->made_bytes + w->lent_bytes;
}

qn_err qn_weights_u32(const struct qn_weights *w, const char *key, uint32_t *out,
                      struct qn_error *e)
{
    int64_t v;
    qn_err err = qn_gguf_i64(w->part[0].gguf, key, 0, UINT32_MAX, &v, e);
    if (!err)
        *out = (uint32_t)v;
    return err;
}

qn_err qn_weights_u32_opt(const struct qn_weights *w, const char *key, uint32_t *out,
                          struct qn_error *e)
{
    return qn_gguf_has(w->part[0].gguf, key) ? qn_weights_u32(w, key, out, e) : QN_OK;
}

qn_err qn_weights_f32(const struct qn_weights *w, const char *key, float *out, struct qn_error *e)
{
    double v;
    qn_err err = qn_gguf_f64(w->part[0].gguf, key, &v, e);
    if (!err)
        *out = (float)v;
    return err;
}

qn_err qn_weights_f32_opt(const struct qn_weights *w, const char *key, float *out,
                          struct qn_error *e)
{
    return qn_gguf_has(w->part[0].gguf, key) ? qn_weights_f32(w, key, out, e) : QN_OK;
}

qn_err qn_weights_bool_opt(const struct qn_weights *w, const char *key, bool *out,
                           struct qn_error *e)
{
    return qn_gguf_has(w->part[0].gguf, key) ? qn_gguf_bool(w->part[0].gguf, key, out, e) : QN_OK;
}

qn_err qn_weights_str(struct qn_weights *w, const char *key, const char **out, struct qn_error *e)
{
    struct qn_gguf_str s;
    qn_err err = qn_gguf_str(w->part[0].gguf, key, &s, e);
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
    return qn_gguf_has(w->part[0].gguf, key) ? qn_weights_str(w, key, out, e) : QN_OK;
}
