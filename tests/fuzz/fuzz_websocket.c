/* A hostile client's frames, whole and byte by byte: both must give the same messages and the same
 * end, and none of it may be larger than agreed. */
#include "formats/websocket.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MESSAGE_MAX = 4096 };

static bool collect(void *ctx, enum qn_websocket_kind kind, int code, const char *text, size_t n)
{
    if (n > (kind >= QN_WEBSOCKET_CLOSE ? QN_WEBSOCKET_CONTROL_MAX : MESSAGE_MAX) || text[n] != 0)
        abort();
    qn_buf_fmt(ctx, "%d %d %zu:", (int)kind, code, n);
    qn_buf_add(ctx, text, n);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct qn_buf out[2];
    for (int i = 0; i < 2; i++) {
        struct qn_websocket_reader r;
        qn_buf_init(&out[i], 64 * 1024 * 1024);
        qn_websocket_reader_init(&r, MESSAGE_MAX, collect, &out[i]);
        size_t step = i ? 1 : size;
        for (size_t at = 0; at < size; at += step)
            qn_websocket_feed(&r, data + at, step);
        qn_buf_fmt(&out[i], "end %d", r.error);
        qn_websocket_reader_deinit(&r);
    }
    if (out[0].len != out[1].len || memcmp(out[0].data, out[1].data, out[0].len) != 0)
        abort();
    qn_buf_deinit(&out[0]);
    qn_buf_deinit(&out[1]);
    return 0;
}
