/* Where the server is: every form a host can be written in. URLs by RFC 3986, written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cli/target.h"

static void hosts_are_understood(void **state)
{
    (void)state;
    static const struct {
        const char *host, *port, *preset; /* given */
        const char *url, *bare;           /* expected */
        bool local, named_port;
    } cases[] = {
        {NULL, NULL, NULL, "http://localhost:13305", "localhost", true, false},
        {"", "", "", "http://localhost:13305", "localhost", true, false},
        {NULL, "80", "81", "http://localhost:80", "localhost", true, true},
        {NULL, NULL, "81", "http://localhost:81", "localhost", true, false},
        {"LocalHost", NULL, NULL, "http://LocalHost:13305", "LocalHost", true, false},
        {"localhost:99", NULL, "81", "http://localhost:99", "localhost", true, true},
        {"localhost:99", "98", NULL, "http://localhost:98", "localhost", true, true},
        {"127.0.0.1", NULL, NULL, "http://127.0.0.1:13305", "127.0.0.1", true, false},
        {"127.9.9.9:1", NULL, NULL, "http://127.9.9.9:1", "127.9.9.9", true, true},
        {"127.example.org", NULL, NULL, "http://127.example.org:13305", "127.example.org", false,
         false},
        {"0.0.0.0", NULL, NULL, "http://localhost:13305", "0.0.0.0", true, false},
        {"::", NULL, NULL, "http://localhost:13305", "::", true, false},
        {"::1", NULL, NULL, "http://[::1]:13305", "::1", true, false},
        {"[::1]", "7", NULL, "http://[::1]:7", "::1", true, true},
        {"[::1]:99", NULL, NULL, "http://[::1]:99", "::1", true, true},
        {"fe80::1", NULL, NULL, "http://[fe80::1]:13305", "fe80::1", false, false},
        {"http://localhost:99/", NULL, NULL, "http://localhost:99", "localhost", true, true},
        {"http://[::1]:99/", NULL, NULL, "http://[::1]:99", "::1", true, true},
        {"http://box", NULL, NULL, "http://box:13305", "box", false, false},
        {"https://ai.example.org", NULL, "81", "https://ai.example.org:443", "ai.example.org",
         false, false},
        {"https://ai.example.org:8443/quince/", NULL, NULL, "https://ai.example.org:8443/quince",
         "ai.example.org", false, true},
        {"https://localhost", NULL, NULL, "https://localhost:443", "localhost", false, false},
        {"http://localhost/quince", NULL, NULL, "http://localhost:13305/quince", "localhost", false,
         false},
        {NULL, "0", NULL, "http://localhost:0", "localhost", true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qn_target t;
        struct qn_error e = {0};
        assert_int_equal(qn_target_parse(&t, cases[i].host, cases[i].port, cases[i].preset, &e),
                         QN_OK);
        assert_string_equal(t.url, cases[i].url);
        assert_string_equal(t.host, cases[i].bare);
        assert_int_equal(t.local, cases[i].local);
        assert_int_equal(t.named_port, cases[i].named_port);
        qn_target_deinit(&t);
    }
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *host, *port, *preset;
    } cases[] = {
        {"a b", NULL, NULL},
        {"http://", NULL, NULL},
        {":99", NULL, NULL},
        {"[]", NULL, NULL},
        {"host\n", NULL, NULL},
        {"ftp://host/", NULL, NULL},
        {"user@host", NULL, NULL},
        {"host:x", NULL, NULL},
        {"host:65536", NULL, NULL},
        {"host:-1", NULL, NULL},
        {NULL, "12x", NULL},
        {NULL, NULL, "x"},
        {NULL, "99999999999999", NULL},
        {"[::1", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qn_target t;
        struct qn_error e = {0};
        if (qn_target_parse(&t, cases[i].host, cases[i].port, cases[i].preset, &e) == QN_OK)
            fail_msg("case %zu was taken as %s", i, t.url);
        assert_null(t.url);
        assert_true(e.message[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_are_understood),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
