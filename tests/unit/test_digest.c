/* The sum of a model's files: of the bytes that they have when it begins, however they grow, and
 * not of holes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "registry/digest.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* FIPS 180-2, B.1 and B.2. */
static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
static const char two_blocks[] = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
#define TWO_BLOCKS "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"

enum { HANGS_S = 120 };

static char dir[64];
static int grows = -1; /* a file that gets a byte with every read */

ssize_t __real_read(int fd, void *p, size_t n);
ssize_t __wrap_read(int fd, void *p, size_t n);
ssize_t __real_pread(int fd, void *p, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *p, size_t n, off_t at);

static void grow(void)
{
    if (grows >= 0)
        assert_int_equal(write(grows, "x", 1), 1);
}

ssize_t __wrap_read(int fd, void *p, size_t n)
{
    grow();
    return __real_read(fd, p, n);
}

ssize_t __wrap_pread(int fd, void *p, size_t n, off_t at)
{
    grow();
    return __real_pread(fd, p, n, at);
}

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/qn-digest-XXXXXX");
    alarm(HANGS_S);
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    alarm(0);
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static int put(const char *name, const char *text)
{
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    return fd;
}

static qn_err sum_of(const char *name, bool stopped, char out[static QN_SHA256_HEX + 1])
{
    atomic_bool stop;
    atomic_init(&stop, stopped);
    return qn_registry_digest(path_of(name), &stop, out, NULL);
}

static void a_file(void **state)
{
    (void)state;
    char sum[QN_SHA256_HEX + 1];
    close(put("model.gguf", "abc"));
    assert_int_equal(sum_of("model.gguf", false, sum), QN_OK);
    assert_string_equal(sum, abc);
    assert_int_equal(sum_of("model.gguf", true, sum), QN_ECANCELLED);
}

static void parts_are_one(void **state)
{
    (void)state;
    char sum[QN_SHA256_HEX + 1];
    close(put("m-00001-of-00002.gguf", "a"));
    close(put("m-00002-of-00002.gguf", "bc"));
    assert_int_equal(sum_of("m-00001-of-00002.gguf", false, sum), QN_OK);
    assert_string_equal(sum, abc);
}

static void a_file_that_grows_as_fast_as_it_is_read(void **state)
{
    (void)state;
    char sum[QN_SHA256_HEX + 1];
    grows = put("model.gguf", TWO_BLOCKS);
    qn_err err = sum_of("model.gguf", false, sum);
    close(grows);
    grows = -1;
    assert_int_equal(err, QN_OK);
    assert_string_equal(sum, two_blocks);
}

/* 8 TB of zeros on a disk that has none of them: hours. */
static void a_file_of_holes(void **state)
{
    (void)state;
    char sum[QN_SHA256_HEX + 1];
    int fd = put("model.gguf", "abc");
    for (off_t size = INT64_C(8) << 40; ftruncate(fd, size); size /= 2)
        if (size < INT64_C(1) << 40) {
            close(fd);
            skip(); /* a disk that has no such files */
        }
    close(fd);
    assert_int_equal(sum_of("model.gguf", false, sum), QN_EFORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file, setup, teardown),
        cmocka_unit_test_setup_teardown(parts_are_one, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_grows_as_fast_as_it_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_of_holes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
