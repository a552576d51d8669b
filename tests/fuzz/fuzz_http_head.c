/* io/http_head.c: the head check on any bytes, and the target and a query of what passes it. */
#include "io/http_head.h"
#include "io/http_target.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_MAX = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    /* A copy of exact size, so that reading past the end is seen. */
    char *p = malloc(n ? n : 1);
    if (!p)
        return 0;
    memcpy(p, data, n);
    struct qn_head h;
    qn_head_check(p, n, HEAD_MAX, &h);
    assert(h.status == 0 || h.status == 200 || h.status == 400 || h.status == 414 ||
           h.status == 431 || h.status == 505);
    assert(strlen(h.method) < QN_HTTP_METHOD_MAX);
    if (h.status == 200) {
        assert(h.len <= n && h.len <= HEAD_MAX);
        struct qn_arena *a = qn_arena_new(64 * 1024);
        char *path, *query;
        if (qn_target_split(h.target, h.target_len, a, &path, &query))
            (void)qn_query_find(query, "name", a);
        qn_arena_free(a);
    }
    free(p);
    return 0;
}
