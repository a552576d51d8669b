/* Groups of activations: rounding them, and multiplying them by one panel. */
#include "engine/cpu/activations.h"

#include <string.h>

static size_t aligned(size_t n)
{
    return (n + CPU_ALIGN - 1) / CPU_ALIGN * CPU_ALIGN;
}

/* Bytes of a group of up to `rows`. */
static size_t block_bytes(int64_t cols, int rows)
{
    return aligned((size_t)((cols + 31) / 32) * (size_t)ACT_BYTES(rows));
}

static size_t plain_bytes(int64_t cols)
{
    return aligned((size_t)(cols + CPU_PLAIN_RUN - 1) / CPU_PLAIN_RUN * CPU_PLAIN_RUN *
                   sizeof(float) * CPU_COLUMNS_MAX);
}

static size_t classes_bytes(int64_t cols)
{
    return (size_t)cpu_plain_step(cols) * CPU_PLAIN_CLASSES * sizeof(float);
}

size_t cpu_wide_panel_bytes(enum qn_dtype t, int64_t cols)
{
    if (qn_dtype(t)->block == 1)
        return classes_bytes(cols);
    return (size_t)cpu_head_bytes(t) + (size_t)(cols / 32) * (size_t)cpu_wide_unit(t);
}

static bool is_block(const struct qn_tensor *w)
{
    return qn_dtype(w->dtype)->block > 1;
}

/* Whether w needs the rounding residuals. A mixture's experts count as one matrix. */
static bool fine(const struct qn_tensor *w)
{
    return w->dtype == QN_Q8_0 || (is_block(w) && qn_tensor_elements(w) < CPU_FINE_WEIGHTS);
}

bool cpu_in_panels(const struct qn_tensor *w)
{
    return !is_block(w) || w->mem->layout == CPU_LAYOUT_PANELS;
}

const char *cpu_panel_at(const struct qn_tensor *w, int64_t expert, int64_t panel)
{
    if (!is_block(w)) {
        int64_t row = panel * CPU_PANEL;
        return w->ndim == 2 ? cpu_at(w, row, 0) : cpu_at(w, expert, row);
    }
    int64_t each = (w->shape[w->ndim - 2] + CPU_PANEL - 1) / CPU_PANEL;
    return (const char *)cpu_data(w) +
           (size_t)(expert * each + panel) * cpu_panel_bytes(w->dtype, w->shape[w->ndim - 1]);
}

int cpu_panel_rows(const struct qn_tensor *w, int64_t panel)
{
    int64_t left = w->shape[w->ndim - 2] - panel * CPU_PANEL;
    return left < CPU_PANEL ? (int)left : CPU_PANEL;
}

void cpu_panel_widen(const struct cpu_kernels *k, void *out, const struct qn_tensor *w,
                     int64_t expert, int64_t panel)
{
    const char *from = cpu_panel_at(w, expert, panel), *rows[CPU_PANEL];
    const int64_t cols = w->shape[w->ndim - 1];
    if (is_block(w)) {
        k->wide_panel[w->dtype](out, from, cols);
        return;
    }
    const int n = cpu_panel_rows(w, panel);
    for (int r = 0; r < n; r++)
        rows[r] = from + r * w->stride[w->ndim - 2];
    k->plain_classes(w->dtype, out, rows, n, cols);
}

void cpu_forms_add(struct cpu_forms *f, const struct qn_tensor *w)
{
    if (!cpu_in_panels(w))
        return;
    f->block |= is_block(w);
    f->plain |= !is_block(w);
    f->rest |= fine(w);
}

bool cpu_wide(const struct cpu_kernels *k, const struct qn_tensor *w, int64_t rows)
{
    if (!is_block(w))
        return rows >= CPU_WIDE_FROM_PLAIN && k->plain_tile;
    return k->wide.rows && rows >= k->wide.from && cpu_in_panels(w) && k->wide_panel[w->dtype];
}

bool cpu_forms_any(const struct cpu_forms *f)
{
    return f->block || f->rest || f->plain;
}

size_t cpu_group_bytes(const struct cpu_forms *f, int64_t cols)
{
    return (f->block ? block_bytes(cols, CPU_COLUMNS_MAX) : 0) +
           (f->rest ? block_bytes(cols, CPU_COLUMNS_MAX) : 0) + (f->plain ? plain_bytes(cols) : 0);
}

size_t cpu_wide_bytes(const struct cpu_forms *f, int64_t cols)
{
    return (f->block ? block_bytes(cols, CPU_WIDE_ROWS) : 0) +
           (f->rest ? block_bytes(cols, CPU_WIDE_ROWS) : 0) + (f->plain ? classes_bytes(cols) : 0);
}

int cpu_group_width(int rows)
{
    return rows > 4 ? 8 : rows > 2 ? 4 : rows;
}

static int most_of(int width)
{
    return width > CPU_COLUMNS_MAX ? CPU_WIDE_ROWS : CPU_COLUMNS_MAX;
}

static const char *rest_of(const struct cpu_forms *f, const char *group, int width, int64_t cols)
{
    return group + (f->block ? block_bytes(cols, most_of(width)) : 0);
}

static const char *plain_of(const struct cpu_forms *f, const char *group, int width, int64_t cols)
{
    return rest_of(f, group, width, cols) + (f->rest ? block_bytes(cols, most_of(width)) : 0);
}

static void gather(float *to, int width, const float *const *x, int n, int64_t cols)
{
    enum { RUN = CPU_PLAIN_RUN };
    for (int64_t k = 0; k < cols; k += RUN)
        for (int c = 0; c < width; c++, to += RUN) {
            if (c < n && cols - k >= RUN) {
                /* constant size: one or two vector moves */
                memcpy(to, x[c] + k, RUN * sizeof *to);
                continue;
            }
            memset(to, 0, RUN * sizeof *to);
            if (c < n)
                memcpy(to, x[c] + k, (size_t)(cols - k) * sizeof *to);
        }
}

void cpu_group_ready(const struct cpu_kernels *k, const struct cpu_forms *f, char *group, int width,
                     const float *const *x, int n, int64_t cols)
{
    const bool wide = width == CPU_WIDE_ROWS;
    char *rest = (char *)rest_of(f, group, width, cols);
    float *plain = (float *)plain_of(f, group, width, cols);
    if (f->plain && wide)
        k->plain_classes(QN_F32, plain, (const char *const *)x, n, cols);
    else if (f->plain)
        gather(plain, width, x, n, cols);
    if (f->block)
        k->round(group, width, x, n, cols);
    if (f->rest)
        k->rest(rest, group, width, x, n, cols);
    if (!wide || !k->wide.rows || !k->wide.ready)
        return;
    if (f->block)
        k->wide.ready(group, cols);
    if (f->rest)
        k->wide.ready(rest, cols);
}

void cpu_group_times_wide(const struct cpu_kernels *k, struct cpu_tile *t,
                          const struct qn_tensor *w, const struct cpu_forms *f, const char *group)
{
    t->type = w->dtype;
    t->cols = w->shape[w->ndim - 1];
    if (!is_block(w)) {
        t->group = plain_of(f, group, CPU_WIDE_ROWS, t->cols);
        k->plain_tile(t);
        return;
    }
    t->group = group;
    t->rest = fine(w) ? rest_of(f, group, CPU_WIDE_ROWS, t->cols) : NULL;
    k->wide.tile(t);
}

void cpu_group_times_panel(const struct cpu_kernels *k, float *tile, const struct qn_tensor *w,
                           int64_t expert, int64_t panel, const struct cpu_forms *f,
                           const char *group, int n)
{
    const int64_t cols = w->shape[w->ndim - 1];
    const int width = cpu_group_width(n), i = width == 8 ? 3 : width / 2;
    const char *from = cpu_panel_at(w, expert, panel);
    if (!is_block(w)) {
        k->rows[w->dtype][i](tile, from, (size_t)w->stride[w->ndim - 2], cpu_panel_rows(w, panel),
                             (const float *)(const void *)plain_of(f, group, width, cols), cols);
        return;
    }
    if (w->dtype == QN_Q8_0 && k->both[i]) {
        k->both[i](tile, from, group, rest_of(f, group, width, cols), cols);
        return;
    }
    cpu_panel_fn multiply = k->panel[w->dtype][i];
    multiply(tile, from, group, cols);
    if (fine(w)) {
        float more[CPU_COLUMNS_MAX * CPU_PANEL] __attribute__((aligned(64)));
        multiply(more, from, rest_of(f, group, width, cols), cols);
        for (int j = 0; j < width * CPU_PANEL; j++)
            tile[j] += more[j];
    }
}
