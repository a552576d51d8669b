/* The kernels for processors with AVX2 but without a dot product instruction. */
#define SET cpu_kernels_avx2
#define SET_NAME "avx2"

#include <stdbool.h>

static bool supported(void);

#include "engine/cpu/panels_256.inc"

static bool supported(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && cpu_has_f16c();
}
