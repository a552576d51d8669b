/* io/http_response.c: any bytes in two cuts give the same reply. The first byte says where to cut.
 */
#include "io/http_response.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BODY_MAX = 1 << 20 };

struct outcome {
    qn_err err;
    int status;
    bool done;
    struct qn_buf body;
};

static void feed(const uint8_t *data, size_t n, size_t step, struct outcome *o)
{
    struct qn_response r;
    struct qn_error e;
    *o = (struct outcome){0};
    qn_buf_init(&o->body, BODY_MAX);
    qn_response_init(&r, false);
    for (size_t at = 0; at < n && !o->err && !r.done; at += step) {
        size_t len = n - at < step ? n - at : step;
        /* A copy of exact size, so that reading past the end is seen. */
        char *p = malloc(len);
        if (!p)
            abort();
        memcpy(p, data + at, len);
        for (size_t from = 0, used; from < len && !r.done && !o->err; from += used) {
            const char *body;
            size_t body_len;
            o->err = qn_response_take(&r, p + from, len - from, &used, &body, &body_len, &e);
            assert(o->err || used > 0);
            if (o->err)
                break;
            assert(body_len <= used && (!body_len || r.status >= 200));
            qn_buf_add(&o->body, body, body_len);
        }
        free(p);
    }
    if (!o->err)
        o->err = qn_response_end(&r, &e);
    o->status = r.status;
    o->done = r.done;
    assert(strlen(r.type) < sizeof r.type);
    qn_response_deinit(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 1 || n > BODY_MAX)
        return 0;
    struct outcome whole, cut;
    feed(data + 1, n - 1, n, &whole);
    feed(data + 1, n - 1, (size_t)data[0] + 1, &cut);
    /* Where a limit is passed depends on the cut; all else does not. */
    if (whole.err != QN_ELIMIT && cut.err != QN_ELIMIT) {
        assert(whole.err == cut.err && whole.status == cut.status && whole.done == cut.done);
        assert(whole.body.len == cut.body.len);
        assert(!whole.body.len || !memcmp(whole.body.data, cut.body.data, whole.body.len));
    }
    qn_buf_deinit(&whole.body);
    qn_buf_deinit(&cut.body);
    return 0;
}
