/* io/http_head.c: complete, incomplete and malformed heads, targets and queries. Expected results
 * are RFC 9112's and RFC 3986's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/http_head.h"
#include "io/http_target.h"

#include <string.h>

enum { MAX = 1024 };

static void statuses(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int status;
    } rows[] = {
        {"", 0},
        {"GET", 0},
        {"GET / HTTP/1.1\r\n", 0},
        {"GET / HTTP/1.1\r\nHost: x\r\n", 0},
        {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 200},
        {"GET / HTTP/1.0\n\n", 200},
        {"\r\n\r\nGET / HTTP/1.1\r\nHost:\r\n\r\n", 200}, /* empty lines before are let pass */
        {"GET / HTTP/1.1\r\nHost: x\r\n\r\nbody", 200},
        {"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 200},
        {"M-SEARCH * HTTP/1.1\r\nHost: x\r\n", 400},
        {"GET http://h/x HTTP/1.1\r\nHost: h\r\nA:\r\nB: \t v \t\r\n\r\n", 200},
        {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\ncontent-length: 12\r\n\r\n", 200},
        {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n", 200},
        {"GET /\r\n", 400},
        {" GET / HTTP/1.1\r\n", 400},
        {"GET  / HTTP/1.1\r\n", 400},
        {"GET / HTTP/1.1 \r\n", 400},
        {"G(T / HTTP/1.1\r\n", 400},
        {"GET /a b HTTP/1.1\r\n", 400},
        {"GET / FTP/1.1\r\n", 400},
        {"GET / HTTP/11\r\n", 400},
        {"GET / HTTP/2.0\r\n", 505},
        {"GET / HTTP/1.2\r\n", 505},
        {"AVERYLONGMETHODNAMETHATISNOTINUSE / HTTP/1.1\r\n", 400},
        {"GET / HTTP/1.1\r\n: x\r\n", 400},
        {"GET / HTTP/1.1\r\nA\r\n", 400},
        {"GET / HTTP/1.1\r\nA : x\r\n", 400},
        {"GET / HTTP/1.1\r\nA: x\r\n y\r\n", 400},
        {"GET / HTTP/1.1\r\nA: x\x01\r\n", 400},
        {"GET / HTTP/1.1\r\nA: x\x7f\r\n", 400},
        {"GET / HTTP/1.1\r\nA: \r x\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length:\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length: +1\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length: 1, 1\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length: 1234567890123456789\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n", 400},
        {"GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n", 400},
        {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_head h;
        qn_head_check(rows[i].text, strlen(rows[i].text), MAX, &h);
        if (h.status != rows[i].status)
            print_error("%s: %d\n", rows[i].text, h.status);
        assert_int_equal(h.status, rows[i].status);
    }
}

static void parts(void **state)
{
    (void)state;
    struct qn_head h;
    const char *text = "POST /a/b?c=d HTTP/1.1\r\nHost: x\r\n\r\nrest";
    qn_head_check(text, strlen(text), MAX, &h);
    assert_string_equal(h.method, "POST");
    assert_int_equal(h.target_len, 8);
    assert_memory_equal(h.target, "/a/b?c=d", 8);
    assert_int_equal(h.len, strlen(text) - 4);
}

static void too_long(void **state)
{
    (void)state;
    char text[MAX + 200];
    struct qn_head h;
    memset(text, 'a', sizeof text);
    memcpy(text, "GET / HTTP/1.0\r\nA: ", 19);
    qn_head_check(text, MAX - 1, MAX, &h);
    assert_int_equal(h.status, 0);
    qn_head_check(text, MAX, MAX, &h);
    assert_int_equal(h.status, 431);
    memcpy(text + MAX - 4, "\r\n\r\n", 4); /* fits to the byte */
    qn_head_check(text, MAX, MAX, &h);
    assert_int_equal(h.status, 200);
    memset(text + MAX - 4, 'a', 4);
    memcpy(text + MAX - 3, "\r\n\r\n", 4); /* one byte too many */
    qn_head_check(text, sizeof text, MAX, &h);
    assert_int_equal(h.status, 431);
}

static void targets(void **state)
{
    (void)state;
    static const struct {
        const char *target, *path, *query; /* path NULL: refused */
    } rows[] = {
        {"/", "/", ""},
        {"/a%20b/%c3%A4?x=%20&y", "/a b/\xc3\xa4", "x=%20&y"},
        {"/a+b?", "/a+b", ""},
        {"http://host:1/x?y", "/x", "y"},
        {"HTTP://host", "/", ""},
        {"*", "*", ""},
        {"/%2e%2e/x", "/../x", ""},
        {"/%", NULL, NULL},
        {"/%4", NULL, NULL},
        {"/%zz", NULL, NULL},
        {"/%00", NULL, NULL},
        {"/%ff", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_arena *a = qn_arena_new(65536);
        char *path, *query;
        bool ok = qn_target_split(rows[i].target, strlen(rows[i].target), a, &path, &query);
        assert_int_equal(ok, rows[i].path != NULL);
        if (ok) {
            assert_string_equal(path, rows[i].path);
            assert_string_equal(query, rows[i].query);
        }
        qn_arena_free(a);
    }
}

static void queries(void **state)
{
    (void)state;
    struct qn_arena *a = qn_arena_new(65536);
    const char *q = "a=1&b=x+y%26z&&flag&c%20d=e&a=2&bad=%zz&empty=&%zz=3";
    assert_string_equal(qn_query_find(q, "a", a), "1");
    assert_string_equal(qn_query_find(q, "b", a), "x y&z");
    assert_string_equal(qn_query_find(q, "flag", a), "");
    assert_string_equal(qn_query_find(q, "c d", a), "e");
    assert_string_equal(qn_query_find(q, "empty", a), "");
    assert_null(qn_query_find(q, "bad", a));
    assert_null(qn_query_find(q, "none", a));
    assert_null(qn_query_find("", "a", a));
    qn_arena_free(a);
}

static void fields(void **state)
{
    (void)state;
    static const char head[] =
        "GET / HTTP/1.1\r\nHost:a:80\r\nUPGRADE: \t websocket \r\nx-list: a\n"
        "X-List:b, c\r\nEmpty:\r\nX-List2: d\r\n\r\nHost: not mine\r\n";
    struct qn_arena *a = qn_arena_new(1000);
    struct qn_head h;
    qn_head_check(head, sizeof head - 1, MAX, &h);
    assert_int_equal(h.status, 200);
    assert_true(h.framing.upgrade);
    assert_string_equal(qn_head_field(head, h.len, "host", a), "a:80");
    assert_string_equal(qn_head_field(head, h.len, "Upgrade", a), "websocket");
    assert_string_equal(qn_head_field(head, h.len, "X-List", a), "a, b, c"); /* RFC 9110, 5.3 */
    assert_string_equal(qn_head_field(head, h.len, "Empty", a), "");
    assert_null(qn_head_field(head, h.len, "List", a));
    qn_arena_free(a);
    static const char plain[] = "GET /upgrade HTTP/1.0\r\nX-Upgrade: upgrade\r\n\r\n";
    qn_head_check(plain, sizeof plain - 1, MAX, &h);
    assert_false(h.framing.upgrade);
    assert_true(qn_head_lists("keep-alive, Upgrade", "upgrade"));
    assert_true(qn_head_lists("Upgrade", "upgrade"));
    assert_false(qn_head_lists("upgraded,no-upgrade", "upgrade"));
    assert_false(qn_head_lists("", "upgrade"));
    assert_false(qn_head_lists(NULL, "upgrade"));
}

/* As many fields of one name as fit into a head cost no more than the head. */
static void many_fields_of_a_name(void **state)
{
    (void)state;
    struct qn_arena *a = qn_arena_new(16 * 1024);
    struct qn_buf head;
    qn_buf_init(&head, 16 * 1024);
    for (int i = 0; i < 3000; i++)
        qn_buf_str(&head, "A:b\r\n");
    const char *all = qn_head_field(head.data, head.len, "a", a);
    assert_int_equal(strlen(all), 3000 + 2 * 2999);
    qn_buf_deinit(&head);
    qn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses),
        cmocka_unit_test(parts),
        cmocka_unit_test(too_long),
        cmocka_unit_test(targets),
        cmocka_unit_test(queries),
        cmocka_unit_test(fields),
        cmocka_unit_test(many_fields_of_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
