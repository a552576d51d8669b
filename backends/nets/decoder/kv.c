/* Pages with reference counts, and the page tables of sequences. Pages are counted, shared, copied
 * and released here; their content is not interpreted. */
#include "nets/decoder/kv.h"

#include "base/buf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* bytes; alignment of every head's rows, so that kernels load whole cache lines */
    PAGE_ALIGN = 64,
    TOKENS_MAX = 1 << 30, /* in one pool */
    SLACK = QN_KV_WINDOW_SLACK
};

/* The pages of one group. Pages below `fresh` have been used at least once; those of them without
 * references are on the stack of free pages, from which new pages are taken first. */
struct pool {
    struct qn_mem *mem;
    size_t page_bytes;
    int32_t pages, fresh, n_free;
    int32_t *free_page; /* [pages] */
    int32_t *refs;      /* [pages] */
};

struct qn_kv {
    struct qn_device *dev;
    int32_t layers;
    struct qn_kv_layer *layer;
    enum qn_kv_group *group; /* [layers] */
    int32_t window;          /* of the windowed group: the largest window of its layers */
    struct pool pool[QN_KV_GROUPS];
};

static bool storable(enum qn_dtype t)
{
    return t == QN_F16 || t == QN_BF16 || t == QN_F32 || t == QN_Q8_0 || t == QN_Q4_0;
}

static size_t rows_bytes(enum qn_dtype t, int32_t dim)
{
    size_t bytes = QN_KV_PAGE * qn_dtype_bytes(qn_dtype(t), dim);
    return (bytes + PAGE_ALIGN - 1) / PAGE_ALIGN * PAGE_ALIGN;
}

/* Bytes of a page that one layer uses. */
static size_t layer_bytes(const struct qn_kv_shape *s, enum qn_dtype k, enum qn_dtype v)
{
    size_t head = rows_bytes(k, s->k_dim) + (s->v_in_k ? 0 : rows_bytes(v, s->v_dim));
    return (size_t)s->kv_heads * head;
}

static enum qn_kv_group group_of(const struct qn_kv_shape *s)
{
    return s->window > 0 ? QN_KV_WINDOW : QN_KV_FULL;
}

/* The first table entry that the token after len tokens attends to, minus the slack for truncation.
 */
static int32_t first_needed(enum qn_kv_group g, int32_t window, int32_t len)
{
    int32_t seen = len - window + 1 - SLACK;
    return g == QN_KV_FULL || seen <= 0 ? 0 : seen / QN_KV_PAGE;
}

static int32_t entries(int64_t tokens)
{
    return (int32_t)((tokens + QN_KV_PAGE - 1) / QN_KV_PAGE);
}

int64_t qn_kv_seq_bytes(const struct qn_kv_shape *shapes, int32_t layers, enum qn_dtype k,
                        enum qn_dtype v, int64_t tokens, int32_t chunk)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < layers; i++) {
        int64_t held = tokens, most = (int64_t)shapes[i].window + SLACK + chunk + QN_KV_PAGE;
        if (shapes[i].kv_heads == 0)
            continue;
        if (group_of(&shapes[i]) == QN_KV_WINDOW && held > most)
            held = most;
        bytes += entries(held) * (int64_t)layer_bytes(&shapes[i], k, v);
    }
    return bytes;
}

/* ---- the pool ---- */

static qn_err check(const struct qn_kv_shape *shapes, int32_t layers,
                    const struct qn_kv_config *config, struct qn_error *e)
{
    if (!storable(config->k) || !storable(config->v))
        return qn_fail(e, QN_EINVAL, "a cache of type %s: choose F16, BF16, F32, Q8_0 or Q4_0",
                       qn_dtype(storable(config->k) ? config->v : config->k)->name);
    if (config->tokens < 1 || config->tokens > TOKENS_MAX)
        return qn_fail(e, QN_EINVAL, "a cache of %lld tokens: choose 1 to %d",
                       (long long)config->tokens, TOKENS_MAX);
    for (int32_t i = 0; i < layers; i++) {
        const struct qn_kv_shape *s = &shapes[i];
        if (s->kv_heads && (s->k_dim % qn_dtype(config->k)->block ||
                            s->v_dim % qn_dtype(s->v_in_k ? config->k : config->v)->block))
            return qn_fail(e, QN_EINVAL,
                           "heads of %d and %d elements cannot be kept as %s and %s, which come in "
                           "blocks of 32: choose F16",
                           (int)s->k_dim, (int)s->v_dim, qn_dtype(config->k)->name,
                           qn_dtype(config->v)->name);
    }
    return QN_OK;
}

static void lay_out(struct qn_kv *kv, const struct qn_kv_shape *shapes,
                    const struct qn_kv_config *config)
{
    for (int32_t i = 0; i < kv->layers; i++) {
        const struct qn_kv_shape *s = &shapes[i];
        struct pool *p = &kv->pool[group_of(s)];
        enum qn_dtype v = s->v_in_k ? config->k : config->v;
        kv->group[i] = group_of(s);
        if (s->kv_heads == 0)
            continue;
        if (s->window > kv->window)
            kv->window = s->window;
        size_t k_bytes = rows_bytes(config->k, s->k_dim);
        kv->layer[i] = (struct qn_kv_layer){
            .head_bytes = layer_bytes(s, config->k, v) / (size_t)s->kv_heads,
            .k_offset = p->page_bytes,
            .v_offset = p->page_bytes + (s->v_in_k ? 0 : k_bytes),
            .k_row = qn_dtype_bytes(qn_dtype(config->k), s->k_dim),
            .v_row = qn_dtype_bytes(qn_dtype(v), s->v_in_k ? s->k_dim : s->v_dim),
            .k_type = config->k,
            .v_type = v,
            .kv_heads = s->kv_heads,
            .k_dim = s->k_dim,
            .v_dim = s->v_dim,
            .v_in_k = s->v_in_k,
        };
        p->page_bytes += layer_bytes(s, config->k, v);
    }
}

qn_err qn_kv_new(struct qn_device *dev, const struct qn_kv_shape *shapes, int32_t layers,
                 const struct qn_kv_config *config, struct qn_kv **out, struct qn_error *e)
{
    qn_err err = check(shapes, layers, config, e);
    if (err != QN_OK)
        return err;
    struct qn_kv *kv = qn_xcalloc(1, sizeof *kv);
    kv->dev = dev;
    kv->layers = layers;
    kv->layer = qn_xcalloc((size_t)layers, sizeof *kv->layer);
    kv->group = qn_xcalloc((size_t)layers, sizeof *kv->group);
    lay_out(kv, shapes, config);
    for (int g = 0; g < QN_KV_GROUPS; g++) {
        struct pool *p = &kv->pool[g];
        p->pages = entries(config->tokens);
        if (p->page_bytes == 0)
            continue;
        if (p->page_bytes > SIZE_MAX / 2 / (size_t)p->pages)
            err = qn_fail(e, QN_ENOMEM, "a cache of %lld tokens is more than this machine can hold",
                          (long long)config->tokens);
        else
            err = qn_mem_new(dev, p->page_bytes * (size_t)p->pages, &p->mem, e);
        if (err != QN_OK) {
            qn_kv_free(kv);
            return err;
        }
        p->free_page = qn_xcalloc((size_t)p->pages, sizeof *p->free_page);
        p->refs = qn_xcalloc((size_t)p->pages, sizeof *p->refs);
    }
    for (int32_t i = 0; i < layers; i++) {
        struct pool *p = &kv->pool[kv->group[i]];
        kv->layer[i].mem = p->mem;
        kv->layer[i].page_bytes = p->page_bytes;
    }
    *out = kv;
    return QN_OK;
}

void qn_kv_free(struct qn_kv *kv)
{
    if (!kv)
        return;
    for (int g = 0; g < QN_KV_GROUPS; g++) {
        qn_mem_free(kv->pool[g].mem);
        free(kv->pool[g].free_page);
        free(kv->pool[g].refs);
    }
    free(kv->layer);
    free(kv->group);
    free(kv);
}

const struct qn_kv_layer *qn_kv_layer_at(const struct qn_kv *kv, int32_t i)
{
    assert(i >= 0 && i < kv->layers);
    return &kv->layer[i];
}

enum qn_kv_group qn_kv_group_of(const struct qn_kv *kv, int32_t i)
{
    assert(i >= 0 && i < kv->layers);
    return kv->group[i];
}

static int32_t available(const struct pool *p)
{
    return p->n_free + (p->pages - p->fresh);
}

void qn_kv_pages(const struct qn_kv *kv, int64_t *free_pages, int64_t *total)
{
    *free_pages = *total = kv->pool[0].pages;
    for (int g = 0; g < QN_KV_GROUPS; g++)
        if (kv->pool[g].mem && available(&kv->pool[g]) < *free_pages)
            *free_pages = available(&kv->pool[g]);
}

void *qn_kv_page(const struct qn_kv *kv, enum qn_kv_group g, int32_t page, size_t *bytes)
{
    const struct pool *p = &kv->pool[g];
    assert(page >= 0 && page < p->fresh);
    *bytes = p->page_bytes;
    return (char *)p->mem->host + (size_t)page * p->page_bytes;
}

int64_t qn_kv_bytes_touched(const struct qn_kv *kv)
{
    int64_t bytes = 0;
    for (int g = 0; g < QN_KV_GROUPS; g++)
        bytes += kv->pool[g].fresh * (int64_t)kv->pool[g].page_bytes;
    return bytes;
}

static int32_t take(struct pool *p)
{
    assert(available(p) > 0);
    int32_t page = p->n_free > 0 ? p->free_page[--p->n_free] : p->fresh++;
    assert(p->refs[page] == 0);
    p->refs[page] = 1;
    return page;
}

static void give(struct pool *p, int32_t page)
{
    assert(page >= 0 && page < p->fresh && p->refs[page] > 0);
    if (--p->refs[page] == 0)
        p->free_page[p->n_free++] = page;
}

static void copy_page(struct qn_kv *kv, struct pool *p, int32_t to, int32_t from)
{
    const int64_t lines[] = {(int64_t)(p->page_bytes / PAGE_ALIGN), PAGE_ALIGN / 4};
    struct qn_tensor src = qn_tensor_make(QN_I32, 2, lines, p->mem, (size_t)from * p->page_bytes);
    struct qn_tensor dst = qn_tensor_make(QN_I32, 2, lines, p->mem, (size_t)to * p->page_bytes);
    qn_copy(kv->dev, &dst, &src);
}

/* ---- tables ---- */

void qn_kv_table_init(struct qn_kv_table *t, struct qn_kv *kv, int32_t context)
{
    *t = (struct qn_kv_table){.kv = kv};
    for (int g = 0; g < QN_KV_GROUPS; g++)
        if (kv->pool[g].mem)
            t->page[g] = qn_xcalloc((size_t)entries(context), sizeof *t->page[g]);
}

/* Empties entries [from, n) of a group. */
static void drop_from(struct qn_kv_table *t, int g, int32_t from)
{
    for (int32_t i = from > t->first[g] ? from : t->first[g]; i < t->n; i++)
        give(&t->kv->pool[g], t->page[g][i]);
}

void qn_kv_table_cut(struct qn_kv_table *t, int32_t len)
{
    int32_t keep = entries(len);
    assert(keep <= t->n);
    for (int g = 0; g < QN_KV_GROUPS; g++) {
        if (t->page[g])
            drop_from(t, g, keep);
        if (t->first[g] > keep)
            t->first[g] = keep;
    }
    t->n = keep;
}

void qn_kv_table_deinit(struct qn_kv_table *t)
{
    qn_kv_table_cut(t, 0);
    for (int g = 0; g < QN_KV_GROUPS; g++)
        free(t->page[g]);
}

qn_err qn_kv_table_reserve(struct qn_kv_table *t, int32_t len, int32_t n, struct qn_error *e)
{
    int32_t want = entries((int64_t)len + n), shared = len / QN_KV_PAGE;
    bool copy[QN_KV_GROUPS] = {false};
    assert(entries(len) <= t->n || len == 0);
    for (int g = 0; g < QN_KV_GROUPS; g++) {
        struct pool *p = &t->kv->pool[g];
        if (!t->page[g])
            continue;
        copy[g] = n > 0 && shared < t->n && p->refs[t->page[g][shared]] > 1;
        int32_t more = (want > t->n ? want - t->n : 0) + copy[g];
        if (more > available(p))
            return qn_fail(e, QN_EBUSY, "the cache has %d pages of %d tokens left, not %d",
                           (int)available(p), QN_KV_PAGE, (int)more);
    }
    for (int g = 0; g < QN_KV_GROUPS; g++) {
        struct pool *p = &t->kv->pool[g];
        if (!t->page[g])
            continue;
        if (copy[g]) {
            int32_t mine = take(p);
            copy_page(t->kv, p, mine, t->page[g][shared]);
            give(p, t->page[g][shared]);
            t->page[g][shared] = mine;
        }
        for (int32_t i = t->n; i < want; i++)
            t->page[g][i] = take(p);
    }
    if (want > t->n)
        t->n = want;
    return QN_OK;
}

void qn_kv_table_forget(struct qn_kv_table *t, const int32_t first[QN_KV_GROUPS])
{
    for (int g = 0; g < QN_KV_GROUPS; g++) {
        for (; t->page[g] && t->first[g] < first[g]; t->first[g]++) {
            give(&t->kv->pool[g], t->page[g][t->first[g]]);
            t->page[g][t->first[g]] = -1;
        }
    }
}

void qn_kv_table_slide(struct qn_kv_table *t, int32_t len)
{
    const int32_t first[QN_KV_GROUPS] = {[QN_KV_WINDOW] =
                                             first_needed(QN_KV_WINDOW, t->kv->window, len)};
    qn_kv_table_forget(t, first);
}

bool qn_kv_table_whole_at(const struct qn_kv_table *t, int32_t len)
{
    int32_t seen = len - t->kv->window + 1;
    return len == 0 || t->first[QN_KV_WINDOW] * QN_KV_PAGE <= (seen > 0 ? seen : 0);
}

void qn_kv_table_share(struct qn_kv_table *dst, const struct qn_kv_table *src, int32_t len)
{
    assert(dst != src && dst->kv == src->kv && entries(len) <= src->n);
    qn_kv_table_cut(dst, 0);
    dst->n = entries(len);
    for (int g = 0; g < QN_KV_GROUPS; g++) {
        if (!src->page[g])
            continue;
        int32_t first = first_needed(g, dst->kv->window, len);
        first = first > src->first[g] ? first : src->first[g];
        dst->first[g] = first;
        for (int32_t i = 0; i < dst->n; i++) {
            dst->page[g][i] = i < first ? -1 : src->page[g][i];
            if (i >= first)
                dst->kv->pool[g].refs[dst->page[g][i]]++;
        }
    }
}

qn_err qn_kv_table_own(struct qn_kv_table *t, int32_t from, struct qn_error *e)
{
    for (int g = 0; g < QN_KV_GROUPS; g++) {
        int32_t shared = 0;
        for (int32_t i = from > t->first[g] ? from : t->first[g]; t->page[g] && i < t->n; i++)
            shared += t->kv->pool[g].refs[t->page[g][i]] > 1;
        if (shared > available(&t->kv->pool[g]))
            return qn_fail(e, QN_EBUSY, "the cache has %d pages of %d tokens left, not %d",
                           (int)available(&t->kv->pool[g]), QN_KV_PAGE, (int)shared);
    }
    for (int g = 0; g < QN_KV_GROUPS; g++) {
        struct pool *p = &t->kv->pool[g];
        for (int32_t i = from > t->first[g] ? from : t->first[g]; t->page[g] && i < t->n; i++) {
            int32_t old = t->page[g][i];
            if (p->refs[old] == 1)
                continue;
            t->page[g][i] = take(p);
            copy_page(t->kv, p, t->page[g][i], old);
            give(p, old);
        }
    }
    return QN_OK;
}

void qn_kv_table_cut_out(struct qn_kv_table *t, int32_t from, int32_t n)
{
    assert(from >= 0 && n >= 0 && from + n <= t->n);
    for (int g = 0; g < QN_KV_GROUPS; g++) {
        if (!t->page[g])
            continue;
        for (int32_t i = from > t->first[g] ? from : t->first[g]; i < from + n; i++)
            give(&t->kv->pool[g], t->page[g][i]);
        memmove(t->page[g] + from, t->page[g] + from + n,
                (size_t)(t->n - from - n) * sizeof *t->page[g]);
        if (t->first[g] >= from + n)
            t->first[g] -= n;
        else if (t->first[g] > from)
            t->first[g] = from;
    }
    t->n -= n;
}
