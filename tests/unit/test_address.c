/* lib/base/address.c: what is left of addresses that are shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/address.h"
#include "base/error.h"

#include <stdio.h>

enum { ROOM = 256 };

struct example {
    const char *said, *shown;
};

static void whole(void **state)
{
    (void)state;
    static const struct example cases[] = {
        {"https://host/a.gguf", "https://host/a.gguf"},
        {"https://host:80/a.gguf?token=x&y=z", "https://host:80/a.gguf?"},
        {"https://host/a?b?c", "https://host/a?"},
        {"https://host/a#secret", "https://host/a?"},
        {"https://host/a?b c \"d", "https://host/a?"},
        {"https://me:word@host/a", "https://host/a"},
        {"https://me:w@rd@host?x", "https://host?"},
        {"https://host/a@b", "https://host/a@b"},
        {"https://", "https://"},
        {"https://@", "https://"},
        {"https://?", "https://?"},
        {"owner/repo:Q4_0@main", "owner/repo:Q4_0@main"},
        {"/a/b?c.gguf", "/a/b?c.gguf"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[ROOM];
        snprintf(text, sizeof text, "%s", cases[i].said);
        qn_address_strip(text);
        assert_string_equal(text, cases[i].shown);
    }
}

static void in_texts(void **state)
{
    (void)state;
    static const struct example cases[] = {
        {"GET 'https://h/a?t=1': 404", "GET 'https://h/a?': 404"},
        {"a http://u:p@h/x b ftp://v@k?q=\"z\" c", "a http://h/x b ftp://k?\" c"},
        {"is it https://h/a?", "is it https://h/a?"},
        {"is it (https://h/a?).", "is it (https://h/a?)."},
        {"message=\"see https://h/a?b=c.\" x=1", "message=\"see https://h/a?.\" x=1"},
        {"no address: who? me@host", "no address: who? me@host"},
        {"x://a://b?c d", "x://a://b? d"},
        {"https://h/a?t\nhttps://h/b?u", "https://h/a?\nhttps://h/b?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[ROOM];
        snprintf(text, sizeof text, "%s", cases[i].said);
        qn_addresses_strip(text);
        assert_string_equal(text, cases[i].shown);
    }
}

static void errors_hold_none(void **state)
{
    (void)state;
    struct qn_error e;
    qn_fail(&e, QN_EIO, "%s: no route", "https://me:secret@h/a?token=secret");
    assert_string_equal(e.message, "https://h/a?: no route");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),
        cmocka_unit_test(in_texts),
        cmocka_unit_test(errors_hold_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
