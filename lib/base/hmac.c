/* See hmac.h. */
#include "base/hmac.h"

#include <string.h>

enum { BLOCK = 64, INNER = 0x36, OUTER = 0x5c };

/* The sum of the padded key, xor `pad`, and then the data. */
static void sum(const unsigned char key[static BLOCK], unsigned char pad, const void *data,
                size_t n, unsigned char out[static QN_SHA256_BYTES])
{
    unsigned char block[BLOCK];
    struct qn_sha256 s;
    for (size_t i = 0; i < BLOCK; i++)
        block[i] = key[i] ^ pad;
    qn_sha256_init(&s);
    qn_sha256_add(&s, block, BLOCK);
    qn_sha256_add(&s, data, n);
    qn_sha256_end(&s, out);
}

void qn_hmac_sha256(const void *key, size_t key_n, const void *data, size_t n,
                    unsigned char out[static QN_SHA256_BYTES])
{
    unsigned char padded[BLOCK] = {0}, inner[QN_SHA256_BYTES];
    if (key_n > BLOCK) {
        struct qn_sha256 s;
        qn_sha256_init(&s);
        qn_sha256_add(&s, key, key_n);
        qn_sha256_end(&s, padded);
    } else if (key_n) {
        memcpy(padded, key, key_n);
    }
    sum(padded, INNER, data, n, inner);
    sum(padded, OUTER, inner, sizeof inner, out);
}
