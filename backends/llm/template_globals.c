/* Names every template knows without being given them. */
#include "llm/template.h"
#include "llm/template_builtin.h"

#include "llm/template_compiled.h"
#include "llm/template_print.h"
#include "llm/template_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define GLOBAL(name)                                                                               \
    static enum qn_tflow name(struct qn_trun *run, const struct qn_tfunc *fn,                      \
                              const struct qn_targs *args, struct qn_tval *out)

/* What JavaScript makes of an argument that should be a number. */
static double as_number(const struct qn_tval *v)
{
    return qn_tval_is(v, QN_T_NUMBERS) ? v->num
           : v->type == QN_T_BOOL      ? (double)v->b
           : v->type == QN_T_STRING    ? qn_text_to_number(v->s, v->n)
                                       : NAN;
}

GLOBAL(global_range)
{
    const struct qn_tval *given[3] = {qn_targ_at(args, 0), qn_targ_at(args, 1),
                                      qn_targ_at(args, 2)};
    bool one = !given[1] || qn_tval_is(given[1], QN_T_NOTHING);
    double start = one || !given[0] ? 0 : as_number(given[0]);
    double stop = !given[0] ? NAN : as_number(one ? given[0] : given[1]);
    double step = given[2] && !qn_tval_is(given[2], QN_T_NOTHING) ? as_number(given[2]) : 1;
    struct qn_tlist *list;
    (void)fn;
    for (size_t i = 0; i < args->n; i++)
        QN_T_TRY(qn_trun_walked(run, args->v[i].n));
    if (step == 0)
        return qn_trun_fail(run, "range: the step is 0");
    double count = ceil((stop - start) / step); /* NaN: nothing to count */
    if (count > 0)
        QN_T_TRY(qn_trun_charge(run, count < QN_TEMPLATE_STEPS_MAX ? (size_t)count
                                                                   : QN_TEMPLATE_STEPS_MAX));
    QN_T_TRY(qn_tlist_new(run, count > 0 ? (size_t)count : 0, &list));
    for (double i = start; step > 0 ? i < stop : i > stop; i += step) {
        struct qn_tval item = qn_tval_number(i);
        QN_T_TRY(qn_trun_charge(run, 1));
        QN_T_TRY(qn_tlist_push(run, list, &item));
    }
    *out = qn_tval_list(list);
    return QN_T_OK;
}

GLOBAL(global_namespace)
{
    struct qn_tdict *dict;
    (void)fn;
    QN_T_TRY(qn_tdict_new(run, 0, &dict));
    for (size_t i = 0; i < args->n; i++) {
        if (!qn_tval_is(&args->v[i], QN_T_DICTS))
            return qn_trun_fail(run, "namespace takes a dictionary and named arguments, this is %s",
                                qn_ttype_name(args->v[i].type));
        for (size_t k = 0; k < args->v[i].dict->n; k++) {
            const struct qn_tmember *m = &args->v[i].dict->members[k];
            QN_T_TRY(qn_tdict_set(run, dict, m->key, m->n, &m->val));
        }
    }
    *out = qn_tval_dict(QN_T_NAMESPACE, dict);
    return QN_T_OK;
}

/* The template refuses: its own text is the message. */
GLOBAL(global_raise)
{
    size_t mark = run->out.len;
    struct qn_tval text = qn_tval_string("", 0);
    (void)fn;
    (void)out;
    if (args->n > 0) {
        QN_T_TRY(qn_tval_put_raw(run, &args->v[0]));
        QN_T_TRY(qn_trun_take(run, mark, &text));
    }
    int n = text.n < QN_ERROR_MESSAGE_MAX ? (int)text.n : QN_ERROR_MESSAGE_MAX;
    run->code = qn_fail(run->e, QN_EINVAL, "%.*s", n, text.s);
    return QN_T_FAIL;
}

static size_t date_field(char code, const struct tm *t, char *out, size_t size)
{
    static const char *const months[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
    const struct {
        char code;
        const char *format;
        int number;
    } numbers[] = {{'Y', "%d", t->tm_year + 1900},
                   {'m', "%02d", t->tm_mon + 1},
                   {'d', "%02d", t->tm_mday},
                   {'H', "%02d", t->tm_hour},
                   {'M', "%02d", t->tm_min}};
    const char *month = months[t->tm_mon % 12];
    if (code == 'b' || code == 'B')
        return (size_t)snprintf(out, size, "%.*s", code == 'b' ? 3 : 9, month);
    if (code == '%')
        return (size_t)snprintf(out, size, "%%");
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (numbers[i].code != code)
            continue;
        /* The format strings are the table's own. */
        const char *format = numbers[i].format;
        int width = format[1] == '0' ? 2 : 1;
        return (size_t)snprintf(out, size, "%0*d", width, numbers[i].number);
    }
    return 0;
}

GLOBAL(global_strftime_now)
{
    const struct qn_tval *format = qn_targ_at(args, 0);
    time_t seconds = (time_t)(run->wall_ms / 1000);
    struct tm local;
    size_t mark = run->out.len;
    (void)fn;
    if (!format || format->type != QN_T_STRING)
        return qn_trun_fail(run, "strftime_now needs a format, as in \"%%Y-%%m-%%d\"");
    QN_T_TRY(qn_trun_walked(run, format->n));
    localtime_r(&seconds, &local);
    for (size_t i = 0; i < format->n; i++) {
        char field[16];
        size_t n = 0;
        if (format->s[i] == '%' && i + 1 < format->n)
            n = date_field(format->s[i + 1], &local, field, sizeof(field));
        QN_T_TRY(n > 0 ? qn_trun_put(run, field, n) : qn_trun_put(run, format->s + i, 1));
        i += n > 0;
    }
    return qn_trun_take(run, mark, out);
}

static const struct {
    const char *name;
    enum qn_ttype type;
    bool truth;
    qn_tcall call;
} globals[] = {
    {"true", QN_T_BOOL, true, NULL},
    {"True", QN_T_BOOL, true, NULL},
    {"false", QN_T_BOOL, false, NULL},
    {"False", QN_T_BOOL, false, NULL},
    {"none", QN_T_NULL, false, NULL},
    {"None", QN_T_NULL, false, NULL},
    {"range", QN_T_FUNCTION, false, global_range},
    {"namespace", QN_T_FUNCTION, false, global_namespace},
    {"raise_exception", QN_T_FUNCTION, false, global_raise},
    {"strftime_now", QN_T_FUNCTION, false, global_strftime_now},
};

enum qn_tflow qn_tglobals_bind(struct qn_trun *run)
{
    for (size_t i = 0; i < sizeof(globals) / sizeof(globals[0]); i++) {
        uint32_t symbol = qn_tsymbol_find(run->t, globals[i].name, strlen(globals[i].name));
        struct qn_tval v = {.type = globals[i].type};
        if (symbol == QN_TSYMBOL_NONE)
            continue;
        if (globals[i].call) {
            QN_T_TRY(qn_trun_alloc(run, sizeof(*v.fn), &v.fn));
            *v.fn = (struct qn_tfunc){.call = globals[i].call};
        } else {
            v.b = globals[i].truth;
        }
        QN_T_TRY(qn_trun_bind(run, symbol, &v));
    }
    return QN_T_OK;
}
