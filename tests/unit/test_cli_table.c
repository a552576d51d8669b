/* Tables: never wider than asked, measured in terminal columns, and harmless to the terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cli/print.h"
#include "cli/table.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static char *table_of(size_t width, size_t columns, const char *const *titles,
                      const char *const *cells)
{
    struct qn_buf out;
    struct qn_table *t = qn_table_new(columns, titles);
    qn_table_row(t, cells);
    qn_buf_init(&out, 65536);
    qn_table_write(t, width, &out);
    qn_table_free(t);
    return qn_buf_take(&out);
}

static void assert_table(size_t width, const char *const cells[3], const char *expected)
{
    static const char *const titles[] = {"Model", "Size", "Last"};
    char *got = table_of(width, 3, titles, cells);
    assert_string_equal(got, expected);
    free(got);
}

static void columns_stand_under_each_other(void **state)
{
    (void)state;
    assert_table(80, (const char *const[]){"tiny", "1.0 MB", "never"},
                 "Model  Size    Last\ntiny   1.0 MB  never\n");
    assert_table(80, (const char *const[]){"tiny", NULL, NULL}, "Model  Size  Last\ntiny\n");
}

static void long_names_lose_their_middle(void **state)
{
    (void)state;
    /* 30 columns less 2 + 6 and 2 + 5 leave 15 for the name: 7, the ellipsis, 7. */
    assert_table(30, (const char *const[]){"user.Long-Model-Name-Q4_K_M", "1.0 MB", "never"},
                 "Model            Size    Last\nuser.Lo\u2026-Q4_K_M  1.0 MB  never\n");
    /* Wide characters take two columns each: 3 of them, the ellipsis and 4 make 15. */
    assert_table(30,
                 (const char *const[]){"\u65e5\u672c\u8a9e\u30e2\u30c7\u30eb\u306e\u540d\u524d",
                                       "1.0 MB", "never"},
                 "Model            Size    Last\n"
                 "\u65e5\u672c\u8a9e\u2026\u30eb\u306e\u540d\u524d  1.0 MB  never\n");
}

static void the_last_column_takes_what_is_left(void **state)
{
    (void)state;
    assert_table(40, (const char *const[]){"tiny", "1.0 MB", "chat, vision, reasoning"},
                 "Model  Size    Last\ntiny   1.0 MB  chat, vision, reasoning\n");
    /* 30 columns less 5 + 2 and 6 + 2 leave 15: 7, the ellipsis, 7. */
    assert_table(30, (const char *const[]){"tiny", "1.0 MB", "chat, vision, reasoning"},
                 "Model  Size    Last\ntiny   1.0 MB  chat, v\u2026asoning\n");
}

static void a_narrow_terminal_gets_blocks(void **state)
{
    (void)state;
    /* 12 for the name, 2 + 6 and 2 + 5 for the others make 27. */
    assert_table(26, (const char *const[]){"user.Long-Model-Name-Q4_K_M", "1.0 MB", "never"},
                 "user.Long-Mod\u2026-Name-Q4_K_M\n  Size  1.0 MB\n  Last  never\n");
    assert_table(27, (const char *const[]){"user.Long-Model-Name-Q4_K_M", "1.0 MB", "never"},
                 "Model         Size    Last\nuser.L\u20264_K_M  1.0 MB  never\n");
    /* Wide characters: 9 of 18 columns and the title leave 12 of 20, of which 5 and the ellipsis.
     */
    assert_table(20,
                 (const char *const[]){"\u65e5\u672c\u8a9e", NULL,
                                       "\u65e5\u672c\u8a9e\u30e2\u30c7\u30eb\u306e\u540d\u524d"},
                 "\u65e5\u672c\u8a9e\n  Last  \u65e5\u672c\u8a9e\u2026\u540d\u524d\n");
}

static void no_line_is_too_wide(void **state)
{
    (void)state;
    static const char *const titles[] = {"A", "B", "C", "D", "E", "F"};
    char huge[5000];
    memset(huge, 'x', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    const char *const cells[] = {huge, huge, huge, huge, huge, huge};
    char *got = table_of(80, 6, titles, cells);
    size_t longest = 0;
    for (char *line = strtok(got, "\n"); line; line = strtok(NULL, "\n")) {
        size_t columns = 0;
        for (size_t at = 0, n = strlen(line); at < n;) {
            struct qn_glyph g = qn_print_glyph(line + at, n - at);
            columns += g.columns;
            at += g.bytes;
        }
        longest = columns > longest ? columns : longest;
    }
    assert_in_range(longest, 70, 80);
    free(got);
}

static void hostile_names_are_disarmed(void **state)
{
    (void)state;
    /* An escape sequence, a line break, a C1 control, an override of direction, bad UTF-8. */
    assert_table(80, (const char *const[]){"\x1b[2Ja\nb\xc2\x9b\u202egpj\xff", "1 B", "never"},
                 "Model          Size  Last\n?[2Ja?b??gpj?  1 B   never\n");
}

static void glyphs(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        size_t bytes, columns;
        bool shown;
    } cases[] = {
        {"a", 1, 1, true},          {"\u00e9", 2, 1, true}, {"\u65e5", 3, 2, true},
        {"\U0001f389", 4, 2, true}, {"\u0301", 2, 0, true}, {"\t", 1, 1, false},
        {"\x7f", 1, 1, false},      {"\x80", 1, 1, false},  {"\u2066", 3, 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qn_glyph g = qn_print_glyph(cases[i].s, strlen(cases[i].s));
        assert_int_equal(g.bytes, cases[i].bytes);
        assert_int_equal(g.columns, cases[i].columns);
        assert_int_equal(g.shown, cases[i].shown);
    }
}

static void numbers_for_people(void **state)
{
    (void)state;
    static const struct {
        double n;
        const char *bytes, *count;
    } cases[] = {
        {0, "0 B", "-"},           {999, "999 B", "999"},
        {1000, "1.0 kB", "1.0K"},  {8182336, "8.2 MB", "8.2M"},
        {9960000, "10 MB", "10M"}, {999600, "1.0 MB", "1.0M"},
        {1.7e9, "1.7 GB", "1.7B"}, {7e13, "70 TB", "70T"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[16];
        qn_human_bytes(cases[i].n, out);
        assert_string_equal(out, cases[i].bytes);
        qn_human_count(cases[i].n, out);
        assert_string_equal(out, cases[i].count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_stand_under_each_other),
        cmocka_unit_test(long_names_lose_their_middle),
        cmocka_unit_test(the_last_column_takes_what_is_left),
        cmocka_unit_test(a_narrow_terminal_gets_blocks),
        cmocka_unit_test(no_line_is_too_wide),
        cmocka_unit_test(hostile_names_are_disarmed),
        cmocka_unit_test(glyphs),
        cmocka_unit_test(numbers_for_people),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
