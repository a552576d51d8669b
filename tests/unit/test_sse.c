/* Server-sent events: the same events come out however the bytes arrive. Cases from the standard.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "formats/sse.h"

#include <string.h>

static void collect(void *ctx, const char *event, const char *data, size_t n)
{
    assert_int_equal(strlen(data), n);
    qn_buf_fmt(ctx, "<%s|%s>", event, data);
}

static void events_come_out_however_they_arrive(void **state)
{
    (void)state;
    static const struct {
        const char *wire, *events;
    } cases[] = {
        {"data: YHOO\ndata: +2\ndata: 10\n\n", "<message|YHOO\n+2\n10>"},
        {": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third "
         "event\n\n",
         "<message|first event><message|second event><message| third event>"},
        {"data\n\ndata\ndata\n\ndata:", "<message|><message|\n>"},
        {"event: done\r\ndata: {}\r\n\r\ndata: x\r\rdata: y\n\n",
         "<done|{}><message|x><message|y>"},
        {"event: lost\n\n: ping\n\ndata: z\n\n", "<message|z>"},
        {"\xEF\xBB\xBF"
         "data: marked\n\n\xEF\xBB\xBF"
         "data: y\n\n",
         "<message|marked>"},
        {"\xEF\xBB\xBF\n\ndata: x\n\n", "<message|x>"},
        {"data: unfinished", ""},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t piece = 1; piece < 30; piece++) {
            struct qn_buf got;
            qn_buf_init(&got, 4096);
            struct qn_sse s;
            qn_sse_init(&s, collect, &got);
            size_t n = strlen(cases[c].wire);
            for (size_t at = 0; at < n; at += piece)
                assert_int_equal(
                    qn_sse_feed(&s, cases[c].wire + at, n - at < piece ? n - at : piece), QN_OK);
            assert_string_equal(qn_buf_cstr(&got), cases[c].events);
            qn_sse_deinit(&s);
            qn_buf_deinit(&got);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(events_come_out_however_they_arrive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
