/* Conversations for templates that cannot show all of them; every expected text is written by hand.
 */
#include "llm/prompt/conversation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct qn_manner all = {
    .system = true, .tools = true, .calls = true, .many_calls = true, .results = true};

/* The messages after fitting have to be the expected ones. */
static void fits(const char *messages, const char *tools, struct qn_manner manner,
                 const char *expected)
{
    struct qn_buf out;
    struct qn_error e = {0};
    qn_buf_init(&out, 1 << 20);
    if (qn_conversation_fit(messages, tools, &manner, &out, &e))
        fail_msg("%s", e.message);
    assert_string_equal(qn_buf_cstr(&out), expected);
    qn_buf_deinit(&out);
}

#define U(text) "{\"role\":\"user\",\"content\":\"" text "\"}"
#define A(text) "{\"role\":\"assistant\",\"content\":\"" text "\"}"
#define S(text) "{\"role\":\"system\",\"content\":\"" text "\"}"
#define CALL(id, name)                                                                             \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"" name                      \
    "\",\"arguments\":{\"a\":1}}}"
#define RESULT(id, text) "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" text "\"}"
#define CALLED                                                                                     \
    "<tool_call>\\n{\\\"name\\\":\\\"f\\\",\\\"arguments\\\":{\\\"a\\\":1}}\\n</tool_call>"

static void what_a_template_shows_stays(void **state)
{
    (void)state;
    static const char talk[] =
        "[" S("s") "," U("u") ",{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[" CALL(
            "1", "f") "," CALL("2", "g") "]}," RESULT("1", "r") "," A("b") "]";
    fits(talk, NULL, all, talk);
}

static void no_system_messages(void **state)
{
    (void)state;
    struct qn_manner m = all;
    m.system = false;
    fits("[" S("s") "," S("t") "," U("u") "," U("v") "]", NULL, m,
         "[" U("s\\n\\nt\\n\\nu") "," U("v") "]");
    fits("[" S("s") ",{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]", NULL, m,
         "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"s\"},{\"type\":\"image_"
         "url\"}]}]");
    fits("[" S("s") "]", NULL, m, "[" U("s") "]");
}

static void tools_in_words(void **state)
{
    (void)state;
    struct qn_manner m = all;
    struct qn_buf out;
    qn_buf_init(&out, 1 << 20);
    m.tools = false;
    assert_int_equal(
        qn_conversation_fit("[" S("s") "," U("u") "]", "[{\"name\":\"f\"}]", &m, &out, NULL),
        QN_OK);
    const char *text = qn_buf_cstr(&out);
    assert_ptr_equal(strstr(text, "[{\"role\":\"system\",\"content\":\"s\\n# Tools\\n"), text);
    assert_non_null(strstr(text, "<tools>\\n{\\\"name\\\":\\\"f\\\"}\\n</tools>"));
    qn_buf_clear(&out);
    assert_int_equal(qn_conversation_fit("[" U("u") "]", "[{\"name\":\"f\"}]", &m, &out, NULL),
                     QN_OK);
    assert_ptr_equal(strstr(qn_buf_cstr(&out), "[{\"role\":\"system\",\"content\":\"# Tools\\n"),
                     out.data);
    qn_buf_clear(&out);
    m.system = false;
    assert_int_equal(qn_conversation_fit("[" U("u") "]", "[{\"name\":\"f\"}]", &m, &out, NULL),
                     QN_OK);
    assert_ptr_equal(strstr(qn_buf_cstr(&out), "[{\"role\":\"user\",\"content\":\"# Tools\\n"),
                     out.data);
    assert_non_null(strstr(out.data, "\\n\\nu\"}]"));
    qn_buf_deinit(&out);
}

static void calls_and_results_as_text(void **state)
{
    (void)state;
    struct qn_manner m = {.system = true};
    fits(
        "[" U("u") ",{\"role\":\"assistant\",\"content\":\"I look.\",\"tool_calls\":[" CALL(
            "1", "f") "," CALL("2", "f") "]}," RESULT("1", "r") "," RESULT("2", "s") "," U("v") "]",
        NULL, m,
        "[" U("u") "," A("I look.\\n" CALLED "\\n" CALLED) "," U(
            "<tool_response>\\nr\\n</tool_response>\\n<tool_response>\\ns\\n</"
            "tool_response>\\n\\nv") "]");
    fits("[" U("u") ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" CALL(
             "1", "f") "]}," RESULT("1", "r") "]",
         NULL, m, "[" U("u") "," A(CALLED) "," U("<tool_response>\\nr\\n</tool_response>") "]");
}

static void one_call_to_a_message(void **state)
{
    (void)state;
    struct qn_manner m = all;
    m.many_calls = false;
    m.null_content = true;
    fits("[" U("u") ",{\"role\":\"assistant\",\"content\":\"x\",\"tool_calls\":[" CALL(
             "1",
             "f") "," CALL("2",
                           "g") "]}," RESULT("2",
                                             "s") "," RESULT("1",
                                                             "r") "," RESULT("9",
                                                                             "t") "," A("b") "]",
         NULL, m,
         "[" U("u") ",{\"role\":\"assistant\",\"content\":\"x\",\"tool_calls\":[" CALL(
             "1", "f") "]}," RESULT("1",
                                    "r") ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":"
                                         "[" CALL("2", "g") "]}," RESULT("2", "s") "," RESULT(
                                             "9", "t") "," A("b") "]");
}

static void reasoning_under_its_other_name(void **state)
{
    (void)state;
    struct qn_manner m = all;
    m.thinking = true;
    fits("[" U("u") ",{\"role\":\"assistant\",\"content\":null,\"reasoning_content\":\"h\",\"tool_"
                    "calls\":[" CALL("1", "f") "]}]",
         NULL, m,
         "[" U("u") ",{\"role\":\"assistant\",\"reasoning_content\":\"h\",\"content\":\"\","
                    "\"thinking\":\"h\","
                    "\"tool_calls\":[" CALL("1", "f") "]}]");
}

static void oldest_turns_go(void **state)
{
    (void)state;
    static const char talk[] =
        "[" S("s") "," U("a") "," A("b") "," U("c") "," A("d") "," RESULT("1", "r") "," U("e") "]";
    struct qn_buf out;
    qn_buf_init(&out, 1 << 20);
    assert_int_equal(qn_conversation_turns(talk), 3);
    qn_conversation_drop(talk, 1, &out);
    assert_string_equal(qn_buf_cstr(&out),
                        "[" S("s") "," U("c") "," A("d") "," RESULT("1", "r") "," U("e") "]");
    qn_buf_clear(&out);
    qn_conversation_drop(talk, 2, &out);
    assert_string_equal(qn_buf_cstr(&out), "[" S("s") "," U("e") "]");
    assert_int_equal(qn_conversation_turns("{"), 0);
    qn_buf_deinit(&out);
}

static void nonsense(void **state)
{
    (void)state;
    struct qn_buf out;
    struct qn_error e = {0};
    qn_buf_init(&out, 1 << 20);
    assert_int_equal(qn_conversation_fit("[", NULL, &all, &out, &e), QN_EFORMAT);
    fits("{}", NULL, all, "[]");
    fits("[1,null,{\"role\":5},{\"role\":\"assistant\",\"tool_calls\":{}}]", NULL, all,
         "[1,null,{\"role\":5},{\"role\":\"assistant\",\"content\":\"\"}]");
    qn_buf_deinit(&out);
}

/* A message's calls have a limit, which is that of an answer's. */
static void too_many_calls(void **state)
{
    (void)state;
    struct qn_manner one = all;
    one.many_calls = false;
    for (int n = 1024; n <= 1025; n++) {
        struct qn_buf talk, out;
        struct qn_error e = {0};
        qn_buf_init(&talk, 1 << 20);
        qn_buf_init(&out, 1 << 20);
        qn_buf_str(&talk, "[" U("u") ",{\"role\":\"assistant\",\"tool_calls\":[{}");
        for (int i = 1; i < n; i++)
            qn_buf_str(&talk, ",{}");
        qn_buf_str(&talk, "]}]");
        qn_err err = qn_conversation_fit(qn_buf_cstr(&talk), NULL, &one, &out, &e);
        assert_int_equal(err, n > 1024 ? QN_EINVAL : QN_OK);
        if (err)
            assert_string_equal(e.param, "messages[1].tool_calls");
        qn_buf_deinit(&talk);
        qn_buf_deinit(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_template_shows_stays),
        cmocka_unit_test(no_system_messages),
        cmocka_unit_test(tools_in_words),
        cmocka_unit_test(calls_and_results_as_text),
        cmocka_unit_test(one_call_to_a_message),
        cmocka_unit_test(reasoning_under_its_other_name),
        cmocka_unit_test(oldest_turns_go),
        cmocka_unit_test(nonsense),
        cmocka_unit_test(too_many_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
