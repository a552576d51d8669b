/* base/sha256.c against the examples of FIPS 180-4's companion documents, and in pieces of every
 * size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/sha256.h"

#include <stdio.h>
#include <string.h>

static void published_examples(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sum;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_sha256 s;
        char hex[QN_SHA256_HEX + 1];
        qn_sha256_init(&s);
        qn_sha256_add(&s, rows[i].text, strlen(rows[i].text));
        qn_sha256_hex(&s, hex);
        assert_string_equal(hex, rows[i].sum);
    }
}

static void a_million_letters_in_pieces(void **state)
{
    (void)state;
    static char letters[1000];
    memset(letters, 'a', sizeof letters);
    for (size_t piece = 1; piece <= sizeof letters; piece = piece * 3 + 1) {
        struct qn_sha256 s;
        char hex[QN_SHA256_HEX + 1];
        size_t left = 1000000;
        qn_sha256_init(&s);
        while (left) {
            size_t n = piece < left ? piece : left;
            qn_sha256_add(&s, letters, n);
            left -= n;
        }
        qn_sha256_hex(&s, hex);
        assert_string_equal(hex,
                            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_examples),
        cmocka_unit_test(a_million_letters_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
