/* The kernels for processors with AVX2 and a dot product in vectors of 256 bits (AVX-VNNI): most
 * desktop processors since 2021 that lack AVX-512. */
#define SET cpu_kernels_avxvnni
#define SET_NAME "avxvnni"
#define HAVE_DOT

#include <cpuid.h>
#include <stdbool.h>

static bool supported(void);

#include "engine/cpu/panels_256.inc"

static bool supported(void)
{
    unsigned a, b, c, d; /* leaf 7, subleaf 1: clang 14 has no name for this feature */
    return cpu_kernels_avx2.supported() && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & 1u << 4);
}
