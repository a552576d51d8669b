/* What batching, the prefix tree and the draft model need of a network: a struct of functions, so
 * that all of them can be tested with a network that is written down in a test.
 *
 * A sequence's cache lies in pages of `page` tokens that all sequences of the model take from one
 * pool and that forks share. Compute thread only. */
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
    int max_chunk; /* tokens of one forward, at least the sequences of a step */
    int32_t step;  /* a prompt's sequence is kept in the tree at its multiples, whole pages, for
                      models  that cannot fork a longer one there; 0: not */
    bool rewinds;  /* seq_truncate goes back to any length: without it nothing is speculated */

    /* All MUST be set unless said otherwise. A new sequence is empty and has no pages. */
    qn_err (*seq_new)(void *ctx, int32_t context, struct qn_seq **out, struct qn_error *e);
    void (*seq_free)(struct qn_seq *s);
    int32_t (*seq_len)(const struct qn_seq *s);
    /* Pages for n tokens more. QN_EBUSY: the pool is dry, and the sequence is as it was. */
    qn_err (*seq_reserve)(struct qn_seq *s, int32_t n, struct qn_error *e);
    /* Forgets all after len; returns the length that is left, which is less where the network can
     * only go back to a snapshot. Pages that nobody else holds return to the pool. */
    int32_t (*seq_truncate)(struct qn_seq *s, int32_t len);
    /* The longest length up to len that seq_fork can give of this sequence. */
    int32_t (*seq_forkable)(const struct qn_seq *s, int32_t len);
    /* Makes the empty dst the first len tokens of src: whole pages are shared, the rest copied.
     * QN_EBUSY: no page for the copy; dst is empty then. */
    qn_err (*seq_fork)(struct qn_seq *dst, const struct qn_seq *src, int32_t len,
                       struct qn_error *e);
    /* MAY. Drops the tokens [from, from + n), whole pages; those after them move down.
     * QN_EUNSUPPORTED; QN_EBUSY. */
    qn_err (*seq_shift)(struct qn_seq *s, int32_t from, int32_t n, struct qn_error *e);
    /* MAY, both or none: see qn_seq_save and qn_seq_restore in nets.h. */
    qn_err (*seq_save)(const struct qn_seq *s, int32_t from, qn_seq_sink write, void *ctx,
                       struct qn_error *e);
    qn_err (*seq_restore)(struct qn_seq *s, int32_t len, qn_seq_source read, void *ctx,
                          struct qn_error *e);
    void (*pages)(void *ctx, int64_t *free, int64_t *total);

    void (*forward)(void *ctx, struct qn_chunk *chunks, size_t n);
    const char *(*token_bytes)(void *ctx, int32_t id, size_t *len); /* lent */
    bool (*token_is_control)(void *ctx, int32_t id);                /* adds nothing to the text */
    bool (*token_is_end)(void *ctx, int32_t id);
    int64_t (*now_us)(void); /* the monotonic clock that forward takes its time by */
    /* MAY. True when damage of the weights was found and mended: what was computed before is wrong.
     * now: looks for it, which may take seconds; else it tells what is known. */
    bool (*mend)(void *ctx, bool now);
    /* MAY. Control tokens that say something: see qn_syntax_marks. */
    bool (*token_is_mark)(void *ctx, int32_t id);
};

#endif
