/* Chooses the experts of each row: scores, the best groups, the best experts, their weights. */
#include "engine/cpu/cpu.h"

#include <math.h>
#include <string.h>

struct job {
    const struct cpu_device *dev;
    const struct qn_tensor *ids, *weights, *logits;
    const struct qn_expert_route *route;
    int64_t chunk; /* rows of one item */
};

/* The n best of value[0 .. count - 1], best first, ties by lower index. A NaN ranks like minus
 * infinity. n <= count. */
static void best(int32_t *out, int n, const float *value, int count)
{
    float have[QN_EXPERTS_USED_MAX];
    int filled = 0;
    for (int i = 0; i < count; i++) {
        float v = value[i] == value[i] ? value[i] : -INFINITY;
        if (filled == n && !(v > have[n - 1]))
            continue;
        int at = filled < n ? filled++ : n - 1;
        for (; at > 0 && v > have[at - 1]; at--) {
            have[at] = have[at - 1];
            out[at] = out[at - 1];
        }
        have[at] = v;
        out[at] = i;
    }
}

/* Gives the experts outside the best groups the lowest rank. */
static void keep_best_groups(float *value, int experts, int groups, int used)
{
    float sum[QN_EXPERTS_MAX];
    int32_t top[2];
    bool keep[QN_EXPERTS_MAX] = {false};
    int each = experts / groups;
    for (int g = 0; g < groups; g++) {
        best(top, each > 1 ? 2 : 1, value + g * each, each);
        sum[g] = value[g * each + top[0]] + (each > 1 ? value[g * each + top[1]] : 0);
    }
    /* one by one: there may be more groups than best() supports */
    for (int i = 0; i < used; i++) {
        best(top, 1, sum, groups);
        keep[top[0]] = true;
        sum[top[0]] = -INFINITY;
    }
    for (int e = 0; e < experts; e++)
        if (!keep[e / each])
            value[e] = -INFINITY;
}

/* The weights of ids [used] by QN_ROUTE_SPARSEMIXER. The difference between another logit and the
 * chosen one is relative to the larger of the chosen logit and the other's magnitude. open
 * [experts] is scratch for the experts not chosen before. */
static void sparsemix(float *weights, const int32_t *ids, int used, const float *logit, int experts,
                      float *open)
{
    const float near = 0.02f; /* twice the noise that training added to the logits */
    memcpy(open, logit, (size_t)experts * sizeof *open);
    for (int i = 0; i < used; i++) {
        const float top = logit[ids[i]];
        float sum = 0;
        for (int e = 0; e < experts; e++) {
            float by = fabsf(logit[e]) > top ? fabsf(logit[e]) : top;
            if (!((top - open[e]) / by > near))
                sum += expf(open[e] - top);
        }
        weights[i] = 1 / sum;
        open[ids[i]] = -INFINITY;
    }
}

static void route_row(const struct job *j, int64_t r, float *score)
{
    const struct qn_expert_route *p = j->route;
    const struct cpu_kernels *k = j->dev->k;
    int experts = (int)j->logits->shape[1], used = (int)j->ids->shape[1];
    const float *logit = cpu_at(j->logits, r, 0), *value = score;
    int32_t *ids = cpu_at(j->ids, r, 0);
    float *weights = cpu_at(j->weights, r, 0);
    if (p->score == QN_ROUTE_SOFTMAX)
        k->softmax(score, logit, experts);
    else
        for (int e = 0; e < experts; e++)
            score[e] = p->score == QN_ROUTE_SIGMOID ? 1 / (1 + expf(-logit[e])) : logit[e];
    if (p->bias || p->groups > 1) {
        float *biased = score + experts;
        memcpy(biased, score, (size_t)experts * sizeof *biased);
        if (p->bias)
            k->add(biased, biased, cpu_data(p->bias), experts);
        if (p->groups > 1)
            keep_best_groups(biased, experts, p->groups, p->groups_used);
        value = biased;
    }
    best(ids, used, value, experts);
    for (int i = 0; i < used; i++)
        weights[i] = score[ids[i]];
    if (p->score == QN_ROUTE_SOFTMAX_OF_CHOSEN)
        k->softmax(weights, weights, used);
    else if (p->score == QN_ROUTE_SPARSEMIXER)
        sparsemix(weights, ids, used, logit, experts, score);
    float factor = p->scale;
    if (p->normalise) {
        float sum = 1e-20f; /* all may be zero */
        for (int i = 0; i < used; i++)
            sum += weights[i];
        factor /= sum;
    }
    for (int i = 0; i < used; i++)
        weights[i] *= factor;
}

static void route_rows(void *arg, int64_t item, int worker)
{
    const struct job *j = arg;
    int64_t rows = j->ids->shape[0], end = (item + 1) * j->chunk;
    for (int64_t r = item * j->chunk; r < end && r < rows; r++)
        route_row(j, r, j->dev->work + worker * j->dev->work_floats);
}

void cpu_choose_experts(struct qn_device *dev, struct qn_tensor *ids, struct qn_tensor *weights,
                        const struct qn_tensor *logits, const struct qn_expert_route *route)
{
    struct job j = {cpu(dev), ids, weights, logits, route, 1 + CPU_SMALL / 8 / logits->shape[1]};
    if (2 * logits->shape[1] > j.dev->work_floats)
        cpu_not_reserved("choose_experts", ids->shape[0], logits->shape[1]);
    qn_pool_run(j.dev->pool, route_rows, &j, (ids->shape[0] + j.chunk - 1) / j.chunk);
}
