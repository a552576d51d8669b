/* See calls_xml.h. Strings are passed on as they arrive. Other values are passed on when they are
 * complete, because only the schema tells whether "12" is a number or a string, and null may be
 * either. */
#include "llm/toolcall/calls_xml.h"

#include "base/str.h"
#include "llm/toolcall/calls_force.h"

#include <string.h>

enum phase { BLOCK, NAME, PARAMETER, KEY, VALUE_MARK, VALUE_BEGIN, STRING, OTHER, AFTER };

enum known { BY_SCHEMA, IS_STRING, IS_OTHER };

struct state {
    int arguments;    /* number of arguments of this call so far */
    enum known known; /* what the marks tell about the type of the current value */
};

static struct state *state_of(struct qn_parse *p)
{
    return QN_PARSE_STATE(p, struct state);
}

/* Whether the end of a value is at in[at] and is followed by one of the marks that must follow; the
 * value itself may contain the text of its end mark. */
static enum qn_word value_ends(const struct qn_parse *p, const struct qn_xml_calls *how, size_t at)
{
    if (how->lines && p->in.data[at] == '\n')
        at++;
    enum qn_word w = qn_parse_peek(p, at, how->value_end);
    if (w != QN_WORD_YES)
        return w;
    at += strlen(how->value_end);
    while (at < p->in.len && qn_parse_is_space(p->in.data[at]))
        at++;
    if (at == p->in.len)
        return p->final ? QN_WORD_YES : QN_WORD_MORE;
    const char *const next[] = {how->key, how->call_end, how->block_end};
    w = QN_WORD_NO;
    for (size_t i = 0; i < 3 && w != QN_WORD_YES; i++) {
        enum qn_word here = next[i] ? qn_parse_peek(p, at, next[i]) : QN_WORD_NO;
        w = here == QN_WORD_NO ? w : here;
    }
    return w;
}

/* Whether the tool has a parameter with a line break in its name. If not, a line break cannot be
 * part of a name. */
static bool has_lines(struct qn_parse *p)
{
    const char *name;
    for (size_t i = 0; (name = qn_tools_parameter(p->c.tools, qn_buf_cstr(&p->name), i)) != NULL;
         i++)
        if (strchr(name, '\n'))
            return true;
    return false;
}

static void begin_parameter(struct qn_parse *p)
{
    struct qn_buf out;
    qn_buf_init(&out, QN_PARSE_HELD_MAX);
    qn_buf_str(&out, state_of(p)->arguments++ ? ", " : "{");
    qn_parse_quote(&out, qn_buf_cstr(&p->key), p->key.len);
    qn_buf_str(&out, ": ");
    qn_parse_arguments(p, out.data, out.len);
    qn_buf_deinit(&out);
}

/* The type of a JSON value, determined by its first byte. */
static unsigned type_of(char first)
{
    switch (first) {
    case '{':
        return QN_TYPE_OBJECT;
    case '[':
        return QN_TYPE_ARRAY;
    case '"':
        return QN_TYPE_STRING;
    case 't':
    case 'f':
        return QN_TYPE_BOOL;
    case 'n':
        return QN_TYPE_NULL;
    default:
        return QN_TYPE_NUMBER;
    }
}

/* Converts s[0..n) without surrounding white space to JSON, with the corrections of json_scan.h;
 * Python's True, False and None are accepted. Returns the value's type, or 0 if it is not JSON. */
static unsigned as_json(const char *s, size_t n, struct qn_buf *json)
{
    static const struct {
        const char *python, *json;
    } words[] = {{"True", "true"}, {"False", "false"}, {"None", "null"}};
    struct qn_json_scan scan = {0};
    for (; n > 0 && qn_parse_is_space(s[0]); n--)
        s++;
    while (n > 0 && qn_parse_is_space(s[n - 1]))
        n--;
    for (size_t i = 0; i < 3; i++)
        if (n == strlen(words[i].python) && !memcmp(s, words[i].python, n)) {
            s = words[i].json;
            n = strlen(s);
            break;
        }
    enum qn_json_step step = QN_SCAN_MORE;
    size_t i = 0;
    while (i < n && step == QN_SCAN_MORE)
        step = qn_json_scan(&scan, s[i++], json);
    if (step == QN_SCAN_MORE)
        step = qn_json_scan_end(&scan);
    return i == n && step == QN_SCAN_DONE ? type_of(s[0]) : 0;
}

/* Appends the value as JSON if it has one of the allowed types, else as a string. */
static void add_value(struct qn_parse *p, unsigned types, struct qn_buf *out)
{
    struct qn_buf json;
    qn_buf_init(&json, QN_PARSE_HELD_MAX);
    unsigned type = as_json(qn_buf_cstr(&p->value), p->value.len, &json);
    /* If the parameter may be a string, quotes are part of the string's text; otherwise a quoted
     * text is parsed as JSON. */
    bool fits = (type & types) && (type != QN_TYPE_STRING || !(types & QN_TYPE_STRING));
    if (fits || (type && state_of(p)->known == IS_OTHER))
        qn_buf_add(out, json.data, json.len);
    else
        qn_parse_quote(out, qn_buf_cstr(&p->value), p->value.len);
    qn_buf_deinit(&json);
}

/* Appends n bytes of a string to the arguments. */
static void add_string(struct qn_parse *p, const char *s, size_t n)
{
    struct qn_buf out;
    qn_buf_init(&out, QN_PARSE_HELD_MAX);
    for (size_t i = 0; i < n; i++)
        qn_json_escape(&out, s[i]);
    if (out.len)
        qn_parse_arguments(p, out.data, out.len);
    qn_buf_deinit(&out);
}

/* Reads the value up to its end mark; p->pos is then after the mark. */
static enum qn_step take_value(struct qn_parse *p, const struct qn_xml_calls *how)
{
    size_t from = p->pos, i = from;
    char first = how->value_end[0];
    enum qn_word w = QN_WORD_NO;
    for (; i < p->in.len && w == QN_WORD_NO; i += w == QN_WORD_NO)
        if (p->in.data[i] == first || (how->lines && p->in.data[i] == '\n'))
            w = value_ends(p, how, i);
    if (p->phase == STRING)
        add_string(p, p->in.data + from, i - from);
    else
        qn_buf_add(&p->value, p->in.data + from, i - from);
    p->pos = i;
    if (w != QN_WORD_YES)
        return QN_STEP_MORE;
    p->pos += how->lines && p->in.data[i] == '\n';
    p->pos += strlen(how->value_end);
    return QN_STEP_DONE;
}

static unsigned types_of_parameter(struct qn_parse *p)
{
    return qn_tools_types(p->c.tools, qn_buf_cstr(&p->name), qn_buf_cstr(&p->key));
}

/* ---- Phases ---- */

static enum qn_step read_block(struct qn_parse *p, int c)
{
    (void)c;
    p->half = true;
    return qn_parse_expect(p, ((const struct qn_xml_calls *)p->how)->call, NAME);
}

static enum qn_step read_name(struct qn_parse *p, int c)
{
    const struct qn_xml_calls *how = p->how;
    if (p->name.len == 0)
        c = qn_parse_next(p);
    enum qn_word w = how->name_end ? qn_parse_word(p, how->name_end) : QN_WORD_NO;
    if (c < 0 || w == QN_WORD_MORE)
        return QN_STEP_MORE;
    if (w == QN_WORD_YES || (!how->name_end && (qn_parse_is_space(c) || c == '<')))
        return qn_parse_callable(p) ? qn_parse_go(p, PARAMETER) : QN_STEP_BAD;
    if (c <= ' ' || strchr("<>\"'={}", c) || p->name.len == QN_PARSE_NAME_MAX)
        return QN_STEP_BAD;
    qn_buf_char(&p->name, (char)c);
    return qn_parse_skip(p, 1, NAME);
}

static enum qn_step call_ended(struct qn_parse *p)
{
    if (p->committed)
        qn_parse_arguments(p, "}", 1);
    state_of(p)->arguments = 0;
    qn_parse_called(p);
    return p->over ? QN_STEP_DONE : qn_parse_go(p, AFTER);
}

/* Reads the next parameter or the end of the call. */
static enum qn_step read_parameter(struct qn_parse *p, int c)
{
    const struct qn_xml_calls *how = p->how;
    (void)c;
    enum qn_word w = qn_parse_word(p, how->key);
    if (w == QN_WORD_YES) {
        qn_buf_clear(&p->key);
        return qn_parse_go(p, KEY);
    }
    if (w == QN_WORD_NO)
        w = how->call_end ? qn_parse_word(p, how->call_end)
                          : qn_parse_peek(p, p->pos, how->block_end);
    if (w != QN_WORD_YES)
        return w == QN_WORD_MORE ? QN_STEP_MORE : QN_STEP_BAD;
    return call_ended(p);
}

/* Reads the mark that ends a parameter's name, if it is at pos, and records what the mark tells
 * about the value's type. */
static enum qn_word take_key_end(struct qn_parse *p, const struct qn_xml_calls *how)
{
    const char *const ends[] = {
        [IS_STRING] = how->string, [IS_OTHER] = how->other, [BY_SCHEMA] = how->key_end};
    static const enum known order[] = {IS_STRING, IS_OTHER, BY_SCHEMA};
    enum qn_word all = QN_WORD_NO;
    for (size_t i = 0; i < 3; i++) {
        const char *end = ends[order[i]];
        enum qn_word w = end ? qn_parse_word(p, end) : QN_WORD_NO;
        state_of(p)->known = order[i];
        if (w == QN_WORD_YES)
            return w;
        all = w == QN_WORD_MORE ? w : all;
    }
    return all;
}

static enum qn_step read_key(struct qn_parse *p, int c)
{
    const struct qn_xml_calls *how = p->how;
    enum qn_word w = take_key_end(p, how);
    if (w == QN_WORD_YES)
        return qn_parse_go(p, how->value[0] ? VALUE_MARK : VALUE_BEGIN);
    if (w == QN_WORD_MORE)
        return QN_STEP_MORE;
    if (p->key.len == QN_PARSE_HEAD_MAX || (c == '\n' && !has_lines(p)))
        return QN_STEP_BAD;
    qn_buf_char(&p->key, (char)c);
    return qn_parse_skip(p, 1, KEY);
}

static enum qn_step read_value_mark(struct qn_parse *p, int c)
{
    (void)c;
    return qn_parse_expect(p, ((const struct qn_xml_calls *)p->how)->value, VALUE_BEGIN);
}

static enum qn_step read_value_begin(struct qn_parse *p, int c)
{
    const struct qn_xml_calls *how = p->how;
    enum known known = state_of(p)->known;
    /* An empty value may consist of a single line break, which then belongs to the end mark. */
    if (how->lines && c == '\n') {
        enum qn_word end = value_ends(p, how, p->pos);
        if (end == QN_WORD_MORE)
            return QN_STEP_MORE;
        p->pos += end == QN_WORD_NO;
    }
    begin_parameter(p);
    qn_buf_clear(&p->value);
    if (known == IS_OTHER || (known == BY_SCHEMA && types_of_parameter(p) != QN_TYPE_STRING))
        return qn_parse_go(p, OTHER);
    qn_parse_arguments(p, "\"", 1);
    return qn_parse_go(p, STRING);
}

static enum qn_step read_string(struct qn_parse *p, int c)
{
    (void)c;
    if (take_value(p, p->how) == QN_STEP_MORE)
        return QN_STEP_MORE;
    qn_parse_arguments(p, "\"", 1);
    return qn_parse_go(p, PARAMETER);
}

static enum qn_step read_other(struct qn_parse *p, int c)
{
    struct qn_buf json;
    (void)c;
    if (take_value(p, p->how) == QN_STEP_MORE)
        return QN_STEP_MORE;
    qn_buf_init(&json, QN_PARSE_HELD_MAX);
    add_value(p, types_of_parameter(p), &json);
    qn_parse_arguments(p, qn_buf_cstr(&json), json.len);
    qn_buf_deinit(&json);
    return qn_parse_go(p, PARAMETER);
}

/* After a call: reads the end of the block, another call of the block, or text. */
static enum qn_step read_after(struct qn_parse *p, int c)
{
    const struct qn_xml_calls *how = p->how;
    (void)c;
    if (!how->block_end)
        return QN_STEP_DONE;
    if (qn_parse_next(p) < 0)
        return QN_STEP_MORE;
    enum qn_word w = qn_parse_word(p, how->block_end);
    if (w != QN_WORD_NO)
        return w == QN_WORD_YES ? QN_STEP_DONE : QN_STEP_MORE;
    w = how->call[0] ? qn_parse_peek(p, p->pos, how->call) : QN_WORD_NO;
    if (w == QN_WORD_YES)
        return qn_parse_go(p, BLOCK);
    return w == QN_WORD_MORE ? QN_STEP_MORE : QN_STEP_DONE;
}

static const struct qn_phase phases[] = {[BLOCK] = {read_block, QN_AT_WORD},
                                         [NAME] = {read_name, QN_AT_BYTE},
                                         [PARAMETER] = {read_parameter, QN_AT_WORD},
                                         [KEY] = {read_key, QN_AT_BYTE},
                                         [VALUE_MARK] = {read_value_mark, QN_AT_WORD},
                                         [VALUE_BEGIN] = {read_value_begin, QN_AT_BYTE},
                                         [STRING] = {read_string, QN_AT_BYTE},
                                         [OTHER] = {read_other, QN_AT_BYTE},
                                         [AFTER] = {read_after, QN_AT_ANY}};

/* ---- Writing ---- */

static void write_xml(const struct qn_opener *o, struct qn_writing *out)
{
    const struct qn_xml_calls *how = o->how;
    const char *open = qn_writing_open(o);
    const char *line = how->call[0] ? "\n" : ""; /* a family without a mark before the name writes
                                                    the name on the opener's line */
    out->arguments = QN_WRITE_TAGS;
    out->how = how;
    qn_writing_set(out->begin, "%s%s", open, line);
    qn_writing_set(out->before, "%s", how->call);
    qn_writing_set(out->after, "%s\n", how->name_end ? how->name_end : "");
    qn_writing_set(out->end, "%s", how->call_end ? how->call_end : "");
    qn_writing_set(out->close, "%s%s", line, how->block_end);
    if (how->blocks)
        qn_writing_set(out->between, "%s\n%s", out->close, out->begin);
    else
        qn_writing_set(out->between, "\n");
}

const struct qn_form qn_calls_xml = {phases, write_xml};
