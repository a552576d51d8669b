/* See print.h. */
#include "cli/print.h"

#include "base/str.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

void qn_print_json(const struct qn_jref *value)
{
    struct qn_buf b;
    qn_buf_init(&b, SIZE_MAX - 1);
    qn_json_print(value, &b);
    puts(qn_buf_cstr(&b));
    qn_buf_deinit(&b);
}

/* C0, DEL and C1: what a terminal obeys instead of showing. */
static bool steers(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7F && cp < 0xA0);
}

static void print_filtered(const char *text, size_t n, const char *keep, const char *instead)
{
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        size_t step = qn_utf8_decode(text + i, n - i, &cp);
        bool kept = false;
        for (const char *k = keep; *k; k++)
            kept |= cp == (uint32_t)*k;
        if (steers(cp) && !kept)
            fputs(instead, stdout);
        else
            fwrite(text + i, 1, step, stdout);
        i += step;
    }
}

void qn_print_line(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    print_filtered(text, n, "\t", "?");
    putchar('\n');
}

void qn_print_answer(const char *text, size_t n)
{
    if (isatty(STDOUT_FILENO))
        print_filtered(text, n, "\n\t", "");
    else
        fwrite(text, 1, n, stdout);
    fflush(stdout);
}
