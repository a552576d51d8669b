/* router/dialects/anthropic/anthropic.c: the bytes of replies, written by hand after
 * https://platform.claude.com/docs/en/build-with-claude/streaming and .../api/errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answers/answer.h"
#include "dialects/anthropic/anthropic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENT(name, rest) "event: " name "\ndata: {\"type\":\"" name "\"" rest "}\n\n"
#define START(expected) STARTED(expected, "0")
#define STARTED(fresh, cached)                                                                     \
    EVENT("message_start",                                                                         \
          ",\"message\":{\"id\":\"msg_ID\",\"type\":\"message\",\"role\":"                         \
          "\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,"                     \
          "\"stop_sequence\":null,\"stop_details\":null,\"container\":null,"                       \
          "\"usage\":{\"input_tokens\":" fresh                                                     \
          ",\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":" cached                 \
          ",\"output_tokens\":0,\"service_tier\":\"standard\"}}")
#define PING EVENT("ping", "")
#define OPEN(index, block)                                                                         \
    EVENT("content_block_start", ",\"index\":" index ",\"content_block\":" block)
#define DELTA(index, delta) EVENT("content_block_delta", ",\"index\":" index ",\"delta\":" delta)
#define CLOSE(index) EVENT("content_block_stop", ",\"index\":" index)
#define TEXT_BLOCK "{\"type\":\"text\",\"text\":\"\"}"
#define THINKING_BLOCK "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}"
#define TOOL_BLOCK(id, name)                                                                       \
    "{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"" name "\",\"input\":{}}"
#define TEXT_DELTA(text) "{\"type\":\"text_delta\",\"text\":\"" text "\"}"
#define THINKING_DELTA(text) "{\"type\":\"thinking_delta\",\"thinking\":\"" text "\"}"
#define SIGNATURE_DELTA "{\"type\":\"signature_delta\",\"signature\":\"ID\"}"
#define JSON_DELTA(text) "{\"type\":\"input_json_delta\",\"partial_json\":\"" text "\"}"
#define END(reason, sequence)                                                                      \
    EVENT("message_delta",                                                                         \
          ",\"delta\":{\"stop_reason\":\"" reason "\",\"stop_sequence\":" sequence                 \
          ",\"stop_details\":null,\"container\":null},\"usage\":{"                                 \
          "\"input_tokens\":4,\"cache_creation_input_tokens\":0,"                                  \
          "\"cache_read_input_tokens\":8,\"output_tokens\":5,"                                     \
          "\"output_tokens_details\":{\"thinking_tokens\":3}}")                                    \
    EVENT("message_stop", "")

#define SAYS(t)                                                                                    \
    {                                                                                              \
        .kind = QN_EV_TEXT, .text = t                                                              \
    }
#define THINKS(t)                                                                                  \
    {                                                                                              \
        .kind = QN_EV_REASONING, .text = t                                                         \
    }
#define CALLS(c, n, a)                                                                             \
    {                                                                                              \
        .kind = QN_EV_TOOL_CALL, .call = c, .name = n, .arguments = a                              \
    }
#define DONE(why)                                                                                  \
    {                                                                                              \
        .kind = QN_EV_DONE, .finish = QN_FINISH_##why                                              \
    }
#define USED                                                                                       \
    {                                                                                              \
        .kind = QN_EV_USAGE, .usage = {.prompt = 12, .cached = 8, .output = 5, .reasoning = 3 }    \
    }

enum { EVENTS_MAX = 10 };

static const struct {
    const char *what;
    struct qn_event events[EVENTS_MAX]; /* up to QN_EV_NONE */
    const char *stream;
    const char *content, *reason, *sequence; /* of the whole reply */
} cases[] = {
    {"text",
     {{.kind = QN_EV_PROGRESS, .done = 8, .total = 12, .reused = 8},
      {.kind = QN_EV_PROGRESS, .done = 10, .total = 12, .reused = 8},
      SAYS("Hel"),
      SAYS("lo\n\"x\""),
      DONE(STOP),
      USED},
     STARTED("4", "8") OPEN("0", TEXT_BLOCK) PING DELTA("0", TEXT_DELTA("Hel"))
         DELTA("0", TEXT_DELTA("lo\\n\\\"x\\\"")) CLOSE("0") END("end_turn", "null"),
     "{\"type\":\"text\",\"text\":\"Hello\\n\\\"x\\\"\"}",
     "end_turn",
     "null"},
    {"reasoning",
     {THINKS("Hm"), THINKS("."), SAYS("42"), DONE(STOP), USED},
     START("0") OPEN("0", THINKING_BLOCK) PING DELTA("0", THINKING_DELTA("Hm"))
         DELTA("0", THINKING_DELTA(".")) DELTA("0", SIGNATURE_DELTA) CLOSE("0")
             OPEN("1", TEXT_BLOCK) DELTA("1", TEXT_DELTA("42")) CLOSE("1") END("end_turn", "null"),
     "{\"type\":\"thinking\",\"thinking\":\"Hm.\",\"signature\":\"ID\"},"
     "{\"type\":\"text\",\"text\":\"42\"}",
     "end_turn",
     "null"},
    {"one tool",
     {SAYS("Let me see"), CALLS(0, "f", ""), CALLS(0, NULL, "{\"a\""), CALLS(0, NULL, ":1}"),
      DONE(TOOLS), USED},
     START("0") OPEN("0", TEXT_BLOCK) PING DELTA("0", TEXT_DELTA("Let me see")) CLOSE("0")
         OPEN("1", TOOL_BLOCK("toolu_ID00", "f")) DELTA("1", JSON_DELTA("{\\\"a\\\""))
             DELTA("1", JSON_DELTA(":1}")) CLOSE("1") END("tool_use", "null"),
     "{\"type\":\"text\",\"text\":\"Let me see\"},"
     "{\"type\":\"tool_use\",\"id\":\"toolu_ID00\",\"name\":\"f\",\"input\":{\"a\":1}}",
     "tool_use",
     "null"},
    {"two tools",
     {CALLS(0, "f", "{}"),
      {.kind = QN_EV_TOOL_CALL, .call = 1, .call_id = "abc123xyz", .name = "g", .arguments = "{"},
      CALLS(1, NULL, "\"n\":12345678901234567890}"),
      DONE(TOOLS),
      USED},
     START("0") OPEN("0", TOOL_BLOCK("toolu_ID00", "f")) PING DELTA("0", JSON_DELTA("{}"))
         CLOSE("0") OPEN("1", TOOL_BLOCK("abc123xyz", "g")) DELTA("1", JSON_DELTA("{")) DELTA(
             "1", JSON_DELTA("\\\"n\\\":12345678901234567890}")) CLOSE("1") END("tool_use", "null"),
     "{\"type\":\"tool_use\",\"id\":\"toolu_ID00\",\"name\":\"f\",\"input\":{}},"
     "{\"type\":\"tool_use\",\"id\":\"abc123xyz\",\"name\":\"g\",\"input\":{\"n\":"
     "12345678901234567890}}",
     "tool_use",
     "null"},
    {"stop",
     {SAYS("a"), {.kind = QN_EV_DONE, .finish = QN_FINISH_STOP, .stop = "\n\n"}, USED},
     START("0") OPEN("0", TEXT_BLOCK) PING DELTA("0", TEXT_DELTA("a")) CLOSE("0")
         END("stop_sequence", "\"\\n\\n\""),
     "{\"type\":\"text\",\"text\":\"a\"}",
     "stop_sequence",
     "\"\\n\\n\""},
    {"length",
     {SAYS("a"), DONE(LENGTH), USED},
     START("0") OPEN("0", TEXT_BLOCK) PING DELTA("0", TEXT_DELTA("a")) CLOSE("0")
         END("max_tokens", "null"),
     "{\"type\":\"text\",\"text\":\"a\"}",
     "max_tokens",
     "null"},
    {"nothing at all",
     {DONE(STOP), USED},
     STARTED("4", "8") END("end_turn", "null"),
     "",
     "end_turn",
     "null"},
    {"a call cut short",
     {CALLS(0, "f", "{\"a\""), DONE(LENGTH), USED},
     START("0") OPEN("0", TOOL_BLOCK("toolu_ID00", "f")) PING DELTA("0", JSON_DELTA("{\\\"a\\\""))
         CLOSE("0") END("max_tokens", "null"),
     "{\"type\":\"tool_use\",\"id\":\"toolu_ID00\",\"name\":\"f\",\"input\":{}}",
     "max_tokens",
     "null"},
};

/* Plays events to a dialect and gives what it wrote; the caller frees. */
static char *play(const struct qn_request *rq, const struct qn_dialect *d,
                  const struct qn_event *events)
{
    struct qn_buf out;
    struct qn_error e;
    qn_buf_init(&out, 1 << 20);
    struct qn_reply r = {.rq = rq, .out = &out, .id = "ID", .created_s = 1700000000};
    d->begin(&r);
    for (size_t i = 0; i < EVENTS_MAX && events[i].kind != QN_EV_NONE; i++)
        assert_int_equal(d->event(&r, 0, &events[i], &e), QN_OK);
    d->end(&r);
    d->free(r.own);
    return qn_buf_take(&out);
}

static void streams(void **state)
{
    (void)state;
    struct qn_anthropic_ask ask = {.max_tokens = 5};
    struct qn_request rq = {.model = "m", .stream = true, .own = &ask};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = play(&rq, &qn_anthropic, cases[i].events);
        if (strcmp(text, cases[i].stream) != 0)
            fail_msg("%s:\n%s\ninstead of\n%s", cases[i].what, text, cases[i].stream);
        free(text);
    }
}

static void whole_replies(void **state)
{
    (void)state;
    struct qn_anthropic_ask ask = {.max_tokens = 5};
    struct qn_request rq = {.model = "m", .own = &ask};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = play(&rq, &qn_anthropic, cases[i].events), expected[2048];
        snprintf(expected, sizeof expected,
                 "{\"id\":\"msg_ID\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\","
                 "\"content\":[%s],\"stop_reason\":\"%s\",\"stop_sequence\":%s,\"stop_details\":"
                 "null,\"container\":null,\"usage\":{\"input_tokens\":4,"
                 "\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":8,"
                 "\"output_tokens\":5,\"output_tokens_details\":{\"thinking_tokens\":3},"
                 "\"service_tier\":\"standard\"}}",
                 cases[i].content, cases[i].reason, cases[i].sequence);
        if (strcmp(text, expected) != 0)
            fail_msg("%s:\n%s\ninstead of\n%s", cases[i].what, text, expected);
        free(text);
    }
}

static void the_context_may_end_first(void **state)
{
    (void)state;
    struct qn_anthropic_ask ask = {.max_tokens = 6};
    struct qn_request rq = {.model = "m", .own = &ask};
    static const struct qn_event events[] = {SAYS("a"), DONE(LENGTH), USED, {0}};
    char *text = play(&rq, &qn_anthropic, events);
    assert_non_null(strstr(text, "\"stop_reason\":\"model_context_window_exceeded\""));
    free(text);
}

static void thinking_may_be_left_out(void **state)
{
    (void)state;
    struct qn_anthropic_ask ask = {.max_tokens = 5, .hide_thinking = true};
    struct qn_request rq = {.model = "m", .stream = true, .own = &ask};
    static const struct qn_event events[] = {THINKS("Hm"), SAYS("a"), DONE(STOP), USED, {0}};
    char *text = play(&rq, &qn_anthropic, events);
    assert_string_equal(text, START("0") OPEN("0", THINKING_BLOCK) PING DELTA("0", SIGNATURE_DELTA)
                                  CLOSE("0") OPEN("1", TEXT_BLOCK) DELTA("1", TEXT_DELTA("a"))
                                      CLOSE("1") END("end_turn", "null"));
    free(text);
}

static void warnings_are_in_the_message(void **state)
{
    (void)state;
    struct qn_anthropic_ask ask = {.max_tokens = 5, .warnings = "Ignored: x"};
    struct qn_request rq = {.model = "m", .own = &ask};
    static const struct qn_event events[] = {SAYS("a"), DONE(STOP), USED, {0}};
    char *text = play(&rq, &qn_anthropic, events);
    assert_non_null(strstr(text, ",\"warnings\":[\"Ignored: x\"]}"));
    free(text);
}

static void counts(void **state)
{
    (void)state;
    struct qn_anthropic_ask ask = {.max_tokens = QN_UNSET};
    struct qn_request rq = {.model = "m", .own = &ask};
    static const struct qn_event events[] = {DONE(STOP), USED, {0}};
    char *text = play(&rq, &qn_anthropic_count, events);
    assert_string_equal(text, "{\"input_tokens\":12}");
    free(text);
}

static void failures(void **state)
{
    (void)state;
    struct qn_buf out;
    struct qn_error e = {0};
    struct qn_request rq = {0};
    struct qn_reply r = {.rq = &rq, .out = &out, .id = "ID"};
    qn_buf_init(&out, 1 << 20);
    qn_fail_param(&e, QN_ENOTFOUND, "model", "model 'x' is not known");
    struct qn_problem p = {.error = &e, .model = "x", .id = "0123456789abcdef01234567"};
    (qn_anthropic.fail)(&r, &p);
    assert_int_equal(qn_problem_status(&p), 404);
    assert_string_equal(qn_buf_cstr(&out),
                        "{\"type\":\"error\",\"error\":{\"type\":\"not_found_error\",\"message\":"
                        "\"model 'x' is not known\"},\"request_id\":"
                        "\"req_0123456789abcdef01234567\"}");
    qn_buf_clear(&out);
    r.started = true;
    e = (struct qn_error){0};
    qn_fail(&e, QN_ECHILD, "it broke");
    (qn_anthropic.fail)(&r, &p);
    assert_string_equal(qn_buf_cstr(&out),
                        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\","
                        "\"message\":\"it broke\"},\"request_id\":\"req_0123456789abcdef01234567\""
                        "}\n\n");
    qn_buf_deinit(&out);
}

/* What a broken child may send must not become a client's answer. */
static void nonsense_from_a_child(void **state)
{
    (void)state;
    static const struct qn_event events[] = {
        {.kind = QN_EV_TEXT, .index = 1, .text = "x"},
        {.kind = QN_EV_TOOL_CALL, .call = 0, .arguments = "{}"},
    };
    struct qn_anthropic_ask ask = {.max_tokens = 5};
    struct qn_request rq = {.model = "m", .own = &ask};
    struct qn_buf out;
    struct qn_error e;
    qn_buf_init(&out, 1 << 20);
    struct qn_reply r = {.rq = &rq, .out = &out, .id = "ID"};
    qn_anthropic.begin(&r);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(qn_anthropic.event(&r, 0, &events[i], &e), QN_ECHILD);
    qn_anthropic.free(r.own);
    qn_buf_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams),
        cmocka_unit_test(whole_replies),
        cmocka_unit_test(the_context_may_end_first),
        cmocka_unit_test(thinking_may_be_left_out),
        cmocka_unit_test(warnings_are_in_the_message),
        cmocka_unit_test(counts),
        cmocka_unit_test(failures),
        cmocka_unit_test(nonsense_from_a_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
