/* Detects features of the processor and the system for which the compiler has no name. */
#include "engine/cpu/cpu.h"

#ifdef QN_X86_64
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

bool cpu_has_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

/* Whether the system saves the AMX tile registers: two bits of extended control register 0. */
static bool system_saves_tiles(void)
{
    const unsigned saves = 3u << 17;
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return false;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return (a & saves) == saves;
}

/* Whether palette 1 has the eight tiles of 16 rows of 64 bytes that dot_amx.c requires. */
static bool has_tiles(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(0x1d, 1, &a, &b, &c, &d) && (b & 0xffff) >= 64 && b >> 16 >= 8 &&
           (c & 0xffff) >= 16;
}

/* Linux permits a process to use tiles on request; the permission covers its threads. An older
 * kernel does not know the request, and a system without tile state refuses it. */
static bool may_use_tiles(void)
{
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}

static bool amx_bits(unsigned bits)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & bits) == bits;
}

bool cpu_has_amx(void)
{
    const unsigned tile = 1u << 24, int8 = 1u << 25;
    return amx_bits(tile | int8) && system_saves_tiles() && has_tiles() && may_use_tiles();
}
#endif
