/* formats/websocket.c: the RFC's own examples (RFC 6455, 1.3 and 5.7), each rule of section 5 that
 * a client can break with the close code it earns, and any cut of the bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/websocket.h"

#include <string.h>

enum { MAX = 300, LOG_MAX = 4096 };

/* What came, as text: "T<hello>", "C1000<bye>". */
static struct qn_buf got;
static bool stop_at_messages;

static bool on_frame(void *ctx, enum qn_websocket_kind kind, int code, const char *data, size_t n)
{
    (void)ctx;
    static const char names[] = "?TB?????CPO";
    qn_buf_char(&got, names[kind]);
    if (kind == QN_WEBSOCKET_CLOSE)
        qn_buf_fmt(&got, "%d", code);
    qn_buf_char(&got, '<');
    qn_buf_add(&got, data, n);
    qn_buf_char(&got, '>');
    assert_int_equal(data[n], 0);
    return !(stop_at_messages && kind < QN_WEBSOCKET_CLOSE);
}

/* Feeds bytes in pieces of `step`; returns the error. */
static int feed(const void *bytes, size_t n, size_t step)
{
    struct qn_websocket_reader r;
    qn_buf_clear(&got);
    qn_websocket_reader_init(&r, MAX, on_frame, NULL);
    for (size_t at = 0; at < n; at += step)
        qn_websocket_feed(&r, (const char *)bytes + at, n - at < step ? n - at : step);
    int error = r.error;
    assert_true(!error || r.why);
    qn_websocket_reader_deinit(&r);
    return error;
}

static int set_up(void **state)
{
    (void)state;
    qn_buf_init(&got, LOG_MAX);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    qn_buf_deinit(&got);
    return 0;
}

static void handshake(void **state)
{
    (void)state;
    char accept[QN_WEBSOCKET_ACCEPT_LEN + 1];
    qn_websocket_accept("dGhlIHNhbXBsZSBub25jZQ==", accept); /* section 1.3 */
    assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_true(qn_websocket_key_ok("dGhlIHNhbXBsZSBub25jZQ=="));
    static const char *const bad[] = {NULL,
                                      "",
                                      "dGhlIHNhbXBsZSBub25jZQ=",
                                      "dGhlIHNhbXBsZSBub25jZQ===",
                                      "dGhlIHNhbXBsZSBub25jZQ.=",
                                      "dGhlIHNhbXBsZSBub25jZWE=" /* 17 bytes */,
                                      "dGhlIHNhbXBsZSBub25j ZQ="};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(qn_websocket_key_ok(bad[i]));
}

static void headers(void **state)
{
    (void)state;
    static const struct {
        enum qn_websocket_kind kind;
        bool first, last;
        size_t n, len;
        uint8_t bytes[QN_WEBSOCKET_HEADER_MAX];
    } rows[] = {
        {QN_WEBSOCKET_TEXT, true, true, 5, 2, {0x81, 0x05}},  /* 5.7 */
        {QN_WEBSOCKET_TEXT, true, false, 3, 2, {0x01, 0x03}}, /* 5.7: fragments */
        {QN_WEBSOCKET_TEXT, false, true, 2, 2, {0x80, 0x02}},
        {QN_WEBSOCKET_BINARY, true, true, 256, 4, {0x82, 0x7E, 0x01, 0x00}},
        {QN_WEBSOCKET_BINARY, true, true, 65536, 10, {0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0}},
        {QN_WEBSOCKET_TEXT, true, true, 125, 2, {0x81, 125}},
        {QN_WEBSOCKET_TEXT, true, true, 126, 4, {0x81, 126, 0, 126}},
        {QN_WEBSOCKET_TEXT, true, true, 65535, 4, {0x81, 126, 0xFF, 0xFF}},
        {QN_WEBSOCKET_PONG, true, true, 0, 2, {0x8A, 0x00}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t out[QN_WEBSOCKET_HEADER_MAX];
        size_t n = qn_websocket_header(rows[i].kind, rows[i].first, rows[i].last, rows[i].n, out);
        assert_int_equal(n, rows[i].len);
        assert_memory_equal(out, rows[i].bytes, n);
    }
}

#define ROW(bytes, error, text)                                                                    \
    {                                                                                              \
        bytes, sizeof bytes - 1, error, text                                                       \
    }
/* A mask of zeros leaves text readable. */
#define Z "\0\0\0\0"

static void frames(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        int error;
        const char *got;
    } rows[] = {
        ROW("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", 0, "T<Hello>"), /* 5.7 */
        ROW("\x01\x83" Z "Hel\x80\x82" Z "lo", 0, "T<Hello>"),
        ROW("\x01\x83" Z "Hel\x89\x81" Z "p\x80\x82" Z "lo", 0, "P<p>T<Hello>"),
        ROW("\x82\x80" Z, 0, "B<>"),
        ROW("\x8a\x80" Z "\x81\x81" Z "a", 0, "O<>T<a>"),
        ROW("\x02\x81" Z "\xff\x00\x80" Z "\x80\x80" Z, 0, "B<\xff>"),
        ROW("\x81\x82" Z "\xc3\xa9", 0, "T<\xc3\xa9>"),
        ROW("\x01\x81" Z "\xc3\x80\x81" Z "\xa9", 0, "T<\xc3\xa9>"), /* a character cut in two */
        ROW("\x88\x80" Z "\x81\x81" Z "a", 0, "C1005<>"),            /* nothing is read behind it */
        ROW("\x88\x82" Z "\x03\xe8", 0, "C1000<>"),
        ROW("\x88\x85" Z "\x03\xe8"
            "bye",
            0, "C1000<bye>"),
        ROW("\x88\x82" Z "\x03\xf4", 0, "C1012<>"),
        ROW("\x88\x82" Z "\x0f\xa0", 0, "C4000<>"),
        ROW("\x81\x01"
            "a",
            1002, ""),                   /* not masked */
        ROW("\xc1\x81" Z "a", 1002, ""), /* reserved bits */
        ROW("\xa1\x81" Z "a", 1002, ""),
        ROW("\x91\x81" Z "a", 1002, ""),
        ROW("\x83\x80" Z, 1002, ""), /* opcodes that mean nothing */
        ROW("\x8b\x80" Z, 1002, ""),
        ROW("\x09\x80" Z, 1002, ""),     /* a control frame in fragments */
        ROW("\x89\xfe" Z, 1002, ""),     /* or long */
        ROW("\x80\x81" Z "a", 1002, ""), /* nothing to continue */
        ROW("\x01\x81" Z "a\x81\x81" Z "b", 1002, ""),
        ROW("\x81\xfe\x00\x05" Z "hello", 1002, ""), /* lengths in a longer form than needed */
        ROW("\x81\xff\0\0\0\0\0\0\xff\xff" Z, 1002, ""),
        ROW("\x81\xff\x80\0\0\0\0\0\0\0" Z, 1002, ""),
        ROW("\x81\xfe\x01\x2d" Z, 1009, ""), /* 301 bytes, told by the header alone */
        ROW("\x81\xff\0\0\x01\0\0\0\0\0" Z, 1009, ""),
        ROW("\x01\x81" Z "a\x80\xfe\x01\x2c" Z, 1009, ""), /* 1 + 300 */
        ROW("\x81\x81" Z "\xff", 1007, ""),
        ROW("\x81\x82" Z "\xc0\x80", 1007, ""),     /* overlong */
        ROW("\x81\x83" Z "\xed\xa0\x80", 1007, ""), /* a surrogate */
        ROW("\x81\x81" Z "\xc3", 1007, ""),         /* cut off */
        ROW("\x88\x81" Z "\x03", 1002, ""),         /* half a code */
        ROW("\x88\x82" Z "\x03\xe7", 1002, ""),     /* 999 */
        ROW("\x88\x82" Z "\x03\xec", 1002, ""),     /* 1004 */
        ROW("\x88\x82" Z "\x03\xed", 1002, ""),     /* 1005 */
        ROW("\x88\x82" Z "\x03\xee", 1002, ""),     /* 1006 */
        ROW("\x88\x82" Z "\x03\xf7", 1002, ""),     /* 1015 */
        ROW("\x88\x82" Z "\x07\xd0", 1002, ""),     /* 2000 */
        ROW("\x88\x82" Z "\x13\x88", 1002, ""),     /* 5000 */
        ROW("\x88\x83" Z "\x03\xe8\xff", 1007, ""),
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t step = 1; step <= rows[i].n; step++) {
            if (feed(rows[i].bytes, rows[i].n, step) != rows[i].error)
                fail_msg("row %zu step %zu", i, step);
            if (strcmp(qn_buf_cstr(&got), rows[i].got) != 0)
                fail_msg("row %zu step %zu: %s", i, step, qn_buf_cstr(&got));
        }
}

static void a_message_of_the_largest_size(void **state)
{
    (void)state;
    char bytes[8 + MAX] = "\x82\xfe\x01\x2c" Z;
    memset(bytes + 8, 'x', MAX);
    assert_int_equal(feed(bytes, sizeof bytes, sizeof bytes), 0);
    assert_int_equal(got.len, MAX + 3);
}

static void stops_when_told(void **state)
{
    (void)state;
    static const char bytes[] = "\x81\x81" Z "a\x81\x81" Z "b\x89\x80" Z;
    struct qn_websocket_reader r;
    qn_buf_clear(&got);
    qn_websocket_reader_init(&r, MAX, on_frame, NULL);
    stop_at_messages = true;
    size_t n = sizeof bytes - 1, used = qn_websocket_feed(&r, bytes, n);
    assert_int_equal(used, 7);
    assert_string_equal(qn_buf_cstr(&got), "T<a>");
    used += qn_websocket_feed(&r, bytes + used, n - used);
    assert_int_equal(used, 14);
    used += qn_websocket_feed(&r, bytes + used, n - used);
    assert_int_equal(used, n);
    assert_string_equal(qn_buf_cstr(&got), "T<a>T<b>P<>");
    stop_at_messages = false;
    qn_websocket_reader_deinit(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handshake),       cmocka_unit_test(headers),
        cmocka_unit_test(frames),          cmocka_unit_test(a_message_of_the_largest_size),
        cmocka_unit_test(stops_when_told),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
