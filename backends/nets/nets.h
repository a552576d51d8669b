/* Decoder networks behind one small interface: open a model, keep sequences, push tokens, get
 * logits. Compute thread only, but for the pool inside the device. */
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
struct qn_seq; /* one sequence: the tokens' keys and values, owned by the caller of qn_seq_new */

struct qn_net_info {
    const char *architecture; /* "qwen3" */
    int32_t vocab;            /* rows of the output matrix */
    int32_t layers;
    int32_t context_train; /* tokens the model was trained on */
    int32_t embedding_dim; /* floats of one token's embedding in struct qn_chunk */
    int32_t hidden_dim;    /* floats of one token's hidden state in struct qn_chunk */
    bool head;             /* it gives logits */
    int64_t parameters;
    int64_t weight_bytes;   /* bytes of weights held for computing, laid out anew or mapped */
    int64_t kv_token_bytes; /* bytes of cache one token of one sequence needs, in F16 */
    bool windows;           /* some layers keep only the newest tokens */
    int64_t state_bytes;    /* bytes of recurrent state each sequence has, and each kept copy of it;
                             * 0: no layer is recurrent, and any prefix can be forked */
};

/* progress: MAY be NULL; called on the same thread with 0..1; returns false to give up
 * (QN_ECANCELLED). */
typedef bool (*qn_net_progress)(void *ctx, double fraction);

/* Which part of a network is loaded; zeros: all of it. The weights of the rest are neither read nor
 * held. A network can be cut between layers into parts that run one after the other, in other
 * processes or machines: what one gives as hidden states, of all tokens, the next one takes as
 * embeddings. */
struct qn_net_part {
    int32_t first, end; /* layers first to end - 1; end 0: to the last */
    bool headless;      /* without the output matrix: it gives hidden states, no logits */
};

struct qn_net_options {
    int max_chunk;                    /* most tokens of one qn_net_forward call */
    const struct qn_stretch *stretch; /* of the context; NULL: as the file says */
    struct qn_net_part part;
    qn_net_progress progress;
    void *ctx;
};

/* Loads the part's tensors onto dev; w may be closed only after qn_net_free, because the net
 * borrows from the mapping. QN_EUNSUPPORTED: an unknown architecture or type, with its name, or a
 * network that cannot be cut there; QN_EINVAL: options outside their limits. */
qn_err qn_net_load(struct qn_net **out, struct qn_weights *w, struct qn_device *dev,
                   const struct qn_net_options *o, struct qn_error *e);
void qn_net_free(struct qn_net *net);
const struct qn_net_info *qn_net_info(const struct qn_net *net);

/* The memory that the net's sequences share. */
struct qn_kv_config {
    int64_t tokens;     /* of all sequences together; rounded up to whole pages */
    enum qn_dtype k, v; /* F16 (as usual), BF16, F32, Q8_0 or Q4_0 */
};
/* Reserves it, once, after the load and before the first sequence; memory is committed as it is
 * used. QN_EINVAL: a type or size that cannot be; QN_ENOMEM. */
qn_err qn_net_kv_init(struct qn_net *net, const struct qn_kv_config *config, struct qn_error *e);
/* Bytes of cache that one sequence of so many tokens takes with these types, windows considered. */
int64_t qn_net_kv_seq_bytes(const struct qn_net *net, enum qn_dtype k, enum qn_dtype v,
                            int64_t tokens);
/* Pages of 32 tokens: those that no sequence holds, and all. Of nets with two kinds of pages, the
 * kind that is scarcer. */
void qn_net_kv_pages(const struct qn_net *net, int64_t *free_pages, int64_t *total);
/* Bytes of the cache that have ever been used, which the system has committed. */
int64_t qn_net_kv_bytes(const struct qn_net *net);

/* An empty sequence of at most `context` tokens; it takes no pages yet. QN_EINVAL. */
qn_err qn_seq_new(struct qn_net *net, int32_t context, struct qn_seq **out, struct qn_error *e);
void qn_seq_free(struct qn_seq *s); /* NULL allowed; its pages go back */
int32_t qn_seq_len(const struct qn_seq *s);
/* Takes the pages that n more tokens need: before every qn_net_forward. Nothing is taken twice.
 * QN_EBUSY: the pool has too few; other sequences must give some back. QN_ECONTEXT: more than the
 * sequence's context. */
qn_err qn_seq_reserve(struct qn_seq *s, int32_t n, struct qn_error *e);
/* Forgets all after len, and what was reserved; returns the length that is left. That is less than
 * len, mostly 0, where the state at len is no longer known: behind a sliding window, or between two
 * snapshots of a recurrent layer. */
int32_t qn_seq_truncate(struct qn_seq *s, int32_t len);
/* dst becomes src's first len tokens. Whole pages are shared; one that both write into is copied at
 * the first write. QN_ECONTEXT: dst is too short. QN_EUNSUPPORTED: the state at len is no
 * longer known (see qn_seq_truncate); dst is then empty. Both belong to one net. */
qn_err qn_seq_fork(struct qn_seq *dst, const struct qn_seq *src, int32_t len, struct qn_error *e);
/* Forgets tokens [from, from + n), whole pages of 32; those after them move down, their keys turned
 * to their new positions. QN_EUNSUPPORTED: recurrent nets; QN_EBUSY: too few pages to copy those
 * that others share; QN_EINVAL, QN_ENOMEM. The sequence is then as it was. */
qn_err qn_seq_shift(struct qn_seq *s, int32_t from, int32_t n, struct qn_error *e);
/* Where the bytes of a stored sequence go, and come from; false: no more. */
typedef bool (*qn_seq_sink)(void *ctx, const void *data, size_t n);
typedef bool (*qn_seq_source)(void *ctx, void *data, size_t n);
/* Writes what s keeps of its tokens from `from` on: whole pages, 0 for recurrent nets. QN_EIO. */
qn_err qn_seq_save(const struct qn_seq *s, int32_t from, qn_seq_sink write, void *ctx,
                   struct qn_error *e);
/* Appends what was saved to s, whose length is the `from` of then; `len` is all it has afterwards.
 * QN_EFORMAT, and s is empty; QN_EBUSY: too few pages, and s is as it was. */
qn_err qn_seq_restore(struct qn_seq *s, int32_t len, qn_seq_source read, void *ctx,
                      struct qn_error *e);
/* The longest length up to len that qn_seq_fork can give of src, 0 when none. */
int32_t qn_seq_forkable(const struct qn_seq *src, int32_t len);

/* ---- adapters: changes to a network's matrices, kept apart from them; see nets/adapter.h ---- */

enum { QN_ADAPTERS_MAX = 16, QN_ADAPTER_RANK_MAX = 1024 };

/* Reads an adapter (GGUF, low-rank pairs) and keeps it with the net as number *index, counted from
 * 0; w is the net's from then on, also when it fails. QN_EUNSUPPORTED, QN_EFORMAT, QN_ENOTFOUND:
 * made for another model, or more than pairs of matrices, and the tensor's name says which;
 * QN_ELIMIT, QN_ENOMEM. */
qn_err qn_net_adapter_add(struct qn_net *net, struct qn_weights *w, int32_t *index,
                          struct qn_error *e);
/* Bytes that all adapters take, with the room to compute them. */
int64_t qn_net_adapter_bytes(const struct qn_net *net);

/* Which adapters tokens go through, and how strongly. */
struct qn_mix {
    int32_t n;
    struct qn_mix_part {
        int32_t adapter;
        float scale; /* finite; times what the adapter's file says */
    } part[QN_ADAPTERS_MAX];
};
/* NULL is the same as none. Order counts. */
bool qn_mix_equal(const struct qn_mix *a, const struct qn_mix *b);

/* One piece of work: n tokens appended to seq. A seq appears at most once per call. */
struct qn_chunk {
    struct qn_seq *seq;
    const int32_t *tokens; /* [n] */
    /* In place of tokens, or NULL: [n, embedding_dim] f32, what a picture's projector gives. A part
     * that does not begin with the first layer takes the hidden states of the part before it. */
    const float *embeddings;
    /* MAY be NULL: token i is at position qn_seq_len(seq) + i. Else [n, 4]: time, height, width and
     * 0 of each, none below 0; a network that knows lines only reads the first. A sequence with
     * positions of its own cannot be shifted. */
    const int32_t *positions;
    /* NULL: none. All tokens of one sequence go through the same adapters, or its cache would be
     * neither one's. */
    const struct qn_mix *mix;
    int32_t n;
    bool all_rows; /* results of every token, else of the last alone */
    float *logits; /* out: [n or 1, vocab] f32, or NULL when none are wanted */
    /* out: [n or 1, hidden_dim] f32, or NULL: what the output matrix multiplies, after the last
     * norm; of a part that ends earlier, what the next layer reads */
    float *hidden;
};

/* Runs all chunks as one batch. The sum of n is at most max_chunk and every seq has reserved room
 * (asserted).
 * Never fails after a successful load. Allocates nothing. */
void qn_net_forward(struct qn_net *net, struct qn_chunk *chunks, size_t n_chunks);

#endif
