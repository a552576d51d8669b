/* What SHA-1 and SHA-256 share: a message that is taken in blocks of 64 bytes, its padding, and a
 * state of 32-bit words. Source: FIPS 180-4, sections 5.1.1, 5.2.1 and 6. */
#ifndef QN_BASE_SHA_H
#define QN_BASE_SHA_H

#include <stddef.h>
#include <stdint.h>

enum { QN_SHA_BLOCK = 64 };

struct qn_sha_message {
    uint64_t bytes; /* taken so far */
    unsigned char block[QN_SHA_BLOCK];
};

/* Takes n blocks at p into the state. n may be 0. */
typedef void (*qn_sha_take)(uint32_t *state, const unsigned char *p, size_t n);

void qn_sha_add(struct qn_sha_message *m, uint32_t *state, qn_sha_take take, const void *data,
                size_t n);
/* Ends the message and writes the state's first n bytes. */
void qn_sha_end(struct qn_sha_message *m, uint32_t *state, qn_sha_take take, unsigned char *out,
                size_t n);
/* n bytes in lower-case hexadecimal with a NUL: 2 n + 1 bytes of out. */
void qn_sha_hex(const unsigned char *sum, size_t n, char *out);

#endif
