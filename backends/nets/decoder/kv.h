/* The paged KV cache that all sequences of a net share.
 *
 * A page holds QN_KV_PAGE tokens of every layer of its group. Pages have reference counts: a fork
 * shares its parent's pages, and a shared page is copied before the first write into it. Layers
 * that attend to all tokens are one group; layers with a sliding window are another, with a page
 * table of its own, whose pages return to the pool when the window has passed them. Layers without
 * a cache use no memory. The memory of a pool is reserved at once and committed by the system on
 * the first use of a page; released pages are reused first. Compute thread only. */
#ifndef QN_NETS_DECODER_KV_H
#define QN_NETS_DECODER_KV_H

#include "engine/ops.h"
#include "nets/nets.h"

enum qn_kv_group {
    QN_KV_FULL,   /* layers that attend to every token */
    QN_KV_WINDOW, /* layers that attend to the last `window` tokens */
    QN_KV_GROUPS
};

/* Tokens before the window that are kept, so that this many of the newest tokens can be truncated
 * (a rejected speculation, a last token computed again). */
enum { QN_KV_WINDOW_SLACK = 64 };

/* What one layer stores per token. kv_heads 0: nothing. */
struct qn_kv_shape {
    int32_t kv_heads, k_dim, v_dim;
    int32_t
        /* most tokens that a query attends to, including its own (for chunked attention, the
         * chunk's length); 0: all */
        window;
    /* values are the first v_dim elements of the keys and are not stored separately */
    bool v_in_k;
};

struct qn_kv;

/* shapes [layers] is copied. QN_EINVAL: a type that the cache does not support, or dimensions that
 * are not a multiple of its block; QN_ENOMEM with the size. */
qn_err qn_kv_new(struct qn_device *dev, const struct qn_kv_shape *shapes, int32_t layers,
                 const struct qn_kv_config *config, struct qn_kv **out, struct qn_error *e);
void qn_kv_free(struct qn_kv *kv); /* NULL allowed; every table must be freed before */

/* Where layer i's keys and values are stored, and which of a sequence's page tables it uses.
 * Borrowed. */
const struct qn_kv_layer *qn_kv_layer_at(const struct qn_kv *kv, int32_t i);
enum qn_kv_group qn_kv_group_of(const struct qn_kv *kv, int32_t i);

/* Bytes of pages of one sequence of this many tokens, computed `chunk` tokens at a time. */
int64_t qn_kv_seq_bytes(const struct qn_kv_shape *shapes, int32_t layers, enum qn_dtype k,
                        enum qn_dtype v, int64_t tokens, int32_t chunk);
void qn_kv_pages(const struct qn_kv *kv, int64_t *free_pages, int64_t *total);
/* The address of one page in host memory, and its size. Borrowed. */
void *qn_kv_page(const struct qn_kv *kv, enum qn_kv_group g, int32_t page, size_t *bytes);
/* of pages that have been used at least once */
int64_t qn_kv_bytes_touched(const struct qn_kv *kv);

/* ---- the page table of one sequence ---- */

struct qn_kv_table {
    struct qn_kv *kv;
    int32_t
        /* [context / QN_KV_PAGE, rounded up]: token t is in page[g][t / QN_KV_PAGE] */
        *page[QN_KV_GROUPS];
    int32_t first[QN_KV_GROUPS]; /* entries below it returned to the pool and are -1 */
    int32_t n;                   /* entries in use, in every group */
};

void qn_kv_table_init(struct qn_kv_table *t, struct qn_kv *kv, int32_t context);
void qn_kv_table_deinit(struct qn_kv_table *t); /* releases all pages */

/* Makes tokens [len, len + n) writable: allocates pages, and copies shared ones. All or nothing:
 * QN_EBUSY if the pool has too few. */
qn_err qn_kv_table_reserve(struct qn_kv_table *t, int32_t len, int32_t n, struct qn_error *e);
/* Releases the pages that the window of a sequence of len tokens has passed. */
void qn_kv_table_slide(struct qn_kv_table *t, int32_t len);
/* Whether all tokens that the token after len attends to are still in the table. */
bool qn_kv_table_whole_at(const struct qn_kv_table *t, int32_t len);
/* Truncates to the pages of the first len tokens. */
void qn_kv_table_cut(struct qn_kv_table *t, int32_t len);
/* Makes entries [from, n) exclusive by copying shared pages. All or nothing: QN_EBUSY if the pool
 * has too few. */
qn_err qn_kv_table_own(struct qn_kv_table *t, int32_t from, struct qn_error *e);
/* Releases entries [from, from + n); the entries after them move down. */
void qn_kv_table_cut_out(struct qn_kv_table *t, int32_t from, int32_t n);
/* Releases the pages of each group before entry first[g]. */
void qn_kv_table_forget(struct qn_kv_table *t, const int32_t first[QN_KV_GROUPS]);
/* Empties dst, and makes it share src's pages of the first len tokens. */
void qn_kv_table_share(struct qn_kv_table *dst, const struct qn_kv_table *src, int32_t len);

#endif
