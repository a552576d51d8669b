/* What downloads decide without a network: which addresses are public (registry/address.c), what a
 * reply's head says (reply_head.c), which URLs may be asked (web_way.c), how fast (rate.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/public_address.h"
#include "registry/rate.h"
#include "registry/reply_head.h"
#include "registry/web_way.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static bool public(const char *text)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return qn_address_public((struct sockaddr *)&v4);
    assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
    return qn_address_public((struct sockaddr *)&v6);
}

/* First and last addresses of the blocks of RFC 6890 and its registries, and their neighbours. */
static void addresses(void **state)
{
    (void)state;
    static const char *const yes[] = {
        "1.1.1.1",         "9.255.255.255",    "11.0.0.0",          "100.63.255.255",
        "100.128.0.0",     "126.255.255.255",  "128.0.0.0",         "169.253.255.255",
        "169.255.0.0",     "172.15.255.255",   "172.32.0.0",        "192.0.1.255",
        "192.167.255.255", "192.169.0.0",      "198.17.255.255",    "198.20.0.0",
        "223.255.255.255", "2606:4700::1",     "2a00:1450:4001::1", "2001:4860:4860::8888",
        "::ffff:1.1.1.1",  "64:ff9b::1.1.1.1", "2002:101:101::1",   "2001:200::1",
    };
    static const char *const no[] = {
        "0.0.0.0",
        "0.255.255.255",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
        "169.254.0.0",
        "169.254.169.254",
        "172.16.0.0",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.168.0.0",
        "192.168.255.255",
        "198.18.0.0",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.0",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "fc00::1",
        "fdff::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.1.2.3",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::1",
        "2002:7f00:1::1",
        "2002:a00:1::1",
        "2001:db8::1",
        "2001::1",
        "2001:1ff::1",
        "100::1",
        "3fff:fff::1",
        "4000::1",
    };
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!public(yes[i]))
            fail_msg("%s is public", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (public(no[i]))
            fail_msg("%s is not public", no[i]);
    struct sockaddr other = {.sa_family = AF_UNIX};
    assert_false(qn_address_public(&other));
}

static void hosts_written_as_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *host;
        bool public, number;
    } rows[] = {
        {"huggingface.co", true, false},
        {"localhost", true, false}, /* found when it is resolved */
        {"1.1.1.1", true, true},
        {"127.0.0.1", false, true},
        {"127.1", false, true},
        {"0x7f000001", false, true},
        {"017700000001", false, true},
        {"2130706433", false, true},
        {"[::1]", false, true},
        {"::1", false, true},
        {"[fe80::1%25eth0]", false, true},
        {"[2606:4700::1]", true, true},
        {"1.2.3.4.example", true, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool number;
        if (qn_address_host_public(rows[i].host, &number) != rows[i].public ||
            number != rows[i].number)
            fail_msg("%s", rows[i].host);
    }
}

static struct qn_reply_head head_of(const char *lines, int64_t wall_ms)
{
    struct qn_reply_head h = {.status = 0};
    for (const char *s = lines, *end; *s; s = end) {
        end = strchr(s, '\n');
        end = end ? end + 1 : s + strlen(s);
        qn_reply_head_line(&h, s, (size_t)(end - s), wall_ms);
    }
    return h;
}

static void heads(void **state)
{
    (void)state;
    struct qn_reply_head h = head_of("HTTP/1.1 100 Continue\r\nETag: \"old\"\r\n\r\n"
                                     "HTTP/2 206 \r\ncontent-range: bytes 5-9/100\r\n"
                                     "Content-Length:5\r\nETag: W/\"a b\"\r\netag: \"x\"\r\n"
                                     "Location: https://example.com/a?b#c \r\n\r\n",
                                     0);
    assert_int_equal(h.status, 206);
    assert_true(h.ranged && !h.encoded);
    assert_int_equal(h.first, 5);
    assert_int_equal(h.last, 9);
    assert_int_equal(h.total, 100);
    assert_int_equal(h.length, 5);
    assert_int_equal(h.retry_after_s, -1);
    assert_string_equal(h.etag, "\"x\"");
    assert_string_equal(h.location, "https://example.com/a?b#c");
    h = head_of("HTTP/1.1 200 OK\r\n", 0);
    assert_int_equal(h.length, -1);
    assert_string_equal(h.etag, "");
    assert_int_equal(head_of("Content-Length: 5\r\n", 0).length, 0); /* before any status line */
    assert_true(head_of("HTTP/1.1 200\r\nContent-Encoding: gzip\r\n", 0).encoded);
    assert_false(head_of("HTTP/1.1 200\r\nContent-Encoding: identity\r\n", 0).encoded);
}

static void content_ranges(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        bool ranged;
        int64_t first, last, total;
    } rows[] = {
        {"bytes 0-0/1", true, 0, 0, 1},
        {"bytes 0-99/*", true, 0, 99, -1},
        {"bytes */1234", true, -1, -1, 1234},
        {"bytes */0", true, -1, -1, 0},
        {"BYTES  7-8/9", true, 7, 8, 9},
        {"bytes */*", false, -1, -1, -1},
        {"bytes 5-4/10", false, -1, -1, -1},
        {"bytes 0-10/10", false, -1, -1, -1}, /* the last byte is number 9 */
        {"bytes 0-9/10x", false, -1, -1, -1},
        {"bytes 0-9", false, -1, -1, -1},
        {"bytes -1-9/10", false, -1, -1, -1},
        {"items 0-9/10", false, -1, -1, -1},
        {"bytes 0-9223372036854775808/*", false, -1, -1, -1},
        {"bytes 0-9/9223372036854775808", false, -1, -1, -1},
        {"bytes 0-9223372036854775806/9223372036854775807", true, 0, INT64_MAX - 1, INT64_MAX},
        {"", false, -1, -1, -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[200];
        snprintf(text, sizeof text, "HTTP/1.1 206\r\nContent-Range: %s\r\n", rows[i].line);
        struct qn_reply_head h = head_of(text, 0);
        if (h.ranged != rows[i].ranged || h.first != rows[i].first || h.last != rows[i].last ||
            h.total != rows[i].total)
            fail_msg("%s", rows[i].line);
    }
}

static void retry_after(void **state)
{
    (void)state;
    /* 1994-11-06 08:49:37 UTC, the example of RFC 9110 5.6.7. */
    const int64_t then_ms = 784111777000;
    static const struct {
        const char *value;
        int64_t before_s;
        int expected;
    } rows[] = {
        {"0", 0, 0},
        {"120", 0, 120},
        {"600", 0, 600},
        {"601", 0, 601},
        {"99999999999", 0, 601},
        {"-1", 0, -1},
        {"1.5", 0, -1},
        {"soon", 0, -1},
        {"Sun, 06 Nov 1994 08:49:37 GMT", 30, 30},
        {"Sunday, 06-Nov-94 08:49:37 GMT", 30, 30},
        {"Sun Nov  6 08:49:37 1994", 30, 30},
        {"Sun, 06 Nov 1994 08:49:37 GMT", -30, 0}, /* past */
        {"Sun, 06 Nov 1994 08:49:37 GMT", 100000, 601},
        {"Sun, 06 Xyz 1994 08:49:37 GMT", 30, -1},
        {"Sun, 06 anF 1994 08:49:37 GMT", 30, -1},
        {"Sun, 36 Nov 1994 08:49:37 GMT", 30, -1},
        {"Sun, 06 Nov 1994 28:49:37 GMT", 30, -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[200];
        snprintf(text, sizeof text, "HTTP/1.1 503\r\nRetry-After: %s\r\n", rows[i].value);
        int got = head_of(text, then_ms - rows[i].before_s * 1000).retry_after_s;
        if (got != rows[i].expected)
            fail_msg("%s: %d", rows[i].value, got);
    }
}

static void etags(void **state)
{
    (void)state;
    static const struct {
        const char *line, *etag;
        bool strong;
    } rows[] = {
        {"\"abc\"", "\"abc\"", true}, {"W/\"abc\"", "W/\"abc\"", false},
        {"\"\"", "\"\"", true},       {"abc", "", false},
        {"\"a\"b\"", "", false},      {"\"a b\"", "", false},
        {"\"a", "", false},           {"\"", "", false},
        {"w/\"a\"", "", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[200];
        snprintf(text, sizeof text, "HTTP/1.1 200\r\nETag: %s\r\n", rows[i].line);
        struct qn_reply_head h = head_of(text, 0);
        assert_string_equal(h.etag, rows[i].etag);
        assert_int_equal(qn_etag_strong(h.etag), rows[i].strong);
    }
    char longer[400] = "HTTP/1.1 200\r\nETag: \"";
    memset(longer + strlen(longer), 'a', 300);
    strcat(longer, "\"\r\n");
    assert_string_equal(head_of(longer, 0).etag, "");
}

static void urls(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        bool plain, hub,
            permitted; /* by default; with the http hub configured; with allow_private */
    } rows[] = {
        {"https://huggingface.co/a", true, true, true},
        {"HTTPS://HUGGINGFACE.CO/a", true, true, true},
        {"http://huggingface.co/a", false, false, true},
        {"http://hub.lan:8080/a", false, true, true},
        {"http://hub.lan:8081/a", false, false, true},
        {"https://hub.lan:8080/a", true, true, true}, /* another scheme; judged when resolved */
        {"http://hub.lan/a", false, false, true},
        {"https://10.0.0.1/", false, false, true},
        {"https://10.0.0.2:8443/x", false, true, true},
        {"https://user@example.com/", false, false, false},
        {"huggingface.co/a", false, false, false},
        {"file:///etc/passwd", false, false, false},
        {"ftp://example.com/", false, false, false},
        {"https://a b/", false, false, false},
        {"", false, false, false},
    };
    struct qn_web web = {.offline = NULL};
    struct qn_web hub = {.endpoints = {NULL, "http://hub.lan:8080", "https://10.0.0.2:8443/api"}};
    struct qn_web permitted = {.allow_private = true};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_error e;
        if (!qn_web_allowed(&web, rows[i].url, &e) != rows[i].plain ||
            !qn_web_allowed(&hub, rows[i].url, &e) != rows[i].hub ||
            !qn_web_allowed(&permitted, rows[i].url, &e) != rows[i].permitted)
            fail_msg("%s", rows[i].url);
    }
}

static void ways(void **state)
{
    (void)state;
    struct qn_web web = {.endpoints = {"http://hub.lan:8080"}};
    struct qn_way w = {.web = NULL};
    struct qn_error e;
    assert_int_equal(qn_way_begin(&w, &web, "https://example.com/a/b?c", "t", &e), QN_OK);
    assert_int_equal(qn_way_redirect(&w, "../d", &e), QN_OK);
    assert_string_equal(w.url, "https://example.com/d");
    assert_int_equal(qn_way_redirect(&w, "//other.example/x", &e), QN_OK);
    assert_string_equal(w.url, "https://other.example/x");
    /* Down to http, even to a configured hub of http: never. */
    assert_int_equal(qn_way_redirect(&w, "http://other.example/", &e), QN_EINVAL);
    assert_int_equal(qn_way_redirect(&w, "http://hub.lan:8080/", &e), QN_EINVAL);
    assert_false(w.private_ok);
    /* A hub that is reached over http may send on to http, but not into the house. */
    assert_int_equal(qn_way_begin(&w, &web, "http://hub.lan:8080/a", NULL, &e), QN_OK);
    assert_true(w.private_ok);
    assert_int_equal(qn_way_redirect(&w, "http://cdn.example/", &e), QN_OK);
    assert_false(w.private_ok);
    assert_int_equal(qn_way_redirect(&w, "http://192.168.1.1/", &e), QN_EINVAL);
    qn_way_deinit(&w);
    atomic_bool offline = false;
    web.offline = &offline;
    assert_int_equal(qn_way_begin(&w, &web, "https://example.com/", NULL, &e), QN_OK);
    qn_way_deinit(&w);
    offline = true;
    assert_int_equal(qn_way_begin(&w, &web, "https://example.com/", NULL, &e), QN_EUNSUPPORTED);
    char shown[QN_WEB_SHOWN_MAX];
    assert_string_equal(qn_web_shown("https://h/p?X-Signature=secret#f", shown), "https://h/p");
}

static void rates(void **state)
{
    (void)state;
    struct qn_rate r = {.bytes_s = 1000};
    const int64_t s = 1000000;
    assert_int_equal(qn_rate_take(NULL, 1 << 30, 0), 0);
    /* A second's worth may not be followed by more for a second, less the burst. */
    assert_int_equal(qn_rate_take(&r, 1000, 10 * s), 1000 - QN_RATE_BURST_MS);
    assert_int_equal(qn_rate_take(&r, 1000, 11 * s), 1000 - QN_RATE_BURST_MS);
    assert_int_equal(qn_rate_take(&r, 500, 11 * s), 1500 - QN_RATE_BURST_MS);
    /* What was not used is not saved up. */
    assert_int_equal(qn_rate_take(&r, 1000, 100 * s), 1000 - QN_RATE_BURST_MS);
    assert_int_equal(qn_rate_take(&r, 100, 102 * s), 0);
    atomic_store(&r.bytes_s, 0);
    assert_int_equal(qn_rate_take(&r, 1 << 30, 102 * s), 0);
}

static void pauses(void **state)
{
    (void)state;
    struct qn_web web = {.pause_ms = 100};
    for (int i = 0; i < 200; i++) {
        int64_t first = qn_web_pause_ms(&web, 1), fourth = qn_web_pause_ms(&web, 4);
        assert_in_range(first, 50, 100);
        assert_in_range(fourth, 400, 800);
        assert_in_range(qn_web_pause_ms(&web, 60), QN_WEB_PAUSE_MAX_MS / 2, QN_WEB_PAUSE_MAX_MS);
    }
}

/* What a proxy would look up in its own network is refused before it is asked. */
static void behind_a_proxy(void **state)
{
    (void)state;
    static const char *const inside[] = {"https://intranet/x",      "https://nas.local/x",
                                         "https://NAS.Local./x",    "https://a.b.internal/x",
                                         "https://router.lan:8443", "https://x.home.arpa/",
                                         "https://localhost/x",     "https://10.0.0.1/x"};
    struct qn_web web = {0}, permitted = {.allow_private = true};
    struct qn_error e = {0};
    assert_int_equal(qn_web_allowed(&web, inside[0], &e), QN_OK); /* its address will be judged */
    setenv("https_proxy", "http://proxy:3128", 1);
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        assert_int_equal(qn_web_allowed(&web, inside[i], &e), QN_EINVAL);
        assert_int_equal(qn_web_allowed(&permitted, inside[i], &e), QN_OK);
    }
    assert_int_equal(qn_web_allowed(&web, "https://huggingface.co/x", &e), QN_OK);
    assert_int_equal(qn_web_allowed(&web, "https://local.example/x", &e), QN_OK);
    struct qn_way way = {.web = NULL};
    assert_int_equal(qn_way_begin(&way, &web, "https://huggingface.co/x", NULL, &e), QN_OK);
    assert_int_equal(qn_way_redirect(&way, "https://metadata.google.internal/", &e), QN_EINVAL);
    assert_int_equal(qn_way_redirect(&way, "https://cdn.example/y", &e), QN_OK);
    qn_way_deinit(&way);
    setenv("no_proxy", ".internal", 1); /* that is reached directly, and judged then */
    assert_int_equal(qn_web_allowed(&web, "https://a.internal/x", &e), QN_OK);
    unsetenv("https_proxy");
    unsetenv("no_proxy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(behind_a_proxy),
        cmocka_unit_test(addresses),
        cmocka_unit_test(hosts_written_as_numbers),
        cmocka_unit_test(heads),
        cmocka_unit_test(content_ranges),
        cmocka_unit_test(retry_after),
        cmocka_unit_test(etags),
        cmocka_unit_test(urls),
        cmocka_unit_test(ways),
        cmocka_unit_test(rates),
        cmocka_unit_test(pauses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
