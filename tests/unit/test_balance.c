/* Turns by weight among the servers that can be used. */
#include "bridge/balance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct qn_balance of(int64_t a, int64_t b, int64_t c)
{
    struct qn_balance x = {.n = 3};
    x.v[0].weight = a;
    x.v[1].weight = b;
    x.v[2].weight = c;
    return x;
}

/* Weights 5, 1, 1 in seven turns, as the algorithm's description has it: a a b a c a a. */
static void turns_are_smooth(void **state)
{
    struct qn_balance b = of(5, 1, 1);
    static const int expected[] = {0, 0, 1, 0, 2, 0, 0};
    (void)state;
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 7; i++)
            assert_int_equal(qn_balance_pick(&b, 0), expected[i]);
}

static void a_server_that_is_left_alone_has_no_turn(void **state)
{
    struct qn_balance b = of(5, 1, 1);
    int count[3] = {0};
    (void)state;
    b.v[0].breaker.state = QN_BREAKER_OPEN;
    for (int i = 0; i < 10; i++)
        count[qn_balance_pick(&b, 0)]++;
    assert_int_equal(count[0], 0);
    assert_int_equal(count[1], 5);
    assert_int_equal(count[2], 5);
    b.v[1].breaker.state = QN_BREAKER_HALF_OPEN;
    b.v[2].breaker.state = QN_BREAKER_OPEN;
    assert_int_equal(qn_balance_pick(&b, 0), -1);
}

static void a_second_try_goes_elsewhere_if_it_can(void **state)
{
    struct qn_balance b = of(5, 1, 1);
    (void)state;
    assert_int_equal(qn_balance_pick(&b, 1u << 0 | 1u << 2), 1);
    assert_int_equal(qn_balance_pick(&b, 1u << 0 | 1u << 1), 2);
    assert_true(qn_balance_pick(&b, 7) >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_are_smooth),
        cmocka_unit_test(a_server_that_is_left_alone_has_no_turn),
        cmocka_unit_test(a_second_try_goes_elsewhere_if_it_can),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
