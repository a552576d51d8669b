/* See calls_json.h. Families differ only in the names of the members, so all these names are
 * accepted for every family. Arguments that precede the name are stored in p->key until the name
 * arrives. */
#include "llm/toolcall/calls_json.h"

#include "base/str.h"
#include "llm/toolcall/calls_force.h"

#include <string.h>

enum phase {
    BLOCK,  /* the first byte of the calls */
    ITEM,   /* in a list: an object or ] */
    MEMBER, /* in an object: a key or } */
    KEY,    /* within a key */
    COLON,
    VALUE,  /* the first byte of a member's value */
    STREAM, /* arguments that can be sent immediately */
    KEEP,   /* a value that is evaluated when it is complete */
    NEXT,   /* after a member */
    AFTER,  /* after an object */
    CLOSE
};

enum meaning { NAME, ARGUMENTS, FUNCTION, ID, NOTHING };

struct state {
    enum meaning what; /* the member that is being read */
    int nest;          /* number of open objects within the call's object */
    bool list;         /* the calls are items of a list */
};

static struct state *state_of(struct qn_parse *p)
{
    return QN_PARSE_STATE(p, struct state);
}

static enum meaning meaning_of(const char *key)
{
    static const struct {
        const char *key;
        enum meaning meaning;
    } rows[] = {{"name", NAME},
                {"tool_name", NAME},
                {"tool", NAME},
                {"arguments", ARGUMENTS},
                {"parameters", ARGUMENTS},
                {"args", ARGUMENTS},
                {"function", FUNCTION},
                {"id", ID},
                {"call_id", ID}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (qn_str_eq(rows[i].key, key))
            return rows[i].meaning;
    return NOTHING;
}

/* Whether arguments that were written as a JSON string contain an object or nothing. */
static bool is_object_or_empty(const struct qn_buf *text)
{
    if (text->len == 0)
        return true;
    struct qn_json_scan scan = {0};
    enum qn_json_step step = QN_SCAN_MORE;
    size_t i = strspn(text->data, " \t\r\n");
    if (text->data[i] != '{')
        return false;
    while (i < text->len && step == QN_SCAN_MORE)
        step = qn_json_scan(&scan, text->data[i++], NULL);
    return step == QN_SCAN_DONE && strspn(text->data + i, " \t\r\n") == text->len - i;
}

/* Evaluates the arguments in p->value and stores them in p->key until the name is known. */
static bool take_arguments(struct qn_parse *p)
{
    const char *s = qn_buf_cstr(&p->value);
    qn_buf_clear(&p->key);
    if (*s == '{')
        return !qn_buf_add(&p->key, s, p->value.len);
    if (qn_str_eq(s, "null"))
        return true;
    return *s == '"' && qn_parse_unquote(&p->value, &p->key) && is_object_or_empty(&p->key);
}

/* Evaluates the complete value in p->value. */
static bool take_value(struct qn_parse *p, enum meaning what)
{
    const char *s = qn_buf_cstr(&p->value);
    if (what == NAME || what == FUNCTION)
        return qn_parse_unquote(&p->value, &p->name);
    if (what == ARGUMENTS)
        return take_arguments(p);
    if (what != ID)
        return true;
    qn_buf_clear(&p->id);
    if (*s == '"')
        return qn_parse_unquote(&p->value, &p->id);
    qn_buf_add(&p->id, s, p->value.len);
    return true;
}

static bool object_ended(struct qn_parse *p)
{
    if (!p->committed) {
        if (!qn_parse_callable(p))
            return false;
        if (p->key.len)
            qn_parse_arguments(p, p->key.data, p->key.len);
    }
    qn_buf_clear(&p->key);
    qn_parse_called(p);
    return true;
}

/* Copies a value at pos to p->value; DONE when it is complete. */
static enum qn_step keep_value(struct qn_parse *p)
{
    while (p->pos < p->in.len) {
        enum qn_json_step s = qn_json_scan(&p->scan, p->in.data[p->pos], &p->value);
        if (s == QN_SCAN_BAD)
            return QN_STEP_BAD;
        if (s == QN_SCAN_BEFORE)
            return QN_STEP_DONE;
        p->pos++;
        if (s == QN_SCAN_DONE)
            return QN_STEP_DONE;
    }
    return QN_STEP_MORE;
}

static enum qn_step next_value(struct qn_parse *p, enum phase phase)
{
    p->scan = (struct qn_json_scan){0};
    qn_buf_clear(&p->value);
    return qn_parse_go(p, (int)phase);
}

/* ---- Phases ---- */

static enum qn_step begin_object(struct qn_parse *p)
{
    p->half = true;
    return qn_parse_skip(p, 1, MEMBER);
}

/* Reads what follows the opener: a list or an object, possibly within a code fence. */
static enum qn_step read_block(struct qn_parse *p, int c)
{
    if (c == '{')
        return begin_object(p);
    if (c == '[') {
        state_of(p)->list = true;
        return qn_parse_skip(p, 1, ITEM);
    }
    if (c != '`')
        return QN_STEP_BAD;
    enum qn_word w = qn_parse_word(p, "```json");
    if (w == QN_WORD_NO)
        return qn_parse_expect(p, "```", BLOCK);
    return w == QN_WORD_MORE ? QN_STEP_MORE : QN_STEP_NEXT;
}

static enum qn_step read_item(struct qn_parse *p, int c)
{
    if (c == '{')
        return begin_object(p);
    return c == ']' ? qn_parse_skip(p, 1, CLOSE) : QN_STEP_BAD;
}

static enum qn_step read_member(struct qn_parse *p, int c)
{
    if (c == '"')
        return next_value(p, KEY);
    return c == '}' ? qn_parse_go(p, NEXT) : QN_STEP_BAD;
}

static enum qn_step read_key(struct qn_parse *p, int c)
{
    (void)c;
    enum qn_step step = keep_value(p);
    if (step != QN_STEP_DONE)
        return step;
    struct state *s = state_of(p);
    struct qn_buf key;
    qn_buf_init(&key, QN_PARSE_HEAD_MAX);
    bool good = qn_parse_unquote(&p->value, &key);
    s->what = meaning_of(qn_buf_cstr(&key));
    qn_buf_clear(&p->value);
    qn_buf_str(&p->value, qn_buf_cstr(&key));
    qn_buf_deinit(&key);
    /* If only a brace began the call, an object with other keys is passed on as text without
     * waiting for its end. */
    if (s->what == NOTHING && (p->opener->flags & QN_OPEN_KNOWN) &&
        !qn_str_eq(p->value.data, "type"))
        good = false;
    return good ? qn_parse_go(p, COLON) : QN_STEP_BAD;
}

static enum qn_step read_colon(struct qn_parse *p, int c)
{
    return c == ':' ? qn_parse_skip(p, 1, VALUE) : QN_STEP_BAD;
}

/* c is the first byte of a member's value; the member's key is in p->value. */
static enum qn_step read_value(struct qn_parse *p, int c)
{
    const struct qn_json_calls *how = p->how;
    struct state *s = state_of(p);
    if (how->name_is_key && s->what == NOTHING && c == '{' && !p->committed) {
        qn_buf_clear(&p->name);
        qn_buf_str(&p->name, qn_buf_cstr(&p->value));
        s->what = ARGUMENTS;
    }
    if (s->what == FUNCTION && c == '{') {
        s->nest++;
        return qn_parse_skip(p, 1, MEMBER);
    }
    if (s->what == ARGUMENTS && p->committed)
        s->what = NOTHING;
    if (s->what == ARGUMENTS && c == '{' && p->name.len)
        return qn_parse_callable(p) ? next_value(p, STREAM) : QN_STEP_BAD;
    return next_value(p, KEEP);
}

static enum qn_step stream_value(struct qn_parse *p, int c)
{
    (void)c;
    enum qn_step step = qn_parse_object(p);
    return step == QN_STEP_DONE ? qn_parse_go(p, NEXT) : step;
}

static enum qn_step collect_value(struct qn_parse *p, int c)
{
    (void)c;
    enum qn_step step = keep_value(p);
    if (step != QN_STEP_DONE)
        return step;
    if (!p->committed && !take_value(p, state_of(p)->what))
        return QN_STEP_BAD;
    return qn_parse_go(p, NEXT);
}

static enum qn_step read_next(struct qn_parse *p, int c)
{
    struct state *s = state_of(p);
    if (c == ',')
        return qn_parse_skip(p, 1, MEMBER);
    if (c != '}')
        return QN_STEP_BAD;
    p->pos++;
    if (s->nest > 0) {
        s->nest--;
        return QN_STEP_NEXT;
    }
    if (!object_ended(p))
        return QN_STEP_BAD;
    return p->over ? QN_STEP_DONE : qn_parse_go(p, s->list ? AFTER : CLOSE);
}

static enum qn_step read_after(struct qn_parse *p, int c)
{
    if (c != ',' && c != ']')
        return QN_STEP_BAD;
    return qn_parse_skip(p, 1, c == ',' ? ITEM : CLOSE);
}

/* After a list, or after an object outside of a list: reads the end of the block, or another
 * object. */
static enum qn_step read_close(struct qn_parse *p, int c)
{
    const struct qn_json_calls *how = p->how;
    bool list = state_of(p)->list;
    if (c == '{' && !list)
        return qn_parse_go(p, BLOCK);
    if (c == ';' || c == ',') {
        size_t at = p->pos++;
        c = qn_parse_next(p);
        if (c == '{' && !list)
            return QN_STEP_NEXT;
        p->pos = at;
        return c < 0 ? QN_STEP_MORE : QN_STEP_DONE;
    }
    if (!p->any)
        return QN_STEP_BAD;
    enum qn_word w = qn_parse_word(p, "```");
    if (w == QN_WORD_YES)
        return QN_STEP_NEXT;
    for (size_t i = 0; w == QN_WORD_NO && i < 2 && how->close[i]; i++)
        w = qn_parse_word(p, how->close[i]);
    return w == QN_WORD_MORE ? QN_STEP_MORE : QN_STEP_DONE;
}

static const struct qn_phase phases[] = {
    [BLOCK] = {read_block, QN_AT_WORD},    [ITEM] = {read_item, QN_AT_WORD},
    [MEMBER] = {read_member, QN_AT_WORD},  [KEY] = {read_key, QN_AT_BYTE},
    [COLON] = {read_colon, QN_AT_WORD},    [VALUE] = {read_value, QN_AT_WORD},
    [STREAM] = {stream_value, QN_AT_BYTE}, [KEEP] = {collect_value, QN_AT_BYTE},
    [NEXT] = {read_next, QN_AT_WORD},      [AFTER] = {read_after, QN_AT_WORD},
    [CLOSE] = {read_close, QN_AT_WORD}};

/* ---- Writing ---- */

static const char *text_or(const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

static void write_json(const struct qn_opener *o, struct qn_writing *out)
{
    const struct qn_json_calls *how = o->how;
    const char *open = qn_writing_open(o), *begin = text_or(how->begin, "");
    const char *close = how->unclosed ? "" : text_or(how->close[0], "");
    out->arguments = QN_WRITE_JSON;
    out->single = !how->between && !how->blocks;
    qn_writing_set(out->begin, "%s%s%s", text_or(how->lead, ""), open, begin);
    qn_writing_set(out->before, "%s", text_or(how->before, "{\"name\": \""));
    qn_writing_set(out->after, "%s", text_or(how->after, "\", \"arguments\": "));
    qn_writing_set(out->end, "}");
    qn_writing_set(out->close, "%s%s", text_or(how->end, ""), close);
    if (how->blocks)
        qn_writing_set(out->between, "%s\n%s%s", out->close, open, begin);
    else
        qn_writing_set(out->between, "%s", text_or(how->between, ""));
}

const struct qn_form qn_calls_json = {phases, write_json};
