/* See calls_literal.h. p->key holds the containers that are open, innermost last: their closing
 * bracket, with HAS_ITEMS once something stands in them. */
#include "llm/toolcall/calls_literal.h"

#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum phase {
    BLOCK,
    CALL, /* in front of a name */
    NAME,
    ARGUMENT, /* a key, a value without one, or the end */
    ITEM,     /* of a list, or its end */
    MAP_KEY,  /* or the map's end */
    VALUE,
    STRING, /* a value; a key where p->nest says so */
    WORD,
    NEXT, /* after a value */
    AFTER_CALL,
    CLOSE
};

enum { HAS_ITEMS = 0x80, TRIPLE = 0x100 };

static char container(const struct qn_parse *p)
{
    return (char)(p->key.data[p->key.len - 1] & ~HAS_ITEMS);
}

static void say(struct qn_parse *p, const char *s)
{
    qn_parse_arguments(p, s, strlen(s));
}

/* The comma before an item that is not the first. */
static void item(struct qn_parse *p)
{
    char *top = &p->key.data[p->key.len - 1];
    if (*top & HAS_ITEMS)
        say(p, ", ");
    *top = (char)(*top | HAS_ITEMS);
}

static bool open(struct qn_parse *p, char closing)
{
    if (p->key.len == QN_JSON_DEPTH_MAX - 1)
        return false;
    say(p, closing == '}' ? "{" : "[");
    qn_buf_char(&p->key, closing);
    p->phase = closing == '}' ? MAP_KEY : ITEM;
    return true;
}

static void shut(struct qn_parse *p)
{
    say(p, container(p) == '}' ? "}" : "]");
    p->key.len--;
    p->phase = NEXT;
}

/* In front of a key: of the arguments, or of a member of the innermost map. */
static void before_key(struct qn_parse *p)
{
    if (p->key.len == 0)
        say(p, p->count++ ? ", " : "{");
    else
        item(p);
}

/* The key of the next argument or member. */
static void key(struct qn_parse *p, const char *s, size_t n)
{
    struct qn_buf out;
    qn_buf_init(&out, QN_PARSE_HELD_MAX);
    qn_parse_quote(&out, s, n);
    before_key(p);
    qn_parse_arguments(p, out.data, out.len);
    say(p, ": ");
    qn_buf_deinit(&out);
}

/* A bare word as JSON; false when it is nothing that can stand bare. */
static bool word(struct qn_parse *p, const struct qn_literal_calls *how)
{
    static const struct {
        const char *word, *json;
    } words[] = {{"True", "true"}, {"False", "false"}, {"None", "null"}};
    while (p->value.len && qn_parse_is_space(p->value.data[p->value.len - 1]))
        p->value.data[--p->value.len] = '\0';
    const char *s = qn_buf_cstr(&p->value);
    for (size_t i = 0; i < 3; i++)
        if (qn_str_eq(s, words[i].word))
            s = words[i].json;
    struct qn_json_scan scan = {0};
    bool good = s[0] != '\0' && !strchr("[{\"", s[0]);
    for (const char *at = s; *at && good; at++)
        good = qn_json_scan(&scan, *at, NULL) == QN_SCAN_MORE;
    if (good && qn_json_scan_end(&scan) == QN_SCAN_DONE) {
        say(p, s);
        return true;
    }
    if (!how->quote)
        return false;
    struct qn_buf out;
    qn_buf_init(&out, QN_PARSE_HELD_MAX);
    qn_parse_quote(&out, qn_buf_cstr(&p->value), p->value.len);
    qn_parse_arguments(p, out.data, out.len);
    qn_buf_deinit(&out);
    return true;
}

/* One character of a Python string at pos, escapes undone, appended to out as it stands in JSON. */
static enum qn_step python_character(struct qn_parse *p, struct qn_buf *out)
{
    const char *s = p->in.data + p->pos;
    size_t there = p->in.len - p->pos;
    if (*s != '\\') {
        qn_json_escape(out, *s);
        p->pos++;
        return QN_STEP_DONE;
    }
    if (there < 2)
        return QN_STEP_MORE;
    size_t digits = s[1] == 'x' ? 2 : s[1] == 'u' ? 4 : s[1] == 'U' ? 8 : 0, n = 2;
    while (n < there && n < 2 + digits && isxdigit((unsigned char)s[n]))
        n++;
    if (n == there && n < 2 + digits && !p->final)
        return QN_STEP_MORE;
    static const char letters[] = "nrtbfav0", stands[] = "\n\r\t\b\f\a\v";
    const char *letter = strchr(letters, s[1]);
    if (digits && n == 2 + digits) {
        char hex[9] = {0}, utf8[4];
        memcpy(hex, s + 2, digits);
        unsigned long cp = strtoul(hex, NULL, 16);
        if (cp >= 0xD800 && cp < 0xE000) {
            qn_buf_fmt(out, "\\u%04lx", cp); /* half of a pair, which JSON writes alike */
        } else {
            size_t bytes = qn_utf8_encode(cp > 0x10FFFF ? 0xFFFD : (uint32_t)cp, utf8);
            for (size_t i = 0; i < bytes; i++)
                qn_json_escape(out, utf8[i]);
        }
    } else if (digits) {
        qn_json_escape(out, '\\');
        n = 1;
    } else if (s[1] && letter) {
        qn_json_escape(out, stands[letter - letters]);
    } else if (strchr("\\'\"", s[1]) && s[1]) {
        qn_json_escape(out, s[1]);
    } else if (s[1] != '\n') { /* a line that goes on is one line */
        qn_json_escape(out, '\\');
        n = 1;
    }
    p->pos += n;
    return QN_STEP_DONE;
}

/* A string up to its end, into out. */
static enum qn_step string(struct qn_parse *p, const struct qn_literal_calls *how,
                           struct qn_buf *out)
{
    char end[4] = {(char)(p->what & 0xff)};
    if (p->what & TRIPLE)
        end[1] = end[2] = end[0];
    while (p->pos < p->in.len) {
        enum qn_word w = qn_parse_word(p, how->quote ? how->quote : end);
        if (w == QN_WORD_YES)
            return QN_STEP_DONE;
        if (w == QN_WORD_MORE)
            return QN_STEP_MORE;
        if (how->quote) {
            qn_json_escape(out, p->in.data[p->pos++]);
            continue;
        }
        if (p->in.data[p->pos] == '\n' && !(p->what & TRIPLE))
            return QN_STEP_BAD;
        if (python_character(p, out) == QN_STEP_MORE)
            return QN_STEP_MORE;
    }
    return QN_STEP_MORE;
}

/* A string begins at pos; NO: none does. */
static enum qn_word quote_at(struct qn_parse *p, const struct qn_literal_calls *how)
{
    if (how->quote)
        return qn_parse_word(p, how->quote);
    int c = qn_parse_byte(p);
    if (c != '"' && c != '\'')
        return QN_WORD_NO;
    char triple[4] = {(char)c, (char)c, (char)c};
    enum qn_word w = qn_parse_word(p, triple);
    if (w == QN_WORD_MORE)
        return w;
    p->what = w == QN_WORD_YES ? c | TRIPLE : c;
    p->pos += w == QN_WORD_NO;
    return QN_WORD_YES;
}

static bool in_word(int c)
{
    return isalnum(c) || c >= 0x80 || strchr("_.+-", c);
}

static bool call_ended(struct qn_parse *p)
{
    if (p->committed)
        say(p, "}");
    p->count = 0;
    qn_parse_called(p);
    p->phase = AFTER_CALL;
    return p->over;
}

enum qn_step qn_calls_literal(struct qn_parse *p)
{
    const struct qn_literal_calls *how = p->how;
    struct qn_buf text;
    for (;;) {
        int c = qn_parse_byte(p);
        if (p->phase != STRING && p->phase != WORD && p->phase != NAME)
            c = qn_parse_next(p);
        if (c < 0)
            return QN_STEP_MORE;
        enum qn_word w;
        enum qn_step step;
        switch ((enum phase)p->phase) {
        case BLOCK:
            if (how->json && (c == '{' || c == '[')) {
                size_t at = p->pos;
                p->pos += c == '[';
                int next = qn_parse_next(p);
                p->pos = at;
                if (next < 0)
                    return QN_STEP_MORE;
                if (next == '{')
                    return qn_parse_hand_over(p, qn_calls_json, how->json);
            }
            if (how->list && c == '[') {
                p->list = true;
                p->pos++;
            }
            p->phase = CALL;
            break;
        case CALL:
            p->half = true;
            w = qn_parse_word(p, how->before);
            if (w != QN_WORD_YES)
                return w == QN_WORD_MORE ? QN_STEP_MORE : QN_STEP_BAD;
            p->phase = NAME;
            break;
        case NAME:
            if (c == how->open) {
                size_t cut = how->method ? strlen(how->method) : 0, n = p->name.len;
                if (cut && n > cut && !memcmp(p->name.data + n - cut, how->method, cut)) {
                    p->name.len -= cut;
                    p->name.data[p->name.len] = '\0';
                }
                if (!qn_parse_callable(p))
                    return QN_STEP_BAD;
                p->pos++;
                p->phase = ARGUMENT;
                break;
            }
            if (!in_word(c) || p->name.len == QN_PARSE_NAME_MAX)
                return QN_STEP_BAD;
            qn_buf_char(&p->name, (char)c);
            p->pos++;
            break;
        case ARGUMENT:
            if (c == how->end) {
                p->pos++;
                if (call_ended(p))
                    return QN_STEP_DONE;
                break;
            }
            qn_buf_clear(&p->value);
            p->nest = 1;
            if (how->open == '{') {
                p->phase = MAP_KEY;
                break;
            }
            /* Only a word can be a key here. */
            p->phase = WORD;
            if (in_word(c))
                break;
            /* fall through */
        case VALUE:
            if (p->phase == WORD) { /* an argument without a key: the schema's order names it */
                const char *name =
                    qn_tools_parameter(p->c.tools, qn_buf_cstr(&p->name), (size_t)p->count);
                if (!name)
                    return QN_STEP_BAD;
                key(p, name, strlen(name));
            }
            p->nest = 0;
            w = quote_at(p, how);
            if (w == QN_WORD_MORE) {
                p->phase = VALUE;
                return QN_STEP_MORE;
            }
            if (w == QN_WORD_YES) {
                say(p, "\"");
                p->phase = STRING;
                break;
            }
            if (c == '[' || c == '{' || (c == '(' && !how->quote)) {
                p->pos++;
                if (!open(p, c == '[' ? ']' : c == '{' ? '}' : ')'))
                    return QN_STEP_BAD;
                break;
            }
            if (!in_word(c))
                return QN_STEP_BAD;
            qn_buf_clear(&p->value);
            p->phase = WORD;
            break;
        case MAP_KEY:
            if (p->key.len && c == '}') {
                p->pos++;
                shut(p);
                break;
            }
            p->nest = 1;
            qn_buf_clear(&p->value);
            w = quote_at(p, how);
            if (w == QN_WORD_MORE)
                return QN_STEP_MORE;
            if (w == QN_WORD_NO && !in_word(c))
                return QN_STEP_BAD;
            p->phase = w == QN_WORD_YES ? STRING : WORD;
            break;
        case STRING:
            qn_buf_init(&text, QN_PARSE_HELD_MAX);
            step = string(p, how, &text);
            if (p->nest)
                qn_buf_add(&p->value, qn_buf_cstr(&text), text.len);
            else if (text.len)
                qn_parse_arguments(p, text.data, text.len);
            qn_buf_deinit(&text);
            if (step != QN_STEP_DONE)
                return step;
            if (!p->nest) {
                say(p, "\"");
                p->phase = NEXT;
                break;
            }
            /* A key: its text is escaped already. */
            before_key(p);
            say(p, "\"");
            qn_parse_arguments(p, qn_buf_cstr(&p->value), p->value.len);
            say(p, "\"");
            say(p, ": ");
            p->phase = NEXT;
            p->what = 0;
            p->nest = 2;
            break;
        case WORD:
            if (in_word(c) || (how->quote && !strchr(p->nest ? ",:{}[]" : ",{}[]", c))) {
                qn_buf_char(&p->value, (char)c);
                p->pos++;
                break;
            }
            c = qn_parse_next(p);
            if (c < 0)
                return QN_STEP_MORE;
            if (p->nest && c == (p->key.len ? ':' : how->equals)) {
                key(p, qn_buf_cstr(&p->value), p->value.len);
                p->pos++;
                p->nest = 0;
                p->phase = VALUE;
                break;
            }
            if (p->nest) { /* a word without a key, or a map that is none */
                const char *name =
                    qn_tools_parameter(p->c.tools, qn_buf_cstr(&p->name), (size_t)p->count);
                if (p->key.len || how->open == '{' || !name)
                    return QN_STEP_BAD;
                key(p, name, strlen(name));
            }
            p->nest = 0;
            if (!word(p, how))
                return QN_STEP_BAD;
            p->phase = NEXT;
            break;
        case ITEM:
            if (c == container(p)) {
                p->pos++;
                shut(p);
                break;
            }
            item(p);
            p->phase = VALUE;
            break;
        case NEXT:
            if (p->nest == 2) { /* the colon behind a quoted key */
                if (c != ':')
                    return QN_STEP_BAD;
                p->pos++;
                p->nest = 0;
                p->phase = VALUE;
                break;
            }
            if (c == ',') {
                p->pos++;
                p->phase = p->key.len == 0 ? ARGUMENT : container(p) == '}' ? MAP_KEY : ITEM;
                break;
            }
            if (c != (p->key.len ? container(p) : how->end))
                return QN_STEP_BAD;
            p->pos++;
            if (p->key.len)
                shut(p);
            else if (call_ended(p))
                return QN_STEP_DONE;
            break;
        case AFTER_CALL:
            if (p->list && (c == ',' || c == ']')) {
                p->pos++;
                p->phase = c == ',' ? CALL : CLOSE;
                break;
            }
            p->phase = CLOSE;
            break;
        case CLOSE:
            for (size_t i = 0; i < 2 && how->close[i]; i++) {
                w = qn_parse_word(p, how->close[i]);
                if (w == QN_WORD_MORE)
                    return QN_STEP_MORE;
                if (w == QN_WORD_YES)
                    return QN_STEP_DONE;
            }
            return QN_STEP_DONE;
        }
    }
}
