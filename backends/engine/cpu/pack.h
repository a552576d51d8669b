/* How the CPU lays weights and activations out for products.
 *
 * Weights: panels of 16 rows, the last filled up with zeros. Plain types: [cols][16] elements.
 * Block types: records, one after another, of sixteen rows side by side: the scales of a few units,
 * then their codes. So a panel is read front to back, in one stream: with all scales behind all
 * codes, which makes two, this memory gave a fifth less. A unit is 32 columns; a record has 8 units
 * for types with blocks of 256, 2 for those with blocks of 32 (the last may have 1).
 *
 *   group    4 columns: 64 bytes, [16 rows][4 columns], one unsigned code each; a unit has 8
 *   Q8_0     codes: groups 0..7 (512 bytes)                            scales: 2 × d f16[16]
 *   Q4_0     codes: 4 vectors, group 2v low, group 2v+1 high nibble    scales: 2 × d f16[16]
 *   Q4_K     codes: as Q4_0    scales: d f16[16], dmin f16[16], 8 × {scale u8[16], min u8[16]}
 *   Q5_K     codes: as Q4_0, then one vector whose bit g is the fifth bit of group g
 *            scales: as Q4_K
 *   Q6_K     codes: per 16 columns 2 vectors as Q4_0 and one vector whose bits 2g, 2g+1 are the
 *            high bits of group g    scales: d f16[16], 16 × scale i8[16], 32 bytes unused
 *
 * Activations: groups of `nc` rows ("columns" of a product), nc one of 1, 2, 4, 8, the last filled
 * up with zeros. For plain weights [cols][nc] f32. For block weights one cpu_act block per 32
 * columns. */
#ifndef QN_ENGINE_CPU_PACK_H
#define QN_ENGINE_CPU_PACK_H

#include "engine/tensor.h"

#include <stddef.h>
#include <stdint.h>

enum { CPU_PANEL = 16, CPU_COLUMNS_MAX = 8, CPU_LAYOUT_PANELS = 1 };

/* One block of 32 columns of nc activations: x = d·q. Offsets in bytes, nc of each. */
#define ACT_Q(nc) 0                /* int8 [nc][32] */
#define ACT_D(nc) (32 * (nc))      /* float d */
#define ACT_DS(nc) (36 * (nc))     /* float d·(sum of q) */
#define ACT_NSUM(nc) (40 * (nc))   /* int32 -(sum of q) */
#define ACT_NHALF0(nc) (44 * (nc)) /* int32 -(sum of the first 16 q) */
#define ACT_NHALF1(nc) (48 * (nc)) /* int32 -(sum of the last 16 q) */
#define ACT_BYTES(nc) (52 * (nc))

/* Of a panel's records: units in one, bytes of its scales, bytes of one unit's codes; 0 for plain
 * types. */
int cpu_record_units(enum qn_dtype t);
int cpu_scale_bytes(enum qn_dtype t);
int cpu_code_bytes(enum qn_dtype t);
size_t cpu_panel_bytes(enum qn_dtype t, int64_t cols);

/* Writes one panel from n (1 to 16) rows of the file's layout, row_bytes apart. */
void cpu_pack_panel(enum qn_dtype t, void *panel, const void *rows, size_t row_bytes, int n,
                    int64_t cols);

#endif
