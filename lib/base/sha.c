#include "base/sha.h"

#include <string.h>

enum { LENGTH_BYTES = 8 }; /* the message's length in bits, which ends its last block */

void qn_sha_add(struct qn_sha_message *m, uint32_t *state, qn_sha_take take, const void *data,
                size_t n)
{
    const unsigned char *p = data;
    size_t held = m->bytes % QN_SHA_BLOCK;
    m->bytes += n;
    if (held) {
        size_t room = QN_SHA_BLOCK - held, more = n < room ? n : room;
        memcpy(m->block + held, p, more);
        p += more;
        n -= more;
        if (more < room)
            return;
        take(state, m->block, 1);
    }
    size_t whole = n / QN_SHA_BLOCK;
    take(state, p, whole);
    p += whole * QN_SHA_BLOCK;
    n -= whole * QN_SHA_BLOCK;
    if (n)
        memcpy(m->block, p, n);
}

void qn_sha_end(struct qn_sha_message *m, uint32_t *state, qn_sha_take take, unsigned char *out,
                size_t n)
{
    uint64_t bits = m->bytes * 8;
    size_t held = m->bytes % QN_SHA_BLOCK, last = QN_SHA_BLOCK - LENGTH_BYTES;
    unsigned char pad[QN_SHA_BLOCK + LENGTH_BYTES] = {0x80};
    size_t zeros = (held < last ? last : last + QN_SHA_BLOCK) - held;
    for (size_t i = 0; i < LENGTH_BYTES; i++)
        pad[zeros + i] = (unsigned char)(bits >> (56 - 8 * i));
    qn_sha_add(m, state, take, pad, zeros + LENGTH_BYTES);
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}

void qn_sha_hex(const unsigned char *sum, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[sum[i] >> 4];
        out[2 * i + 1] = digits[sum[i] & 15];
    }
    out[2 * n] = '\0';
}
