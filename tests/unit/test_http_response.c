/* io/http_response.c: replies whole and cut anywhere, and replies that no server may send. Expected
 * results are RFC 9112's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/http_response.h"

#include <stdlib.h>
#include <string.h>

struct outcome {
    int status;
    bool done;
    qn_err err;
    char type[QN_RESPONSE_TYPE_MAX];
    struct qn_buf body;
    size_t used;
};

/* Feeds the text in pieces of `step` bytes, each a copy of exact size; then the connection ends. */
static void feed(const char *text, size_t len, size_t step, bool head_only, struct outcome *o)
{
    struct qn_response r;
    struct qn_error e;
    *o = (struct outcome){0};
    qn_buf_init(&o->body, 1 << 20);
    qn_response_init(&r, head_only);
    for (size_t at = 0; at < len && !o->err && !r.done; at += step) {
        size_t n = len - at < step ? len - at : step, from = 0, used, body_len;
        char *piece = malloc(n);
        memcpy(piece, text + at, n);
        while (from < n && !r.done && !o->err) {
            const char *body;
            o->err = qn_response_take(&r, piece + from, n - from, &used, &body, &body_len, &e);
            if (o->err)
                break;
            assert_true(used > 0 || r.done);
            if (body_len) {
                assert_true(body >= piece + from && body + body_len <= piece + from + used);
                assert_int_not_equal(r.status, 0);
                qn_buf_add(&o->body, body, body_len);
            }
            from += used;
            o->used += used;
        }
        free(piece);
    }
    if (!o->err)
        o->err = qn_response_end(&r, &e);
    o->status = r.status;
    o->done = r.done;
    strcpy(o->type, r.type);
    qn_response_deinit(&r);
}

#define HEAD "HTTP/1.1 200 OK\r\n"
#define CHUNKED HEAD "Transfer-Encoding: chunked\r\n\r\n"

static void whole_replies_in_pieces_of_any_size(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int status;
        const char *type, *body;
        size_t behind; /* bytes after its end */
        bool head_only;
    } rows[] = {
        {HEAD "Content-Length: 5\r\nContent-Type:  text/plain; charset=utf-8 \r\n\r\nhello", 200,
         "text/plain; charset=utf-8", "hello", 0, false},
        {HEAD "content-length:5\r\n\r\nhello more", 200, "", "hello", 5, false},
        {"HTTP/1.1 503 \r\nContent-Length: 0\r\n\r\n", 503, "", "", 0, false},
        {"HTTP/1.0 200\n\nto the end", 200, "", "to the end", 0, false},
        {CHUNKED "3\r\nabc\r\n0A;x=\"y\"\r\n0123456789\r\n0\r\n\r\nx", 200, "", "abc0123456789", 1,
         false},
        {CHUNKED "3\nabc\n0\nTrailer: x\nno trailer at all\n\n", 200, "", "abc", 0, false},
        {CHUNKED "0\r\n\r\n", 200, "", "", 0, false},
        {"HTTP/1.1 100 Continue\r\nContent-Type: a/b\r\n\r\n"
         "HTTP/1.1 103 Hints\r\nContent-Length: 7\r\n\r\n" HEAD "Content-Length: 1\r\n\r\nx",
         200, "", "x", 0, false},
        {"HTTP/1.1 204 No\r\nContent-Length: 7\r\n\r\nHTTP/", 204, "", "", 5, false},
        {"HTTP/1.1 304 No\r\nTransfer-Encoding: chunked\r\n\r\n", 304, "", "", 0, false},
        {HEAD "Content-Length: 99\r\nContent-Type: a/b\r\n\r\n", 200, "a/b", "", 0, true},
        {HEAD "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 200, "", "hello", 0, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t len = strlen(rows[i].text);
        for (size_t step = 1; step <= len; step++) {
            struct outcome o;
            feed(rows[i].text, len, step, rows[i].head_only, &o);
            assert_int_equal(o.err, QN_OK);
            assert_true(o.done);
            assert_int_equal(o.status, rows[i].status);
            assert_string_equal(o.type, rows[i].type);
            assert_string_equal(qn_buf_cstr(&o.body), rows[i].body);
            assert_int_equal(o.used, len - rows[i].behind);
            qn_buf_deinit(&o.body);
        }
    }
}

static void every_cut_before_the_end_is_seen(void **state)
{
    (void)state;
    static const char *const texts[] = {
        HEAD "Content-Length: 5\r\n\r\nhello",
        CHUNKED "3\r\nabc\r\n0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n" HEAD "Content-Length: 1\r\n\r\nx",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t len = 0; len < strlen(texts[i]); len++) {
            struct outcome o;
            feed(texts[i], len, 4, false, &o);
            assert_int_equal(o.err, QN_EIO);
            assert_false(o.done);
            qn_buf_deinit(&o.body);
        }
}

static void malformed_replies_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "what is this\r\n\r\n",
        "\r\n" HEAD "Content-Length: 0\r\n\r\n",
        "HTTP/2 200 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 101 Switching\r\n\r\n",
        HEAD "no colon\r\n\r\n",
        HEAD " folded: x\r\n\r\n",
        HEAD "Name : x\r\n\r\n",
        HEAD "Content-Length: -1\r\n\r\n",
        HEAD "Content-Length: 1x\r\n\r\n",
        HEAD "Content-Length:\r\n\r\n",
        HEAD "Content-Length: 9999999999999999999\r\n\r\n",
        HEAD "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        HEAD "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        HEAD "Transfer-Encoding: gzip, chunked\r\n\r\n",
        HEAD "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        HEAD "Content-Type: a/b\rc\r\n\r\n",
        CHUNKED "\r\nabc\r\n",
        CHUNKED "-1\r\nabc\r\n",
        CHUNKED "0x3\r\nabc\r\n",
        CHUNKED "3xyz\r\nabc\r\n",
        CHUNKED "1000000000000000\r\n",
        CHUNKED "3\r\nabcd\r\n0\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct outcome o;
        feed(texts[i], strlen(texts[i]), 1000, false, &o);
        assert_int_equal(o.err, QN_EFORMAT);
        qn_buf_deinit(&o.body);
    }
}

/* `count` times the same line behind a beginning. */
static void repeated(const char *begin, const char *line, size_t count, qn_err expected)
{
    struct qn_buf text;
    struct outcome o;
    qn_buf_init(&text, 16 << 20);
    qn_buf_str(&text, begin);
    for (size_t i = 0; i < count; i++)
        qn_buf_str(&text, line);
    feed(text.data, text.len, 1000, false, &o);
    assert_int_equal(o.err, expected);
    qn_buf_deinit(&o.body);
    qn_buf_deinit(&text);
}

static void what_never_ends_is_refused(void **state)
{
    (void)state;
    repeated(HEAD, "x", QN_RESPONSE_HEAD_MAX, QN_ELIMIT);
    repeated(HEAD, "a: b\r\n", QN_RESPONSE_HEAD_MAX / 6, QN_ELIMIT);
    repeated("", "HTTP/1.1 100 Continue\r\n\r\n", QN_RESPONSE_HEAD_MAX / 25 + 1, QN_ELIMIT);
    repeated(CHUNKED "0\r\n", "a: b\r\n", QN_RESPONSE_HEAD_MAX / 6, QN_ELIMIT);
    repeated(CHUNKED "1;", "x", QN_RESPONSE_HEAD_MAX, QN_ELIMIT);
    repeated(HEAD "Content-Type: ", "x", QN_RESPONSE_TYPE_MAX, QN_EIO); /* the line has no end */
    repeated(CHUNKED, "1\r\nx\r\n", QN_RESPONSE_HEAD_MAX, QN_EIO);      /* chunks may be many */
    struct qn_buf long_type;
    struct outcome o;
    qn_buf_init(&long_type, 4096);
    qn_buf_fmt(&long_type, HEAD "Content-Type: %0*d\r\n\r\n", QN_RESPONSE_TYPE_MAX, 7);
    feed(long_type.data, long_type.len, 1000, false, &o);
    assert_int_equal(o.err, QN_ELIMIT);
    qn_buf_deinit(&o.body);
    qn_buf_deinit(&long_type);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_replies_in_pieces_of_any_size),
        cmocka_unit_test(every_cut_before_the_end_is_seen),
        cmocka_unit_test(malformed_replies_are_refused),
        cmocka_unit_test(what_never_ends_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
