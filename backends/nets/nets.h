/* Interface of decoder networks: load a model, create sequences, run tokens, get logits. Compute
 * thread only, except for the thread pool inside the device. */
#ifndef QN_NETS_NETS_H
#define QN_NETS_NETS_H

#include "base/error.h"
#include "engine/device.h"
#include "engine/weights.h"
#include "formats/stretch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_net; /* a loaded network */
/* one sequence: its keys, values and recurrent state; owned by the caller of qn_seq_new */
struct qn_seq;

struct qn_net_info {
    const char *architecture; /* "qwen3" */
    int32_t vocab;            /* rows of the output matrix */
    int32_t layers;
    int32_t context_train; /* training context in tokens */
    int32_t embedding_dim; /* floats per token in qn_chunk.embeddings */
    int32_t hidden_dim;    /* floats per token in qn_chunk.hidden */
    bool head;             /* the output matrix is loaded: it computes logits */
    int64_t parameters;
    int64_t weight_bytes;   /* bytes of weights held for computing, packed in memory or mapped */
    int64_t kv_token_bytes; /* bytes of cache per token of a sequence, in F16 */
    bool windows;           /* some layers have a sliding window and keep only the newest tokens */
    /* bytes of recurrent state of a sequence, and of each snapshot of it; 0: no layer is recurrent,
     * and any prefix can be forked */
    int64_t state_bytes;
};

/* The name of the i-th architecture in the table; NULL: there are fewer. Any thread. */
const char *qn_net_architecture(size_t i);

/* progress: MAY be NULL; called on the calling thread with 0..1; returning false cancels the load
 * (QN_ECANCELLED). */
typedef bool (*qn_net_progress)(void *ctx, double fraction);

/* Which part of a network is loaded; all zeros: the whole network. Weights outside the part are
 * neither read nor kept in memory. A network can be divided between layers into parts that run one
 * after the other, in other processes or machines: the hidden states of all tokens from one part
 * are the embeddings of the next. */
struct qn_net_part {
    int32_t first, end; /* layers first to end - 1; end 0: to the last */
    bool headless;      /* the output matrix is not loaded; the part returns hidden states and no
                           logits */
};

struct qn_net_options {
    int max_chunk;                    /* most tokens of one qn_net_forward call */
    const struct qn_stretch *stretch; /* RoPE scaling of the context; NULL: as in the file */
    struct qn_net_part part;
    qn_net_progress progress;
    void *ctx;
};

/* Loads the tensors of the part o->part onto dev; w must stay open until qn_net_free, because the
 * net borrows from the mapping. QN_EUNSUPPORTED: an unknown architecture or type, with its name, or
 * a network that cannot be divided at the limits of the part; QN_EINVAL: options outside their
 * limits. */
qn_err qn_net_load(struct qn_net **out, struct qn_weights *w, struct qn_device *dev,
                   const struct qn_net_options *o, struct qn_error *e);
void qn_net_free(struct qn_net *net);
const struct qn_net_info *qn_net_info(const struct qn_net *net);

/* The KV cache that the net's sequences share. */
struct qn_kv_config {
    int64_t tokens;     /* of all sequences together; rounded up to whole pages */
    enum qn_dtype k, v; /* F16 (the usual type), BF16, F32, Q8_0 or Q4_0 */
};
/* Reserves the cache, once, after the load and before the first sequence; memory is committed on
 * first use. QN_EINVAL: an unsupported type or size; QN_ENOMEM. */
qn_err qn_net_kv_init(struct qn_net *net, const struct qn_kv_config *config, struct qn_error *e);
/* Bytes of cache of one sequence with this many tokens and these types; sliding windows are taken
 * into account. */
int64_t qn_net_kv_seq_bytes(const struct qn_net *net, enum qn_dtype k, enum qn_dtype v,
                            int64_t tokens);
/* Pages of 32 tokens: free pages, and all. If the net has two groups of pages, the group with fewer
 * free pages counts. */
void qn_net_kv_pages(const struct qn_net *net, int64_t *free_pages, int64_t *total);
/* Bytes of cache that have been used at least once, and are therefore committed by the system. */
int64_t qn_net_kv_bytes(const struct qn_net *net);

/* Creates an empty sequence of at most `context` tokens; it holds no pages yet. QN_EINVAL: context
 * is out of range; QN_ENOMEM. */
qn_err qn_seq_new(struct qn_net *net, int32_t context, struct qn_seq **out, struct qn_error *e);
void qn_seq_free(struct qn_seq *s); /* NULL allowed; its pages return to the pool */
int32_t qn_seq_len(const struct qn_seq *s);
/* Reserves pages for n more tokens; required before every qn_net_forward. Pages that are already
 * reserved are not taken again. QN_EBUSY: too few free pages; other sequences must release some.
 * QN_ECONTEXT: more than the sequence's context. */
qn_err qn_seq_reserve(struct qn_seq *s, int32_t n, struct qn_error *e);
/* Truncates to len tokens and drops reservations; returns the resulting length. If the state at len
 * is no longer stored, because a sliding window has passed it or because it is between two
 * snapshots of a recurrent layer, the resulting length is less than len, usually 0. */
int32_t qn_seq_truncate(struct qn_seq *s, int32_t len);
/* dst becomes src's first len tokens. Whole pages are shared and copied on the first write.
 * QN_ECONTEXT: dst is too short. QN_EUNSUPPORTED: the state at len is no longer stored (see
 * qn_seq_truncate); dst is then empty. Both must belong to one net. */
qn_err qn_seq_fork(struct qn_seq *dst, const struct qn_seq *src, int32_t len, struct qn_error *e);
/* Removes tokens [from, from + n), whole pages of 32; the tokens after them move down, and their
 * keys are rotated to the new positions. QN_EUNSUPPORTED: recurrent nets; QN_EBUSY: too few pages
 * to copy shared ones; QN_EINVAL, QN_ENOMEM. After an error the sequence is unchanged. */
qn_err qn_seq_shift(struct qn_seq *s, int32_t from, int32_t n, struct qn_error *e);
/* Callbacks that write and read the bytes of a stored sequence; false: failed or no more bytes. */
typedef bool (*qn_seq_sink)(void *ctx, const void *data, size_t n);
typedef bool (*qn_seq_source)(void *ctx, void *data, size_t n);
/* Writes the cache of s from token `from` on, a multiple of the page size, 0 for recurrent nets.
 * QN_EIO. */
qn_err qn_seq_save(const struct qn_seq *s, int32_t from, qn_seq_sink write, void *ctx,
                   struct qn_error *e);
/* Appends what qn_seq_save wrote to s, whose length must be the `from` of that call; `len` is the
 * resulting length. QN_EFORMAT: the bytes do not fit this net, or end too early, and s is empty
 * afterwards; QN_EBUSY: too few pages, s is unchanged. */
qn_err qn_seq_restore(struct qn_seq *s, int32_t len, qn_seq_source read, void *ctx,
                      struct qn_error *e);
/* The greatest length up to len at which qn_seq_fork can fork src; 0 if none. */
int32_t qn_seq_forkable(const struct qn_seq *src, int32_t len);

/* ---- LoRA adapters: changes to a network's matrices, stored separately; see decoder/adapter.h
 * ---- */

enum { QN_ADAPTERS_MAX = 16, QN_ADAPTER_RANK_MAX = 1024 };

/* Reads an adapter (GGUF, low-rank pairs) and adds it to the net as number *index, counted from 0.
 * The net takes ownership of w, also on failure. QN_EUNSUPPORTED, QN_EFORMAT, QN_ENOTFOUND: the
 * adapter was made for another model, or contains more than pairs of matrices; the message names
 * the tensor. QN_ELIMIT, QN_ENOMEM. */
qn_err qn_net_adapter_add(struct qn_net *net, struct qn_weights *w, int32_t *index,
                          struct qn_error *e);
/* Bytes of all adapters and of the scratch memory for them. */
int64_t qn_net_adapter_bytes(const struct qn_net *net);

/* The LoRA set of a sequence: which adapters its tokens go through, and each one's scale. */
struct qn_mix {
    int32_t n;
    struct qn_mix_part {
        int32_t adapter;
        float scale; /* finite; multiplied by the scale in the adapter's file */
    } part[QN_ADAPTERS_MAX];
};
/* NULL equals an empty set. The order matters. */
bool qn_mix_equal(const struct qn_mix *a, const struct qn_mix *b);

/* The work for one sequence: n tokens that are appended to seq. A seq appears at most once per
 * call. */
struct qn_chunk {
    struct qn_seq *seq;
    const int32_t *tokens; /* [n] */
    /* Used instead of tokens unless NULL: [n, embedding_dim] f32, for example from a picture's
     * projector. A part that does not begin with the first layer takes the hidden states of the
     * part before it. */
    const float *embeddings;
    /* MAY be NULL: token i is at position qn_seq_len(seq) + i. Else [n, 4]: time, height, width and
     * 0 of each token, none below 0; a network with one-dimensional positions reads only the first.
     * A sequence with positions of its own cannot be shifted. */
    const int32_t *positions;
    /* NULL: no adapters. All tokens of a sequence must go through the same adapters, because the
     * cache depends on them. */
    const struct qn_mix *mix;
    int32_t n;
    bool all_rows; /* results of every token, else only of the last */
    float *logits; /* out: [n or 1, vocab] f32, or NULL if not needed */
    /* out: [n or 1, hidden_dim] f32, or NULL: the output matrix's input, after the last norm; for a
     * part that ends earlier, the next layer's input */
    float *hidden;
};

/* Runs all chunks as one batch. The sum of n is at most max_chunk and every seq has reserved pages
 * (asserted). Never fails after a successful load. Allocates nothing. */
void qn_net_forward(struct qn_net *net, struct qn_chunk *chunks, size_t n_chunks);

#endif
