/* SHA-1, incremental, by nettle: only for comparison with published checksums (git's blob IDs). It
 * detects accidental damage, not forgery. Source: FIPS 180-4. */
#ifndef QN_DIGEST_SHA1_H
#define QN_DIGEST_SHA1_H

#include <stddef.h>
#include <stdint.h>

enum { QN_SHA1_BYTES = 20, QN_SHA1_HEX = 40 };

struct qn_sha1 {
    uint64_t context[16]; /* nettle's context; may be copied */
};

void qn_sha1_init(struct qn_sha1 *s);
/* Begins the checksum of a git blob of size bytes: git hashes "blob SIZE" and a NUL before the
 * contents. */
void qn_sha1_init_git(struct qn_sha1 *s, uint64_t size);
void qn_sha1_add(struct qn_sha1 *s, const void *data, size_t n);

/* Ends the checksum and writes its bytes; s must be initialised before it is used again. */
void qn_sha1_end(struct qn_sha1 *s, unsigned char out[static QN_SHA1_BYTES]);

/* Ends the checksum and writes it in lower-case hexadecimal with a NUL. */
void qn_sha1_hex(struct qn_sha1 *s, char out[static QN_SHA1_HEX + 1]);

#endif
