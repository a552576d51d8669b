/* Heads of replies, line by line as libcurl hands them on: registry/reply_head.c. */
#include "registry/reply_head.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
    struct qn_reply_head h = {.status = 0};
    const char *s = (const char *)data, *end = s + n;
    while (s < end) {
        const char *stop = memchr(s, '\n', (size_t)(end - s));
        stop = stop ? stop + 1 : end;
        qn_reply_head_line(&h, s, (size_t)(stop - s), 784111777000);
        s = stop;
        assert(h.status == 0 || (h.status >= 100 && h.status <= 999));
        assert(!h.ranged || h.total >= 0 || h.first >= 0);
        assert(h.first <= h.last && (h.total < 0 || h.last < h.total || !h.ranged));
        assert(h.retry_after_s >= -1 && h.retry_after_s <= QN_WEB_RETRY_AFTER_MAX_S + 1);
        assert(strlen(h.etag) < sizeof h.etag && strlen(h.location) < sizeof h.location);
        assert(!h.etag[0] || h.etag[strlen(h.etag) - 1] == '"');
    }
    return 0;
}
