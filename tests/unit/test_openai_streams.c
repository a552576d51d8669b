/* Golden streams of chat/completions and completions: the exact bytes of whole and streamed
 * replies, written by hand after https://platform.openai.com/docs/api-reference/chat (the chat
 * completion object and the chunk object, "tool_calls" deltas) and, for reasoning_content, after
 * the form that DeepSeek's API gave to reasoning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/dialect_play.h"

#include <stdio.h>

#define M "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
#define HEAD(object)                                                                               \
    "{\"id\":\"chatcmpl-ID\",\"object\":\"" object                                                 \
    "\",\"created\":1700000000,\"model\":\"m\",\"system_fingerprint\":\"quince-" QN_VERSION        \
    "\",\"choices\":["
#define CHUNK "data: " HEAD("chat.completion.chunk") "{\"index\":0,\"delta\":{"
#define NEXT "},\"logprobs\":null,\"finish_reason\":null}]}\n\n"
#define LAST(reason)                                                                               \
    CHUNK "},\"logprobs\":null,\"finish_reason\":\"" reason "\"}]}\n\ndata: [DONE]\n\n"
#define ROLE CHUNK "\"role\":\"assistant\",\"content\":\"\"" NEXT
#define NO_CONTENT CHUNK "\"role\":\"assistant\",\"content\":null" NEXT
#define MESSAGE HEAD("chat.completion") "{\"index\":0,\"message\":{\"role\":\"assistant\","
#define ENDED(reason)                                                                              \
    "},\"logprobs\":null,\"finish_reason\":\"" reason                                              \
    "\"}],\"usage\":{\"prompt_tokens\":2,\"completion_tokens\":3,\"total_tokens\":5,"              \
    "\"prompt_tokens_details\":{\"cached_tokens\":1},\"completion_tokens_details\":{"              \
    "\"reasoning_tokens\":0}},\"timings\":{\"cache_n\":1,\"prompt_n\":1,\"prompt_ms\":10,"         \
    "\"prompt_per_second\":100,\"predicted_n\":3,\"predicted_ms\":100,"                            \
    "\"predicted_per_second\":30}}"

#define USAGE                                                                                      \
    {                                                                                              \
        .kind = QN_EV_USAGE, .usage = {                                                            \
            .prompt = 2,                                                                           \
            .cached = 1,                                                                           \
            .output = 3,                                                                           \
            .prompt_ms = 10,                                                                       \
            .output_ms = 100                                                                       \
        }                                                                                          \
    }
enum { EVENTS_MAX = 10 };

static const struct golden {
    const char *name, *members; /* of the request, beside model, messages and stream */
    struct qn_event events[EVENTS_MAX];
    const char *whole, *streamed;
} goldens[] = {
    {"text",
     "",
     {TEXT("a \"b\""), TEXT("\n\xc3\xa9"), DONE(QN_FINISH_STOP), USAGE},
     MESSAGE "\"content\":\"a \\\"b\\\"\\n\xc3\xa9\",\"refusal\":null" ENDED("stop"),
     ROLE CHUNK "\"content\":\"a \\\"b\\\"\"" NEXT CHUNK
                "\"content\":\"\\n\xc3\xa9\"" NEXT LAST("stop")},
    {"nothing",
     "",
     {DONE(QN_FINISH_STOP), USAGE},
     MESSAGE "\"content\":\"\",\"refusal\":null" ENDED("stop"),
     ROLE LAST("stop")},
    {"reasoning",
     "",
     {THINK("hm"), THINK("."), TEXT("a"), DONE(QN_FINISH_STOP), USAGE},
     MESSAGE "\"content\":\"a\",\"reasoning_content\":\"hm.\",\"refusal\":null" ENDED("stop"),
     ROLE CHUNK "\"reasoning_content\":\"hm\"" NEXT CHUNK "\"reasoning_content\":\".\"" NEXT CHUNK
                "\"content\":\"a\"" NEXT LAST("stop")},
    {"reasoning that is not wanted",
     ",\"include_reasoning\":false",
     {THINK("hm"), TEXT("a"), DONE(QN_FINISH_STOP), USAGE},
     MESSAGE "\"content\":\"a\",\"refusal\":null" ENDED("stop"),
     ROLE CHUNK "\"content\":\"a\"" NEXT LAST("stop")},
    {"one tool",
     "",
     {CALL(0, "f", ""), CALL(0, NULL, "{\"q\":"), CALL(0, NULL, ""), CALL(0, NULL, "1}"),
      DONE(QN_FINISH_TOOLS), USAGE},
     MESSAGE "\"content\":null,\"refusal\":null,\"tool_calls\":[{\"id\":\"call_ID00\",\"type\":"
             "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"q\\\":1}\"}}]" ENDED(
                 "tool_calls"),
     NO_CONTENT CHUNK
     "\"tool_calls\":[{\"index\":0,\"id\":\"call_ID00\",\"type\":\"function\",\"function\":{"
     "\"name\":\"f\",\"arguments\":\"\"}}]" NEXT CHUNK
     "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"q\\\":\"}}]" NEXT CHUNK
     "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"1}\"}}]" NEXT LAST("tool_calls")},
    {"text and two tools, one with its own id",
     "",
     {TEXT("so"),
      CALL(0, "f", "{}"),
      {.kind = QN_EV_TOOL_CALL, .call = 1, .name = "g", .call_id = "x9", .arguments = "{}"},
      DONE(QN_FINISH_TOOLS),
      USAGE},
     MESSAGE "\"content\":\"so\",\"refusal\":null,\"tool_calls\":[{\"id\":\"call_ID00\",\"type\":"
             "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},{\"id\":\"x9\","
             "\"type\":\"function\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]" ENDED(
                 "tool_calls"),
     ROLE CHUNK "\"content\":\"so\"" NEXT CHUNK
                "\"tool_calls\":[{\"index\":0,\"id\":\"call_ID00\",\"type\":\"function\","
                "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]" NEXT CHUNK
                "\"tool_calls\":[{\"index\":1,\"id\":\"x9\",\"type\":\"function\",\"function\":{"
                "\"name\":\"g\",\"arguments\":\"{}\"}}]" NEXT LAST("tool_calls")},
    {"a deprecated function",
     ",\"functions\":[{\"name\":\"f\"}]",
     {CALL(0, "f", ""), CALL(0, NULL, "{}"), DONE(QN_FINISH_TOOLS), USAGE},
     MESSAGE "\"content\":null,\"refusal\":null,\"function_call\":{\"name\":\"f\",\"arguments\":"
             "\"{}\"}" ENDED("function_call"),
     NO_CONTENT CHUNK "\"function_call\":{\"name\":\"f\",\"arguments\":\"\"}" NEXT CHUNK
                      "\"function_call\":{\"arguments\":\"{}\"}" NEXT LAST("function_call")},
    {"length",
     "",
     {TEXT("a"), DONE(QN_FINISH_LENGTH), USAGE},
     MESSAGE "\"content\":\"a\",\"refusal\":null" ENDED("length"),
     ROLE CHUNK "\"content\":\"a\"" NEXT LAST("length")},
};

static size_t count(const struct qn_event *events)
{
    size_t n = 0;
    while (n < EVENTS_MAX && events[n].kind != QN_EV_NONE)
        n++;
    return n;
}

static void streams(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++)
        for (int stream = 0; stream < 2; stream++) {
            const struct golden *g = &goldens[i];
            struct fixture f;
            char body[512];
            snprintf(body, sizeof body, "{\"model\":\"m\",\"stream\":%s%s," M "}",
                     stream ? "true" : "false", g->members);
            assert_int_equal(parse(&f, &qn_openai_chat, body), QN_OK);
            char *text = play(&f, &qn_openai_chat, g->events, count(g->events));
            if (strcmp(text, stream ? g->streamed : g->whole) != 0)
                fail_msg("%s: %s\n  expected\n%s", g->name, text, stream ? g->streamed : g->whole);
            free(text);
            drop(&f);
        }
}

/* An error is a body of its own before the first byte, the stream's last event after it. */
static void errors(void **state)
{
    (void)state;
    static const struct qn_event events[] = {TEXT("a")};
    static const char body[] = "{\"error\":{\"message\":\"it fell\",\"type\":\"server_error\","
                               "\"param\":null,\"code\":\"model_process_failed\"}}";
    struct fixture f;
    struct qn_error e = {0};
    qn_fail(&e, QN_ECHILD, "it fell");
    struct qn_problem p = {.error = &e, .model = "m"};
    char expected[2048];
    assert_int_equal(parse(&f, &qn_openai_chat, "{\"model\":\"m\",\"stream\":true," M "}"), QN_OK);
    char *text = play_failure(&f, &qn_openai_chat, events, 0, &p);
    assert_string_equal(text, body);
    free(text);
    text = play_failure(&f, &qn_openai_chat, events, 1, &p);
    snprintf(expected, sizeof expected, ROLE CHUNK "\"content\":\"a\"" NEXT "data: %s\n\n", body);
    assert_string_equal(text, expected);
    free(text);
    f.rq.profile = qn_profile_find("localllm"); /* its clients wait for the mark even then */
    text = play_failure(&f, &qn_openai_chat, events, 1, &p);
    strcat(expected, "data: [DONE]\n\n");
    assert_string_equal(text, expected);
    free(text);
    drop(&f);
}

/* API.md, C15: in Kolosal's profile the chunk that ends the last choice has the usage, and a
 * completion's finish_reason is "" until then. */
static void kolosal(void **state)
{
    (void)state;
    static const struct qn_event events[] = {TEXT("a"), DONE(QN_FINISH_STOP), USAGE};
    struct fixture f;
    assert_int_equal(
        parse_as(&f, &qn_openai_chat, "kolosal", "{\"model\":\"m\",\"stream\":true," M "}"), QN_OK);
    char *text = play(&f, &qn_openai_chat, events, 3);
    assert_string_equal(text, ROLE CHUNK "\"content\":\"a\"" NEXT CHUNK ENDED("stop") "\n\n"
                                                                                      "data: "
                                                                                      "[DONE]\n\n");
    free(text);
    drop(&f);
    assert_int_equal(parse_as(&f, &qn_openai_complete, "kolosal",
                              "{\"model\":\"m\",\"stream\":true,\"prompt\":\"x\"}"),
                     QN_OK);
    text = play(&f, &qn_openai_complete, events, 3);
    assert_non_null(
        strstr(text, "{\"text\":\"a\",\"index\":0,\"logprobs\":null,\"finish_reason\":\"\"}]}"));
    assert_non_null(strstr(text, "{\"text\":\"\",\"index\":0,\"logprobs\":null,\"finish_reason\":"
                                 "\"stop\"}],\"usage\":{\"prompt_tokens\":2,"));
    free(text);
    drop(&f);
}

/* best_of: of three choices with -3, -0.5 and -1 a token, the two likeliest are told. */
static void best_of(void **state)
{
    (void)state;
    static const char *const logprobs[] = {
        "[{\"id\":1,\"token\":\"a\",\"bytes\":[97],\"logprob\":-3,\"top\":[]}]",
        "[{\"id\":1,\"token\":\"b\",\"bytes\":[98],\"logprob\":-0.5,\"top\":[]}]",
        "[{\"id\":1,\"token\":\"c\",\"bytes\":[99],\"logprob\":-1,\"top\":[]}]",
    };
    struct qn_event events[6];
    for (int i = 0; i < 3; i++) {
        static const char *const texts[] = {"a", "b", "c"};
        events[2 * i] = (struct qn_event){
            .kind = QN_EV_TEXT, .index = i, .text = texts[i], .logprobs = logprobs[i]};
        events[2 * i + 1] =
            (struct qn_event){.kind = QN_EV_DONE, .index = i, .finish = QN_FINISH_STOP};
    }
    struct fixture f;
    assert_int_equal(
        parse(&f, &qn_openai_complete, "{\"model\":\"m\",\"prompt\":\"x\",\"n\":2,\"best_of\":3}"),
        QN_OK);
    assert_int_equal(f.rq.jobs[0].sampling.n, 3);
    assert_int_equal(f.rq.jobs[0].sampling.logprobs, 0);
    char *text = play(&f, &qn_openai_complete, events, 6);
    assert_non_null(strstr(text, "\"choices\":[{\"text\":\"b\",\"index\":0,\"logprobs\":null,"
                                 "\"finish_reason\":\"stop\"},{\"text\":\"c\",\"index\":1,"
                                 "\"logprobs\":null,\"finish_reason\":\"stop\"}]"));
    free(text);
    drop(&f);
}

/* A child that begins with a later piece, skips a call or goes back is broken. */
static void mixed_up_calls(void **state)
{
    (void)state;
    static const struct qn_event begun = CALL(0, "f", "{}");
    static const struct qn_event bad[] = {CALL(2, "g", ""), CALL(0, "g", ""), CALL(1, NULL, "x")};
    struct fixture f;
    struct qn_buf out;
    qn_buf_init(&out, 1 << 20);
    assert_int_equal(parse(&f, &qn_openai_chat, "{" M "}"), QN_OK);
    struct qn_reply r = {.rq = &f.rq, .arena = f.arena, .out = &out, .id = "ID"};
    qn_openai_chat.begin(&r);
    assert_int_equal(qn_openai_chat.event(&r, 0, &bad[2], &f.e), QN_ECHILD);
    assert_int_equal(qn_openai_chat.event(&r, 0, &begun, &f.e), QN_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(qn_openai_chat.event(&r, 0, &bad[i], &f.e), QN_ECHILD);
    qn_openai_chat.free(r.own);
    qn_buf_deinit(&out);
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams), cmocka_unit_test(errors),         cmocka_unit_test(kolosal),
        cmocka_unit_test(best_of), cmocka_unit_test(mixed_up_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
