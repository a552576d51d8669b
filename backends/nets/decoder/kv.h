/* The paged cache of keys and values that all sequences of a net share.
 *
 * A page holds QN_KV_PAGE tokens of every layer of its group. Pages are counted references: a fork
 * shares its parent's, and a shared page is copied before the first write
 * into it. Layers that look at all tokens are one group; layers with a window are another, with a
 * page table of its own, whose pages go back to the pool when the window has passed them. Layers
 * without a cache take no room. The memory of a pool is reserved at once and committed by the
 * system as pages are first used; pages given back are used again first. Compute thread only. */
#ifndef QN_NETS_DECODER_KV_H
#define QN_NETS_DECODER_KV_H

#include "engine/ops.h"
#include "nets/nets.h"

enum qn_kv_group {
    QN_KV_FULL,   /* layers that see every token */
    QN_KV_WINDOW, /* layers that see the last `window` of them */
    QN_KV_GROUPS
};

/* Tokens behind a window that are kept all the same, so that as many of the newest can be taken
 * back (a rejected speculation, a last token computed again). */
enum { QN_KV_WINDOW_SLACK = 64 };

/* What one layer wants to remember of a token. kv_heads 0: nothing. */
struct qn_kv_shape {
    int32_t kv_heads, k_dim, v_dim;
    int32_t
        window; /* tokens a query sees at most, its own included (of a chunk, its length); 0: all */
    bool v_in_k; /* values are the first v_dim elements of the keys: nothing more is stored */
};

struct qn_kv;

/* shapes [layers] is copied. QN_EINVAL: a type no cache can have, or dimensions that are not a
 * multiple of its block; QN_ENOMEM with the size. */
qn_err qn_kv_new(struct qn_device *dev, const struct qn_kv_shape *shapes, int32_t layers,
                 const struct qn_kv_config *config, struct qn_kv **out, struct qn_error *e);
void qn_kv_free(struct qn_kv *kv); /* NULL allowed; every table must be gone */

/* Where layer i keeps its keys and values, and which of a sequence's tables leads there. Lent. */
const struct qn_kv_layer *qn_kv_layer_at(const struct qn_kv *kv, int32_t i);
enum qn_kv_group qn_kv_group_of(const struct qn_kv *kv, int32_t i);

/* Bytes of pages that one sequence of so many tokens holds, computed `chunk` tokens at a time. */
int64_t qn_kv_seq_bytes(const struct qn_kv_shape *shapes, int32_t layers, enum qn_dtype k,
                        enum qn_dtype v, int64_t tokens, int32_t chunk);
void qn_kv_pages(const struct qn_kv *kv, int64_t *free_pages, int64_t *total);
/* One page in the host's memory, and its size. Lent. */
void *qn_kv_page(const struct qn_kv *kv, enum qn_kv_group g, int32_t page, size_t *bytes);
int64_t qn_kv_bytes_touched(const struct qn_kv *kv); /* of pages that were ever in use */

/* ---- the pages of one sequence ---- */

struct qn_kv_table {
    struct qn_kv *kv;
    int32_t
        *page[QN_KV_GROUPS]; /* [context / QN_KV_PAGE, rounded up]: token t is in page[g][t / 32] */
    int32_t first[QN_KV_GROUPS]; /* entries before it went back to the pool: -1 */
    int32_t n;                   /* entries in use, of every group */
};

void qn_kv_table_init(struct qn_kv_table *t, struct qn_kv *kv, int32_t context);
void qn_kv_table_deinit(struct qn_kv_table *t); /* gives every page back */

/* Makes tokens [len, len + n) writable: pages for them, and copies of those that others share. All
 * or nothing: QN_EBUSY when the pool has too few. */
qn_err qn_kv_table_reserve(struct qn_kv_table *t, int32_t len, int32_t n, struct qn_error *e);
/* Gives back what lies behind the window of a sequence of len tokens. */
void qn_kv_table_slide(struct qn_kv_table *t, int32_t len);
/* Whether the tokens that the next one after len would see are all still there. */
bool qn_kv_table_whole_at(const struct qn_kv_table *t, int32_t len);
/* Keeps the pages of the first len tokens. */
void qn_kv_table_cut(struct qn_kv_table *t, int32_t len);
/* Makes entries [from, n) the table's alone: copies of those that others share. All or nothing:
 * QN_EBUSY when the pool has too few. */
qn_err qn_kv_table_own(struct qn_kv_table *t, int32_t from, struct qn_error *e);
/* Gives entries [from, from + n) back; those after them move down. */
void qn_kv_table_cut_out(struct qn_kv_table *t, int32_t from, int32_t n);
/* Gives back what each group still has before entry first[g]. */
void qn_kv_table_forget(struct qn_kv_table *t, const int32_t first[QN_KV_GROUPS]);
/* dst, emptied first, shares src's pages of the first len tokens. */
void qn_kv_table_share(struct qn_kv_table *dst, const struct qn_kv_table *src, int32_t len);

#endif
