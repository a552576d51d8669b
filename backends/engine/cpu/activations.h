/* Activations made ready for products with panels: groups of up to eight rows, each in the forms
 * that the weights which meet it ask for. pack.h has the layouts.
 *
 * Activations are rounded to eight bits by 32 columns. Where that would show, they are multiplied
 * by what the rounding left over as well, rounded to 256ths of the same step, which makes sixteen:
 * matrices of fewer than CPU_FINE_WEIGHTS, whose speed does not matter, and Q8_0, whose own
 * rounding is finer than that of eight bits. Only the matrix decides, never the batch: a row's
 * result is the same to the bit however many rows there are, whatever form they take. */
#ifndef QN_ENGINE_CPU_ACTIVATIONS_H
#define QN_ENGINE_CPU_ACTIVATIONS_H

#include "engine/cpu/cpu.h"

enum {
    CPU_FINE_WEIGHTS = 1 << 20,
    CPU_WIDE_FROM_PLAIN = 24 /* rows of plain weights' products from which turning them pays */
};

/* What a group holds, one after the other. */
struct cpu_forms {
    bool block; /* rounded to eight bits, for block weights */
    bool rest;  /* what rounding left over, rounded, for the matrices that need it */
    bool plain; /* as they are, for F32, F16 and BF16 weights */
};

/* Whether w is multiplied by sixteen rows at a time: block weights laid out in panels, plain ones
 * as they are. */
bool cpu_in_panels(const struct qn_tensor *w);
/* Panel number `panel` of w [rows, cols], or of expert's matrix in [experts, rows, cols], and how
 * many rows it has. */
const char *cpu_panel_at(const struct qn_tensor *w, int64_t expert, int64_t panel);
int cpu_panel_rows(const struct qn_tensor *w, int64_t panel);
/* Brings it to the wide form. */
void cpu_panel_widen(const struct cpu_kernels *k, void *out, const struct qn_tensor *w,
                     int64_t expert, int64_t panel);

/* Adds what w needs; nothing when its panels are not made. */
void cpu_forms_add(struct cpu_forms *f, const struct qn_tensor *w);
/* Whether a product of `rows` rows with w takes the wide form on these kernels. */
bool cpu_wide(const struct cpu_kernels *k, const struct qn_tensor *w, int64_t rows);
size_t cpu_wide_panel_bytes(enum qn_dtype t, int64_t cols); /* of a panel in wide form */
bool cpu_forms_any(const struct cpu_forms *f);
size_t cpu_group_bytes(const struct cpu_forms *f, int64_t cols); /* of a full group, aligned */
size_t cpu_wide_bytes(const struct cpu_forms *f, int64_t cols);  /* the same of CPU_WIDE_ROWS */
int cpu_group_width(int rows); /* 1 to 8 rows as the kernels take them: 1, 2, 4 or 8 */

/* Makes n rows x[0] .. x[n - 1] of `cols` ready in `group`, filled up to `width`:
 * cpu_group_width(n), or CPU_WIDE_ROWS for the wide form. */
void cpu_group_ready(const struct cpu_kernels *k, const struct cpu_forms *f, char *group, int width,
                     const float *const *x, int n, int64_t cols);

/* Two panels of w, as cpu_panel_widen() makes them, times a group for the wide form; the caller has
 * set y, first, second, n, and what is asked for. */
void cpu_group_times_wide(const struct cpu_kernels *k, struct cpu_tile *t,
                          const struct qn_tensor *w, const struct cpu_forms *f, const char *group);

/* tile [cpu_group_width(n)][16] = a panel of w, as cpu_panel_at has it, times a group of n rows.
 */
void cpu_group_times_panel(const struct cpu_kernels *k, float *tile, const struct qn_tensor *w,
                           int64_t expert, int64_t panel, const struct cpu_forms *f,
                           const char *group, int n);

#endif
