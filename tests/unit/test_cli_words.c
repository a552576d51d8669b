/* Durations and ages in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cli/words.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

static void durations(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *said;
    } cases[] = {
        {0, "0 s"},
        {59.4, "59 s"},
        {59.5, "1 min 00 s"},
        {125, "2 min 05 s"},
        {3599, "59 min 59 s"},
        {3600, "1 h 00 min"},
        {11220, "3 h 07 min"},
        {86400, "1 d 0 h"},
        {200000, "2 d 7 h"},
        {1e12, "> 999 d"},
        {-1, "-"},
    };
    char out[24];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qn_words_duration(cases[i].seconds, out);
        assert_string_equal(out, cases[i].said);
    }
    qn_words_duration(NAN, out);
    assert_string_equal(out, "-");
    qn_words_duration(INFINITY, out);
    assert_string_equal(out, "> 999 d");
}

static void ages(void **state)
{
    (void)state;
    setenv("TZ", "UTC", 1);
    tzset();
    static const int64_t now = 1763729517; /* 2025-11-21T12:51:57Z */
    static const struct {
        int64_t ago;
        const char *said;
    } cases[] = {
        {0, "just now"},        {-5, "just now"},        {59, "just now"},    {60, "1 min ago"},
        {3599, "59 min ago"},   {3600, "1 h ago"},       {86399, "23 h ago"}, {86400, "1 day ago"},
        {172800, "2 days ago"}, {2592000, "2025-10-22"},
    };
    char out[25];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qn_words_age(now - cases[i].ago, now, out);
        assert_string_equal(out, cases[i].said);
    }
    qn_words_age(0, now, out);
    assert_string_equal(out, "never");
    setenv("TZ", "EAST-13", 1); /* 13 hours before Greenwich: there it was the next day */
    tzset();
    qn_words_age(now - 2592000, now, out);
    assert_string_equal(out, "2025-10-23");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(durations), cmocka_unit_test(ages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
