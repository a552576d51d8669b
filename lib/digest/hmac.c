#include "digest/hmac.h"

#include <nettle/hmac.h>

void qn_hmac_sha256(const void *key, size_t key_n, const void *data, size_t n,
                    unsigned char out[static QN_SHA256_BYTES])
{
    struct hmac_sha256_ctx ctx;
    hmac_sha256_set_key(&ctx, key_n, key_n ? key : "");
    if (n > 0)
        hmac_sha256_update(&ctx, n, data);
    hmac_sha256_digest(&ctx, QN_SHA256_BYTES, out);
}
