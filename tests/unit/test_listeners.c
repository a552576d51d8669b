/* router/settings/listeners.c: what the settings of places to listen say, and what they may not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "settings/listeners.h"

#include <string.h>

static void lists(void **state)
{
    (void)state;
    struct qn_listeners l = {.n = 0};
    assert_int_equal(qn_listeners_read("8080=auto, 127.0.0.1:8001=dppan,[::1]:9=kolosal,7,",
                                       "localhost", &l, NULL),
                     QN_OK);
    assert_int_equal(l.n, 4);
    assert_string_equal(l.v[0].host, "localhost");
    assert_int_equal(l.v[0].port, 8080);
    assert_ptr_equal(l.v[0].profile, qn_profile_find("auto"));
    assert_string_equal(l.v[1].host, "127.0.0.1");
    assert_ptr_equal(l.v[1].profile, qn_profile_find("dppan"));
    assert_string_equal(l.v[2].host, "[::1]");
    assert_int_equal(l.v[2].port, 9);
    assert_ptr_equal(l.v[3].profile, qn_profile_find("auto"));
    assert_false(l.v[3].optional);
}

static void bad_lists(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "x=auto", "80=nobody", "=auto",      ":80=auto",
        "65536",  "-1",        "80 81=auto", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct qn_listeners l = {.n = 0};
        struct qn_error e = {0};
        if (qn_listeners_read(texts[i], "localhost", &l, &e) != QN_EINVAL)
            fail_msg("%s", texts[i]);
        assert_string_equal(e.param, "listen");
    }
}

static void ollamas_port(void **state)
{
    (void)state;
    struct qn_listeners l = {.n = 0};
    struct qn_error e = {0};
    assert_int_equal(qn_listeners_ollama("off", "h", &l, &e), QN_OK);
    assert_int_equal(qn_listeners_ollama("0", "h", &l, &e), QN_OK);
    assert_int_equal(l.n, 0);
    assert_int_equal(qn_listeners_ollama("auto", "h", &l, &e), QN_OK);
    assert_int_equal(l.v[0].port, 11434);
    assert_true(l.v[0].optional);
    assert_int_equal(qn_listeners_ollama("12", "h", &l, &e), QN_OK);
    assert_int_equal(l.v[1].port, 12);
    assert_false(l.v[1].optional);
    assert_ptr_equal(l.v[1].profile, qn_profile_find("ollama"));
    assert_int_equal(qn_listeners_ollama("maybe", "h", &l, &e), QN_EINVAL);
    assert_string_equal(e.param, "ollama-port");
}

static void the_files_form(void **state)
{
    (void)state;
    static const struct {
        const char *json, *text;
    } rows[] = {
        {"[]", ""},
        {"[{\"port\":8080}]", "8080=auto"},
        {"[{\"bind\":\"::1\",\"port\":1,\"profile\":\"dppan\"},{\"port\":2,\"profile\":\"ollama\"}"
         "]",
         "::1:1=dppan,2=ollama"},
        {"[{\"port\":\"x\"}]", NULL},
        {"[7]", NULL},
        {"[{}]", NULL},
        {"[{\"port\":1,\"profile\":\"a,2=b\"}]", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_json *doc;
        struct qn_buf out;
        qn_buf_init(&out, 4096);
        assert_int_equal(qn_json_parse(rows[i].json, strlen(rows[i].json), &doc, NULL), QN_OK);
        struct qn_jref root = qn_json_root(doc);
        qn_err err = qn_listeners_text(&root, &out, NULL);
        assert_int_equal(err, rows[i].text ? QN_OK : QN_EINVAL);
        if (rows[i].text)
            assert_string_equal(qn_buf_cstr(&out), rows[i].text);
        qn_buf_deinit(&out);
        qn_json_free(doc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),
        cmocka_unit_test(bad_lists),
        cmocka_unit_test(ollamas_port),
        cmocka_unit_test(the_files_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
