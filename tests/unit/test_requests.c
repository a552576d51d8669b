/* router/telemetry/requests.c: which requests are kept, whose they are, and what is captured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/str.h"
#include "telemetry/requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MINUTE_MS = 60000 };

static struct qn_requests *list;

static int setup(void **state)
{
    (void)state;
    list = qn_requests_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    qn_requests_free(list);
    return 0;
}

static void add(const char *id, const char *owner, struct qn_capture *c)
{
    struct qn_request_facts f = {.id = id,
                                 .owner = owner,
                                 .client = "curl",
                                 .path = "/v1/chat/completions",
                                 .task = "chat",
                                 .model = "m",
                                 .error = ""};
    qn_requests_add(list, &f, c);
}

/* The captured texts of request seq, "" for none. */
static struct qn_captured body, reply;
static const struct qn_request_facts *at(int64_t seq, int64_t now_ms)
{
    return qn_requests_at(list, seq, NULL, &body, &reply, now_ms);
}

static void assert_text(const struct qn_captured *c, const char *expected, int64_t bytes)
{
    assert_non_null(c->text);
    assert_int_equal(c->n, strlen(expected));
    assert_memory_equal(c->text, expected, c->n);
    assert_int_equal(c->bytes, bytes);
}

static void the_newest_are_kept(void **state)
{
    (void)state;
    char id[16];
    assert_null(at(1, 0));
    for (int i = 1; i <= QN_REQUESTS_KEPT + 5; i++) {
        snprintf(id, sizeof id, "id%d", i);
        add(id, "user:1", NULL);
        id[0] = 'x'; /* was copied */
    }
    assert_int_equal(qn_requests_last(list), QN_REQUESTS_KEPT + 5);
    assert_null(at(5, 0));
    assert_string_equal(at(6, 0)->id, "id6");
    assert_int_equal(at(6, 0)->seq, 6);
    assert_string_equal(at(6, 0)->path, "/v1/chat/completions");
    assert_null(at(QN_REQUESTS_KEPT + 6, 0));
    assert_int_equal(qn_requests_find(list, "id7"), 7);
    assert_int_equal(qn_requests_find(list, "id5"), 0);
}

static void an_owner_sees_its_own(void **state)
{
    (void)state;
    add("a", "key:1", NULL);
    add("b", "key:2", NULL);
    assert_non_null(qn_requests_at(list, 1, "key:1", NULL, NULL, 0));
    assert_null(qn_requests_at(list, 2, "key:1", NULL, NULL, 0));
    assert_non_null(qn_requests_at(list, 2, NULL, NULL, NULL, 0));
}

static void nothing_is_captured_unless_it_is_on(void **state)
{
    (void)state;
    assert_null(qn_requests_capture(list, "{}", 2, 0));
    add("a", "o", NULL);
    assert_non_null(at(1, 0));
    assert_null(body.text);
    assert_null(reply.text);
    assert_false(qn_requests_capture_state(list, 0).on);
}

static void body_and_reply(void **state)
{
    (void)state;
    qn_requests_capture_on(list, QN_REQUESTS_BYTES_MIN, 5, 1000);
    struct qn_capture_state s = qn_requests_capture_state(list, 1000);
    assert_true(s.on);
    assert_int_equal(s.left_ms, 5 * MINUTE_MS);
    struct qn_capture *c = qn_requests_capture(list, "{\"a\":1}", 7, 1000);
    qn_requests_capture_reply(list, c, "one ", 4);
    qn_requests_capture_reply(list, c, "two", 3);
    add("a", "o", c);
    c = qn_requests_capture(list, NULL, 99, 1000); /* a form */
    qn_requests_capture_reply(list, c, "sound", 5);
    add("b", "o", c);
    assert_non_null(at(1, 1000));
    assert_text(&body, "{\"a\":1}", 7);
    assert_text(&reply, "one two", 7);
    assert_non_null(at(2, 1000));
    assert_null(body.text);
    assert_int_equal(body.bytes, 99);
    assert_text(&reply, "sound", 5);
    assert_int_equal(qn_requests_capture_state(list, 1000).used, 7 + 7 + 5);
}

static void time_ends_capturing_and_then_the_texts(void **state)
{
    (void)state;
    qn_requests_capture_on(list, QN_REQUESTS_BYTES_MIN, 5, 0);
    add("a", "o", qn_requests_capture(list, "x", 1, 0));
    assert_null(qn_requests_capture(list, "y", 1, 5 * MINUTE_MS));
    assert_non_null(at(1, 5 * MINUTE_MS));
    assert_text(&body, "x", 1);
    int64_t end = (5 + QN_REQUESTS_STAY_MINUTES) * INT64_C(60000);
    assert_int_equal(qn_requests_capture_state(list, end - 1).stays_ms, 1);
    assert_non_null(at(1, end - 1));
    assert_non_null(body.text);
    assert_non_null(at(1, end));
    assert_null(body.text);
    assert_int_equal(qn_requests_capture_state(list, end).used, 0);
}

static void off_drops_all_and_what_is_running(void **state)
{
    (void)state;
    qn_requests_capture_on(list, QN_REQUESTS_BYTES_MIN, 5, 0);
    add("a", "o", qn_requests_capture(list, "x", 1, 0));
    struct qn_capture *running = qn_requests_capture(list, "y", 1, 0);
    qn_requests_capture_off(list);
    qn_requests_capture_on(list, QN_REQUESTS_BYTES_MIN, 5, 0);
    qn_requests_capture_reply(list, running, "z", 1);
    add("b", "o", running);
    for (int64_t seq = 1; seq <= 2; seq++) {
        assert_non_null(at(seq, 0));
        assert_null(body.text);
        assert_null(reply.text);
    }
    assert_int_equal(qn_requests_capture_state(list, 0).used, 0);
}

static void limits(void **state)
{
    (void)state;
    const size_t big = QN_REQUESTS_TEXT_MAX;
    char *text = malloc(big + 1000), id[16];
    memset(text, 'a', big + 1000);
    qn_requests_capture_on(list, 2 * (int64_t)big + 500, 5, 0);
    for (int i = 1; i <= 3; i++) {
        snprintf(id, sizeof id, "%d", i);
        struct qn_capture *c = qn_requests_capture(list, text, big + 1000, 0);
        add(id, "o", c);
    }
    assert_non_null(at(1, 0)); /* dropped for the others */
    assert_null(body.text);
    assert_non_null(at(3, 0));
    assert_int_equal(body.n, big); /* one text's limit */
    assert_int_equal(body.bytes, big + 1000);
    assert_true(qn_requests_capture_state(list, 0).used <= 2 * (int64_t)big + 500);
    /* Requests that are running may fill the limit, too: what follows is left out, not kept as if
     * it stood directly after what is there. */
    struct qn_capture *a = qn_requests_capture(list, text, big, 0),
                      *b = qn_requests_capture(list, text, big, 0);
    qn_requests_capture_reply(list, b, text, 600);
    qn_requests_capture_off(list);
    add("a", "o", a);
    add("b", "o", b);
    qn_requests_capture_on(list, QN_REQUESTS_BYTES_MIN, 5, 0);
    a = qn_requests_capture(list, text, big, 0); /* fills it */
    qn_requests_capture_reply(list, a, "lost", 4);
    add("c", "o", a);
    int64_t last = qn_requests_last(list);
    assert_non_null(at(last, 0));
    assert_int_equal(reply.n, 0);
    assert_int_equal(reply.bytes, 4);
    free(text);
}

static void a_smaller_limit_drops_texts(void **state)
{
    (void)state;
    char *text = calloc(1, QN_REQUESTS_TEXT_MAX);
    qn_requests_capture_on(list, QN_REQUESTS_BYTES_DEFAULT, 5, 0);
    for (int i = 0; i < 4; i++)
        add("a", "o", qn_requests_capture(list, text, QN_REQUESTS_TEXT_MAX, 0));
    qn_requests_capture_on(list, QN_REQUESTS_BYTES_MIN, 5, 0);
    assert_int_equal(qn_requests_capture_state(list, 0).used, QN_REQUESTS_BYTES_MIN);
    assert_non_null(at(4, 0));
    assert_non_null(body.text);
    free(text);
}

static void texts_leave_with_their_request(void **state)
{
    (void)state;
    qn_requests_capture_on(list, QN_REQUESTS_BYTES_MIN, 5, 0);
    add("first", "o", qn_requests_capture(list, "x", 1, 0));
    for (int i = 0; i < QN_REQUESTS_KEPT; i++)
        add("next", "o", NULL);
    assert_int_equal(qn_requests_capture_state(list, 0).used, 0);
}

static void secrets(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{\"api_key\":\"abc\",\"model\":\"m\"}", "{\"api_key\":\"***\",\"model\":\"m\"}"},
        {"{\"API_KEY\" : \"abc\"}", "{\"API_KEY\" : \"***\"}"},
        {"{\"api_key\"\x1e:\"abc\"}", "{\"api_key\"\x1e:\"***\"}"}, /* valid to the parser */
        {"{\"headers\":{\"X-Mine\":\"abc\",\"n\":[\"d\"]},\"t\":\"e\"}",
         "{\"headers\":{\"X-Mine\":\"***\",\"n\":[\"*\"]},\"t\":\"e\"}"},
        {"{\"password\":7,\"text\":\"x\"}", "{\"password\":7,\"text\":\"x\"}"},
        {"{\"password\":null,\"text\":\"x\"}", "{\"password\":null,\"text\":\"x\"}"},
        {"{\"text\":\"the \\\"api_key\\\": \\\"abc\\\"\"}",
         "{\"text\":\"the \\\"api_key\\\": \\\"abc\\\"\"}"},
        {"{\"secret\":\"a\\\"b\",\"c\":1}", "{\"secret\":\"****\",\"c\":1}"},
        {"{\"authorization\":\"Bearer ab", "{\"authorization\":\"*********"}, /* cut */
        {"{\"authorization\":\"", "{\"authorization\":\""},
        {"{\"authorization", "{\"authorization"},
        {"{\"api_ke\\u0079\":\"abc\"}", "{\"api_ke\\u0079\":\"***\"}"},
        {"[\"api_key\",\"abc\"]", "[\"api_key\",\"abc\"]"},
        {"{\"cookie\":[\"a\",{\"b\":\"c\"}],\"d\":\"e\"}",
         "{\"cookie\":[\"*\",{\"b\":\"*\"}],\"d\":\"e\"}"},
        {"", ""},
        {"]}}\"\\", "]}}\"\\"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = qn_xstrdup(cases[i][0]);
        qn_requests_hide_secrets(text, strlen(text));
        assert_string_equal(text, cases[i][1]);
        free(text);
    }
    qn_requests_capture_on(list, QN_REQUESTS_BYTES_MIN, 5, 0);
    add("a", "o", qn_requests_capture(list, cases[0][0], strlen(cases[0][0]), 0));
    assert_non_null(at(1, 0));
    assert_text(&body, cases[0][1], (int64_t)strlen(cases[0][1]));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_newest_are_kept),
        TEST(an_owner_sees_its_own),
        TEST(nothing_is_captured_unless_it_is_on),
        TEST(body_and_reply),
        TEST(time_ends_capturing_and_then_the_texts),
        TEST(off_drops_all_and_what_is_running),
        TEST(limits),
        TEST(a_smaller_limit_drops_texts),
        TEST(texts_leave_with_their_request),
        TEST(secrets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
