/* The internals of a sequence: pages of the net's cache, the state of recurrent layers, and the
 * number of tokens they hold. */
#ifndef QN_NETS_DECODER_SEQ_H
#define QN_NETS_DECODER_SEQ_H

#include "nets/decoder/kv.h"
#include "nets/decoder/state.h"

struct qn_seq {
    struct qn_net *net;
    struct qn_kv_table table;
    struct qn_state state;
    int32_t context, len;
};

/* Advances the length by the n tokens that a forward pass has put into the cache. */
void qn_seq_advance(struct qn_seq *s, int32_t n);

#endif
