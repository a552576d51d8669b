/* Tiles (AMX): the wide forms of cpu.h in dot_amx.c, for the table in dot_avx512.c, whose set has
 * them in place of its own. Private to this folder and its tests. */
#ifndef QN_ENGINE_CPU_AMX_H
#define QN_ENGINE_CPU_AMX_H

#include "engine/cpu/cpu.h"

/* A group of activations, bytes of CPU_WIDE columns: [2][32 rows][64 columns] of q, then f32[32] d;
 * of BF16 [4][32 rows][32 columns]. */
enum {
    CPU_TILES_ROWS = 32,
    CPU_TILES_GROUP = CPU_TILES_ROWS * CPU_WIDE + 4 * CPU_TILES_ROWS,
    CPU_TILES_PAIRS_GROUP = 2 * CPU_TILES_ROWS * CPU_WIDE
};

/* Members of struct cpu_wide. */
void cpu_tiles_begin(void);
void cpu_tiles_end(void);
void cpu_tiles_round(void *group, const float *const *x, int n, int64_t cols);
void cpu_tiles_tile(const struct cpu_tile *t);
void cpu_tiles_pairs_round(void *group, const float *const *x, int n, int64_t cols);
void cpu_tiles_pairs_tile(const struct cpu_tile *t);

#endif
