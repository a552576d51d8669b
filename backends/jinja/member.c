/* Members, items and slices; see eval.h. */
#include "jinja/eval.h"
#include "jinja/loop.h"
#include "jinja/macro.h"
#include "jinja/methods.h"
#include "jinja/number.h"
#include "jinja/print.h"
#include "jinja/text.h"

static struct qn_tval no_attribute(const struct qn_tval *object, const struct qn_tval *name,
                                   int kind)
{
    struct qn_tval v = qn_tval_undefined(kind, name->s, name->n);
    v.of = object->type;
    return v;
}

static enum qn_tflow no_element(struct qn_trun *run, const struct qn_tval *object,
                                const struct qn_tval *key, struct qn_tval *out)
{
    struct qn_tval shown = qn_tval_cstr("?");
    if (qn_tval_is(key, QN_T_NUMBERS))
        QN_T_TRY(qn_tval_repr(run, key, &shown));
    *out = no_attribute(object, key->type == QN_T_STRING ? key : &shown,
                        key->type == QN_T_STRING ? QN_T_NO_ATTRIBUTE : QN_T_NO_ELEMENT);
    return QN_T_OK;
}

static bool hashable(const struct qn_tval *v)
{
    bool ok = v->type != QN_T_LIST && v->type != QN_T_DICT &&
              !(v->type == QN_T_VIEW && v->kind != QN_T_VALUES);
    for (size_t i = 0; ok && v->type == QN_T_TUPLE && i < v->list->n; i++)
        ok = hashable(&v->list->items[i]);
    return ok;
}

static enum qn_tflow cycler_member(struct qn_trun *run, const struct qn_tval *object,
                                   const struct qn_tval *name, struct qn_tval *out)
{
    struct qn_tcycler *c = object->cycler;
    if (qn_tval_str_eq(name, "current"))
        *out = c->items->items[c->at];
    else if (qn_tval_str_eq(name, "pos"))
        *out = qn_tval_size(c->at);
    else if (qn_tval_str_eq(name, "items"))
        *out = qn_tval_tuple(c->items);
    else
        return qn_tmethod_get(run, object, name, out);
    return QN_T_OK;
}

/* Attributes that are not methods; *out is QN_T_MISSING when there is none. */
static enum qn_tflow attribute(struct qn_trun *run, const struct qn_tval *object,
                               const struct qn_tval *name, struct qn_tval *out)
{
    struct qn_tval *found = NULL;
    *out = qn_tval_of(QN_T_MISSING);
    switch (object->type) {
    case QN_T_NAMESPACE:
        QN_T_TRY(qn_tdict_find(run, object->dict, name, &found));
        if (found)
            *out = *found;
        return QN_T_OK;
    case QN_T_LOOP:
        QN_T_TRY(qn_tloop_member(run, object->loop, name, out));
        return out->type == QN_T_MISSING ? qn_tmethod_get(run, object, name, out) : QN_T_OK;
    case QN_T_MACRO:
        return qn_tmacro_member(run, object->macro, name, out);
    case QN_T_CYCLER:
        return cycler_member(run, object, name, out);
    case QN_T_JOINER:
        if (qn_tval_str_eq(name, "sep"))
            *out = object->joiner->sep;
        else if (qn_tval_str_eq(name, "used"))
            *out = qn_tval_bool(object->joiner->used);
        return QN_T_OK;
    case QN_T_RANGE:
        if (qn_tval_str_eq(name, "start"))
            *out = qn_tval_int(object->range->start);
        else if (qn_tval_str_eq(name, "stop"))
            *out = qn_tval_int(object->range->stop);
        else if (qn_tval_str_eq(name, "step"))
            *out = qn_tval_int(object->range->step);
        break;
    case QN_T_TUPLE:
        if (object->kind == QN_T_GROUP && qn_tval_str_eq(name, "grouper"))
            *out = object->list->items[0];
        else if (object->kind == QN_T_GROUP && qn_tval_str_eq(name, "list"))
            *out = object->list->items[1];
        break;
    default:
        break;
    }
    return out->type == QN_T_MISSING ? qn_tmethod_get(run, object, name, out) : QN_T_OK;
}

/* The attributes that jinja2's class Undefined itself has. Its sandbox does not give access to
 * them, so reading one from an undefined value yields another undefined value, which prints as
 * empty text. Reading any attribute that is not listed here is an error. Source:
 * dir(jinja2.Undefined()). */
static bool is_undefined_own(const struct qn_tval *name)
{
    static const char *const own[] = {"__add__",
                                      "__aiter__",
                                      "__bool__",
                                      "__call__",
                                      "__class__",
                                      "__complex__",
                                      "__delattr__",
                                      "__dir__",
                                      "__div__",
                                      "__doc__",
                                      "__eq__",
                                      "__float__",
                                      "__floordiv__",
                                      "__format__",
                                      "__ge__",
                                      "__getattr__",
                                      "__getattribute__",
                                      "__getitem__",
                                      "__getstate__",
                                      "__gt__",
                                      "__hash__",
                                      "__init__",
                                      "__init_subclass__",
                                      "__int__",
                                      "__iter__",
                                      "__le__",
                                      "__len__",
                                      "__lt__",
                                      "__mod__",
                                      "__module__",
                                      "__mul__",
                                      "__ne__",
                                      "__neg__",
                                      "__new__",
                                      "__pos__",
                                      "__pow__",
                                      "__radd__",
                                      "__rdiv__",
                                      "__reduce__",
                                      "__reduce_ex__",
                                      "__repr__",
                                      "__rfloordiv__",
                                      "__rmod__",
                                      "__rmul__",
                                      "__rpow__",
                                      "__rsub__",
                                      "__rtruediv__",
                                      "__setattr__",
                                      "__sizeof__",
                                      "__slots__",
                                      "__str__",
                                      "__sub__",
                                      "__subclasshook__",
                                      "__truediv__",
                                      "_fail_with_undefined_error",
                                      "_undefined_exception",
                                      "_undefined_hint",
                                      "_undefined_message",
                                      "_undefined_name",
                                      "_undefined_obj"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strlen(own[i]) == name->n && memcmp(own[i], name->s, name->n) == 0)
            return true;
    return false;
}

/* The sandbox's getattr(); *out is QN_T_MISSING when there is no such attribute. */
static enum qn_tflow safe_attribute(struct qn_trun *run, const struct qn_tval *object,
                                    const struct qn_tval *name, struct qn_tval *out)
{
    if (object->type == QN_T_UNDEFINED) {
        if (!is_undefined_own(name))
            return qn_trun_undefined(run, object);
        *out = no_attribute(object, name, QN_T_UNSAFE);
        return QN_T_OK;
    }
    QN_T_TRY(attribute(run, object, name, out));
    bool special =
        name->n > 4 && memcmp(name->s, "__", 2) == 0 && memcmp(name->s + name->n - 2, "__", 2) == 0;
    if ((out->type != QN_T_MISSING && name->n > 0 && name->s[0] == '_') ||
        (out->type == QN_T_MISSING && special && object->type != QN_T_NAMESPACE &&
         object->type != QN_T_DICT))
        *out = no_attribute(object, name, QN_T_UNSAFE);
    return QN_T_OK;
}

enum qn_tflow qn_tmember_get(struct qn_trun *run, const struct qn_tval *object,
                             const struct qn_tval *name, struct qn_tval *out)
{
    struct qn_tval *found = NULL;
    QN_T_TRY(safe_attribute(run, object, name, out));
    if (out->type != QN_T_MISSING)
        return QN_T_OK;
    if (object->type == QN_T_DICT)
        QN_T_TRY(qn_tdict_find(run, object->dict, name, &found));
    *out = found ? *found : no_attribute(object, name, QN_T_NO_ATTRIBUTE);
    return QN_T_OK;
}

/* The item at an index; *out is QN_T_MISSING when the index is out of range. */
static enum qn_tflow numbered(struct qn_trun *run, const struct qn_tval *object,
                              const struct qn_tval *key, struct qn_tval *out)
{
    int64_t at = 0;
    size_t n = 0;
    QN_T_TRY(qn_tval_index(run, key, &at));
    QN_T_TRY(qn_tval_len(run, object, &n));
    *out = qn_tval_of(QN_T_MISSING);
    if (at < 0)
        at += (int64_t)n;
    if (at < 0 || at >= (int64_t)n)
        return QN_T_OK;
    if (object->type == QN_T_RANGE) {
        *out = qn_tval_int(object->range->start + at * object->range->step);
    } else if (object->type == QN_T_STRING) {
        size_t from = qn_ttext_offset(object->s, object->n, (size_t)at);
        *out = qn_tval_string(object->s + from, qn_ttext_char(object->s + from, object->n - from));
        out->kind = object->kind;
        return qn_trun_walked(run, from / 4);
    } else {
        *out = object->list->items[at];
    }
    return QN_T_OK;
}

enum qn_tflow qn_titem_get(struct qn_trun *run, const struct qn_tval *object,
                           const struct qn_tval *key, struct qn_tval *out)
{
    struct qn_tval *found = NULL;
    *out = qn_tval_of(QN_T_MISSING);
    if (object->type == QN_T_UNDEFINED)
        return qn_trun_undefined(run, object);
    if (object->type == QN_T_DICT && hashable(key)) {
        QN_T_TRY(qn_tdict_find(run, object->dict, key, &found));
        if (found)
            *out = *found;
    } else if (qn_tval_is(object, QN_T_LISTS | QN_T_BIT(QN_T_STRING) | QN_T_BIT(QN_T_RANGE)) &&
               qn_tval_is(key, QN_T_INTEGERS)) {
        QN_T_TRY(numbered(run, object, key, out));
    }
    if (out->type == QN_T_MISSING && key->type == QN_T_STRING)
        QN_T_TRY(safe_attribute(run, object, key, out));
    return out->type == QN_T_MISSING ? no_element(run, object, key, out) : QN_T_OK;
}

/* Adjusts a slice's bounds to n items as Python does; returns the number of items. */
static enum qn_tflow bounds(struct qn_trun *run, const struct qn_tval part[3], int64_t n,
                            int64_t *start, int64_t *step, int64_t *count)
{
    int64_t stop;
    QN_T_TRY(qn_tval_index_or(run, &part[2], 1, step));
    if (*step == 0)
        return qn_trun_fail(run, "slice step cannot be zero");
    if (*step < -INT64_MAX)
        *step = -INT64_MAX;
    QN_T_TRY(qn_tval_index_or(run, &part[0], *step < 0 ? INT64_MAX : 0, start));
    QN_T_TRY(qn_tval_index_or(run, &part[1], *step < 0 ? INT64_MIN : INT64_MAX, &stop));
    bool stop_given = part[1].type != QN_T_NONE;
    int64_t low = *step < 0 ? -1 : 0, high = *step < 0 ? n - 1 : n;
    if (*start < 0)
        *start = *start < -n ? low : *start + n;
    if (stop < 0 && stop_given)
        stop = stop < -n ? low : stop + n;
    *start = *start > high ? high : *start;
    stop = stop > high ? high : stop < low ? low : stop;
    *count = *step < 0 ? (stop < *start ? (*start - stop - 1) / -*step + 1 : 0)
                       : (*start < stop ? (stop - *start - 1) / *step + 1 : 0);
    return QN_T_OK;
}

static enum qn_tflow slice_text(struct qn_trun *run, const struct qn_tval *v, int64_t start,
                                int64_t step, int64_t count, struct qn_tval *out)
{
    size_t mark = run->out.len, kind = v->kind;
    QN_T_TRY(qn_trun_walked(run, v->n / 4));
    if (step == 1 || count == 0) {
        size_t from = count ? qn_ttext_offset(v->s, v->n, (size_t)start) : 0;
        *out =
            qn_tval_string(v->s + from, qn_ttext_offset(v->s + from, v->n - from, (size_t)count));
        out->kind = (uint8_t)kind;
        return QN_T_OK;
    }
    size_t *offsets = NULL, n = qn_ttext_len(v->s, v->n), at = 0;
    QN_T_TRY(qn_trun_alloc(run, (n + 1) * sizeof *offsets, &offsets));
    for (size_t i = 0; i < n && at < v->n; i++) {
        offsets[i] = at;
        at += qn_ttext_char(v->s + at, v->n - at);
    }
    for (int64_t i = 0; i < count; i++) {
        size_t from = offsets[start + i * step];
        QN_T_TRY(qn_trun_charge(run, 1));
        QN_T_TRY(qn_trun_put(run, v->s + from, qn_ttext_char(v->s + from, v->n - from)));
    }
    QN_T_TRY(qn_trun_take(run, mark, out));
    out->kind = (uint8_t)kind;
    return QN_T_OK;
}

enum qn_tflow qn_tslice_get(struct qn_trun *run, const struct qn_tval *object,
                            const struct qn_tval part[3], struct qn_tval *out)
{
    int64_t start = 0, step = 1, count = 0;
    size_t n = 0;
    if (object->type == QN_T_UNDEFINED)
        return qn_trun_undefined(run, object);
    if (!qn_tval_is(object, QN_T_LISTS | QN_T_BIT(QN_T_STRING) | QN_T_BIT(QN_T_RANGE)))
        return qn_trun_fail(run, "'%s' object is not subscriptable", qn_tval_class(object));
    QN_T_TRY(qn_tval_len(run, object, &n));
    QN_T_TRY(bounds(run, part, (int64_t)n, &start, &step, &count));
    if (object->type == QN_T_STRING)
        return slice_text(run, object, start, step, count, out);
    if (object->type == QN_T_RANGE) {
        struct qn_trange *r = NULL;
        QN_T_TRY(qn_trun_alloc(run, sizeof *r, &r));
        const struct qn_trange *from = object->range;
        *r = (struct qn_trange){.start = from->start + start * from->step, .n = (size_t)count};
        if (__builtin_mul_overflow(step, from->step, &r->step) || r->step > 1000000 ||
            r->step < -1000000)
            r->step = step < 0 ? -1000000 : 1000000;
        r->stop = r->start + count * r->step;
        *out = (struct qn_tval){.type = QN_T_RANGE, .range = r};
        return QN_T_OK;
    }
    struct qn_tlist *list = NULL;
    QN_T_TRY(qn_tlist_new(run, (size_t)count, &list));
    for (int64_t i = 0; i < count; i++)
        list->items[list->n++] = object->list->items[start + i * step];
    *out = object->type == QN_T_LIST ? qn_tval_list(list) : qn_tval_tuple(list);
    return QN_T_OK;
}
