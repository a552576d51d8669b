/* Reads an adapter's file into pairs of matrices stored beside the net's own. The file is
 * untrusted: it must be made for this architecture, every tensor must belong to a pair, and every
 * pair must fit a matrix of the net; otherwise loading fails, because ignoring a tensor would
 * change the output. */
#include "nets/decoder/adapter.h"

#include "base/buf.h"
#include "nets/decoder/decoder.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the net's matrices by name ---- */

void qn_sites_add(struct qn_sites *s, const char *name, const struct qn_tensor *w, int64_t first)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 256;
        s->v = qn_xrealloc(s->v, s->cap * sizeof *s->v);
    }
    s->v[s->n++] = (struct qn_site){.name = qn_xstrdup(name), .w = w, .first = first};
}

void qn_sites_deinit(struct qn_sites *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->v[i].name);
    free(s->v);
}

/* The last matrix within the tensor of this name; NULL if there is none. */
static const struct qn_site *last_in(const struct qn_sites *s, const char *name)
{
    const struct qn_site *last = NULL;
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->v[i].name, name) == 0 && (!last || s->v[i].first > last->first))
            last = &s->v[i];
    return last;
}

/* ---- the file ---- */

static qn_err read_text(struct qn_weights *w, const char *key, const char *want, struct qn_error *e)
{
    const char *text;
    qn_err err = qn_weights_str(w, key, &text, e);
    if (err == QN_OK && strcmp(text, want))
        return qn_fail(e, QN_EUNSUPPORTED, "%s is \"%.64s\", not \"%s\"", key, text, want);
    return err;
}

static qn_err read_metadata(const struct qn_net *net, struct qn_weights *w, float *alpha,
                            struct qn_error *e)
{
    const char *arch;
    qn_err err;
    *alpha = 0;
    if ((err = read_text(w, "general.type", "adapter", e)) != QN_OK ||
        (err = read_text(w, "adapter.type", "lora", e)) != QN_OK ||
        (err = qn_weights_str(w, "general.architecture", &arch, e)) != QN_OK ||
        (err = qn_weights_f32_opt(w, "adapter.lora.alpha", alpha, e)) != QN_OK)
        return err;
    if (strcmp(arch, net->arch->name))
        return qn_fail(e, QN_EUNSUPPORTED, "it was made for the architecture \"%.64s\", not for %s",
                       arch, net->arch->name);
    if (!isfinite(*alpha))
        return qn_fail(e, QN_EFORMAT, "metadata adapter.lora.alpha is %g", (double)*alpha);
    if (qn_gguf_has(qn_weights_gguf(w), "adapter.alora.invocation_tokens"))
        return qn_fail(
            e, QN_EUNSUPPORTED,
            "it is activated by certain tokens only (adapter.alora.invocation_tokens), which "
            "this version cannot do");
    return QN_OK;
}

/* The pair that is being read, and where it goes. */
struct reading {
    struct qn_net *net;
    struct qn_adapter *to;
    struct qn_error *e;
    float alpha;
    char name[QN_GGUF_NAME_MAX + 1]; /* of the model's tensor */
    struct qn_tensor a, b;           /* as in the file */
};

static qn_err shape_fails(const struct reading *r, const struct qn_tensor *t, const char *which,
                          const char *want)
{
    char have[128];
    qn_tensor_describe(t, have, sizeof have);
    return qn_fail(r->e, QN_EFORMAT,
                   "tensor %s.%s is %s, but the model's tensor asks for %s: the adapter belongs to "
                   "another model",
                   r->name, which, have, want);
}

static qn_err check_rank(const struct reading *r, int64_t rank)
{
    if (rank > QN_ADAPTER_RANK_MAX)
        return qn_fail(r->e, QN_ELIMIT, "tensor %s.lora_a has rank %" PRId64 ", at most %d",
                       r->name, rank, QN_ADAPTER_RANK_MAX);
    return QN_OK;
}

/* Checks for a [rank, cols] and b [rows, rank], both with a leading dimension of experts if w has
 * one. */
static qn_err check_shapes(const struct reading *r, const struct qn_tensor *w, int64_t rows)
{
    const int n = w->ndim;
    const struct qn_tensor *a = &r->a, *b = &r->b;
    const int64_t experts = n == 3 ? w->shape[0] : 0;
    char each[32] = "", want[128];
    if (experts)
        snprintf(each, sizeof each, "%" PRId64 ", ", experts);
    if (a->ndim != n || a->shape[n - 1] != w->shape[n - 1] || (experts && a->shape[0] != experts)) {
        snprintf(want, sizeof want, "[%srank, %" PRId64 "]", each, w->shape[n - 1]);
        return shape_fails(r, a, "lora_a", want);
    }
    const int64_t rank = a->shape[n - 2];
    if (b->ndim != n || b->shape[n - 1] != rank || b->shape[n - 2] != rows ||
        (experts && b->shape[0] != experts)) {
        snprintf(want, sizeof want, "[%s%" PRId64 ", %" PRId64 "]", each, rows, rank);
        return shape_fails(r, b, "lora_b", want);
    }
    return check_rank(r, rank);
}

static float scale_of(const struct reading *r, int64_t rank)
{
    return r->alpha != 0 ? r->alpha / (float)rank : 1; /* without alpha the scale is 1 */
}

static void keep(struct qn_adapter *to, const struct qn_pair *pair)
{
    if (to->n == to->cap) {
        to->cap = to->cap ? 2 * to->cap : 64;
        to->pair = qn_xrealloc(to->pair, to->cap * sizeof *to->pair);
    }
    to->pair[to->n++] = *pair;
}

/* Adds a pair for each matrix within the tensor: all share a, and each has its own rows of b. */
static qn_err take_matrix(struct reading *r)
{
    const struct qn_sites *sites = &r->net->sites;
    const struct qn_site *last = last_in(sites, r->name);
    if (!last)
        return qn_fail(r->e, QN_EUNSUPPORTED,
                       "tensor %s.lora_a cannot be applied: this model has no matrix %s that an "
                       "adapter can change",
                       r->name, r->name);
    const struct qn_tensor *w = last->w;
    if (!w)
        return QN_OK;
    qn_err err = check_shapes(r, w, last->first + w->shape[w->ndim - 2]);
    struct qn_pair pair = {.a = r->a, .scale = scale_of(r, r->a.shape[w->ndim - 2])};
    if (err == QN_OK)
        err = qn_weights_prepare(r->to->weights, r->net->dev, &pair.a, r->e);
    for (size_t i = 0; i < sites->n && err == QN_OK; i++) {
        const struct qn_site *s = &sites->v[i];
        if (strcmp(s->name, r->name))
            continue;
        pair.w = s->w;
        pair.b = qn_tensor_slice(&r->b, s->w->ndim - 2, s->first, s->w->shape[s->w->ndim - 2]);
        err = qn_weights_prepare(r->to->weights, r->net->dev, &pair.b, r->e);
        if (err == QN_OK)
            keep(r->to, &pair);
    }
    return err;
}

/* A tied output matrix changes with the embedding: as an output matrix (A·Bᵀ)·x is A·(Bᵀ·x), so A
 * and B swap their roles. */
static qn_err take_tied_output(struct reading *r, struct qn_weights *w)
{
    const int64_t dim = r->b.shape[0], rank = r->b.shape[1];
    struct qn_pair pair = {
        .w = &r->net->output, .a = qn_tensor_reshape(&r->b, QN_SHAPE(1, dim, rank)), .b = r->a};
    pair.scale = scale_of(r, rank);
    qn_err err = qn_weights_turn(w, r->net->dev, &pair.a, r->e);
    if (err != QN_OK)
        return err;
    pair.a = qn_tensor_reshape(&pair.a, QN_SHAPE(rank, dim));
    if ((err = qn_weights_prepare(w, r->net->dev, &pair.a, r->e)) != QN_OK ||
        (err = qn_weights_prepare(w, r->net->dev, &pair.b, r->e)) != QN_OK)
        return err;
    keep(r->to, &pair);
    return QN_OK;
}

/* The embedding's a is stored transposed, because its rows are looked up: a [vocab, rank], b [dim,
 * rank]. */
static qn_err take_embedding(struct reading *r)
{
    const struct qn_decoder_shape *s = &r->net->shape;
    struct qn_weights *w = r->to->weights;
    char want[128];
    if (r->a.ndim != 2 || r->a.shape[0] != s->vocab) {
        snprintf(want, sizeof want, "[%d, rank]", s->vocab);
        return shape_fails(r, &r->a, "lora_a", want);
    }
    const int64_t rank = r->a.shape[1];
    if (r->b.ndim != 2 || r->b.shape[0] != s->dim || r->b.shape[1] != rank) {
        snprintf(want, sizeof want, "[%d, %lld]", s->dim, (long long)rank);
        return shape_fails(r, &r->b, "lora_b", want);
    }
    qn_err err = check_rank(r, rank);
    if (err == QN_OK && r->net->tied && !qn_weights_has(w, "output.weight.lora_a"))
        err = take_tied_output(r, w);
    r->to->rows = r->a;
    r->to->embedding = (struct qn_pair){.b = r->b, .scale = scale_of(r, rank)};
    return err == QN_OK ? qn_weights_prepare(w, r->net->dev, &r->to->embedding.b, r->e) : err;
}

/* Whether the name has this suffix; *stem is the length before the suffix. */
static bool ends(const char *name, const char *end, int *stem)
{
    size_t n = strlen(name), m = strlen(end);
    *stem = n > m ? (int)(n - m) : 0;
    return n > m && strcmp(name + n - m, end) == 0;
}

static qn_err take(struct reading *r, const char *tensor)
{
    static const char *const names[] = {".lora_a", ".lora_b"};
    struct qn_weights *w = r->to->weights;
    int stem, which = 0;
    while (which < 2 && !ends(tensor, names[which], &stem))
        which++;
    if (which == 2)
        return qn_fail(r->e, QN_EUNSUPPORTED,
                       "tensor %s is no part of a pair NAME.lora_a, NAME.lora_b: this version "
                       "applies nothing else of an adapter",
                       tensor);
    snprintf(r->name, sizeof r->name, "%.*s", stem, tensor);
    if (!qn_weights_has(w, "%s%s", r->name, names[1 - which]))
        return qn_fail(r->e, QN_EFORMAT, "tensor %s has no tensor %s%s beside it", tensor, r->name,
                       names[1 - which]);
    if (which == 1)
        return QN_OK; /* taken together with lora_a */
    qn_err err;
    if ((err = qn_weights_get(w, r->net->dev, &r->a, r->e, "%s.lora_a", r->name)) != QN_OK ||
        (err = qn_weights_get(w, r->net->dev, &r->b, r->e, "%s.lora_b", r->name)) != QN_OK)
        return err;
    return strcmp(r->name, "token_embd.weight") ? take_matrix(r) : take_embedding(r);
}

static int by_matrix(const void *a, const void *b)
{
    const struct qn_pair *x = a, *y = b;
    return (x->w > y->w) - (x->w < y->w);
}

const struct qn_pair *qn_adapter_pair(const struct qn_adapter *a, const struct qn_tensor *w)
{
    const struct qn_pair key = {.w = w};
    return a->n ? bsearch(&key, a->pair, a->n, sizeof key, by_matrix) : NULL;
}

/* ---- scratch memory in the net ---- */

static void adapter_free(struct qn_adapter *a)
{
    qn_weights_close(a->weights);
    free(a->pair);
    free(a);
}

void qn_net_adapters_free(struct qn_net *net)
{
    for (int32_t i = 0; i < net->adapters; i++)
        adapter_free(net->adapter[i]);
    qn_scratch_free(net->adapt_scratch);
    free(net->adapting);
}

static qn_err make_room(struct qn_net *net, const struct qn_adapter *a, struct qn_error *e)
{
    struct qn_reserve need = {
        .rows = net->max_chunk, .cols = 1, .experts_cols = 1, .heads = 1, .head_dim = 1};
    struct qn_scratch *scratch;
    size_t bytes = qn_adapt_scratch_bytes(net, a);
    for (size_t i = 0; i < a->n; i++) {
        const struct qn_tensor *b = &a->pair[i].b;
        int64_t rank = b->shape[b->ndim - 1];
        need.cols = rank > need.cols ? rank : need.cols;
        if (b->ndim == 3 && rank > need.experts_cols)
            need.experts_cols = rank;
    }
    if (a->rows.ndim && a->rows.shape[1] > need.cols)
        need.cols = a->rows.shape[1];
    qn_err err = qn_device_reserve(net->dev, &need, e);
    if (err == QN_OK && bytes > net->adapt_bytes) {
        err = qn_scratch_new(net->dev, bytes, &scratch, e);
        if (err != QN_OK)
            return err;
        qn_scratch_free(net->adapt_scratch);
        net->adapt_scratch = scratch;
        net->adapt_bytes = bytes;
    }
    if (err == QN_OK && !net->adapting)
        net->adapting = qn_xcalloc(1, sizeof *net->adapting);
    return err;
}

qn_err qn_net_adapter_add(struct qn_net *net, struct qn_weights *w, int32_t *index,
                          struct qn_error *e)
{
    struct qn_adapter *a = qn_xcalloc(1, sizeof *a);
    struct reading r = {.net = net, .to = a, .e = e};
    a->weights = w;
    qn_err err = net->adapters == QN_ADAPTERS_MAX
                     ? qn_fail(e, QN_ELIMIT, "a model takes at most %d adapters", QN_ADAPTERS_MAX)
                     : read_metadata(net, w, &r.alpha, e);
    for (size_t i = 0; i < qn_weights_tensors(w) && err == QN_OK; i++) {
        char name[QN_GGUF_NAME_MAX + 1];
        struct qn_gguf_str s = qn_weights_tensor(w, i)->name;
        snprintf(name, sizeof name, "%.*s", (int)s.n, s.s);
        err = take(&r, name);
    }
    if (err == QN_OK && a->n == 0 && !a->rows.ndim)
        err = qn_fail(e, QN_EFORMAT, "it has no tensors");
    if (a->n)
        qsort(a->pair, a->n, sizeof *a->pair, by_matrix);
    if (err == QN_OK)
        err = make_room(net, a, e);
    if (err != QN_OK) {
        adapter_free(a);
        return err;
    }
    *index = net->adapters;
    net->adapter[net->adapters++] = a;
    return QN_OK;
}

int64_t qn_net_adapter_bytes(const struct qn_net *net)
{
    int64_t bytes = (int64_t)net->adapt_bytes;
    for (int32_t i = 0; i < net->adapters; i++)
        bytes += qn_weights_prepared_bytes(net->adapter[i]->weights);
    return bytes;
}
