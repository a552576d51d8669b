/* backends/engine/cpu/dot_amx.c compiled a second time, over tile instructions stated in C: its
 * functions (engine/cpu/amx.h) under names of their own, and a single instruction. */
#ifndef QN_TESTS_AMX_IN_C_H
#define QN_TESTS_AMX_IN_C_H

#include "engine/cpu/cpu.h"

void in_c_begin(enum qn_dtype type);
void in_c_end(void);
void in_c_tile(const struct cpu_tile *t);

/* TDPBSSD: sum [16][16] += a [16][32] · b [8][16][4], between begin and end of a type whose scales
 * are of 32 columns. */
void in_c_bytes(void *sum, const void *a, const void *b);

#endif
