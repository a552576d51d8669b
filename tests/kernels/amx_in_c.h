/* backends/engine/cpu/dot_amx.c compiled a second time, over tile instructions stated in C: its
 * functions (engine/cpu/amx.h) under names of their own, and single instructions. */
#ifndef QN_TESTS_AMX_IN_C_H
#define QN_TESTS_AMX_IN_C_H

#include "engine/cpu/cpu.h"

void in_c_begin(void);
void in_c_end(void);
void in_c_round(void *group, const float *const *x, int n, int64_t cols);
void in_c_tile(const struct cpu_tile *t);
void in_c_pairs_round(void *group, const float *const *x, int n, int64_t cols);
void in_c_pairs_tile(const struct cpu_tile *t);

/* sum += a·b, three tiles of 16 rows of 64 bytes, between begin and end: TDPBSSD and TDPBF16PS. */
void in_c_bytes(void *sum, const void *a, const void *b);
void in_c_pairs(void *sum, const void *a, const void *b);

#endif
