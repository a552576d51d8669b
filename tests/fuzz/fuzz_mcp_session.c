/* Fuzz target: the input is the messages of an MCP server, one per line, while calls are pending.
 * Each line to the router must keep its limits, and nothing must be reported after the session has
 * ended. Time passes with each line. */
#include "mcp/session.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    struct qn_buf schema;
    bool down;
    int calls; /* calls without a result yet */
};

static void must(bool yes)
{
    if (!yes)
        abort();
}

static void on_send(void *ctx, int64_t rpc, const char *json, size_t n)
{
    struct qn_json *doc = NULL;
    (void)ctx;
    must(rpc >= 0 && !memchr(json, '\n', n) && !qn_json_parse(json, n, &doc, NULL));
    qn_json_free(doc);
}

static void on_up(void *ctx, const struct qn_mcp_up *up)
{
    struct seen *seen = ctx;
    struct qn_mcp_up again;
    struct qn_json *doc;
    struct qn_buf line;
    must(!seen->down);
    qn_buf_init(&line, 2 * QN_MCP_UP_MAX);
    qn_mcp_up_write(up, &line);
    qn_buf_clear(&seen->schema);
    must(!qn_mcp_up_read(line.data, line.len - 1, &again, &doc, &seen->schema, NULL));
    seen->down = up->kind == QN_MCP_UP_DOWN;
    seen->calls -= up->kind == QN_MCP_UP_RESULT || up->kind == QN_MCP_UP_FAILED;
    must(seen->calls >= 0);
    qn_json_free(doc);
    qn_buf_deinit(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct qn_session_events ev = {.send = on_send, .up = on_up};
    struct seen seen = {.down = false};
    const char *at = (const char *)data, *stop = at + size;
    int64_t now = 0;
    qn_buf_init(&seen.schema, QN_MCP_UP_MAX);
    struct qn_session *s = qn_session_new(&ev, &seen, 30000, now);
    for (int i = 0; at < stop && !qn_session_is_down(s); i++) {
        const char *end = memchr(at, '\n', (size_t)(stop - at));
        size_t n = end ? (size_t)(end - at) : (size_t)(stop - at);
        qn_session_message(s, at, n, now);
        if (i == 1 || i == 3) {
            seen.calls += !qn_session_is_down(s);
            qn_session_call(s, i, "f", "{\"a\":1}", 20000, now);
        }
        if (i == 5)
            qn_session_lost(s, 3, now);
        must(qn_session_tick(s, now) > 0);
        now += 700;
        at += n + (end != NULL);
    }
    now += 100000;
    qn_session_tick(s, now);
    must(seen.calls == 0 || seen.down);
    qn_session_free(s);
    qn_buf_deinit(&seen.schema);
    return 0;
}
