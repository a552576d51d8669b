/* See print.h: json.dumps(). */
#include "base/str.h"
#include "jinja/compare.h"
#include "jinja/iter.h"
#include "jinja/print.h"
#include "jinja/run.h"

#include <math.h>
#include <stdio.h>

struct writer {
    struct qn_trun *run;
    const struct qn_tjson *how;
    int level;
};

static enum qn_tflow put_value(struct writer *w, const struct qn_tval *v);

static enum qn_tflow put_unit(struct writer *w, unsigned unit)
{
    char text[16];
    snprintf(text, sizeof text, "\\u%04x", unit);
    return qn_trun_puts(w->run, text);
}

static enum qn_tflow put_special(struct writer *w, uint32_t cp)
{
    static const char from[] = "\"\\\n\r\t\f\b";
    static const char to[] = "\"\\nrtfb";
    const char *found = cp && cp < 128 ? strchr(from, (int)cp) : NULL;
    if (found) {
        char text[3] = {'\\', to[found - from], '\0'};
        return qn_trun_puts(w->run, text);
    }
    if (cp < 0x10000)
        return put_unit(w, cp);
    QN_T_TRY(put_unit(w, 0xd800 + ((cp - 0x10000) >> 10)));
    return put_unit(w, 0xdc00 + ((cp - 0x10000) & 0x3ff));
}

static enum qn_tflow put_string(struct writer *w, const char *s, size_t n)
{
    size_t start = 0;
    QN_T_TRY(qn_trun_walked(w->run, n));
    QN_T_TRY(qn_trun_put(w->run, "\"", 1));
    for (size_t at = 0, used; at < n; at += used) {
        uint32_t cp = (unsigned char)s[at];
        used = 1;
        if (cp >= 128) {
            used = qn_utf8_decode(s + at, n - at, &cp);
            if (!w->how->ensure_ascii)
                continue;
        } else if (cp >= 32 && cp != '"' && cp != '\\' && (cp != 127 || !w->how->ensure_ascii)) {
            continue;
        }
        QN_T_TRY(qn_trun_put(w->run, s + start, at - start));
        QN_T_TRY(put_special(w, cp));
        start = at + used;
    }
    QN_T_TRY(qn_trun_put(w->run, s + start, n - start));
    return qn_trun_put(w->run, "\"", 1);
}

static enum qn_tflow put_newline(struct writer *w)
{
    if (!w->how->indented)
        return QN_T_OK;
    QN_T_TRY(qn_trun_put(w->run, "\n", 1));
    return qn_trun_fill(w->run, w->how->indent.s, w->how->indent.n, (size_t)w->level);
}

static enum qn_tflow put_list(struct writer *w, const struct qn_tlist *list)
{
    if (list->n == 0)
        return qn_trun_puts(w->run, "[]");
    QN_T_TRY(qn_trun_put(w->run, "[", 1));
    w->level++;
    for (size_t i = 0; i < list->n; i++) {
        if (i > 0)
            QN_T_TRY(qn_trun_putv(w->run, &w->how->item));
        QN_T_TRY(put_newline(w));
        QN_T_TRY(put_value(w, &list->items[i]));
    }
    w->level--;
    QN_T_TRY(put_newline(w));
    return qn_trun_put(w->run, "]", 1);
}

static enum qn_tflow put_key(struct writer *w, const struct qn_tval *key)
{
    if (key->type == QN_T_STRING)
        return put_string(w, key->s, key->n);
    if (!qn_tval_is(key, QN_T_NUMBERS | QN_T_BIT(QN_T_NONE)))
        return qn_trun_fail(w->run, "keys must be str, int, float, bool or None, not %s",
                            qn_tval_class(key));
    QN_T_TRY(qn_trun_put(w->run, "\"", 1));
    QN_T_TRY(put_value(w, key));
    return qn_trun_put(w->run, "\"", 1);
}

/* The members sorted by key. */
static enum qn_tflow sorted(struct qn_trun *run, const struct qn_tdict *dict,
                            const struct qn_tmember **out)
{
    struct qn_tval *keys = NULL, *places = NULL;
    struct qn_tmember *members = NULL;
    QN_T_TRY(qn_trun_alloc(run, dict->n * sizeof *keys, &keys));
    QN_T_TRY(qn_trun_alloc(run, dict->n * sizeof *places, &places));
    QN_T_TRY(qn_trun_alloc(run, dict->n * sizeof *members, &members));
    for (size_t i = 0; i < dict->n; i++) {
        keys[i] = dict->members[i].key;
        places[i] = qn_tval_size(i);
    }
    QN_T_TRY(qn_tval_sort(run, places, keys, dict->n, false));
    for (size_t i = 0; i < dict->n; i++)
        members[i] = dict->members[places[i].i];
    *out = members;
    return QN_T_OK;
}

static enum qn_tflow put_dict(struct writer *w, const struct qn_tdict *dict)
{
    const struct qn_tmember *members = dict->members;
    if (dict->n == 0)
        return qn_trun_puts(w->run, "{}");
    if (w->how->sort_keys)
        QN_T_TRY(sorted(w->run, dict, &members));
    QN_T_TRY(qn_trun_put(w->run, "{", 1));
    w->level++;
    for (size_t i = 0; i < dict->n; i++) {
        if (i > 0)
            QN_T_TRY(qn_trun_putv(w->run, &w->how->item));
        QN_T_TRY(put_newline(w));
        QN_T_TRY(put_key(w, &members[i].key));
        QN_T_TRY(qn_trun_putv(w->run, &w->how->key));
        QN_T_TRY(put_value(w, &members[i].val));
    }
    w->level--;
    QN_T_TRY(put_newline(w));
    return qn_trun_put(w->run, "}", 1);
}

static enum qn_tflow put_value(struct writer *w, const struct qn_tval *v)
{
    QN_T_TRY(qn_trun_charge(w->run, 1));
    if (w->level > QN_TEMPLATE_VALUE_DEPTH)
        return qn_trun_limit(w->run, "values nested deeper than %d levels",
                             QN_TEMPLATE_VALUE_DEPTH);
    switch (v->type) {
    case QN_T_NONE:
        return qn_trun_puts(w->run, "null");
    case QN_T_BOOL:
        return qn_trun_puts(w->run, v->b ? "true" : "false");
    case QN_T_FLOAT:
        if (!isfinite(v->f))
            return qn_trun_puts(w->run, isnan(v->f) ? "NaN" : v->f < 0 ? "-Infinity" : "Infinity");
        return qn_tval_put_repr(w->run, v);
    case QN_T_INT:
    case QN_T_BIG:
        return qn_tval_put_repr(w->run, v);
    case QN_T_STRING:
        return put_string(w, v->s, v->n);
    case QN_T_LIST:
    case QN_T_TUPLE:
        return put_list(w, v->list);
    case QN_T_DICT:
        return put_dict(w, v->dict);
    case QN_T_ITER: { /* Python's json.dumps refuses generators; they are accepted here because
                         templates written for other interpreters pass them. */
        struct qn_tlist *list = NULL;
        QN_T_TRY(qn_titer_list(w->run, v, &list));
        return put_list(w, list);
    }
    default:
        return qn_trun_fail(w->run, "Object of type %s is not JSON serializable", qn_tval_class(v));
    }
}

enum qn_tflow qn_tval_put_json(struct qn_trun *run, const struct qn_tval *v,
                               const struct qn_tjson *how)
{
    struct writer w = {.run = run, .how = how};
    return put_value(&w, v);
}
