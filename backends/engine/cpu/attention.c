/* Attention and its cache: divides the batch into blocks of queries that share one cache head. */
#include "engine/cpu/cpu.h"

struct store {
    const struct cpu_kernels *kernels;
    const struct qn_kv_layer *cache;
    const struct qn_span *span;
    const struct qn_tensor *k, *v;
};

enum { STORE_ROWS = 8 }; /* tokens of one item */

/* Stores row i of the span, all heads. */
static void store_token(const struct store *j, int32_t i)
{
    const struct qn_kv_layer *c = j->cache;
    int32_t at = j->span->past + i;
    char *page = (char *)c->mem->host + (size_t)j->span->pages[at / QN_KV_PAGE] * c->page_bytes;
    char *k = page + c->k_offset + (size_t)(at % QN_KV_PAGE) * c->k_row;
    char *v = page + c->v_offset + (size_t)(at % QN_KV_PAGE) * c->v_row;
    for (int32_t h = 0; h < c->kv_heads; h++) {
        size_t skip = (size_t)h * c->head_bytes;
        j->kernels->keep(c->k_type, k + skip, cpu_at(j->k, j->span->row + i, h), c->k_dim);
        if (j->v)
            j->kernels->keep(c->v_type, v + skip, cpu_at(j->v, j->span->row + i, h), c->v_dim);
    }
}

static void store_item(void *arg, int64_t item, int worker)
{
    const struct store *j = arg;
    int32_t first = (int32_t)item * STORE_ROWS, end = first + STORE_ROWS;
    (void)worker;
    for (int32_t i = first; i < end && i < j->span->n; i++)
        store_token(j, i);
}

void cpu_kv_store(struct qn_device *dev, const struct qn_kv_layer *cache,
                  const struct qn_span *spans, int n_spans, const struct qn_tensor *k,
                  const struct qn_tensor *v)
{
    for (int s = 0; s < n_spans; s++) {
        struct store j = {cpu(dev)->k, cache, &spans[s], k, v};
        qn_pool_run(cpu(dev)->pool, store_item, &j, (spans[s].n + STORE_ROWS - 1) / STORE_ROWS);
    }
}

struct job {
    struct cpu_device *dev;
    struct qn_tensor *out;
    const struct qn_tensor *q;
    const struct qn_kv_layer *cache;
    const struct qn_span *spans;
    const struct qn_attend_params *params;
    int group; /* query heads of one item */
    /* items that share a cache head, if its group of query heads is too large for one item */
    int64_t parts;
    int64_t threads; /* threads that could share the work */
    int n_spans;
    int64_t start[QN_SPANS_MAX + 1]; /* number of items before each span */
};

/* Query rows of one item. */
static int64_t step_of(const struct job *j)
{
    return CPU_ATTEND_QUERIES / j->group;
}

/* The block of query rows from `row` on, and of the heads of item `part` of a span's cache heads.
 */
static struct cpu_attend block_of(const struct job *j, const struct qn_span *s, int64_t row,
                                  int64_t part, int worker)
{
    const struct qn_kv_layer *c = j->cache;
    int64_t step = step_of(j), kv = part / j->parts, group = j->q->shape[1] / c->kv_heads;
    int64_t first_head = kv * group + part % j->parts * j->group,
            left = (kv + 1) * group - first_head;
    const char *base = (const char *)c->mem->host + (size_t)kv * c->head_bytes;
    return (struct cpu_attend){
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
        .n = (int)(s->n - row < step ? s->n - row : step),
        .group = (int)(left < j->group ? left : j->group),
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
}

/* Items of one span, last rows first: they attend to the most keys, so the short items come last
 * and balance the threads. */
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
    int64_t within = item - j->start[lo], heads = j->cache->kv_heads * j->parts;
    int64_t step = step_of(j), blocks = (s->n + step - 1) / step;
    int64_t row = (blocks - 1 - within / heads) * step;
    struct cpu_attend a = block_of(j, s, row, within % heads, worker);
    j->dev->k->attend(&a);
}

/* ---- one long sequence: its keys are divided among threads, too ---- */

struct shared {
    const struct job *job;
    int64_t first, splits; /* splits of the keys: first .. first + splits - 1 */
};

/* Floats of one split's sums. */
static int64_t part_step(const struct job *j)
{
    return (int64_t)j->spans->n * j->group * (j->cache->v_dim + CPU_ATTEND_PAD + 2);
}

static struct cpu_attend split_of(const struct shared *s, int64_t head, int64_t split, int worker)
{
    struct cpu_attend a = block_of(s->job, s->job->spans, 0, head, worker);
    a.part_step = part_step(s->job);
    a.part = s->job->dev->parts + (head * s->splits + split) * a.part_step;
    return a;
}

static void split_item(void *arg, int64_t item, int worker)
{
    const struct shared *s = arg;
    struct cpu_attend a = split_of(s, item / s->splits, item % s->splits, worker);
    s->job->dev->k->attend_part(&a, s->first + item % s->splits);
}

static void join_item(void *arg, int64_t head, int worker)
{
    const struct shared *s = arg;
    struct cpu_attend a = split_of(s, head, 0, worker);
    s->job->dev->k->attend_join(&a, s->splits);
}

/* Whether the only span has fewer heads than threads, and enough keys to divide among them. */
static bool share_keys(const struct job *j, struct shared *s)
{
    const struct qn_span *span = j->spans;
    int64_t heads = j->cache->kv_heads * j->parts, keys = (int64_t)span->past + span->n;
    struct cpu_attend a = block_of(j, span, 0, 0, 0);
    int64_t first = cpu_first_key(&a, span->past) / CPU_ATTEND_SPLIT;
    *s = (struct shared){j, first, (keys - 1) / CPU_ATTEND_SPLIT + 1 - first};
    return j->n_spans == 1 && span->n <= step_of(j) && s->splits > 1 && heads < 4 * j->threads &&
           heads * s->splits * part_step(j) <=
               cpu_parts_floats(j->dev->reserved.heads, j->dev->reserved.head_dim);
}

void cpu_attention(struct qn_device *dev, struct qn_tensor *out, const struct qn_tensor *q,
                   const struct qn_kv_layer *cache, const struct qn_span *spans, int n_spans,
                   const struct qn_attend_params *params)
{
    int64_t heads = cache->kv_heads, group = q->shape[1] / heads;
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
    struct shared s;
    j.group = (int)(group < CPU_ATTEND_QUERIES ? group : CPU_ATTEND_QUERIES);
    j.parts = (group + j.group - 1) / j.group;
    j.threads = qn_pool_threads(j.dev->pool);
    heads *= j.parts;
    if (share_keys(&j, &s)) {
        qn_pool_run(j.dev->pool, split_item, &s, heads * s.splits);
        qn_pool_run(j.dev->pool, join_item, &s, heads);
        return;
    }
    for (int i = 0; i < n_spans; i++) {
        int64_t step = step_of(&j);
        j.start[i + 1] = j.start[i] + (spans[i].n + step - 1) / step * heads;
    }
    qn_pool_run(j.dev->pool, attend_item, &j, j.start[n_spans]);
}
