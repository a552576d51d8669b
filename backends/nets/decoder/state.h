/* What recurrent layers remember of a sequence: the last inputs of their convolutions and the
 * matrices that all earlier tokens were added into. Unlike keys and values they cannot be cut back
 * to an earlier length, so copies are kept at some lengths on the way: a prompt's beginning can
 * then be shared and taken up again from there. Private to this room; compute thread only. */
#ifndef QN_NETS_DECODER_STATE_H
#define QN_NETS_DECODER_STATE_H

#include "base/error.h"
#include "nets/decoder/block.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_seq;

enum {
    QN_STATE_STEP = 256, /* a copy is kept at multiples of it */
    QN_STATE_KEPT = 4    /* copies of one sequence; further back they lie further apart */
};

enum qn_state_part { QN_STATE_INPUTS, QN_STATE_MATRICES, QN_STATE_PARTS };

/* One layer's share; a part with shape[0] = 0 it does not have. All f32. Set by the block's load.
 */
struct qn_layer_state {
    int64_t inputs[2];         /* [taps, channels] of its convolution */
    int64_t matrices[3];       /* [heads, rows, columns] */
    size_t at[QN_STATE_PARTS]; /* bytes from the start of a sequence's state */
};

/* Bytes of one sequence's state; gives each layer its place. 0: no layer is recurrent. QN_ELIMIT.
 */
qn_err qn_state_lay_out(struct qn_decoder_layer *layers, int32_t n, size_t *bytes,
                        struct qn_error *e);

struct qn_state_copy {
    int32_t users; /* sequences that share it */
    int32_t len;   /* tokens before it */
    struct qn_mem *mem;
};

struct qn_state {
    struct qn_mem *now; /* after the sequence's last token; NULL: its net is not recurrent */
    /* By length. Those beyond the sequence's length are room that a pass will fill. */
    struct qn_state_copy *kept[QN_STATE_KEPT];
    int32_t n_kept;
};

qn_err qn_state_init(struct qn_state *s, struct qn_net *net, struct qn_error *e);
void qn_state_deinit(struct qn_state *s);
/* Makes room for the copies that tokens len .. len + n will leave. QN_ENOMEM. */
qn_err qn_state_reserve(struct qn_net *net, struct qn_state *s, int32_t len, int32_t n,
                        struct qn_error *e);
/* The greatest length up to `to` that a sequence of `len` tokens can go back to. */
int32_t qn_state_reach(const struct qn_state *s, int32_t len, int32_t to);
/* Goes back from len to `to`, which qn_state_reach gave. */
void qn_state_cut(struct qn_net *net, struct qn_state *s, int32_t len, int32_t to);
/* dst, which is empty, becomes src at length `to`, which qn_state_reach gave for src. */
void qn_state_share(struct qn_net *net, struct qn_state *dst, const struct qn_state *src,
                    int32_t len, int32_t to);

/* A layer's states in a batch, for the operations on them. Where a copy is wanted in the middle of
 * a chunk the chunk comes in pieces, one in each round:
 *
 *   struct qn_state_pass p = {.layer = layer, .part = QN_STATE_MATRICES};
 *   while (qn_state_next(net, b, &p))
 *       qn_delta_rule(dev, &out, &d, p.spans, p.states, p.n);
 */
struct qn_state_pass {
    const struct qn_decoder_layer *layer;
    enum qn_state_part part;
    int32_t round;                  /* 0 at first */
    const struct qn_span *spans;    /* [n], of those sequences that have a piece in this round */
    const struct qn_tensor *states; /* [n] */
    int32_t n;
};
bool qn_state_next(struct qn_net *net, const struct qn_step_rows *b, struct qn_state_pass *p);

#endif
