/* io/http_pace.c: limits by hand calculation, with a clock of the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/http_pace.h"

static const struct qn_pace_rule rule = {.stall_ms = 10000, .grace_ms = 30000, .total_ms = 100000};

static void nothing_is_expected(void **state)
{
    (void)state;
    struct qn_pace p = {0};
    assert_false(qn_pace_is_late(&p, INT64_MAX));
}

static void a_stall(void **state)
{
    (void)state;
    struct qn_pace p;
    qn_pace_begin(&p, &rule, 5000);
    assert_false(qn_pace_is_late(&p, 14999));
    assert_true(qn_pace_is_late(&p, 15000));
    qn_pace_move(&p, 1, 14000);
    assert_false(qn_pace_is_late(&p, 23999));
    assert_true(qn_pace_is_late(&p, 24000));
    qn_pace_move(&p, 0, 23000); /* nothing has come */
    assert_true(qn_pace_is_late(&p, 24000));
}

/* A byte every second does not prolong the grace: 30 bytes earn no second. */
static void drops(void **state)
{
    (void)state;
    struct qn_pace p;
    qn_pace_begin(&p, &rule, 0);
    for (int64_t now = 1000; now < 30000; now += 1000) {
        qn_pace_move(&p, 1, now);
        assert_false(qn_pace_is_late(&p, now));
    }
    assert_true(qn_pace_is_late(&p, 30000));
    assert_int_equal(p.progress_ms, 0);
}

/* 1 KiB a second is enough, to the end of all time that there is. */
static void the_slowest_rate(void **state)
{
    (void)state;
    struct qn_pace p;
    qn_pace_begin(&p, &rule, 0);
    for (int64_t now = 1000; now < 100000; now += 1000) {
        qn_pace_move(&p, 1024, now);
        assert_false(qn_pace_is_late(&p, now));
        assert_int_equal(p.progress_ms, now);
    }
    assert_true(qn_pace_is_late(&p, 100000));
}

static void time_that_does_not_count(void **state)
{
    (void)state;
    struct qn_pace p;
    qn_pace_begin(&p, &rule, 0);
    qn_pace_pardon(&p, 50000); /* a worker had the body */
    assert_false(qn_pace_is_late(&p, 59999));
    assert_true(qn_pace_is_late(&p, 60000));
}

static void a_rule_with_a_total_alone(void **state)
{
    (void)state;
    static const struct qn_pace_rule head = {.total_ms = 10000};
    struct qn_pace p;
    qn_pace_begin(&p, &head, 0);
    qn_pace_move(&p, 1 << 20, 9000);
    assert_false(qn_pace_is_late(&p, 9999));
    assert_true(qn_pace_is_late(&p, 10000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_expected),
        cmocka_unit_test(a_stall),
        cmocka_unit_test(drops),
        cmocka_unit_test(the_slowest_rate),
        cmocka_unit_test(time_that_does_not_count),
        cmocka_unit_test(a_rule_with_a_total_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
