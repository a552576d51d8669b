/* router/models/child_log.c: lines, levels, the ring, the bucket; time is given, not measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/log.h"
#include "models/child_log.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int lines, level_seen;
static char last[8192];

static void sink(void *ctx, enum qn_log_level level, const char *tag, const char *line)
{
    (void)ctx;
    assert_string_equal(tag, "llm/m");
    lines++;
    level_seen = (int)level;
    snprintf(last, sizeof last, "%s", line);
}

static void feed(struct qn_child_log *g, const char *text, int64_t now)
{
    qn_child_log_feed(g, text, strlen(text), now);
}

static int set_up(void **state)
{
    static struct qn_child_log g;
    qn_child_log_init(&g, "llm", "m");
    *state = &g;
    lines = 0;
    return 0;
}

static int tear_down(void **state)
{
    qn_child_log_deinit(*state);
    return 0;
}

static void lines_are_put_together(void **state)
{
    struct qn_child_log *g = *state;
    feed(g, "one\ntw", 0);
    assert_int_equal(lines, 1);
    feed(g, "o\r\n\n\nthree", 0);
    assert_int_equal(lines, 2); /* empty ones are left out */
    assert_non_null(strstr(last, "two"));
    qn_child_log_end(g, 0);
    assert_int_equal(lines, 3);
    assert_non_null(strstr(last, "three"));
}

static void our_own_format_keeps_its_level(void **state)
{
    struct qn_child_log *g = *state;
    feed(g, "2026-01-31T12:00:00.123Z warn child model=x\n", 0);
    assert_int_equal(level_seen, QN_LOG_WARN);
    assert_null(strstr(last, "2026-01-31"));
    assert_non_null(strstr(last, "child model=x"));
    feed(g, "2026-01-31T12:00:00.123Z what child model=x\n", 0);
    assert_int_equal(level_seen, QN_LOG_INFO);
    feed(g, "2026-01-31T12:00:00.123Z warn\n", 0);
    assert_int_equal(level_seen, QN_LOG_INFO);
}

static void a_long_line_is_cut(void **state)
{
    struct qn_child_log *g = *state;
    char big[3 * QN_CHILD_LOG_LINE_MAX];
    memset(big, 'x', sizeof big);
    qn_child_log_feed(g, big, sizeof big, 0);
    feed(g, "\nnext\n", 0);
    assert_int_equal(lines, 2);
    struct qn_buf out;
    qn_buf_init(&out, 1 << 20);
    qn_child_log_print(g, &out);
    assert_int_equal(out.len, QN_CHILD_LOG_LINE_MAX + 1 + 5);
    qn_buf_deinit(&out);
}

static void the_ring_keeps_the_last_twenty(void **state)
{
    struct qn_child_log *g = *state;
    char text[32];
    for (int i = 0; i < 45; i++) {
        snprintf(text, sizeof text, "n%02d\n", i);
        feed(g, text, 0);
    }
    struct qn_buf out;
    qn_buf_init(&out, 1 << 20);
    qn_child_log_print(g, &out);
    assert_int_equal(out.len, 20 * 4);
    assert_int_equal(strncmp(out.data, "n25\nn26\n", 8), 0);
    qn_buf_clear(&out);
    qn_child_log_clear(g);
    qn_child_log_print(g, &out);
    assert_int_equal(out.len, 0);
    qn_buf_deinit(&out);
}

static void a_flood_becomes_a_count(void **state)
{
    struct qn_child_log *g = *state;
    for (int i = 0; i < 5000; i++)
        feed(g, "x\n", 1000000);
    assert_int_equal(lines, QN_CHILD_LOG_BURST);
    feed(g, "x\n", 1001000); /* a second later: the count, and the line */
    assert_int_equal(lines, QN_CHILD_LOG_BURST + 2);
    for (int i = 0; i < 1000; i++)
        feed(g, "x\n", 1001000);
    assert_int_equal(lines, QN_CHILD_LOG_BURST + 1 + QN_CHILD_LOG_RATE);
    qn_child_log_end(g, 1001000);
    assert_non_null(strstr(last, "801 lines left out"));
}

int main(void)
{
    /* The lines themselves go to stderr: not wanted here by the thousand. */
    int null = open("/dev/null", O_WRONLY);
    if (null < 0 || dup2(null, 2) < 0)
        return 1;
    qn_log_set_sink(sink, NULL);
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(lines_are_put_together),         T(our_own_format_keeps_its_level), T(a_long_line_is_cut),
        T(the_ring_keeps_the_last_twenty), T(a_flood_becomes_a_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
