/* Conversations for templates that cannot show all of them; every expected text is written by hand.
 */
#include "llm/prompt/conversation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "messages_text.h"

static const struct qn_manner all = {
    .system = true, .tools = true, .calls = true, .many_calls = true, .results = true};

static struct qn_arena *arena;

static int begin(void **state)
{
    (void)state;
    arena = qn_arena_new(64 << 20);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    qn_arena_free(arena);
    return 0;
}

/* The messages after fitting, as text in the arena. */
static const char *fitted(const char *messages, const char *tools, struct qn_manner manner)
{
    struct qn_job job;
    struct qn_messages out;
    struct qn_error e = {0};
    qn_job_init(&job);
    mt_read(&job, messages, arena);
    if (qn_conversation_fit(&job.chat.messages, tools, &manner, arena, &out, &e))
        fail_msg("%s", e.message);
    return mt_text(&out, &job.attachments, arena);
}

static void fits(const char *messages, const char *tools, struct qn_manner manner,
                 const char *expected)
{
    assert_string_equal(fitted(messages, tools, manner), expected);
}

#define U(text) "{\"role\":\"user\",\"content\":\"" text "\"}"
#define A(text) "{\"role\":\"assistant\",\"content\":\"" text "\"}"
#define S(text) "{\"role\":\"system\",\"content\":\"" text "\"}"
#define CALL(id, name)                                                                             \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"" name                      \
    "\",\"arguments\":{\"a\":1}}}"
#define RESULT(id, text) "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" text "\"}"
#define PICTURE "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,iVBO\"}}"
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
    fits("[" S("s") ",{\"role\":\"user\",\"content\":[" PICTURE "]}]", NULL, m,
         "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"s\"}," PICTURE "]}]");
    fits("[" S("s") "]", NULL, m, "[" U("s") "]");
}

static void tools_in_words(void **state)
{
    (void)state;
    struct qn_manner m = all;
    m.tools = false;
    const char *text = fitted("[" S("s") "," U("u") "]", "[{\"name\":\"f\"}]", m);
    assert_ptr_equal(strstr(text, "[{\"role\":\"system\",\"content\":\"s\\n# Tools\\n"), text);
    assert_non_null(strstr(text, "<tools>\\n{\\\"name\\\":\\\"f\\\"}\\n</tools>"));
    text = fitted("[" U("u") "]", "[{\"name\":\"f\"}]", m);
    assert_ptr_equal(strstr(text, "[{\"role\":\"system\",\"content\":\"# Tools\\n"), text);
    m.system = false;
    text = fitted("[" U("u") "]", "[{\"name\":\"f\"}]", m);
    assert_ptr_equal(strstr(text, "[{\"role\":\"user\",\"content\":\"# Tools\\n"), text);
    assert_non_null(strstr(text, "\\n\\nu\"}]"));
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

static void oldest_turns_go(void **state)
{
    (void)state;
    static const char talk[] =
        "[" S("s") "," U("a") "," A("b") "," U("c") "," A("d") "," RESULT("1", "r") "," U("e") "]";
    struct qn_job job;
    struct qn_message room[8];
    struct qn_messages out;
    qn_job_init(&job);
    mt_read(&job, talk, arena);
    assert_int_equal(qn_conversation_turns(&job.chat.messages), 3);
    qn_conversation_drop(&job.chat.messages, 1, room, &out);
    assert_string_equal(mt_text(&out, NULL, arena),
                        "[" S("s") "," U("c") "," A("d") "," RESULT("1", "r") "," U("e") "]");
    qn_conversation_drop(&job.chat.messages, 2, room, &out);
    assert_string_equal(mt_text(&out, NULL, arena), "[" S("s") "," U("e") "]");
}

static void messages_without_parts(void **state)
{
    (void)state;
    fits("[]", NULL, all, "[]");
    fits("[{\"role\":\"assistant\"}]", NULL, all, "[{\"role\":\"assistant\",\"content\":null}]");
}

/* A message's calls have a limit, which is that of an answer's. */
static void too_many_calls(void **state)
{
    (void)state;
    struct qn_manner one = all;
    one.many_calls = false;
    for (int n = 1024; n <= 1025; n++) {
        struct qn_buf talk;
        struct qn_job job;
        struct qn_messages out;
        struct qn_error e = {0};
        qn_buf_init(&talk, 1 << 20);
        qn_buf_str(&talk, "[" U("u") ",{\"role\":\"assistant\",\"tool_calls\":[{}");
        for (int i = 1; i < n; i++)
            qn_buf_str(&talk, ",{}");
        qn_buf_str(&talk, "]}]");
        qn_job_init(&job);
        mt_read(&job, qn_buf_cstr(&talk), arena);
        qn_err err = qn_conversation_fit(&job.chat.messages, NULL, &one, arena, &out, &e);
        assert_int_equal(err, n > 1024 ? QN_EINVAL : QN_OK);
        if (err)
            assert_string_equal(e.param, "messages[1].tool_calls");
        qn_buf_deinit(&talk);
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
        cmocka_unit_test(oldest_turns_go),
        cmocka_unit_test(messages_without_parts),
        cmocka_unit_test(too_many_calls),
    };
    return cmocka_run_group_tests(tests, begin, finish);
}
