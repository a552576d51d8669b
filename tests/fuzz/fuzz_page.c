/* The page's chat: bodies, and records of arbitrary texts, each of which must be one line of JSON.
 */
#include "tests/fuzz/dialect_parse.h"

#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_lines(const struct qn_buf *out)
{
    for (size_t at = 0; at < out->len;) {
        const char *end = memchr(out->data + at, '\n', out->len - at);
        struct qn_json *doc;
        if (!end || qn_json_parse(out->data + at, (size_t)(end - out->data) - at, &doc, NULL))
            abort();
        qn_json_free(doc);
        at = (size_t)(end - out->data) + 1;
    }
}

static void play(const char *text)
{
    static const char body[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
    const struct qn_event events[] = {
        {.kind = QN_EV_PROGRESS, .done = 1, .total = 2},
        {.kind = QN_EV_REASONING, .text = text},
        {.kind = QN_EV_TEXT, .text = text},
        {.kind = QN_EV_TOOL_CALL, .name = text, .call_id = text, .arguments = text},
        {.kind = QN_EV_DONE, .finish = QN_FINISH_STOP},
        {.kind = QN_EV_USAGE}};
    struct qn_json *doc;
    struct qn_buf out;
    struct qn_error e = {0};
    if (qn_json_parse(body, sizeof body - 1, &doc, &e))
        abort();
    struct qn_arena *arena = qn_arena_new(64 * 1024 * 1024);
    struct qn_request rq = {.doc = doc, .arena = arena, .profile = qn_profile_main()};
    qn_buf_init(&out, 64 * 1024 * 1024);
    struct qn_reply r = {.rq = &rq, .arena = arena, .out = &out, .id = "ID"};
    if (qn_page_chat.parse(&rq, &e))
        abort();
    qn_page_chat.begin(&r);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (qn_page_chat.event(&r, 0, &events[i], &e))
            abort();
    qn_page_chat.end(&r);
    qn_page_chat.free(r.own);
    check_lines(&out);
    qn_buf_deinit(&out);
    qn_arena_free(arena);
    qn_json_free(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = strndup((const char *)data, n);
    play(text);
    free(text);
    return fuzz_dialect_parse(&qn_page_chat, data, n);
}
