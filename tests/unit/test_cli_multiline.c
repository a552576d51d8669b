/* Texts typed line by line: what makes one complete, and what it then holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cli/multiline.h"

#include <string.h>

/* "|" ends a line; the text must be complete after the last and not before. */
static void texts_are_joined(void **state)
{
    (void)state;
    static const struct {
        const char *typed, *text;
    } cases[] = {
        {"hello", "hello"},
        {"", ""},
        {"a\\|b", "a\nb"},
        {"\\|\\|b", "\n\nb"},
        {"a\\|", "a\n"},
        {"\"\"\"one line\"\"\"", "one line"},
        {"\"\"\"\"\"\"", ""},
        {"\"\"\"|a|b|\"\"\"", "a\nb"},
        {"\"\"\"a|b\"\"\"", "a\nb"},
        {"\"\"\"||a||\"\"\"", "\na\n"},
        {"\"\"\"|\"\"\"", ""},
        {"\"\"\"|ends in \\|\"quoted\"|\"\"\"", "ends in \\\n\"quoted\""},
        {"say \"\"\"", "say \"\"\""},
        {"\"\" two", "\"\" two"},
        {"a\\|\"\"\"b", "a\n\"\"\"b"},
    };
    struct qn_multiline m;
    qn_multiline_init(&m, 4096);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *at = cases[i].typed;
        qn_multiline_clear(&m);
        for (bool complete = false; !complete;) {
            size_t n = strcspn(at, "|");
            complete = qn_multiline_add(&m, at, n);
            assert_int_equal(complete, at[n] == '\0');
            at += n + 1;
        }
        assert_string_equal(qn_buf_cstr(&m.text), cases[i].text);
    }
    qn_multiline_deinit(&m);
}

static void line_breaks_and_limits(void **state)
{
    (void)state;
    struct qn_multiline m;
    qn_multiline_init(&m, 8);
    assert_true(qn_multiline_add(&m, "abc\r\n", 5));
    assert_string_equal(m.text.data, "abc");
    assert_false(m.quoted);
    qn_multiline_clear(&m);
    assert_false(qn_multiline_add(&m, "\"\"\"1234", 7));
    assert_true(m.quoted);
    qn_multiline_add(&m, "56789", 5);
    assert_true(m.text.overflow);
    qn_multiline_clear(&m);
    assert_true(qn_multiline_add(&m, "again", 5));
    qn_multiline_deinit(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_joined),
        cmocka_unit_test(line_breaks_and_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
