/* lib/base/tally.c: amounts per name, against a plain array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/tally.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAMES = 300, ROUNDS = 5000 };

static void amounts_are_kept_per_name(void **state)
{
    (void)state;
    struct qn_tally t;
    int64_t held[NAMES] = {0}, total = 0, most;
    char name[32];
    qn_tally_init(&t);
    assert_null(qn_tally_most(&t, &most));
    srand(1);
    for (int i = 0; i < ROUNDS; i++) {
        int k = rand() % NAMES;
        int64_t n = rand() % 2 ? rand() % 10 : -(rand() % (int)(held[k] + 1));
        snprintf(name, sizeof name, "owner %d", k);
        held[k] += n;
        total += n;
        assert_int_equal(qn_tally_add(&t, name, n), held[k]);
    }
    int64_t largest = 0;
    for (int k = 0; k < NAMES; k++) {
        snprintf(name, sizeof name, "owner %d", k);
        assert_int_equal(qn_tally_of(&t, name), held[k]);
        largest = held[k] > largest ? held[k] : largest;
    }
    assert_int_equal(t.total, total);
    const char *who = qn_tally_most(&t, &most);
    assert_int_equal(most, largest);
    assert_int_equal(qn_tally_of(&t, who), largest);
    qn_tally_deinit(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_are_kept_per_name),
    };
    return cmocka_run_group_tests_name("tally", tests, NULL, NULL);
}
