/* A decoder: an embedding, layers of two blocks each with norms and residual connections, an output
 * matrix. Private to backends/nets. In comments, "stream" is the residual stream.
 *
 * nets.c selects an architecture's row (arch.h), decoder_load.c makes the net from a file
 * (loader.h), decoder.c runs it, the blocks (block.h) do the work of a layer, rope.c computes
 * rotary positions, seq.c manages sequences. Shapes in comments use: dim, heads, kv_heads,
 * head_dim, ff, vocab, rows (tokens of one batch). */
#ifndef QN_NETS_DECODER_DECODER_H
#define QN_NETS_DECODER_DECODER_H

#include "engine/ops.h"
#include "engine/scratch.h"
#include "engine/tensor.h"
#include "nets/decoder/adapter.h"
#include "nets/decoder/altup.h"
#include "nets/decoder/arch.h"
#include "nets/decoder/block.h"
#include "nets/decoder/block_attention.h"
#include "nets/decoder/block_conv.h"
#include "nets/decoder/block_delta.h"
#include "nets/decoder/block_ffn.h"
#include "nets/decoder/block_mamba2.h"
#include "nets/decoder/block_mla.h"
#include "nets/decoder/block_moe.h"
#include "nets/decoder/kv.h"
#include "nets/decoder/layer_inputs.h"
#include "nets/decoder/rope.h"
#include "nets/decoder/state.h"
#include "nets/nets.h"

enum {
    QN_NET_LAYERS_MAX = 1024,
    QN_NET_HEADS_MAX = 1024,
    QN_NET_HEAD_DIM_MAX = 1024,
    QN_NET_DIM_MAX = 65536,
    QN_NET_FF_MAX = 1 << 20,
    QN_NET_VOCAB_MAX = 1 << 24,
    QN_NET_CONTEXT_MAX = 1 << 24,
    QN_NET_CHUNK_MAX = 4096,
    QN_NET_WINDOW_MAX = 1 << 30,
    QN_NET_RESULT_ROWS = 8 /* rows of results computed at a time: limits their scratch memory */
};

/* Dimensions of the whole model; where layers differ, each layer has its own. */
struct qn_decoder_shape {
    int32_t layers, dim, heads, kv_heads, head_dim, value_dim, rope_dim, ff, vocab;
    int32_t context_train;
    float eps;
};

/* ndim 0 of w: the network does not have this norm. */
struct qn_norm {
    struct qn_tensor w, b; /* [dim] */
};

struct qn_decoder_layer {
    int32_t index;
    const struct qn_block *mixer; /* the block that mixes tokens */
    const struct qn_block *ffn;   /* the block that works on each token alone; NULL: none */
    struct qn_norm mixer_norm, mixer_post_norm, ffn_norm, ffn_post_norm;
    struct qn_kv_shape cache;    /* keys and values stored per token */
    struct qn_layer_state state; /* recurrent state per sequence */

    /* the weights of its blocks; those of unused blocks stay zero */
    struct qn_attention attention;
    struct qn_ffn dense;
    struct qn_short_conv_weights conv;
    struct qn_mamba2 mamba2;
    struct qn_delta_net delta;
    struct qn_moe moe;
    struct qn_mla mla;
    struct qn_layer_input input;
    struct qn_altup_layer altup;
    float out_scale; /* factor of the stream after the layer */
};

struct qn_net {
    const struct qn_decoder_arch *arch;
    struct qn_device *dev;
    struct qn_decoder_shape shape; /* of the whole network, even if only a part is loaded */
    struct qn_net_part part;       /* end is resolved to a number of layers, never 0 */
    struct qn_net_info info;

    /* [vocab, dim], as in the file; only in parts with the first layer */
    struct qn_tensor embedding;
    struct qn_norm output_norm; /* only in parts with the last layer */
    struct qn_tensor output;    /* [vocab, dim], packed for products; ndim 0: headless */
    struct qn_tensor output_b;  /* [vocab]; ndim 0: none */
    bool tied; /* tied embeddings: the file has no output matrix, the embedding is used */
    /* [layers]; layers outside the part have no weights and no cache */
    struct qn_decoder_layer *layer;
    struct qn_layer_inputs inputs;
    struct qn_altup altup;

    struct qn_sites sites; /* the matrices that adapters may change */
    struct qn_adapter *adapter[QN_ADAPTERS_MAX];
    int32_t adapters;
    struct qn_adapting *adapting;     /* adapters' state during a pass; NULL without adapters */
    struct qn_scratch *adapt_scratch; /* of adapt_bytes */
    size_t adapt_bytes;

    struct qn_kv *kv;   /* NULL before qn_net_kv_init */
    size_t state_bytes; /* recurrent state of one sequence; 0: none */
    /* state_bytes zero bytes, never written: the state before the first token */
    struct qn_mem *state_zero;

    /* The scales below are 1 unless the architecture's configure sets them; logit_softcap 0:
     * none */
    /* number of first layers after which further parts of an embedding are added */
    int32_t deepstack;
    float embedding_scale, residual_scale, logit_scale, logit_softcap;

    struct qn_rope rope[QN_NET_ROPES_MAX]; /* the rotations its layers refer to: [0] by default */
    int32_t ropes;

    /* Buffers for one batch, allocated at load. */
    int32_t max_chunk;
    struct qn_scratch *scratch;
    int32_t *ids, *positions; /* [max_chunk] */
    int32_t *places;          /* [max_chunk, QN_ROPE_AXES] */
    int32_t *out_row;         /* [max_chunk]: batch rows whose results are wanted, in order */
    float **logits_to;        /* [max_chunk]: destination of each of their logits, or NULL */
    float **hidden_to;        /* [max_chunk]: destination of each of their hidden states, or NULL */
    /* [QN_SPANS_MAX] per group: the rows and pages of each sequence */
    struct qn_span *spans[QN_KV_GROUPS];
    struct qn_seq **seqs;        /* [QN_SPANS_MAX]: the sequence of each span */
    struct qn_span *state_spans; /* [QN_SPANS_MAX]: see qn_state_next */
    struct qn_tensor *states;    /* [QN_SPANS_MAX] */
};

qn_err qn_decoder_load(struct qn_net **out, const struct qn_decoder_arch *arch,
                       struct qn_weights *w, struct qn_device *dev, const struct qn_net_options *o,
                       struct qn_error *e);

/* The number of a chunk's rows whose results are wanted. */
static inline int32_t qn_chunk_results(const struct qn_chunk *c)
{
    return !c->logits && !c->hidden ? 0 : c->all_rows ? c->n : 1;
}

/* y = norm(x), y may be x; copies x if there is no norm. */
void qn_norm_apply(struct qn_net *net, struct qn_tensor *y, const struct qn_tensor *x,
                   const struct qn_norm *n);

/* Bytes of scratch memory for a batch of `rows` tokens. */
size_t qn_decoder_scratch_bytes(const struct qn_net *net, int32_t rows);

#endif
