/* Conversations in the form chat templates read. */
#include "dialects/shared/talk.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "messages_text.h"

static struct qn_talk talk;
static struct qn_job job;
static struct qn_arena *arena;

static int begin(void **state)
{
    (void)state;
    arena = qn_arena_new(64 * 1024 * 1024);
    qn_job_init(&job);
    qn_talk_init(&talk, &job, arena);
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
    struct qn_error e = {0};
    if (qn_talk_end(&talk, "messages", &e))
        fail_msg("%s", e.message);
    return mt_text(&job.chat.messages, &job.attachments, arena);
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
    qn_talk_message(&talk, QN_ROLE_USER);
    qn_talk_text(&talk, "a");
    qn_talk_text(&talk, "b");
    qn_talk_message(&talk, QN_ROLE_ASSISTANT);
    qn_talk_message(&talk, QN_ROLE_USER);
    qn_talk_text(&talk, "");
    assert_string_equal(made(), "[{\"role\":\"user\",\"content\":\"a\\nb\"},"
                                "{\"role\":\"assistant\",\"content\":null},"
                                "{\"role\":\"user\",\"content\":\"\"}]");
}

/* A data URL in the open message, and what becomes of it. */
static void see(const char *url, qn_err expected)
{
    struct qn_jref root = {0}, at = {.up = &root, .key = "url"};
    struct qn_error e = {0};
    assert_int_equal(qn_talk_data_url(&talk, &at, url, &e), expected);
    if (expected)
        assert_string_equal(e.param, "url");
}

static void pictures_keep_their_place(void **state)
{
    (void)state;
    qn_talk_message(&talk, QN_ROLE_USER);
    qn_talk_text(&talk, "see");
    see("data:image/png;base64,AA==", QN_OK);
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
    qn_talk_message(&talk, QN_ROLE_ASSISTANT);
    qn_talk_reasoning(&talk, "hm");
    call("c1", "f", "{\"q\":1}");
    call(NULL, "g", "\"{\\\"x\\\":[2]}\"");
    call(NULL, "h", "\"oops\"");
    qn_talk_message(&talk, QN_ROLE_TOOL);
    qn_talk_answers(&talk, "c1");
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

/* Decoded once, whatever stands around the base64; numbered behind what the job has. */
static void pictures_become_bytes(void **state)
{
    (void)state;
    struct qn_jref root = {0}, at = {.up = &root, .key = "data"};
    qn_talk_message(&talk, QN_ROLE_USER);
    see("data:image/webp;charset=x;BASE64,aGk=", QN_OK);
    see("data:;base64,aGk", QN_OK);
    assert_int_equal(qn_talk_picture(&talk, &at, NULL, "R0lGODlh", NULL), QN_OK);
    static const char *const wrong[] = {
        "data:image/png,aGk=",     "data:image/png;base64",  "http://x/;base64,aGk=",
        "data:image/png;base64,%", "data:image/png;base64,", "data:a\"b;base64,aGk=",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        see(wrong[i], QN_EINVAL);
    made();
    assert_int_equal(job.attachments.n, 3);
    assert_string_equal(job.attachments.v[0].type, "image/webp");
    assert_int_equal(job.attachments.v[0].bytes, 2);
    assert_memory_equal(job.attachments.v[0].data, "hi", 2);
    assert_string_equal(job.attachments.v[1].type, "application/octet-stream");
    assert_string_equal(job.attachments.v[2].type, "image/gif");
    assert_int_equal(job.chat.messages.v[0].parts.n, 3);
    assert_int_equal(job.chat.messages.v[0].parts.v[2].attachment, 2);
    qn_talk_deinit(&talk);
    qn_talk_init(&talk, &job, arena);
    qn_talk_message(&talk, QN_ROLE_USER);
    for (int i = 3; i < QN_JOB_ATTACHMENTS_MAX; i++)
        see("data:image/png;base64,aGk=", QN_OK);
    see("data:image/png;base64,aGk=", QN_EINVAL);
    made();
    assert_int_equal(job.chat.messages.v[0].parts.v[0].attachment, 3);
    assert_memory_equal(job.attachments.v[0].data, "hi", 2);
}

static void none_and_too_many(void **state)
{
    (void)state;
    struct qn_error e = {0};
    assert_int_equal(qn_talk_end(&talk, "input", &e), QN_EINVAL);
    assert_string_equal(e.param, "input");
    qn_talk_deinit(&talk);
    qn_talk_init(&talk, &job, arena);
    for (int i = 0; i <= QN_MESSAGES_MAX; i++)
        qn_talk_message(&talk, QN_ROLE_USER);
    assert_int_equal(qn_talk_end(&talk, "input", &e), QN_EINVAL);
}

/* Together the texts have a limit, and so have the parts of a message. */
static void too_long(void **state)
{
    (void)state;
    enum { HALF = QN_JOB_PROMPT_BYTES_MAX / 2 };
    struct qn_error e = {0};
    char *text = malloc(HALF + 2);
    memset(text, 'a', HALF + 1);
    text[HALF + 1] = '\0';
    for (int more = 0; more < 2; more++) {
        for (int i = 0; i < 2; i++) {
            qn_talk_message(&talk, QN_ROLE_USER);
            qn_talk_text(&talk, text + 1 - more);
        }
        assert_int_equal(qn_talk_end(&talk, "messages", &e), more ? QN_EINVAL : QN_OK);
        qn_talk_deinit(&talk);
        qn_arena_free(arena);
        arena = qn_arena_new(64 * 1024 * 1024);
        qn_talk_init(&talk, &job, arena);
    }
    free(text);
    qn_talk_message(&talk, QN_ROLE_ASSISTANT);
    for (int i = 0; i <= QN_MESSAGE_PARTS_MAX; i++)
        call(NULL, "f", "{}");
    assert_int_equal(qn_talk_end(&talk, "messages", &e), QN_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(texts_are_joined_and_nothing_is_null, begin, finish),
        cmocka_unit_test_setup_teardown(pictures_keep_their_place, begin, finish),
        cmocka_unit_test_setup_teardown(calls_reasoning_and_results, begin, finish),
        cmocka_unit_test_setup_teardown(pictures_become_bytes, begin, finish),
        cmocka_unit_test_setup_teardown(none_and_too_many, begin, finish),
        cmocka_unit_test_setup_teardown(too_long, begin, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
