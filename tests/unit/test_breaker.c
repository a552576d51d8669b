/* The circuit breaker: every cell of its table, and the pauses. */
#include "bridge/breaker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { C = QN_BREAKER_CLOSED, O = QN_BREAKER_OPEN, H = QN_BREAKER_HALF_OPEN };
enum { SUCCESS = QN_BREAKER_SUCCESS, FAILURE = QN_BREAKER_FAILURE, PROBE = QN_BREAKER_PROBE };

static void every_cell(void **state)
{
    static const struct {
        int from, failures, event, to;
    } cells[] = {
        {C, 0, SUCCESS, C}, {C, 0, FAILURE, C}, {C, QN_BREAKER_FAILURES - 1, FAILURE, O},
        {C, 0, PROBE, C},   {O, 3, SUCCESS, C}, {O, 3, FAILURE, O},
        {O, 3, PROBE, H},   {H, 3, SUCCESS, C}, {H, 3, FAILURE, O},
        {H, 3, PROBE, H},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        struct qn_breaker b = {.state = (enum qn_breaker_state)cells[i].from,
                               .failures = cells[i].failures,
                               .pause_ms = QN_BREAKER_PAUSE_MS};
        qn_breaker_step(&b, (enum qn_breaker_event)cells[i].event, 100);
        assert_int_equal(b.state, cells[i].to);
    }
}

static void failures_count_in_a_row(void **state)
{
    struct qn_breaker b = {0};
    (void)state;
    for (int i = 0; i < 10; i++) {
        qn_breaker_step(&b, i % 3 == 2 ? QN_BREAKER_SUCCESS : QN_BREAKER_FAILURE, i);
        assert_int_equal(b.state, C);
    }
}

static void pauses_double_up_to_a_limit_and_start_anew(void **state)
{
    struct qn_breaker b = {0};
    int64_t now = 0, expected = 1000;
    (void)state;
    for (int i = 0; i < 3; i++)
        qn_breaker_step(&b, QN_BREAKER_FAILURE, now);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(b.state, O);
        assert_int_equal(b.due_ms, now + expected);
        assert_false(qn_breaker_due(&b, b.due_ms - 1));
        assert_true(qn_breaker_due(&b, b.due_ms));
        now = b.due_ms;
        qn_breaker_step(&b, QN_BREAKER_PROBE, now);
        assert_false(qn_breaker_due(&b, now));
        qn_breaker_step(&b, QN_BREAKER_FAILURE, now);
        expected = expected * 2 < 60000 ? expected * 2 : 60000;
    }
    assert_int_equal(b.pause_ms, 60000);
    qn_breaker_step(&b, QN_BREAKER_PROBE, now);
    qn_breaker_step(&b, QN_BREAKER_SUCCESS, now);
    for (int i = 0; i < 3; i++)
        qn_breaker_step(&b, QN_BREAKER_FAILURE, now);
    assert_int_equal(b.pause_ms, 1000);
}

static void states_have_names(void **state)
{
    (void)state;
    assert_string_equal(qn_breaker_state_name(QN_BREAKER_CLOSED), "closed");
    assert_string_equal(qn_breaker_state_name(QN_BREAKER_OPEN), "open");
    assert_string_equal(qn_breaker_state_name(QN_BREAKER_HALF_OPEN), "half-open");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell),
        cmocka_unit_test(failures_count_in_a_row),
        cmocka_unit_test(pauses_double_up_to_a_limit_and_start_anew),
        cmocka_unit_test(states_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
