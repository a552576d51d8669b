/* Any bytes as a file of laid-out weights: what is accepted lies within the file. The first byte
 * says whether the checksum is made to hold, which no fuzzer would find. */
#include "formats/laidout.h"

#include "base/crc32.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static volatile unsigned char sink;

enum { CRC_AT = 28, COUNT_AT = 24, HEAD = 32, SIZE_AT = 16, KEY = 7 };

/* Sets size, key and checksum of a file that is long enough. */
static void mend(unsigned char *file, size_t n)
{
    uint64_t size = n, key = KEY;
    uint32_t count, crc = 0;
    memcpy(file, "QNLAID2\n", 8);
    memcpy(file + 8, &key, 8);
    memcpy(file + SIZE_AT, &size, 8);
    memcpy(&count, file + COUNT_AT, 4);
    memcpy(file + CRC_AT, &crc, 4);
    if (count > (n - HEAD) / sizeof(struct qn_laidout_matrix))
        return;
    crc = qn_crc32(0, file, HEAD + count * sizeof(struct qn_laidout_matrix));
    memcpy(file + CRC_AT, &crc, 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct qn_laidout l;
    struct qn_error e;
    if (n < 1)
        return 0;
    unsigned char *file = malloc(n);
    size_t size = n - 1;
    memcpy(file, data + 1, size);
    if (data[0] & 1 && size >= HEAD)
        mend(file, size);
    if (qn_laidout_parse(file, size, KEY, &l, &e) == QN_OK) {
        for (uint32_t i = 0; i < l.n; i++) {
            const struct qn_laidout_matrix *m = qn_laidout_find(&l, &l.matrix[i]);
            if (!m)
                abort();
            for (uint64_t b = 0; b < m->bytes; b += 4096)
                sink = file[m->at + b];
            if (m->bytes)
                sink = file[m->at + m->bytes - 1];
        }
        qn_laidout_deinit(&l);
    }
    free(file);
    return 0;
}
