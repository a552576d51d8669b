/* CRC-32 as in zip, PNG and Ethernet: detects damage, not manipulation. Any thread. */
#ifndef QN_BASE_CRC32_H
#define QN_BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Continues crc (0 at the start) over n bytes. Source: ISO 3309, polynomial 0xEDB88320 reflected.
 */
uint32_t qn_crc32(uint32_t crc, const void *data, size_t n);

#endif
