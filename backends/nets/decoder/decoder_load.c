/* Loads a decoder from a file: first the metadata common to all architectures, then each layer's
 * blocks, then scratch memory. The file is untrusted: loader.h checks it. */
#include "base/buf.h"
#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- metadata ---- */

static qn_err read_head_dim(struct qn_loader *l, struct qn_decoder_shape *s)
{
    qn_err err;
    if (!qn_loader_has_key(l, "attention.key_length") && s->dim % s->heads)
        return qn_fail(l->e, QN_EFORMAT, "%d attention heads do not divide a width of %d", s->heads,
                       s->dim);
    if ((err = qn_loader_count(l, "attention.key_length", 2, QN_NET_HEAD_DIM_MAX, s->dim / s->heads,
                               &s->head_dim)) != QN_OK ||
        (err = qn_loader_count(l, "attention.value_length", 2, QN_NET_HEAD_DIM_MAX, s->head_dim,
                               &s->value_dim)) != QN_OK ||
        (err = qn_loader_count(l, "rope.dimension_count", 2, s->head_dim, s->head_dim,
                               &s->rope_dim)) != QN_OK)
        return err;
    if (s->rope_dim % 2)
        return qn_fail(l->e, QN_EFORMAT, "a rotated width of %d is not even", s->rope_dim);
    return QN_OK;
}

/* Sets up the layers from the shared metadata: attention and a dense feed-forward block each. */
static qn_err plan_layers(struct qn_loader *l, struct qn_net *net)
{
    struct qn_decoder_shape *s = &net->shape;
    int32_t *heads = qn_xcalloc((size_t)s->layers, 3 * sizeof *heads);
    int32_t *kv_heads = heads + s->layers, *ff = kv_heads + s->layers;
    const int32_t least = net->arch->recurrent ? 0 : 1;
    qn_err err = qn_loader_counts(l, "attention.head_count", least, QN_NET_HEADS_MAX,
                                  QN_LOADER_MUST, s->layers, heads);
    for (int32_t i = 0; i < s->layers; i++) /* 0 in layers without attention */
        s->heads = heads[i] > s->heads ? heads[i] : s->heads;
    if (err == QN_OK)
        err = qn_loader_counts(l, "attention.head_count_kv", least, s->heads, s->heads, s->layers,
                               kv_heads);
    if (err == QN_OK)
        err = qn_loader_counts(l, "feed_forward_length", least, QN_NET_FF_MAX,
                               net->arch->moe ? 0 : QN_LOADER_MUST, s->layers, ff);
    for (int32_t i = 0; i < s->layers; i++)
        s->kv_heads = kv_heads[i] > s->kv_heads ? kv_heads[i] : s->kv_heads;
    s->ff = ff[0];
    if (err == QN_OK && s->heads > 0)
        err = read_head_dim(l, s);
    for (int32_t i = 0; i < s->layers && err == QN_OK; i++) {
        net->layer[i] = (struct qn_decoder_layer){
            .index = i,
            .mixer = &qn_block_attention,
            .ffn = &qn_block_ffn,
            .attention = {.heads = heads[i],
                          .kv_heads = kv_heads[i],
                          .head_dim = s->head_dim,
                          .cache_of = i,
                          .scale = 1.0f / sqrtf((float)s->head_dim)},
            .dense = {.width = ff[i]},
        };
    }
    free(heads);
    return err;
}

/* Excludes the multi-token-prediction layers at the end, which are not needed for the output. */
static qn_err leave_out_guesses(struct qn_loader *l, struct qn_decoder_shape *s)
{
    int32_t guesses = 0;
    qn_err err = qn_loader_count(l, "nextn_predict_layers", 0, s->layers - 1, 0, &guesses);
    for (int32_t i = 0; err == QN_OK && i < guesses; i++)
        qn_loader_ignore_all(l, "blk.%d.", --s->layers);
    return err;
}

static qn_err read_metadata(struct qn_loader *l, struct qn_net *net)
{
    struct qn_decoder_shape *s = &net->shape;
    const int32_t must = QN_LOADER_MUST;
    qn_err err;
    if ((err = qn_loader_count(l, "block_count", 1, QN_NET_LAYERS_MAX, must, &s->layers)) !=
            QN_OK ||
        (err = qn_loader_count(l, "embedding_length", 1, QN_NET_DIM_MAX, must, &s->dim)) != QN_OK ||
        (err = qn_loader_count(l, "context_length", 1, QN_NET_CONTEXT_MAX, must,
                               &s->context_train)) != QN_OK)
        return err;
    if ((err = leave_out_guesses(l, s)) != QN_OK)
        return err;
    s->eps = 1e-5f;
    net->layer = qn_xcalloc((size_t)s->layers, sizeof *net->layer);
    if ((err = plan_layers(l, net)) != QN_OK || (err = qn_moe_configure(l, net)) != QN_OK)
        return err;
    /* Phi 3.5 MoE's files use the key of the other norm */
    const bool layer_norm =
        net->arch->norm == QN_NORM_LAYER && qn_loader_has_key(l, "attention.layer_norm_epsilon");
    return qn_loader_positive(
        l, layer_norm ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon",
        &s->eps);
}

/* ---- tensors ---- */

/* ---- parts ---- */

static qn_err cannot_cut(struct qn_loader *l, const struct qn_net *net, const char *why)
{
    return qn_fail(l->e, QN_EUNSUPPORTED, "a %s network cannot be cut at layers %d and %d: %s",
                   l->arch, net->part.first, net->part.end, why);
}

/* Restricts the net to the wanted part. Called when the layers are known: only the residual stream
 * may pass from one part to the next. */
static qn_err cut(struct qn_loader *l, struct qn_net *net, const struct qn_net_part *want)
{
    struct qn_net_part *p = &net->part;
    const int32_t layers = net->shape.layers;
    *p = *want;
    if (p->end == 0)
        p->end = layers;
    if (p->first < 0 || p->first >= p->end || p->end > layers)
        return qn_fail(l->e, QN_EINVAL, "layers %d to %d of a network that has %d", p->first,
                       p->end, layers);
    if (p->end < layers)
        p->headless = true;
    if (p->first == 0 && p->end == layers)
        return QN_OK;
    if (net->altup.streams || net->inputs.width)
        return cannot_cut(l, net, "its layers have inputs besides the previous layer's output");
    if (p->first < net->deepstack && (p->first > 0 || p->end < net->deepstack))
        return cannot_cut(l, net, "pictures are inputs of several of its first layers");
    for (int32_t i = p->first; i < p->end; i++)
        if (net->layer[i].mixer == &qn_block_attention &&
            net->layer[i].attention.cache_of < p->first)
            return cannot_cut(l, net, "layers share keys and values");
    if (p->first > 0)
        net->deepstack = 0;
    return QN_OK;
}

/* The vocabulary size is the number of the embedding's rows. */
static qn_err count_vocabulary(struct qn_loader *l, struct qn_decoder_shape *s)
{
    struct qn_tensor t;
    qn_err err = qn_weights_get(l->w, l->dev, &t, l->e, "token_embd.weight");
    if (err != QN_OK)
        return err;
    int64_t vocab = t.ndim == 2 ? t.shape[0] : 0;
    if (vocab < 1 || vocab > QN_NET_VOCAB_MAX)
        return qn_fail(l->e, QN_EFORMAT, "tensor token_embd.weight is no table of 1 to %d tokens",
                       QN_NET_VOCAB_MAX);
    s->vocab = (int32_t)vocab;
    enum qn_gguf_type item;
    size_t tokens;
    const struct qn_gguf *g = qn_weights_gguf(l->w);
    if (!qn_gguf_has(g, "tokenizer.ggml.tokens"))
        return QN_OK;
    err = qn_gguf_array(g, "tokenizer.ggml.tokens", &item, &tokens, l->e);
    if (err == QN_OK && tokens > (size_t)vocab)
        return qn_fail(l->e, QN_EFORMAT,
                       "the tokenizer knows %zu tokens, tensor token_embd.weight only %d", tokens,
                       s->vocab);
    return err;
}

static qn_err load_norm(struct qn_loader *l, const struct qn_net *net, struct qn_norm *n,
                        const char *name)
{
    /* Falcon H1's files omit ".weight" */
    const char *end = qn_loader_has(l, "%s", name) ? "" : ".weight";
    qn_err err = qn_loader_vector(l, &n->w, QN_REQUIRED, net->shape.dim, "%s%s", name, end);
    if (err == QN_OK && net->arch->norm == QN_NORM_LAYER)
        err = qn_loader_vector(l, &n->b, QN_OPTIONAL, net->shape.dim, "%s.bias", name);
    return err;
}

static qn_err load_ends(struct qn_loader *l, struct qn_net *net)
{
    struct qn_decoder_shape *s = &net->shape;
    const char *norm = net->arch->norms.output ? net->arch->norms.output : "output_norm";
    qn_err err = count_vocabulary(l, s);
    if (err == QN_OK && net->part.first == 0)
        err =
            qn_loader_table(l, &net->embedding, QN_REQUIRED, s->vocab, s->dim, "token_embd.weight");
    else
        qn_loader_ignore(l, "token_embd.weight");
    if (err == QN_OK && net->part.end == s->layers)
        err = load_norm(l, net, &net->output_norm, norm);
    else
        qn_loader_ignore_all(l, "%s", norm);
    if (err != QN_OK || net->part.headless) {
        qn_loader_ignore_all(l, "output.");
        return err;
    }
    net->tied = !qn_loader_has(l, "output.weight");
    const char *output = net->tied ? "token_embd.weight" : "output.weight";
    if ((err = qn_loader_matrix(l, &net->output, QN_REQUIRED, s->vocab, s->dim, "%s", output)) !=
        QN_OK)
        return err;
    if ((err = qn_loader_vector(l, &net->output_b, QN_OPTIONAL, s->vocab, "output.bias")) != QN_OK)
        return err;
    if (net->tied) /* the name under which adapters refer to it */
        qn_sites_add(&net->sites, "output.weight", &net->output, 0);
    return QN_OK;
}

static qn_err load_norms(struct qn_loader *l, const struct qn_net *net,
                         struct qn_decoder_layer *layer)
{
    const struct qn_norm_names *names = &net->arch->norms;
    struct qn_norm *norms[] = {&layer->mixer_norm, &layer->mixer_post_norm, &layer->ffn_norm,
                               &layer->ffn_post_norm};
    const char *const called[] = {names->mixer, names->mixer_post, names->ffn, names->ffn_post};
    qn_err err = QN_OK;
    for (int i = 0; i < 4 && err == QN_OK; i++) {
        char name[64];
        snprintf(name, sizeof name, "blk.%d.%s", layer->index, called[i] ? called[i] : "");
        if (called[i])
            err = load_norm(l, net, norms[i], name);
    }
    return err;
}

static qn_err load_out_scale(struct qn_loader *l, struct qn_decoder_layer *layer)
{
    struct qn_tensor t = {0};
    qn_err err =
        qn_loader_vector(l, &t, QN_OPTIONAL, 1, "blk.%d.layer_output_scale.weight", layer->index);
    layer->out_scale = 1;
    return err == QN_OK && t.ndim ? qn_read(l->dev, &layer->out_scale, &t) : err;
}

static qn_err load_layer(struct qn_loader *l, struct qn_net *net, struct qn_decoder_layer *layer)
{
    qn_err err;
    if ((err = load_norms(l, net, layer)) != QN_OK || (err = load_out_scale(l, layer)) != QN_OK ||
        (err = qn_layer_input_load(l, net, layer)) != QN_OK ||
        (err = qn_altup_layer_load(l, net, layer)) != QN_OK ||
        (err = layer->mixer->load(l, net, layer)) != QN_OK)
        return err;
    return layer->ffn ? layer->ffn->load(l, net, layer) : QN_OK;
}

/* ---- the whole network ---- */

static qn_err load_layers(struct qn_loader *l, struct qn_net *net)
{
    qn_err err = QN_OK;
    for (int32_t i = 0; i < net->shape.layers && err == QN_OK; i++) {
        if (i >= net->part.first && i < net->part.end)
            err = load_layer(l, net, &net->layer[i]);
        else
            qn_loader_ignore_all(l, "blk.%d.", i);
    }
    return err;
}

static qn_err make_room(struct qn_loader *l, struct qn_net *net, int32_t max_chunk)
{
    struct qn_reserve need = {.rows = max_chunk,
                              .cols = l->widest,
                              .experts_cols = l->widest_experts,
                              .heads = 1,
                              .head_dim = 1};
    for (int32_t i = net->part.first; i < net->part.end; i++) {
        const struct qn_decoder_layer *layer = &net->layer[i];
        if (layer->mixer->reserve)
            layer->mixer->reserve(layer, &need);
        if (layer->ffn && layer->ffn->reserve)
            layer->ffn->reserve(layer, &need);
    }
    qn_err err = qn_device_reserve(net->dev, &need, l->e);
    if (err == QN_OK)
        err =
            qn_scratch_new(net->dev, qn_decoder_scratch_bytes(net, max_chunk), &net->scratch, l->e);
    if (err != QN_OK)
        return err;
    size_t n = (size_t)max_chunk;
    net->max_chunk = max_chunk;
    net->ids = qn_xcalloc(n, sizeof *net->ids);
    net->positions = qn_xcalloc(n, sizeof *net->positions);
    net->places = qn_xcalloc(n, QN_ROPE_AXES * sizeof *net->places);
    net->out_row = qn_xcalloc(n, sizeof *net->out_row);
    net->logits_to = qn_xcalloc(n, sizeof *net->logits_to);
    net->hidden_to = qn_xcalloc(n, sizeof *net->hidden_to);
    for (int g = 0; g < QN_KV_GROUPS; g++)
        net->spans[g] = qn_xcalloc(QN_SPANS_MAX, sizeof *net->spans[g]);
    net->seqs = qn_xcalloc(QN_SPANS_MAX, sizeof *net->seqs);
    net->state_spans = qn_xcalloc(QN_SPANS_MAX, sizeof *net->state_spans);
    net->states = qn_xcalloc(QN_SPANS_MAX, sizeof *net->states);
    return QN_OK;
}

/* Bytes of the embedding table, unless the output matrix is the same memory. */
static int64_t embedding_bytes(const struct qn_net *net)
{
    const struct qn_tensor *a = &net->embedding, *b = &net->output;
    return a->ndim == 0 || (a->mem == b->mem && a->offset == b->offset)
               ? 0
               : (int64_t)qn_tensor_bytes(a);
}

static void fill_info(struct qn_net *net, const struct qn_weights *w)
{
    const struct qn_decoder_shape *s = &net->shape;
    int64_t cached = 0;
    bool windows = false;
    for (int32_t i = 0; i < s->layers; i++) {
        const struct qn_kv_shape *c = &net->layer[i].cache;
        cached += (int64_t)c->kv_heads * (c->k_dim + (c->v_in_k ? 0 : c->v_dim));
        windows |= c->kv_heads > 0 && c->window > 0;
    }
    net->info = (struct qn_net_info){
        .architecture = net->arch->name,
        .vocab = s->vocab,
        .layers = s->layers,
        .context_train = s->context_train,
        .embedding_dim = s->dim * (1 + net->deepstack),
        .hidden_dim = s->dim,
        .head = !net->part.headless,
        .parameters = qn_weights_parameters(w),
        .weight_bytes = qn_weights_prepared_bytes(w) + embedding_bytes(net) +
                        (net->inputs.width ? (int64_t)qn_tensor_bytes(&net->inputs.table) : 0),
        .windows = windows,
        .state_bytes = (int64_t)net->state_bytes,
        .kv_token_bytes = cached * qn_dtype(QN_F16)->block_bytes,
    };
}

static qn_err load(struct qn_loader *l, struct qn_net *net, const struct qn_net_options *o)
{
    qn_err err;
    if ((err = read_metadata(l, net)) != QN_OK)
        return err;
    if (net->arch->configure && (err = net->arch->configure(l, net)) != QN_OK)
        return err;
    if ((err = cut(l, net, &o->part)) != QN_OK)
        return err;
    if (net->ropes == 0 && net->shape.rope_dim > 0) {
        const struct qn_rope_form form = {.dim = net->shape.rope_dim};
        if ((err = qn_rope_load(&net->rope[0], l, &form)) != QN_OK)
            return err;
        net->ropes = 1;
    }
    if ((err = load_ends(l, net)) != QN_OK || (err = qn_layer_inputs_load(l, net)) != QN_OK ||
        (err = qn_altup_load(l, net)) != QN_OK || (err = load_layers(l, net)) != QN_OK)
        return err;
    if ((err = qn_state_lay_out(net->layer, net->shape.layers, &net->state_bytes, l->e)) != QN_OK ||
        (net->state_bytes &&
         (err = qn_mem_new(net->dev, net->state_bytes, &net->state_zero, l->e)) != QN_OK))
        return err;
    /* Embedding rows are read from the packed output matrix if it is tied, so that the table is not
     * held twice. */
    const bool one_table = net->tied && net->embedding.ndim && !net->output.factors;
    if ((err = qn_loader_finish(l, o->progress, o->ctx)) != QN_OK)
        return err;
    if (one_table)
        net->embedding = net->output;
    return make_room(l, net, o->max_chunk);
}

qn_err qn_decoder_load(struct qn_net **out, const struct qn_decoder_arch *arch,
                       struct qn_weights *w, struct qn_device *dev, const struct qn_net_options *o,
                       struct qn_error *e)
{
    if (o->max_chunk < 1 || o->max_chunk > QN_NET_CHUNK_MAX)
        return qn_fail(e, QN_EINVAL, "chunks of %d tokens: choose 1 to %d", o->max_chunk,
                       QN_NET_CHUNK_MAX);
    struct qn_loader l;
    struct qn_net *net = qn_xcalloc(1, sizeof *net);
    net->arch = arch;
    net->dev = dev;
    net->embedding_scale = net->residual_scale = net->logit_scale = 1;
    qn_loader_init(&l, w, dev, arch->name, e);
    l.stretch = o->stretch;
    l.sites = &net->sites;
    qn_err err = load(&l, net, o);
    qn_loader_deinit(&l);
    if (err != QN_OK) {
        qn_net_free(net);
        return err;
    }
    net->shape.context_train = qn_stretch_context(o->stretch, net->shape.context_train);
    fill_info(net, w);
    *out = net;
    return QN_OK;
}

void qn_net_free(struct qn_net *net)
{
    if (!net)
        return;
    qn_net_adapters_free(net);
    qn_sites_deinit(&net->sites);
    qn_scratch_free(net->scratch);
    for (int32_t r = 0; r < net->ropes; r++)
        qn_rope_deinit(&net->rope[r]);
    free(net->layer);
    free(net->ids);
    free(net->positions);
    free(net->places);
    free(net->out_row);
    free(net->logits_to);
    free(net->hidden_to);
    for (int g = 0; g < QN_KV_GROUPS; g++)
        free(net->spans[g]);
    free(net->seqs);
    free(net->state_spans);
    free(net->states);
    qn_mem_free(net->state_zero);
    qn_kv_free(net->kv);
    free(net);
}
