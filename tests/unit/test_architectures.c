/* The list of architectures for other programs is that of the engine. */
#include "formats/architectures.h"
#include "nets/nets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void lists_are_the_same(void **state)
{
    size_t n = 0, known = 0;
    (void)state;
    for (const char *name; (name = qn_net_architecture(n)); n++)
        if (qn_architecture_known(name))
            known++;
        else
            fail_msg("lib/formats/architectures.c lacks %s", name);
    assert_int_equal(known, n);
    assert_null(qn_architecture_at(n));
    assert_non_null(qn_architecture_at(n - 1));
}

static void names_are_in_order(void **state)
{
    (void)state;
    for (size_t i = 1; qn_architecture_at(i); i++)
        assert_true(strcmp(qn_architecture_at(i - 1), qn_architecture_at(i)) < 0);
}

static void others_are_unknown(void **state)
{
    (void)state;
    assert_false(qn_architecture_known(""));
    assert_false(qn_architecture_known("bert"));
    assert_false(qn_architecture_known("LLAMA"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_the_same),
        cmocka_unit_test(names_are_in_order),
        cmocka_unit_test(others_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
