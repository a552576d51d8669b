/* AMX tiles: functions of dot_amx.c for the wide form of cpu.h, used by the kernel table in
 * dot_avx512.c. Private to this folder and its tests. */
#ifndef QN_ENGINE_CPU_AMX_H
#define QN_ENGINE_CPU_AMX_H

#include "engine/cpu/cpu.h"

/* Members of struct cpu_wide. */
void cpu_tiles_begin(enum qn_dtype type);
void cpu_tiles_end(void);
void cpu_tiles_tile(const struct cpu_tile *t);

#endif
