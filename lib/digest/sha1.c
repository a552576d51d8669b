#include "digest/sha1.h"

#include <nettle/base16.h>
#include <nettle/sha1.h>

#include <stdio.h>

_Static_assert(sizeof(struct sha1_ctx) <= sizeof(struct qn_sha1), "nettle's context fits");

static struct sha1_ctx *context(struct qn_sha1 *s)
{
    return (struct sha1_ctx *)(void *)s->context;
}

void qn_sha1_init(struct qn_sha1 *s)
{
    sha1_init(context(s));
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
    if (n > 0)
        sha1_update(context(s), n, data);
}

void qn_sha1_end(struct qn_sha1 *s, unsigned char out[static QN_SHA1_BYTES])
{
    sha1_digest(context(s), QN_SHA1_BYTES, out);
}

void qn_sha1_hex(struct qn_sha1 *s, char out[static QN_SHA1_HEX + 1])
{
    unsigned char sum[QN_SHA1_BYTES];
    qn_sha1_end(s, sum);
    base16_encode_update(out, sizeof sum, sum);
    out[QN_SHA1_HEX] = '\0';
}
