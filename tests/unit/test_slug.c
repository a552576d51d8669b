/* ASCII names of texts of any script. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/slug.h"

#include <string.h>

static void names(void **state)
{
    (void)state;
    static const struct {
        const char *text, *slug;
        bool whole;
    } cases[] = {
        {"Qwen3-0.6B_Q8", "Qwen3-0.6B_Q8", true},
        {"My  Model (v2)!", "My-Model-v2", true},
        {"Citro\u00ebn \u00c9t\u00e9", "Citroen-Ete", true},
        {"e\u0301te\u0301", "ete", true}, /* the same letters, decomposed */
        {"Stra\u00dfe \u00c6r\u00f8 \u0152uvre \u0141\u00f3d\u017a", "Strasse-AEro-OEuvre-Lodz",
         true},
        {"\u017cy\u017f", "zys", true},
        {"a\u2014b\u00d7c", "a-b-c", true},
        {"\u6a21\u578b", "", false},
        {"\u6a21\u578b Q4", "Q4", false},
        {"\u043c\u043e\u0434\u0435\u043b\u044c-7b", "7b", false},
        {"", "", false},
        {" - ", "", false},
        {"..", "..", false},
        {"a\xff\x80z", "a-z", false},
        {"\U0001f389", "", false},
    };
    char out[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(qn_slug(cases[i].text, out, sizeof out), cases[i].whole);
        assert_string_equal(out, cases[i].slug);
    }
}

static void what_has_no_room_is_left_out(void **state)
{
    (void)state;
    char out[5];
    assert_true(qn_slug("abcdefg", out, sizeof out));
    assert_string_equal(out, "abcd");
    assert_true(qn_slug("abc de", out, sizeof out));
    assert_string_equal(out, "abc");
    assert_true(qn_slug("abc\u00df", out, sizeof out));
    assert_string_equal(out, "abc");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(what_has_no_room_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
