/* A hostile server's event stream, whole and byte by byte: both must give the same. */
#include "formats/sse.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void collect(void *ctx, const char *event, const char *text, size_t n)
{
    qn_buf_fmt(ctx, "%s\x01", event);
    qn_buf_add(ctx, text, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct qn_buf out[2];
    for (int i = 0; i < 2; i++) {
        qn_buf_init(&out[i], 64 * 1024 * 1024);
        struct qn_sse s;
        qn_sse_init(&s, collect, &out[i]);
        size_t step = i ? 1 : size;
        for (size_t at = 0; at < size; at += step)
            qn_sse_feed(&s, data + at, step);
        qn_sse_deinit(&s);
    }
    if (out[0].len != out[1].len ||
        memcmp(qn_buf_cstr(&out[0]), qn_buf_cstr(&out[1]), out[0].len) != 0)
        abort();
    qn_buf_deinit(&out[0]);
    qn_buf_deinit(&out[1]);
    return 0;
}
