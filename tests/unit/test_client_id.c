/* router/access/client_id.c: whose name counts, and that nothing strange gets into headers and
 * logs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "access/client_id.h"

#include <string.h>

static void is(const char *key, const char *named, const char *agent, const char *wanted)
{
    char out[QN_CLIENT_ID_MAX + 1];
    const struct qn_key own = {.name = key};
    qn_client_name(key ? &own : NULL, named, agent, out);
    assert_string_equal(out, wanted);
}

static void of_the_environment(const char *named, const char *agent, const char *wanted)
{
    char out[QN_CLIENT_ID_MAX + 1];
    const struct qn_key shared = {.name = "environment", .shared = true};
    qn_client_name(&shared, named, agent, out);
    assert_string_equal(out, wanted);
}

/* What many have been given says no name; nor can who has it take the name of another key. */
static void a_shared_key_leaves_room_for_names(void **state)
{
    (void)state;
    char text[200];
    of_the_environment("me", "curl/8.5", "environment/me");
    of_the_environment(" ", "curl/8.5", "environment/curl/8.5");
    of_the_environment(NULL, NULL, "environment");
    of_the_environment("shop", NULL, "environment/shop");
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    char wanted[QN_CLIENT_ID_MAX + 1] = "environment/";
    memset(wanted + 12, 'x', QN_CLIENT_ID_MAX - 12);
    wanted[QN_CLIENT_ID_MAX] = '\0';
    of_the_environment(text, NULL, wanted);
}

static void the_strongest_name_counts(void **state)
{
    (void)state;
    is("shop", "me", "curl/8.5", "shop");
    is(NULL, "me", "curl/8.5", "me");
    is(NULL, NULL, "curl/8.5", "curl/8.5");
    is(NULL, NULL, NULL, "anonymous");
    is("", "", "", "anonymous");
    is(NULL, " \t ", "curl/8.5", "curl/8.5");
}

static void names_are_printable(void **state)
{
    (void)state;
    is(NULL, "  two words  ", NULL, "two words");
    is(NULL, "a\r\nb\x7f", NULL, "a__b_");
    is(NULL, "J\xc3\xbcrgen", NULL, "J__rgen");
    is(NULL, "a\tb", NULL, "a_b");
}

static void names_have_an_end(void **state)
{
    (void)state;
    char text[200], wanted[QN_CLIENT_ID_MAX + 1];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    memset(wanted, 'x', QN_CLIENT_ID_MAX);
    wanted[QN_CLIENT_ID_MAX] = '\0';
    is(NULL, text, NULL, wanted);
    text[QN_CLIENT_ID_MAX - 1] = ' '; /* the cut leaves no blank at the end */
    wanted[QN_CLIENT_ID_MAX - 1] = '\0';
    is(NULL, text, NULL, wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_strongest_name_counts),
        cmocka_unit_test(a_shared_key_leaves_room_for_names),
        cmocka_unit_test(names_are_printable),
        cmocka_unit_test(names_have_an_end),
    };
    return cmocka_run_group_tests_name("client_id", tests, NULL, NULL);
}
