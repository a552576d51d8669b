/* Prepares activations for products with panels (sixteen rows of weights stored together): groups
 * of up to eight rows, each in the forms that the weights of these products need. pack.h defines
 * the formats, among them the wide form: a panel whose codes have been unpacked, for products of
 * many rows.
 *
 * Activations are rounded to eight bits per 32 columns. Where that would be noticeable, the
 * residual of the rounding is multiplied as well, rounded to 1/256 of the same step, which makes
 * sixteen bits: for matrices of fewer than CPU_FINE_WEIGHTS elements, whose speed does not matter,
 * and for Q8_0, which is itself more precise than eight-bit activations. The choice depends only on
 * the matrix, never on the batch: a row's result is bit-identical for every number of rows and
 * every form. */
#ifndef QN_ENGINE_CPU_ACTIVATIONS_H
#define QN_ENGINE_CPU_ACTIVATIONS_H

#include "engine/cpu/cpu.h"

enum {
    CPU_FINE_WEIGHTS = 1 << 20,
    CPU_WIDE_FROM_PLAIN = 24 /* number of rows from which transposing plain weights pays off */
};

/* The forms that a group contains, one after the other. */
struct cpu_forms {
    bool block; /* rounded to eight bits, for block weights */
    bool rest;  /* the rounding residuals, rounded, for the matrices that need them */
    bool plain; /* unrounded, for F32, F16 and BF16 weights */
};

/* Whether w is multiplied in panels of sixteen rows: packed block weights, and plain weights as
 * they are. */
bool cpu_in_panels(const struct qn_tensor *w);
/* The address of panel number `panel` of w [rows, cols], or of the matrix of one expert in w
 * [experts, rows, cols]. */
const char *cpu_panel_at(const struct qn_tensor *w, int64_t expert, int64_t panel);
int cpu_panel_rows(const struct qn_tensor *w, int64_t panel);
/* Converts the panel to the wide form. */
void cpu_panel_widen(const struct cpu_kernels *k, void *out, const struct qn_tensor *w,
                     int64_t expert, int64_t panel);

/* Adds the forms that w needs; none if w is not in panels. */
void cpu_forms_add(struct cpu_forms *f, const struct qn_tensor *w);
/* Whether the product of a batch of `rows` activation rows with w reads panels in the wide form;
 * depends on the kernels k. */
bool cpu_wide(const struct cpu_kernels *k, const struct qn_tensor *w, int64_t rows);
size_t cpu_wide_panel_bytes(enum qn_dtype t, int64_t cols); /* bytes of a panel in wide form */
bool cpu_forms_any(const struct cpu_forms *f);
/* bytes of a full group, aligned */
size_t cpu_group_bytes(const struct cpu_forms *f, int64_t cols);
/* the same for CPU_WIDE_ROWS rows */
size_t cpu_wide_bytes(const struct cpu_forms *f, int64_t cols);
int cpu_group_width(int rows); /* n rows are padded to the widths of the kernels: 1, 2, 4 or 8 */

/* Prepares n rows x[0] .. x[n - 1] of `cols` in `group`, padded to `width` rows:
 * cpu_group_width(n), or CPU_WIDE_ROWS for the wide form. */
void cpu_group_ready(const struct cpu_kernels *k, const struct cpu_forms *f, char *group, int width,
                     const float *const *x, int n, int64_t cols);

/* Multiplies two panels of w, converted by cpu_panel_widen(), by a group for the wide form; the
 * caller has set y, first, second, n, and the memory to prefetch. */
void cpu_group_times_wide(const struct cpu_kernels *k, struct cpu_tile *t,
                          const struct qn_tensor *w, const struct cpu_forms *f, const char *group);

/* tile [cpu_group_width(n)][16] = a panel of w, located by cpu_panel_at, times a group of n rows.
 */
void cpu_group_times_panel(const struct cpu_kernels *k, float *tile, const struct qn_tensor *w,
                           int64_t expert, int64_t panel, const struct cpu_forms *f,
                           const char *group, int n);

#endif
