/* What the batch, the prefix tree and the draft model need of a network: a struct of functions, so
 * that all of them can be tested with a scripted network.
 *
 * A sequence's KV cache consists of pages of `page` tokens that all sequences of the model take
 * from one pool and that forks share. Compute thread only. */
#ifndef QN_LLM_MODEL_H
#define QN_LLM_MODEL_H

#include "base/error.h"
#include "nets/nets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_batch_model {
    void *ctx;
    int32_t vocab;
    int32_t page;  /* tokens of one page */
    int max_chunk; /* most tokens of one forward pass, at least the sequences of a step */
    /* a prompt's sequence is stored in the tree at multiples of this length (a multiple of page),
     * for models that cannot fork a longer sequence there; 0: not needed */
    int32_t step;
    bool rewinds; /* seq_truncate can truncate to any length; otherwise there is no speculation */

    /* All functions MUST be set unless stated otherwise. A new sequence is empty and has no pages.
     */
    qn_err (*seq_new)(void *ctx, int32_t context, struct qn_seq **out, struct qn_error *e);
    void (*seq_free)(struct qn_seq *s);
    int32_t (*seq_len)(const struct qn_seq *s);
    /* Reserves pages for n more tokens. QN_EBUSY: the pool is empty; the sequence is unchanged. */
    qn_err (*seq_reserve)(struct qn_seq *s, int32_t n, struct qn_error *e);
    /* Truncates the sequence to len; returns the resulting length, which is smaller if the network
     * can only return to a snapshot. Pages that are not shared return to the pool. */
    int32_t (*seq_truncate)(struct qn_seq *s, int32_t len);
    /* The largest length up to len that seq_fork can copy of this sequence. */
    int32_t (*seq_forkable)(const struct qn_seq *s, int32_t len);
    /* Makes the empty dst the first len tokens of src: whole pages are shared, the rest is copied.
     * QN_EBUSY: no page for the copy; dst is empty then. */
    qn_err (*seq_fork)(struct qn_seq *dst, const struct qn_seq *src, int32_t len,
                       struct qn_error *e);
    /* MAY. Removes the tokens [from, from + n), whole pages; the tokens after them move down.
     * QN_EUNSUPPORTED; QN_EBUSY. */
    qn_err (*seq_shift)(struct qn_seq *s, int32_t from, int32_t n, struct qn_error *e);
    /* MAY, both or none: see qn_seq_save and qn_seq_restore in nets.h. */
    qn_err (*seq_save)(const struct qn_seq *s, int32_t from, qn_seq_sink write, void *ctx,
                       struct qn_error *e);
    qn_err (*seq_restore)(struct qn_seq *s, int32_t len, qn_seq_source read, void *ctx,
                          struct qn_error *e);
    void (*pages)(void *ctx, int64_t *free, int64_t *total);

    void (*forward)(void *ctx, struct qn_chunk *chunks, size_t n);
    const char *(*token_bytes)(void *ctx, int32_t id, size_t *len); /* borrowed */
    /* true for tokens that add nothing to the text */
    bool (*token_is_control)(void *ctx, int32_t id);
    bool (*token_is_end)(void *ctx, int32_t id);
    int64_t (*now_us)(void); /* the monotonic clock by which forward passes are timed */
    /* MAY. Returns true if damaged weights were found and repaired, so that previous results are
     * wrong. now: check the weights, which may take seconds; else only report known damage. */
    bool (*mend)(void *ctx, bool now);
    /* MAY. True for control tokens that the parser needs: see qn_syntax_marks. */
    bool (*token_is_mark)(void *ctx, int32_t id);
};

#endif
