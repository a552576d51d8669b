/* Attention and its cache: cuts the batch into blocks of queries that share one cache head. */
#include "engine/cpu/cpu.h"

struct store {
    const struct cpu_kernels *kernels;
    const struct qn_kv_layer *cache;
    const struct qn_span *spans;
    int n_spans;
    const struct qn_tensor *k, *v;
};

static void store_row(const struct cpu_kernels *k, enum qn_dtype t, void *to, const float *from,
                      int64_t n)
{
    if (t == QN_F16)
        k->narrow(to, from, n);
    else
        qn_dtype(t)->quant(to, from, n);
}

/* Row i of span s, all heads. */
static void store_token(const struct store *j, const struct qn_span *s, int32_t i)
{
    const struct qn_kv_layer *c = j->cache;
    int32_t at = s->past + i;
    char *page = (char *)c->mem->host + (size_t)s->pages[at / QN_KV_PAGE] * c->page_bytes;
    char *k = page + c->k_offset + (size_t)(at % QN_KV_PAGE) * c->k_row;
    char *v = page + c->v_offset + (size_t)(at % QN_KV_PAGE) * c->v_row;
    for (int32_t h = 0; h < c->kv_heads; h++) {
        size_t skip = (size_t)h * c->head_bytes;
        store_row(j->kernels, c->k_type, k + skip, cpu_at(j->k, s->row + i, h), c->k_dim);
        if (j->v)
            store_row(j->kernels, c->v_type, v + skip, cpu_at(j->v, s->row + i, h), c->v_dim);
    }
}

void cpu_kv_store(struct qn_device *dev, const struct qn_kv_layer *cache,
                  const struct qn_span *spans, int n_spans, const struct qn_tensor *k,
                  const struct qn_tensor *v)
{
    struct store j = {cpu(dev)->k, cache, spans, n_spans, k, v};
    for (int s = 0; s < n_spans; s++)
        for (int32_t i = 0; i < spans[s].n; i++)
            store_token(&j, &spans[s], i);
}

struct job {
    struct cpu_device *dev;
    struct qn_tensor *out;
    const struct qn_tensor *q;
    const struct qn_kv_layer *cache;
    const struct qn_span *spans;
    const struct qn_attend_params *params;
    int64_t step;  /* query rows of one item */
    int group;     /* query heads of one item */
    int64_t parts; /* items that share a cache head, when its group is too wide for one */
    int n_spans;
    int64_t start[QN_SPANS_MAX + 1]; /* items before each span */
};

/* Items of one span, last rows first: they see the most keys, so short ones fill the end. */
static void attend_item(void *arg, int64_t item, int worker)
{
    const struct job *j = arg;
    int lo = 0, hi = j->n_spans - 1;
    while (lo < hi) {
        int mid = (lo + hi + 1) / 2;
        if (j->start[mid] <= item)
            lo = mid;
        else
            hi = mid - 1;
    }
    const struct qn_span *s = &j->spans[lo];
    const struct qn_kv_layer *c = j->cache;
    int64_t within = item - j->start[lo], heads = c->kv_heads * j->parts;
    int64_t blocks = (s->n + j->step - 1) / j->step, block = blocks - 1 - within / heads;
    int64_t part = within % heads, kv = part / j->parts;
    int64_t group = j->q->shape[1] / c->kv_heads;
    int64_t first_head = kv * group + part % j->parts * j->group, row = block * j->step;
    const char *base = (const char *)c->mem->host + (size_t)kv * c->head_bytes;
    struct cpu_attend a = {
        .out = cpu_at(j->out, s->row + row, first_head),
        .q = cpu_at(j->q, s->row + row, first_head),
        .out_row = j->out->stride[0] / 4,
        .q_row = j->q->stride[0] / 4,
        .out_head = j->out->stride[1] / 4,
        .q_head = j->q->stride[1] / 4,
        .k = base + c->k_offset,
        .v = base + c->v_offset,
        .pages = s->pages,
        .page_bytes = c->page_bytes,
        .k_row = c->k_row,
        .v_row = c->v_row,
        .k_type = c->k_type,
        .v_type = c->v_type,
        .n = (int)(s->n - row < j->step ? s->n - row : j->step),
        .group = (int)((kv + 1) * group - first_head < j->group ? (kv + 1) * group - first_head
                                                                : j->group),
        .k_dim = c->k_dim,
        .v_dim = c->v_dim,
        .first = s->past + row + 1,
        .window = j->params->window,
        .chunk = j->params->chunk,
        .scale = j->params->scale,
        .softcap = j->params->softcap,
        .sinks = j->params->sinks ? (const float *)cpu_data(j->params->sinks) + first_head : NULL,
        .work = j->dev->work + worker * j->dev->work_floats,
    };
    j->dev->k->attend(&a);
}

void cpu_attention(struct qn_device *dev, struct qn_tensor *out, const struct qn_tensor *q,
                   const struct qn_kv_layer *cache, const struct qn_span *spans, int n_spans,
                   const struct qn_attend_params *params)
{
    int64_t kv_heads = cache->kv_heads, group = q->shape[1] / kv_heads;
    int64_t wide = cache->k_dim > cache->v_dim ? cache->k_dim : cache->v_dim;
    if (cpu_attend_floats(wide) > cpu(dev)->work_floats)
        cpu_not_reserved("attention", q->shape[0], wide);
    struct job j = {.dev = cpu(dev),
                    .out = out,
                    .q = q,
                    .cache = cache,
                    .spans = spans,
                    .params = params,
                    .n_spans = n_spans};
    j.group = (int)(group < CPU_ATTEND_QUERIES ? group : CPU_ATTEND_QUERIES);
    j.parts = (group + j.group - 1) / j.group;
    j.step = CPU_ATTEND_QUERIES / j.group;
    for (int i = 0; i < n_spans; i++)
        j.start[i + 1] = j.start[i] + (spans[i].n + j.step - 1) / j.step * kv_heads * j.parts;
    qn_pool_run(j.dev->pool, attend_item, &j, j.start[n_spans]);
}
