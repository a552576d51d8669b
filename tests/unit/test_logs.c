/* router/telemetry/logs.c: numbering, the ring's bounds, filters, followers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "telemetry/logs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a reading gave. */
struct seen {
    int64_t first, last;
    size_t n, max;
    char line[QN_LOGS_LINE_MAX + 1];
};

static bool look(void *ctx, const struct qn_logs_entry *entry)
{
    struct seen *s = ctx;
    if (!s->n++)
        s->first = entry->seq;
    else
        assert_true(entry->seq > s->last);
    s->last = entry->seq;
    assert_true(strlen(entry->line) <= QN_LOGS_LINE_MAX);
    strcpy(s->line, entry->line);
    return s->n < s->max;
}

/* Reads on from *next; returns how many lines were lost. */
static int64_t read_on(struct qn_logs *l, int64_t *next, const struct qn_logs_filter *f, size_t max,
                       struct seen *s)
{
    *s = (struct seen){.max = max};
    return qn_logs_read(l, next, INT64_MAX, f, look, s);
}

static void numbers(void **state)
{
    (void)state;
    struct qn_logs *l = qn_logs_new();
    struct seen s;
    int64_t next = 1;
    assert_int_equal(qn_logs_range(l).first, 1);
    assert_int_equal(qn_logs_range(l).last, 0);
    assert_int_equal(read_on(l, &next, NULL, 10, &s), 0);
    assert_int_equal(s.n, 0);
    for (int i = 0; i < 5; i++)
        qn_logs_add(l, QN_LOG_INFO, "tag", "line");
    assert_int_equal(read_on(l, &next, NULL, 3, &s), 0); /* stops when told */
    assert_int_equal(s.first, 1);
    assert_int_equal(s.n, 3);
    assert_int_equal(next, 4);
    read_on(l, &next, NULL, 10, &s);
    assert_int_equal(s.first, 4);
    assert_int_equal(s.n, 2);
    assert_int_equal(next, 6);
    next = 1;
    s = (struct seen){.max = 10};
    qn_logs_read(l, &next, 2, NULL, look, &s);
    assert_int_equal(s.last, 2);
    assert_int_equal(qn_logs_newest(l, 1, 2, NULL), 4);
    assert_int_equal(qn_logs_newest(l, 1, 100, NULL), 1);
    assert_int_equal(qn_logs_newest(l, 3, 100, NULL), 3);
    assert_int_equal(qn_logs_newest(l, 1, 0, NULL), 6);
    next = 3;
    for (int i = 0; i < QN_LOGS_LINES; i++)
        qn_logs_add(l, QN_LOG_WARN, "tag", "line");
    assert_int_equal(read_on(l, &next, NULL, SIZE_MAX, &s), 3); /* 3, 4 and 5 are overwritten */
    assert_int_equal(s.first, 6);
    assert_int_equal(s.n, QN_LOGS_LINES);
    assert_int_equal(s.last, QN_LOGS_LINES + 5);
    assert_int_equal(qn_logs_range(l).first, 6);
    qn_logs_free(l);
}

static void filters(void **state)
{
    (void)state;
    static const struct {
        const char *tag, *line;
        enum qn_log_level level;
        bool of_m, of_levels;
    } rows[] = {
        {"llm/m", "anything", QN_LOG_INFO, true, false},
        {"llm/m2", "anything", QN_LOG_WARN, false, true},
        {"llm/user.m", "anything", QN_LOG_ERROR, false, true},
        {"instance", "t info instance model=m state=ready", QN_LOG_INFO, true, false},
        {"instance", "t info instance model=m", QN_LOG_INFO, true, false},
        {"instance", "t info instance model=m2 state=ready", QN_LOG_INFO, false, false},
        {"instance", "t info instance model=\"m\" x", QN_LOG_INFO, true, false},
        {"x", "the word xmodel=m is another", QN_LOG_INFO, false, false},
        {"x", "model=m", QN_LOG_DEBUG, false, false}, /* a line begins with its time */
        {"x", "t info infer model=a/m2 of model=also", QN_LOG_INFO, true, false},
        {"x", "t info infer model=also", QN_LOG_WARN, true, true},
    };
    struct qn_logs_filter of_m = {.models = {"m", "also"}, .most = QN_LOG_DEBUG};
    struct qn_logs_filter of_levels = {.most = QN_LOG_WARN};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_logs_entry e = {.level = rows[i].level, .tag = rows[i].tag, .line = rows[i].line};
        if (qn_logs_wanted(&of_m, &e) != rows[i].of_m ||
            qn_logs_wanted(&of_levels, &e) != rows[i].of_levels)
            fail_msg("row %zu", i);
        assert_true(qn_logs_wanted(NULL, &e));
    }
    struct qn_logs *l = qn_logs_new();
    struct seen s;
    int64_t next = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        qn_logs_add(l, rows[i].level, rows[i].tag, rows[i].line);
    read_on(l, &next, &of_levels, 10, &s);
    assert_int_equal(s.n, 3);
    assert_int_equal(next, 12); /* what is not wanted has been looked at, too */
    assert_int_equal(qn_logs_newest(l, 1, 2, &of_levels), 3);
    qn_logs_free(l);
}

/* Words further on in a line are a client's: they make no line another owner's. */
static void lines_of_one_owner(void **state)
{
    (void)state;
    static const struct {
        const char *tag, *text;
        bool of_a;
    } rows[] = {
        {"infer", "id=00112233445566778899aabb name=x", true},
        {"infer", "id=00112233445566778899aabb", true},
        {"llm/user.m", "child id=00112233445566778899aabb-0 job=begun", true},
        {"infer", "id=ffeeddccbbaa998877665544 own_name=\"id=00112233445566778899aabb\"", false},
        {"infer", "child id=00112233445566778899aabb", false},
        {"llm/user.m", "text id=00112233445566778899aabb", false},
        {"pull", "id=model:x", false},
        {"infer", "id=0011", false},
        {"infer", "", false},
    };
    struct qn_logs *l = qn_logs_new();
    qn_logs_own(l, "ffeeddccbbaa998877665544", "key:b");
    qn_logs_own(l, "00112233445566778899aabb", "key:a");
    struct qn_logs_filter all = {.most = QN_LOG_DEBUG},
                          of_a = {.owner = "key:a", .most = QN_LOG_DEBUG};
    int64_t next_all = 1, next = 1;
    struct seen s;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[256];
        snprintf(line, sizeof line, "2026-01-31T12:00:00.123Z info %s %s", rows[i].tag,
                 rows[i].text);
        qn_logs_add(l, QN_LOG_INFO, rows[i].tag, line);
        read_on(l, &next, &of_a, 10, &s);
        if (s.n != rows[i].of_a)
            fail_msg("row %zu", i);
        read_on(l, &next_all, &all, 10, &s);
        assert_int_equal(s.n, 1);
    }
    for (int i = 0; i < QN_LOGS_REQUESTS; i++)
        qn_logs_own(l, "a123456789abcdef01234567", "key:b");
    qn_logs_add(l, QN_LOG_INFO, "infer",
                "2026-01-31T12:00:00.123Z info infer id=00112233445566778899aabb");
    read_on(l, &next, &of_a, 10, &s);
    assert_int_equal(s.n, 0); /* forgotten */
    qn_logs_free(l);
}

static void long_lines_are_cut_between_characters(void **state)
{
    (void)state;
    struct qn_logs *l = qn_logs_new();
    struct seen s;
    int64_t next = 1;
    char line[QN_LOGS_LINE_MAX + 3] = "x";
    for (size_t i = 1; i + 2 < sizeof line; i += 2)
        memcpy(line + i, "\xc3\xa9", 3);
    qn_logs_add(l, QN_LOG_INFO, "tag", line);
    read_on(l, &next, NULL, 1, &s);
    assert_int_equal(strlen(s.line), QN_LOGS_LINE_MAX - 1);
    assert_string_equal(s.line + QN_LOGS_LINE_MAX - 3, "\xc3\xa9");
    qn_logs_free(l);
}

static void an_entry_as_json(void **state)
{
    (void)state;
    struct qn_buf out;
    qn_buf_init(&out, 1000);
    struct qn_jw w = qn_jw_to(&out);
    struct qn_logs_entry e = {.seq = 7,
                              .level = QN_LOG_WARN,
                              .tag = "t",
                              .line = "2025-03-30T14:22:01.123Z warn t a \"b\""};
    qn_logs_entry_write(&w, &e);
    assert_string_equal(qn_buf_cstr(&out),
                        "{\"seq\":7,\"timestamp\":\"2025-03-30T14:22:01.123Z\",\"severity\":"
                        "\"Warning\",\"tag\":\"t\",\"line\":\"2025-03-30T14:22:01.123Z warn t a "
                        "\\\"b\\\"\"}");
    qn_buf_deinit(&out);
}

/* ---- followers ---- */

static struct qn_loop *loop;
static struct qn_logs *logs;
static struct qn_logs_follower followers[3];
static int calls[3];

static void on_more(void *ctx)
{
    struct qn_logs_follower *f = ctx;
    calls[f - followers]++;
    if (f == &followers[1]) { /* leaves, and takes its neighbours along */
        for (int i = 0; i < 3; i++)
            qn_logs_unfollow(logs, &followers[i]);
        qn_loop_stop(loop);
    }
}

static void followers_are_told_once_for_many_lines(void **state)
{
    (void)state;
    logs = qn_logs_new();
    assert_int_equal(qn_loop_new(&loop, NULL), QN_OK);
    for (int i = 0; i < 3; i++) {
        followers[i] = (struct qn_logs_follower){.more = on_more, .ctx = &followers[i]};
        qn_logs_follow(logs, loop, &followers[i]);
    }
    for (int i = 0; i < 100; i++)
        qn_logs_add(logs, QN_LOG_INFO, "tag", "line");
    qn_loop_run(loop);
    assert_int_equal(calls[2], 1); /* the last to come is told first */
    assert_int_equal(calls[1], 1);
    assert_int_equal(calls[0], 0);
    qn_logs_add(logs, QN_LOG_INFO, "tag", "no watcher gets this");
    qn_loop_free(loop);
    assert_int_equal(calls[0] + calls[1] + calls[2], 2);
    qn_logs_free(logs);
}

static void *writer(void *ctx)
{
    for (int i = 0; i < 2000; i++)
        qn_logs_add(ctx, QN_LOG_INFO, "thread", "line");
    return NULL;
}

static void any_thread_may_write(void **state)
{
    (void)state;
    struct qn_logs *l = qn_logs_new();
    pthread_t threads[3];
    struct seen s;
    for (size_t i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, writer, l);
    for (int i = 0; i < 20; i++) {
        int64_t next = 1;
        read_on(l, &next, NULL, 100, &s);
    }
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    int64_t next = 1;
    assert_int_equal(read_on(l, &next, NULL, SIZE_MAX, &s), 1000);
    assert_int_equal(s.last, 6000);
    assert_int_equal(s.n, QN_LOGS_LINES);
    qn_logs_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(filters),
        cmocka_unit_test(lines_of_one_owner),
        cmocka_unit_test(long_lines_are_cut_between_characters),
        cmocka_unit_test(an_entry_as_json),
        cmocka_unit_test(followers_are_told_once_for_many_lines),
        cmocka_unit_test(any_thread_may_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
