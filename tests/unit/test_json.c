/* lib/base/json.c and json_write.c: what is accepted, what is refused, how messages name places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct qn_json *parse(const char *text)
{
    struct qn_json *doc = NULL;
    struct qn_error e = {0};
    if (qn_json_parse(text, strlen(text), &doc, &e))
        fail_msg("%s: %s", text, e.message);
    return doc;
}

static void refuses_what_is_not_json(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",         "   ",          "{",   "[1,]",       "{\"a\":}",
        "nul",      "1 2",          "[1}", "{\"a\":1}x", "\"\\ud800\"",
        "\"\xff\"", "\"\xc0\xaf\"", "'a'", "\"a\0b\"",   "\"open",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct qn_json *doc = NULL;
        struct qn_error e = {0};
        assert_int_equal(qn_json_parse(bad[i], strlen(bad[i]), &doc, &e), QN_EFORMAT);
        assert_null(doc);
        assert_true(strlen(e.message) > 10);
    }
}

/* Two bytes of text may not cost a hundred of memory without an end. */
static void zero_characters_are_replaced(void **state)
{
    (void)state;
    struct qn_json *doc = parse("{\"a\\u0000\":\"\\u0000x\\\\u0000\\\\\\u0000\\u00001\"}");
    struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "a\xef\xbf\xbd");
    assert_string_equal(qn_json_raw_str(&v), "\xef\xbf\xbdx\\u0000\\\xef\xbf\xbd\xef\xbf\xbd"
                                             "1");
    qn_json_free(doc);
    struct qn_error e = {0};
    static const char cut[] = "[\"\\u0000\", \"\\u000";
    assert_int_equal(qn_json_parse(cut, sizeof cut - 1, &doc, &e), QN_EFORMAT);
}

static void values_are_limited(void **state)
{
    (void)state;
    for (int extra = 0; extra < 2; extra++) {
        /* The array itself is the first value. */
        int items = QN_JSON_VALUES_MAX - 1 + extra;
        struct qn_buf text;
        qn_buf_init(&text, SIZE_MAX / 2);
        qn_buf_char(&text, '[');
        for (int i = 0; i < items; i++)
            qn_buf_str(&text, i ? ",1" : "1");
        qn_buf_char(&text, ']');
        struct qn_json *doc = NULL;
        struct qn_error e = {0};
        qn_err err = qn_json_parse(text.data, text.len, &doc, &e);
        assert_int_equal(err, extra ? QN_ELIMIT : QN_OK);
        if (extra)
            assert_non_null(strstr(e.message, "values"));
        qn_json_free(doc);
        qn_buf_deinit(&text);
    }
}

static void depth_is_limited(void **state)
{
    (void)state;
    for (int extra = 0; extra <= 1; extra++) {
        struct qn_buf b;
        qn_buf_init(&b, 4096);
        for (int i = 0; i < QN_JSON_DEPTH_MAX + extra; i++)
            qn_buf_char(&b, '[');
        for (int i = 0; i < QN_JSON_DEPTH_MAX + extra; i++)
            qn_buf_char(&b, ']');
        struct qn_json *doc = NULL;
        assert_int_equal(qn_json_parse(b.data, b.len, &doc, NULL), extra ? QN_ELIMIT : QN_OK);
        qn_json_free(doc);
        qn_buf_deinit(&b);
    }
}

static void brackets_in_strings_do_not_nest(void **state)
{
    (void)state;
    struct qn_json *doc = parse("[\"[[[{{\\\"[[\",\"\\\\\"]");
    struct qn_jref root = qn_json_root(doc);
    assert_int_equal(qn_json_count(&root), 2);
    qn_json_free(doc);
}

static void messages_name_the_place(void **state)
{
    (void)state;
    struct qn_json *doc = parse("{\"messages\":[{\"role\":\"user\"},{\"role\":7}],\"top_p\":2}");
    struct qn_jref root = qn_json_root(doc);
    struct qn_jref messages = qn_json_get(&root, "messages");
    struct qn_jref it;
    assert_true(qn_json_first(&messages, &it));
    assert_true(qn_json_next(&it));
    struct qn_jref role = qn_json_get(&it, "role");
    const char *s = NULL;
    struct qn_error e;
    assert_int_equal(qn_json_str(&role, &s, &e), QN_EINVAL);
    assert_string_equal(e.param, "messages[1].role");
    assert_string_equal(e.message, "messages[1].role: expected a string, not a number");

    struct qn_jref top_p = qn_json_get(&root, "top_p");
    double v = 0.5;
    assert_int_equal(qn_json_f64(&top_p, 0, 1, &v, &e), QN_EINVAL);
    assert_string_equal(e.message, "top_p: must be between 0 and 1");
    assert_true(v == 0.5);

    struct qn_jref none = qn_json_get(&root, "model");
    assert_int_equal(qn_json_str(&none, &s, &e), QN_EINVAL);
    assert_string_equal(e.message, "model: is missing; expected a string");
    assert_int_equal(qn_json_str_opt(&none, &s, &e), QN_OK);
    qn_json_free(doc);
}

static void integers_are_checked(void **state)
{
    (void)state;
    struct qn_json *doc =
        parse("{\"a\":1.5,\"b\":1e300,\"c\":-1,\"d\":9007199254740991,\"e\":1e999}");
    struct qn_jref root = qn_json_root(doc);
    int64_t v = 42;
    static const char *const bad[] = {"a", "b", "c", "e"};
    for (size_t i = 0; i < 4; i++) {
        struct qn_jref r = qn_json_get(&root, bad[i]);
        assert_int_equal(qn_json_i64(&r, 0, INT64_MAX, &v, NULL), QN_EINVAL);
    }
    assert_int_equal(v, 42);
    struct qn_jref r = qn_json_get(&root, "d");
    assert_int_equal(qn_json_i64(&r, 0, INT64_MAX, &v, NULL), QN_OK);
    assert_int_equal(v, 9007199254740991);
    qn_json_free(doc);
}

static void the_last_of_equal_keys_wins(void **state)
{
    (void)state;
    struct qn_json *doc = parse("{\"a\":1,\"a\":2}");
    struct qn_jref root = qn_json_root(doc);
    struct qn_jref a = qn_json_get(&root, "a");
    assert_true(qn_json_raw_f64(&a) == 2.0);
    qn_json_free(doc);
}

static void writing_escapes_and_separates(void **state)
{
    (void)state;
    struct qn_buf b;
    qn_buf_init(&b, 4096);
    struct qn_jw w = qn_jw_to(&b);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "s", "a\"\\\n\t\x01\x7f\xc3\xa9\xff!");
    qn_jw_key(&w, "list");
    qn_jw_arr(&w);
    qn_jw_i64(&w, -5);
    qn_jw_f64(&w, 0.1);
    qn_jw_f64(&w, 1e22);
    qn_jw_f64(&w, NAN);
    qn_jw_bool(&w, true);
    qn_jw_str(&w, NULL);
    qn_jw_arr_end(&w);
    qn_jw_knull(&w, "n");
    qn_jw_obj_end(&w);
    assert_string_equal(b.data, "{\"s\":\"a\\\"\\\\\\n\\t\\u0001\\u007f\xc3\xa9\xef\xbf\xbd!\","
                                "\"list\":[-5,0.1,1e+22,null,true,null],\"n\":null}");
    qn_buf_deinit(&b);
}

static void printing_gives_back_what_was_read(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":[1,2.5,-3e-05,\"x\\ny\",null,true,{}],\"b\":{\"c\":[]}}";
    struct qn_json *doc = parse(text);
    struct qn_jref root = qn_json_root(doc);
    struct qn_buf b;
    qn_buf_init(&b, 4096);
    assert_int_equal(qn_json_print(&root, &b), QN_OK);
    assert_string_equal(b.data, text);
    qn_buf_deinit(&b);
    qn_json_free(doc);
}

static void members_of_a_text(void **state)
{
    (void)state;
    static const char *const texts[] = {"{\"b\":[1,{\"c\":null}],\"d\":\"\\u00e4\"}", "{}", "[1]",
                                        "x"};
    struct qn_buf out;
    qn_buf_init(&out, 4096);
    struct qn_jw w = qn_jw_to(&out);
    qn_jw_obj(&w);
    qn_jw_ki64(&w, "a", 1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        qn_jw_members(&w, texts[i]);
    qn_jw_kbool(&w, "e", true);
    qn_jw_obj_end(&w);
    assert_string_equal(qn_buf_cstr(&out),
                        "{\"a\":1,\"b\":[1,{\"c\":null}],\"d\":\"\xc3\xa4\",\"e\":true}");
    qn_buf_deinit(&out);
}

static void whole_numbers_are_written_to_the_last_digit(void **state)
{
    (void)state;
    struct qn_buf out;
    qn_buf_init(&out, 1000);
    struct qn_jw w = qn_jw_to(&out);
    qn_jw_arr(&w);
    qn_jw_i64(&w, 0);
    qn_jw_i64(&w, 10);
    qn_jw_i64(&w, -1);
    qn_jw_i64(&w, INT64_MAX);
    qn_jw_i64(&w, INT64_MIN);
    qn_jw_arr_end(&w);
    assert_string_equal(out.data, "[0,10,-1,9223372036854775807,-9223372036854775808]");
    qn_buf_deinit(&out);
}

/* Every value reads back to the bit, by strtof and by way of a double, over the whole range of
 * patterns; short decimals stay short. */
static void floats_keep_their_bits(void **state)
{
    (void)state;
    static const struct {
        float v;
        const char *text;
    } rows[] = {
        {0.0f, "0"},
        {-0.0f, "-0.0"},
        {1.0f, "1"},
        {-16777215.0f, "-16777215"},
        {0.1f, "0.1"},
        {-2.5e-5f, "-0.000025"},
        {1e-6f, "1e-6"},
        {1e20f, "1e20"},
        {123456.78f, "123456.781"},
        {9.99999f, "9.99999"},
        {1e-45f, "1.40129846e-45"},
    };
    struct qn_buf b;
    qn_buf_init(&b, 1 << 16);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_jw w = qn_jw_to(&b);
        qn_buf_clear(&b);
        qn_jw_f32(&w, rows[i].v);
        assert_string_equal(qn_buf_cstr(&b), rows[i].text);
    }
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 10007) {
        uint32_t in = (uint32_t)bits, direct, by_double;
        float v, back;
        memcpy(&v, &in, sizeof v);
        struct qn_jw w = qn_jw_to(&b);
        qn_buf_clear(&b);
        qn_jw_f32(&w, v);
        if (!isfinite(v)) {
            assert_string_equal(qn_buf_cstr(&b), "null");
            continue;
        }
        back = strtof(b.data, NULL);
        memcpy(&direct, &back, sizeof back);
        back = (float)strtod(b.data, NULL);
        memcpy(&by_double, &back, sizeof back);
        if (direct != in || by_double != in)
            fail_msg("%08x became %s", in, b.data);
    }
    qn_buf_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_written_to_the_last_digit),
        cmocka_unit_test(members_of_a_text),
        cmocka_unit_test(refuses_what_is_not_json),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(zero_characters_are_replaced),
        cmocka_unit_test(values_are_limited),
        cmocka_unit_test(brackets_in_strings_do_not_nest),
        cmocka_unit_test(messages_name_the_place),
        cmocka_unit_test(integers_are_checked),
        cmocka_unit_test(the_last_of_equal_keys_wins),
        cmocka_unit_test(writing_escapes_and_separates),
        cmocka_unit_test(floats_keep_their_bits),
        cmocka_unit_test(printing_gives_back_what_was_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
