/* Random numbers: the system's generator for secrets and ids, a seeded generator for sampling and
 * tests. */
#ifndef QN_BASE_RAND_H
#define QN_BASE_RAND_H

#include <stddef.h>
#include <stdint.h>

void qn_random_bytes(void *out, size_t n);    /* getrandom(2); aborts if the system has none */
void qn_random_hex(char *out, size_t digits); /* `digits` hexadecimal characters and a NUL */

/* xoshiro256** (Blackman, Vigna 2018), seeded through splitmix64: the same seed gives the same
 * sequence on every machine. */
struct qn_rng {
    uint64_t s[4];
};
void qn_rng_init(struct qn_rng *r, uint64_t seed);
uint64_t qn_rng_u64(struct qn_rng *r);
double qn_rng_f64(struct qn_rng *r); /* [0, 1) with 53 random bits */

#endif
