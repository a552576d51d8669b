/* router/models/spawn.c: programs that print something and end. What models' processes get is
 * tested with them, in test_child_process.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "models/spawn.h"

#include <string.h>
#include <unistd.h>

enum { LIMIT_MS = 60000, OUTPUT_MAX = 4096, OURS = 50 };

static qn_err output(const char *script, int64_t limit_ms, struct qn_buf *out, struct qn_error *e)
{
    char *argv[] = {"/bin/sh", "-c", (char *)(uintptr_t)script, NULL};
    qn_buf_init(out, OUTPUT_MAX);
    return qn_spawn_output(argv, limit_ms, out, e);
}

static void what_it_prints_is_taken(void **state)
{
    struct qn_buf out;
    (void)state;
    assert_int_equal(output("printf 'a\\nb'", LIMIT_MS, &out, NULL), QN_OK);
    assert_string_equal(qn_buf_cstr(&out), "a\nb");
    qn_buf_deinit(&out);
}

static void how_it_ends_is_told(void **state)
{
    struct qn_buf out;
    struct qn_error e = {0};
    (void)state;
    assert_int_equal(output("echo x; exit 3", LIMIT_MS, &out, &e), QN_ECHILD);
    assert_non_null(strstr(e.message, "sh failed"));
    qn_buf_deinit(&out);
    assert_int_equal(output("yes", LIMIT_MS, &out, &e), QN_ELIMIT);
    qn_buf_deinit(&out);
    assert_int_equal(output("sleep 1000", 10, &out, &e), QN_ETIMEOUT);
    qn_buf_deinit(&out);
}

/* Some libraries open descriptors that programs would inherit. */
static void it_gets_none_of_our_descriptors(void **state)
{
    struct qn_buf out;
    (void)state;
    assert_int_equal(dup2(STDIN_FILENO, OURS), OURS);
    assert_int_equal(output("ls /proc/$$/fd", LIMIT_MS, &out, NULL), QN_OK);
    assert_non_null(strstr(qn_buf_cstr(&out), "2\n"));
    assert_null(strstr(qn_buf_cstr(&out), "50"));
    qn_buf_deinit(&out);
    close(OURS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_prints_is_taken),
        cmocka_unit_test(how_it_ends_is_told),
        cmocka_unit_test(it_gets_none_of_our_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
