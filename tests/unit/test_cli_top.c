/* cli/top.c: what is read, and that a frame fits any terminal. */
#include "cli/top.h"

#include "base/str.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char status_text[] =
    "{\"version\":\"0.1.0\",\"system\":{\"uptime_seconds\":3723},\"all_models_loaded\":["
    "{\"model_name\":\"user.a\",\"status\":\"ready\",\"memory_bytes\":1200000000,\"progress\":1,"
    "\"requests_running\":2,\"slots\":4,\"requests_waiting\":3,\"unloads_in_seconds\":61,"
    "\"pinned\":false},"
    "{\"model_name\":\"user.b\",\"status\":\"queued\",\"reason\":\"waits for user.a\","
    "\"requests_waiting\":1,\"unloads_in_seconds\":null,\"pinned\":false},"
    "{\"model_name\":\"user.c\",\"status\":\"loading\",\"progress\":0.42,\"pinned\":true}]}";
static const char system_text[] = "{\"cpu_percent\":50,\"memory_gb\":8,\"memory_total_gb\":16,"
                                  "\"gpu_percent\":null,\"vram_gb\":null}";

static struct qn_top_view top;
static struct qn_top_sample sample;

/* At a time when so many tokens had come in all, and of them from user.a. */
static void look(int64_t now_ms, int tokens, int of_a)
{
    struct qn_json *status, *stats, *system;
    char text[1024];
    snprintf(text, sizeof text,
             "{\"completed_count_total\":7,\"failed_count_total\":1,\"cancelled_count_total\":2,"
             "\"prompt_tokens_total\":1500,\"cache_tokens_total\":0,\"output_tokens_total\":90,"
             "\"stream_chunks_total\":%d,\"latency\":{\"time_to_first_token\":{\"p50\":0.21,"
             "\"p99\":1.8},\"inter_token\":{\"p50\":0.028,\"p99\":0.0016}},"
             "\"models\":[{\"model_name\":\"user.a\",\"stream_chunks_total\":%d}]}",
             tokens, of_a);
    assert_int_equal(qn_json_parse(status_text, strlen(status_text), &status, NULL), QN_OK);
    assert_int_equal(qn_json_parse(text, strlen(text), &stats, NULL), QN_OK);
    assert_int_equal(qn_json_parse(system_text, strlen(system_text), &system, NULL), QN_OK);
    struct qn_jref a = qn_json_root(status), b = qn_json_root(stats), c = qn_json_root(system);
    top.url = "http://localhost:13305";
    qn_top_read(&top, &a, &b, &c, &sample, now_ms);
    struct qn_buf out;
    size_t heading;
    /* Strings are lent by the reports, so frames are drawn while they are there. */
    for (size_t width = 1; width < 120; width += 7) {
        for (size_t height = 1; height < 20; height++) {
            qn_buf_init(&out, 100000);
            qn_top_frame(&top, width, height, &out, &heading);
            size_t lines = 0, column = 0;
            for (const char *p = qn_buf_cstr(&out); *p; p++) {
                column += ((unsigned char)*p & 0xC0) != 0x80 && *p != '\n'; /* all are one wide */
                assert_true(column <= width);
                lines += *p == '\n';
                column = *p == '\n' ? 0 : column;
            }
            assert_true(lines <= height);
            qn_buf_deinit(&out);
        }
    }
    qn_buf_init(&out, 100000);
    qn_top_frame(&top, 80, 24, &out, &heading);
    if (now_ms == 3000) {
        assert_int_equal(heading, 6);
        assert_string_equal(
            qn_buf_cstr(&out),
            "quince 0.1.0 at http://localhost:13305                             up 1 h 02 min\n"
            "Processor [|||||||||         ]  50 %  Memory [|||||||||         ] 8.0 of 16.0 GB\n"
            "Requests  2 running, 4 waiting; 7 completed, 1 failed, 2 cancelled\n"
            "Tokens    60.0 a second; 90 out, 1.5K in, 0 of them cached\n"
            "Latency   first token 210 ms (99 %: 1.80 s), between tokens 28 ms (99 %: 1.6 ms)\n"
            "\n"
            "Model   State        Memory  Busy  Queue  Tok./s  Stays\n"
            "user.a  ready        1.2 GB  2/4   3      40.0    1 min 01 s\n"
            "user.b  queued               0     1      -       forever\n"
            "user.c  loading 42%          0     0      -       pinned\n"
            "user.b: waits for user.a\n");
    }
    qn_buf_deinit(&out);
    qn_json_free(status);
    qn_json_free(stats);
    qn_json_free(system);
}

static void test_rates(void **state)
{
    (void)state;
    sample = (struct qn_top_sample){0};
    look(1000, 100, 80);
    assert_true(top.rate < 0 && top.models[0].rate < 0); /* nothing to compare with */
    look(3000, 220, 160);
    assert_true(top.rate > 59.99 && top.rate < 60.01);
    look(4000, 5, 5); /* the server was started anew */
    assert_true(top.rate < 0);
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
