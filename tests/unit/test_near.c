/* Misspelt words: the number of edits, and which candidate is meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/near.h"

#include <string.h>

/* Counted by hand; "kitten" and "sitting" are the textbook's. */
static void distances(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        size_t edits;
    } cases[] = {
        {"", "", 0},
        {"", "abc", 3},
        {"kitten", "sitting", 3},
        {"list", "list", 0},
        {"LIST", "list", 0},
        {"lsit", "list", 1},
        {"sotp", "stop", 1},
        {"ca", "abc", 3},
        {"stat", "status", 2},
        {"sttaus", "status", 1},
        {"a", "b", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(qn_near_distance(cases[i].a, cases[i].b), cases[i].edits);
        assert_int_equal(qn_near_distance(cases[i].b, cases[i].a), cases[i].edits);
    }
    char longest[QN_NEAR_WORD_MAX + 1], longer[QN_NEAR_WORD_MAX + 2];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(qn_near_distance(longest, longest), 0);
    assert_int_equal(qn_near_distance(longest, longer), QN_NEAR_FAR);
}

static const char *meant(const char *word)
{
    static const char *const words[] = {"list", "load", "logs", "stop", "status", "unload"};
    struct qn_near n = qn_near_begin(word);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        qn_near_offer(&n, words[i], words[i]);
    return n.found;
}

static void the_nearest_is_meant(void **state)
{
    (void)state;
    assert_string_equal(meant("lst"), "list");
    assert_string_equal(meant("sotp"), "stop");
    assert_string_equal(meant("unlaod"), "unload");
    assert_string_equal(meant("Status"), "status");
    assert_null(meant("kubernetes"));
    assert_null(meant("zz"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances),
        cmocka_unit_test(the_nearest_is_meant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
