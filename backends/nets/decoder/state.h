/* The state of a sequence in recurrent layers: the last inputs of their convolutions and the
 * matrices that accumulate all earlier tokens. Unlike a KV cache it cannot be truncated to an
 * earlier length, so copies (snapshots) are kept at some lengths, from which a prefix can be shared
 * and continued. Private to backends/nets; compute thread only. */
#ifndef QN_NETS_DECODER_STATE_H
#define QN_NETS_DECODER_STATE_H

#include "base/error.h"
#include "nets/decoder/block.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_seq;

enum {
    QN_STATE_STEP = 256, /* copies are made at multiples of this length */
    QN_STATE_KEPT = 4    /* copies per sequence; the older they are, the further apart */
};

enum qn_state_part { QN_STATE_INPUTS, QN_STATE_MATRICES, QN_STATE_PARTS };

/* The state of one layer; shape[0] = 0: the layer does not have that part. All f32. Set by the
 * block's load. */
struct qn_layer_state {
    int64_t inputs[2];         /* [taps, channels] of its convolution */
    int64_t matrices[3];       /* [heads, rows, columns] */
    size_t at[QN_STATE_PARTS]; /* offset in bytes within a sequence's state */
};

/* Computes the bytes of one sequence's state and each layer's offsets. 0: no layer is recurrent.
 * QN_ELIMIT. */
qn_err qn_state_lay_out(struct qn_decoder_layer *layers, int32_t n, size_t *bytes,
                        struct qn_error *e);

struct qn_state_copy {
    int32_t users; /* number of sequences that share it */
    int32_t len;   /* length in tokens at which it was taken */
    struct qn_mem *mem;
};

struct qn_state {
    struct qn_mem *now; /* after the sequence's last token; NULL: the net is not recurrent */
    /* Sorted by length. Copies at lengths above the sequence's own are allocated but not filled
     * yet. */
    struct qn_state_copy *kept[QN_STATE_KEPT];
    int32_t n_kept;
};

qn_err qn_state_init(struct qn_state *s, struct qn_net *net, struct qn_error *e);
void qn_state_deinit(struct qn_state *s);
/* Allocates the copies to be taken at lengths in (len, len + n]. QN_ENOMEM. */
qn_err qn_state_reserve(struct qn_net *net, struct qn_state *s, int32_t len, int32_t n,
                        struct qn_error *e);
/* The greatest length up to `to` to which a sequence of `len` tokens can return. */
int32_t qn_state_reach(const struct qn_state *s, int32_t len, int32_t to);
/* Takes the sequence back from length len to length `to`, which must be a result of
 * qn_state_reach. */
void qn_state_cut(struct qn_net *net, struct qn_state *s, int32_t len, int32_t to);
/* Makes the empty dst a copy of src at length `to`, a result of qn_state_reach for src. */
void qn_state_share(struct qn_net *net, struct qn_state *dst, const struct qn_state *src,
                    int32_t len, int32_t to);

/* Iterates over a layer's states in a batch. If a copy is to be taken in the middle of a chunk, the
 * chunk is divided into pieces, one per round:
 *
 *   struct qn_state_pass p = {.layer = layer, .part = QN_STATE_MATRICES};
 *   while (qn_state_next(net, b, &p))
 *       qn_delta_rule(dev, &out, &d, p.spans, p.states, p.n); */
struct qn_state_pass {
    const struct qn_decoder_layer *layer;
    enum qn_state_part part;
    int32_t round;                  /* initialise with 0 */
    const struct qn_span *spans;    /* [n], of the sequences that have a piece in this round */
    const struct qn_tensor *states; /* [n] */
    int32_t n;
};
bool qn_state_next(struct qn_net *net, const struct qn_step_rows *b, struct qn_state_pass *p);

#endif
