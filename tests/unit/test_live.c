/* router/live.c: what config.json becomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "router/live.h"

#include <string.h>

static struct qn_error e;

/* What `old` becomes with the changes, compared with `wanted`; NULL: an error. */
static void merge(const char *old, const char *changes, const char *wanted)
{
    struct qn_json *doc;
    struct qn_settings with;
    struct qn_buf out;
    assert_int_equal(qn_json_parse(changes, strlen(changes), &doc, NULL), QN_OK);
    struct qn_jref root = qn_json_root(doc);
    qn_settings_presets(&with);
    assert_int_equal(qn_settings_take(&with, &root, &e), QN_OK);
    qn_buf_init(&out, 4096);
    qn_err err = qn_live_merge(old, &root, &with, &out, &e);
    if (wanted)
        assert_string_equal(qn_buf_cstr(&out), wanted);
    else
        assert_int_equal(err, QN_ECONFLICT);
    qn_buf_deinit(&out);
    qn_settings_deinit(&with);
    qn_json_free(doc);
}

static void merging(void **state)
{
    (void)state;
    merge("", "{}", "{}\n");
    merge("", "{\"idle\": 5}", "{\n  \"idle\": 5\n}\n");
    merge("{\"idle\":1,\"port\":8}", "{\"idle\": 5}", "{\n  \"port\": 8,\n  \"idle\": 5\n}\n");
    /* Values are written as the file takes them, however the request wrote them. */
    merge("",
          "{\"log_level\": \"debug\", \"idle\": \"60\", \"offline\": \"1\", \"ollama.port\": 5}",
          "{\n  \"log-level\": \"debug\",\n  \"idle\": 60,\n  \"offline\": true,\n"
          "  \"ollama-port\": \"5\"\n}\n");
    merge("{\"log_level\":\"warn\"}", "{\"log-level\": null}", "{}\n");
    merge("{\"listen\":[{\"port\":8080,\"profile\":\"auto\"}]}", "{\"idle\": 1}",
          "{\n  \"listen\": [{\"port\":8080,\"profile\":\"auto\"}],\n  \"idle\": 1\n}\n");
    /* What it does not know stays: a newer quince may have written it. */
    merge("{\"from the future\":[1]}", "{}", "{\n  \"from the future\": [1]\n}\n");
    merge("{", "{\"idle\": 5}", NULL);
}

static void names(void **state)
{
    (void)state;
    struct qn_setting about;
    size_t i, k;
    for (i = 0; qn_setting_at(i, &about); i++) {
        char other[64];
        size_t n = strlen(about.name) + 1;
        memcpy(other, about.name, n);
        assert_true(qn_setting_find(other, &k) && k == i);
        for (char *p = other; *p; p++)
            *p = *p == '-' ? '_' : *p;
        assert_true(qn_setting_find(other, &k) && k == i);
    }
    assert_false(qn_setting_find("", &k));
    assert_false(qn_setting_find("log level", &k));
    assert_false(qn_setting_find("log-levels", &k));
    assert_false(qn_setting_find("log", &k));
    assert_int_equal(qn_setting_unknown("log-levle", "the request", &e), QN_EINVAL);
    assert_non_null(strstr(e.message, "log-level"));
}

/* Copying one by one gives the same settings. */
static void copies(void **state)
{
    (void)state;
    static const char text[] = "{\"log-level\": \"debug\", \"idle\": 7, \"offline\": true}";
    struct qn_json *doc;
    struct qn_settings a, b;
    struct qn_setting about;
    int differ = 0;
    assert_int_equal(qn_json_parse(text, strlen(text), &doc, NULL), QN_OK);
    struct qn_jref root = qn_json_root(doc);
    qn_settings_presets(&a);
    qn_settings_presets(&b);
    assert_int_equal(qn_settings_take(&a, &root, &e), QN_OK);
    for (size_t i = 0; qn_setting_at(i, &about); i++) {
        differ += !qn_setting_same(&a, &b, i);
        qn_setting_copy(&b, &a, i);
        assert_true(qn_setting_same(&a, &b, i));
        assert_int_equal(a.from[i], b.from[i]);
    }
    assert_int_equal(differ, 3);
    assert_string_equal(b.log_level, "debug");
    qn_settings_deinit(&a);
    assert_string_equal(b.log_level, "debug");
    qn_settings_deinit(&b);
    qn_json_free(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merging),
        cmocka_unit_test(names),
        cmocka_unit_test(copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
