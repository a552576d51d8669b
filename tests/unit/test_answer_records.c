/* The records by which clients follow an answer: which ones, in which order, and what a client gets
 * that comes back with a place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answering/records.h"

#include <stdlib.h>
#include <string.h>

/* All records that there are now, one a line. */
static char *records(const struct qn_answer_view *v, struct qn_answer_cursor *c)
{
    struct qn_buf out;
    qn_buf_init(&out, 1 << 20);
    while (qn_answer_record(v, c, &out))
        qn_buf_char(&out, '\n');
    return out.len ? qn_buf_take(&out) : qn_xstrdup("");
}

static void expect(const struct qn_answer_view *v, struct qn_answer_cursor *c, const char *expected)
{
    char *got = records(v, c);
    assert_string_equal(got, expected);
    free(got);
}

static struct qn_answer_view view_of(const char *reasoning, const char *text)
{
    return (struct qn_answer_view){.state = QN_CHAT_ANSWERING,
                                   .stage = QN_ANSWER_COMPUTING,
                                   .state_changes = 1,
                                   .reasoning = reasoning,
                                   .text = text,
                                   .n_reasoning = strlen(reasoning),
                                   .n_text = strlen(text)};
}

#define COMPUTING "{\"t\":\"state\",\"state\":\"answering\",\"stage\":\"computing\"}\n"

/* A client that follows from the beginning gets each thing once. */
static void from_the_beginning(void **state)
{
    (void)state;
    struct qn_answer_cursor c = {0};
    struct qn_answer_view v = {.state = QN_CHAT_QUEUED,
                               .stage = QN_ANSWER_WAITING,
                               .state_changes = 1,
                               .place = 3,
                               .wait_ms = 900,
                               .reason = "",
                               .reasoning = "",
                               .text = ""};
    expect(&v, &c,
           "{\"t\":\"state\",\"state\":\"queued\",\"stage\":\"waiting\",\"place\":3,\"wait_ms\":"
           "900}\n");
    expect(&v, &c, "");
    v.state_changes++;
    v.place = 1;
    v.wait_ms = 0;
    v.reason = "model 'm' is in use";
    expect(&v, &c,
           "{\"t\":\"state\",\"state\":\"queued\",\"stage\":\"waiting\",\"place\":1,\"wait_ms\":0,"
           "\"reason\":\"model 'm' is in use\"}\n");
    v.state_changes++;
    v.stage = QN_ANSWER_LOADING;
    v.loaded = 0.25;
    expect(&v, &c,
           "{\"t\":\"state\",\"state\":\"queued\",\"stage\":\"loading\",\"progress\":0.25}\n");
    v.prompt_changes++;
    v.done = 5;
    v.total = 20;
    v.cached = 2;
    expect(&v, &c, "{\"t\":\"prompt\",\"done\":5,\"total\":20,\"cached\":2}\n");
    v = view_of("hm", "");
    v.state_changes = 4;
    v.prompt_changes = 1;
    expect(&v, &c, COMPUTING "{\"t\":\"think\",\"s\":\"hm\"}\n");
    v.text = "a \"b\"";
    v.n_text = 3; /* the rest is not in the database yet */
    expect(&v, &c, "{\"t\":\"text\",\"s\":\"a \\\"\"}\n");
    v.n_text = 5;
    expect(&v, &c, "{\"t\":\"text\",\"s\":\"b\\\"\"}\n");
    expect(&v, &c, "");
    assert_false(c.end);
    v.state = QN_CHAT_CUT;
    v.calls = "[{\"id\":\"c\",\"name\":\"f\"}]";
    v.calls_changes++;
    v.stats = "{\"prompt\":20}";
    v.finish = "length";
    expect(&v, &c,
           "{\"t\":\"calls\",\"calls\":[{\"id\":\"c\",\"name\":\"f\"}]}\n"
           "{\"t\":\"stats\",\"prompt\":20}\n"
           "{\"t\":\"end\",\"state\":\"cut\",\"finish\":\"length\"}\n");
    assert_true(c.end);
    expect(&v, &c, "");
}

/* The record "calls" is sent whenever a call changes, also to a client that connects later. The
 * last record names the next answer. */
static void calls_of_the_server(void **state)
{
    (void)state;
    struct qn_answer_cursor c = {.state_changes = 1}, late = {.state_changes = 1};
    struct qn_answer_view v = view_of("", "");
    v.tools = "[{\"id\":\"s\"}]";
    expect(&v, &c, "{\"t\":\"tools\",\"servers\":[{\"id\":\"s\"}]}\n");
    v.calls = "[{\"id\":\"c\",\"state\":\"asking\"}]";
    v.calls_changes++;
    expect(&v, &c, "{\"t\":\"calls\",\"calls\":[{\"id\":\"c\",\"state\":\"asking\"}]}\n");
    expect(&v, &c, "");
    v.calls = "[{\"id\":\"c\",\"state\":\"running\"}]";
    v.calls_changes++;
    expect(&v, &c, "{\"t\":\"calls\",\"calls\":[{\"id\":\"c\",\"state\":\"running\"}]}\n");
    expect(&v, &late,
           "{\"t\":\"tools\",\"servers\":[{\"id\":\"s\"}]}\n"
           "{\"t\":\"calls\",\"calls\":[{\"id\":\"c\",\"state\":\"running\"}]}\n");
    v.state = QN_CHAT_DONE;
    v.calls = "[{\"id\":\"c\",\"state\":\"done\",\"result\":\"r\"}]";
    v.calls_changes++;
    v.finish = "tool_calls";
    v.next = "n";
    expect(&v, &c,
           "{\"t\":\"calls\",\"calls\":[{\"id\":\"c\",\"state\":\"done\",\"result\":\"r\"}]}\n"
           "{\"t\":\"end\",\"state\":\"done\",\"finish\":\"tool_calls\",\"next\":\"n\"}\n");
}

/* A message of the database, which was left unfinished or has failed. */
static void stored_messages(void **state)
{
    (void)state;
    struct qn_chat_message m = {.reasoning = "hm",
                                .text = "abc",
                                .calls = "[]",
                                .stats = "{}",
                                .finish = "",
                                .state = QN_CHAT_ANSWERING};
    struct qn_answer_view v = qn_answer_view_of(&m);
    struct qn_answer_cursor c;
    assert_true(qn_answer_place_read("2-1", &c));
    expect(&v, &c, "{\"t\":\"text\",\"s\":\"bc\"}\n{\"t\":\"end\",\"state\":\"interrupted\"}\n");
    m.state = QN_CHAT_FAILED;
    m.error = "{\"message\":\"no\"}";
    v = qn_answer_view_of(&m);
    assert_true(qn_answer_place_read("0-3", &c));
    expect(&v, &c,
           "{\"t\":\"think\",\"s\":\"hm\"}\n"
           "{\"t\":\"end\",\"state\":\"failed\",\"error\":{\"message\":\"no\"}}\n");
}

static void places(void **state)
{
    (void)state;
    static const char *const bad[] = {"1",
                                      "-",
                                      "1-",
                                      "-1",
                                      "1-x",
                                      "x-1",
                                      "1--1",
                                      "-1-1",
                                      "1-1 ",
                                      " 1-1",
                                      "1-1-1",
                                      "99999999999999999999-1",
                                      "111111111111111111111111111111111111111111111111111111-1"};
    struct qn_answer_cursor c;
    char text[QN_ANSWER_PLACE_MAX];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (qn_answer_place_read(bad[i], &c))
            fail_msg("'%s' was taken for a place", bad[i]);
    assert_true(qn_answer_place_read("", &c));
    qn_answer_place_write(&c, text);
    assert_string_equal(text, "0-0");
    assert_true(qn_answer_place_read("12-3456789012", &c));
    qn_answer_place_write(&c, text);
    assert_string_equal(text, "12-3456789012");
    c.reasoning = c.text = SIZE_MAX; /* the longest that there can be */
    qn_answer_place_write(&c, text);
}

/* A place beyond the text, or within a character, is moved to one that exists. */
static void odd_places(void **state)
{
    (void)state;
    struct qn_answer_view v = view_of("", "a\xc3\xa9z");
    struct qn_answer_cursor c = {.text = 2, .state_changes = 1};
    expect(&v, &c, "{\"t\":\"text\",\"s\":\"z\"}\n");
    c = (struct qn_answer_cursor){.reasoning = 7, .text = 100, .state_changes = 1};
    expect(&v, &c, "");
    assert_int_equal(c.text, 4);
    assert_int_equal(c.reasoning, 0);
}

/* A long text comes in records of a limited length, none of which cuts a character. */
static void long_texts(void **state)
{
    (void)state;
    size_t n = 3 * QN_ANSWER_RECORD_TEXT_MAX / 2;
    char *text = qn_xmalloc(2 * n + 2);
    text[0] = 'a';
    for (size_t i = 0; i < n; i++)
        memcpy(text + 1 + 2 * i, "\xc3\xa9", 2);
    text[2 * n + 1] = '\0';
    struct qn_answer_view v = view_of("", text);
    struct qn_answer_cursor c = {.state_changes = 1};
    struct qn_buf out;
    qn_buf_init(&out, 1 << 20);
    size_t before = 0, count = 0;
    for (; qn_answer_record(&v, &c, &out); count++) {
        assert_true(c.text - before <= QN_ANSWER_RECORD_TEXT_MAX);
        assert_int_equal(c.text % 2, 1); /* behind a whole character */
        before = c.text;
        assert_null(strstr(qn_buf_cstr(&out), "\xef\xbf\xbd"));
        qn_buf_clear(&out);
    }
    assert_int_equal(c.text, 2 * n + 1);
    assert_int_equal(count, 4);
    qn_buf_deinit(&out);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_the_beginning), cmocka_unit_test(calls_of_the_server),
        cmocka_unit_test(stored_messages),    cmocka_unit_test(places),
        cmocka_unit_test(odd_places),         cmocka_unit_test(long_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
