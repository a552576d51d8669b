/* See table.h. */
#include "cli/table.h"

#include "cli/print.h"
#include "cli/screen.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 2, NARROWEST = 12, WIDEST_OTHER = 11 };

struct qn_table {
    size_t columns, rows, cap;
    char **cells; /* rows * columns; row 0 has the titles */
};

struct qn_table *qn_table_new(size_t columns, const char *const *titles)
{
    struct qn_table *t = qn_xcalloc(1, sizeof *t);
    t->columns = columns;
    qn_table_row(t, titles);
    return t;
}

void qn_table_row(struct qn_table *t, const char *const *cells)
{
    if (t->rows == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 16;
        t->cells = qn_xrealloc(t->cells, t->cap * t->columns * sizeof *t->cells);
    }
    for (size_t i = 0; i < t->columns; i++)
        t->cells[t->rows * t->columns + i] = qn_xstrdup(cells[i] ? cells[i] : "");
    t->rows++;
}

void qn_table_free(struct qn_table *t)
{
    for (size_t i = 0; i < t->rows * t->columns; i++)
        free(t->cells[i]);
    free(t->cells);
    free(t);
}

/* Returns the columns that s takes, stopping before more than `limit` columns; *bytes is the length
 * of that part. */
static size_t measure(const char *s, size_t limit, size_t *bytes)
{
    size_t columns = 0, at = 0;
    for (size_t n = strlen(s); at < n;) {
        struct qn_glyph g = qn_print_glyph(s + at, n - at);
        if (columns + g.columns > limit)
            break;
        columns += g.columns;
        at += g.bytes;
    }
    *bytes = at;
    return columns;
}

static size_t columns_of(const char *s)
{
    size_t bytes;
    return measure(s, SIZE_MAX, &bytes);
}

static void write_text(struct qn_buf *out, const char *s, size_t n)
{
    for (size_t at = 0; at < n;) {
        struct qn_glyph g = qn_print_glyph(s + at, n - at);
        if (g.shown)
            qn_buf_add(out, s + at, g.bytes);
        else
            qn_buf_char(out, '?');
        at += g.bytes;
    }
}

/* The middle is cut, as names of models differ at both ends. */
size_t qn_table_fit(struct qn_buf *out, const char *s, size_t width)
{
    size_t bytes, used = columns_of(s);
    if (used <= width) {
        write_text(out, s, strlen(s));
        return used;
    }
    size_t head = measure(s, width / 2, &bytes), tail = used;
    write_text(out, s, bytes);
    qn_buf_str(out, "\xE2\x80\xA6");
    const char *rest = s;
    for (size_t n = strlen(s); tail > width - head - 1;) {
        struct qn_glyph g = qn_print_glyph(rest, n);
        tail -= g.columns;
        rest += g.bytes;
        n -= g.bytes;
    }
    write_text(out, rest, strlen(rest));
    return head + 1 + tail;
}

static void write_spaces(struct qn_buf *out, size_t n)
{
    while (n--)
        qn_buf_char(out, ' ');
}

/* Used if the terminal is too narrow for the columns: writes each row's first cell on a line of its
 * own, and the others below it with their titles. */
static void write_blocks(const struct qn_table *t, size_t width, struct qn_buf *out)
{
    size_t titles = 0;
    for (size_t c = 1; c < t->columns; c++) {
        size_t n = columns_of(t->cells[c]);
        titles = n > titles ? n : titles;
    }
    size_t begin = GAP + titles + GAP, room = width > begin ? width - begin : 1;
    for (size_t r = 1; r < t->rows; r++) {
        char *const *row = t->cells + r * t->columns;
        qn_table_fit(out, row[0], width);
        qn_buf_char(out, '\n');
        for (size_t c = 1; c < t->columns; c++) {
            if (!row[c][0])
                continue;
            write_spaces(out, GAP);
            write_spaces(out, titles + GAP - qn_table_fit(out, t->cells[c], titles));
            qn_table_fit(out, row[c], room);
            qn_buf_char(out, '\n');
        }
    }
}

void qn_table_write(const struct qn_table *t, size_t width, struct qn_buf *out)
{
    size_t widths[QN_TABLE_COLUMNS_MAX] = {0};
    for (size_t r = 0; r < t->rows; r++)
        for (size_t c = 0; c < t->columns; c++) {
            size_t n = columns_of(t->cells[r * t->columns + c]);
            widths[c] = n > widths[c] ? n : widths[c];
        }
    size_t others = 0, last = 0;
    for (size_t c = 1; c < t->columns; c++) {
        if (c + 1 == t->columns)
            last = widths[c];
        widths[c] = widths[c] > WIDEST_OTHER ? WIDEST_OTHER : widths[c];
        others += widths[c] + GAP;
    }
    if (width < QN_TABLE_WIDTH && t->columns > 2 &&
        others + (widths[0] < NARROWEST ? widths[0] : NARROWEST) > width) {
        write_blocks(t, width, out);
        return;
    }
    size_t room = others + NARROWEST < width ? width - others : NARROWEST;
    widths[0] = widths[0] > room ? room : widths[0];
    size_t spare = others + widths[0] < width ? width - others - widths[0] : 0;
    size_t *end = &widths[t->columns - 1];
    if (last > *end)
        *end = last - *end < spare ? last : *end + spare;
    for (size_t r = 0; r < t->rows; r++) {
        size_t owed = 0; /* spaces not written yet, as lines must not end with spaces */
        for (size_t c = 0; c < t->columns; c++) {
            const char *cell = t->cells[r * t->columns + c];
            for (; cell[0] && owed; owed--)
                qn_buf_char(out, ' ');
            owed += widths[c] - qn_table_fit(out, cell, widths[c]) + GAP;
        }
        qn_buf_char(out, '\n');
    }
}

void qn_table_print(const struct qn_table *t)
{
    struct qn_buf text;
    qn_buf_init(&text, SIZE_MAX - 1);
    qn_table_write(t, qn_screen_width(stdout), &text);
    fwrite(qn_buf_cstr(&text), 1, text.len, stdout);
    qn_buf_deinit(&text);
}

void qn_human_bytes(double bytes, char out[static 16])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    int u = 0;
    while (bytes >= 999.5 && u < 4) {
        bytes /= 1000;
        u++;
    }
    snprintf(out, 16, bytes < 9.95 && u ? "%.1f %s" : "%.0f %s", bytes, units[u]);
}

void qn_human_count(double count, char out[static 16])
{
    static const char *const units[] = {"", "K", "M", "B", "T"};
    int u = 0;
    if (count <= 0) {
        strcpy(out, "-");
        return;
    }
    while (count >= 999.5 && u < 4) {
        count /= 1000;
        u++;
    }
    snprintf(out, 16, count < 9.95 && u ? "%.1f%s" : "%.0f%s", count, units[u]);
}
