/* See print.h. */
#include "cli/print.h"

#include "base/str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

void qn_print_json(const struct qn_jref *value)
{
    struct qn_buf b;
    qn_buf_init(&b, SIZE_MAX - 1);
    qn_json_print(value, &b);
    puts(qn_buf_cstr(&b));
    qn_buf_deinit(&b);
}

/* C0, DEL and C1: control characters that a terminal executes. */
static bool is_control(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7F && cp < 0xA0);
}

/* Characters that change the direction of text (marks, embeddings, overrides, isolates), by which
 * one name can look like another. */
static bool is_direction(uint32_t cp)
{
    return cp == 0x061C || cp == 0x200E || cp == 0x200F || (cp >= 0x202A && cp <= 0x202E) ||
           (cp >= 0x2066 && cp <= 0x2069);
}

struct qn_glyph qn_print_glyph(const char *s, size_t n)
{
    uint32_t cp;
    struct qn_glyph g = {.bytes = qn_utf8_decode(s, n, &cp), .columns = 1};
    bool malformed = cp == 0xFFFD && g.bytes == 1;
    int columns = wcwidth((wchar_t)cp);
    g.shown = !malformed && !is_control(cp) && !is_direction(cp) && columns >= 0;
    if (g.shown)
        g.columns = (size_t)columns;
    return g;
}

void qn_print_safe(FILE *out, const char *text)
{
    for (size_t at = 0, n = strlen(text); at < n;) {
        struct qn_glyph g = qn_print_glyph(text + at, n - at);
        if (g.shown || text[at] == '\t')
            fwrite(text + at, 1, g.bytes, out);
        else
            fputc('?', out);
        at += g.bytes;
    }
}

void qn_print_line(const char *text)
{
    qn_print_safe(stdout, text);
    putchar('\n');
}

/* Columns of the n bytes at s. */
static size_t columns_of(const char *s, size_t n)
{
    size_t columns = 0;
    for (size_t at = 0; at < n;) {
        struct qn_glyph g = qn_print_glyph(s + at, n - at);
        columns += g.columns;
        at += g.bytes;
    }
    return columns;
}

void qn_print_wrapped(const char *text, size_t indent, size_t width)
{
    size_t used = indent;
    bool first = true; /* first word of its line */
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t n = strcspn(text, " "), columns = columns_of(text, n);
        if (!first && used + 1 + columns > width) {
            printf("\n%*s", (int)indent, "");
            used = indent;
        } else if (!first) {
            putchar(' ');
            used++;
        }
        char *word = qn_xstrndup(text, n);
        qn_print_safe(stdout, word);
        free(word);
        used += columns;
        first = false;
        text += n;
    }
    putchar('\n');
}

bool qn_print_answer(const char *text, size_t n)
{
    if (!isatty(STDOUT_FILENO)) {
        fwrite(text, 1, n, stdout);
        return fflush(stdout) == 0;
    }
    for (size_t at = 0; at < n;) {
        uint32_t cp;
        size_t step = qn_utf8_decode(text + at, n - at, &cp);
        if (!is_control(cp) || cp == '\n' || cp == '\t')
            fwrite(text + at, 1, step, stdout);
        at += step;
    }
    return fflush(stdout) == 0;
}
