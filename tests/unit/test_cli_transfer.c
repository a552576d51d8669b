/* What a download's events say, and the line about it: figures worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cli/print.h"
#include "cli/transfer.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static void tell(struct qn_transfer *t, const char *json, int64_t now_ms)
{
    struct qn_json *doc;
    assert_int_equal(qn_json_parse(json, strlen(json), &doc, NULL), QN_OK);
    struct qn_jref root = qn_json_root(doc);
    qn_transfer_update(t, &root, now_ms);
    qn_json_free(doc);
}

static size_t columns_of(const char *s)
{
    size_t columns = 0;
    for (size_t at = 0, n = strlen(s); at < n;) {
        struct qn_glyph g = qn_print_glyph(s + at, n - at);
        columns += g.columns;
        at += g.bytes;
    }
    return columns;
}

static void assert_line(const struct qn_transfer *t, size_t width, const char *expected)
{
    struct qn_buf out;
    qn_buf_init(&out, 4096);
    qn_transfer_line(t, width, &out);
    assert_string_equal(qn_buf_cstr(&out), expected);
    assert_in_range(columns_of(out.data), 1, width);
    qn_buf_deinit(&out);
}

static void assert_text(const struct qn_transfer *t, const char *expected)
{
    struct qn_buf out;
    qn_buf_init(&out, 4096);
    qn_transfer_text(t, &out);
    assert_string_equal(qn_buf_cstr(&out), expected);
    qn_buf_deinit(&out);
}

/* The seed's own example: figures of the file alone. */
static void one_file(void **state)
{
    (void)state;
    struct qn_transfer t = {0};
    tell(&t,
         "{\"file\":\"m.gguf\",\"file_index\":1,\"total_files\":1,\"bytes_downloaded\":0,"
         "\"bytes_total\":1000000000,\"percent\":0}",
         10000);
    assert_true(qn_transfer_rate(&t) < 0);
    assert_true(qn_transfer_left_s(&t) < 0);
    assert_text(&t, "0 %  0 B of 1.0 GB");
    tell(&t, "{\"file_index\":1,\"total_files\":1,\"bytes_downloaded\":100000000,\"percent\":10}",
         12000);
    assert_true(qn_transfer_rate(&t) == 50e6);
    assert_true(qn_transfer_left_s(&t) == 18);
    assert_text(&t, "10 %  100 MB of 1.0 GB  50 MB/s  18 s left");
    /* 79 less 7 of "10 %", less 41 of the figures, less 2: 29 for the bar, of which 3 are full. */
    assert_line(&t, 79,
                " 10 %  "
                "\u2588\u2588\u2588\u2591\u2591\u2591\u2591\u2591\u2591\u2591\u2591\u2591\u2591"
                "\u2591\u2591\u2591\u2591\u2591\u2591\u2591\u2591\u2591\u2591\u2591\u2591\u2591"
                "\u2591\u2591\u2591\u2591  100 MB of 1.0 GB  50 MB/s  18 s left");
}

static void several_files(void **state)
{
    (void)state;
    struct qn_transfer t = {0};
    tell(&t,
         "{\"file\":\"Qwen3-Coder-30B-A3B-Instruct-Q4_K_M-00002-of-00003.gguf\",\"file_index\":2,"
         "\"total_files\":3,\"bytes_downloaded\":500000000,\"bytes_total\":2000000000,"
         "\"total_download_size\":6000000000,\"completed_files_bytes\":2500000000,\"percent\":25}",
         0);
    assert_true(t.done == 3e9 && t.percent == 50);
    tell(&t,
         "{\"bytes_downloaded\":600000000,\"completed_files_bytes\":2500000000,"
         "\"cumulative_bytes_downloaded\":3150000000}",
         5000);
    assert_true(t.done == 3.15e9); /* files may come side by side */
    assert_true(qn_transfer_rate(&t) == 30e6);
    assert_true(qn_transfer_left_s(&t) == 95);
    /* 6 for the count, 7 for "52 %", 42 for the figures, 2: of 67 columns 10 are left for the bar.
     */
    assert_line(&t, 67,
                "[2/3]  52 %  \u2588\u2588\u2588\u2588\u2588\u2591\u2591\u2591\u2591\u2591  "
                "3.1 GB of 6.0 GB  30 MB/s  1 min 35 s left");
    assert_line(&t, 61, "[2/3]  52 %  3.1 GB of 6.0 GB  30 MB/s  1 min 35 s left");
}

static void what_was_here_before(void **state)
{
    (void)state;
    struct qn_transfer t = {0};
    tell(&t, "{\"file_index\":1,\"bytes_previously_downloaded\":100}", 0);
    tell(&t, "{\"file_index\":1,\"bytes_previously_downloaded\":100}", 1);
    tell(&t, "{\"file_index\":2,\"bytes_previously_downloaded\":30}", 2);
    tell(&t, "{\"file_index\":3}", 3);
    assert_true(t.earlier == 130);
}

static void the_rate_is_that_of_the_last_seconds(void **state)
{
    (void)state;
    struct qn_transfer t = {0};
    char json[128];
    double done = 5e9; /* there from an earlier attempt: no speed */
    for (int i = 0; i < 400; i++) {
        snprintf(json, sizeof json,
                 "{\"bytes_downloaded\":%.0f,\"bytes_total\":9e9,\"total_files\":1}", done);
        tell(&t, json, i * 100);
        done += i < 200 ? 1e6 : 4e6; /* 10, then 40 MB/s */
    }
    assert_in_range((long)qn_transfer_rate(&t), 39900000, 40100000);
    tell(&t, "{\"bytes_downloaded\":0,\"bytes_total\":9e9,\"total_files\":1}", 41000);
    assert_true(qn_transfer_rate(&t) < 0); /* begun again */
    tell(&t, "{\"bytes_per_second\":123000}", 41100);
    assert_true(qn_transfer_rate(&t) == 123000);
}

static void figures_that_lie(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "{}",
        "{\"percent\":1e300,\"bytes_downloaded\":1e300,\"bytes_total\":1,\"total_files\":1}",
        "{\"percent\":-5,\"bytes_downloaded\":-1,\"bytes_total\":-1,\"file_index\":1e30}",
        "{\"file\":7,\"total_files\":2,\"file_index\":9,\"percent\":150}",
        "{\"total_files\":2,\"file\":\"\\u001b[2J\",\"total_download_size\":5,\"percent\":40}",
        "{\"total_download_size\":1e300,\"total_files\":3,\"percent\":100,\"bytes_per_second\":1}",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t width = 1; width < 200; width++) {
            struct qn_transfer t = {0};
            struct qn_buf out;
            qn_buf_init(&out, 4096);
            tell(&t, cases[i], 0);
            tell(&t, cases[i], 1000);
            assert_true(t.percent >= 0 && t.percent <= 100);
            qn_transfer_line(&t, width, &out);
            assert_null(strchr(qn_buf_cstr(&out), '\x1b'));
            if (width >= 70)
                assert_in_range(columns_of(qn_buf_cstr(&out)), 1, width);
            qn_buf_deinit(&out);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_file),
        cmocka_unit_test(several_files),
        cmocka_unit_test(what_was_here_before),
        cmocka_unit_test(the_rate_is_that_of_the_last_seconds),
        cmocka_unit_test(figures_that_lie),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
