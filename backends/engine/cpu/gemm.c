/* Matrix products: activations are prepared once for all weights that share them, then the threads
 * take work items of a few panels each.
 *
 * The kernels are our own instead of a BLAS: OpenBLAS reaches a third of the machine's multiply-add
 * rate here, and has no block types. */
#include "engine/cpu/activations.h"

#include <string.h>

struct job {
    struct cpu_device *dev;
    const struct qn_tensor *x;
    const struct qn_linear *parts;
    float onto; /* 0: each y is overwritten; else the product times this is added to y */
    struct cpu_forms forms;
    size_t group_bytes; /* bytes of the activations of one group of rows */
    int64_t groups;
    struct {
        struct cpu_forms forms;
        char *at; /* groups of activations for the wide form, stored after the others */
        size_t group_bytes;
        int64_t groups; /* number of groups; 0: not needed */
    } wide;
    int64_t start[QN_LINEAR_MAX + 1]; /* number of items before each product */
    int64_t step[QN_LINEAR_MAX];      /* rows of one item */
};

enum {
    FILE_ROWS = 16, /* rows of one item if block weights are unpacked, in the file's format */
    /* bytes of weights of an item with few activations: enough to outweigh the cost of an item */
    ITEM_BYTES = 64 * 1024,
    ITEM_PANELS = 8,         /* panels of an item with many activations: what fits the L2 cache */
    COLUMN_GROUPS = 8,       /* groups multiplied by one panel before the next panel */
    SMALL_MACS = 128 * 1024, /* below this many multiply-adds a product stays on one thread */
};

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

size_t cpu_matmul_bytes(const struct cpu_kernels *k, int64_t rows, int64_t cols)
{
    const struct cpu_forms all = {true, true, true};
    size_t bytes = (size_t)divide_up(rows, CPU_COLUMNS_MAX) * cpu_group_bytes(&all, cols);
    if (k->wide.rows || k->plain_tile)
        bytes += (size_t)divide_up(rows, CPU_WIDE_ROWS) * cpu_wide_bytes(&all, cols);
    return bytes;
}

/* Room for one row of weights, or for two panels in wide form. */
int64_t cpu_matmul_floats(int64_t cols)
{
    const int64_t wide = CPU_PANEL + (cols + 31) / 32 * (CPU_WIDE_UNIT_MAX / 4);
    const int64_t plain = CPU_PLAIN_CLASSES * cpu_plain_step(cols);
    return 2 * (wide > plain ? wide : plain);
}

static char *group_at(const struct job *j, int64_t g)
{
    return (char *)j->dev->rows + (size_t)g * j->group_bytes;
}

/* The number of rows in group g, for groups of `most` rows. */
static int rows_of_group(const struct job *j, int64_t g, int most)
{
    int64_t rows = j->x->shape[0] - g * most;
    return (int)(rows < most ? rows : most);
}

static void ready_rows(const struct job *j, const struct cpu_forms *forms, char *group,
                       int64_t first, int n, int width)
{
    const float *x[CPU_WIDE_ROWS];
    for (int i = 0; i < n; i++)
        x[i] = cpu_at(j->x, first + i, 0);
    cpu_group_ready(j->dev->k, forms, group, width, x, n, j->x->shape[1]);
}

/* Item i prepares one group; the groups for the wide form follow the others. */
static void ready_item(void *arg, int64_t i, int worker)
{
    const struct job *j = arg;
    const int64_t groups = cpu_forms_any(&j->forms) ? j->groups : 0, g = i - groups;
    (void)worker;
    if (i < groups) {
        int n = rows_of_group(j, i, CPU_COLUMNS_MAX);
        ready_rows(j, &j->forms, group_at(j, i), i * CPU_COLUMNS_MAX, n, cpu_group_width(n));
    } else {
        ready_rows(j, &j->wide.forms, j->wide.at + (size_t)g * j->wide.group_bytes,
                   g * CPU_WIDE_ROWS, rows_of_group(j, g, CPU_WIDE_ROWS), CPU_WIDE_ROWS);
    }
}

static void ready_activations(struct job *j, int n_parts)
{
    const struct cpu_kernels *k = j->dev->k;
    const int64_t rows = j->x->shape[0], cols = j->x->shape[1];
    for (int i = 0; i < n_parts; i++)
        cpu_forms_add(cpu_wide(k, j->parts[i].w, rows) ? &j->wide.forms : &j->forms, j->parts[i].w);
    j->groups = divide_up(rows, CPU_COLUMNS_MAX);
    j->group_bytes = cpu_group_bytes(&j->forms, cols);
    size_t bytes = (size_t)j->groups * j->group_bytes;
    int64_t items = cpu_forms_any(&j->forms) ? j->groups : 0;
    if (cpu_forms_any(&j->wide.forms)) {
        j->wide.at = (char *)j->dev->rows + bytes;
        j->wide.group_bytes = cpu_wide_bytes(&j->wide.forms, cols);
        j->wide.groups = divide_up(rows, CPU_WIDE_ROWS);
        bytes += (size_t)j->wide.groups * j->wide.group_bytes;
        items += j->wide.groups;
    }
    if (bytes > j->dev->rows_bytes)
        cpu_not_reserved("matmul", rows, cols);
    if (items > 0)
        qn_pool_run(j->dev->pool, ready_item, j, items);
}

/* Writes the finished tile [nc][16] of one panel to y, without padding columns and rows. */
static void store_tile(const struct job *j, const struct qn_linear *l, const float *tile,
                       int64_t row, int n, int64_t first)
{
    int64_t out = l->w->shape[0] - first < CPU_PANEL ? l->w->shape[0] - first : CPU_PANEL;
    const float *bias = l->bias ? (const float *)cpu_data(l->bias) + first : NULL;
    for (int c = 0; c < n; c++, tile += CPU_PANEL) {
        float *y = (float *)cpu_at(l->y, row + c, 0) + first;
        if (j->onto != 0)
            for (int64_t o = 0; o < out; o++)
                y[o] += j->onto * (tile[o] + (bias ? bias[o] : 0));
        else if (out == CPU_PANEL && !bias)
            memcpy(y, tile, sizeof *y * CPU_PANEL);
        else
            for (int64_t o = 0; o < out; o++)
                y[o] = tile[o] + (bias ? bias[o] : 0);
    }
}

static void panel_times_group(const struct job *j, const struct qn_linear *l, int64_t panel,
                              int64_t g)
{
    float tile[CPU_COLUMNS_MAX * CPU_PANEL] __attribute__((aligned(64)));
    int n = rows_of_group(j, g, CPU_COLUMNS_MAX);
    cpu_group_times_panel(j->dev->k, tile, l->w, 0, panel, &j->forms, group_at(j, g), n);
    store_tile(j, l, tile, g * CPU_COLUMNS_MAX, n, panel * CPU_PANEL);
}

static void panels_item(const struct job *j, const struct qn_linear *l, int64_t first, int64_t end)
{
    for (int64_t g0 = 0; g0 < j->groups; g0 += COLUMN_GROUPS)
        for (int64_t p = first / CPU_PANEL; p < divide_up(end, CPU_PANEL); p++)
            for (int64_t g = g0; g < j->groups && g < g0 + COLUMN_GROUPS; g++)
                panel_times_group(j, l, p, g);
}

/* Multiplies two panels in wide form, p and the next one, by group g. */
static void pair_times_group(const struct job *j, const struct qn_linear *l, int64_t p, int64_t g,
                             struct cpu_tile *t)
{
    float tile[2 * CPU_WIDE_ROWS * CPU_PANEL] __attribute__((aligned(64)));
    const int64_t row = g * CPU_WIDE_ROWS, out = p * CPU_PANEL;
    const int panels = t->first == t->second ? 1 : 2;
    const bool whole =
        panels == 2 && out + 2 * CPU_PANEL <= l->w->shape[0] && !l->bias && j->onto == 0;
    t->n = rows_of_group(j, g, CPU_WIDE_ROWS);
    t->y = tile;
    t->y_panel = CPU_WIDE_ROWS * CPU_PANEL;
    t->y_row = CPU_PANEL;
    if (whole) { /* written directly to y, without a tile in between */
        t->y = (float *)cpu_at(l->y, row, 0) + out;
        t->y_panel = CPU_PANEL;
        t->y_row = l->y->stride[0] / (int64_t)sizeof(float);
    }
    cpu_group_times_wide(j->dev->k, t, l->w, &j->wide.forms,
                         j->wide.at + (size_t)g * j->wide.group_bytes);
    for (int i = 0; i < panels && !whole; i++)
        store_tile(j, l, tile + i * t->y_panel, row, t->n, out + i * CPU_PANEL);
}

/* Converts panels to the wide form in pairs and multiplies each pair by all groups; meanwhile the
 * next pair is prefetched, a share of it with each group. */
static void wide_item(const struct job *j, const struct qn_linear *l, int64_t first, int64_t end,
                      float *work)
{
    const struct cpu_wide *form = &j->dev->k->wide;
    const bool block = qn_dtype(l->w->dtype)->block > 1;
    const int64_t stop = divide_up(end, CPU_PANEL), panels = divide_up(l->w->shape[0], CPU_PANEL);
    const int64_t bytes = cpu_panel_at(l->w, 0, 1) - cpu_panel_at(l->w, 0, 0);
    char *wide[2] = {(char *)work,
                     (char *)work + cpu_wide_panel_bytes(l->w->dtype, l->w->shape[1])};
    if (block && form->begin)
        form->begin(l->w->dtype);
    for (int64_t p = first / CPU_PANEL; p < stop; p += 2) {
        const int two = stop - p < 2 ? 1 : 2;
        const char *next = cpu_panel_at(l->w, 0, p + 2);
        const int64_t coming = p + 2 >= panels ? 0 : p + 3 >= panels ? 1 : 2;
        const int64_t share = divide_up(coming * bytes, j->wide.groups * CPU_ALIGN) * CPU_ALIGN;
        for (int i = 0; i < two; i++)
            cpu_panel_widen(j->dev->k, wide[i], l->w, 0, p + i);
        for (int64_t g = 0; g < j->wide.groups; g++, next += share) {
            struct cpu_tile t = {
                .first = wide[0], .second = wide[two - 1], .ask = next, .ask_end = next + share};
            pair_times_group(j, l, p, g, &t);
        }
    }
    if (block && form->end)
        form->end();
}

/* Block weights in the file's format: each row is dequantised once and multiplied by all
 * activations, without rounding them. */
static void file_rows_item(const struct job *j, const struct qn_linear *l, int64_t first,
                           int64_t end, float *row)
{
    int64_t cols = l->w->shape[1];
    const float *bias = l->bias ? cpu_data(l->bias) : NULL;
    for (int64_t o = first; o < end; o++) {
        qn_dtype(l->w->dtype)->dequant(row, cpu_at(l->w, o, 0), cols);
        for (int64_t r = 0; r < j->x->shape[0]; r++) {
            float v = j->dev->k->dot(row, cpu_at(j->x, r, 0), cols) + (bias ? bias[o] : 0);
            float *y = (float *)cpu_at(l->y, r, 0) + o;
            *y = j->onto != 0 ? *y + j->onto * v : v;
        }
    }
}

static void item(void *arg, int64_t i, int worker)
{
    const struct job *j = arg;
    int p = 0;
    while (i >= j->start[p + 1])
        p++;
    const struct qn_linear *l = &j->parts[p];
    int64_t first = (i - j->start[p]) * j->step[p], out = l->w->shape[0];
    int64_t end = first + j->step[p] < out ? first + j->step[p] : out;
    float *work = j->dev->work + worker * j->dev->work_floats;
    if (cpu_wide(j->dev->k, l->w, j->x->shape[0]))
        wide_item(j, l, first, end, work);
    else if (cpu_in_panels(l->w))
        panels_item(j, l, first, end);
    else
        file_rows_item(j, l, first, end, work);
}

/* Rows of one item of this product. */
static int64_t step_of(const struct job *j, const struct qn_tensor *w)
{
    int64_t rows = j->x->shape[0], out = w->shape[0], cols = w->shape[1];
    if (rows * out * cols < SMALL_MACS)
        return divide_up(out, CPU_PANEL) * CPU_PANEL;
    if (!cpu_in_panels(w))
        return FILE_ROWS;
    int64_t fair = divide_up(out, CPU_PANEL) / (4 * qn_pool_threads(j->dev->pool));
    int64_t n = ITEM_PANELS;
    if (rows <= CPU_COLUMNS_MAX)
        n = ITEM_BYTES / (int64_t)cpu_panel_bytes(w->dtype, cols);
    n = n > fair ? fair : n;
    return CPU_PANEL * (n < 1 ? 1 : n);
}

void cpu_matmul_many(struct qn_device *dev, const struct qn_tensor *x,
                     const struct qn_linear *parts, int n_parts, float onto)
{
    struct job j = {.dev = cpu(dev), .x = x, .parts = parts, .onto = onto};
    if (cpu_matmul_floats(x->shape[1]) > j.dev->work_floats)
        cpu_not_reserved("matmul", x->shape[0], x->shape[1]);
    ready_activations(&j, n_parts);
    for (int i = 0; i < n_parts; i++) {
        j.step[i] = step_of(&j, parts[i].w);
        j.start[i + 1] = j.start[i] + divide_up(parts[i].w->shape[0], j.step[i]);
    }
    qn_pool_run(j.dev->pool, item, &j, j.start[n_parts]);
}
