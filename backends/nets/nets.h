/* Decoder networks behind one small interface: open a model, keep sequences, push tokens, get logits.
 * Compute thread only, but for the pool inside the device. */
#ifndef QN_NETS_NETS_H
#define QN_NETS_NETS_H

#include "base/error.h"
#include "engine/device.h"
#include "engine/weights.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_net; /* a loaded network */
struct qn_seq; /* one sequence: the tokens' keys and values, owned by whoever made it */

struct qn_net_info {
    const char *architecture; /* "qwen3" */
    int32_t vocab;            /* rows of the output matrix */
    int32_t layers;
    int32_t context_train;    /* tokens the model was trained on */
    int64_t parameters;
    int64_t weight_bytes;     /* bytes of weights held for computing, laid out anew or mapped */
    int64_t kv_token_bytes;   /* bytes of cache one token of one sequence needs */
};

/* progress: MAY be NULL; called on the same thread with 0..1; returns false to give up (QN_ECANCELLED). */
typedef bool (*qn_net_progress)(void *ctx, double fraction);

/* Loads every tensor onto dev; w may be closed only after qn_net_free when the net borrows from the
 * mapping. max_chunk: most tokens of one qn_net_forward call. Unknown architecture or type: QN_EUNSUPPORTED with its name. */
qn_err qn_net_load(struct qn_net **out, struct qn_weights *w, struct qn_device *dev, int max_chunk,
                   qn_net_progress progress, void *ctx, struct qn_error *e);
void qn_net_free(struct qn_net *net);
const struct qn_net_info *qn_net_info(const struct qn_net *net);

/* A sequence with room for `context` tokens. QN_ENOMEM with the size in the message. */
qn_err qn_seq_new(struct qn_net *net, int32_t context, struct qn_seq **out, struct qn_error *e);
void qn_seq_free(struct qn_seq *s);
int32_t qn_seq_len(const struct qn_seq *s);
void qn_seq_truncate(struct qn_seq *s, int32_t len);                       /* forget all after len */
void qn_seq_copy(struct qn_seq *dst, const struct qn_seq *src, int32_t len); /* dst becomes src's first len tokens */

/* One piece of work: n tokens appended to seq. A seq appears at most once per call. */
struct qn_chunk {
    struct qn_seq *seq;
    const int32_t *tokens; /* [n] */
    int32_t n;
    bool all_logits;       /* logits of every token, else of the last alone */
    float *logits;         /* out: [n or 1, vocab] f32, or NULL when none are wanted */
};

/* Runs all chunks as one batch. The sum of n is at most max_chunk and every seq has room (asserted).
 * Never fails after a successful load. Allocates nothing. */
void qn_net_forward(struct qn_net *net, struct qn_chunk *chunks, size_t n_chunks);

#endif
