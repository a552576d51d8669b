/* SHA-256, incremental, by nettle. Source: FIPS 180-4. */
#ifndef QN_DIGEST_SHA256_H
#define QN_DIGEST_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { QN_SHA256_BYTES = 32, QN_SHA256_HEX = 64 };

struct qn_sha256 {
    uint64_t context[16]; /* nettle's context; may be copied */
};

void qn_sha256_init(struct qn_sha256 *s);
void qn_sha256_add(struct qn_sha256 *s, const void *data, size_t n);
/* Ends the checksum and writes its bytes; s must be initialised before it is used again. */
void qn_sha256_end(struct qn_sha256 *s, unsigned char out[static QN_SHA256_BYTES]);

/* Ends the checksum and writes it in lower-case hexadecimal with a NUL. */
void qn_sha256_hex(struct qn_sha256 *s, char out[static QN_SHA256_HEX + 1]);

#endif
