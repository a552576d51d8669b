/* See table.h. */
#include "cli/table.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 2, NARROWEST = 12 };

struct qn_table {
    size_t columns, rows, cap;
    char **cells; /* rows * columns; row 0 holds the titles */
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

static size_t characters(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

/* Prints s in exactly `width` characters, cut with an ellipsis where it is longer. */
static void print_cell(const char *s, size_t width)
{
    size_t n = characters(s);
    size_t show = n > width ? width - 1 : n;
    size_t shown = 0;
    for (size_t at = 0, len = strlen(s); shown < show; shown++) {
        uint32_t cp;
        size_t step = qn_utf8_decode(s + at, len - at, &cp);
        /* Names come from files: nothing in them may steer the terminal. */
        if (cp < 0x20 || (cp >= 0x7F && cp < 0xA0))
            putchar('?');
        else
            fwrite(s + at, 1, step, stdout);
        at += step;
    }
    if (n > width) {
        fputs("\xE2\x80\xA6", stdout);
        shown++;
    }
    for (; shown < width; shown++)
        putchar(' ');
}

void qn_table_print(const struct qn_table *t)
{
    size_t width[QN_TABLE_COLUMNS_MAX] = {0};
    for (size_t r = 0; r < t->rows; r++)
        for (size_t c = 0; c < t->columns; c++) {
            size_t n = characters(t->cells[r * t->columns + c]);
            width[c] = n > width[c] ? n : width[c];
        }
    size_t others = 0;
    for (size_t c = 1; c < t->columns; c++)
        others += width[c] + GAP;
    size_t room = others + NARROWEST < QN_TABLE_WIDTH ? QN_TABLE_WIDTH - others : NARROWEST;
    if (width[0] > room)
        width[0] = room;
    for (size_t r = 0; r < t->rows; r++) {
        for (size_t c = 0; c < t->columns; c++) {
            const char *cell = t->cells[r * t->columns + c];
            bool last = c + 1 == t->columns;
            print_cell(cell, last ? characters(cell) : width[c]);
            if (!last)
                printf("%*s", GAP, "");
        }
        putchar('\n');
    }
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
    while (count >= 999.5 && u < 4) {
        count /= 1000;
        u++;
    }
    snprintf(out, 16, count < 9.95 && u ? "%.1f%s" : "%.0f%s", count, units[u]);
}
