/* See print.h: str() and repr(). */
#include "jinja/print.h"

#include "base/str.h"
#include "jinja/bigint.h"
#include "jinja/loop.h"
#include "jinja/macro.h"
#include "jinja/run.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUMBER_STEPS = 4, FLOAT_STEPS = 150 }; /* work charged for writing one number or float */

size_t qn_tfloat_text(double f, char out[static QN_TFLOAT_MAX])
{
    char digits[QN_TFLOAT_MAX], plain[24];
    if (!isfinite(f))
        return (size_t)snprintf(out, QN_TFLOAT_MAX, "%s",
                                isnan(f) ? "nan"
                                : f < 0  ? "-inf"
                                         : "inf");
    int precision = 0;
    do
        snprintf(digits, sizeof digits, "%.*e", precision, f);
    while (strtod(digits, NULL) != f && ++precision <= 17);
    char *e = strchr(digits, 'e');
    int exponent = atoi(e + 1), n = 0;
    for (const char *p = digits; p < e; p++)
        if (*p >= '0' && *p <= '9')
            plain[n++] = *p;
    while (n > 1 && plain[n - 1] == '0')
        n--;
    const char *sign = signbit(f) ? "-" : "";
    if (exponent < -4 || exponent >= 16)
        return (size_t)snprintf(out, QN_TFLOAT_MAX, "%s%c%s%.*se%c%02d", sign, plain[0],
                                n > 1 ? "." : "", n - 1, plain + 1, exponent < 0 ? '-' : '+',
                                abs(exponent));
    if (exponent < 0)
        return (size_t)snprintf(out, QN_TFLOAT_MAX, "%s0.%.*s%.*s", sign, -exponent - 1, "0000", n,
                                plain);
    if (n <= exponent + 1)
        return (size_t)snprintf(out, QN_TFLOAT_MAX, "%s%.*s%.*s.0", sign, n, plain,
                                exponent + 1 - n, "0000000000000000");
    return (size_t)snprintf(out, QN_TFLOAT_MAX, "%s%.*s.%.*s", sign, exponent + 1, plain,
                            n - exponent - 1, plain + exponent + 1);
}

static enum qn_tflow put_char_escape(struct qn_trun *run, uint32_t cp)
{
    char text[16];
    if (cp == '\n' || cp == '\r' || cp == '\t')
        snprintf(text, sizeof text, "\\%c", cp == '\n' ? 'n' : cp == '\r' ? 'r' : 't');
    else if (cp < 0x100)
        snprintf(text, sizeof text, "\\x%02x", cp);
    else
        snprintf(text, sizeof text, cp < 0x10000 ? "\\u%04x" : "\\U%08x", cp);
    return qn_trun_puts(run, text);
}

static enum qn_tflow put_quoted(struct qn_trun *run, const char *s, size_t n)
{
    char quote[2] = {n && memchr(s, '\'', n) && !memchr(s, '"', n) ? '"' : '\'', '\0'};
    QN_T_TRY(qn_trun_walked(run, n));
    QN_T_TRY(qn_trun_puts(run, quote));
    for (size_t at = 0, used; at < n; at += used) {
        uint32_t cp = 0;
        used = qn_utf8_decode(s + at, n - at, &cp);
        if (cp == (uint32_t)*quote || cp == '\\')
            QN_T_TRY(qn_trun_put(run, "\\", 1));
        if (qn_tchar_printable(cp))
            QN_T_TRY(qn_trun_put(run, s + at, used));
        else
            QN_T_TRY(put_char_escape(run, cp));
    }
    return qn_trun_puts(run, quote);
}

static enum qn_tflow put_items(struct qn_trun *run, const struct qn_tlist *list, const char *open,
                               const char *close)
{
    QN_T_TRY(qn_trun_puts(run, open));
    for (size_t i = 0; i < list->n; i++) {
        if (i > 0)
            QN_T_TRY(qn_trun_puts(run, ", "));
        QN_T_TRY(qn_tval_put_repr(run, &list->items[i]));
    }
    return qn_trun_puts(run, close);
}

static enum qn_tflow put_members(struct qn_trun *run, const struct qn_tdict *dict)
{
    QN_T_TRY(qn_trun_puts(run, "{"));
    for (size_t i = 0; i < dict->n; i++) {
        if (i > 0)
            QN_T_TRY(qn_trun_puts(run, ", "));
        QN_T_TRY(qn_tval_put_repr(run, &dict->members[i].key));
        QN_T_TRY(qn_trun_puts(run, ": "));
        QN_T_TRY(qn_tval_put_repr(run, &dict->members[i].val));
    }
    return qn_trun_puts(run, "}");
}

static enum qn_tflow put_view(struct qn_trun *run, const struct qn_tval *v)
{
    QN_T_TRY(qn_trun_puts(run, qn_tval_class(v)));
    QN_T_TRY(qn_trun_puts(run, "(["));
    for (size_t i = 0; i < v->dict->n; i++) {
        const struct qn_tmember *m = &v->dict->members[i];
        if (i > 0)
            QN_T_TRY(qn_trun_puts(run, ", "));
        if (v->kind == QN_T_ITEMS)
            QN_T_TRY(qn_trun_puts(run, "("));
        if (v->kind != QN_T_VALUES)
            QN_T_TRY(qn_tval_put_repr(run, &m->key));
        if (v->kind == QN_T_ITEMS)
            QN_T_TRY(qn_trun_puts(run, ", "));
        if (v->kind != QN_T_KEYS)
            QN_T_TRY(qn_tval_put_repr(run, &m->val));
        if (v->kind == QN_T_ITEMS)
            QN_T_TRY(qn_trun_puts(run, ")"));
    }
    return qn_trun_puts(run, "])");
}

static enum qn_tflow put_container(struct qn_trun *run, const struct qn_tval *v)
{
    switch (v->type) {
    case QN_T_LIST:
        return put_items(run, v->list, "[", "]");
    case QN_T_TUPLE:
        return put_items(run, v->list, "(", v->list->n == 1 ? ",)" : ")");
    case QN_T_DICT:
        return put_members(run, v->dict);
    case QN_T_VIEW:
        return put_view(run, v);
    default:
        QN_T_TRY(qn_trun_puts(run, "<Namespace "));
        QN_T_TRY(put_members(run, v->dict));
        return qn_trun_puts(run, ">");
    }
}

static enum qn_tflow put_range(struct qn_trun *run, const struct qn_trange *r)
{
    char text[96];
    int n =
        snprintf(text, sizeof text, "range(%lld, %lld", (long long)r->start, (long long)r->stop);
    if (r->step != 1)
        n += snprintf(text + n, sizeof text - (size_t)n, ", %lld", (long long)r->step);
    snprintf(text + n, sizeof text - (size_t)n, ")");
    return qn_trun_puts(run, text);
}

static enum qn_tflow put_function(struct qn_trun *run, const struct qn_tval *v)
{
    const struct qn_tfunc *fn = v->fn;
    QN_T_TRY(qn_trun_puts(run, fn->is_class                    ? "<class '"
                               : fn->self.type != QN_T_MISSING ? "<built-in method "
                                                               : "<function "));
    if (fn->is_class && strcmp(fn->name, "dict") != 0)
        QN_T_TRY(qn_trun_puts(run, "jinja2.utils."));
    if (fn->is_class && strcmp(fn->name, "dict") != 0) {
        char upper[2] = {(char)(fn->name[0] - 32), '\0'};
        QN_T_TRY(qn_trun_puts(run, upper));
        QN_T_TRY(qn_trun_puts(run, fn->name + 1));
    } else {
        QN_T_TRY(qn_trun_puts(run, fn->name));
    }
    return qn_trun_puts(run, fn->is_class ? "'>" : ">");
}

static enum qn_tflow put_object(struct qn_trun *run, const struct qn_tval *v)
{
    if (v->type == QN_T_LOOP)
        return qn_tloop_put(run, v->loop);
    if (v->type == QN_T_MACRO)
        return qn_tmacro_put(run, v->macro);
    if (v->type == QN_T_FUNCTION)
        return put_function(run, v);
    QN_T_TRY(qn_trun_puts(run, "<"));
    QN_T_TRY(qn_trun_puts(run, v->type == QN_T_ITER ? v->iter->name : qn_tval_class(v)));
    return qn_trun_puts(run, " object>");
}

static enum qn_tflow put_number(struct qn_trun *run, const struct qn_tval *v)
{
    char text[QN_TFLOAT_MAX];
    struct qn_tval digits;
    QN_T_TRY(qn_trun_charge(run, v->type == QN_T_FLOAT ? FLOAT_STEPS : NUMBER_STEPS));
    if (v->type == QN_T_BIG) {
        QN_T_TRY(qn_tbig_text(run, v, 10, &digits));
        return qn_trun_putv(run, &digits);
    }
    if (v->type == QN_T_FLOAT)
        return qn_trun_put(run, text, qn_tfloat_text(v->f, text));
    snprintf(text, sizeof text, "%lld", (long long)v->i);
    return qn_trun_puts(run, text);
}

enum qn_tflow qn_tval_put_repr(struct qn_trun *run, const struct qn_tval *v)
{
    QN_T_TRY(qn_trun_charge(run, 1));
    switch (v->type) {
    case QN_T_STRING:
        if (v->kind != QN_T_MARKUP)
            return put_quoted(run, v->s, v->n);
        QN_T_TRY(qn_trun_puts(run, "Markup("));
        QN_T_TRY(put_quoted(run, v->s, v->n));
        return qn_trun_puts(run, ")");
    case QN_T_MISSING:
        return qn_trun_puts(run, "missing");
    case QN_T_UNDEFINED:
        return qn_trun_puts(run, "Undefined");
    case QN_T_NONE:
        return qn_trun_puts(run, "None");
    case QN_T_BOOL:
        return qn_trun_puts(run, v->b ? "True" : "False");
    case QN_T_INT:
    case QN_T_BIG:
    case QN_T_FLOAT:
        return put_number(run, v);
    case QN_T_RANGE:
        return put_range(run, v->range);
    case QN_T_LIST:
    case QN_T_TUPLE:
    case QN_T_DICT:
    case QN_T_VIEW:
    case QN_T_NAMESPACE:
        break;
    default:
        return put_object(run, v);
    }
    if (++run->depth > QN_TEMPLATE_VALUE_DEPTH)
        return qn_trun_limit(run, "values nested deeper than %d levels", QN_TEMPLATE_VALUE_DEPTH);
    QN_T_TRY(put_container(run, v));
    run->depth--;
    return QN_T_OK;
}

enum qn_tflow qn_tval_put_str(struct qn_trun *run, const struct qn_tval *v)
{
    if (v->type == QN_T_STRING)
        return qn_trun_putv(run, v);
    return v->type == QN_T_UNDEFINED ? QN_T_OK : qn_tval_put_repr(run, v);
}

enum qn_tflow qn_tval_soft_str(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out)
{
    size_t mark = run->out.len;
    if (v->type == QN_T_STRING) {
        *out = *v;
        return QN_T_OK;
    }
    QN_T_TRY(qn_tval_put_str(run, v));
    return qn_trun_take(run, mark, out);
}

enum qn_tflow qn_tval_str(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out)
{
    QN_T_TRY(qn_tval_soft_str(run, v, out));
    out->kind = QN_T_PLAIN;
    return QN_T_OK;
}

enum qn_tflow qn_tval_repr(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out)
{
    size_t mark = run->out.len;
    QN_T_TRY(qn_tval_put_repr(run, v));
    return qn_trun_take(run, mark, out);
}

enum qn_tflow qn_tval_put_escaped(struct qn_trun *run, const char *s, size_t n)
{
    static const char special[] = "&<>'\"";
    static const char *const escaped[] = {"&amp;", "&lt;", "&gt;", "&#39;", "&#34;"};
    size_t start = 0;
    QN_T_TRY(qn_trun_walked(run, n));
    for (size_t i = 0; i < n; i++) {
        const char *found = s[i] ? strchr(special, s[i]) : NULL;
        if (!found)
            continue;
        QN_T_TRY(qn_trun_put(run, s + start, i - start));
        QN_T_TRY(qn_trun_puts(run, escaped[found - special]));
        start = i + 1;
    }
    return qn_trun_put(run, s + start, n - start);
}

enum qn_tflow qn_tval_escape(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out)
{
    struct qn_tval text;
    size_t mark = run->out.len;
    QN_T_TRY(qn_tval_soft_str(run, v, &text));
    if (text.kind == QN_T_MARKUP) {
        *out = text;
        return QN_T_OK;
    }
    QN_T_TRY(qn_tval_put_escaped(run, text.s, text.n));
    QN_T_TRY(qn_trun_take(run, mark, out));
    out->kind = QN_T_MARKUP;
    return QN_T_OK;
}
