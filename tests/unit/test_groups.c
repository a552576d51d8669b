/* router/settings/groups.c: reading groups, who is a member, and who may be beside whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "settings/groups.h"

#include <string.h>

static struct qn_groups groups;

static void read(const char *text)
{
    struct qn_error e = {0};
    assert_int_equal(qn_groups_parse(text, &groups, &e), QN_OK);
}

static int drop(void **state)
{
    (void)state;
    qn_groups_free(&groups);
    return 0;
}

static const struct qn_group *of(const char *model)
{
    return qn_groups_of(&groups, model);
}

static void members(void **state)
{
    (void)state;
    read("{\"a\":{\"members\":[\"one\",\"user.Two\"]},"
         "\"b\":{\"members\":[\"three\"],\"swap\":false,\"exclusive\":false,\"persistent\":true}}");
    assert_string_equal(of("one")->name, "a");
    assert_string_equal(of("user.one")->name, "a");
    assert_string_equal(of("extra.ONE")->name, "a");
    assert_string_equal(of("user.two")->name, "a");
    assert_null(of("two")); /* the file may leave out "user.", the model's name may not */
    assert_null(of("onetwo"));
    assert_true(of("one")->swap && of("one")->exclusive && !of("one")->persistent);
    assert_true(!of("three")->swap && !of("three")->exclusive && of("three")->persistent);
    drop(state);
    read("");
    assert_null(of("one"));
    read("{}");
    assert_null(of("one"));
}

/* By llama-swap's rules, except that being exclusive works in both directions. */
static void who_may_be_beside_whom(void **state)
{
    (void)state;
    read("{\"swapping\":{\"members\":[\"s\"]},"
         "\"apart\":{\"members\":[\"a\"],\"swap\":false},"
         "\"open\":{\"members\":[\"o\"],\"swap\":false,\"exclusive\":false},"
         "\"forever\":{\"members\":[\"f\"],\"swap\":false,\"exclusive\":false,\"persistent\":true}"
         "}");
    const struct {
        const struct qn_group *x, *y;
        int together;
    } cases[] = {
        {NULL, NULL, 1},       {of("s"), of("s"), 0}, {of("a"), of("a"), 1}, {of("o"), of("o"), 1},
        {of("s"), NULL, 0},    {of("o"), NULL, 1},    {of("s"), of("o"), 0}, {of("a"), of("s"), 0},
        {of("s"), of("f"), 1}, {of("f"), NULL, 1},    {of("f"), of("o"), 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(qn_groups_coexist(cases[i].x, cases[i].y), cases[i].together);
        assert_int_equal(qn_groups_coexist(cases[i].y, cases[i].x), cases[i].together);
    }
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"[]", "object"},
        {"{\"a\":{}}", "a.members"},
        {"{\"a\":{\"members\":[]}}", "a.members"},
        {"{\"a\":{\"members\":\"x\"}}", "a.members"},
        {"{\"a\":{\"members\":[1]}}", "a.members[0]"},
        {"{\"a\":{\"members\":[\"x\",\"X\"]}}", "'X' is a member of 'a' already"},
        {"{\"a\":{\"members\":[\"x\"]},\"b\":{\"members\":[\"user.x\"]}}",
         "a member of 'a' already"},
        {"{\"a\":{\"members\":[\"x\"],\"swap\":1}}", "a.swap"},
        {"{\"a\":{\"members\":[\"x\"],\"exclusive\":\"yes\"}}", "a.exclusive"},
        {"{\"a\":{\"members\":[\"x\"],\"persist\":true}}", "a.persist"},
        {"{\"a\":[\"x\"]}", "a: expected an object"},
        {"{\"\":{\"members\":[\"x\"]}}", "1 to 64 bytes"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct qn_error e = {0};
        assert_int_equal(qn_groups_parse(wrong[i].text, &groups, &e), QN_EINVAL);
        if (!strstr(e.message, wrong[i].says))
            fail_msg("%s: %s", wrong[i].text, e.message);
        qn_groups_free(&groups);
    }
    assert_int_equal(qn_groups_parse("{", &groups, NULL), QN_EFORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(members, drop),
        cmocka_unit_test_teardown(who_may_be_beside_whom, drop),
        cmocka_unit_test_teardown(mistakes_are_named, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
