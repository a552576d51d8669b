/* See crc32c.h. */
#include "base/crc32c.h"

#include <string.h>

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc,
                                                                 const unsigned char *p, size_t n)
{
    uint64_t c = crc;
    for (; n >= sizeof c; n -= sizeof c, p += sizeof c) {
        uint64_t v;
        memcpy(&v, p, sizeof v);
        c = __builtin_ia32_crc32di(c, v);
    }
    for (; n > 0; n--)
        c = __builtin_ia32_crc32qi((uint32_t)c, *p++);
    return (uint32_t)c;
}
#endif

/* Four bits at a time, as in crc32.c; the polynomial is 0x1edc6f41, bit-reversed. */
static uint32_t by_table(uint32_t crc, const unsigned char *p, size_t n)
{
    static const uint32_t table[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
        0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
        0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return crc;
}

uint32_t qn_crc32c(uint32_t crc, const void *data, size_t n)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return ~by_instruction(~crc, data, n);
#endif
    return ~by_table(~crc, data, n);
}
