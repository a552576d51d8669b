/* See methods.h: lookup of methods, and the methods of numbers and loops. */
#include "jinja/methods.h"

#include "jinja/compare.h"
#include "jinja/loop.h"
#include "jinja/number.h"
#include "jinja/print.h"
#include "jinja/run.h"

#include <math.h>

#define ARGS                                                                                       \
    struct qn_trun *run, const struct qn_tval *self, const struct qn_targs *args,                  \
        struct qn_tval *out

static enum qn_tflow int_bit_length(ARGS)
{
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    int64_t i = self->type == QN_T_BOOL ? self->b : self->i;
    uint64_t u = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    int n = 0;
    for (; u; u >>= 1)
        n++;
    *out = qn_tval_int(n);
    return QN_T_OK;
}

static enum qn_tflow number_itself(ARGS)
{
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    *out = self->type == QN_T_BOOL ? qn_tval_int(self->b) : *self;
    return QN_T_OK;
}

static enum qn_tflow float_is_integer(ARGS)
{
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    *out = qn_tval_bool(isfinite(self->f) && self->f == floor(self->f));
    return QN_T_OK;
}

const struct qn_tmethod qn_tmethods_int[] = {
    {"bit_length", int_bit_length}, {"conjugate", number_itself}, {NULL, NULL}};
const struct qn_tmethod qn_tmethods_float[] = {
    {"is_integer", float_is_integer}, {"conjugate", number_itself}, {NULL, NULL}};

static enum qn_tflow loop_cycle(ARGS)
{
    struct qn_tval name = qn_tval_cstr("index0"), at;
    if (args->named && args->named->n > 0)
        return qn_trun_fail(run, "cycle() takes no keyword arguments");
    if (args->n == 0)
        return qn_trun_fail(run, "no items for cycling given");
    QN_T_TRY(qn_tloop_member(run, self->loop, &name, &at));
    int64_t n = (int64_t)args->n;
    *out = args->v[((at.i % n) + n) % n];
    return QN_T_OK;
}

static enum qn_tflow loop_changed(ARGS)
{
    struct qn_tlist *list = NULL;
    bool same = false;
    if (args->named && args->named->n > 0)
        return qn_trun_fail(run, "changed() takes no keyword arguments");
    QN_T_TRY(qn_tlist_new(run, args->n, &list));
    for (size_t i = 0; i < args->n; i++)
        QN_T_TRY(qn_tlist_push(run, list, &args->v[i]));
    struct qn_tval now = qn_tval_tuple(list), *before = &self->loop->changed;
    if (before->type != QN_T_MISSING)
        QN_T_TRY(qn_tval_eq(run, before, &now, &same));
    if (!same)
        *before = now;
    *out = qn_tval_bool(!same);
    return QN_T_OK;
}

static enum qn_tflow cycler_next(ARGS)
{
    struct qn_tcycler *c = self->cycler;
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    *out = c->items->items[c->at];
    c->at = (c->at + 1) % c->items->n;
    return QN_T_OK;
}

static enum qn_tflow cycler_reset(ARGS)
{
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    self->cycler->at = 0;
    *out = qn_tval_none();
    return QN_T_OK;
}

static const struct qn_tmethod methods_loop[] = {
    {"cycle", loop_cycle}, {"changed", loop_changed}, {NULL, NULL}};
static const struct qn_tmethod methods_cycler[] = {
    {"next", cycler_next}, {"reset", cycler_reset}, {NULL, NULL}};

static const struct qn_tmethod *find(const struct qn_tmethod *table, const struct qn_tval *name)
{
    for (; table && table->name; table++)
        if (qn_tval_str_eq(name, table->name))
            return table;
    return NULL;
}

static const struct qn_tmethod *method_of(const struct qn_tval *object, const struct qn_tval *name)
{
    static const struct qn_tmethod *const tables[QN_T_TYPES] = {
        [QN_T_BOOL] = qn_tmethods_int,    [QN_T_INT] = qn_tmethods_int,
        [QN_T_FLOAT] = qn_tmethods_float, [QN_T_STRING] = qn_tmethods_str,
        [QN_T_LIST] = qn_tmethods_list,   [QN_T_TUPLE] = qn_tmethods_tuple,
        [QN_T_DICT] = qn_tmethods_dict,   [QN_T_LOOP] = methods_loop,
        [QN_T_CYCLER] = methods_cycler,   [QN_T_RANGE] = qn_tmethods_tuple,
    };
    const struct qn_tmethod *found = find(tables[object->type], name);
    if (!found && object->type == QN_T_STRING)
        found = find(qn_tmethods_str_parts, name);
    return found;
}

/* Attributes of numbers that are not methods. */
static bool number_part(const struct qn_tval *object, const struct qn_tval *name,
                        struct qn_tval *out)
{
    bool whole = object->type != QN_T_FLOAT;
    *out = object->type == QN_T_BOOL ? qn_tval_int(object->b) : *object;
    if (qn_tval_str_eq(name, "real") || (whole && qn_tval_str_eq(name, "numerator")))
        return true;
    *out = whole ? qn_tval_int(0) : qn_tval_float(0);
    if (qn_tval_str_eq(name, "imag"))
        return true;
    *out = qn_tval_int(1);
    return whole && qn_tval_str_eq(name, "denominator");
}

enum qn_tflow qn_tmethod_get(struct qn_trun *run, const struct qn_tval *object,
                             const struct qn_tval *name, struct qn_tval *out)
{
    const struct qn_tmethod *method = method_of(object, name);
    struct qn_tfunc *fn = NULL;
    if (qn_tval_is(object, QN_T_NUMBERS) && number_part(object, name, out))
        return QN_T_OK;
    *out = qn_tval_of(QN_T_MISSING);
    if (!method)
        return QN_T_OK;
    QN_T_TRY(qn_trun_alloc(run, sizeof *fn, &fn));
    *fn = (struct qn_tfunc){.name = method->name, .call = method->call, .self = *object};
    *out = (struct qn_tval){.type = QN_T_FUNCTION, .fn = fn};
    return QN_T_OK;
}
