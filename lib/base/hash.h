/* A keyed hash for tables whose keys come from outside: with a seed from qn_random_bytes no client
 * can construct keys that all fall into one slot. Not for secrets and not for storage: equal keys
 * have equal hashes only with the same seed on the same machine. */
#ifndef QN_BASE_HASH_H
#define QN_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* XORs the two halves of the 128-bit product, so that every input bit affects every output bit. */
static inline uint64_t qn_hash_fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 u128;
    u128 p = (u128)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static inline uint64_t qn_hash_u64(uint64_t seed, uint64_t v)
{
    return qn_hash_fold(v ^ seed, seed | 1) ^ qn_hash_fold(v ^ 0x9e3779b97f4a7c15u, ~seed | 1);
}

static inline uint64_t qn_hash_bytes(uint64_t seed, const void *data, size_t n)
{
    const unsigned char *p = data;
    uint64_t h = seed ^ (uint64_t)n * 0x9e3779b97f4a7c15u;
    while (n >= 8) {
        uint64_t w;
        memcpy(&w, p, 8);
        h = qn_hash_fold(w ^ h, seed ^ 0xd6e8feb86659fd93u) + (h >> 32);
        p += 8;
        n -= 8;
    }
    /* The last 0 to 7 bytes, some of them read twice; h depends on their number through n. */
    uint64_t tail = 0;
    if (n >= 4) {
        uint32_t low, high;
        memcpy(&low, p, 4);
        memcpy(&high, p + n - 4, 4);
        tail = (uint64_t)high << 32 | low;
    } else if (n > 0) {
        tail = (uint64_t)p[0] << 16 | (uint64_t)p[n / 2] << 8 | p[n - 1];
    }
    return qn_hash_u64(seed, tail ^ h);
}

#endif
