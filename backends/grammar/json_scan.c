/* See json_scan.h. The grammar is that of RFC 8259. */
#include "grammar/json_scan.h"

#include "base/str.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum state {
    WANT_VALUE,
    WANT_FIRST_ITEM, /* a value or ] */
    WANT_FIRST_KEY,  /* a key or } */
    WANT_KEY,
    WANT_COLON,
    AFTER_VALUE, /* a comma, or the end of the container */
    IN_STRING,
    IN_ESCAPE,
    IN_KEY,
    IN_KEY_ESCAPE,
    IN_WORD
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool in_object(const struct qn_json_scan *s)
{
    return s->depth > 0 && (s->object[(s->depth - 1) / 8] >> ((s->depth - 1) % 8) & 1);
}

static bool push(struct qn_json_scan *s, bool object)
{
    if (s->depth == QN_JSON_DEPTH_MAX)
        return false;
    uint8_t bit = (uint8_t)(1u << (s->depth % 8));
    uint8_t *byte = &s->object[s->depth / 8];
    *byte = (uint8_t)(object ? *byte | bit : *byte & ~bit);
    s->depth++;
    s->state = object ? WANT_FIRST_KEY : WANT_FIRST_ITEM;
    return true;
}

static enum qn_json_step value_ended(struct qn_json_scan *s)
{
    s->state = AFTER_VALUE;
    return s->depth == 0 ? QN_SCAN_DONE : QN_SCAN_MORE;
}

static bool number_complete(const char *w)
{
    w += *w == '-';
    if (*w == '0')
        w++;
    else if (!isdigit((unsigned char)*w))
        return false;
    else
        w += strspn(w, "0123456789");
    if (*w == '.') {
        size_t digits = strspn(++w, "0123456789");
        if (!digits)
            return false;
        w += digits;
    }
    if (*w == 'e' || *w == 'E') {
        w++;
        w += *w == '+' || *w == '-';
        size_t digits = strspn(w, "0123456789");
        if (!digits)
            return false;
        w += digits;
    }
    return *w == '\0';
}

static bool word_complete(const struct qn_json_scan *s)
{
    return !strcmp(s->word, "true") || !strcmp(s->word, "false") || !strcmp(s->word, "null") ||
           number_complete(s->word);
}

static void add(struct qn_buf *out, char c)
{
    if (out)
        qn_buf_char(out, c);
}

void qn_json_escape(struct qn_buf *out, char c)
{
    static const char plain[] = "\b\f\n\r\t\"\\", letter[] = "bfnrt\"\\";
    const char *at = c ? strchr(plain, c) : NULL;
    if (at)
        qn_buf_fmt(out, "\\%c", letter[at - plain]);
    else if (c == '\0')
        qn_buf_str(out, "\xef\xbf\xbd"); /* U+FFFD replaces the null byte, which the project's C
                                            strings cannot hold */
    else if ((unsigned char)c < 0x20)
        qn_buf_fmt(out, "\\u%04x", (unsigned)(unsigned char)c);
    else
        qn_buf_char(out, c);
}

static enum qn_json_step in_string(struct qn_json_scan *s, char c, struct qn_buf *out)
{
    bool key = s->state == IN_KEY;
    if (s->hex > 0) {
        if (!isxdigit((unsigned char)c))
            return QN_SCAN_BAD;
        s->hex--;
        add(out, c);
        return QN_SCAN_MORE;
    }
    if (c == '\\') {
        s->state = key ? IN_KEY_ESCAPE : IN_ESCAPE;
        return QN_SCAN_MORE; /* the backslash is written together with the next character */
    }
    if (c == '"') {
        add(out, c);
        if (!key)
            return value_ended(s);
        s->state = WANT_COLON;
        return QN_SCAN_MORE;
    }
    if (out)
        qn_json_escape(out, c);
    return QN_SCAN_MORE;
}

static enum qn_json_step in_escape(struct qn_json_scan *s, char c, struct qn_buf *out)
{
    s->state = s->state == IN_KEY_ESCAPE ? IN_KEY : IN_STRING;
    if (c && strchr("\"\\/bfnrtu", c)) {
        s->hex = c == 'u' ? 4 : 0;
        add(out, '\\');
        add(out, c);
        return QN_SCAN_MORE;
    }
    add(out, '\\'); /* the escape is invalid, so the backslash is written as a literal character */
    add(out, '\\');
    return in_string(s, c, out);
}

static enum qn_json_step in_word(struct qn_json_scan *s, char c, struct qn_buf *out)
{
    if ((isalnum((unsigned char)c) || (c && strchr("+-.", c))) && s->word_n + 1 < sizeof s->word) {
        s->word[s->word_n++] = c;
        s->word[s->word_n] = '\0';
        static const char *const words[] = {"true", "false", "null"};
        bool may = isdigit((unsigned char)s->word[0]) || s->word[0] == '-';
        for (size_t i = 0; i < 3; i++)
            may |= strncmp(words[i], s->word, s->word_n) == 0;
        if (!may) {
            s->word[--s->word_n] = '\0';
            return QN_SCAN_BAD;
        }
        add(out, c);
        return QN_SCAN_MORE;
    }
    if (!word_complete(s))
        return QN_SCAN_BAD;
    if (value_ended(s) == QN_SCAN_DONE)
        return QN_SCAN_BEFORE;
    return qn_json_scan(s, c, out);
}

static enum qn_json_step begin_value(struct qn_json_scan *s, char c, struct qn_buf *out)
{
    if (c == '{' || c == '[') {
        if (!push(s, c == '{'))
            return QN_SCAN_BAD;
        add(out, c);
        return QN_SCAN_MORE;
    }
    if (c == '"') {
        s->state = IN_STRING;
        add(out, c);
        return QN_SCAN_MORE;
    }
    s->state = IN_WORD;
    s->word_n = 0;
    s->word[0] = '\0';
    return isalnum((unsigned char)c) || c == '-' ? in_word(s, c, out) : QN_SCAN_BAD;
}

static enum qn_json_step close(struct qn_json_scan *s, char c, struct qn_buf *out)
{
    s->depth--;
    add(out, c);
    return value_ended(s);
}

enum qn_json_step qn_json_scan(struct qn_json_scan *s, char c, struct qn_buf *out)
{
    switch ((enum state)s->state) {
    case IN_STRING:
    case IN_KEY:
        return in_string(s, c, out);
    case IN_ESCAPE:
    case IN_KEY_ESCAPE:
        return in_escape(s, c, out);
    case IN_WORD:
        return in_word(s, c, out);
    default:
        break;
    }
    if (is_space(c)) {
        add(out, c);
        return QN_SCAN_MORE;
    }
    switch ((enum state)s->state) {
    case WANT_FIRST_ITEM:
        if (c == ']')
            return close(s, c, out);
        return begin_value(s, c, out);
    case WANT_VALUE:
        return begin_value(s, c, out);
    case WANT_FIRST_KEY:
        if (c == '}')
            return close(s, c, out);
        /* fall through */
    case WANT_KEY:
        if (c != '"')
            return QN_SCAN_BAD;
        s->state = IN_KEY;
        add(out, c);
        return QN_SCAN_MORE;
    case WANT_COLON:
        if (c != ':')
            return QN_SCAN_BAD;
        s->state = WANT_VALUE;
        add(out, c);
        return QN_SCAN_MORE;
    default: /* AFTER_VALUE */
        if (s->depth == 0)
            return QN_SCAN_BAD;
        if (c == (in_object(s) ? '}' : ']'))
            return close(s, c, out);
        if (c != ',')
            return QN_SCAN_BAD;
        s->state = in_object(s) ? WANT_KEY : WANT_VALUE;
        add(out, c);
        return QN_SCAN_MORE;
    }
}

enum qn_json_step qn_json_scan_end(const struct qn_json_scan *s)
{
    bool done =
        s->depth == 0 && (s->state == AFTER_VALUE || (s->state == IN_WORD && word_complete(s)));
    return done ? QN_SCAN_DONE : QN_SCAN_BAD;
}
