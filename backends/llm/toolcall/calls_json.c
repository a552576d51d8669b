/* See calls_json.h. Names of members differ between families, and nothing else does, so all of them
 * are known everywhere. Arguments before the name are kept until it comes. */
#include "llm/toolcall/calls_json.h"

#include "base/str.h"

#include <string.h>

enum phase {
    BLOCK,  /* the first byte of the calls */
    ITEM,   /* of a list: an object or ] */
    MEMBER, /* of an object: a key or } */
    KEY,    /* within one */
    COLON,
    VALUE,  /* its first byte */
    STREAM, /* arguments that can be sent */
    KEEP,   /* a value that is looked at when it is complete */
    NEXT,   /* after a member */
    AFTER,  /* after an object */
    CLOSE
};

enum meaning { NAME, ARGUMENTS, FUNCTION, ID, NOTHING };

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

/* Whole values that were kept: the key in p->key says what they are. */
static bool take_value(struct qn_parse *p, enum meaning what, struct qn_buf *kept_args)
{
    const char *s = qn_buf_cstr(&p->value);
    switch (what) {
    case NAME:
    case FUNCTION:
        return qn_parse_unquote(&p->value, &p->name);
    case ID:
        qn_buf_clear(&p->id);
        if (*s == '"')
            return qn_parse_unquote(&p->value, &p->id);
        qn_buf_add(&p->id, s, p->value.len);
        return true;
    case ARGUMENTS:
        qn_buf_clear(kept_args);
        if (*s == '{')
            return !qn_buf_add(kept_args, s, p->value.len);
        if (qn_str_eq(s, "null"))
            return true;
        if (*s != '"' || !qn_parse_unquote(&p->value, kept_args))
            return false;
        break;
    default:
        return true;
    }
    /* Arguments that came as JSON in a string. */
    if (kept_args->len == 0)
        return true;
    struct qn_json_scan scan = {0};
    enum qn_json_step step = QN_SCAN_MORE;
    size_t i = strspn(kept_args->data, " \t\r\n");
    if (kept_args->data[i] != '{')
        return false;
    while (i < kept_args->len && step == QN_SCAN_MORE)
        step = qn_json_scan(&scan, kept_args->data[i++], NULL);
    return step == QN_SCAN_DONE && strspn(kept_args->data + i, " \t\r\n") == kept_args->len - i;
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

/* A value at pos into p->value; DONE when it is complete. */
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

static void next_value(struct qn_parse *p, enum phase phase)
{
    p->scan = (struct qn_json_scan){0};
    qn_buf_clear(&p->value);
    p->phase = (int)phase;
}

/* The byte c, not yet taken, begins the value of a member. */
static bool begin_value(struct qn_parse *p, int c, enum meaning *what)
{
    const struct qn_json_calls *how = p->how;
    if (how->name_is_key && *what == NOTHING && c == '{' && !p->committed) {
        qn_buf_clear(&p->name);
        qn_buf_str(&p->name, qn_buf_cstr(&p->value));
        *what = ARGUMENTS;
    }
    if (*what == FUNCTION && c == '{') {
        p->pos++;
        p->nest++;
        p->phase = MEMBER;
        return true;
    }
    if (*what == ARGUMENTS && p->committed)
        *what = NOTHING;
    if (*what == ARGUMENTS && c == '{' && p->name.len) {
        if (!qn_parse_callable(p))
            return false;
        next_value(p, STREAM);
        return true;
    }
    next_value(p, KEEP);
    return true;
}

enum qn_step qn_calls_json(struct qn_parse *p)
{
    const struct qn_json_calls *how = p->how;
    enum meaning what = (enum meaning)p->what;
    for (;;) {
        int c = qn_parse_byte(p);
        if (p->phase != KEY && p->phase != KEEP && p->phase != STREAM)
            c = qn_parse_next(p);
        if (c < 0)
            return QN_STEP_MORE;
        enum qn_step step;
        switch ((enum phase)p->phase) {
        case BLOCK:
        case ITEM:
            if (c == '[' && p->phase == BLOCK) {
                p->list = true;
                p->phase = ITEM;
            } else if (c == '{') {
                p->phase = MEMBER;
                p->half = true;
            } else if (c == ']' && p->list) {
                p->phase = CLOSE;
            } else if (c == '`' && p->phase == BLOCK) {
                enum qn_word w = qn_parse_word(p, "```json");
                if (w == QN_WORD_NO)
                    w = qn_parse_word(p, "```");
                if (w != QN_WORD_YES)
                    return w == QN_WORD_MORE ? QN_STEP_MORE : QN_STEP_BAD;
                continue;
            } else {
                return QN_STEP_BAD;
            }
            p->pos++;
            break;
        case MEMBER:
            if (c == '"') {
                next_value(p, KEY);
                break;
            }
            if (c != '}')
                return QN_STEP_BAD;
            p->phase = NEXT;
            break;
        case KEY:
            step = keep_value(p);
            if (step != QN_STEP_DONE)
                return step;
            struct qn_buf key;
            qn_buf_init(&key, QN_PARSE_HEAD_MAX);
            bool good = qn_parse_unquote(&p->value, &key);
            what = meaning_of(qn_buf_cstr(&key));
            p->what = (int)what;
            qn_buf_clear(&p->value);
            qn_buf_str(&p->value, qn_buf_cstr(&key));
            qn_buf_deinit(&key);
            /* Where only the brace began it, other objects are text, and should not wait. */
            if (what == NOTHING && (p->opener->flags & QN_OPEN_KNOWN) &&
                !qn_str_eq(p->value.data, "type"))
                good = false;
            if (!good)
                return QN_STEP_BAD;
            p->phase = COLON;
            break;
        case COLON:
            if (c != ':')
                return QN_STEP_BAD;
            p->pos++;
            p->phase = VALUE;
            break;
        case VALUE:
            if (!begin_value(p, c, &what))
                return QN_STEP_BAD;
            p->what = (int)what;
            break;
        case STREAM:
            step = qn_parse_object(p);
            if (step != QN_STEP_DONE)
                return step;
            p->phase = NEXT;
            break;
        case KEEP:
            step = keep_value(p);
            if (step != QN_STEP_DONE)
                return step;
            if (!p->committed && !take_value(p, what, &p->key))
                return QN_STEP_BAD;
            p->phase = NEXT;
            break;
        case NEXT:
            if (c == ',') {
                p->pos++;
                p->phase = MEMBER;
                break;
            }
            if (c != '}')
                return QN_STEP_BAD;
            p->pos++;
            if (p->nest > 0) {
                p->nest--;
                break;
            }
            if (!object_ended(p))
                return QN_STEP_BAD;
            if (p->over)
                return QN_STEP_DONE;
            p->phase = p->list ? AFTER : CLOSE;
            break;
        case AFTER:
            if (c != ',' && c != ']')
                return QN_STEP_BAD;
            p->pos++;
            p->phase = c == ',' ? ITEM : CLOSE;
            break;
        case CLOSE:
            if (c == '{' && !p->list) {
                p->phase = BLOCK;
                break;
            }
            if (c == ';' || c == ',') {
                size_t at = p->pos;
                p->pos++;
                c = qn_parse_next(p);
                if (c == '{' && !p->list)
                    break;
                p->pos = at;
                return c < 0 ? QN_STEP_MORE : QN_STEP_DONE;
            }
            if (!p->any)
                return QN_STEP_BAD;
            enum qn_word w = qn_parse_word(p, "```");
            for (size_t i = 0; w == QN_WORD_NO && i < 2 && how->close[i]; i++) {
                w = qn_parse_word(p, how->close[i]);
                if (w == QN_WORD_YES)
                    return QN_STEP_DONE;
            }
            if (w == QN_WORD_YES)
                break;
            return w == QN_WORD_MORE ? QN_STEP_MORE : QN_STEP_DONE;
        }
    }
}
