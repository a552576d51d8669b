/* See format.h: "%s" % x. */
#include "jinja/format.h"

#include "jinja/bigint.h"
#include "jinja/compare.h"
#include "jinja/number.h"
#include "jinja/print.h"
#include "jinja/run.h"
#include "jinja/text.h"

#include <math.h>

struct percent {
    struct qn_trun *run;
    const char *s;
    size_t n, i;
    const struct qn_tval *args;
    size_t used;           /* number of used items of the tuple, or 1 for a single value */
    bool named;            /* a member was referred to by name */
    bool escape;           /* the format is markup */
    struct qn_tval picked; /* the member that was referred to by name */
    bool has_picked;
};

static enum qn_tflow next_argument(struct percent *p, struct qn_tval *out)
{
    const struct qn_tval *args = p->args;
    if (p->has_picked) {
        *out = p->picked;
        return QN_T_OK;
    }
    size_t n = args->type == QN_T_TUPLE ? args->list->n : 1;
    if (p->used >= n)
        return qn_trun_fail(p->run, "not enough arguments for format string");
    *out = args->type == QN_T_TUPLE ? args->list->items[p->used] : *args;
    p->used++;
    return QN_T_OK;
}

/* Reads "(name)"; the name may contain balanced parentheses. */
static enum qn_tflow pick(struct percent *p)
{
    size_t start = ++p->i;
    int open = 1;
    struct qn_tval *found = NULL;
    if (p->args->type == QN_T_UNDEFINED)
        return qn_trun_undefined(p->run, p->args);
    if (p->args->type != QN_T_DICT)
        return qn_trun_fail(p->run, "format requires a mapping");
    for (; p->i < p->n && open > 0; p->i++)
        open += p->s[p->i] == '(' ? 1 : p->s[p->i] == ')' ? -1 : 0;
    if (open > 0)
        return qn_trun_fail(p->run, "incomplete format key");
    struct qn_tval key = qn_tval_string(p->s + start, p->i - start - 1);
    QN_T_TRY(qn_tdict_find(p->run, p->args->dict, &key, &found));
    if (!found)
        return qn_trun_fail(p->run, "'%.*s'", (int)(key.n & 0xff), key.s);
    p->picked = *found;
    p->has_picked = p->named = true;
    return QN_T_OK;
}

/* Reads a width or precision: digits, or * for the next argument. */
static enum qn_tflow read_count(struct percent *p, int64_t *out)
{
    struct qn_tval v;
    if (p->i < p->n && p->s[p->i] == '*') {
        p->i++;
        p->has_picked = false;
        QN_T_TRY(next_argument(p, &v));
        if (!qn_tval_is(&v, QN_T_INTEGERS))
            return qn_trun_fail(p->run, "* wants int");
        return qn_tval_index(p->run, &v, out);
    }
    for (; p->i < p->n && p->s[p->i] >= '0' && p->s[p->i] <= '9'; p->i++)
        *out = *out > INT32_MAX ? *out : (*out < 0 ? 0 : *out) * 10 + (p->s[p->i] - '0');
    return QN_T_OK;
}

static enum qn_tflow read_spec(struct percent *p, struct qn_tspec *spec)
{
    bool left = false;
    for (; p->i < p->n && p->s[p->i] && strchr("-+ #0", p->s[p->i]); p->i++) {
        char c = p->s[p->i];
        left = left || c == '-';
        spec->zero = spec->zero || c == '0';
        spec->alternate = spec->alternate || c == '#';
        if (c == '+' || (c == ' ' && spec->sign != '+'))
            spec->sign = c;
    }
    QN_T_TRY(read_count(p, &spec->width));
    if (spec->width < -1) {
        left = true;
        spec->width = -spec->width;
    }
    if (p->i < p->n && p->s[p->i] == '.') {
        p->i++;
        spec->precision = 0;
        QN_T_TRY(read_count(p, &spec->precision));
        spec->precision = spec->precision < 0 ? 0 : spec->precision;
    }
    while (p->i < p->n && (p->s[p->i] == 'l' || p->s[p->i] == 'h' || p->s[p->i] == 'L'))
        p->i++;
    spec->align = left ? '<' : '>';
    return QN_T_OK;
}

static enum qn_tflow put_text(struct percent *p, const struct qn_tval *v, struct qn_tspec *spec)
{
    struct qn_tval text;
    if (spec->type == 's')
        QN_T_TRY(qn_tval_soft_str(p->run, v, &text));
    else
        QN_T_TRY(qn_tval_repr(p->run, v, &text));
    if (p->escape)
        QN_T_TRY(qn_tval_escape(p->run, &text, &text));
    return qn_tformat_text(p->run, text.s, text.n, spec);
}

/* The integer for %d: a float is truncated. %x and %o do not accept floats. */
static enum qn_tflow whole(struct percent *p, const struct qn_tval *v, char type,
                           struct qn_tval *out)
{
    if (v->type == QN_T_UNDEFINED)
        return qn_trun_undefined(p->run, v);
    if (qn_tval_is(v, QN_T_INTEGERS)) {
        *out = *v;
        return QN_T_OK;
    }
    if (v->type != QN_T_FLOAT || type == 'x' || type == 'X' || type == 'o')
        return qn_trun_fail(p->run, "%%%c format: an integer is required, not %s", type,
                            qn_tval_class(v));
    if (!isfinite(v->f))
        return qn_trun_fail(p->run, "cannot convert float to integer");
    return qn_tbig_from_double(p->run, v->f, out);
}

static enum qn_tflow put_int(struct percent *p, const struct qn_tval *v, struct qn_tspec *spec)
{
    struct qn_tval number, digits, zero = qn_tval_string("0", 1);
    size_t mark = p->run->out.len;
    QN_T_TRY(whole(p, v, spec->type, &number));
    if (strchr("iu", spec->type))
        spec->type = 'd';
    int64_t precision = spec->precision;
    spec->precision = -1;
    if (precision > QN_TFORMAT_PRECISION_MAX)
        return qn_trun_limit(p->run, "a precision of more than %d", QN_TFORMAT_PRECISION_MAX);
    if (precision >= 0) { /* precision is the minimum number of digits: pads with zeros, then
                             applies the width */
        struct qn_tspec inner = *spec;
        bool negative = number.type == QN_T_BIG ? number.big->negative
                                                : number.type == QN_T_INT && number.i < 0;
        inner.fill = zero.s;
        inner.fill_n = 1;
        inner.align = '=';
        size_t prefix = spec->alternate && strchr("xXo", spec->type) ? 2 : 0;
        inner.width = precision + (int64_t)prefix + (negative || spec->sign);
        QN_T_TRY(qn_tformat_number(p->run, &number, &inner));
        QN_T_TRY(qn_trun_take(p->run, mark, &digits));
        return qn_ttext_put_padded(p->run, digits.s, digits.n, " ", 1, spec->width, spec->align);
    }
    return qn_tformat_number(p->run, &number, spec);
}

static enum qn_tflow put_char(struct percent *p, const struct qn_tval *v, struct qn_tspec *spec)
{
    if (v->type == QN_T_UNDEFINED)
        return qn_trun_undefined(p->run, v);
    if (v->type == QN_T_STRING && qn_ttext_len(v->s, v->n) == 1)
        return qn_tformat_text(p->run, v->s, v->n, spec);
    if (!qn_tval_is(v, QN_T_INTEGERS))
        return qn_trun_fail(p->run, "%%c requires int or char");
    spec->precision = -1;
    return qn_tformat_number(p->run, v, spec);
}

static enum qn_tflow convert(struct percent *p)
{
    struct qn_tspec spec = {.fill = " ", .fill_n = 1, .width = -1, .precision = -1};
    struct qn_tval v;
    double f = 0;
    p->has_picked = false;
    if (p->i < p->n && p->s[p->i] == '(')
        QN_T_TRY(pick(p));
    struct qn_tval picked = p->picked;
    bool has_picked = p->has_picked;
    QN_T_TRY(read_spec(p, &spec));
    p->picked = picked;
    p->has_picked = has_picked;
    if (p->i >= p->n)
        return qn_trun_fail(p->run, "incomplete format");
    spec.type = p->s[p->i++];
    if (spec.type == '%')
        return qn_trun_put(p->run, "%", 1);
    if (!spec.type || !strchr("sradiuoxXcfFeEgG", spec.type))
        return qn_trun_fail(p->run, "unsupported format character '%c'", spec.type);
    QN_T_TRY(next_argument(p, &v));
    bool text = strchr("sra", spec.type) != NULL;
    if (spec.zero && spec.align == '>' && !text && spec.type != 'c') {
        spec.fill = "0";
        spec.align = '=';
    }
    if (text)
        return put_text(p, &v, &spec);
    if (spec.type == 'c')
        return put_char(p, &v, &spec);
    if (strchr("diuoxX", spec.type))
        return put_int(p, &v, &spec);
    QN_T_TRY(qn_tval_double(p->run, &v, &f));
    struct qn_tval number = qn_tval_float(f);
    return qn_tformat_number(p->run, &number, &spec);
}

enum qn_tflow qn_tformat_percent(struct qn_trun *run, const struct qn_tval *format,
                                 const struct qn_tval *args, struct qn_tval *out)
{
    struct percent p = {.run = run,
                        .s = format->s,
                        .n = format->n,
                        .args = args,
                        .escape = format->kind == QN_T_MARKUP};
    size_t mark = run->out.len, start = 0;
    QN_T_TRY(qn_trun_walked(run, format->n));
    while (p.i < p.n) {
        if (p.s[p.i] != '%') {
            p.i++;
            continue;
        }
        QN_T_TRY(qn_trun_put(run, p.s + start, p.i - start));
        p.i++;
        QN_T_TRY(qn_trun_charge(run, 1));
        QN_T_TRY(convert(&p));
        start = p.i;
    }
    QN_T_TRY(qn_trun_put(run, p.s + start, p.n - start));
    /* Unused arguments are an error only for tuples and for values that cannot be indexed;
     * dictionaries, lists, ranges and undefined values may remain unused. */
    bool rest = args->type == QN_T_TUPLE ? p.used < args->list->n
                : qn_tval_is(args, QN_T_BIT(QN_T_DICT) | QN_T_BIT(QN_T_LIST) |
                                       QN_T_BIT(QN_T_RANGE) | QN_T_BIT(QN_T_UNDEFINED))
                    ? false
                    : p.used == 0;
    if (rest)
        return qn_trun_fail(run, "not all arguments converted during string formatting");
    QN_T_TRY(qn_trun_take(run, mark, out));
    out->kind = format->kind;
    return QN_T_OK;
}
