/* Attention and its cache: cuts the batch into blocks of queries that share one cache head. */
#include "engine/cpu/cpu.h"

static void store(struct qn_device *dev, const struct qn_tensor *cache, const struct qn_tensor *x,
                  const struct qn_span *s)
{
    for (int64_t h = 0; h < x->shape[1]; h++)
        for (int32_t i = 0; i < s->n; i++)
            cpu(dev)->k->narrow(cpu_at(cache, h, s->past + i), cpu_at(x, s->row + i, h),
                                x->shape[2]);
}

void cpu_kv_store(struct qn_device *dev, const struct qn_span *spans, int n_spans,
                  const struct qn_tensor *k, const struct qn_tensor *v)
{
    for (int i = 0; i < n_spans; i++) {
        store(dev, spans[i].k_cache, k, &spans[i]);
        store(dev, spans[i].v_cache, v, &spans[i]);
    }
}

struct job {
    struct cpu_device *dev;
    struct qn_tensor *out;
    const struct qn_tensor *q;
    const struct qn_span *spans;
    int64_t kv_heads, step; /* step: query rows of one item */
    int group;              /* query heads of one item */
    int64_t parts;          /* items that share a cache head, when its group is too wide for one */
    float scale;
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
    int64_t within = item - j->start[lo], heads = j->kv_heads * j->parts;
    int64_t blocks = (s->n + j->step - 1) / j->step, block = blocks - 1 - within / heads;
    int64_t part = within % heads, kv = part / j->parts;
    int64_t group = j->q->shape[1] / j->kv_heads;
    int64_t first_head = kv * group + part % j->parts * j->group, row = block * j->step;
    const struct qn_tensor *k = s->k_cache, *v = s->v_cache;
    struct cpu_attend a = {
        .out = cpu_at(j->out, s->row + row, first_head),
        .q = cpu_at(j->q, s->row + row, first_head),
        .out_row = j->out->stride[0] / 4,
        .q_row = j->q->stride[0] / 4,
        .out_head = j->out->stride[1] / 4,
        .q_head = j->q->stride[1] / 4,
        .k = cpu_at(k, kv, 0),
        .v = cpu_at(v, kv, 0),
        .k_row = k->stride[1] / 2,
        .v_row = v->stride[1] / 2,
        .n = (int)(s->n - row < j->step ? s->n - row : j->step),
        .group = (int)((kv + 1) * group - first_head < j->group ? (kv + 1) * group - first_head
                                                                : j->group),
        .head_dim = (int)j->q->shape[2],
        .first = s->past + row + 1,
        .scale = j->scale,
        .work = j->dev->work + worker * j->dev->work_floats,
    };
    j->dev->k->attend(&a);
}

void cpu_attention(struct qn_device *dev, struct qn_tensor *out, const struct qn_tensor *q,
                   const struct qn_span *spans, int n_spans, float scale)
{
    int64_t kv_heads = spans[0].k_cache->shape[0], group = q->shape[1] / kv_heads;
    if (cpu_attend_floats(q->shape[2]) > cpu(dev)->work_floats)
        cpu_not_reserved("attention", q->shape[0], q->shape[2]);
    struct job j = {.dev = cpu(dev), .out = out, .q = q, .spans = spans, .scale = scale};
    j.kv_heads = kv_heads;
    j.group = (int)(group < CPU_ATTEND_QUERIES ? group : CPU_ATTEND_QUERIES);
    j.parts = (group + j.group - 1) / j.group;
    j.step = CPU_ATTEND_QUERIES / j.group;
    j.n_spans = n_spans;
    for (int i = 0; i < n_spans; i++)
        j.start[i + 1] = j.start[i] + (spans[i].n + j.step - 1) / j.step * kv_heads * j.parts;
    qn_pool_run(j.dev->pool, attend_item, &j, j.start[n_spans]);
}
