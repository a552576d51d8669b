/* See lex.h. Outside of tags everything is text; a sign (- or +) at the edge of a tag controls the
 * removal of white space next to the tag. A closing mark ends a tag only when no bracket is
 * open. */
#include "jinja/lex.h"

#include "base/buf.h"
#include "base/str.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

#include <stdlib.h>
#include <string.h>

enum { BRACKETS_MAX = 1000 };

struct lexer {
    const char *s;
    size_t n, i;
    uint32_t line;
    size_t counted; /* `line` counts the lines before this offset */
    struct qn_arena *arena;
    struct qn_ttoken *tokens;
    size_t count, cap;
    bool line_starting; /* the last token ended at the end of a line */
    char open[BRACKETS_MAX];
    size_t open_n;
    struct qn_error *e;
};

static uint32_t line_at(struct lexer *l, size_t at)
{
    for (; l->counted < at; l->counted++)
        l->line += l->s[l->counted] == '\n';
    return l->line;
}

static qn_err fail(struct lexer *l, const char *what)
{
    return qn_fail(l->e, QN_EFORMAT, "chat template, line %u: %s", line_at(l, l->i), what);
}

static void add(struct lexer *l, enum qn_ttoken_kind kind, size_t at, const char *s, size_t n)
{
    if (l->count == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 256;
        l->tokens = qn_xrealloc(l->tokens, l->cap * sizeof(*l->tokens));
    }
    l->tokens[l->count++] =
        (struct qn_ttoken){.kind = kind, .line = line_at(l, at), .s = s, .n = n};
}

static bool at_text(const struct lexer *l, size_t at, const char *what)
{
    size_t n = strlen(what);
    return at <= l->n && l->n - at >= n && memcmp(l->s + at, what, n) == 0;
}

/* Moves past a closing mark of `mark` bytes and past the white space or newline that the mark
 * removes. */
static void close_tag(struct lexer *l, size_t mark, bool strip, bool newline)
{
    l->i += mark;
    if (strip)
        l->i += qn_ttext_skip(l->s + l->i, l->n - l->i);
    else if (newline && l->i < l->n && l->s[l->i] == '\n')
        l->i++;
    l->line_starting = l->s[l->i - 1] == '\n';
}

/* Adds the text up to offset `end`, where a tag with this sign begins; white space that the tag
 * removes is left out. */
static void add_text(struct lexer *l, size_t start, size_t end, char sign, bool expression)
{
    size_t n = end - start;
    const char *s = l->s + start;
    if (sign == '-') {
        n = qn_ttext_rtrim(s, n);
    } else if (sign != '+' && !expression) {
        size_t from = n;
        while (from > 0 && s[from - 1] != '\n')
            from--;
        if ((from > 0 || l->line_starting) && qn_ttext_skip(s + from, n - from) == n - from)
            n = from;
    }
    if (n > 0)
        add(l, QN_TOK_TEXT, start, s, n);
}

/* The sign after an opening mark at this offset, or 0. */
static char sign_at(const struct lexer *l, size_t at)
{
    return at < l->n && (l->s[at] == '-' || l->s[at] == '+') ? l->s[at] : '\0';
}

static qn_err lex_comment(struct lexer *l)
{
    size_t at = l->i + (sign_at(l, l->i + 2) ? 3 : 2);
    const char *end = memmem(l->s + at, l->n - at, "#}", 2);
    if (!end)
        return fail(l, "Missing end of comment tag");
    size_t close = (size_t)(end - l->s);
    bool strip = close > at && l->s[close - 1] == '-', plus = close > at && l->s[close - 1] == '+';
    l->i = close;
    close_tag(l, 2, strip, !plus);
    return QN_OK;
}

/* Length in bytes of {% word %} at this offset, without the white space that its closing mark
 * removes; 0 when the tag is not there. */
static size_t word_tag(const struct lexer *l, size_t at, const char *word)
{
    size_t start = at;
    if (!at_text(l, at, "{%"))
        return 0;
    at += sign_at(l, at + 2) ? 3 : 2;
    at += qn_ttext_skip(l->s + at, l->n - at);
    if (!at_text(l, at, word))
        return 0;
    at += strlen(word);
    at += qn_ttext_skip(l->s + at, l->n - at);
    if (at_text(l, at, "-%}") || (at_text(l, at, "+%}") && strcmp(word, "endraw") == 0))
        return at + 3 - start;
    return at_text(l, at, "%}") ? at + 2 - start : 0;
}

static qn_err lex_raw(struct lexer *l, size_t mark)
{
    close_tag(l, mark, l->s[l->i + mark - 3] == '-', false);
    size_t start = l->i;
    for (size_t at = start; at < l->n; at++) {
        size_t end = l->s[at] == '{' ? word_tag(l, at, "endraw") : 0;
        if (!end)
            continue;
        add_text(l, start, at, sign_at(l, at + 2), false);
        l->i = at;
        char last = l->s[at + end - 3];
        close_tag(l, end, last == '-', last != '+');
        return QN_OK;
    }
    return fail(l, "Missing end of raw directive");
}

static qn_err lex_string(struct lexer *l)
{
    size_t start = l->i, at = start + 1, n = 0;
    const char *s = NULL;
    while (at < l->n && l->s[at] != l->s[start])
        at += l->s[at] == '\\' ? 2 : 1;
    if (at >= l->n)
        return fail(l, "this string is never closed");
    if (!qn_tlex_unescape(l->arena, l->s + start + 1, at - start - 1, &s, &n))
        return fail(l, "a string has an invalid escape");
    add(l, QN_TOK_STRING, start, s, n);
    l->i = at + 1;
    return QN_OK;
}

static bool digit(const struct lexer *l, size_t at, int base)
{
    char c = at < l->n ? l->s[at] : '\0';
    int d = c >= '0' && c <= '9'                     ? c - '0'
            : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                     : 99;
    return d < base;
}

/* Offset after digits with single underscores between them; `at` itself when there are none. */
static size_t digits(const struct lexer *l, size_t at, int base)
{
    if (!digit(l, at, base))
        return at;
    for (at++; digit(l, at, base) || (at < l->n && l->s[at] == '_' && digit(l, at + 1, base));)
        at++;
    return at;
}

/* Offset after a float, or 0. */
static size_t float_end(const struct lexer *l)
{
    size_t at = digits(l, l->i, 10), end = 0;
    if (l->i > 0 && l->s[l->i - 1] == '.')
        return 0;
    if (at < l->n && l->s[at] == '.' && digit(l, at + 1, 10))
        end = at = digits(l, at + 1, 10);
    if (at < l->n && (l->s[at] | 0x20) == 'e') {
        size_t e = at + (sign_at(l, at + 1) ? 2 : 1);
        if (digit(l, e, 10))
            end = digits(l, e, 10);
    }
    return end;
}

static void lex_number(struct lexer *l)
{
    size_t start = l->i, end = float_end(l);
    enum qn_ttoken_kind kind = end ? QN_TOK_FLOAT : QN_TOK_INT;
    if (!end && l->s[start] == '0' && start + 1 < l->n) {
        char c = (char)(l->s[start + 1] | 0x20);
        int base = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;
        size_t first = start + 2 + (start + 2 < l->n && l->s[start + 2] == '_');
        if (base && digit(l, first, base))
            end = digits(l, first, base);
    }
    if (!end)
        end = digits(l, start, l->s[start] == '0' ? 1 : 10);
    add(l, kind, start, l->s + start, end - start);
    l->i = end;
}

/* Length in bytes of a name's character at this offset, or 0. */
static size_t name_char(const struct lexer *l, size_t at, bool first)
{
    uint32_t cp = 0;
    if (at >= l->n)
        return 0;
    size_t used = qn_utf8_decode(l->s + at, l->n - at, &cp);
    if (cp < 128)
        return (cp | 0x20) - 'a' < 26 || cp == '_' || (!first && cp - '0' < 10) ? 1 : 0;
    return qn_tchar_alpha(cp) || (!first && qn_tchar_decimal(cp)) ? used : 0;
}

static void lex_name(struct lexer *l)
{
    size_t start = l->i, used;
    while ((used = name_char(l, l->i, l->i == start)) > 0)
        l->i += used;
    add(l, QN_TOK_NAME, start, l->s + start, l->i - start);
}

static qn_err lex_punct(struct lexer *l)
{
    static const char *const puncts[] = {"**", "//", "==", "!=", "<=", ">=", "(", ")", "[",
                                         "]",  "{",  "}",  ",",  ".",  ":",  "|", "=", "<",
                                         ">",  "+",  "-",  "~",  "*",  "/",  "%", ";"};
    for (size_t k = 0; k < sizeof(puncts) / sizeof(puncts[0]); k++) {
        if (!at_text(l, l->i, puncts[k]))
            continue;
        size_t n = strlen(puncts[k]);
        char c = *puncts[k];
        if (c == '{' || c == '(' || c == '[') {
            if (l->open_n == BRACKETS_MAX)
                return fail(l, "too many open brackets");
            l->open[l->open_n++] = c == '(' ? ')' : (char)(c + 2);
        }
        if ((c == '}' || c == ')' || c == ']') && (l->open_n == 0 || l->open[--l->open_n] != c))
            return fail(l, "a closing bracket has no opening one");
        add(l, QN_TOK_PUNCT, l->i, l->s + l->i, n);
        l->i += n;
        return QN_OK;
    }
    return fail(l, "unexpected character");
}

/* Reads the end of a tag; false when the lexer is not at one. */
static bool lex_close(struct lexer *l, bool expression)
{
    const char *close = expression ? "}}" : "%}";
    char sign = sign_at(l, l->i);
    size_t at = l->i + (sign ? 1 : 0);
    if (l->open_n > 0 || !at_text(l, at, close) || (sign == '+' && expression))
        return false;
    add(l, expression ? QN_TOK_CLOSE_EXPR : QN_TOK_CLOSE_STMT, l->i, l->s + at, 2);
    close_tag(l, sign ? 3 : 2, sign == '-', !expression && sign != '+');
    return true;
}

static qn_err lex_tag(struct lexer *l)
{
    bool expression = l->s[l->i + 1] == '{';
    add(l, expression ? QN_TOK_OPEN_EXPR : QN_TOK_OPEN_STMT, l->i, l->s + l->i, 2);
    l->i += sign_at(l, l->i + 2) ? 3 : 2;
    l->open_n = 0;
    for (qn_err err = QN_OK;;) {
        /* The closing mark is tested before white space is skipped, because white space belongs to
         * some marks. */
        if (lex_close(l, expression))
            return QN_OK;
        size_t space = qn_ttext_skip(l->s + l->i, l->n - l->i);
        if (space) {
            l->i += space;
            continue;
        }
        if (l->i >= l->n)
            return fail(l, "a tag is never closed");
        char c = l->s[l->i];
        if (c == '"' || c == '\'')
            err = lex_string(l);
        else if (c >= '0' && c <= '9')
            lex_number(l);
        else if (name_char(l, l->i, true))
            lex_name(l);
        else
            err = lex_punct(l);
        if (err)
            return err;
    }
}

/* Offset of the next tag or comment, or the end. */
static size_t next_tag(const struct lexer *l)
{
    for (size_t k = l->i; k + 1 < l->n; k++)
        if (l->s[k] == '{' && (l->s[k + 1] == '{' || l->s[k + 1] == '%' || l->s[k + 1] == '#'))
            return k;
    return l->n;
}

static qn_err lex_next(struct lexer *l)
{
    size_t tag = next_tag(l), raw;
    if (tag == l->n) {
        add(l, QN_TOK_TEXT, l->i, l->s + l->i, l->n - l->i);
        l->i = l->n;
        return QN_OK;
    }
    add_text(l, l->i, tag, sign_at(l, tag + 2), l->s[tag + 1] == '{');
    l->i = tag;
    if (l->s[tag + 1] == '#')
        return lex_comment(l);
    raw = word_tag(l, tag, "raw");
    return raw ? lex_raw(l, raw) : lex_tag(l);
}

const char *qn_tlex_prepare(struct qn_arena *arena, const char *source, size_t n, size_t *ready)
{
    char *text = qn_arena_alloc(arena, n + 1);
    size_t to = 0;
    for (size_t i = 0; i < n; i++) {
        if (source[i] == '\r' && i + 1 < n && source[i + 1] == '\n')
            continue;
        text[to++] = source[i] == '\r' ? '\n' : source[i];
    }
    if (to > 0 && text[to - 1] == '\n')
        to--;
    *ready = to;
    return text;
}

qn_err qn_tlex(const char *text, size_t n, struct qn_arena *arena, struct qn_ttoken **out,
               struct qn_error *e)
{
    struct lexer *l = qn_xcalloc(1, sizeof *l);
    *l =
        (struct lexer){.s = text, .n = n, .line = 1, .arena = arena, .e = e, .line_starting = true};
    qn_err err = QN_OK;
    while (!err && l->i < l->n)
        err = lex_next(l);
    add(l, QN_TOK_END, l->n, "", 0);
    if (err)
        free(l->tokens);
    else
        *out = l->tokens;
    free(l);
    return err;
}

bool qn_ttoken_is(const struct qn_ttoken *t, enum qn_ttoken_kind kind, const char *s)
{
    return t->kind == kind && t->n == strlen(s) && memcmp(t->s, s, t->n) == 0;
}
