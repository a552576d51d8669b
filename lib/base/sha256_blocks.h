/* The inner loop of SHA-256, in the ways that processors offer. Private to sha256*.c. */
#ifndef QN_BASE_SHA256_BLOCKS_H
#define QN_BASE_SHA256_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const uint32_t qn_sha256_k[64]; /* FIPS 180-4, 4.2.2 */

/* Takes n blocks of 64 bytes. */
typedef void (*qn_sha256_blocks)(uint32_t state[static 8], const unsigned char *p, size_t n);

void qn_sha256_blocks_portable(uint32_t state[static 8], const unsigned char *p, size_t n);

/* With the SHA instructions of x86, or NULL where this processor has none. */
qn_sha256_blocks qn_sha256_blocks_x86(void);

#endif
