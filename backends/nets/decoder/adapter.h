/* LoRA adapters: for some of a network's matrices W [rows, cols] a pair of narrow matrices, A
 * [rank, cols] and B [rows, rank], so that rows of a batch can be computed with W + scale·B·A
 * instead. The sum is never formed: adapt.c adds B·(A·x) to W·x. Source: arXiv:2106.09685. Private
 * to backends/nets. */
#ifndef QN_NETS_DECODER_ADAPTER_H
#define QN_NETS_DECODER_ADAPTER_H

#include "nets/decoder/block.h"
#include "nets/nets.h"

/* A matrix that an adapter can change. */
struct qn_site {
    char *name;                /* of the tensor in the model's file */
    const struct qn_tensor *w; /* [rows, cols] or [experts, rows, cols]; NULL: no product uses it */
    int64_t first; /* its first row in that tensor, if the tensor holds several matrices */
};

struct qn_sites {
    struct qn_site *v;
    size_t n, cap;
};

void qn_sites_add(struct qn_sites *s, const char *name, const struct qn_tensor *w, int64_t first);
void qn_sites_deinit(struct qn_sites *s);

/* What an adapter adds to the products with w. */
struct qn_pair {
    const struct qn_tensor *w;
    struct qn_tensor a, b; /* packed; [rank, cols] and [rows, rank], or one of each per expert */
    float scale;           /* alpha / rank */
};

struct qn_adapter {
    struct qn_weights *weights; /* its file */
    struct qn_pair *pair;       /* sorted by the address of w */
    size_t n, cap;
    struct qn_tensor rows; /* of the embedding: [vocab, rank] as in the file; ndim 0: unchanged */
    struct qn_pair embedding; /* of the embedding: its b [dim, rank], applied to those rows */
};

const struct qn_pair *qn_adapter_pair(const struct qn_adapter *a, const struct qn_tensor *w);
void qn_net_adapters_free(struct qn_net *net);

/* A run of rows of one batch that go through the same adapters. */
struct qn_adapt_run {
    int32_t row, n;
    const struct qn_mix *mix;
};

struct qn_adapting {
    int32_t rows, outputs; /* of the batch */
    int32_t n_all, n_wanted;
    struct qn_adapt_run all[QN_SPANS_MAX];    /* in all rows of the batch, in order */
    struct qn_adapt_run wanted[QN_SPANS_MAX]; /* the same in the rows whose logits are wanted */
};

/* Sorts copies of the chunks into `sorted` [n], so that chunks with the same LoRA set are
 * neighbours. */
void qn_adapt_sort(struct qn_chunk *sorted, const struct qn_chunk *chunks, size_t n);
/* Records the runs of the batch: b->adapting is NULL if no chunk has a LoRA set. */
void qn_adapt_begin(struct qn_net *net, struct qn_step_rows *b, const struct qn_chunk *chunks);
/* x [rows, dim] += the contribution of adapters of the embedding.  ids [rows] i32 */
void qn_adapt_embedding(struct qn_net *net, const struct qn_step_rows *b, struct qn_tensor *x,
                        const struct qn_tensor *ids);
/* y [n, vocab] += the adapters' contribution to the output matrix's product with h [n, dim], the
 * wanted rows first .. first + n. */
void qn_adapt_logits(struct qn_net *net, const struct qn_step_rows *b, struct qn_tensor *y,
                     const struct qn_tensor *h, int32_t first);
/* Bytes of scratch memory that a pass needs for this adapter. */
size_t qn_adapt_scratch_bytes(const struct qn_net *net, const struct qn_adapter *a);

#endif
