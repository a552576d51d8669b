/* digest/sha256.c against the examples of FIPS 180-4's companion documents, in pieces of every
 * size; digest/sha1.c likewise, and as git uses it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "digest/hmac.h"
#include "digest/sha1.h"
#include "digest/sha256.h"

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

static void sha1_of(const char *text, char hex[static QN_SHA1_HEX + 1])
{
    struct qn_sha1 s;
    qn_sha1_init(&s);
    qn_sha1_add(&s, text, strlen(text));
    qn_sha1_hex(&s, hex);
}

static void sha1_examples(void **state)
{
    (void)state;
    char hex[QN_SHA1_HEX + 1];
    sha1_of("abc", hex);
    assert_string_equal(hex, "a9993e364706816aba3e25717850c26c9cd0d89d");
    sha1_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", hex);
    assert_string_equal(hex, "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    for (size_t piece = 1; piece <= 1000; piece = piece * 3 + 1) {
        static char letters[1000];
        struct qn_sha1 s;
        memset(letters, 'a', sizeof letters);
        qn_sha1_init(&s);
        for (size_t left = 1000000, n; left; left -= n) {
            n = piece < left ? piece : left;
            qn_sha1_add(&s, letters, n);
        }
        qn_sha1_hex(&s, hex);
        assert_string_equal(hex, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    }
}

/* What `git hash-object` says of an empty file and of "hello\n". */
static void git_names(void **state)
{
    (void)state;
    struct qn_sha1 s;
    char hex[QN_SHA1_HEX + 1];
    qn_sha1_init_git(&s, 0);
    qn_sha1_hex(&s, hex);
    assert_string_equal(hex, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    qn_sha1_init_git(&s, 6);
    qn_sha1_add(&s, "hello\n", 6);
    qn_sha1_hex(&s, hex);
    assert_string_equal(hex, "ce013625030ba8dba906f756967f9e9ca394464a");
}

/* Cases 1, 2 and 6 of RFC 4231. */
static void hmac_examples(void **state)
{
    (void)state;
    unsigned char ones[20], large[131];
    memset(ones, 0x0b, sizeof ones);
    memset(large, 0xaa, sizeof large);
    const struct {
        const void *key;
        size_t n;
        const char *data, *hex;
    } cases[] = {
        {ones, sizeof ones, "Hi There",
         "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
        {"Jefe", 4, "what do ya want for nothing?",
         "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
        {large, sizeof large, "Test Using Larger Than Block-Size Key - Hash Key First",
         "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char sum[QN_SHA256_BYTES];
        char hex[QN_SHA256_HEX + 1];
        qn_hmac_sha256(cases[i].key, cases[i].n, cases[i].data, strlen(cases[i].data), sum);
        for (size_t k = 0; k < QN_SHA256_BYTES; k++)
            snprintf(hex + 2 * k, 3, "%02x", sum[k]);
        assert_string_equal(hex, cases[i].hex);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha1_examples),      cmocka_unit_test(git_names),
        cmocka_unit_test(published_examples), cmocka_unit_test(a_million_letters_in_pieces),
        cmocka_unit_test(hmac_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
