/* See template_print.h. */
#include "llm/template_print.h"

#include "base/str.h"
#include "llm/template_run.h"
#include "llm/template_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRACTION_STEPS = 20 }; /* work of finding the shortest decimal */

struct qn_tjson qn_tjson_default(double indent)
{
    struct qn_tjson how = {.indent = indent, .undefined = "null", .key_separator = ": "};
    how.key_n = strlen(how.key_separator);
    how.item_separator = indent != 0 ? "," : ", ";
    how.item_n = strlen(how.item_separator);
    return how;
}

static enum qn_tflow put_number(struct qn_trun *run, double num)
{
    char text[QN_TEXT_NUMBER_MAX];
    QN_T_TRY(qn_trun_charge(run, num == floor(num) ? 1 : FRACTION_STEPS));
    return qn_trun_put(run, text, qn_text_number(num, text));
}

/* A float keeps its point: 2.0, -0.0; from 1e21 on JavaScript writes an exponent. */
static enum qn_tflow put_float(struct qn_trun *run, double num)
{
    char text[QN_TEXT_NUMBER_MAX];
    if (!isfinite(num) || num != floor(num) || fabs(num) >= 1e21)
        return put_number(run, num);
    return qn_trun_put(run, text, (size_t)snprintf(text, sizeof(text), "%.1f", num));
}

static enum qn_tflow put_escape(struct qn_trun *run, uint32_t unit)
{
    char text[8];
    snprintf(text, sizeof(text), "\\u%04x", unit & 0xFFFF);
    return qn_trun_puts(run, text);
}

static enum qn_tflow put_escaped(struct qn_trun *run, uint32_t cp)
{
    static const char short_names[32] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    if (cp == '"' || cp == '\\' || (cp < 32 && short_names[cp])) {
        char text[2] = {'\\', cp < 32 ? short_names[cp] : (char)cp};
        return qn_trun_put(run, text, 2);
    }
    if (cp < 0x10000)
        return put_escape(run, cp);
    QN_T_TRY(put_escape(run, 0xD800 + ((cp - 0x10000) >> 10)));
    return put_escape(run, 0xDC00 + (cp & 0x3FF));
}

static enum qn_tflow put_quoted(struct qn_trun *run, const char *s, size_t n, bool ensure_ascii)
{
    size_t plain = 0;
    QN_T_TRY(qn_trun_walked(run, n));
    QN_T_TRY(qn_trun_put(run, "\"", 1));
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        size_t k = qn_utf8_decode(s + i, n - i, &cp);
        if (cp < 32 || cp == '"' || cp == '\\' || (ensure_ascii && cp >= 0x7F)) {
            QN_T_TRY(qn_trun_put(run, s + plain, i - plain));
            QN_T_TRY(put_escaped(run, cp));
            plain = i + k;
        }
        i += k;
    }
    QN_T_TRY(qn_trun_put(run, s + plain, n - plain));
    return qn_trun_put(run, "\"", 1);
}

/* The white space before an item, or before the closing bracket. */
static enum qn_tflow put_break(struct qn_trun *run, const struct qn_tjson *how, int depth)
{
    if (how->indent == 0)
        return QN_T_OK;
    QN_T_TRY(qn_trun_put(run, "\n", 1));
    return qn_trun_fill(run, ' ', how->indent * depth);
}

static enum qn_tflow put_json(struct qn_trun *run, const struct qn_tval *v,
                              const struct qn_tjson *how, int depth);

static enum qn_tflow put_json_list(struct qn_trun *run, const struct qn_tval *v,
                                   const struct qn_tjson *how, int depth)
{
    const struct qn_tlist *list = v->list;
    if (v->type == QN_T_TUPLE)
        return qn_trun_fail(run, "a tuple cannot be written as JSON");
    QN_T_TRY(qn_trun_put(run, "[", 1));
    for (size_t i = 0; i < list->n; i++) {
        if (i > 0)
            QN_T_TRY(qn_trun_put(run, how->item_separator, how->item_n));
        QN_T_TRY(put_break(run, how, depth + 1));
        QN_T_TRY(put_json(run, &list->items[i], how, depth + 1));
    }
    if (list->n > 0)
        QN_T_TRY(put_break(run, how, depth));
    return qn_trun_put(run, "]", 1);
}

static int by_key(const void *a, const void *b)
{
    const struct qn_tmember *x = *(const struct qn_tmember *const *)a;
    const struct qn_tmember *y = *(const struct qn_tmember *const *)b;
    int order = qn_text_collate(x->key, x->n, y->key, y->n);
    return order != 0 ? order : x < y ? -1 : x > y;
}

static enum qn_tflow put_json_dict(struct qn_trun *run, const struct qn_tval *v,
                                   const struct qn_tjson *how, int depth)
{
    const struct qn_tdict *dict = v->dict;
    const struct qn_tmember **members = NULL;
    if (v->type == QN_T_KWARGS)
        return qn_trun_fail(run, "keyword arguments cannot be written as JSON");
    if (dict->n > 0) {
        QN_T_TRY(qn_trun_alloc(run, dict->n * sizeof(struct qn_tmember *), &members));
        for (size_t i = 0; i < dict->n; i++)
            members[i] = &dict->members[i];
        if (how->sort_keys)
            qsort(members, dict->n, sizeof(*members), by_key);
    }
    QN_T_TRY(qn_trun_put(run, "{", 1));
    for (size_t i = 0; i < dict->n; i++) {
        if (i > 0)
            QN_T_TRY(qn_trun_put(run, how->item_separator, how->item_n));
        QN_T_TRY(put_break(run, how, depth + 1));
        QN_T_TRY(put_quoted(run, members[i]->key, members[i]->n, how->ensure_ascii));
        QN_T_TRY(qn_trun_put(run, how->key_separator, how->key_n));
        QN_T_TRY(put_json(run, &members[i]->val, how, depth + 1));
    }
    if (dict->n > 0)
        QN_T_TRY(put_break(run, how, depth));
    return qn_trun_put(run, "}", 1);
}

static enum qn_tflow put_json(struct qn_trun *run, const struct qn_tval *v,
                              const struct qn_tjson *how, int depth)
{
    QN_T_TRY(qn_trun_charge(run, 1));
    if (depth >= QN_TEMPLATE_VALUE_DEPTH)
        return qn_trun_limit(run, "a value is nested deeper than %d levels",
                             QN_TEMPLATE_VALUE_DEPTH);
    switch (v->type) {
    case QN_T_NULL:
        return qn_trun_puts(run, "null");
    case QN_T_ABSENT:
    case QN_T_UNDEFINED:
        return qn_trun_puts(run, how->undefined);
    case QN_T_BOOL:
        return qn_trun_puts(run, v->b ? "true" : "false");
    case QN_T_INT:
    case QN_T_FLOAT:
        return isfinite(v->num) ? put_number(run, v->num) : qn_trun_puts(run, "null");
    case QN_T_STRING:
        return put_quoted(run, v->s, v->n, how->ensure_ascii);
    case QN_T_LIST:
    case QN_T_TUPLE:
        return put_json_list(run, v, how, depth);
    case QN_T_DICT:
    case QN_T_KWARGS:
    case QN_T_NAMESPACE:
        return put_json_dict(run, v, how, depth);
    case QN_T_FUNCTION:
    case QN_T_TYPES:
        break;
    }
    return qn_trun_fail(run, "a function cannot be written as JSON");
}

enum qn_tflow qn_tval_put_json(struct qn_trun *run, const struct qn_tval *v,
                               const struct qn_tjson *how)
{
    return put_json(run, v, how, 0);
}

enum qn_tflow qn_tval_put(struct qn_trun *run, const struct qn_tval *v)
{
    switch (v->type) {
    case QN_T_UNDEFINED:
    case QN_T_NULL:
        return QN_T_OK;
    case QN_T_FLOAT:
        return put_float(run, v->num);
    case QN_T_INT:
        return put_number(run, v->num);
    case QN_T_STRING:
        return qn_trun_put(run, v->s, v->n);
    case QN_T_FUNCTION:
        return qn_trun_puts(run, "<function>");
    default:
        break;
    }
    struct qn_tjson how = qn_tjson_default(0);
    how.undefined = "undefined";
    return put_json(run, v, &how, 0);
}

/* JavaScript's Array.join(","), whose items show themselves except that nothing is "undefined". */
static enum qn_tflow put_raw_list(struct qn_trun *run, const struct qn_tlist *list)
{
    for (size_t i = 0; i < list->n; i++) {
        if (i > 0)
            QN_T_TRY(qn_trun_put(run, ",", 1));
        if (qn_tval_is(&list->items[i], QN_T_NOTHING))
            QN_T_TRY(qn_trun_puts(run, "undefined"));
        else
            QN_T_TRY(qn_tval_put(run, &list->items[i]));
        QN_T_TRY(qn_trun_charge(run, 1));
    }
    return QN_T_OK;
}

enum qn_tflow qn_tval_put_raw(struct qn_trun *run, const struct qn_tval *v)
{
    if (qn_tval_is(v, QN_T_NUMBERS))
        return put_number(run, v->num);
    if (qn_tval_is(v, QN_T_LISTS))
        return put_raw_list(run, v->list);
    if (qn_tval_is(v, QN_T_DICTS | QN_T_BIT(QN_T_NAMESPACE)))
        return qn_trun_puts(run, "[object Map]");
    return qn_tval_put(run, v);
}
