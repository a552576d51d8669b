/* Base64: the vectors of RFC 4648, section 10, both ways, and what must be refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "digest/base64.h"

#include <string.h>

static void the_vectors_of_the_rfc(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xFB\xFF\xBF", "+/+/"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct qn_buf b;
        char out[16];
        size_t n = 99;
        qn_buf_init(&b, 100);
        qn_buf_str(&b, "<");
        assert_int_equal(qn_base64_add(&b, pairs[i][0], strlen(pairs[i][0])), QN_OK);
        qn_buf_str(&b, ">");
        assert_int_equal(b.len, strlen(pairs[i][1]) + 2);
        assert_memory_equal(b.data + 1, pairs[i][1], strlen(pairs[i][1]));
        qn_buf_deinit(&b);
        assert_true(qn_base64_decode(pairs[i][1], strlen(pairs[i][1]), out, &n));
        assert_int_equal(n, strlen(pairs[i][0]));
        assert_memory_equal(out, pairs[i][0], n);
    }
}

static void all_bytes_come_back(void **state)
{
    (void)state;
    unsigned char in[257], out[264];
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)(i * 7);
    for (size_t n = 0; n <= sizeof in; n++) {
        struct qn_buf b;
        size_t got;
        qn_buf_init(&b, 1000);
        assert_int_equal(qn_base64_add(&b, in, n), QN_OK);
        assert_true(qn_base64_decode(qn_buf_cstr(&b), b.len, out, &got));
        assert_int_equal(got, n);
        assert_memory_equal(out, in, n);
        qn_buf_deinit(&b);
    }
}

static void text_from_elsewhere(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *bytes; /* NULL: refused */
    } cases[] = {
        {"Zm9v\r\nYmFy\n", "foobar"},
        {"Zg", "f"},
        {"Zm8", "fo"},
        {"Zh==", "f"}, /* bits to spare that are not zero */
        {"Zm9=", "fo"},
        {"Zg=\n= ", "f"},
        {"Z", NULL},
        {"=", NULL},
        {"Zg=", NULL},
        {"Zg===", NULL},
        {"Zm9v=", NULL},
        {"Zm9v====", NULL},
        {"Zg==Zg==", NULL},
        {"Zm-_", NULL},
        {"Zm9\x80", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[32];
        size_t n;
        bool good = qn_base64_decode(cases[i].text, strlen(cases[i].text), out, &n);
        assert_int_equal(good, cases[i].bytes != NULL);
        if (good) {
            assert_int_equal(n, strlen(cases[i].bytes));
            assert_memory_equal(out, cases[i].bytes, n);
        }
    }
}

static void a_full_buffer_says_so(void **state)
{
    (void)state;
    struct qn_buf b;
    qn_buf_init(&b, 7);
    assert_int_equal(qn_base64_add(&b, "foobar", 6), QN_ELIMIT);
    assert_true(b.overflow);
    qn_buf_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_the_rfc),
        cmocka_unit_test(all_bytes_come_back),
        cmocka_unit_test(text_from_elsewhere),
        cmocka_unit_test(a_full_buffer_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
