/* What a strict server says to well formed and malformed requests (http_cases.inc): the same answer
 * to the first request of a connection, to a later one, and however the bytes are cut. */
#include "http_server_world.h"

#include "io/http_reader.h"

#include <netinet/tcp.h>

struct row {
    int status;
    bool last; /* the connection ends behind it */
    const char *bytes;
    size_t n;
    const char *want; /* where it is served: the body that is sent back */
};

#define ALL(status, bytes) {status, false, bytes, sizeof(bytes) - 1, ""},
#define LAST(status, bytes) {status, true, bytes, sizeof(bytes) - 1, ""},
#define LINE(status, line) ALL(status, line "\r\nHost: x\r\n\r\n")
#define BARE(status, fields) ALL(status, "POST /echo HTTP/1.1\r\n" fields "\r\n")
#define HEAD(status, fields) BARE(status, "Host: x\r\n" fields)
#define WITH(status, want, bytes) {status, false, bytes, sizeof(bytes) - 1, want},
#define SIZED(status, want, fields, bytes)                                                         \
    WITH(status, want, "POST /echo HTTP/1.1\r\nHost: x\r\n" fields "\r\n" bytes)
#define BODY(status, want, bytes) SIZED(status, want, "Transfer-Encoding: chunked\r\n", bytes)

static const struct row rows[] = {
#include "http_cases.inc"
};

enum { ROWS = sizeof rows / sizeof *rows };

/* ---- the reader alone ---- */

struct outcome {
    int requests, status;
    struct qn_buf bodies;
};

/* step 0: in pieces of sizes that a small generator gives. */
static void read_all(const struct row *row, size_t step, struct outcome *o)
{
    struct qn_reader r;
    enum qn_reader_event event = QN_READER_MORE;
    uint32_t seed = 12345;
    *o = (struct outcome){0};
    qn_buf_init(&o->bodies, 4096);
    qn_reader_init(&r, QN_HTTP_HEAD_MAX);
    for (size_t at = 0; at < row->n && event != QN_READER_REFUSED;) {
        seed = seed * 1103515245 + 12345;
        size_t want = step ? step : (seed >> 16) % 7 + 1, len = row->n - at, used = 0, total = 0;
        const char *data;
        size_t data_len;
        len = len < want ? len : want;
        do {
            event =
                qn_reader_take(&r, row->bytes + at + total, len - total, &used, &data, &data_len);
            total += used;
            o->requests += event == QN_READER_END;
            qn_buf_add(&o->bodies, data, data_len);
        } while (event != QN_READER_REFUSED && (total < len || qn_reader_has_end(&r)));
        at += len;
    }
    o->status = event == QN_READER_REFUSED ? r.status : 0;
    qn_reader_deinit(&r);
}

static void cuts_change_nothing(void **state)
{
    (void)state;
    static const size_t steps[] = {1, 2, 3, 5, 0};
    for (size_t i = 0; i < ROWS; i++) {
        struct outcome whole, cut;
        read_all(&rows[i], rows[i].n, &whole);
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            read_all(&rows[i], steps[k], &cut);
            assert_int_equal(cut.status, whole.status);
            assert_int_equal(cut.requests, whole.requests);
            assert_int_equal(cut.bodies.len, whole.bodies.len);
            assert_memory_equal(qn_buf_cstr(&cut.bodies), qn_buf_cstr(&whole.bodies),
                                whole.bodies.len);
            qn_buf_deinit(&cut.bodies);
        }
        qn_buf_deinit(&whole.bodies);
    }
}

/* ---- through sockets ---- */

static void put_row(int fd, const struct row *row, bool bytewise)
{
    for (size_t i = 0; bytewise && i < row->n; i++)
        put(fd, row->bytes + i, 1);
    if (!bytewise)
        put(fd, row->bytes, row->n);
}

static int count(const char *what)
{
    int n = 0;
    for (const char *p = reply; (p = strstr(p, what)) != NULL; p += strlen(what))
        n++;
    return n;
}

static bool as_wanted(const struct row *row)
{
    char line[64], end[128];
    snprintf(line, sizeof line, "HTTP/1.1 %d ", row->status);
    if (strncmp(reply, line, strlen(line)) != 0)
        return false;
    if (row->status != 200) /* and nothing of what came behind it was taken for a request */
        return count("HTTP/1.1 ") == 1 && strstr(reply, "{\"refused\":") &&
               strstr(reply, "Connection: close\r\n");
    snprintf(end, sizeof end, "\r\n\r\n%s%s", row->want, row->last ? "" : "HTTP/1.1 200 OK\r\n");
    return strstr(reply, end) && count("late") == !row->last;
}

static void try_row(const struct row *row, bool later, bool bytewise)
{
    int fd = dial(), on = 1;
    CHECK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
    if (later) {
        say(fd, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
        hear(fd, "\r\n\r\nlate");
    }
    put_row(fd, row, bytewise);
    say(fd, "GET /late HTTP/1.0\r\n\r\n"); /* is never a part of the row's request */
    hear(fd, NULL);
    if (!as_wanted(row))
        fprintf(stderr, "row %td (later %d, bytewise %d), wanted %d: %.70s\ngot: %.300s\n",
                row - rows, later, bytewise, row->status, row->bytes, reply);
    CHECK(as_wanted(row));
    close(fd);
}

static bool in_bytes;

static void rows_script(void)
{
    for (size_t i = 0; i < ROWS; i++) {
        try_row(&rows[i], false, in_bytes);
        try_row(&rows[i], true, in_bytes);
    }
}

static void first_and_later_requests(void **state)
{
    (void)state;
    in_bytes = false;
    play_out(rows_script);
}

static void byte_by_byte(void **state)
{
    (void)state;
    in_bytes = true;
    play_out(rows_script);
}

/* ---- lengths that are too long to be written as rows ---- */

static void long_ones_script(void)
{
    enum { LONG = 60 * 1024 };
    static char text[LONG + 512];
    static const struct {
        const char *before, *after;
        char fill;
        int status;
    } cases[] = {
        {"GET /", " HTTP/1.1\r\nHost: x\r\n\r\n", 'a', 414},
        {"GET /echo?", " HTTP/1.1\r\nHost: x\r\n\r\n", 'a', 414},
        {"GET /echo HTTP/1.1\r\nHost: x\r\nA: ", "\r\n\r\n", 'a', 431},
        {"GET /echo HTTP/1.1\r\nHost: x\r\n", ": a\r\n\r\n", 'a', 431},
        {"", "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n", '\n', 414},
        {"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: ", "\r\n\r\n", '0', 431},
        {"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;a=",
         "\r\nhello\r\n0\r\n\r\n", 'x', 400},
        {"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "5\r\nhello\r\n",
         '0', 400},
        {"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: ", "\r\n\r\n",
         'x', 400},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int later = 0; later < 2; later++) {
            size_t n = strlen(cases[i].before);
            memcpy(text, cases[i].before, n);
            memset(text + n, cases[i].fill, LONG);
            strcpy(text + n + LONG, cases[i].after);
            const struct row row = {cases[i].status, false, text, strlen(text), ""};
            try_row(&row, later != 0, false);
        }
}

static void what_is_too_long_is_refused(void **state)
{
    (void)state;
    play_out(long_ones_script);
}

static void fields_script(void)
{
    for (int n = QN_HTTP_FIELDS_MAX - 1; n <= QN_HTTP_FIELDS_MAX; n++) {
        char text[8192] = "GET /echo HTTP/1.1\r\nHost: x\r\n";
        for (int i = 0; i < n; i++)
            strcat(text, "A: b\r\n");
        strcat(text, "\r\n");
        const struct row row = {n < QN_HTTP_FIELDS_MAX ? 200 : 431, false, text, strlen(text), ""};
        try_row(&row, false, false);
    }
}

static void too_many_fields_are_refused(void **state)
{
    (void)state;
    play_out(fields_script);
}

/* Many small extensions are as good as a long one. */
static void extensions_script(void)
{
    static char text[256 * 1024];
    size_t n = (size_t)sprintf(
        text, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < QN_CHUNK_EXTENSIONS_MAX / 2; i++)
        n += (size_t)sprintf(text + n, "1;aa\r\nx\r\n");
    sprintf(text + n, "0\r\n\r\n");
    const struct row row = {400, false, text, strlen(text), ""};
    try_row(&row, false, false);
}

static void many_chunk_extensions_are_refused(void **state)
{
    (void)state;
    play_out(extensions_script);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_change_nothing),
        T(first_and_later_requests),
        T(byte_by_byte),
        T(what_is_too_long_is_refused),
        T(too_many_fields_are_refused),
        T(many_chunk_extensions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
