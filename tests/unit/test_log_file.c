/* The log file of a server that the command line has started: bounded, and no line is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/path.h"
#include "telemetry/log_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS = 4, LINES = 500, LINE_BYTES_LEAST = 40 };

static char folder[] = "/tmp/quince-log-file-XXXXXX";
static char path[64], previous[64];
static int own_stderr;

/* Opened as `quince` does. */
static int set_up(void **state)
{
    (void)state;
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/server.log", folder);
    snprintf(previous, sizeof previous, "%s/server.log.1", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    own_stderr = dup(STDERR_FILENO);
    dup2(fd, STDERR_FILENO);
    close(fd);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    qn_log_set_sink(NULL, NULL);
    dup2(own_stderr, STDERR_FILENO);
    close(own_stderr);
    unlink(path);
    unlink(previous);
    return rmdir(folder);
}

static void add(void *f, enum qn_log_level level, const char *tag, const char *line)
{
    (void)level;
    (void)tag;
    qn_log_file_add(f, strlen(line) + 1);
}

static void *write_lines(void *thread)
{
    for (int i = 0; i < LINES; i++)
        qn_info("test", "thread=%d line=%d end", (int)(intptr_t)thread, i);
    return NULL;
}

static void read_both(struct qn_buf *out)
{
    qn_buf_init(out, 16 * 1024 * 1024);
    assert_int_equal(qn_file_read(previous, out, NULL), QN_OK);
    assert_int_equal(qn_file_read(path, out, NULL), QN_OK);
}

/* The limit is reached once. */
static void every_line_is_in_one_of_the_files(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    struct qn_log_file *f = qn_log_file_watch(path, THREADS * LINES * LINE_BYTES_LEAST * 3 / 4);
    assert_non_null(f);
    qn_log_set_sink(add, f);
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, write_lines, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    struct qn_buf text;
    read_both(&text);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < LINES; i++) {
            char word[64];
            snprintf(word, sizeof word, "thread=%d line=%d end\n", t, i);
            const char *at = strstr(qn_buf_cstr(&text), word);
            assert_non_null(at);
            assert_null(strstr(at + 1, word));
        }
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    qn_buf_deinit(&text);
    qn_log_file_free(f);
}

static void old_lines_go(void **state)
{
    (void)state;
    enum { LIMIT = 4096 };
    struct qn_log_file *f = qn_log_file_watch(path, LIMIT);
    qn_log_set_sink(add, f);
    write_lines(NULL);
    struct stat st, old;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(stat(previous, &old), 0);
    assert_true(st.st_size <= LIMIT && old.st_size <= LIMIT);
    assert_true(old.st_size > LIMIT / 2);
    struct qn_buf text;
    read_both(&text);
    assert_non_null(strstr(qn_buf_cstr(&text), "line=499 end\n"));
    assert_null(strstr(qn_buf_cstr(&text), "line=0 end\n"));
    qn_buf_deinit(&text);
    qn_log_file_free(f);
}

static void another_file_is_left_alone(void **state)
{
    (void)state;
    assert_null(qn_log_file_watch(previous, 1));
    int fd = open(previous, O_WRONLY | O_CREAT, 0600);
    close(fd);
    assert_null(qn_log_file_watch(previous, 1));
    qn_log_file_add(NULL, 1000);
    qn_log_file_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_line_is_in_one_of_the_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(old_lines_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_file_is_left_alone, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
