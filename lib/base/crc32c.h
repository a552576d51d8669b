/* CRC-32C (Castagnoli; RFC 3720, appendix B.4), for which processors have an instruction; used for
 * gigabytes of data. crc is 0 at the start; pieces may be added one after another. Any thread. */
#ifndef QN_BASE_CRC32C_H
#define QN_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t qn_crc32c(uint32_t crc, const void *data, size_t n);

#endif
