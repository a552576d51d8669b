/* The request of an answer: which messages it has and in which form, whose parameters win, and what
 * is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answering/body.h"
#include "answering/body_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DONE .parts = "[]", .calls = "[]", .reasoning = "", .state = QN_CHAT_DONE

static char *body_of(struct qn_answer_ask ask)
{
    struct qn_buf out;
    struct qn_error e = {0};
    qn_buf_init(&out, QN_ANSWER_BODY_MAX);
    if (!ask.system)
        ask.system = "";
    if (!ask.defaults)
        ask.defaults = "{}";
    if (!ask.params)
        ask.params = "{}";
    ask.model = "m";
    if (qn_answer_body(&ask, &out, &e))
        fail_msg("%s", e.message);
    return qn_buf_take(&out);
}

static void expect(struct qn_answer_ask ask, const char *expected)
{
    char *body = body_of(ask);
    assert_string_equal(body, expected);
    free(body);
}

/* The path, without the answer itself; an answer that failed is left out; of calls those that have
 * a result. */
static void messages(void **state)
{
    (void)state;
    struct qn_chat_message path[] = {
        {.role = QN_CHAT_USER, .text = "a \"b\"", DONE},
        {.role = QN_CHAT_ASSISTANT, .text = "", DONE},
        {.role = QN_CHAT_ASSISTANT, .text = "yes", DONE},
        {.role = QN_CHAT_SYSTEM, .text = "now", DONE},
        {.role = QN_CHAT_ASSISTANT, .text = "", DONE},
    };
    path[2].reasoning = "hm";
    path[2].calls = "[{\"id\":\"1\",\"name\":\"f\",\"arguments\":\"{}\",\"result\":{\"r\":2}},"
                    "{\"id\":\"2\",\"name\":\"g\",\"arguments\":\"{}\"}]";
    expect(
        (struct qn_answer_ask){.path = path, .n = 5, .system = "Be brief."},
        "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"},"
        "{\"role\":\"user\",\"content\":\"a \\\"b\\\"\"},"
        "{\"role\":\"assistant\",\"content\":\"yes\",\"reasoning_content\":\"hm\","
        "\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"f\","
        "\"arguments\":\"{}\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"1\",\"name\":\"f\",\"content\":\"{\\\"r\\\":2}\"},"
        "{\"role\":\"system\",\"content\":\"now\"}]}");
}

/* An answer that is continued is the last message, and nothing follows it. */
static void going_on(void **state)
{
    (void)state;
    struct qn_chat_message path[] = {{.role = QN_CHAT_USER, .text = "q", DONE},
                                     {.role = QN_CHAT_ASSISTANT, .text = "one,", DONE}};
    path[1].calls = "[{\"id\":\"1\",\"name\":\"f\",\"arguments\":\"{}\",\"result\":\"r\"}]";
    expect((struct qn_answer_ask){.path = path, .n = 2, .more = true},
           "{\"model\":\"m\",\"continue_final_message\":true,\"messages\":[{\"role\":\"user\","
           "\"content\":\"q\"},{\"role\":\"assistant\",\"content\":\"one,\"}]}");
    path[1].text = "";
    path[1].reasoning = "hm";
    expect((struct qn_answer_ask){.path = path, .n = 2, .more = true},
           "{\"model\":\"m\",\"continue_final_message\":true,\"messages\":[{\"role\":\"user\","
           "\"content\":\"q\"},{\"role\":\"assistant\",\"content\":\"\",\"reasoning_content\":"
           "\"hm\"}]}");
}

/* The answer's parameters replace the chat's; what the chat may not determine is left out. */
static void parameters(void **state)
{
    (void)state;
    struct qn_chat_message path[] = {{.role = QN_CHAT_USER, .text = "q", DONE},
                                     {.role = QN_CHAT_ASSISTANT, .text = "", DONE}};
    static const char rest[] = "\"messages\":[{\"role\":\"user\",\"content\":\"q\"}]}";
    static const struct {
        const char *defaults, *params, *members;
    } rows[] = {
        {"{\"temperature\":0.5,\"top_k\":3,\"stream\":false,\"model\":\"x\"}",
         "{\"temperature\":0.25}", "\"temperature\":0.25,\"top_k\":3,"},
        {"{\"think\":true}", "{}", "\"enable_thinking\":true,"},
        {"{\"think\":true,\"reasoning_effort\":\"high\"}", "{\"think\":200}",
         "\"thinking_budget\":200,"},
        {"{\"enable_thinking\":true}", "{\"think\":\"low\"}", "\"reasoning_effort\":\"low\","},
        {"{}", "{\"think\":null,\"seed\":1}", "\"seed\":1,"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char expected[256];
        snprintf(expected, sizeof expected, "{\"model\":\"m\",%s%s", rows[i].members, rest);
        expect(
            (struct qn_answer_ask){
                .path = path, .n = 2, .defaults = rows[i].defaults, .params = rows[i].params},
            expected);
    }
}

/* The MCP tools follow the tools of the request. The member "mcp", the ids of the servers, is not
 * sent to the engine. */
static void tools(void **state)
{
    (void)state;
    struct qn_chat_message path[] = {{.role = QN_CHAT_USER, .text = "q", DONE},
                                     {.role = QN_CHAT_ASSISTANT, .text = "", DONE}};
    static const char rest[] = ",\"messages\":[{\"role\":\"user\",\"content\":\"q\"}]}";
    static const struct {
        const char *defaults, *params, *more, *members;
    } rows[] = {
        {"{\"mcp\":[\"x\"]}", "{}", "", ""},
        {"{}", "{\"mcp\":[\"x\"]}", "{\"n\":1}", ",\"tools\":[{\"n\":1}]"},
        {"{\"tools\":[{\"a\":1}]}", "{}", "", ",\"tools\":[{\"a\":1}]"},
        {"{\"tools\":[{\"a\":1}]}", "{\"tools\":[{\"b\":1}]}", "{\"n\":1}",
         ",\"tools\":[{\"b\":1},{\"n\":1}]"},
        {"{\"tools\":[{\"a\":1}]}", "{}", "{\"n\":1}", ",\"tools\":[{\"a\":1},{\"n\":1}]"},
        {"{\"tools\":[{\"a\":1}]}", "{\"tools\":[]}", "", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char expected[256];
        snprintf(expected, sizeof expected, "{\"model\":\"m\"%s%s", rows[i].members, rest);
        expect((struct qn_answer_ask){.path = path,
                                      .n = 2,
                                      .tools = rows[i].more,
                                      .defaults = rows[i].defaults,
                                      .params = rows[i].params},
               expected);
    }
}

/* Reads the MCP servers and the names of the client's own tools from parameters. */
static void tools_of_parameters(void **state)
{
    (void)state;
    static const char id[] = "0123456789abcdef0123456789abcdef";
    struct qn_answer_tools t;
    qn_answer_tools_read("{\"tools\":[{\"function\":{\"name\":\"f\"}},{},7]}",
                         "{\"mcp\":[\"0123456789abcdef0123456789abcdef\",\"x\",7]}", &t);
    assert_int_equal(t.servers.len, sizeof id);
    assert_memory_equal(t.servers.data, id, sizeof id - 1);
    assert_true(qn_answer_tools_has(&t, "f"));
    assert_false(qn_answer_tools_has(&t, "ff"));
    assert_false(qn_answer_tools_has(&t, "g"));
    qn_answer_tools_deinit(&t);
    qn_answer_tools_read("{\"mcp\":[]}", "{\"mcp\":[\"0123456789abcdef0123456789abcdef\"]}", &t);
    assert_int_equal(t.servers.len, 0);
    qn_answer_tools_deinit(&t);
    qn_answer_tools_read("nonsense", "[]", &t);
    assert_int_equal(t.servers.len, 0);
    qn_answer_tools_deinit(&t);
}

static void refused_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *params, *param;
    } bad[] = {
        {"{\"messages\":[]}", "messages"},
        {"{\"stream\":true}", "stream"},
        {"{\"continue_final_message\":true}", "continue_final_message"},
        {"{\"temperature\":\"hot\"}", "temperature"},
        {"{\"max_tokens\":1.5}", "max_tokens"},
        {"{\"think\":[]}", "think"},
        {"{\"think\":\"much\"}", "reasoning_effort"},
        {"{\"tools\":{}}", "tools"},
        {"[]", "params"},
    };
    struct qn_error e;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        e = (struct qn_error){0};
        if (qn_answer_params_check(bad[i].params, &e) == QN_OK || strcmp(e.param, bad[i].param))
            fail_msg("%s: param '%s' message '%s'", bad[i].params, e.param, e.message);
    }
    assert_int_equal(qn_answer_params_check("{\"temperature\":0,\"unknown\":1}", &e), QN_OK);
}

/* ---- files ---- */

static char folder[] = "/tmp/quince-body-XXXXXX";

static void put(const char *id, const char *bytes, size_t n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, id);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

static void drop(const char *id)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, id);
    assert_int_equal(remove(path), 0);
}

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define PART(kind, blob, name, type)                                                               \
    "{\"kind\":\"" kind "\",\"blob\":\"" blob "\",\"name\":\"" name "\",\"type\":\"" type          \
    "\",\"bytes\":3}"

static void files(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    put(A, "\x00\x01\xff", 3);
    put(B, "a\xc3\xa9", 3);
    struct qn_chat_message path[] = {{.role = QN_CHAT_USER, .text = "q", DONE},
                                     {.role = QN_CHAT_ASSISTANT, .text = "", DONE}};
    path[0].parts = "[" PART("image", A, "p", "image/png") "," PART(
        "audio", A, "s", "audio/mpeg") "," PART("file", B, "n.txt", "text/plain") "]";
    char *body = body_of((struct qn_answer_ask){.path = path, .n = 2, .blobs = folder});
    assert_string_equal(
        body, "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":["
              "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,AAH/\"}},"
              "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"AAH/\",\"format\":\"mpeg\"}},"
              "{\"type\":\"text\",\"text\":\"n.txt:\\n\\na\xc3\xa9\"},"
              "{\"type\":\"text\",\"text\":\"q\"}]}]}");
    free(body);
    static const struct {
        const char *parts;
        qn_err err;
    } bad[] = {
        {"[" PART("file", A, "a.zip", "application/zip") "]", QN_EUNSUPPORTED},
        {"[" PART("image", "cc", "p", "image/png") "]", QN_EINVAL},
        {"[" PART("image", "../../../../../../../../../../../../../../../../../../../../etc/pass",
                  "p", "image/png") "]",
         QN_EINVAL},
        {"[{\"kind\":\"image\"}]", QN_EINVAL},
        {"[" PART("image", "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc", "p",
                  "image/png") "]",
         QN_ENOTFOUND},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct qn_error e = {0};
        struct qn_buf out;
        qn_buf_init(&out, QN_ANSWER_BODY_MAX);
        path[0].parts = bad[i].parts;
        struct qn_answer_ask ask = {.path = path,
                                    .n = 2,
                                    .system = "",
                                    .blobs = folder,
                                    .model = "m",
                                    .defaults = "{}",
                                    .params = "{}"};
        assert_int_equal(qn_answer_body(&ask, &out, &e), bad[i].err);
        assert_string_equal(e.param, "parts");
        qn_buf_deinit(&out);
    }
    drop(A);
    drop(B);
    assert_int_equal(remove(folder), 0);
}

/* A conversation beyond the limit is refused, not cut off. */
static void too_long(void **state)
{
    (void)state;
    struct qn_chat_message path[] = {{.role = QN_CHAT_USER, .text = "0123456789", DONE},
                                     {.role = QN_CHAT_ASSISTANT, .text = "", DONE}};
    struct qn_answer_ask ask = {
        .path = path, .n = 2, .system = "", .model = "m", .defaults = "{}", .params = "{}"};
    struct qn_error e = {0};
    struct qn_buf out;
    qn_buf_init(&out, 60);
    assert_int_equal(qn_answer_body(&ask, &out, &e), QN_ELIMIT);
    assert_string_equal(e.param, "messages");
    qn_buf_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages),
        cmocka_unit_test(going_on),
        cmocka_unit_test(parameters),
        cmocka_unit_test(tools),
        cmocka_unit_test(tools_of_parameters),
        cmocka_unit_test(refused_parameters),
        cmocka_unit_test(files),
        cmocka_unit_test(too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
