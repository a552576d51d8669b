/* Metadata and tensors of a model file, checked as they are taken. */
#include "nets/decoder/loader.h"

#include "base/buf.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_MAX = 128 };

/* One matrix per expert, joined to one tensor when they are packed. */
struct qn_pile {
    const struct qn_tensor *whole;
    struct qn_tensor *parts;
};

void qn_loader_init(struct qn_loader *l, struct qn_weights *w, struct qn_device *dev,
                    const char *arch, struct qn_error *e)
{
    *l = (struct qn_loader){.w = w, .dev = dev, .arch = arch, .e = e};
    l->taken = qn_xcalloc(qn_weights_tensors(w) + 1, 1);
}

void qn_loader_deinit(struct qn_loader *l)
{
    free(l->taken);
    free(l->matrices);
    for (size_t i = 0; i < l->n_factors; i++)
        free(l->factors[i]);
    for (size_t i = 0; i < l->n_piles; i++)
        free(l->piles[i].parts);
    free(l->piles);
    free(l->factors);
}

/* ---- metadata ---- */

static const char *key_of(const struct qn_loader *l, char key[KEY_MAX], const char *name)
{
    snprintf(key, KEY_MAX, "%s.%s", l->arch, name);
    return key;
}

bool qn_loader_has_key(const struct qn_loader *l, const char *name)
{
    char key[KEY_MAX];
    return qn_gguf_has(qn_weights_gguf(l->w), key_of(l, key, name));
}

bool qn_loader_has_list(const struct qn_loader *l, const char *name)
{
    char key[KEY_MAX];
    const struct qn_gguf *g = qn_weights_gguf(l->w);
    return qn_gguf_has(g, key_of(l, key, name)) && qn_gguf_kv_type(g, key) == QN_GGUF_ARRAY;
}

static qn_err in_range(const struct qn_loader *l, const char *key, int64_t v, int32_t min,
                       int32_t max)
{
    if (v < min || v > max)
        return qn_fail(l->e, QN_EFORMAT, "metadata %s is %" PRId64 "; this version takes %d to %d",
                       key, v, min, max);
    return QN_OK;
}

qn_err qn_loader_count(struct qn_loader *l, const char *name, int32_t min, int32_t max,
                       int32_t fallback, int32_t *out)
{
    char key[KEY_MAX];
    int64_t v;
    const struct qn_gguf *g = qn_weights_gguf(l->w);
    if (!qn_gguf_has(g, key_of(l, key, name)) && fallback != QN_LOADER_MUST) {
        *out = fallback;
        return QN_OK;
    }
    qn_err err = qn_gguf_i64(g, key, INT64_MIN, INT64_MAX, &v, l->e);
    if (err == QN_OK)
        err = in_range(l, key, v, min, max);
    if (err == QN_OK)
        *out = (int32_t)v;
    return err;
}

/* Item i of an array of integers or flags, which is unaligned in the file. */
static int64_t array_item(const char *raw, enum qn_gguf_type type, size_t i)
{
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    switch (type) {
    case QN_GGUF_U8:
    case QN_GGUF_BOOL:
        return (uint8_t)raw[i];
    case QN_GGUF_I8:
        return (int8_t)raw[i];
    case QN_GGUF_U32:
        memcpy(&u32, raw + i * sizeof u32, sizeof u32);
        return u32;
    case QN_GGUF_I32:
        memcpy(&i32, raw + i * sizeof i32, sizeof i32);
        return i32;
    /* 64 bits; read as signed: too large values become negative and fail the range check */
    default:
        memcpy(&i64, raw + i * sizeof i64, sizeof i64);
        return i64;
    }
}

static bool whole_numbers(enum qn_gguf_type t)
{
    return t == QN_GGUF_U8 || t == QN_GGUF_I8 || t == QN_GGUF_BOOL || t == QN_GGUF_U32 ||
           t == QN_GGUF_I32 || t == QN_GGUF_U64 || t == QN_GGUF_I64;
}

qn_err qn_loader_counts(struct qn_loader *l, const char *name, int32_t min, int32_t max,
                        int32_t fallback, int32_t n, int32_t *out)
{
    char key[KEY_MAX];
    const struct qn_gguf *g = qn_weights_gguf(l->w);
    qn_err err;
    if (!qn_loader_has_list(l, name)) {
        int32_t v;
        err = qn_loader_count(l, name, min, max, fallback, &v);
        for (int32_t i = 0; i < n && err == QN_OK; i++)
            out[i] = v;
        return err;
    }
    enum qn_gguf_type item;
    size_t count;
    if ((err = qn_gguf_array(g, key_of(l, key, name), &item, &count, l->e)) != QN_OK)
        return err;
    if (!whole_numbers(item) || count < (size_t)n)
        return qn_fail(l->e, QN_EFORMAT, "metadata %s is no list of %d whole numbers", key, n);
    const char *raw = qn_gguf_array_raw(g, key);
    for (int32_t i = 0; i < n; i++) {
        int64_t v = array_item(raw, item, (size_t)i);
        if ((err = in_range(l, key, v, min, max)) != QN_OK)
            return err;
        out[i] = (int32_t)v;
    }
    return QN_OK;
}

qn_err qn_loader_real(struct qn_loader *l, const char *name, float *out)
{
    char key[KEY_MAX];
    qn_err err = qn_weights_f32_opt(l->w, key_of(l, key, name), out, l->e);
    if (err == QN_OK && !isfinite(*out))
        return qn_fail(l->e, QN_EFORMAT, "metadata %s is %g", key, (double)*out);
    return err;
}

qn_err qn_loader_positive(struct qn_loader *l, const char *name, float *out)
{
    char key[KEY_MAX];
    qn_err err = qn_loader_real(l, name, out);
    if (err == QN_OK && !(*out > 0))
        return qn_fail(l->e, QN_EFORMAT, "metadata %s is %g, it must be above 0",
                       key_of(l, key, name), (double)*out);
    return err;
}

qn_err qn_loader_reals(struct qn_loader *l, const char *name, int32_t n, float *out)
{
    char key[KEY_MAX];
    enum qn_gguf_type item = QN_GGUF_F32;
    size_t count = 0;
    const struct qn_gguf *g = qn_weights_gguf(l->w);
    const bool list = qn_loader_has_list(l, name);
    qn_err err = list ? qn_gguf_array(g, key_of(l, key, name), &item, &count, l->e)
                      : qn_loader_real(l, name, &out[0]);
    if (err == QN_OK && list && (item != QN_GGUF_F32 || count < (size_t)n))
        return qn_fail(l->e, QN_EFORMAT, "metadata %s is no list of %d numbers", key, n);
    for (int32_t i = 0; i < n && err == QN_OK; i++) {
        if (list)
            memcpy(&out[i], (const char *)qn_gguf_array_raw(g, key) + (size_t)i * sizeof *out,
                   sizeof *out);
        else
            out[i] = out[0];
        if (!(isfinite(out[i]) && out[i] >= 0))
            return qn_fail(l->e, QN_EFORMAT, "metadata %s holds %g", key_of(l, key, name),
                           (double)out[i]);
    }
    return err;
}

qn_err qn_loader_flag(struct qn_loader *l, const char *name, bool *out)
{
    char key[KEY_MAX];
    return qn_weights_bool_opt(l->w, key_of(l, key, name), out, l->e);
}

qn_err qn_loader_text(struct qn_loader *l, const char *name, const char **out)
{
    char key[KEY_MAX];
    return qn_weights_str_opt(l->w, key_of(l, key, name), out, l->e);
}

/* ---- tensors ---- */

/* Formats the name; a name longer than any file may have is not found in the file. */
static void name_of(char name[QN_GGUF_NAME_MAX + 1], const char *fmt, va_list ap)
{
    vsnprintf(name, QN_GGUF_NAME_MAX + 1, fmt, ap);
}

static bool in_file(const struct qn_loader *l, const char *name)
{
    return qn_weights_find(l->w, name) >= 0;
}

bool qn_loader_has(const struct qn_loader *l, const char *fmt, ...)
{
    char name[QN_GGUF_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    name_of(name, fmt, ap);
    va_end(ap);
    return in_file(l, name);
}

/* The number of dimensions of the tensor in the file; 0: not in the file. */
static int dims(const struct qn_loader *l, const char *name)
{
    int64_t i = qn_weights_find(l->w, name);
    return i < 0 ? 0 : qn_weights_tensor(l->w, (size_t)i)->ndim;
}

static void mark(struct qn_loader *l, const char *name)
{
    l->taken[qn_weights_find(l->w, name)] = 1;
}

void qn_loader_ignore(struct qn_loader *l, const char *fmt, ...)
{
    char name[QN_GGUF_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    name_of(name, fmt, ap);
    va_end(ap);
    if (in_file(l, name))
        mark(l, name);
}

void qn_loader_unused(struct qn_loader *l, const char *fmt, ...)
{
    char name[QN_GGUF_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    name_of(name, fmt, ap);
    va_end(ap);
    if (!in_file(l, name))
        return;
    mark(l, name);
    qn_sites_add(l->sites, name, NULL, 0);
}

void qn_loader_ignore_all(struct qn_loader *l, const char *fmt, ...)
{
    char start[QN_GGUF_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    name_of(start, fmt, ap);
    va_end(ap);
    const size_t n = strlen(start);
    for (size_t i = 0; i < qn_weights_tensors(l->w); i++) {
        struct qn_gguf_str s = qn_weights_tensor(l->w, i)->name;
        if (s.n >= n && memcmp(s.s, start, n) == 0)
            l->taken[i] = 1;
    }
}

/* Takes the tensor as it is in the file if it has this shape. */
static qn_err take(struct qn_loader *l, struct qn_tensor *t, const char *name, size_t ndim,
                   const int64_t *shape)
{
    struct qn_tensor found;
    qn_err err = qn_weights_get(l->w, l->dev, &found, l->e, "%s", name);
    if (err == QN_OK)
        err = qn_weights_expect(&found, name, l->e, ndim, shape);
    if (err != QN_OK)
        return err;
    mark(l, name);
    *t = found;
    return QN_OK;
}

/* Takes the scales [n] of the matrix `name`: an f32 tensor of the same name with another suffix. */
static qn_err take_factors(struct qn_loader *l, struct qn_tensor *t, const char *name, int64_t n)
{
    char other[QN_GGUF_NAME_MAX + 1];
    struct qn_tensor found;
    int stem = (int)strlen(name) - (int)strlen(".weight");
    if (t->dtype != QN_NVFP4 || stem < 0 || strcmp(name + stem, ".weight"))
        return QN_OK;
    qn_loader_ignore(l, "%.*s.input_scale", stem, name);
    snprintf(other, sizeof other, "%.*s.scale", stem, name);
    if (!in_file(l, other))
        return QN_OK;
    qn_err err = take(l, &found, other, 1, &n);
    if (err != QN_OK)
        return err;
    if (found.dtype != QN_F32)
        return qn_fail(l->e, QN_EFORMAT, "tensor %s has type %s, not F32", other,
                       qn_dtype(found.dtype)->name);
    float *factors = qn_xcalloc((size_t)n, sizeof *factors);
    l->factors = qn_xrealloc(l->factors, (l->n_factors + 1) * sizeof *l->factors);
    l->factors[l->n_factors++] = factors;
    err = qn_read(l->dev, factors, &found);
    for (int64_t i = 0; i < n && err == QN_OK; i++)
        if (!isfinite(factors[i]))
            err = qn_fail(l->e, QN_EFORMAT, "tensor %s has a number that is not finite", other);
    t->factors = factors;
    return err;
}

static void lay_out_later(struct qn_loader *l, struct qn_tensor *t)
{
    if (l->n_matrices == l->cap_matrices) {
        l->cap_matrices = l->cap_matrices ? 2 * l->cap_matrices : 256;
        l->matrices = qn_xrealloc(l->matrices, l->cap_matrices * sizeof *l->matrices);
    }
    l->matrices[l->n_matrices++] = t;
    int64_t cols = t->shape[t->ndim - 1];
    l->widest = cols > l->widest ? cols : l->widest;
    if (t->ndim == 3 && cols > l->widest_experts)
        l->widest_experts = cols;
}

qn_err qn_loader_matrix(struct qn_loader *l, struct qn_tensor *t, enum qn_need need, int64_t rows,
                        int64_t cols, const char *fmt, ...)
{
    char name[QN_GGUF_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    name_of(name, fmt, ap);
    va_end(ap);
    if (need == QN_OPTIONAL && !in_file(l, name))
        return QN_OK;
    qn_err err = take(l, t, name, 2, (const int64_t[]){rows, cols});
    if (err == QN_OK)
        err = take_factors(l, t, name, 1);
    if (err == QN_OK)
        lay_out_later(l, t);
    if (err == QN_OK)
        qn_sites_add(l->sites, name, t, 0);
    return err;
}

/* Makes the name of one expert's tensor from a name that ends in "x_exps.weight"; false for other
 * names. */
static bool single_of(char single[QN_GGUF_NAME_MAX + 1], const char *name, int64_t expert)
{
    static const char end[] = "_exps.weight";
    const size_t n = strlen(name), m = strlen(end);
    if (n < m || strcmp(name + n - m, end))
        return false;
    snprintf(single, QN_GGUF_NAME_MAX + 1, "%.*s.%" PRId64 ".weight", (int)(n - m), name, expert);
    return true;
}

static qn_err take_singles(struct qn_loader *l, struct qn_tensor *t, const char *name,
                           const int64_t shape[3])
{
    struct qn_tensor *parts = qn_xcalloc((size_t)shape[0], sizeof *parts);
    qn_err err = QN_OK;
    l->piles = qn_xrealloc(l->piles, (l->n_piles + 1) * sizeof *l->piles);
    l->piles[l->n_piles++] = (struct qn_pile){t, parts};
    for (int64_t i = 0; i < shape[0] && err == QN_OK; i++) {
        char single[QN_GGUF_NAME_MAX + 1];
        single_of(single, name, i);
        err = take(l, &parts[i], single, 2, shape + 1);
        if (err == QN_OK && parts[i].dtype != parts[0].dtype)
            err = qn_fail(l->e, QN_EUNSUPPORTED,
                          "tensor %s has type %s, that of the first expert %s: this version takes "
                          "experts of one type",
                          single, qn_dtype(parts[i].dtype)->name, qn_dtype(parts[0].dtype)->name);
    }
    *t = qn_tensor_make(parts[0].dtype, 3, shape, parts[0].mem, parts[0].offset);
    return err;
}

/* Joins a matrix that was taken in pieces. */
static qn_err pile_up(struct qn_loader *l, struct qn_tensor *t)
{
    for (size_t i = 0; i < l->n_piles; i++)
        if (l->piles[i].whole == t)
            return qn_weights_pile(l->w, l->dev, t, l->piles[i].parts, l->e);
    return QN_OK;
}

qn_err qn_loader_experts(struct qn_loader *l, struct qn_tensor *t, enum qn_need need,
                         int64_t experts, int64_t rows, int64_t cols, const char *fmt, ...)
{
    char name[QN_GGUF_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    name_of(name, fmt, ap);
    va_end(ap);
    if (need == QN_OPTIONAL && !in_file(l, name))
        return QN_OK;
    char single[QN_GGUF_NAME_MAX + 1];
    const int64_t shape[] = {experts, rows, cols};
    const bool apart = !in_file(l, name) && single_of(single, name, 0) && in_file(l, single);
    qn_err err = apart ? take_singles(l, t, name, shape) : take(l, t, name, 3, shape);
    if (err == QN_OK && !apart)
        err = take_factors(l, t, name, experts);
    if (err == QN_OK)
        lay_out_later(l, t);
    if (err == QN_OK)
        qn_sites_add(l->sites, name, t, 0);
    return err;
}

/* Takes rows first .. first + n of each head: a view of the file. */
static qn_err take_heads(struct qn_loader *l, struct qn_tensor *t, const char *name, int64_t heads,
                         int64_t rows, int64_t first, int64_t n, int64_t cols)
{
    struct qn_tensor whole;
    qn_err err = take(l, &whole, name, 2, (const int64_t[]){heads * rows, cols});
    if (err != QN_OK)
        return err;
    whole = qn_tensor_reshape(&whole, QN_SHAPE(heads, rows, cols));
    *t = qn_tensor_slice(&whole, 1, first, n);
    return QN_OK;
}

qn_err qn_loader_heads(struct qn_loader *l, struct qn_tensor *t, int64_t heads, int64_t rows,
                       int64_t first, int64_t n, int64_t cols, const char *fmt, ...)
{
    char name[QN_GGUF_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    name_of(name, fmt, ap);
    va_end(ap);
    qn_err err = take_heads(l, t, name, heads, rows, first, n, cols);
    if (err == QN_OK)
        lay_out_later(l, t);
    return err;
}

qn_err qn_loader_heads_turned(struct qn_loader *l, struct qn_tensor *t, int64_t heads, int64_t rows,
                              int64_t first, int64_t n, int64_t cols, const char *fmt, ...)
{
    char name[QN_GGUF_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    name_of(name, fmt, ap);
    va_end(ap);
    qn_err err = take_heads(l, t, name, heads, rows, first, n, cols);
    if (err == QN_OK)
        err = qn_weights_turn(l->w, l->dev, t, l->e);
    if (err == QN_OK)
        lay_out_later(l, t);
    return err;
}

qn_err qn_loader_stacked(struct qn_loader *l, struct qn_tensor *const *parts, const int64_t *rows,
                         int n_parts, int64_t cols, const char *fmt, ...)
{
    char name[QN_GGUF_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    name_of(name, fmt, ap);
    va_end(ap);
    int64_t all = 0, at = 0;
    for (int i = 0; i < n_parts; i++)
        all += rows[i];
    struct qn_tensor whole;
    bool piled = dims(l, name) == 3;
    const int64_t pile[] = {n_parts, all / n_parts, cols}, flat[] = {all, cols};
    qn_err err = take(l, &whole, name, piled ? 3 : 2, piled ? pile : flat);
    if (err == QN_OK)
        whole = qn_tensor_reshape(&whole, 2, flat);
    if (err == QN_OK)
        err = take_factors(l, &whole, name, 1);
    for (int i = 0; i < n_parts && err == QN_OK; at += rows[i++]) {
        *parts[i] = qn_tensor_slice(&whole, 0, at, rows[i]);
        lay_out_later(l, parts[i]);
        if (!piled)
            qn_sites_add(l->sites, name, parts[i], at);
    }
    return err;
}

qn_err qn_loader_table(struct qn_loader *l, struct qn_tensor *t, enum qn_need need, int64_t rows,
                       int64_t cols, const char *fmt, ...)
{
    char name[QN_GGUF_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    name_of(name, fmt, ap);
    va_end(ap);
    if (need == QN_OPTIONAL && !in_file(l, name))
        return QN_OK;
    return take(l, t, name, 2, (const int64_t[]){rows, cols});
}

/* Takes an f32 copy of the tensor of this name and shape. */
static qn_err copy(struct qn_loader *l, struct qn_tensor *t, enum qn_need need, const char *name,
                   size_t ndim, const int64_t *shape)
{
    struct qn_tensor found;
    if (need == QN_OPTIONAL && !in_file(l, name))
        return QN_OK;
    qn_err err = take(l, &found, name, ndim, shape);
    if (err == QN_OK)
        err = qn_weights_copy_vector(l->w, l->dev, &found, name, l->e);
    if (err == QN_OK)
        *t = found;
    return err;
}

qn_err qn_loader_vector(struct qn_loader *l, struct qn_tensor *t, enum qn_need need, int64_t n,
                        const char *fmt, ...)
{
    char name[QN_GGUF_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    name_of(name, fmt, ap);
    va_end(ap);
    return copy(l, t, need, name, 1, &n);
}

qn_err qn_loader_grid(struct qn_loader *l, struct qn_tensor *t, enum qn_need need, int64_t rows,
                      int64_t cols, const char *fmt, ...)
{
    char name[QN_GGUF_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    name_of(name, fmt, ap);
    va_end(ap);
    return copy(l, t, need, name, 2, (const int64_t[]){rows, cols});
}

/* Transposes t [rows, cols] to [cols, rows] in the same memory. */
static qn_err turn(struct qn_loader *l, struct qn_tensor *t)
{
    const int64_t rows = t->shape[0], cols = t->shape[1];
    float *was = qn_xcalloc((size_t)(rows * cols), 2 * sizeof *was), *now = was + rows * cols;
    qn_err err = qn_read(l->dev, was, t);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            now[c * rows + r] = was[r * cols + c];
    *t = qn_tensor_reshape(t, QN_SHAPE(cols, rows));
    if (err == QN_OK)
        qn_write(l->dev, t, now);
    free(was);
    return err;
}

qn_err qn_loader_turned(struct qn_loader *l, struct qn_tensor *t, enum qn_need need, int64_t rows,
                        int64_t cols, const char *fmt, ...)
{
    char name[QN_GGUF_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    name_of(name, fmt, ap);
    va_end(ap);
    qn_err err = copy(l, t, need, name, 2, (const int64_t[]){rows, cols});
    return err == QN_OK && t->ndim ? turn(l, t) : err;
}

int64_t qn_loader_cols(const struct qn_loader *l, const char *fmt, ...)
{
    char name[QN_GGUF_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    name_of(name, fmt, ap);
    va_end(ap);
    int64_t i = qn_weights_find(l->w, name);
    if (i < 0)
        return 0;
    const struct qn_gguf_tensor *t = qn_weights_tensor(l->w, (size_t)i);
    return t->ndim >= 1 && t->ne[0] <= INT32_MAX ? (int64_t)t->ne[0] : 0;
}

static qn_err refuse_the_rest(const struct qn_loader *l)
{
    for (size_t i = 0; i < qn_weights_tensors(l->w); i++) {
        struct qn_gguf_str s = qn_weights_tensor(l->w, i)->name;
        if (!l->taken[i])
            return qn_fail(l->e, QN_EUNSUPPORTED,
                           "tensor %.*s has no place in a %s network as this version knows it",
                           (int)s.n, s.s, l->arch);
    }
    return QN_OK;
}

qn_err qn_loader_finish(struct qn_loader *l, qn_net_progress progress, void *ctx)
{
    qn_err err = refuse_the_rest(l);
    double done = 0, all = 0;
    for (size_t i = 0; i < l->n_matrices; i++)
        all += (double)qn_tensor_bytes(l->matrices[i]);
    for (size_t i = 0; i < l->n_matrices && err == QN_OK; i++) {
        done += (double)qn_tensor_bytes(l->matrices[i]);
        err = pile_up(l, l->matrices[i]);
        if (err == QN_OK)
            err = qn_weights_prepare(l->w, l->dev, l->matrices[i], l->e);
        if (err == QN_OK && progress && !progress(ctx, done / all))
            err = qn_fail(l->e, QN_ECANCELLED, "loading was cancelled");
    }
    return err;
}
