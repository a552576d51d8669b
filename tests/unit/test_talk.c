/* Conversations in the form chat templates read. */
#include "dialects/shared/talk.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct qn_talk talk;
static struct qn_arena *arena;

static int begin(void **state)
{
    (void)state;
    qn_talk_init(&talk);
    arena = qn_arena_new(64 * 1024 * 1024);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    qn_talk_deinit(&talk);
    qn_arena_free(arena);
    return 0;
}

static const char *made(void)
{
    const char *text;
    struct qn_error e = {0};
    if (qn_talk_end(&talk, arena, "messages", &text, &e))
        fail_msg("%s", e.message);
    return text;
}

static void call(const char *id, const char *name, const char *json)
{
    struct qn_json *doc;
    assert_int_equal(qn_json_parse(json, strlen(json), &doc, NULL), QN_OK);
    struct qn_jref root = qn_json_root(doc);
    qn_talk_call(&talk, id, name, &root);
    qn_json_free(doc);
}

static void texts_are_joined_and_nothing_is_null(void **state)
{
    (void)state;
    qn_talk_message(&talk, "user");
    qn_talk_text(&talk, "a");
    qn_talk_text(&talk, "b");
    qn_talk_message(&talk, "assistant");
    qn_talk_message(&talk, "user");
    qn_talk_text(&talk, "");
    assert_string_equal(made(), "[{\"role\":\"user\",\"content\":\"a\\nb\"},"
                                "{\"role\":\"assistant\",\"content\":null},"
                                "{\"role\":\"user\",\"content\":\"\"}]");
}

static void pictures_keep_their_place(void **state)
{
    (void)state;
    qn_talk_message(&talk, "user");
    qn_talk_text(&talk, "see");
    qn_talk_image(&talk, "data:image/png;base64,AA==");
    qn_talk_text(&talk, "and");
    qn_talk_text(&talk, "say");
    assert_string_equal(
        made(), "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"see\"},"
                "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,AA==\"}},"
                "{\"type\":\"text\",\"text\":\"and\\nsay\"}]}]");
}

static void calls_reasoning_and_results(void **state)
{
    (void)state;
    qn_talk_message(&talk, "assistant");
    qn_talk_reasoning(&talk, "hm");
    call("c1", "f", "{\"q\":1}");
    call(NULL, "g", "\"{\\\"x\\\":[2]}\"");
    call(NULL, "h", "\"oops\"");
    qn_talk_message(&talk, "tool");
    qn_talk_member(&talk, "tool_call_id", "c1");
    qn_talk_text(&talk, "42");
    assert_string_equal(
        made(),
        "[{\"role\":\"assistant\",\"content\":null,\"reasoning_content\":\"hm\",\"tool_calls\":["
        "{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":{\"q\":1}}"
        "},"
        "{\"type\":\"function\",\"function\":{\"name\":\"g\",\"arguments\":{\"x\":[2]}}},"
        "{\"type\":\"function\",\"function\":{\"name\":\"h\",\"arguments\":\"oops\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"42\"}]");
}

static void none_and_too_many(void **state)
{
    (void)state;
    const char *text;
    struct qn_error e = {0};
    assert_int_equal(qn_talk_end(&talk, arena, "input", &text, &e), QN_EINVAL);
    assert_string_equal(e.param, "input");
    qn_talk_deinit(&talk);
    qn_talk_init(&talk);
    for (int i = 0; i <= QN_TALK_MESSAGES_MAX; i++)
        qn_talk_message(&talk, "user");
    assert_int_equal(qn_talk_end(&talk, arena, "input", &text, &e), QN_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(texts_are_joined_and_nothing_is_null, begin, finish),
        cmocka_unit_test_setup_teardown(pictures_keep_their_place, begin, finish),
        cmocka_unit_test_setup_teardown(calls_reasoning_and_results, begin, finish),
        cmocka_unit_test_setup_teardown(none_and_too_many, begin, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
