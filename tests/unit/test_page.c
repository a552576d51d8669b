/* The records that quince's own page reads: the exact lines for every kind of event, the two ends,
 * and what the dialect refuses beyond OpenAI's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/dialect_play.h"

#define M "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
#define USAGE                                                                                      \
    {                                                                                              \
        .kind = QN_EV_USAGE, .usage = {                                                            \
            .prompt = 20,                                                                          \
            .cached = 5,                                                                           \
            .output = 7,                                                                           \
            .reasoning = 3,                                                                        \
            .prompt_ms = 10.5,                                                                     \
            .output_ms = 100                                                                       \
        }                                                                                          \
    }
#define STATS                                                                                      \
    "{\"t\":\"stats\",\"prompt\":20,\"cached\":5,\"output\":7,\"reasoning\":3,\"prompt_ms\":10.5," \
    "\"output_ms\":100}\n"
#define END(state, finish) "{\"t\":\"end\",\"state\":\"" state "\",\"finish\":\"" finish "\"}\n"

enum { EVENTS_MAX = 8 };

static const struct golden {
    const char *name;
    struct qn_event events[EVENTS_MAX];
    const char *records;
} goldens[] = {
    {"reasoning and text",
     {{.kind = QN_EV_PROGRESS, .done = 5, .reused = 5, .total = 20},
      THINK("h\"m\n"),
      TEXT("\xc3\xa9"),
      TEXT(""),
      DONE(QN_FINISH_STOP),
      USAGE},
     "{\"t\":\"prompt\",\"done\":5,\"total\":20,\"cached\":5}\n"
     "{\"t\":\"think\",\"s\":\"h\\\"m\\n\"}\n"
     "{\"t\":\"text\",\"s\":\"\xc3\xa9\"}\n" STATS END("done", "stop")},
    {"a limit of tokens",
     {TEXT("a"), DONE(QN_FINISH_LENGTH), USAGE},
     "{\"t\":\"text\",\"s\":\"a\"}\n" STATS END("cut", "length")},
    {"calls",
     {CALL(0, "f", ""),
      CALL(0, NULL, "{\"q\":1}"),
      CALL(0, NULL, ""),
      {.kind = QN_EV_TOOL_CALL, .call = 1, .name = "g", .call_id = "own", .arguments = "{}"},
      DONE(QN_FINISH_TOOLS),
      USAGE},
     "{\"t\":\"call\",\"call\":0,\"id\":\"call_ID00\",\"name\":\"f\",\"arguments\":\"\"}\n"
     "{\"t\":\"call\",\"call\":0,\"arguments\":\"{\\\"q\\\":1}\"}\n"
     "{\"t\":\"call\",\"call\":1,\"id\":\"own\",\"name\":\"g\",\"arguments\":\"{}\"}\n" STATS END(
         "done", "tool_calls")},
};

static void records(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++) {
        struct fixture f;
        size_t n = 0;
        while (n < EVENTS_MAX && goldens[i].events[n].kind)
            n++;
        assert_int_equal(parse(&f, &qn_page_chat, "{\"model\":\"m\"," M "}"), QN_OK);
        assert_true(f.rq.stream);
        char *text = play(&f, &qn_page_chat, goldens[i].events, n);
        if (strcmp(text, goldens[i].records) != 0)
            fail_msg("%s:\n%s\nexpected:\n%s", goldens[i].name, text, goldens[i].records);
        free(text);
        drop(&f);
    }
}

/* An error is the last record, whether or not there were records before. */
static void failures(void **state)
{
    (void)state;
    static const struct qn_event text[] = {TEXT("a")};
    static const struct qn_crash_report report = {.exit_code = 3, .log = "first line\nlast line\n"};
    struct qn_error busy, dead;
    qn_fail(&busy, QN_EBUSY, "the queue is full");
    qn_fail_param(&dead, QN_ECHILD, "model", "the model's process exited with status 3");
    struct qn_problem p[] = {{.error = &busy},
                             {.error = &dead, .crash_report = &report, .loading = true}};
    static const char *const ends[] = {
        "{\"t\":\"end\",\"state\":\"failed\",\"error\":{\"message\":\"the queue is full\",\"code\":"
        "\"overloaded\"}}\n",
        "{\"t\":\"text\",\"s\":\"a\"}\n"
        "{\"t\":\"end\",\"state\":\"failed\",\"error\":{\"message\":\"the model's process exited "
        "with status 3\",\"code\":\"model_load_error\",\"param\":\"model\",\"report\":{"
        "\"exit_code\":3,\"signal\":null,\"signal_name\":null,\"killed_by_server\":false,\"log\":["
        "\"first line\",\"last line\"]}}}\n"};
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        assert_int_equal(parse(&f, &qn_page_chat, "{" M "}"), QN_OK);
        char *got = play_failure(&f, &qn_page_chat, text, i, &p[i]);
        assert_string_equal(got, ends[i]);
        free(got);
        drop(&f);
    }
}

/* A request that could not be parsed has no reply to free. */
static void failure_without_begin(void **state)
{
    (void)state;
    struct qn_error e;
    struct qn_buf out;
    struct qn_request rq = {.profile = qn_profile_main()};
    struct qn_reply r = {.rq = &rq, .out = &out};
    qn_fail_param(&e, QN_EINVAL, "messages", "messages: expected an array");
    qn_buf_init(&out, 4096);
    (qn_page_chat.fail)(&r, &(struct qn_problem){.error = &e});
    qn_page_chat.free(NULL);
    assert_string_equal(
        qn_buf_cstr(&out),
        "{\"t\":\"end\",\"state\":\"failed\",\"error\":{\"message\":\"messages: "
        "expected an array\",\"code\":\"invalid_value\",\"param\":\"messages\"}}\n");
    qn_buf_deinit(&out);
}

static void refusals(void **state)
{
    (void)state;
    complains(&qn_page_chat, "{" M ",\"n\":2}", "n");
    complains(&qn_page_chat, "{" M ",\"temperature\":\"hot\"}", "temperature");
    complains(&qn_page_chat, "{}", "messages");
}

/* A second choice, or a call out of order, is an error of the model's process. */
static void broken_children(void **state)
{
    (void)state;
    static const struct qn_event bad[] = {{.kind = QN_EV_TEXT, .index = 1, .text = "x"},
                                          CALL(1, "g", "")};
    struct fixture f;
    struct qn_buf out;
    qn_buf_init(&out, 4096);
    assert_int_equal(parse(&f, &qn_page_chat, "{" M "}"), QN_OK);
    struct qn_reply r = {.rq = &f.rq, .arena = f.arena, .out = &out, .id = "ID"};
    qn_page_chat.begin(&r);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(qn_page_chat.event(&r, 0, &bad[i], &f.e), QN_ECHILD);
    assert_int_equal(out.len, 0);
    qn_page_chat.free(r.own);
    qn_buf_deinit(&out);
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records),         cmocka_unit_test(failures),
        cmocka_unit_test(refusals),        cmocka_unit_test(failure_without_begin),
        cmocka_unit_test(broken_children),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
