/* A damaged ranges file: registry/ranges.c. Half of the inputs get the checks that
 * they would need, so that what stands behind them is reached. */
#include "registry/ranges.h"

#include "base/crc32.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
    static char path[64];
    static unsigned char copy[1 << 16];
    struct qn_ranges *r;
    struct qn_error e;
    if (n > sizeof copy)
        return 0;
    if (!path[0])
        snprintf(path, sizeof path, "/dev/shm/fuzz_ranges.%d", (int)getpid());
    memcpy(copy, data, n);
    enum {
        HEAD = 336
    }; /* magic 8, version 4, check 4, size 8, key 8, chunk 4, count 4, boot 40, etag 256 */
    if (n >= HEAD && data[n - 1] & 1) {
        memcpy(copy, "qnranges\1\0\0\0\0\0\0\0", 16);
        uint32_t crc = qn_crc32(0, copy, HEAD);
        memcpy(copy + 12, &crc, sizeof crc);
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, copy, n) != (ssize_t)n)
        abort();
    close(fd);
    if (!qn_ranges_open(path, &r, &e)) {
        int64_t sum = 0, front = qn_ranges_front(r);
        for (size_t i = 0; i < qn_ranges_count(r); i++) {
            assert(qn_ranges_done(r, i) <= qn_ranges_length(r, i) && qn_ranges_length(r, i) > 0);
            sum += qn_ranges_length(r, i);
        }
        assert(sum == qn_ranges_size(r) && front <= sum && qn_ranges_total(r) <= sum);
        assert(strlen(qn_ranges_etag(r)) < QN_WEB_ETAG_MAX);
        if (front < sum)
            assert(!qn_ranges_add(r, front, 1, &e) && qn_ranges_front(r) > front);
        qn_ranges_close(r);
    }
    unlink(path);
    return 0;
}
