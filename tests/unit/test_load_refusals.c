/* router/models/load_refusals.c: for how long a failed load is refused, and which are forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "models/load_refusals.h"

#include <stdint.h>
#include <stdio.h>

static void add(struct qn_load_refusals *r, const char *key, qn_err code, int64_t now_ms)
{
    struct qn_error why = {0};
    qn_fail(&why, code, "failed at %lld", (long long)now_ms);
    qn_load_refusals_add(r, key, &why, now_ms);
}

static void expect(const struct qn_load_refusals *r, const char *key, int64_t now_ms,
                   const char *message)
{
    const struct qn_error *why = qn_load_refusals_find(r, key, now_ms);
    if (!message)
        assert_null(why);
    else
        assert_string_equal(why ? why->message : "none", message);
}

static void a_load_is_refused_for_five_minutes(void **state)
{
    (void)state;
    struct qn_load_refusals r = {0};
    expect(&r, "a", 0, NULL);
    add(&r, "a", QN_EFORMAT, 1000);
    expect(&r, "a", 1000, "failed at 1000");
    expect(&r, "b", 1000, NULL);
    expect(&r, "a", 1000 + 5 * 60 * 1000 - 1, "failed at 1000");
    expect(&r, "a", 1000 + 5 * 60 * 1000, NULL);
}

static void a_later_failure_of_the_same_load_replaces_the_first(void **state)
{
    (void)state;
    struct qn_load_refusals r = {0};
    add(&r, "a", QN_EFORMAT, 0);
    add(&r, "a", QN_ENOMEM, 200000);
    assert_int_equal(r.n, 1);
    expect(&r, "a", 400000, "failed at 200000");
    assert_int_equal(qn_load_refusals_find(&r, "a", 400000)->code, QN_ENOMEM);
}

static void the_oldest_of_too_many_is_dropped(void **state)
{
    (void)state;
    struct qn_load_refusals r = {0};
    char key[16];
    for (int i = 0; i < QN_LOAD_REFUSALS_MAX; i++) {
        snprintf(key, sizeof key, "k%d", i);
        add(&r, key, QN_EFORMAT, 100 * i);
    }
    add(&r, "k0", QN_EFORMAT, 1000); /* now k1 is the oldest */
    add(&r, "new", QN_EFORMAT, 2000);
    assert_int_equal(r.n, QN_LOAD_REFUSALS_MAX);
    expect(&r, "k1", 2000, NULL);
    expect(&r, "k0", 2000, "failed at 1000");
    expect(&r, "k2", 2000, "failed at 200");
    expect(&r, "new", 2000, "failed at 2000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_is_refused_for_five_minutes),
        cmocka_unit_test(a_later_failure_of_the_same_load_replaces_the_first),
        cmocka_unit_test(the_oldest_of_too_many_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
