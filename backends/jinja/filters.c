/* See filters.h: the table of filters and the functions that several filters share. */
#include "jinja/filters.h"

#include "jinja/eval.h"
#include "jinja/number.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

const struct qn_tfilter *qn_tfilter_find(const struct qn_tval *name)
{
    static const struct qn_tfilter *const tables[] = {qn_tfilters_text,   qn_tfilters_html,
                                                      qn_tfilters_number, qn_tfilters_list,
                                                      qn_tfilters_order,  qn_tfilters_select};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct qn_tfilter *f = tables[i]; f->name; f++)
            if (qn_tval_str_eq(name, f->name))
                return f;
    return NULL;
}

static bool all_digits(const struct qn_tval *v)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->s[i] < '0' || v->s[i] > '9')
            return false;
    return v->n > 0;
}

enum qn_tflow qn_tpath_new(struct qn_trun *run, const struct qn_tval *attribute,
                           struct qn_tpath *out)
{
    struct qn_tval dot = qn_tval_cstr(".");
    bool ok = false;
    if (attribute->type == QN_T_STRING) {
        QN_T_TRY(qn_ttext_split(run, attribute, &dot, -1, false, &out->parts));
        for (size_t i = 0; i < out->parts->n; i++) {
            struct qn_tval *part = &out->parts->items[i];
            part->kind = QN_T_PLAIN;
            if (all_digits(part))
                QN_T_TRY(qn_tval_parse_int(run, part->s, part->n, 10, &ok, part));
        }
        return QN_T_OK;
    }
    QN_T_TRY(qn_tlist_new(run, 1, &out->parts));
    if (qn_tval_is(attribute, QN_T_BIT(QN_T_MISSING) | QN_T_BIT(QN_T_NONE)))
        return QN_T_OK;
    return qn_tlist_push(run, out->parts, attribute);
}

enum qn_tflow qn_tpath_get(struct qn_trun *run, const struct qn_tpath *path,
                           const struct qn_tval *item, const struct qn_tval *fallback,
                           struct qn_tval *out)
{
    *out = *item;
    for (size_t i = 0; i < path->parts->n; i++) {
        struct qn_tval from = *out;
        QN_T_TRY(qn_titem_get(run, &from, &path->parts->items[i], out));
        if (fallback && out->type == QN_T_UNDEFINED)
            *out = *fallback;
    }
    return QN_T_OK;
}

enum qn_tflow qn_tval_fold(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out)
{
    struct qn_tval from = *v;
    if (v->type == QN_T_STRING)
        return qn_ttext_recase(run, &from, QN_TEXT_LOWER, out);
    *out = from;
    return QN_T_OK;
}

enum qn_tflow qn_tval_need_string(struct qn_trun *run, const struct qn_tval *v)
{
    if (v->type == QN_T_STRING)
        return QN_T_OK;
    if (v->type == QN_T_UNDEFINED)
        return qn_trun_undefined(run, v);
    return qn_trun_fail(run, "a string is needed, not %s", qn_tval_class(v));
}
