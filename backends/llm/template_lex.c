/* See template_lex.h. Outside of tags everything is text; a dash at a tag's edge takes the white
 * space beyond it away. Inside, `}}` closes only where no `{` is open. */
#include "llm/template_lex.h"

#include "base/buf.h"
#include "base/str.h"
#include "llm/template_text.h"

#include <stdlib.h>
#include <string.h>

struct lexer {
    const struct qn_tsource *source;
    const char *s;
    size_t n, i;
    struct qn_arena *arena;
    struct qn_ttoken *tokens;
    size_t count, cap;
    size_t curly; /* open { of the current tag */
    struct qn_error *e;
};

static qn_err fail(struct lexer *l, size_t at, const char *what)
{
    unsigned line, column;
    qn_tsource_place(l->source, (uint32_t)at, &line, &column);
    return qn_fail(l->e, QN_EFORMAT, "chat template, line %u, column %u: %s", line, column, what);
}

static void add(struct lexer *l, enum qn_ttoken_kind kind, size_t at, const char *s, size_t n)
{
    if (l->count == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 256;
        l->tokens = qn_xrealloc(l->tokens, l->cap * sizeof(*l->tokens));
    }
    l->tokens[l->count++] = (struct qn_ttoken){.kind = kind, .at = (uint32_t)at, .s = s, .n = n};
}

static bool starts(const struct lexer *l, const char *prefix)
{
    size_t n = strlen(prefix);
    return l->n - l->i >= n && memcmp(l->s + l->i, prefix, n) == 0;
}

/* Blanks after a closing tag that ends in a dash. */
static void skip_space(struct lexer *l)
{
    l->i += qn_text_skip(l->s + l->i, l->n - l->i);
}

static void lex_text(struct lexer *l)
{
    size_t start = l->i, end = l->n;
    for (size_t k = start; k + 1 < l->n; k++) {
        if (l->s[k] == '{' && (l->s[k + 1] == '{' || l->s[k + 1] == '%' || l->s[k + 1] == '#')) {
            end = k;
            break;
        }
    }
    l->i = end;
    size_t n = end - start;
    if (end + 2 < l->n && l->s[end + 2] == '-')
        n = qn_text_rtrim(l->s + start, n);
    if (n > 0)
        add(l, QN_TOK_TEXT, start, l->s + start, n);
}

static qn_err lex_comment(struct lexer *l)
{
    size_t start = l->i;
    for (l->i += 2; l->i < l->n && !starts(l, "#}"); l->i++)
        ;
    if (l->i >= l->n)
        return fail(l, start, "this comment is never closed");
    bool trim = l->s[l->i - 1] == '-';
    l->i += 2;
    if (trim)
        skip_space(l);
    return QN_OK;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The number of `digits` hex digits at offset i; false when they are not all there. */
static bool hex_number(const struct lexer *l, size_t i, size_t digits, uint32_t *out)
{
    *out = 0;
    if (l->n - l->i < digits || i > l->n - digits)
        return false;
    for (size_t k = i; k < i + digits; k++) {
        int digit = hex_digit(l->s[k]);
        if (digit < 0)
            return false;
        *out = *out * 16 + (uint32_t)digit;
    }
    return true;
}

/* A \x or \u escape at l->i (the letter): appends the character, joining surrogate pairs. */
static qn_err lex_code_escape(struct lexer *l, struct qn_buf *text)
{
    size_t digits = l->s[l->i] == 'x' ? 2 : 4;
    uint32_t cp, low;
    char utf8[4];
    if (!hex_number(l, l->i + 1, digits, &cp))
        return fail(l, l->i, "hexadecimal digits are missing");
    l->i += 1 + digits;
    if (cp >= 0xD800 && cp < 0xDC00 && starts(l, "\\u") && hex_number(l, l->i + 2, 4, &low) &&
        low >= 0xDC00 && low < 0xE000) {
        cp = 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00);
        l->i += 6;
    }
    if (cp >= 0xD800 && cp < 0xE000)
        cp = 0xFFFD; /* half a character cannot be written as UTF-8 */
    qn_buf_add(text, utf8, qn_utf8_encode(cp, utf8));
    return QN_OK;
}

static qn_err lex_escape(struct lexer *l, struct qn_buf *text)
{
    static const char plain[][2] = {{'n', '\n'}, {'t', '\t'},  {'r', '\r'},
                                    {'b', '\b'}, {'f', '\f'},  {'v', '\v'},
                                    {'"', '"'},  {'\'', '\''}, {'\\', '\\'}};
    l->i++;
    if (l->i >= l->n)
        return fail(l, l->i - 1, "this string is never closed");
    char c = l->s[l->i];
    if (c == 'x' || c == 'u')
        return lex_code_escape(l, text);
    for (size_t k = 0; k < sizeof(plain) / sizeof(plain[0]); k++) {
        if (plain[k][0] == c) {
            l->i++;
            qn_buf_char(text, plain[k][1]);
            return QN_OK;
        }
    }
    return fail(l, l->i, "unknown escape in a string");
}

static qn_err lex_string(struct lexer *l)
{
    size_t start = l->i;
    char quote = l->s[l->i++];
    struct qn_buf text;
    qn_err err = QN_OK;
    qn_buf_init(&text, l->n + 16);
    while (!err && l->i < l->n && l->s[l->i] != quote) {
        if (l->s[l->i] == '\\')
            err = lex_escape(l, &text);
        else
            qn_buf_char(&text, l->s[l->i++]);
    }
    if (!err && l->i >= l->n)
        err = fail(l, start, "this string is never closed");
    if (!err) {
        l->i++;
        add(l, QN_TOK_STRING, start, qn_arena_strndup(l->arena, qn_buf_cstr(&text), text.len),
            text.len);
    }
    qn_buf_deinit(&text);
    return err;
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void lex_number(struct lexer *l)
{
    size_t start = l->i;
    enum qn_ttoken_kind kind = QN_TOK_INT;
    while (l->i < l->n && digit(l->s[l->i]))
        l->i++;
    if (l->i + 1 < l->n && l->s[l->i] == '.' && digit(l->s[l->i + 1])) {
        kind = QN_TOK_FLOAT;
        for (l->i++; l->i < l->n && digit(l->s[l->i]);)
            l->i++;
    }
    add(l, kind, start, l->s + start, l->i - start);
}

static void lex_name(struct lexer *l)
{
    size_t start = l->i;
    while (l->i < l->n && (name_start(l->s[l->i]) || digit(l->s[l->i])))
        l->i++;
    add(l, QN_TOK_NAME, start, l->s + start, l->i - start);
}

static qn_err lex_punct(struct lexer *l)
{
    static const char *const puncts[] = {"**", "//", "==", "!=", "<=", ">=", "(", ")", "[",
                                         "]",  "{",  "}",  ",",  ".",  ":",  "|", "=", "<",
                                         ">",  "+",  "-",  "~",  "*",  "/",  "%"};
    for (size_t k = 0; k < sizeof(puncts) / sizeof(puncts[0]); k++) {
        if (!starts(l, puncts[k]))
            continue;
        size_t n = strlen(puncts[k]);
        add(l, QN_TOK_PUNCT, l->i, l->s + l->i, n);
        if (*puncts[k] == '{')
            l->curly++;
        if (*puncts[k] == '}' && l->curly > 0)
            l->curly--;
        l->i += n;
        return QN_OK;
    }
    return fail(l, l->i, "unexpected character");
}

/* A tag from its opening to its closing bracket. */
static qn_err lex_tag(struct lexer *l)
{
    bool expression = l->s[l->i + 1] == '{';
    size_t start = l->i;
    const char *close = expression ? "}}" : "%}", *close_trim = expression ? "-}}" : "-%}";
    enum qn_ttoken_kind close_kind = expression ? QN_TOK_CLOSE_EXPR : QN_TOK_CLOSE_STMT;
    add(l, expression ? QN_TOK_OPEN_EXPR : QN_TOK_OPEN_STMT, start, l->s + start, 2);
    l->i += 2;
    if (l->i < l->n && l->s[l->i] == '-')
        l->i++;
    l->curly = 0;
    for (;;) {
        skip_space(l);
        if (l->i >= l->n)
            return fail(l, start, "this tag is never closed");
        bool trim = l->curly == 0 && starts(l, close_trim);
        if (trim || (l->curly == 0 && starts(l, close))) {
            add(l, close_kind, l->i, l->s + l->i, 2);
            l->i += trim ? 3 : 2;
            if (trim)
                skip_space(l);
            return QN_OK;
        }
        char c = l->s[l->i];
        qn_err err = QN_OK;
        if (c == '"' || c == '\'')
            err = lex_string(l);
        else if (digit(c))
            lex_number(l);
        else if (name_start(c))
            lex_name(l);
        else
            err = lex_punct(l);
        if (err)
            return err;
    }
}

qn_err qn_tlex(const struct qn_tsource *source, struct qn_arena *arena, struct qn_ttoken **out,
               struct qn_error *e)
{
    struct lexer l = {.source = source, .s = source->text, .n = source->n, .arena = arena, .e = e};
    qn_err err = QN_OK;
    while (!err && l.i < l.n) {
        if (l.i + 1 < l.n && l.s[l.i] == '{' && l.s[l.i + 1] == '#')
            err = lex_comment(&l);
        else if (l.i + 1 < l.n && l.s[l.i] == '{' && (l.s[l.i + 1] == '{' || l.s[l.i + 1] == '%'))
            err = lex_tag(&l);
        else
            lex_text(&l);
    }
    add(&l, QN_TOK_END, l.n, "", 0);
    if (err)
        free(l.tokens);
    else
        *out = l.tokens;
    return err;
}

bool qn_ttoken_is(const struct qn_ttoken *t, enum qn_ttoken_kind kind, const char *s)
{
    return t->kind == kind && t->n == strlen(s) && memcmp(t->s, s, t->n) == 0;
}
