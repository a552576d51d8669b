/* See sha1.h. Names are the standard's: a to e, w, the constants of sections 4.2.1 and 5.3.1. */
#include "base/sha1.h"

#include <stdio.h>
#include <string.h>

static uint32_t rotl(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static void take_block(uint32_t *state, const unsigned char *p)
{
    uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)p[4 * t] << 24 | (uint32_t)p[4 * t + 1] << 16 |
               (uint32_t)p[4 * t + 2] << 8 | p[4 * t + 3];
    for (int t = 16; t < 80; t++)
        w[t] = rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (int t = 0; t < 80; t++) {
        uint32_t f, k;
        if (t < 20) {
            f = (b & c) | (~b & d);
            k = 0x5a827999;
        } else if (t < 40) {
            f = b ^ c ^ d;
            k = 0x6ed9eba1;
        } else if (t < 60) {
            f = (b & c) | (b & d) | (c & d);
            k = 0x8f1bbcdc;
        } else {
            f = b ^ c ^ d;
            k = 0xca62c1d6;
        }
        uint32_t next = rotl(a, 5) + f + e + k + w[t];
        e = d;
        d = c;
        c = rotl(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

static void take_blocks(uint32_t *state, const unsigned char *p, size_t n)
{
    for (; n; n--, p += QN_SHA_BLOCK)
        take_block(state, p);
}

void qn_sha1_init(struct qn_sha1 *s)
{
    static const uint32_t begin[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    memcpy(s->state, begin, sizeof begin);
    s->message.bytes = 0;
}

void qn_sha1_init_git(struct qn_sha1 *s, uint64_t size)
{
    char head[40];
    int n = snprintf(head, sizeof head, "blob %llu", (unsigned long long)size);
    qn_sha1_init(s);
    qn_sha1_add(s, head, (size_t)n + 1);
}

void qn_sha1_add(struct qn_sha1 *s, const void *data, size_t n)
{
    qn_sha_add(&s->message, s->state, take_blocks, data, n);
}

void qn_sha1_end(struct qn_sha1 *s, unsigned char out[static QN_SHA1_BYTES])
{
    qn_sha_end(&s->message, s->state, take_blocks, out, QN_SHA1_BYTES);
}

void qn_sha1_hex(struct qn_sha1 *s, char out[static QN_SHA1_HEX + 1])
{
    unsigned char sum[QN_SHA1_BYTES];
    qn_sha1_end(s, sum);
    qn_sha_hex(sum, sizeof sum, out);
}
