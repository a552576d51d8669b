/* See lex.h: escapes in string literals, as in Python's unicode-escape codec. */
#include "base/buf.h"
#include "base/str.h"
#include "jinja/lex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
}

static void put_cp(struct qn_buf *text, uint32_t cp)
{
    char utf8[4];
    if (cp >= 0xD800 && cp < 0xE000)
        cp = 0xFFFD; /* a lone surrogate has no UTF-8 form */
    qn_buf_add(text, utf8, qn_utf8_encode(cp, utf8));
}

/* Reads \x, \u or \U; s is after the letter. */
static size_t put_hex(struct qn_buf *text, const char *s, size_t n, size_t digits)
{
    uint32_t cp = 0;
    if (n < digits)
        return 0;
    for (size_t i = 0; i < digits; i++) {
        if (hex_digit(s[i]) < 0)
            return 0;
        cp = cp * 16 + (uint32_t)hex_digit(s[i]);
    }
    if (cp > 0x10ffff)
        return 0;
    put_cp(text, cp);
    return digits;
}

static size_t put_octal(struct qn_buf *text, const char *s, size_t n)
{
    uint32_t cp = 0;
    size_t i = 0;
    for (; i < 3 && i < n && s[i] >= '0' && s[i] <= '7'; i++)
        cp = cp * 8 + (uint32_t)(s[i] - '0');
    put_cp(text, cp);
    return i;
}

/* A backslash before a non-ASCII character is kept, and the character is written as a numeric
 * escape, as Python does. */
static size_t put_escaped_foreign(struct qn_buf *text, const char *s, size_t n)
{
    uint32_t cp;
    size_t used = qn_utf8_decode(s, n, &cp);
    qn_buf_fmt(text, cp < 0x100 ? "\\x%02x" : cp < 0x10000 ? "\\u%04x" : "\\U%08x", cp);
    return used;
}

/* s is after the backslash. Returns the bytes read, 0 for an error. */
static size_t put_escape(struct qn_buf *text, const char *s, size_t n)
{
    static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
    if (n == 0 || *s == 'N')
        return 0;
    const char *found = *s ? strchr(from, *s) : NULL;
    if (found) {
        qn_buf_char(text, to[found - from]);
        return 1;
    }
    if (*s == '\n')
        return 1;
    if (*s >= '0' && *s <= '7')
        return put_octal(text, s, n);
    if (*s == 'x' || *s == 'u' || *s == 'U') {
        size_t used = put_hex(text, s + 1, n - 1, *s == 'x' ? 2 : *s == 'u' ? 4 : 8);
        return used ? used + 1 : 0;
    }
    if ((unsigned char)*s >= 128)
        return put_escaped_foreign(text, s, n);
    qn_buf_char(text, '\\');
    qn_buf_char(text, *s);
    return 1;
}

bool qn_tlex_unescape(struct qn_arena *arena, const char *s, size_t n, const char **out,
                      size_t *out_n)
{
    struct qn_buf text;
    bool ok = true;
    if (!n || !memchr(s, '\\', n)) {
        *out = s;
        *out_n = n;
        return true;
    }
    qn_buf_init(&text, n * 8 + 16);
    for (size_t at = 0; ok && at < n;) {
        if (s[at] != '\\') {
            qn_buf_char(&text, s[at++]);
            continue;
        }
        size_t used = put_escape(&text, s + at + 1, n - at - 1);
        ok = used > 0;
        at += 1 + used;
    }
    *out_n = text.len;
    *out = ok ? qn_arena_strndup(arena, qn_buf_cstr(&text), text.len) : NULL;
    qn_buf_deinit(&text);
    return ok;
}
