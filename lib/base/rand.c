/* See rand.h. */
#include "base/rand.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

void qn_random_bytes(void *out, size_t n)
{
    unsigned char *p = out;
    while (n) {
        ssize_t got = getrandom(p, n, 0);
        if (got < 0) {
            if (errno == EINTR)
                continue;
            fputs("quince: the system gives no random numbers\n", stderr);
            abort();
        }
        p += got;
        n -= (size_t)got;
    }
}

void qn_random_hex(char *out, size_t digits)
{
    static const char hex[] = "0123456789abcdef";
    qn_random_bytes(out, digits);
    for (size_t i = 0; i < digits; i++)
        out[i] = hex[(unsigned char)out[i] & 15];
    out[digits] = '\0';
}

static uint64_t rotl(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

void qn_rng_init(struct qn_rng *r, uint64_t seed)
{
    /* splitmix64 spreads any seed, 0 included, over the whole state. */
    for (int i = 0; i < 4; i++) {
        uint64_t z = (seed += 0x9E3779B97F4A7C15u);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        r->s[i] = z ^ (z >> 31);
    }
}

uint64_t qn_rng_u64(struct qn_rng *r)
{
    uint64_t *s = r->s;
    uint64_t result = rotl(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

double qn_rng_f64(struct qn_rng *r)
{
    return (double)(qn_rng_u64(r) >> 11) * 0x1.0p-53;
}
