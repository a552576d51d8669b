/* SHA-256, in pieces. Source: FIPS 180-4. */
#ifndef QN_BASE_SHA256_H
#define QN_BASE_SHA256_H

#include "base/sha.h"

#include <stddef.h>
#include <stdint.h>

enum { QN_SHA256_BYTES = 32, QN_SHA256_HEX = 64 };

struct qn_sha256 {
    struct qn_sha_message message;
    uint32_t state[8];
};

void qn_sha256_init(struct qn_sha256 *s);
void qn_sha256_add(struct qn_sha256 *s, const void *data, size_t n);
/* Ends the sum; s must be initialised before it is used again. */
void qn_sha256_end(struct qn_sha256 *s, unsigned char out[static QN_SHA256_BYTES]);

/* Ends the sum and writes it in lower-case hexadecimal with a NUL. */
void qn_sha256_hex(struct qn_sha256 *s, char out[static QN_SHA256_HEX + 1]);

#endif
