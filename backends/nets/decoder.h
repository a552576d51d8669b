/* The decoder-only transformer that llama, qwen2 and qwen3 are rows of: private to this room.
 *
 * nets.c picks the row, decoder_load.c checks a file against it and takes the weights, decoder.c
 * runs them, seq.c keeps what a sequence has seen. Shapes in comments use: dim, heads, kv_heads,
 * head_dim, ff, vocab, rows (tokens of one batch). */
#ifndef QN_NETS_DECODER_H
#define QN_NETS_DECODER_H

#include "engine/ops.h"
#include "engine/scratch.h"
#include "engine/tensor.h"
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
    QN_NET_LOGIT_ROWS = 8 /* rows of logits computed at a time: bounds their scratch */
};

/* What tells one architecture of this family from another. */
struct qn_decoder_arch {
    const char *name; /* as general.architecture says it, and the prefix of its metadata keys */
    enum qn_rope_pairs pairs;
    bool needs_qkv_bias; /* else biases are used where the file has them */
    bool qk_norm;        /* queries and keys are normalised per head before the rotation */
};

extern const struct qn_decoder_arch qn_llama, qn_qwen2, qn_qwen3;

struct qn_decoder_shape {
    int32_t layers, dim, heads, kv_heads, head_dim, rope_dim, ff, vocab, context_train;
    float eps;
};

/* A bias that a file does not have keeps ndim 0. */
struct qn_decoder_layer {
    struct qn_tensor attn_norm;      /* [dim] */
    struct qn_tensor q, k, v;        /* [heads·head_dim, dim], [kv_heads·head_dim, dim] twice */
    struct qn_tensor q_b, k_b, v_b;  /* their rows */
    struct qn_tensor q_norm, k_norm; /* [head_dim] */
    struct qn_tensor o;              /* [dim, heads·head_dim] */
    struct qn_tensor o_b;            /* [dim] */
    struct qn_tensor ffn_norm;       /* [dim] */
    struct qn_tensor gate, up;       /* [ff, dim] */
    struct qn_tensor down;           /* [dim, ff] */
};

struct qn_net {
    const struct qn_decoder_arch *arch;
    struct qn_device *dev;
    struct qn_decoder_shape shape;
    struct qn_net_info info;

    struct qn_tensor embedding;   /* [vocab, dim], as in the file */
    struct qn_tensor output_norm; /* [dim] */
    struct qn_tensor output;      /* [vocab, dim], laid out for products */
    struct qn_decoder_layer *layer;

    struct qn_mem *freq_mem;
    struct qn_tensor freq; /* [rope_dim/2] f32, radians per position */

    /* Room for one batch, made at load. */
    int32_t max_chunk;
    struct qn_scratch *scratch;
    int32_t *ids, *positions; /* [max_chunk] */
    int32_t *out_row;         /* [max_chunk]: batch rows whose logits are wanted, in order */
    float **out_to;           /* [max_chunk]: where each of them goes */
    struct qn_span *spans;    /* [QN_SPANS_MAX] */
};

/* One allocation holds keys and values of all layers; pages no token has reached cost nothing. */
struct qn_seq {
    struct qn_device *dev;
    struct qn_mem *mem;
    struct qn_tensor *k, *v; /* [layers] of [kv_heads, context, head_dim] f16 */
    int32_t layers, context, len;
};

qn_err qn_decoder_load(struct qn_net **out, const struct qn_decoder_arch *arch,
                       struct qn_weights *w, struct qn_device *dev, int max_chunk,
                       qn_net_progress progress, void *ctx, struct qn_error *e);

/* Bytes of scratch that a batch of `rows` tokens needs. */
size_t qn_decoder_scratch_bytes(const struct qn_decoder_shape *s, int32_t rows);

#endif
