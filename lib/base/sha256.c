/* See sha256.h. Names are the standard's: a to h, w, the constants of sections 4.2.2 and 5.3.3. */
#include "base/sha256.h"

#include "base/sha256_blocks.h"

#include <stdatomic.h>
#include <string.h>

const uint32_t qn_sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void take_block(uint32_t state[static 8], const unsigned char *p)
{
    uint32_t w[64], v[8];
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)p[4 * t] << 24 | (uint32_t)p[4 * t + 1] << 16 |
               (uint32_t)p[4 * t + 2] << 8 | p[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    memcpy(v, state, sizeof v);
    for (int t = 0; t < 64; t++) {
        uint32_t a = v[0], e = v[4];
        uint32_t s1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25), ch = (e & v[5]) ^ (~e & v[6]);
        uint32_t t1 = v[7] + s1 + ch + qn_sha256_k[t] + w[t];
        uint32_t s0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22);
        uint32_t t2 = s0 + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        state[i] += v[i];
}

void qn_sha256_blocks_portable(uint32_t state[static 8], const unsigned char *p, size_t n)
{
    for (; n; n--, p += 64)
        take_block(state, p);
}

/* Chosen once; threads that choose at the same time choose the same. */
static void take_blocks(uint32_t *state, const unsigned char *p, size_t n)
{
    static _Atomic(qn_sha256_blocks) chosen;
    qn_sha256_blocks f = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (!f) {
        f = qn_sha256_blocks_x86();
        if (!f)
            f = qn_sha256_blocks_portable;
        atomic_store_explicit(&chosen, f, memory_order_relaxed);
    }
    f(state, p, n);
}

void qn_sha256_init(struct qn_sha256 *s)
{
    static const uint32_t begin[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s->state, begin, sizeof begin);
    s->message.bytes = 0;
}

void qn_sha256_add(struct qn_sha256 *s, const void *data, size_t n)
{
    qn_sha_add(&s->message, s->state, take_blocks, data, n);
}

void qn_sha256_end(struct qn_sha256 *s, unsigned char out[static QN_SHA256_BYTES])
{
    qn_sha_end(&s->message, s->state, take_blocks, out, QN_SHA256_BYTES);
}

void qn_sha256_hex(struct qn_sha256 *s, char out[static QN_SHA256_HEX + 1])
{
    unsigned char sum[QN_SHA256_BYTES];
    qn_sha256_end(s, sum);
    qn_sha_hex(sum, sizeof sum, out);
}
