/* Adapters: for some of a network's matrices W [rows, cols] a pair of thin ones, A [rank, cols] and
 * B [rows, rank], so that rows of a batch may be computed with W + scale·B·A instead. The sum is
 * never made: adapt.c adds B·(A·x) to W·x. Source: arXiv:2106.09685. Private to this room. */
#ifndef QN_NETS_DECODER_ADAPTER_H
#define QN_NETS_DECODER_ADAPTER_H

#include "nets/decoder/block.h"
#include "nets/nets.h"

/* A matrix that products of the net read. */
struct qn_site {
    char *name; /* of the tensor in the model's file */
    const struct qn_tensor
        *w;        /* [rows, cols] or [experts, rows, cols]; NULL: no product reads it */
    int64_t first; /* its first row in that tensor, where several lie in one */
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
    struct qn_tensor a, b; /* laid out; [rank, cols] and [rows, rank], or one each per expert */
    float scale;           /* alpha / rank */
};

struct qn_adapter {
    struct qn_weights *weights; /* its file */
    struct qn_pair *pair;       /* by the address of w */
    size_t n, cap;
    struct qn_tensor rows; /* [vocab, rank] as in the file: of the embedding; ndim 0: unchanged */
    struct qn_pair embedding; /* b [dim, rank] meets those rows */
};

const struct qn_pair *qn_adapter_pair(const struct qn_adapter *a, const struct qn_tensor *w);
void qn_net_adapters_free(struct qn_net *net);

/* Rows of one batch that go through the same adapters. */
struct qn_adapt_run {
    int32_t row, n;
    const struct qn_mix *mix;
};

struct qn_adapting {
    int32_t rows, outputs; /* of the batch */
    int32_t n_all, n_wanted;
    struct qn_adapt_run all[QN_SPANS_MAX];    /* among all rows, in order */
    struct qn_adapt_run wanted[QN_SPANS_MAX]; /* the same among the rows whose logits are wanted */
};

/* Puts chunks with the same mix beside each other: copies of them go to `sorted` [n]. */
void qn_adapt_sort(struct qn_chunk *sorted, const struct qn_chunk *chunks, size_t n);
/* Notes whose rows are whose: b->adapting is NULL when no chunk has a mix. */
void qn_adapt_begin(struct qn_net *net, struct qn_step_rows *b, const struct qn_chunk *chunks);
/* x [rows, dim] += what adapters of the embedding make of the tokens.  ids [rows] i32 */
void qn_adapt_embedding(struct qn_net *net, const struct qn_step_rows *b, struct qn_tensor *x,
                        const struct qn_tensor *ids);
/* y [n, vocab] += what adapters add to the output matrix's product with h [n, dim], the wanted rows
 * first .. first + n. */
void qn_adapt_logits(struct qn_net *net, const struct qn_step_rows *b, struct qn_tensor *y,
                     const struct qn_tensor *h, int32_t first);
/* Bytes of scratch that the pass may take for this adapter. */
size_t qn_adapt_scratch_bytes(const struct qn_net *net, const struct qn_adapter *a);

#endif
