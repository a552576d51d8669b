/* io/stream.c: order of bytes, both marks, both callbacks, the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/stream.h"

#include <stdlib.h>
#include <string.h>

struct calls {
    int readable, drained;
};

static void on_readable(void *ctx)
{
    ((struct calls *)ctx)->readable++;
}

static void on_drained(void *ctx)
{
    ((struct calls *)ctx)->drained++;
}

static void bytes_keep_their_order(void **state)
{
    (void)state;
    struct qn_stream *s = qn_stream_new(NULL, NULL, NULL, NULL);
    unsigned char in = 0, expect = 0, buf[7001];
    size_t written = 0, read = 0;
    for (size_t round = 1; round < 400; round++) {
        size_t n = round * 37 % 5000;
        for (size_t i = 0; i < n; i++)
            buf[i] = in++;
        qn_stream_write(s, buf, n);
        written += n;
        n = qn_stream_read(s, buf, round * 53 % 7000);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(buf[i], expect++);
        read += n;
        assert_int_equal(qn_stream_len(s), written - read);
    }
    qn_stream_free(s);
}

static void readable_is_told_once_per_emptiness(void **state)
{
    (void)state;
    struct calls c = {0};
    struct qn_stream *s = qn_stream_new(on_readable, &c, NULL, NULL);
    char buf[8];
    qn_stream_write(s, "", 0);
    assert_int_equal(c.readable, 0);
    qn_stream_write(s, "ab", 2);
    qn_stream_write(s, "cd", 2);
    assert_int_equal(c.readable, 1);
    assert_int_equal(qn_stream_read(s, buf, 3), 3);
    qn_stream_write(s, "e", 1);
    assert_int_equal(c.readable, 1);
    assert_int_equal(qn_stream_read(s, buf, 8), 2);
    assert_memory_equal(buf, "de", 2);
    assert_int_equal(qn_stream_read(s, buf, 8), 0);
    qn_stream_write(s, "f", 1);
    assert_int_equal(c.readable, 2);
    qn_stream_free(s);
}

static void the_end_is_told_when_nothing_else_would(void **state)
{
    (void)state;
    struct calls c = {0};
    struct qn_stream *s = qn_stream_new(on_readable, &c, NULL, NULL);
    qn_stream_end(s);
    assert_int_equal(c.readable, 1);
    assert_true(qn_stream_ended(s));
    qn_stream_end(s);
    assert_int_equal(c.readable, 1);
    qn_stream_free(s);

    c = (struct calls){0};
    s = qn_stream_new(on_readable, &c, NULL, NULL);
    char buf[4];
    qn_stream_write(s, "x", 1);
    assert_false(qn_stream_closed(s));
    qn_stream_end(s);
    assert_int_equal(c.readable, 1); /* the bytes were told already */
    assert_true(qn_stream_closed(s));
    assert_false(qn_stream_ended(s));
    assert_int_equal(qn_stream_read(s, buf, 4), 1);
    assert_true(qn_stream_ended(s));
    qn_stream_free(s);
}

static void full_lasts_from_the_high_to_the_low_mark(void **state)
{
    (void)state;
    struct calls c = {0};
    struct qn_stream *s = qn_stream_new(NULL, NULL, on_drained, &c);
    char *big = calloc(1, QN_STREAM_HIGH);
    qn_stream_write(s, big, QN_STREAM_HIGH - 1);
    assert_false(qn_stream_full(s));
    qn_stream_read(s, big, QN_STREAM_HIGH);
    assert_int_equal(c.drained, 0); /* was never full */
    qn_stream_write(s, big, QN_STREAM_HIGH);
    assert_true(qn_stream_full(s));
    qn_stream_write(s, big, 10); /* still taken */
    qn_stream_read(s, big, QN_STREAM_HIGH - QN_STREAM_LOW + 9);
    assert_true(qn_stream_full(s)); /* one byte above the low mark */
    assert_int_equal(c.drained, 0);
    qn_stream_read(s, big, 1);
    assert_false(qn_stream_full(s));
    assert_int_equal(c.drained, 1);
    qn_stream_read(s, big, QN_STREAM_HIGH);
    assert_int_equal(c.drained, 1);
    qn_stream_write(s, big, QN_STREAM_HIGH);
    qn_stream_end(s);
    qn_stream_read(s, big, QN_STREAM_HIGH);
    assert_int_equal(c.drained, 1); /* no room is wanted after the end */
    free(big);
    qn_stream_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_keep_their_order),
        cmocka_unit_test(readable_is_told_once_per_emptiness),
        cmocka_unit_test(the_end_is_told_when_nothing_else_would),
        cmocka_unit_test(full_lasts_from_the_high_to_the_low_mark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
