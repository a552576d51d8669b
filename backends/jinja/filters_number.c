/* Filters for numbers and booleans. */
#include "jinja/bigint.h"
#include "jinja/filters.h"
#include "jinja/number.h"
#include "jinja/print.h"
#include "jinja/run.h"

#include <math.h>
#include <stdio.h>

#define ARGS                                                                                       \
    struct qn_trun *run, const struct qn_tval *self, const struct qn_targs *args,                  \
        struct qn_tval *out

static enum qn_tflow do_abs(ARGS)
{
    struct qn_tval zero = qn_tval_int(0);
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    if (!qn_tval_is(self, QN_T_NUMBERS))
        return qn_trun_fail(run, "bad operand type for abs(): '%s'", qn_tval_class(self));
    if (self->type == QN_T_FLOAT) {
        *out = qn_tval_float(fabs(self->f));
        return QN_T_OK;
    }
    bool negative =
        self->type == QN_T_BIG ? self->big->negative : self->type == QN_T_INT && self->i < 0;
    return qn_tval_binary(run, negative ? QN_OP_SUB : QN_OP_ADD, &zero, self, out);
}

static enum qn_tflow from_float(struct qn_trun *run, double f, bool *ok, struct qn_tval *out)
{
    if (isinf(f))
        return qn_trun_fail(run, "cannot convert float infinity to integer");
    *ok = !isnan(f);
    return *ok ? qn_tbig_from_double(run, f, out) : QN_T_OK;
}

static enum qn_tflow do_int(ARGS)
{
    struct qn_tval v[2];
    int64_t base = 10;
    bool ok = false;
    double f = 0;
    QN_T_TRY(qn_trun_args(run, args, "default base", 0, v));
    if (self->type == QN_T_UNDEFINED)
        return qn_trun_undefined(run, self);
    *out = v[0].type == QN_T_MISSING ? qn_tval_int(0) : v[0];
    if (self->type == QN_T_FLOAT)
        return from_float(run, self->f, &ok, out);
    if (qn_tval_is(self, QN_T_INTEGERS)) {
        *out = self->type == QN_T_BOOL ? qn_tval_int(self->b) : *self;
        return QN_T_OK;
    }
    if (self->type != QN_T_STRING)
        return QN_T_OK;
    struct qn_tval number;
    if (v[1].type == QN_T_UNDEFINED)
        return qn_trun_undefined(run, &v[1]);
    if (v[1].type == QN_T_MISSING || qn_tval_is(&v[1], QN_T_INTEGERS)) {
        if (v[1].type != QN_T_MISSING)
            QN_T_TRY(qn_tval_index(run, &v[1], &base));
        QN_T_TRY(qn_tval_parse_int(run, self->s, self->n, base, &ok, &number));
    }
    if (ok) {
        *out = number;
        return QN_T_OK;
    }
    QN_T_TRY(qn_tval_parse_float(run, self->s, self->n, &ok, &f));
    return ok ? from_float(run, f, &ok, out) : QN_T_OK;
}

static enum qn_tflow do_float(ARGS)
{
    struct qn_tval v;
    double f = 0;
    bool ok = true;
    QN_T_TRY(qn_trun_args(run, args, "default", 0, &v));
    if (self->type == QN_T_STRING)
        QN_T_TRY(qn_tval_parse_float(run, self->s, self->n, &ok, &f));
    else if (qn_tval_is(self, QN_T_NUMBERS | QN_T_BIT(QN_T_UNDEFINED)))
        QN_T_TRY(qn_tval_double(run, self, &f));
    else
        ok = false;
    *out = ok ? qn_tval_float(f) : v.type == QN_T_MISSING ? qn_tval_float(0) : v;
    return QN_T_OK;
}

/* ceil or floor of value * 10 ** precision, divided by 10 ** precision. */
static enum qn_tflow round_to(struct qn_trun *run, const struct qn_tval *v,
                              const struct qn_tval *precision, bool up, struct qn_tval *out)
{
    struct qn_tval ten = qn_tval_int(10), zero = qn_tval_int(0), unit, scaled, whole;
    double f = 0;
    QN_T_TRY(qn_tval_binary(run, QN_OP_POW, &ten,
                            precision->type == QN_T_MISSING ? &zero : precision, &unit));
    QN_T_TRY(qn_tval_binary(run, QN_OP_MUL, v, &unit, &scaled));
    if (qn_tval_is(&scaled, QN_T_INTEGERS)) {
        whole = scaled;
    } else {
        QN_T_TRY(qn_tval_double(run, &scaled, &f));
        if (!isfinite(f))
            return qn_trun_fail(run, "cannot convert float to integer");
        QN_T_TRY(qn_tbig_from_double(run, up ? ceil(f) : floor(f), &whole));
    }
    return qn_tval_binary(run, QN_OP_DIV, &whole, &unit, out);
}

static enum qn_tflow do_round(ARGS)
{
    struct qn_tval v[2], zero = qn_tval_int(0);
    QN_T_TRY(qn_trun_args(run, args, "precision method", 0, v));
    bool up = qn_tval_str_eq(&v[1], "ceil");
    if (up || qn_tval_str_eq(&v[1], "floor"))
        return round_to(run, self, &v[0], up, out);
    if (v[1].type != QN_T_MISSING && !qn_tval_str_eq(&v[1], "common"))
        return qn_trun_fail(run, "method must be common, ceil or floor");
    return qn_tval_round(run, self, v[0].type == QN_T_MISSING ? &zero : &v[0], out);
}

static enum qn_tflow do_default(ARGS)
{
    struct qn_tval v[2];
    bool any = false, truth = true;
    QN_T_TRY(qn_trun_args(run, args, "default_value boolean", 0, v));
    if (self->type != QN_T_UNDEFINED)
        QN_T_TRY(qn_tval_truth(run, &v[1], &any));
    if (any)
        QN_T_TRY(qn_tval_truth(run, self, &truth));
    *out = *self;
    if (self->type == QN_T_UNDEFINED || !truth)
        *out = v[0].type == QN_T_MISSING ? qn_tval_cstr("") : v[0];
    return QN_T_OK;
}

static enum qn_tflow do_filesizeformat(ARGS)
{
    static const char letters[] = "kMGTPEZY";
    struct qn_tval v;
    bool binary = false, ok = true;
    double bytes = 0;
    QN_T_TRY(qn_trun_args(run, args, "binary", 0, &v));
    QN_T_TRY(qn_tval_truth(run, &v, &binary));
    if (self->type == QN_T_STRING)
        QN_T_TRY(qn_tval_parse_float(run, self->s, self->n, &ok, &bytes));
    else
        QN_T_TRY(qn_tval_double(run, self, &bytes));
    if (!ok)
        return qn_trun_fail(run, "could not convert string to float");
    double base = binary ? 1024 : 1000, unit = base;
    if (bytes == 1)
        return qn_trun_fmt(run, out, "1 Byte");
    if (bytes < base && !isfinite(bytes))
        return qn_trun_fail(run, "cannot convert float infinity to integer");
    if (bytes < base)
        return qn_trun_fmt(run, out, "%.0f Bytes", trunc(bytes) == 0 ? 0.0 : trunc(bytes));
    int i = 0;
    for (unit = base * base; i < 7 && !(bytes < unit); i++)
        unit *= base;
    char prefix[4] = {binary && i == 0 ? 'K' : letters[i], binary ? 'i' : 'B', binary ? 'B' : '\0',
                      '\0'};
    if (isnan(bytes))
        return qn_trun_fmt(run, out, "nan %s", prefix);
    return qn_trun_fmt(run, out, "%.1f %s", base * bytes / unit, prefix);
}

static enum qn_tflow do_length(ARGS)
{
    size_t n = 0;
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    QN_T_TRY(qn_tval_len(run, self, &n));
    *out = qn_tval_size(n);
    return QN_T_OK;
}

const struct qn_tfilter qn_tfilters_number[] = {
    {"abs", do_abs},
    {"int", do_int},
    {"float", do_float},
    {"round", do_round},
    {"default", do_default},
    {"d", do_default},
    {"filesizeformat", do_filesizeformat},
    {"length", do_length},
    {"count", do_length},
    {NULL, NULL},
};
