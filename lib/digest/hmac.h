/* HMAC with SHA-256, by nettle. Source: RFC 2104. */
#ifndef QN_DIGEST_HMAC_H
#define QN_DIGEST_HMAC_H

#include "digest/sha256.h"

/* The key may have any length. */
void qn_hmac_sha256(const void *key, size_t key_n, const void *data, size_t n,
                    unsigned char out[static QN_SHA256_BYTES]);

#endif
