/* router/http/rate_limit.c: tokens over time, and which clients are remembered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/rate_limit.h"

#include <stdio.h>
#include <string.h>

static void tokens(void **state)
{
    (void)state;
    /* 30 a minute is one in 2000 ms; 3 at once. */
    static const struct {
        int64_t at_ms, wait_s;
    } steps[] = {
        {0, 0},     {0, 0},     {0, 0},     {0, 2},    /* the burst is over: 2 s to the next */
        {1000, 1},  {1999, 1},  {2000, 0},  {2000, 2}, /* what is refused costs nothing */
        {5000, 0},  {5001, 1},  {60000, 0}, {60000, 0},
        {60000, 0}, {60000, 2}, /* never more than the burst */
        {59000, 2},             /* a clock that goes back gives none */
        {62000, 0},
    };
    struct qn_rate_limit *r = qn_rate_limit_new();
    qn_rate_limit_set(r, 30, 3);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (qn_rate_limit_take(r, "a", steps[i].at_ms) != steps[i].wait_s)
            fail_msg("step %zu", i);
    assert_int_equal(qn_rate_limit_take(r, "b", 5000), 0);
    qn_rate_limit_free(r);
}

static void slow_and_fast_rates(void **state)
{
    (void)state;
    struct qn_rate_limit *r = qn_rate_limit_new();
    qn_rate_limit_set(r, 1, 1);
    assert_int_equal(qn_rate_limit_take(r, "a", 0), 0);
    assert_int_equal(qn_rate_limit_take(r, "a", 0), 60);
    assert_int_equal(qn_rate_limit_take(r, "a", 500), 60); /* 59.5 s, rounded up */
    assert_int_equal(qn_rate_limit_take(r, "a", 59999), 1);
    qn_rate_limit_set(r, 1000000, 1);
    assert_int_equal(qn_rate_limit_take(r, "b", 0), 0);
    assert_int_equal(qn_rate_limit_take(r, "b", 0), 1);
    assert_int_equal(qn_rate_limit_take(r, "b", 1), 0);
    qn_rate_limit_set(r, 0, 1);
    for (int i = 0; i < 100; i++)
        assert_int_equal(qn_rate_limit_take(r, "c", 0), 0);
    assert_int_equal(qn_rate_limit_clients(r), 2);
    qn_rate_limit_free(r);
}

/* One more than there is room for: who was there longest without asking is forgotten. */
static void forgetting(void **state)
{
    (void)state;
    char name[32];
    struct qn_rate_limit *r = qn_rate_limit_new();
    qn_rate_limit_set(r, 1, 1);
    for (int i = 0; i < QN_RATE_CLIENTS_MAX; i++) {
        snprintf(name, sizeof name, "client-%d", i);
        assert_int_equal(qn_rate_limit_take(r, name, 0), 0);
    }
    assert_int_equal(qn_rate_limit_take(r, "client-0", 0), 60); /* now it is the newest */
    assert_int_equal(qn_rate_limit_take(r, "another", 0), 0);
    assert_int_equal(qn_rate_limit_clients(r), QN_RATE_CLIENTS_MAX);
    assert_int_equal(qn_rate_limit_take(r, "client-0", 0), 60);
    assert_int_equal(qn_rate_limit_take(r, "client-2", 0), 60);
    assert_int_equal(qn_rate_limit_take(r, "client-1", 0), 0); /* forgotten: a full bucket */
    for (int i = 0; i < 3 * QN_RATE_CLIENTS_MAX; i++) {
        snprintf(name, sizeof name, "stranger-%d", i);
        assert_int_equal(qn_rate_limit_take(r, name, 0), 0);
    }
    assert_int_equal(qn_rate_limit_clients(r), QN_RATE_CLIENTS_MAX);
    assert_int_equal(qn_rate_limit_take(r, name, 0), 60);
    qn_rate_limit_free(r);
}

static void names(void **state)
{
    (void)state;
    char longest[2 * QN_RATE_NAME_MAX];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    struct qn_rate_limit *r = qn_rate_limit_new();
    qn_rate_limit_set(r, 1, 1);
    assert_int_equal(qn_rate_limit_take(r, longest, 0), 0);
    longest[QN_RATE_NAME_MAX] = '\0'; /* what is beyond makes no difference */
    assert_int_equal(qn_rate_limit_take(r, longest, 0), 60);
    assert_int_equal(qn_rate_limit_take(r, "", 0), 0);
    assert_int_equal(qn_rate_limit_take(r, "", 0), 60);
    qn_rate_limit_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens),
        cmocka_unit_test(slow_and_fast_rates),
        cmocka_unit_test(forgetting),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
