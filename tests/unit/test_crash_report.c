/* router/answers/crash_report.c: the lines that are kept, how much of each, and the text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answers/crash_report.h"

#include <stdio.h>
#include <string.h>

static struct qn_crash_report report;

static void whole_lines(void **state)
{
    (void)state;
    qn_crash_report_take_log(&report, "");
    assert_string_equal(report.log, "");
    qn_crash_report_take_log(&report, "a\nbc\n");
    assert_string_equal(report.log, "a\nbc\n");
    qn_crash_report_take_log(&report, "a\nbc"); /* the last one lacks its newline */
    assert_string_equal(report.log, "a\nbc\n");
}

/* A line of 1000 bytes keeps its first 400, and no character is cut in two. */
static void long_lines(void **state)
{
    (void)state;
    char tail[1100] = "";
    memset(tail, 'x', 399);
    memcpy(tail + 399, "\xC3\xA4", 2); /* ä over the border */
    memset(tail + 401, 'y', 599);
    memcpy(tail + 1000, "\nend\n", 6);
    qn_crash_report_take_log(&report, tail);
    assert_int_equal(strcspn(report.log, "\n"), 399);
    assert_string_equal(report.log + 399, "\nend\n");
}

/* More than there is room for: the newest lines stay. 401 bytes each, 20 of them fit into 8191. */
static void too_many_lines(void **state)
{
    (void)state;
    static char tail[30 * 402 + 1];
    for (int i = 0; i < 30; i++) {
        memset(tail + i * 401, 'x', 400);
        tail[i * 401] = (char)('A' + i);
        tail[i * 401 + 400] = '\n';
    }
    qn_crash_report_take_log(&report, tail);
    assert_int_equal(strlen(report.log), 20 * 401);
    assert_int_equal(report.log[0], 'A' + 10);
}

static void words(void **state)
{
    (void)state;
    struct qn_error e = {0}, other = {0};
    char out[QN_CRASH_REPORT_WORDS_MAX];
    qn_fail(&e, QN_ECHILD, "gone");
    qn_fail(&other, QN_ECHILD, "elsewhere");
    qn_crash_report_words(NULL, &e, out);
    assert_string_equal(out, "gone");
    qn_crash_report_take_log(&report, "");
    qn_crash_report_words(&report, &e, out);
    assert_string_equal(out, "gone");
    qn_crash_report_take_log(&report, "one\n");
    qn_crash_report_words(&report, &e, out);
    assert_string_equal(out, "gone (its last output: one)");
    qn_crash_report_take_log(&report, "one\n2026-01-31T12:00:00.123Z warn llm two\n"
                                      "2026-01-31T12:00:00.123Z info child id=1 job=begun\n");
    qn_crash_report_words(&report, &e, out);
    assert_string_equal(out, "gone (its last output: one | 2026-01-31T12:00:00.123Z warn llm two)");
    report.error = e;
    assert_true(qn_crash_report_of(&report, &e));
    assert_false(qn_crash_report_of(&report, &other));
    assert_false(qn_crash_report_of(NULL, &e));
}

/* The longest message and the longest lines together still fit. */
static void longest_words(void **state)
{
    (void)state;
    struct qn_error e = {.code = QN_ECHILD};
    char out[QN_CRASH_REPORT_WORDS_MAX];
    static char tail[4 * 402 + 1];
    memset(e.message, 'm', sizeof e.message - 1);
    memset(tail, 'x', 3 * 401);
    tail[400] = tail[801] = tail[1202] = '\n';
    qn_crash_report_take_log(&report, tail);
    qn_crash_report_words(&report, &e, out);
    assert_int_equal(out[strlen(out) - 1], ')');
}

static void members(void **state)
{
    (void)state;
    struct qn_buf out;
    qn_buf_init(&out, 4096);
    struct qn_jw w = qn_jw_to(&out);
    struct qn_crash_report exited = {.exit_code = 3, .log = "x\n"};
    qn_jw_obj(&w);
    qn_crash_report_members(&exited, &w);
    qn_jw_obj_end(&w);
    assert_string_equal(qn_buf_cstr(&out), "{\"exit_code\":3,\"signal\":null,\"signal_name\":null,"
                                           "\"killed_by_server\":false,\"log\":[\"x\"]}");
    qn_buf_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_lines),    cmocka_unit_test(long_lines),
        cmocka_unit_test(too_many_lines), cmocka_unit_test(words),
        cmocka_unit_test(longest_words),  cmocka_unit_test(members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
