/* See calls_xml.h. Strings are passed on while they come; other values when they are complete,
 * since "12" is a number or a string by what the schema says, and null may be either. */
#include "llm/toolcall/calls_xml.h"

#include "base/str.h"

#include <string.h>

enum phase { BLOCK, NAME, PARAMETER, KEY, VALUE_MARK, VALUE_BEGIN, STRING, OTHER, AFTER };

/* What p->what says of the value being read. */
enum { BY_SCHEMA, IS_STRING, IS_OTHER };

/* Takes the word behind white space. */
static enum qn_word word_next(struct qn_parse *p, const char *word)
{
    if (!word || qn_parse_next(p) < 0)
        return word && !p->final ? QN_WORD_MORE : QN_WORD_NO;
    return qn_parse_word(p, word);
}

/* Whether the end of a value stands at in[at], followed by what has to follow: a value may hold the
 * end's text itself. */
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

/* The tool has a parameter with a line break in its name; elsewhere that is no name. */
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
    qn_buf_str(&out, p->count++ ? ", " : "{");
    qn_parse_quote(&out, qn_buf_cstr(&p->key), p->key.len);
    qn_buf_str(&out, ": ");
    qn_parse_arguments(p, out.data, out.len);
    qn_buf_deinit(&out);
}

/* Appends the value as JSON: what the types allow, else a string. */
static void add_value(struct qn_parse *p, unsigned types, struct qn_buf *out)
{
    const char *s = qn_buf_cstr(&p->value);
    size_t n = p->value.len;
    struct qn_json_scan scan = {0};
    struct qn_buf json;
    size_t from = 0, to = n;
    while (from < to && qn_parse_is_space(s[from]))
        from++;
    while (to > from && qn_parse_is_space(s[to - 1]))
        to--;
    static const struct {
        const char *python, *json;
    } words[] = {{"True", "true"}, {"False", "false"}, {"None", "null"}};
    for (size_t i = 0; i < 3; i++)
        if (to - from == strlen(words[i].python) && !memcmp(s + from, words[i].python, to - from)) {
            s = words[i].json;
            from = 0;
            to = strlen(s);
        }
    qn_buf_init(&json, QN_PARSE_HELD_MAX);
    enum qn_json_step step = QN_SCAN_MORE;
    size_t i = from;
    while (i < to && step == QN_SCAN_MORE)
        step = qn_json_scan(&scan, s[i++], &json);
    bool value = i == to && (step == QN_SCAN_DONE ||
                             (step == QN_SCAN_MORE && qn_json_scan_end(&scan) == QN_SCAN_DONE));
    unsigned type = 0;
    if (value)
        type = s[from] == '{'                     ? QN_TYPE_OBJECT
               : s[from] == '['                   ? QN_TYPE_ARRAY
               : s[from] == '"'                   ? QN_TYPE_STRING
               : s[from] == 't' || s[from] == 'f' ? QN_TYPE_BOOL
               : s[from] == 'n'                   ? QN_TYPE_NULL
                                                  : QN_TYPE_NUMBER;
    /* A quoted text is a string with quotes, unless it had to be no string at all. */
    bool as_json = (type & types) && (type != QN_TYPE_STRING || !(types & QN_TYPE_STRING));
    if (p->what == IS_OTHER && value)
        as_json = true;
    if (as_json)
        qn_buf_add(out, json.data, json.len);
    else
        qn_parse_quote(out, qn_buf_cstr(&p->value), n);
    qn_buf_deinit(&json);
}

/* n bytes of a string. */
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

/* Reads the value up to its end; p->pos then stands behind that. */
static enum qn_step read_value(struct qn_parse *p, const struct qn_xml_calls *how)
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

static void call_ended(struct qn_parse *p)
{
    if (p->committed)
        qn_parse_arguments(p, "}", 1);
    p->count = 0;
    qn_parse_called(p);
}

enum qn_step qn_calls_xml(struct qn_parse *p)
{
    const struct qn_xml_calls *how = p->how;
    for (;;) {
        enum qn_word w;
        enum qn_step step;
        int c;
        switch ((enum phase)p->phase) {
        case BLOCK:
            p->half = true;
            w = word_next(p, how->call);
            if (w != QN_WORD_YES)
                return w == QN_WORD_MORE ? QN_STEP_MORE : QN_STEP_BAD;
            p->phase = NAME;
            break;
        case NAME:
            c = p->name.len ? qn_parse_byte(p) : qn_parse_next(p);
            w = how->name_end ? qn_parse_word(p, how->name_end) : QN_WORD_NO;
            if (c < 0 || w == QN_WORD_MORE)
                return QN_STEP_MORE;
            if (w == QN_WORD_YES || (!how->name_end && (qn_parse_is_space(c) || c == '<'))) {
                if (!qn_parse_callable(p))
                    return QN_STEP_BAD;
                p->phase = PARAMETER;
                break;
            }
            if (c <= ' ' || strchr("<>\"'={}", c) || p->name.len == QN_PARSE_NAME_MAX)
                return QN_STEP_BAD;
            qn_buf_char(&p->name, (char)c);
            p->pos++;
            break;
        case PARAMETER:
            c = qn_parse_next(p);
            if (c < 0)
                return QN_STEP_MORE;
            w = qn_parse_word(p, how->key);
            if (w == QN_WORD_MORE)
                return QN_STEP_MORE;
            if (w == QN_WORD_YES) {
                qn_buf_clear(&p->key);
                p->phase = KEY;
                break;
            }
            if (how->call_end)
                w = qn_parse_word(p, how->call_end);
            else if (qn_parse_peek(p, p->pos, how->block_end) != QN_WORD_NO)
                w = qn_parse_peek(p, p->pos, how->block_end);
            if (w != QN_WORD_YES)
                return w == QN_WORD_MORE ? QN_STEP_MORE : QN_STEP_BAD;
            call_ended(p);
            if (p->over)
                return QN_STEP_DONE;
            p->phase = AFTER;
            break;
        case KEY: {
            const char *const ends[] = {how->string, how->other, how->key_end};
            static const int what[] = {IS_STRING, IS_OTHER, BY_SCHEMA};
            w = QN_WORD_NO;
            bool may = false;
            for (size_t i = 0; i < 3 && w != QN_WORD_YES; i++) {
                w = ends[i] ? qn_parse_word(p, ends[i]) : QN_WORD_NO;
                may |= w == QN_WORD_MORE;
                p->what = what[i];
            }
            if (w == QN_WORD_YES) {
                p->phase = how->value[0] ? VALUE_MARK : VALUE_BEGIN;
                break;
            }
            c = qn_parse_byte(p);
            if (may || c < 0)
                return QN_STEP_MORE;
            if (p->key.len == QN_PARSE_HEAD_MAX || (c == '\n' && !has_lines(p)))
                return QN_STEP_BAD;
            qn_buf_char(&p->key, (char)c);
            p->pos++;
            break;
        }
        case VALUE_MARK:
            w = word_next(p, how->value);
            if (w != QN_WORD_YES)
                return w == QN_WORD_MORE ? QN_STEP_MORE : QN_STEP_BAD;
            p->phase = VALUE_BEGIN;
            break;
        case VALUE_BEGIN:
            c = qn_parse_byte(p);
            if (c < 0)
                return QN_STEP_MORE;
            /* An empty value may be but one line break, which then is the end's. */
            if (how->lines && c == '\n') {
                enum qn_word end = value_ends(p, how, p->pos);
                if (end == QN_WORD_MORE)
                    return QN_STEP_MORE;
                p->pos += end == QN_WORD_NO;
            }
            begin_parameter(p);
            qn_buf_clear(&p->value);
            unsigned types =
                qn_tools_types(p->c.tools, qn_buf_cstr(&p->name), qn_buf_cstr(&p->key));
            if (p->what == IS_STRING || (p->what == BY_SCHEMA && types == QN_TYPE_STRING)) {
                qn_parse_arguments(p, "\"", 1);
                p->phase = STRING;
            } else {
                p->phase = OTHER;
            }
            break;
        case STRING:
        case OTHER:
            step = read_value(p, how);
            if (step == QN_STEP_MORE)
                return step;
            if (p->phase == STRING) {
                qn_parse_arguments(p, "\"", 1);
            } else {
                struct qn_buf json;
                qn_buf_init(&json, QN_PARSE_HELD_MAX);
                add_value(p,
                          qn_tools_types(p->c.tools, qn_buf_cstr(&p->name), qn_buf_cstr(&p->key)),
                          &json);
                qn_parse_arguments(p, qn_buf_cstr(&json), json.len);
                qn_buf_deinit(&json);
            }
            p->phase = PARAMETER;
            break;
        case AFTER:
            if (!how->block_end)
                return QN_STEP_DONE;
            if (qn_parse_next(p) < 0)
                return QN_STEP_MORE;
            w = qn_parse_word(p, how->block_end);
            if (w == QN_WORD_YES)
                return QN_STEP_DONE;
            if (w == QN_WORD_NO && how->call[0])
                w = qn_parse_peek(p, p->pos, how->call);
            if (w == QN_WORD_MORE)
                return QN_STEP_MORE;
            if (w == QN_WORD_NO)
                return QN_STEP_DONE;
            p->phase = BLOCK;
            break;
        }
    }
}
