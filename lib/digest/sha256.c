#include "digest/sha256.h"

#include <nettle/base16.h>
#include <nettle/sha2.h>

_Static_assert(sizeof(struct sha256_ctx) <= sizeof(struct qn_sha256), "nettle's context fits");

static struct sha256_ctx *context(struct qn_sha256 *s)
{
    return (struct sha256_ctx *)(void *)s->context;
}

void qn_sha256_init(struct qn_sha256 *s)
{
    sha256_init(context(s));
}

void qn_sha256_add(struct qn_sha256 *s, const void *data, size_t n)
{
    if (n > 0)
        sha256_update(context(s), n, data);
}

void qn_sha256_end(struct qn_sha256 *s, unsigned char out[static QN_SHA256_BYTES])
{
    sha256_digest(context(s), QN_SHA256_BYTES, out);
}

void qn_sha256_hex(struct qn_sha256 *s, char out[static QN_SHA256_HEX + 1])
{
    unsigned char sum[QN_SHA256_BYTES];
    qn_sha256_end(s, sum);
    base16_encode_update(out, sizeof sum, sum);
    out[QN_SHA256_HEX] = '\0';
}
