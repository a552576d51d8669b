/* The small pieces of lib/base: errors, buffers, arenas, text, random numbers, clock, paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/crc32.h"
#include "base/error.h"
#include "base/log.h"
#include "base/path.h"
#include "base/rand.h"
#include "base/str.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void the_home_folder_is_the_users(void **state)
{
    (void)state;
    static const char *const useless[] = {NULL, "", "relative"};
    const struct passwd *user = getpwuid(geteuid());
    char *kept = getenv("HOME") ? strdup(getenv("HOME")) : NULL, wanted[4096];
    char *xdg = getenv("XDG_DATA_HOME") ? strdup(getenv("XDG_DATA_HOME")) : NULL;
    assert_non_null(user);
    unsetenv("XDG_DATA_HOME");
    snprintf(wanted, sizeof wanted, "%s/.local/share/quince", user->pw_dir);
    for (size_t i = 0; i < sizeof useless / sizeof *useless; i++) {
        unsetenv("HOME");
        if (useless[i])
            setenv("HOME", useless[i], 1);
        char *dir = qn_path_data_dir();
        assert_string_equal(dir, wanted);
        free(dir);
    }
    setenv("HOME", "/h", 1);
    char *dir = qn_path_data_dir();
    assert_string_equal(dir, "/h/.local/share/quince");
    free(dir);
    if (kept)
        setenv("HOME", kept, 1);
    if (xdg)
        setenv("XDG_DATA_HOME", xdg, 1);
    free(kept);
    free(xdg);
}

static void error_messages_stay_utf8(void **state)
{
    (void)state;
    struct qn_error e;
    char longtext[QN_ERROR_MESSAGE_MAX + 8];
    memset(longtext, 'a', sizeof longtext);
    memcpy(longtext + QN_ERROR_MESSAGE_MAX - 2, "\xE2\x82\xAC", 3); /* the border falls inside it */
    longtext[sizeof longtext - 1] = '\0';
    assert_int_equal(qn_fail(&e, QN_EFORMAT, "%s", longtext), QN_EFORMAT);
    assert_int_equal(strlen(e.message), QN_ERROR_MESSAGE_MAX - 2);
    qn_fail(&e, QN_EINVAL, "bad \xff byte");
    assert_string_equal(e.message, "bad \xEF\xBF\xBD byte");
    assert_int_equal(qn_fail(NULL, QN_EIO, "ignored"), QN_EIO);
    qn_fail(&e, QN_EIO, "inner");
    qn_fail(&e, QN_ECHILD, "outer: %s", e.message); /* an argument may live in e itself */
    assert_string_equal(e.message, "outer: inner");
    errno = ENOENT;
    assert_int_equal(qn_fail_errno(&e, "open %s", "/x"), QN_ENOTFOUND);
    assert_string_equal(e.message, "open /x: No such file or directory");
    for (int i = 0; i < QN_ERR_COUNT; i++)
        assert_int_equal(qn_err_parse(qn_err_name((qn_err)i)), i);
}

static void buffers_keep_their_limit(void **state)
{
    (void)state;
    struct qn_buf b;
    qn_buf_init(&b, 10);
    assert_int_equal(qn_buf_str(&b, "12345"), QN_OK);
    assert_int_equal(qn_buf_str(&b, "678901"), QN_ELIMIT);
    assert_true(b.overflow);
    assert_string_equal(b.data, "12345");
    assert_int_equal(qn_buf_fmt(&b, "%d", 67890), QN_OK);
    assert_int_equal(b.len, 10);
    qn_buf_drop(&b, 3);
    assert_string_equal(b.data, "4567890");
    assert_int_equal(qn_buf_reserve(&b, SIZE_MAX), QN_ELIMIT);
    char *p = qn_buf_take(&b);
    assert_string_equal(p, "4567890");
    free(p);
    assert_null(qn_alloc_sized(SIZE_MAX / 2, 4, SIZE_MAX));
    assert_null(qn_alloc_sized(10, 10, 99));
}

static void arenas_are_zeroed_aligned_and_limited(void **state)
{
    (void)state;
    struct qn_arena *a = qn_arena_new(3 * 1024 * 1024);
    char *first = qn_arena_alloc(a, 3);
    memset(first, 1, 3);
    for (int i = 1; i < 200; i++) {
        unsigned char *p = qn_arena_alloc(a, (size_t)i * 7);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (int j = 0; j < i * 7; j++) {
            assert_int_equal(p[j], 0);
            p[j] = 0xAA;
        }
    }
    assert_non_null(qn_arena_try(a, 2 * 1024 * 1024));
    assert_null(qn_arena_try(a, 2 * 1024 * 1024));
    assert_null(qn_arena_try(a, SIZE_MAX));
    assert_string_equal(qn_arena_fmt(a, "%s-%d", "x", 7), "x-7");
    qn_arena_free(a);
}

static void utf8_follows_the_standard(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        bool valid;
    } cases[] = {
        {"plain", true},
        {"\xC3\xA9", true},
        {"\xE2\x82\xAC", true},
        {"\xF0\x9F\x98\x80", true},
        {"\xF4\x8F\xBF\xBF", true},
        {"\xC0\x80", false},
        {"\xE0\x80\x80", false},
        {"\xED\xA0\x80", false},
        {"\xF4\x90\x80\x80", false},
        {"\x80", false},
        {"\xE2\x82", false},
        {"\xFF", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(qn_utf8_valid(cases[i].s, strlen(cases[i].s)), cases[i].valid);
    for (uint32_t cp = 1; cp <= 0x10FFFF; cp += 13) {
        if (cp >= 0xD800 && cp <= 0xDFFF)
            continue;
        char enc[4];
        uint32_t back;
        size_t n = qn_utf8_encode(cp, enc);
        assert_int_equal(qn_utf8_decode(enc, n, &back), n);
        assert_int_equal(back, cp);
        for (size_t cut = 1; cut < n; cut++)
            assert_int_equal(qn_utf8_whole(enc, cut), 0);
        assert_int_equal(qn_utf8_whole(enc, n), n);
    }
    assert_int_equal(qn_utf8_whole("ab\xE2\x82", 4), 2);
    assert_int_equal(qn_utf8_whole("ab\xE0\x80", 4), 4); /* can never become a character */
    assert_int_equal(qn_utf8_whole("ab\x80\x80\x80\x80", 6), 6);
}

static void numbers_parse_whole_or_not_at_all(void **state)
{
    (void)state;
    int64_t i;
    double d;
    assert_true(qn_parse_i64("-9223372036854775808", &i) && i == INT64_MIN);
    assert_false(qn_parse_i64("9223372036854775808", &i));
    assert_false(qn_parse_i64("", &i) || qn_parse_i64(" 1", &i) || qn_parse_i64("1x", &i));
    assert_true(qn_parse_f64("0.25", &d) && d == 0.25);
    assert_false(qn_parse_f64("inf", &d) || qn_parse_f64("1e999", &d) || qn_parse_f64("0x1p3", &d));
}

static void secrets_compare_whole(void **state)
{
    (void)state;
    assert_true(qn_secret_eq("abc", "abc"));
    assert_false(qn_secret_eq("abd", "abc"));
    assert_false(qn_secret_eq("ab", "abc"));
    assert_false(qn_secret_eq("abcabc", "abc"));
    assert_false(qn_secret_eq("a", ""));
    assert_true(qn_secret_eq("", ""));
}

static void generator_is_the_published_one(void **state)
{
    (void)state;
    /* xoshiro256** from the state 1, 2, 3, 4, by hand from its definition: rotl(2*5, 7)*9 = 11520;
     * the second word of the next state is 2^3^1 = 0, so the next output is 0. */
    struct qn_rng r = {.s = {1, 2, 3, 4}};
    assert_int_equal(qn_rng_u64(&r), 11520);
    assert_int_equal(qn_rng_u64(&r), 0);
    qn_rng_init(&r, 0);
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        double v = qn_rng_f64(&r);
        assert_true(v >= 0 && v < 1);
        sum += v;
    }
    assert_true(sum > 4800 && sum < 5200);
    char hex[65];
    qn_random_hex(hex, 64);
    assert_int_equal(strspn(hex, "0123456789abcdef"), 64);
}

static void the_wall_clock_reads_as_iso_8601(void **state)
{
    (void)state;
    char out[25];
    qn_wall_format(1769860800123, out);
    assert_string_equal(out, "2026-01-31T12:00:00.123Z");
}

static void files_are_written_whole(void **state)
{
    (void)state;
    char dir[] = "/tmp/qn-test-XXXXXX";
    assert_non_null(mkdtemp(dir));
    char *deep = qn_path_join(dir, "a/b/c");
    struct qn_error e;
    assert_int_equal(qn_mkdirs(deep, 0755, &e), QN_OK);
    assert_int_equal(qn_mkdirs(deep, 0755, &e), QN_OK);
    char *file = qn_path_join(deep, "f");
    assert_int_equal(qn_file_write_atomic(file, "secret", 6, 0600, &e), QN_OK);
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    struct qn_buf b;
    qn_buf_init(&b, 100);
    assert_int_equal(qn_file_read(file, &b, &e), QN_OK);
    assert_string_equal(b.data, "secret");
    b.limit = 8;
    assert_int_equal(qn_file_read(file, &b, &e), QN_ELIMIT);
    qn_buf_clear(&b);
    assert_int_equal(qn_file_read(deep, &b, &e), QN_EINVAL); /* a directory */
    assert_int_equal(qn_file_read("/nonexistent/x", &b, &e), QN_ENOTFOUND);
    assert_int_equal(qn_mkdirs(file, 0755, &e), QN_EINVAL);
    unlink(file);
    qn_buf_deinit(&b);
    free(file);
    free(deep);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

static void keep_line(void *ctx, enum qn_log_level level, const char *tag, const char *line)
{
    (void)level;
    (void)tag;
    snprintf(ctx, 256, "%s", line);
}

/* Names and messages come from files and clients, and are cut: no line may hold what a terminal
 * obeys, nor what is no text. */
static void log_lines_hold_no_control_characters(void **state)
{
    (void)state;
    char line[256] = "";
    qn_log_set_sink(keep_line, line);
    qn_error_log("tag", "%s",
                 "a\nb\x1b[2J\x7f c\xc2\x9b"
                 "31m \xc3\xa9\xc2\xa0 \xe2\x82\xac \xff \xc3");
    qn_log_set_sink(NULL, NULL);
    assert_non_null(strstr(
        line, " error tag a\\nb\\x1b[2J\\x7f c\\x9b31m \xc3\xa9\xc2\xa0 \xe2\x82\xac \\xff \\xc3"));
}

/* The check value of the catalogue of CRCs, and a sum made in two steps. */
static void damage_shows_in_the_checksum(void **state)
{
    (void)state;
    assert_int_equal(qn_crc32(0, "123456789", 9), 0xcbf43926);
    assert_int_equal(qn_crc32(qn_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
    assert_int_equal(qn_crc32(0, "", 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_lines_hold_no_control_characters),
        cmocka_unit_test(the_home_folder_is_the_users),
        cmocka_unit_test(error_messages_stay_utf8),
        cmocka_unit_test(buffers_keep_their_limit),
        cmocka_unit_test(arenas_are_zeroed_aligned_and_limited),
        cmocka_unit_test(utf8_follows_the_standard),
        cmocka_unit_test(numbers_parse_whole_or_not_at_all),
        cmocka_unit_test(secrets_compare_whole),
        cmocka_unit_test(generator_is_the_published_one),
        cmocka_unit_test(the_wall_clock_reads_as_iso_8601),
        cmocka_unit_test(files_are_written_whole),
        cmocka_unit_test(damage_shows_in_the_checksum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
