/* Products with the matrices of a mixture's experts.
 *
 * Each row of the batch has chosen some experts; a choice is one row for one expert. Choices are
 * sorted by expert, gathered in groups of up to eight, the size of the panel kernels, and their
 * activations are prepared once for all products that share them. An expert chosen by many rows
 * uses the wide form (pack.h), like any matrix in a product of many rows. Work items are a few
 * panels of one expert, or, if the experts' results are summed, a few panels of all experts in
 * turn: then no two threads write the same number, and a row's sum is in the order of its experts'
 * numbers, independent of the other rows in the batch. With few rows only the panels of chosen
 * experts are read. */
#include "engine/cpu/activations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ITEM_BYTES = 64 * 1024,  /* bytes of weights of an item if each is used by few rows */
    ITEM_PANELS = 8,         /* panels of an item if each is used by many rows */
    GROUPS_AT_ONCE = 8,      /* groups multiplied by one panel before the next panel */
    SMALL_MACS = 128 * 1024, /* below this many multiply-adds the work stays on one thread */
};

/* Choices of one expert, up to eight or as many as a group in wide form has: choice[first] ..
 * choice[first + n - 1]. */
struct group {
    int32_t first, n;
    int32_t at; /* offset of its prepared activations, in lines of CPU_ALIGN bytes */
    bool wide;  /* in wide form */
};

/* An expert that at least one row has chosen. */
struct active {
    int32_t expert, first_group, groups;
    bool wide;
};

struct job {
    struct cpu_device *dev;
    const struct qn_tensor *x, *ids;
    const struct qn_expert_linear *parts;
    int n_parts;
    bool sum;                        /* a row's results are summed ... */
    const struct qn_tensor *weights; /* ... with these weights [rows, used], unless NULL */
    int64_t choices, used;

    int32_t *choice; /* row·used + i, sorted by expert */
    struct group *group;
    struct active *active;
    int64_t n_groups, n_active;

    struct cpu_forms forms;
    bool wide;  /* all products support the wide form for many rows */
    bool plain; /* some products have plain weights */
    /* lines of the activations of one group, and of one in wide form */
    int64_t group_lines, wide_lines;
    int64_t lines;                 /* number of lines of all groups */
    bool one_row;                  /* all groups contain the same row: the first is used for all */
    int64_t step[QN_LINEAR_MAX];   /* panels of one item */
    int64_t chunks[QN_LINEAR_MAX]; /* items of one expert */
    int64_t all_chunks;            /* items of one expert in all products */
};

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Upper bound of the number of groups for this many choices: every expert begins a new group. */
static int64_t groups_max(int64_t choices, int64_t experts)
{
    return choices / CPU_COLUMNS_MAX + (experts < choices ? experts : choices);
}

size_t cpu_experts_bytes(const struct cpu_kernels *k, const struct qn_reserve *r)
{
    const struct cpu_forms all = {true, true, true};
    size_t group = cpu_group_bytes(&all, r->experts_cols);
    size_t wide = k->wide.rows || k->plain_tile ? cpu_wide_bytes(&all, r->experts_cols) : 0;
    return (size_t)groups_max(r->rows * r->experts_used, r->experts) *
           (wide > group ? wide : group);
}

int64_t cpu_experts_ints(const struct qn_reserve *r)
{
    int64_t choices = r->rows * r->experts_used;
    return choices + (int64_t)sizeof(struct group) / 4 * groups_max(choices, r->experts) +
           (int64_t)sizeof(struct active) / 4 * r->experts;
}

static int32_t expert_of(const struct job *j, int64_t choice)
{
    return j->ids ? ((const int32_t *)cpu_data(j->ids))[choice] : (int32_t)(choice % j->used);
}

/* Chooses the forms in which activations are prepared: the wide form only if all products support
 * it. */
static void choose_forms(struct job *j)
{
    const int64_t cols = j->x->shape[1];
    j->wide = true;
    for (int i = 0; i < j->n_parts; i++) {
        const struct qn_tensor *w = j->parts[i].w;
        cpu_forms_add(&j->forms, w);
        j->wide &= cpu_wide(j->dev->k, w, CPU_WIDE_FROM_PLAIN);
        j->plain |= qn_dtype(w->dtype)->block == 1;
    }
    j->group_lines = (int64_t)cpu_group_bytes(&j->forms, cols) / CPU_ALIGN;
    if (j->wide)
        j->wide_lines = (int64_t)cpu_wide_bytes(&j->forms, cols) / CPU_ALIGN;
}

/* Adds expert e with the choices first .. end - 1, and their groups. */
static void add_active(struct job *j, int64_t e, int32_t first, int32_t end)
{
    struct active *a = &j->active[j->n_active++];
    const int32_t from = j->plain ? CPU_WIDE_FROM_PLAIN : j->dev->k->wide.from;
    const bool wide = j->wide && end - first >= from;
    const int32_t rows = wide ? CPU_WIDE_ROWS : CPU_COLUMNS_MAX;
    *a = (struct active){(int32_t)e, (int32_t)j->n_groups, 0, wide};
    for (int32_t i = first; i < end; i += rows, a->groups++) {
        const int32_t at = j->one_row ? 0 : (int32_t)j->lines;
        j->group[j->n_groups++] = (struct group){i, end - i < rows ? end - i : rows, at, wide};
        j->lines += wide ? j->wide_lines : j->group_lines;
    }
}

/* Sorts the choices by expert (counting sort), and forms the groups. */
static void sort_choices(struct job *j)
{
    const struct qn_reserve *r = &j->dev->reserved;
    int64_t experts = j->parts[0].w->shape[0];
    int32_t next[QN_EXPERTS_MAX + 1] = {0};
    if (j->choices > r->rows * r->experts_used || experts > r->experts)
        cpu_not_reserved("experts", j->choices, experts);
    j->choice = j->dev->choices;
    j->group = (struct group *)(j->choice + j->choices);
    j->active = (struct active *)(j->group + groups_max(j->choices, experts));
    for (int64_t i = 0; i < j->choices; i++) {
        int32_t id = expert_of(j, i);
        if (id < 0 || id >= experts) {
            fprintf(stderr, "experts: number %d of %lld\n", (int)id, (long long)experts);
            abort();
        }
        next[id + 1]++;
    }
    for (int64_t e = 0; e < experts; e++) {
        int32_t first = next[e], end = first + next[e + 1];
        next[e + 1] = end;
        if (end > first)
            add_active(j, e, first, end);
    }
    for (int64_t i = 0; i < j->choices; i++)
        j->choice[next[expert_of(j, i)]++] = (int32_t)i;
}

static float *work_of(const struct job *j, int worker)
{
    return j->dev->work + worker * j->dev->work_floats;
}

static char *group_at(const struct job *j, int64_t g)
{
    return (char *)j->dev->rows + (size_t)j->group[g].at * CPU_ALIGN;
}

static void ready_group(void *arg, int64_t g, int worker)
{
    const struct job *j = arg;
    const struct group *group = &j->group[g];
    (void)worker;
    bool own = j->x->shape[0] == j->choices; /* each choice has its own input */
    const float *x[CPU_WIDE_ROWS];
    for (int i = 0; i < group->n; i++) {
        int32_t choice = j->choice[group->first + i];
        x[i] = cpu_at(j->x, own ? choice : choice / j->used, 0);
    }
    cpu_group_ready(j->dev->k, &j->forms, group_at(j, g),
                    group->wide ? CPU_WIDE_ROWS : cpu_group_width(group->n), x, group->n,
                    j->x->shape[1]);
}

static void run(const struct job *j, qn_pool_fn fn, int64_t n, bool alone)
{
    if (!alone) {
        qn_pool_run(j->dev->pool, fn, (void *)j, n);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        fn((void *)j, i, 0);
}

static void ready_activations(struct job *j)
{
    int64_t cols = j->x->shape[1];
    if ((size_t)j->lines * CPU_ALIGN > j->dev->rows_bytes ||
        cpu_matmul_floats(cols) > j->dev->work_floats)
        cpu_not_reserved("experts", j->x->shape[0], cols);
    run(j, ready_group, j->one_row ? 1 : j->n_groups, j->choices * cols < CPU_SMALL);
}

/* Writes one row of a finished tile to y, or adds it, weighted, if results are summed. */
static void store(const struct job *j, const struct qn_expert_linear *l, const float *tile,
                  int32_t choice, int32_t expert, int64_t first)
{
    int64_t row = j->sum ? choice / j->used : choice;
    int64_t out = l->w->shape[1] - first < CPU_PANEL ? l->w->shape[1] - first : CPU_PANEL;
    const float *bias = l->bias ? (const float *)cpu_at(l->bias, expert, 0) + first : NULL;
    float *y = (float *)cpu_at(l->y, row, 0) + first;
    if (j->sum) {
        float weight = j->weights ? ((const float *)cpu_data(j->weights))[choice] : 1;
        for (int64_t o = 0; o < out; o++)
            y[o] += weight * (tile[o] + (bias ? bias[o] : 0));
    } else {
        for (int64_t o = 0; o < out; o++)
            y[o] = tile[o] + (bias ? bias[o] : 0);
    }
}

static void panel_times_group(const struct job *j, const struct qn_expert_linear *l, int32_t expert,
                              int64_t panel, int64_t g)
{
    float tile[CPU_COLUMNS_MAX * CPU_PANEL] __attribute__((aligned(64)));
    const struct group *group = &j->group[g];
    cpu_group_times_panel(j->dev->k, tile, l->w, expert, panel, &j->forms, group_at(j, g),
                          group->n);
    for (int i = 0; i < group->n; i++)
        store(j, l, tile + i * CPU_PANEL, j->choice[group->first + i], expert, panel * CPU_PANEL);
}

/* Multiplies the panels of t, `panel` and the next one, by group g. */
static void pair_times_group(const struct job *j, const struct qn_expert_linear *l, int32_t expert,
                             int64_t panel, int64_t g, struct cpu_tile *t)
{
    float tile[2 * CPU_WIDE_ROWS * CPU_PANEL] __attribute__((aligned(64)));
    const struct group *group = &j->group[g];
    const int panels = t->first == t->second ? 1 : 2;
    t->y = tile;
    t->y_panel = CPU_WIDE_ROWS * CPU_PANEL;
    t->y_row = CPU_PANEL;
    t->n = group->n;
    cpu_group_times_wide(j->dev->k, t, l->w, &j->forms, group_at(j, g));
    for (int p = 0; p < panels; p++)
        for (int i = 0; i < group->n; i++)
            store(j, l, tile + p * t->y_panel + i * CPU_PANEL, j->choice[group->first + i], expert,
                  (panel + p) * CPU_PANEL);
}

/* Converts panels first .. end - 1 to the wide form in pairs and multiplies each pair by all
 * groups; meanwhile the next pair is prefetched, a share of it with each group. `then`: what to
 * prefetch during the last pair. */
static void expert_wide(const struct job *j, const struct qn_expert_linear *l,
                        const struct active *a, int64_t first, int64_t end, const char *then,
                        float *work)
{
    const struct cpu_wide *form = &j->dev->k->wide;
    const int64_t bytes = cpu_panel_at(l->w, 0, 1) - cpu_panel_at(l->w, 0, 0);
    char *wide[2] = {(char *)work,
                     (char *)work + cpu_wide_panel_bytes(l->w->dtype, l->w->shape[2])};
    const bool block = qn_dtype(l->w->dtype)->block > 1;
    if (block && form->begin)
        form->begin(l->w->dtype);
    for (int64_t p = first; p < end; p += 2) {
        const int panels = end - p < 2 ? 1 : 2;
        const char *next = p + 2 < end ? cpu_panel_at(l->w, a->expert, p + 2) : then;
        const int64_t coming = !next ? 0 : p + 3 == end ? bytes : 2 * bytes;
        const int64_t share = divide_up(coming, a->groups * CPU_ALIGN) * CPU_ALIGN;
        for (int i = 0; i < panels; i++)
            cpu_panel_widen(j->dev->k, wide[i], l->w, a->expert, p + i);
        for (int32_t g = 0; g < a->groups; g++) {
            struct cpu_tile t = {.first = wide[0],
                                 .second = wide[panels - 1],
                                 .ask = next ? next + g * share : NULL,
                                 .ask_end = next ? next + (g + 1) * share : NULL};
            pair_times_group(j, l, a->expert, p, a->first_group + g, &t);
        }
    }
    if (block && form->end)
        form->end();
}

/* Multiplies all choices of an expert by panels first .. end - 1. */
static void expert_panels(const struct job *j, const struct qn_expert_linear *l,
                          const struct active *a, int64_t first, int64_t end, const char *then,
                          float *work)
{
    if (a->wide) {
        expert_wide(j, l, a, first, end, then, work);
        return;
    }
    for (int32_t g0 = 0; g0 < a->groups; g0 += GROUPS_AT_ONCE)
        for (int64_t p = first; p < end; p++)
            for (int32_t g = g0; g < a->groups && g < g0 + GROUPS_AT_ONCE; g++)
                panel_times_group(j, l, a->expert, p, a->first_group + g);
}

static int64_t end_of(const struct job *j, int part, int64_t first)
{
    int64_t panels = divide_up(j->parts[part].w->shape[1], CPU_PANEL);
    return first + j->step[part] < panels ? first + j->step[part] : panels;
}

static void product_item(void *arg, int64_t i, int worker)
{
    const struct job *j = arg;
    const struct active *a = &j->active[i / j->all_chunks];
    int64_t chunk = i % j->all_chunks;
    int p = 0;
    while (chunk >= j->chunks[p])
        chunk -= j->chunks[p++];
    const struct qn_tensor *w = j->parts[p].w;
    int64_t first = chunk * j->step[p], end = end_of(j, p, first);
    const char *then = NULL;
    if (end < divide_up(w->shape[1], CPU_PANEL))
        then = cpu_panel_at(w, a->expert, end);
    expert_panels(j, &j->parts[p], a, first, end, then, work_of(j, worker));
}

static void sum_item(void *arg, int64_t i, int worker)
{
    const struct job *j = arg;
    const struct qn_expert_linear *l = &j->parts[0];
    int64_t first = i * j->step[0], end = end_of(j, 0, first), out = l->w->shape[1];
    int64_t cols = end * CPU_PANEL < out ? (end - first) * CPU_PANEL : out - first * CPU_PANEL;
    for (int64_t r = 0; r < l->y->shape[0]; r++)
        memset((float *)cpu_at(l->y, r, 0) + first * CPU_PANEL, 0, (size_t)cols * sizeof(float));
    for (int64_t i_active = 0; i_active < j->n_active; i_active++) {
        const struct active *a = &j->active[i_active];
        const char *then =
            i_active + 1 < j->n_active ? cpu_panel_at(l->w, a[1].expert, first) : NULL;
        expert_panels(j, l, a, first, end, then, work_of(j, worker));
    }
}

static void multiply(struct job *j)
{
    int64_t panels[QN_LINEAR_MAX], all = 0, macs = 0;
    j->choices = j->ids ? qn_tensor_elements(j->ids) : j->x->shape[0];
    j->used = j->ids ? j->ids->shape[1] : j->parts[0].w->shape[0];
    j->one_row = j->x->shape[0] == 1;
    choose_forms(j);
    sort_choices(j);
    ready_activations(j);
    for (int i = 0; i < j->n_parts; i++) {
        const struct qn_tensor *w = j->parts[i].w;
        panels[i] = divide_up(w->shape[1], CPU_PANEL);
        all += panels[i] * (j->sum ? 1 : j->n_active);
        macs += j->choices * w->shape[1] * w->shape[2];
    }
    bool few = j->choices <= CPU_COLUMNS_MAX * j->n_active;
    int64_t fair = all / (4 * qn_pool_threads(j->dev->pool));
    for (int i = 0; i < j->n_parts; i++) {
        const struct qn_tensor *w = j->parts[i].w;
        size_t bytes = cpu_panel_bytes(w->dtype, w->shape[2]);
        int64_t n = few ? ITEM_BYTES / (int64_t)bytes : ITEM_PANELS;
        if (j->sum && few)
            n /= j->n_active;
        n = n > fair ? fair : n;
        if (j->wide && !few) /* an even number, so that no pair is split */
            n = n < 2 ? 2 : n / 2 * 2;
        j->step[i] = n < 1 ? 1 : n;
        j->chunks[i] = divide_up(panels[i], j->step[i]);
        j->all_chunks += j->chunks[i];
    }
    if (j->sum)
        run(j, sum_item, j->chunks[0], macs < SMALL_MACS);
    else
        run(j, product_item, j->n_active * j->all_chunks, macs < SMALL_MACS);
}

void cpu_matmul_experts(struct qn_device *dev, const struct qn_tensor *x,
                        const struct qn_tensor *ids, const struct qn_expert_linear *parts,
                        int n_parts)
{
    multiply(
        &(struct job){.dev = cpu(dev), .x = x, .ids = ids, .parts = parts, .n_parts = n_parts});
}

void cpu_sum_experts(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                     const struct qn_tensor *w, const struct qn_tensor *bias,
                     const struct qn_tensor *ids, const struct qn_tensor *weights)
{
    const struct qn_expert_linear down = {y, w, bias};
    multiply(&(struct job){.dev = cpu(dev),
                           .x = x,
                           .ids = ids,
                           .parts = &down,
                           .n_parts = 1,
                           .sum = true,
                           .weights = weights});
}
