/* From a file to a decoder: metadata checked, every tensor's shape checked, weights laid out.
 *
 * The file is foreign. Each number has a named limit before it sizes anything, and a tensor that
 * this version has no use for is an error: leaving it out would change the model's answers. */
#include "base/buf.h"
#include "nets/decoder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_MAX = 96 };

/* ---- metadata ---- */

struct reader {
    struct qn_weights *w;
    const char *arch;
    struct qn_error *e;
};

static const char *key_of(const struct reader *r, char key[KEY_MAX], const char *name)
{
    snprintf(key, KEY_MAX, "%s.%s", r->arch, name);
    return key;
}

static qn_err in_range(const struct reader *r, const char *key, uint32_t v, int32_t min,
                       int32_t max)
{
    if (v < (uint32_t)min || v > (uint32_t)max)
        return qn_fail(r->e, QN_EFORMAT, "metadata %s is %u; this version takes %d to %d", key, v,
                       min, max);
    return QN_OK;
}

/* fallback: what an absent key means; 0: it must be there. */
static qn_err count(const struct reader *r, const char *name, int32_t min, int32_t max,
                    int32_t fallback, int32_t *out)
{
    char key[KEY_MAX];
    key_of(r, key, name);
    uint32_t v = (uint32_t)fallback;
    qn_err err =
        fallback ? qn_weights_u32_opt(r->w, key, &v, r->e) : qn_weights_u32(r->w, key, &v, r->e);
    if (err == QN_OK)
        err = in_range(r, key, v, min, max);
    if (err == QN_OK)
        *out = (int32_t)v;
    return err;
}

/* A number that must be finite and above 0; *out holds what an absent key means. */
static qn_err positive(const struct reader *r, const char *name, float *out)
{
    char key[KEY_MAX];
    qn_err err = qn_weights_f32_opt(r->w, key_of(r, key, name), out, r->e);
    if (err == QN_OK && !(isfinite(*out) && *out > 0))
        return qn_fail(r->e, QN_EFORMAT, "metadata %s is %g, it must be above 0", key,
                       (double)*out);
    return err;
}

/* Kinds of model that share an architecture's name but not its network. */
static qn_err refuse_variants(const struct reader *r)
{
    char key[KEY_MAX];
    uint32_t experts = 0;
    qn_err err = qn_weights_u32_opt(r->w, key_of(r, key, "expert_count"), &experts, r->e);
    if (err == QN_OK && experts > 0)
        return qn_fail(r->e, QN_EUNSUPPORTED,
                       "a mixture of %u experts is not supported; this version runs dense models",
                       experts);
    return err;
}

static qn_err read_shape(const struct reader *r, struct qn_decoder_shape *s)
{
    int32_t value_dim;
    qn_err err;
    if ((err = refuse_variants(r)) != QN_OK ||
        (err = count(r, "block_count", 1, QN_NET_LAYERS_MAX, 0, &s->layers)) != QN_OK ||
        (err = count(r, "embedding_length", 1, QN_NET_DIM_MAX, 0, &s->dim)) != QN_OK ||
        (err = count(r, "feed_forward_length", 1, QN_NET_FF_MAX, 0, &s->ff)) != QN_OK ||
        (err = count(r, "context_length", 1, QN_NET_CONTEXT_MAX, 0, &s->context_train)) != QN_OK ||
        (err = count(r, "attention.head_count", 1, QN_NET_HEADS_MAX, 0, &s->heads)) != QN_OK ||
        (err = count(r, "attention.head_count_kv", 1, s->heads, s->heads, &s->kv_heads)) != QN_OK)
        return err;
    if (s->heads % s->kv_heads)
        return qn_fail(r->e, QN_EFORMAT,
                       "%d attention heads cannot share %d key-value heads evenly", s->heads,
                       s->kv_heads);
    char key[KEY_MAX];
    if (!qn_gguf_has(qn_weights_gguf(r->w), key_of(r, key, "attention.key_length")) &&
        s->dim % s->heads)
        return qn_fail(r->e, QN_EFORMAT, "%d attention heads do not divide a width of %d", s->heads,
                       s->dim);
    int32_t even = s->dim / s->heads ? s->dim / s->heads : 1;
    if ((err = count(r, "attention.key_length", 2, QN_NET_HEAD_DIM_MAX, even, &s->head_dim)) !=
            QN_OK ||
        (err = count(r, "attention.value_length", 2, QN_NET_HEAD_DIM_MAX, s->head_dim,
                     &value_dim)) != QN_OK ||
        (err = count(r, "rope.dimension_count", 2, s->head_dim, s->head_dim, &s->rope_dim)) !=
            QN_OK)
        return err;
    if (value_dim != s->head_dim)
        return qn_fail(r->e, QN_EUNSUPPORTED,
                       "values %d wide beside keys %d wide are not supported", value_dim,
                       s->head_dim);
    if (s->rope_dim % 2)
        return qn_fail(r->e, QN_EFORMAT, "a rotated width of %d is not even", s->rope_dim);
    s->eps = 1e-5f;
    return positive(r, "attention.layer_norm_rms_epsilon", &s->eps);
}

/* ---- tensors ---- */

/* One tensor of a layer: its name after "blk.N.", where it goes, its shape. */
struct part {
    const char *name;
    size_t at;                    /* of the tensor in struct qn_decoder_layer */
    enum { MATRIX, VECTOR } kind; /* vectors are f32 */
    enum { ALWAYS, QK_NORM, QKV_BIAS, MAYBE } when;
    enum width { NONE, DIM, FF, Q, KV, HEAD } rows, cols; /* a vector has rows alone */
};

#define AT(field) offsetof(struct qn_decoder_layer, field)
static const struct part parts[] = {
    {"attn_norm.weight", AT(attn_norm), VECTOR, ALWAYS, DIM, NONE},
    {"attn_q.weight", AT(q), MATRIX, ALWAYS, Q, DIM},
    {"attn_k.weight", AT(k), MATRIX, ALWAYS, KV, DIM},
    {"attn_v.weight", AT(v), MATRIX, ALWAYS, KV, DIM},
    {"attn_q.bias", AT(q_b), VECTOR, QKV_BIAS, Q, NONE},
    {"attn_k.bias", AT(k_b), VECTOR, QKV_BIAS, KV, NONE},
    {"attn_v.bias", AT(v_b), VECTOR, QKV_BIAS, KV, NONE},
    {"attn_q_norm.weight", AT(q_norm), VECTOR, QK_NORM, HEAD, NONE},
    {"attn_k_norm.weight", AT(k_norm), VECTOR, QK_NORM, HEAD, NONE},
    {"attn_output.weight", AT(o), MATRIX, ALWAYS, DIM, Q},
    {"attn_output.bias", AT(o_b), VECTOR, MAYBE, DIM, NONE},
    {"ffn_norm.weight", AT(ffn_norm), VECTOR, ALWAYS, DIM, NONE},
    {"ffn_gate.weight", AT(gate), MATRIX, ALWAYS, FF, DIM},
    {"ffn_up.weight", AT(up), MATRIX, ALWAYS, FF, DIM},
    {"ffn_down.weight", AT(down), MATRIX, ALWAYS, DIM, FF},
};
enum { PARTS = sizeof parts / sizeof *parts };

static int64_t width(const struct qn_decoder_shape *s, enum width w)
{
    const int64_t widths[] = {[NONE] = 1,
                              [DIM] = s->dim,
                              [FF] = s->ff,
                              [Q] = (int64_t)s->heads * s->head_dim,
                              [KV] = (int64_t)s->kv_heads * s->head_dim,
                              [HEAD] = s->head_dim};
    return widths[w];
}

/* Takes the named tensor if it is as it must be: a matrix still in the file, a vector as a copy. */
static qn_err take(struct qn_net *net, struct qn_weights *w, const char *name, size_t ndim,
                   const int64_t *shape, struct qn_tensor *out, struct qn_error *e)
{
    struct qn_tensor t;
    qn_err err = qn_weights_get(w, net->dev, &t, e, "%s", name);
    if (err == QN_OK)
        err = qn_weights_expect(&t, name, e, ndim, shape);
    if (err == QN_OK && ndim == 1 && t.dtype != QN_F32)
        return qn_fail(e, QN_EUNSUPPORTED, "tensor %s is %s; vectors must be F32", name,
                       qn_dtype(t.dtype)->name);
    if (err == QN_OK && ndim == 1)
        err = qn_weights_copy_vector(w, net->dev, &t, name, e);
    if (err == QN_OK)
        *out = t;
    return err;
}

static bool wanted(const struct qn_net *net, struct qn_weights *w, const struct part *p,
                   const char *name)
{
    switch (p->when) {
    case QK_NORM:
        return net->arch->qk_norm;
    case QKV_BIAS:
        return net->arch->needs_qkv_bias || qn_weights_has(w, "%s", name);
    case MAYBE:
        return qn_weights_has(w, "%s", name);
    default:
        return true;
    }
}

static qn_err load_layer(struct qn_net *net, struct qn_weights *w, int32_t i, struct qn_error *e)
{
    for (int p = 0; p < PARTS; p++) {
        const struct part *part = &parts[p];
        struct qn_tensor *to = (struct qn_tensor *)((char *)&net->layer[i] + part->at);
        char name[KEY_MAX];
        snprintf(name, sizeof name, "blk.%d.%s", i, part->name);
        if (!wanted(net, w, part, name))
            continue;
        const int64_t shape[] = {width(&net->shape, part->rows), width(&net->shape, part->cols)};
        qn_err err = take(net, w, name, part->kind == VECTOR ? 1 : 2, shape, to, e);
        if (err == QN_OK && part->kind == MATRIX)
            err = qn_weights_prepare(w, net->dev, to, e);
        if (err != QN_OK)
            return err;
    }
    return QN_OK;
}

/* Embedding first: its rows are the vocabulary. */
static qn_err load_ends(struct qn_net *net, struct qn_weights *w, struct qn_error *e)
{
    struct qn_decoder_shape *s = &net->shape;
    qn_err err = qn_weights_get(w, net->dev, &net->embedding, e, "token_embd.weight");
    if (err != QN_OK)
        return err;
    int64_t vocab = net->embedding.ndim == 2 ? net->embedding.shape[0] : 0;
    if (vocab < 1 || vocab > QN_NET_VOCAB_MAX)
        return qn_fail(e, QN_EFORMAT, "tensor token_embd.weight is no table of 1 to %d tokens",
                       QN_NET_VOCAB_MAX);
    s->vocab = (int32_t)vocab;
    enum qn_gguf_type item;
    size_t tokens;
    const struct qn_gguf *g = qn_weights_gguf(w);
    if (qn_gguf_has(g, "tokenizer.ggml.tokens")) {
        if ((err = qn_gguf_array(g, "tokenizer.ggml.tokens", &item, &tokens, e)) != QN_OK)
            return err;
        if (tokens > (size_t)vocab)
            return qn_fail(e, QN_EFORMAT,
                           "the tokenizer knows %zu tokens, tensor token_embd.weight only %d",
                           tokens, s->vocab);
    }
    const int64_t table[] = {vocab, s->dim};
    if ((err = take(net, w, "token_embd.weight", 2, table, &net->embedding, e)) != QN_OK ||
        (err = take(net, w, "output_norm.weight", 1, &table[1], &net->output_norm, e)) != QN_OK)
        return err;
    const char *output = qn_weights_has(w, "output.weight") ? "output.weight" : "token_embd.weight";
    if ((err = take(net, w, output, 2, table, &net->output, e)) != QN_OK)
        return err;
    return qn_weights_prepare(w, net->dev, &net->output, e);
}

static bool known_tensor(const struct qn_net *net, const char *name)
{
    static const char *const ends[] = {"token_embd.weight", "output_norm.weight", "output.weight",
                                       "rope_freqs.weight"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(name, ends[i]) == 0)
            return true;
    int32_t layer;
    int used = 0;
    if (sscanf(name, "blk.%9d.%n", &layer, &used) != 1 || !used || layer < 0 ||
        layer >= net->shape.layers)
        return false;
    for (int p = 0; p < PARTS; p++)
        if (strcmp(name + used, parts[p].name) == 0)
            return parts[p].when != QK_NORM || net->arch->qk_norm;
    /* the rotary angles once more, in files of early converters: nothing a network needs */
    return strcmp(name + used, "attn_rot_embd.weight") == 0 ||
           strcmp(name + used, "attn.rotary_emb.inv_freq") == 0;
}

static qn_err refuse_unknown_tensors(const struct qn_net *net, struct qn_weights *w,
                                     struct qn_error *e)
{
    const struct qn_gguf *g = qn_weights_gguf(w);
    for (size_t i = 0; i < qn_gguf_tensor_count(g); i++) {
        struct qn_gguf_str s = qn_gguf_tensor_at(g, i)->name;
        char name[QN_GGUF_NAME_MAX + 1];
        snprintf(name, sizeof name, "%.*s", (int)s.n, s.s);
        if (!known_tensor(net, name))
            return qn_fail(e, QN_EUNSUPPORTED,
                           "tensor %s has no place in a %s network as this version knows it", name,
                           net->arch->name);
    }
    return QN_OK;
}

/* ---- positions ---- */

static qn_err rope_factor(const struct reader *r, float *factor)
{
    char key[KEY_MAX];
    const char *type = "none";
    qn_err err = qn_weights_str_opt(r->w, key_of(r, key, "rope.scaling.type"), &type, r->e);
    if (err != QN_OK)
        return err;
    *factor = 1.0f;
    if (strcmp(type, "none") == 0)
        return positive(r, "rope.scale_linear", factor); /* how files of 2023 said it */
    if (strcmp(type, "linear") != 0)
        return qn_fail(r->e, QN_EUNSUPPORTED,
                       "rotary scaling \"%.32s\" is not supported; this version knows none and "
                       "linear",
                       type);
    return positive(r, "rope.scaling.factor", factor);
}

/* freq[i] = base^(-2i/n), divided by what the file asks for. */
static qn_err load_freq(struct qn_net *net, const struct reader *r)
{
    const int64_t half = net->shape.rope_dim / 2;
    float base = 10000.0f, factor;
    struct qn_tensor divisors = {0};
    qn_err err;
    if ((err = positive(r, "rope.freq_base", &base)) != QN_OK ||
        (err = rope_factor(r, &factor)) != QN_OK)
        return err;
    if (qn_weights_has(r->w, "rope_freqs.weight") &&
        (err = take(net, r->w, "rope_freqs.weight", 1, &half, &divisors, r->e)) != QN_OK)
        return err;
    float freq[QN_NET_HEAD_DIM_MAX / 2], divisor[QN_NET_HEAD_DIM_MAX / 2];
    if (divisors.ndim && (err = qn_read(net->dev, divisor, &divisors)) != QN_OK)
        return err;
    for (int64_t i = 0; i < half; i++) {
        double f =
            pow((double)base, -2.0 * (double)i / (double)net->shape.rope_dim) / (double)factor;
        if (divisors.ndim && !(isfinite(divisor[i]) && divisor[i] > 0))
            return qn_fail(r->e, QN_EFORMAT, "tensor rope_freqs.weight: element %d is %g", (int)i,
                           (double)divisor[i]);
        freq[i] = (float)(divisors.ndim ? f / (double)divisor[i] : f);
    }
    err = qn_mem_new(net->dev, (size_t)half * sizeof *freq, &net->freq_mem, r->e);
    if (err != QN_OK)
        return err;
    net->freq = qn_tensor_make(QN_F32, 1, &half, net->freq_mem, 0);
    qn_write(net->dev, &net->freq, freq);
    return QN_OK;
}

/* ---- the whole ---- */

static qn_err make_room(struct qn_net *net, int32_t max_chunk, struct qn_error *e)
{
    const struct qn_decoder_shape *s = &net->shape;
    int64_t q = (int64_t)s->heads * s->head_dim;
    int64_t cols = q > s->dim ? q : s->dim;
    const struct qn_reserve need = {.rows = max_chunk,
                                    .cols = cols > s->ff ? cols : s->ff,
                                    .heads = s->heads,
                                    .head_dim = s->head_dim};
    qn_err err = qn_device_reserve(net->dev, &need, e);
    if (err == QN_OK)
        err = qn_scratch_new(net->dev, qn_decoder_scratch_bytes(s, max_chunk), &net->scratch, e);
    if (err != QN_OK)
        return err;
    size_t n = (size_t)max_chunk;
    net->max_chunk = max_chunk;
    net->ids = qn_xcalloc(n, sizeof *net->ids);
    net->positions = qn_xcalloc(n, sizeof *net->positions);
    net->out_row = qn_xcalloc(n, sizeof *net->out_row);
    net->out_to = qn_xcalloc(n, sizeof *net->out_to);
    net->spans = qn_xcalloc(QN_SPANS_MAX, sizeof *net->spans);
    return QN_OK;
}

static void fill_info(struct qn_net *net, const struct qn_weights *w)
{
    const struct qn_decoder_shape *s = &net->shape;
    net->info = (struct qn_net_info){
        .architecture = net->arch->name,
        .vocab = s->vocab,
        .layers = s->layers,
        .context_train = s->context_train,
        .parameters = qn_weights_parameters(w),
        .weight_bytes = qn_weights_prepared_bytes(w) + (int64_t)qn_tensor_bytes(&net->embedding),
        .kv_token_bytes =
            (int64_t)s->layers * 2 * s->kv_heads * s->head_dim * qn_dtype(QN_F16)->block_bytes,
    };
}

qn_err qn_decoder_load(struct qn_net **out, const struct qn_decoder_arch *arch,
                       struct qn_weights *w, struct qn_device *dev, int max_chunk,
                       qn_net_progress progress, void *ctx, struct qn_error *e)
{
    const struct reader r = {w, arch->name, e};
    qn_err err;
    if (max_chunk < 1 || max_chunk > QN_NET_CHUNK_MAX)
        return qn_fail(e, QN_EINVAL, "chunks of %d tokens: choose 1 to %d", max_chunk,
                       QN_NET_CHUNK_MAX);
    struct qn_net *net = qn_xcalloc(1, sizeof *net);
    net->arch = arch;
    net->dev = dev;
    if ((err = read_shape(&r, &net->shape)) != QN_OK ||
        (err = refuse_unknown_tensors(net, w, e)) != QN_OK || (err = load_freq(net, &r)) != QN_OK ||
        (err = load_ends(net, w, e)) != QN_OK)
        goto out;
    net->layer = qn_xcalloc((size_t)net->shape.layers, sizeof *net->layer);
    for (int32_t i = 0; i < net->shape.layers; i++) {
        if ((err = load_layer(net, w, i, e)) != QN_OK)
            goto out;
        if (progress && !progress(ctx, (i + 1.0) / net->shape.layers)) {
            err = qn_fail(e, QN_ECANCELLED, "loading was stopped");
            goto out;
        }
    }
    if ((err = make_room(net, max_chunk, e)) != QN_OK)
        goto out;
    fill_info(net, w);
    *out = net;
    return QN_OK;
out:
    qn_net_free(net);
    return err;
}

void qn_net_free(struct qn_net *net)
{
    if (!net)
        return;
    qn_scratch_free(net->scratch);
    qn_mem_free(net->freq_mem);
    free(net->layer);
    free(net->ids);
    free(net->positions);
    free(net->out_row);
    free(net->out_to);
    free(net->spans);
    free(net);
}
