/* router/logs.c: numbering, the ring's bounds, the newest lines when fewer are asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "router/logs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads the ring and hands back the parsed reply; first and n of the entries. */
static void ask(struct qn_logs *l, int64_t after, size_t max, int64_t *first, size_t *n,
                int64_t *last)
{
    struct qn_buf out;
    struct qn_json *doc;
    qn_buf_init(&out, QN_LOGS_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&out);
    qn_logs_write(l, after, max, &w);
    assert_int_equal(qn_json_parse(out.data, out.len, &doc, NULL), QN_OK);
    struct qn_jref root = qn_json_root(doc), entries = qn_json_get(&root, "entries"), it;
    struct qn_jref end = qn_json_get(&root, "last_seq");
    *n = qn_json_count(&entries);
    *last = (int64_t)qn_json_raw_f64(&end);
    *first = 0;
    int64_t expect = 0;
    for (bool more = qn_json_first(&entries, &it); more; more = qn_json_next(&it)) {
        struct qn_jref seq = qn_json_get(&it, "seq");
        int64_t v = (int64_t)qn_json_raw_f64(&seq);
        if (!*first)
            expect = *first = v;
        assert_int_equal(v, expect++);
    }
    qn_json_free(doc);
    qn_buf_deinit(&out);
}

static void numbers(void **state)
{
    (void)state;
    struct qn_logs *l = qn_logs_new();
    int64_t first, last;
    size_t n;
    ask(l, 0, 10, &first, &n, &last);
    assert_int_equal(n, 0);
    assert_int_equal(last, 0);
    for (int i = 0; i < 5; i++)
        qn_logs_add(l, QN_LOG_INFO, "tag", "line");
    ask(l, 0, 10, &first, &n, &last);
    assert_int_equal(first, 1);
    assert_int_equal(n, 5);
    ask(l, 3, 10, &first, &n, &last);
    assert_int_equal(first, 4);
    assert_int_equal(n, 2);
    ask(l, 0, 2, &first, &n, &last);
    assert_int_equal(first, 4);
    assert_int_equal(n, 2);
    ask(l, 0, 0, &first, &n, &last);
    assert_int_equal(n, 0);
    ask(l, INT64_MAX - 1, 10, &first, &n, &last);
    assert_int_equal(n, 0);
    for (int i = 0; i < QN_LOGS_LINES; i++)
        qn_logs_add(l, QN_LOG_WARN, "a tag that is longer than the room for it, by far", "line");
    ask(l, 0, 100000, &first, &n, &last);
    assert_int_equal(first, 6);
    assert_int_equal(n, QN_LOGS_LINES);
    assert_int_equal(last, QN_LOGS_LINES + 5);
    qn_logs_free(l);
}

static void long_lines_are_cut_between_characters(void **state)
{
    (void)state;
    struct qn_logs *l = qn_logs_new();
    struct qn_buf out;
    char line[QN_LOGS_LINE_MAX + 3] = "x";
    for (size_t i = 1; i + 2 < sizeof line; i += 2)
        memcpy(line + i, "\xc3\xa9", 3);
    qn_logs_add(l, QN_LOG_INFO, "tag", line);
    qn_buf_init(&out, QN_LOGS_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&out);
    qn_logs_write(l, 0, 1, &w);
    assert_null(strstr(out.data, "\xef\xbf\xbd")); /* U+FFFD */
    assert_non_null(strstr(out.data, "\xc3\xa9\"}"));
    qn_buf_deinit(&out);
    qn_logs_free(l);
}

static void *writer(void *logs)
{
    for (int i = 0; i < 2000; i++)
        qn_logs_add(logs, QN_LOG_INFO, "thread", "line");
    return NULL;
}

static void any_thread_may_write(void **state)
{
    (void)state;
    struct qn_logs *l = qn_logs_new();
    pthread_t threads[3];
    int64_t first, last;
    size_t n;
    for (size_t i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, writer, l);
    for (int i = 0; i < 20; i++)
        ask(l, 0, 100, &first, &n, &last);
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    ask(l, 0, QN_LOGS_LINES, &first, &n, &last);
    assert_int_equal(last, 6000);
    assert_int_equal(n, QN_LOGS_LINES);
    qn_logs_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(long_lines_are_cut_between_characters),
        cmocka_unit_test(any_thread_may_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
