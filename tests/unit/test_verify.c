/* registry/verify.c: sums of files while another thread writes them, given up in the middle, and of
 * files that are cut short. What is expected are sums of the whole by base/sha256.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "digest/sha1.h"
#include "digest/sha256.h"
#include "registry/verify.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 5 * 1024 * 1024 + 77 };

static unsigned char bytes[SIZE];
static atomic_int woken;

static void wake(void *ctx)
{
    (void)ctx;
    atomic_fetch_add(&woken, 1);
}

static int new_file(void)
{
    char path[] = "/tmp/quince-verify-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    return fd;
}

static int setup(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(i * 2654435761u >> 13);
    return 0;
}

/* Waits for a sum; the error's code. */
static qn_err wait_for(struct qn_verify *v, struct qn_verify_sum *s, char hex[65], int64_t *synced)
{
    struct qn_error e;
    qn_err err;
    while (!qn_verify_poll(v, s, synced, hex, &err, &e))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return err;
}

static void sums_follow_the_front(void **state)
{
    (void)state;
    struct qn_verify *v;
    struct qn_verify_sum *a, *b;
    struct qn_error e;
    char hex[65], expected[65], git[41];
    int64_t synced;
    int one = new_file(), two = new_file();
    struct qn_sha256 sha256;
    struct qn_sha1 sha1;
    qn_sha256_init(&sha256);
    qn_sha256_add(&sha256, bytes, SIZE);
    qn_sha256_hex(&sha256, expected);
    qn_sha1_init_git(&sha1, SIZE);
    qn_sha1_add(&sha1, bytes, SIZE);
    qn_sha1_hex(&sha1, git);
    assert_int_equal(qn_verify_new(wake, NULL, 1, &v, &e), QN_OK);
    assert_int_equal(qn_verify_begin(v, one, SIZE, QN_VERIFY_SHA256, &a, &e), QN_OK);
    assert_int_equal(qn_verify_begin(v, two, SIZE, QN_VERIFY_GIT_SHA1, &b, &e), QN_OK);
    for (size_t at = 0, n; at < SIZE; at += n) {
        n = SIZE - at < 300001 ? SIZE - at : 300001;
        assert_int_equal(pwrite(one, bytes + at, n, (off_t)at), n);
        assert_int_equal(pwrite(two, bytes + at, n, (off_t)at), n);
        qn_verify_front(v, a, (int64_t)(at + n));
        qn_verify_front(v, b, (int64_t)(at + n));
    }
    close(one); /* it has its own */
    assert_int_equal(wait_for(v, a, hex, &synced), QN_OK);
    assert_string_equal(hex, expected);
    assert_int_equal(synced, SIZE);
    assert_int_equal(wait_for(v, b, hex, &synced), QN_OK);
    assert_string_equal(hex, git);
    assert_true(atomic_load(&woken) >= 2);
    qn_verify_end(v, a);
    qn_verify_end(v, b);
    qn_verify_free(v);
    close(two);
}

static void nothing_has_a_sum_too(void **state)
{
    (void)state;
    struct qn_verify *v;
    struct qn_verify_sum *s;
    struct qn_error e;
    char hex[65];
    int64_t synced;
    int fd = new_file();
    assert_int_equal(qn_verify_new(wake, NULL, 1000, &v, &e), QN_OK);
    assert_int_equal(qn_verify_begin(v, fd, 0, QN_VERIFY_SHA256, &s, &e), QN_OK);
    assert_int_equal(wait_for(v, s, hex, &synced), QN_OK);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    qn_verify_free(v); /* with the sum still there */
    close(fd);
}

static void given_up_while_reading(void **state)
{
    (void)state;
    struct qn_verify *v;
    struct qn_error e;
    int fd = new_file();
    assert_int_equal(write(fd, bytes, SIZE), SIZE);
    for (int i = 0; i < 30; i++) {
        struct qn_verify_sum *s[3];
        assert_int_equal(qn_verify_new(wake, NULL, 0, &v, &e), QN_OK);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(qn_verify_begin(v, fd, SIZE, QN_VERIFY_SHA256, &s[k], &e), QN_OK);
            qn_verify_front(v, s[k], SIZE);
        }
        nanosleep(&(struct timespec){.tv_nsec = i * 100000}, NULL);
        for (int k = 0; k < i % 4; k++)
            qn_verify_end(v, s[k]);
        qn_verify_free(v);
    }
    close(fd);
}

static void a_file_that_is_cut_short_is_an_error(void **state)
{
    (void)state;
    struct qn_verify *v;
    struct qn_verify_sum *s;
    struct qn_error e;
    char hex[65];
    int64_t synced;
    int fd = new_file();
    assert_int_equal(write(fd, bytes, 1000), 1000);
    assert_int_equal(qn_verify_new(wake, NULL, 1000, &v, &e), QN_OK);
    assert_int_equal(qn_verify_begin(v, fd, SIZE, QN_VERIFY_SHA256, &s, &e), QN_OK);
    qn_verify_front(v, s, SIZE);
    assert_int_equal(wait_for(v, s, hex, &synced), QN_EIO);
    qn_verify_end(v, s);
    qn_verify_free(v);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_follow_the_front),
        cmocka_unit_test(nothing_has_a_sum_too),
        cmocka_unit_test(given_up_while_reading),
        cmocka_unit_test(a_file_that_is_cut_short_is_an_error),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
