/* See calls_literal.h. */
#include "llm/toolcall/calls_literal.h"

#include "base/str.h"
#include "llm/toolcall/calls_force.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum phase {
    BLOCK,
    CALL, /* before a name */
    NAME,
    ARGUMENT, /* a key, a value without a key, or the end of the arguments */
    ITEM,     /* an item of a list, or the end of the list */
    MAP_KEY,  /* a key of a map, or the end of the map */
    VALUE,
    STRING, /* a string: a value, or a key if reads_key is set */
    WORD,
    COLON, /* after a quoted key */
    NEXT,  /* after a value */
    AFTER_CALL,
    CLOSE
};

struct state {
    bool list;      /* the calls are items of a list */
    bool reads_key; /* the string or word in p->value is a key or may turn out to be one */
    bool triple;    /* the string ends with three quotes */
    char quote;     /* the quote that began a Python string */
    int arguments;  /* number of arguments of this call so far */
    int depth;      /* number of open containers */
    char closing[QN_JSON_DEPTH_MAX]; /* the byte that ends each of them */
    bool items[QN_JSON_DEPTH_MAX];   /* whether each of them has an item */
};

static struct state *state_of(struct qn_parse *p)
{
    return QN_PARSE_STATE(p, struct state);
}

/* ---- Output of the arguments as JSON ---- */

static void say(struct qn_parse *p, const char *s)
{
    qn_parse_arguments(p, s, strlen(s));
}

/* The byte that ends the innermost container; '\0': none is open. */
static char container(const struct state *s)
{
    return s->depth ? s->closing[s->depth - 1] : '\0';
}

/* Writes the comma before an item, unless it is the first. */
static void item(struct qn_parse *p, struct state *s)
{
    if (s->items[s->depth - 1])
        say(p, ", ");
    s->items[s->depth - 1] = true;
}

static enum qn_step open_container(struct qn_parse *p, struct state *s, char closing)
{
    if (s->depth == QN_JSON_DEPTH_MAX - 1)
        return QN_STEP_BAD;
    say(p, closing == '}' ? "{" : "[");
    s->closing[s->depth] = closing;
    s->items[s->depth++] = false;
    return qn_parse_go(p, closing == '}' ? MAP_KEY : ITEM);
}

/* Ends the innermost container at the byte at pos. */
static enum qn_step shut_container(struct qn_parse *p, struct state *s)
{
    say(p, container(s) == '}' ? "}" : "]");
    s->depth--;
    return qn_parse_skip(p, 1, NEXT);
}

/* Writes a key, given as n bytes that are already escaped as in a JSON string, for the next
 * argument or for the next member of the innermost map. */
static void say_key(struct qn_parse *p, struct state *s, const char *json, size_t n)
{
    if (s->depth == 0)
        say(p, s->arguments++ ? ", " : "{");
    else
        item(p, s);
    say(p, "\"");
    qn_parse_arguments(p, json, n);
    say(p, "\": ");
}

static void say_raw_key(struct qn_parse *p, struct state *s, const char *key, size_t n)
{
    struct qn_buf out;
    qn_buf_init(&out, QN_PARSE_HELD_MAX);
    for (size_t i = 0; i < n; i++)
        qn_json_escape(&out, key[i]);
    say_key(p, s, qn_buf_cstr(&out), out.len);
    qn_buf_deinit(&out);
}

/* Writes the key of an argument that was given without one; the key is chosen by the order in the
 * schema. False: the schema has no further parameter. */
static bool say_position(struct qn_parse *p, struct state *s)
{
    const char *name = qn_tools_parameter(p->c.tools, qn_buf_cstr(&p->name), (size_t)s->arguments);
    if (name)
        say_raw_key(p, s, name, strlen(name));
    return name != NULL;
}

/* ---- Words and strings ---- */

/* Writes the unquoted word in p->value as JSON; false when a value of this form must be quoted. */
static bool say_word(struct qn_parse *p, const struct qn_literal_calls *how)
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

/* Reads one character of a Python string at pos, resolves escapes, and appends its JSON form to
 * out. */
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
            qn_buf_fmt(out, "\\u%04lx", cp); /* one half of a surrogate pair; JSON writes surrogates
                                                in the same way */
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
    } else if (s[1] != '\n') { /* a backslash at the end of a line continues the string without the
                                  line break */
        qn_json_escape(out, '\\');
        n = 1;
    }
    p->pos += n;
    return QN_STEP_DONE;
}

/* Reads a string up to its end and appends it to out. */
static enum qn_step read_string(struct qn_parse *p, const struct state *s, struct qn_buf *out)
{
    const struct qn_literal_calls *how = p->how;
    const char triple[4] = {s->quote, s->quote, s->quote}, single[2] = {s->quote};
    const char *end = how->quote ? how->quote : s->triple ? triple : single;
    while (p->pos < p->in.len) {
        enum qn_word w = qn_parse_word(p, end);
        if (w != QN_WORD_NO)
            return w == QN_WORD_YES ? QN_STEP_DONE : QN_STEP_MORE;
        if (how->quote) {
            qn_json_escape(out, p->in.data[p->pos++]);
            continue;
        }
        if (p->in.data[p->pos] == '\n' && !s->triple)
            return QN_STEP_BAD;
        if (python_character(p, out) == QN_STEP_MORE)
            return QN_STEP_MORE;
    }
    return QN_STEP_MORE;
}

/* Reads the mark that begins a string, if there is one at pos. */
static enum qn_word take_quote(struct qn_parse *p, struct state *s)
{
    const struct qn_literal_calls *how = p->how;
    if (how->quote)
        return qn_parse_word(p, how->quote);
    int c = qn_parse_byte(p);
    if (c != '"' && c != '\'')
        return QN_WORD_NO;
    const char triple[4] = {(char)c, (char)c, (char)c};
    enum qn_word w = qn_parse_word(p, triple);
    if (w == QN_WORD_MORE)
        return w;
    s->quote = (char)c;
    s->triple = w == QN_WORD_YES;
    p->pos += w == QN_WORD_NO;
    return QN_WORD_YES;
}

static bool in_word(int c)
{
    return isalnum(c) || c >= 0x80 || strchr("_.+-", c);
}

/* ---- Phases ---- */

static enum qn_step call_ended(struct qn_parse *p, struct state *s)
{
    p->pos++;
    if (p->committed)
        say(p, "}");
    s->arguments = 0;
    qn_parse_called(p);
    return p->over ? QN_STEP_DONE : qn_parse_go(p, AFTER_CALL);
}

/* Reads what follows the opener: a list, one call, or, in some families, JSON. */
static enum qn_step read_block(struct qn_parse *p, int c)
{
    const struct qn_literal_calls *how = p->how;
    if (how->json && (c == '{' || c == '[')) {
        size_t at = p->pos;
        p->pos += c == '[';
        int next = qn_parse_next(p);
        p->pos = at;
        if (next < 0)
            return QN_STEP_MORE;
        if (next == '{')
            return qn_parse_hand_over(p, &qn_calls_json, how->json);
    }
    state_of(p)->list = how->list && c == '[';
    return qn_parse_skip(p, state_of(p)->list, CALL);
}

static enum qn_step read_call(struct qn_parse *p, int c)
{
    (void)c;
    p->half = true;
    return qn_parse_expect(p, ((const struct qn_literal_calls *)p->how)->before, NAME);
}

/* Removes the method's name, which is not part of the tool's name, from the end of the name. */
static void cut_method(struct qn_parse *p, const char *method)
{
    size_t cut = method ? strlen(method) : 0, n = p->name.len;
    if (cut && n > cut && !memcmp(p->name.data + n - cut, method, cut)) {
        p->name.len -= cut;
        p->name.data[p->name.len] = '\0';
    }
}

static enum qn_step read_name(struct qn_parse *p, int c)
{
    const struct qn_literal_calls *how = p->how;
    if (c == how->open) {
        cut_method(p, how->method);
        return qn_parse_callable(p) ? qn_parse_skip(p, 1, ARGUMENT) : QN_STEP_BAD;
    }
    if (!in_word(c) || p->name.len == QN_PARSE_NAME_MAX)
        return QN_STEP_BAD;
    qn_buf_char(&p->name, (char)c);
    return qn_parse_skip(p, 1, NAME);
}

static enum qn_step read_argument(struct qn_parse *p, int c)
{
    const struct qn_literal_calls *how = p->how;
    struct state *s = state_of(p);
    if (c == how->end)
        return call_ended(p, s);
    if (how->open == '{')
        return qn_parse_go(p, MAP_KEY);
    /* Here a key can only be a word. */
    if (!in_word(c))
        return say_position(p, s) ? qn_parse_go(p, VALUE) : QN_STEP_BAD;
    qn_buf_clear(&p->value);
    s->reads_key = true;
    return qn_parse_go(p, WORD);
}

static enum qn_step read_item(struct qn_parse *p, int c)
{
    struct state *s = state_of(p);
    if (c == container(s))
        return shut_container(p, s);
    item(p, s);
    return qn_parse_go(p, VALUE);
}

static enum qn_step read_map_key(struct qn_parse *p, int c)
{
    struct state *s = state_of(p);
    if (s->depth && c == '}')
        return shut_container(p, s);
    enum qn_word w = take_quote(p, s);
    if (w == QN_WORD_MORE)
        return QN_STEP_MORE;
    if (w == QN_WORD_NO && !in_word(c))
        return QN_STEP_BAD;
    qn_buf_clear(&p->value);
    s->reads_key = true;
    return qn_parse_go(p, w == QN_WORD_YES ? STRING : WORD);
}

static enum qn_step read_value(struct qn_parse *p, int c)
{
    const struct qn_literal_calls *how = p->how;
    struct state *s = state_of(p);
    enum qn_word w = take_quote(p, s);
    if (w == QN_WORD_MORE)
        return QN_STEP_MORE;
    s->reads_key = false;
    if (w == QN_WORD_YES) {
        say(p, "\"");
        return qn_parse_go(p, STRING);
    }
    if (c == '[' || c == '{' || (c == '(' && !how->quote)) {
        p->pos++;
        return open_container(p, s, c == '[' ? ']' : c == '{' ? '}' : ')');
    }
    qn_buf_clear(&p->value);
    return in_word(c) ? qn_parse_go(p, WORD) : QN_STEP_BAD;
}

static enum qn_step read_text(struct qn_parse *p, int c)
{
    struct state *s = state_of(p);
    struct qn_buf text;
    (void)c;
    qn_buf_init(&text, QN_PARSE_HELD_MAX);
    enum qn_step step = read_string(p, s, &text);
    if (s->reads_key)
        qn_buf_add(&p->value, qn_buf_cstr(&text), text.len);
    else if (text.len)
        qn_parse_arguments(p, text.data, text.len);
    qn_buf_deinit(&text);
    if (step != QN_STEP_DONE)
        return step;
    if (s->reads_key) {
        say_key(p, s, qn_buf_cstr(&p->value), p->value.len);
        return qn_parse_go(p, COLON);
    }
    say(p, "\"");
    return qn_parse_go(p, NEXT);
}

/* Whether the byte belongs to the word in p->value. */
static bool goes_on(const struct qn_literal_calls *how, const struct state *s, int c)
{
    return in_word(c) || (how->quote && !strchr(s->reads_key ? ",:{}[]" : ",{}[]", c));
}

static enum qn_step read_word(struct qn_parse *p, int c)
{
    const struct qn_literal_calls *how = p->how;
    struct state *s = state_of(p);
    if (goes_on(how, s, c)) {
        qn_buf_char(&p->value, (char)c);
        return qn_parse_skip(p, 1, WORD);
    }
    c = qn_parse_next(p);
    if (c < 0)
        return QN_STEP_MORE;
    if (s->reads_key && c == (s->depth ? ':' : how->equals)) {
        say_raw_key(p, s, qn_buf_cstr(&p->value), p->value.len);
        return qn_parse_skip(p, 1, VALUE);
    }
    /* A word without a key where a key is required. */
    if (s->reads_key && (s->depth || how->open == '{' || !say_position(p, s)))
        return QN_STEP_BAD;
    return say_word(p, how) ? qn_parse_go(p, NEXT) : QN_STEP_BAD;
}

static enum qn_step read_colon(struct qn_parse *p, int c)
{
    return c == ':' ? qn_parse_skip(p, 1, VALUE) : QN_STEP_BAD;
}

static enum qn_step read_next(struct qn_parse *p, int c)
{
    const struct qn_literal_calls *how = p->how;
    struct state *s = state_of(p);
    if (c == ',')
        return qn_parse_skip(p, 1, s->depth == 0 ? ARGUMENT : container(s) == '}' ? MAP_KEY : ITEM);
    if (c != (s->depth ? container(s) : how->end))
        return QN_STEP_BAD;
    return s->depth ? shut_container(p, s) : call_ended(p, s);
}

static enum qn_step read_after_call(struct qn_parse *p, int c)
{
    if (state_of(p)->list && (c == ',' || c == ']'))
        return qn_parse_skip(p, 1, c == ',' ? CALL : CLOSE);
    return qn_parse_go(p, CLOSE);
}

static enum qn_step read_close(struct qn_parse *p, int c)
{
    const struct qn_literal_calls *how = p->how;
    enum qn_word w = QN_WORD_NO;
    (void)c;
    for (size_t i = 0; i < 2 && how->close[i] && w == QN_WORD_NO; i++)
        w = qn_parse_word(p, how->close[i]);
    return w == QN_WORD_MORE ? QN_STEP_MORE : QN_STEP_DONE;
}

static const struct qn_phase phases[] = {
    [BLOCK] = {read_block, QN_AT_WORD}, [CALL] = {read_call, QN_AT_WORD},
    [NAME] = {read_name, QN_AT_BYTE},   [ARGUMENT] = {read_argument, QN_AT_WORD},
    [ITEM] = {read_item, QN_AT_WORD},   [MAP_KEY] = {read_map_key, QN_AT_WORD},
    [VALUE] = {read_value, QN_AT_WORD}, [STRING] = {read_text, QN_AT_BYTE},
    [WORD] = {read_word, QN_AT_BYTE},   [COLON] = {read_colon, QN_AT_WORD},
    [NEXT] = {read_next, QN_AT_WORD},   [AFTER_CALL] = {read_after_call, QN_AT_WORD},
    [CLOSE] = {read_close, QN_AT_WORD}};

/* ---- Writing ---- */

/* Writes either one list after the opener, or each call after its own opener. */
static void write_literal(const struct qn_opener *o, struct qn_writing *out)
{
    const struct qn_literal_calls *how = o->how;
    const char *open = qn_writing_open(o);
    const char *close = open[0] && how->close[0] ? how->close[0] : "";
    out->arguments = how->quote ? QN_WRITE_GEMMA : QN_WRITE_PYTHON;
    out->how = how;
    qn_writing_set(out->begin, "%s%s", how->list ? open : "", how->list ? "[" : "");
    qn_writing_set(out->before, "%s%s", how->list ? "" : open, how->before);
    qn_writing_set(out->after, "%c", how->open);
    qn_writing_set(out->end, "%c%s", how->end, how->list ? "" : close);
    qn_writing_set(out->between, "%s", how->list ? ", " : "");
    qn_writing_set(out->close, "%s%s", how->list ? "]" : "", how->list ? close : "");
}

const struct qn_form qn_calls_literal = {phases, write_literal};
