/* router/access/keys.c: whose secret is it, and what is kept of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "access/keys.h"

#include <stdio.h>
#include <string.h>

static struct qn_error e;

static struct qn_keys *with(const char *const *names_and_secrets, bool admin)
{
    struct qn_keys *k = qn_keys_new();
    for (; *names_and_secrets; names_and_secrets += 2) {
        struct qn_key_row row = {.admin = admin};
        snprintf(row.name, sizeof row.name, "%s", names_and_secrets[0]);
        qn_key_sum(names_and_secrets[1], row.sum);
        assert_int_equal(qn_keys_add(k, &row, &e), QN_OK);
    }
    return k;
}

/* The sum is SHA-256: its test vector "abc" (FIPS 180-4). */
static void sums(void **state)
{
    (void)state;
    static const unsigned char abc[] = {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea,
                                        0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23,
                                        0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c,
                                        0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad};
    unsigned char sum[QN_SHA256_BYTES];
    qn_key_sum("abc", sum);
    assert_memory_equal(sum, abc, sizeof abc);
}

static void finding(void **state)
{
    (void)state;
    static const char *const v[] = {"one", "secret-1", "two", "secret-2", NULL};
    struct qn_keys *k = with(v, false);
    assert_string_equal(qn_keys_find(k, "secret-1")->name, "one");
    assert_string_equal(qn_keys_find(k, "secret-2")->name, "two");
    static const char *const wrong[] = {"",          "secret-",  "secret-11",
                                        "secret-3",  "Secret-1", " secret-1",
                                        "secret-1 ", "one",      "secret-1\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_null(qn_keys_find(k, wrong[i]));
    assert_null(qn_keys_find(k, NULL));
    char longest[QN_KEY_SECRET_MAX + 2];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    struct qn_key_row row = {.name = "long"};
    qn_key_sum(longest, row.sum);
    assert_int_equal(qn_keys_add(k, &row, &e), QN_OK);
    assert_null(qn_keys_find(k, longest));
    qn_keys_free(k);
}

/* Only one byte of the sum differs, at every place. */
static void every_byte_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < QN_SHA256_BYTES; i++) {
        struct qn_keys *k = qn_keys_new();
        struct qn_key_row row = {.name = "near"};
        qn_key_sum("secret", row.sum);
        row.sum[i] ^= 0x80;
        assert_int_equal(qn_keys_add(k, &row, &e), QN_OK);
        assert_null(qn_keys_find(k, "secret"));
        qn_keys_free(k);
    }
}

/* The same secret twice: it opens what the better one does, in any order. */
static void the_better_of_two(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        struct qn_keys *k = qn_keys_new();
        for (int i = 0; i < 2; i++) {
            struct qn_key_row row = {.admin = i == order};
            snprintf(row.name, sizeof row.name, "k%d", i);
            qn_key_sum("same", row.sum);
            assert_int_equal(qn_keys_add(k, &row, &e), QN_OK);
        }
        assert_true(qn_keys_find(k, "same")->admin);
        qn_keys_free(k);
    }
}

static void coming_and_going(void **state)
{
    (void)state;
    static const char *const v[] = {"a", "1", "b", "2", "c", "3", NULL};
    struct qn_keys *k = with(v, false);
    struct qn_key_row row = {.name = "b"};
    assert_int_equal(qn_keys_add(k, &row, &e), QN_ECONFLICT);
    assert_int_equal(qn_keys_remove(k, "b", &e), QN_OK);
    assert_int_equal(qn_keys_remove(k, "b", &e), QN_ENOTFOUND);
    assert_null(qn_keys_find(k, "2"));
    assert_string_equal(qn_keys_find(k, "3")->name, "c");
    assert_int_equal(qn_keys_count(k), 2);
    assert_false(qn_keys_have_admin(k));
    assert_null(qn_keys_at(k, 2));
    qn_keys_free(k);
}

static void names(void **state)
{
    (void)state;
    char longest[QN_KEY_NAME_MAX + 2];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_false(qn_key_name_ok(longest));
    longest[QN_KEY_NAME_MAX] = '\0';
    assert_true(qn_key_name_ok(longest));
    assert_true(qn_key_name_ok("My-phone_2.0"));
    static const char *const bad[] = {"", "a b", "a/b", "a\nb", "\xc3\xa9", "a\"b"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(qn_key_name_ok(bad[i]));
}

static void environment(void **state)
{
    (void)state;
    static const struct {
        const char *env[4];
        const char *api, *admin; /* which secret opens what; NULL: none such */
        size_t n;
    } rows[] = {
        {{"HOME=/x", NULL}, NULL, NULL, 0},
        {{"QUINCE_API_KEY=", "QUINCE_API_KEYS=x", NULL}, NULL, NULL, 0},
        {{"QUINCE_API_KEY=k", NULL}, NULL, "k", 1},
        {{"LEMONADE_API_KEY=k", NULL}, NULL, "k", 1},
        {{"QUINCE_ADMIN_API_KEY=a", NULL}, NULL, "a", 1},
        {{"QUINCE_API_KEY=k", "QUINCE_ADMIN_API_KEY=a", NULL}, "k", "a", 2},
        {{"QUINCE_API_KEY=k", "LEMONADE_API_KEY=l", "LEMONADE_ADMIN_API_KEY=a", NULL}, "k", "a", 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_keys *k = qn_keys_new();
        assert_int_equal(qn_keys_from_env(k, rows[i].env, &e), QN_OK);
        assert_int_equal(qn_keys_count(k), rows[i].n);
        assert_int_equal(qn_keys_have_admin(k), rows[i].admin != NULL);
        if (rows[i].api)
            assert_false(qn_keys_find(k, rows[i].api)->admin);
        if (rows[i].admin)
            assert_true(qn_keys_find(k, rows[i].admin)->admin);
        if (rows[i].n)
            assert_true(qn_keys_at(k, 0)->weak);
        if (rows[i].n)
            assert_int_equal(qn_keys_remove(k, qn_keys_at(k, 0)->name, &e), QN_ECONFLICT);
        qn_keys_free(k);
    }
}

static void short_secrets(void **state)
{
    (void)state;
    static const char *const env[] = {"QUINCE_API_KEY=123456789012345",
                                      "QUINCE_ADMIN_API_KEY=1234567890123456", NULL};
    struct qn_keys *k = qn_keys_new();
    assert_int_equal(qn_keys_from_env(k, env, &e), QN_OK);
    assert_true(qn_keys_at(k, 0)->weak);
    assert_false(qn_keys_at(k, 1)->weak);
    qn_keys_free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),
        cmocka_unit_test(finding),
        cmocka_unit_test(every_byte_counts),
        cmocka_unit_test(the_better_of_two),
        cmocka_unit_test(coming_and_going),
        cmocka_unit_test(names),
        cmocka_unit_test(environment),
        cmocka_unit_test(short_secrets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
