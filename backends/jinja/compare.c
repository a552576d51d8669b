/* See compare.h. */
#include "jinja/compare.h"

#include "jinja/bigint.h"
#include "jinja/iter.h"
#include "jinja/run.h"

#include <math.h>
#include <stdlib.h>

static enum qn_tflow deeper(struct qn_trun *run)
{
    QN_T_TRY(qn_trun_charge(run, 1));
    if (++run->depth > QN_TEMPLATE_VALUE_DEPTH)
        return qn_trun_limit(run, "values nested deeper than %d levels", QN_TEMPLATE_VALUE_DEPTH);
    return QN_T_OK;
}

/* Compares numbers: -1, 0, 1, or 2 when an operand is not a number. */
static int compare_numbers(const struct qn_tval *a, const struct qn_tval *b)
{
    if (a->type != QN_T_FLOAT && b->type != QN_T_FLOAT) {
        if (a->type != QN_T_BIG && b->type != QN_T_BIG) {
            int64_t x = a->type == QN_T_BOOL ? a->b : a->i, y = b->type == QN_T_BOOL ? b->b : b->i;
            return x < y ? -1 : x > y;
        }
        struct qn_tbig x, y;
        qn_tbig_load(a, &x);
        qn_tbig_load(b, &y);
        return qn_tbig_compare(&x, &y);
    }
    if (a->type == QN_T_FLOAT && b->type == QN_T_FLOAT)
        return isnan(a->f) || isnan(b->f) ? 2 : a->f < b->f ? -1 : a->f > b->f;
    if (a->type != QN_T_FLOAT) {
        int order = compare_numbers(b, a);
        return order == 2 ? 2 : -order;
    }
    if (isnan(a->f))
        return 2;
    struct qn_tbig y;
    qn_tbig_load(b, &y);
    double f = qn_tbig_double(&y);
    if (a->f != f || isinf(f))
        return a->f < f ? -1 : 1;
    if (b->type != QN_T_INT) /* equal after rounding; integers of more than 64 bits are compared
                                only as floats */
        return 0;
    /* 2^63 as a float is greater than every 64-bit integer. */
    if (f >= 9223372036854775808.0)
        return 1;
    int64_t whole = (int64_t)f;
    return whole < b->i ? -1 : whole > b->i;
}

static int compare_strings(const struct qn_tval *a, const struct qn_tval *b)
{
    /* The byte order of UTF-8 is the order of code points. */
    size_t n = a->n < b->n ? a->n : b->n;
    int order = n ? memcmp(a->s, b->s, n) : 0;
    return order < 0 ? -1 : order > 0 ? 1 : a->n < b->n ? -1 : a->n > b->n;
}

bool qn_tval_identical(const struct qn_tval *a, const struct qn_tval *b)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case QN_T_NONE:
        return true;
    case QN_T_UNDEFINED:
        return a->s == b->s && a->kind == b->kind;
    case QN_T_BOOL:
        return a->b == b->b;
    case QN_T_INT:
        return a->i == b->i;
    case QN_T_FLOAT:
        return a->f == b->f || (isnan(a->f) && isnan(b->f));
    case QN_T_STRING:
        return a->kind == b->kind && a->n == b->n && (a->n == 0 || memcmp(a->s, b->s, a->n) == 0);
    case QN_T_FUNCTION:
        return a->fn == b->fn;
    case QN_T_VIEW:
        return false;
    default:
        return a->list == b->list;
    }
}

enum qn_tflow qn_tval_same_or_equal(struct qn_trun *run, const struct qn_tval *a,
                                    const struct qn_tval *b, bool *out)
{
    if (a->type == QN_T_STRING && b->type == QN_T_STRING) {
        *out = a->n == b->n && (a->n == 0 || memcmp(a->s, b->s, a->n) == 0);
        return qn_trun_copied(run, a->n);
    }
    *out = qn_tval_identical(a, b);
    return *out ? QN_T_OK : qn_tval_eq(run, a, b, out);
}

static enum qn_tflow eq_lists(struct qn_trun *run, const struct qn_tlist *a,
                              const struct qn_tlist *b, bool *out)
{
    *out = a->n == b->n;
    for (size_t i = 0; *out && i < a->n; i++)
        QN_T_TRY(qn_tval_same_or_equal(run, &a->items[i], &b->items[i], out));
    return QN_T_OK;
}

static enum qn_tflow eq_dicts(struct qn_trun *run, const struct qn_tdict *a,
                              const struct qn_tdict *b, bool *out)
{
    *out = a->n == b->n;
    for (size_t i = 0; *out && i < a->n; i++) {
        struct qn_tval *other = NULL;
        QN_T_TRY(qn_tdict_find(run, b, &a->members[i].key, &other));
        *out = other != NULL;
        if (other)
            QN_T_TRY(qn_tval_same_or_equal(run, &a->members[i].val, other, out));
    }
    return QN_T_OK;
}

static enum qn_tflow eq_views(struct qn_trun *run, const struct qn_tval *a, const struct qn_tval *b,
                              bool *out)
{
    if (a->kind == QN_T_VALUES || b->kind == QN_T_VALUES || a->kind != b->kind) {
        *out = false;
        return QN_T_OK;
    }
    if (a->kind == QN_T_ITEMS)
        return eq_dicts(run, a->dict, b->dict, out);
    *out = a->dict->n == b->dict->n;
    for (size_t i = 0; *out && i < a->dict->n; i++) {
        struct qn_tval *other = NULL;
        QN_T_TRY(qn_tdict_find(run, b->dict, &a->dict->members[i].key, &other));
        *out = other != NULL;
    }
    return QN_T_OK;
}

static enum qn_tflow eq_same_type(struct qn_trun *run, const struct qn_tval *a,
                                  const struct qn_tval *b, bool *out)
{
    switch (a->type) {
    case QN_T_LIST:
    case QN_T_TUPLE:
        return eq_lists(run, a->list, b->list, out);
    case QN_T_DICT:
        return eq_dicts(run, a->dict, b->dict, out);
    case QN_T_VIEW:
        return eq_views(run, a, b, out);
    case QN_T_RANGE: {
        const struct qn_trange *x = a->range, *y = b->range;
        *out = x->n == y->n &&
               (x->n == 0 || (x->start == y->start && (x->n == 1 || x->step == y->step)));
        return QN_T_OK;
    }
    case QN_T_UNDEFINED:
        *out = true;
        return QN_T_OK;
    case QN_T_FUNCTION:
        *out = a->fn == b->fn;
        if (!*out && a->fn->call == b->fn->call && a->fn->self.type != QN_T_MISSING)
            *out = qn_tval_identical(&a->fn->self, &b->fn->self);
        return QN_T_OK;
    default:
        *out = qn_tval_identical(a, b);
        return QN_T_OK;
    }
}

enum qn_tflow qn_tval_eq(struct qn_trun *run, const struct qn_tval *a, const struct qn_tval *b,
                         bool *out)
{
    QN_T_TRY(deeper(run));
    enum qn_tflow flow = QN_T_OK;
    if (a->type == QN_T_STRING && b->type == QN_T_STRING) {
        *out = compare_strings(a, b) == 0;
        flow = qn_trun_copied(run, a->n);
    } else if (qn_tval_is(a, QN_T_NUMBERS) && qn_tval_is(b, QN_T_NUMBERS)) {
        *out = compare_numbers(a, b) == 0;
    } else if (a->type == b->type) {
        flow = eq_same_type(run, a, b, out);
    } else {
        *out = false;
    }
    run->depth--;
    return flow;
}

static bool holds(enum qn_top op, int order)
{
    if (order == 2)
        return false;
    return op == QN_OP_LT   ? order < 0
           : op == QN_OP_LE ? order <= 0
           : op == QN_OP_GT ? order > 0
                            : order >= 0;
}

static enum qn_tflow order_lists(struct qn_trun *run, enum qn_top op, const struct qn_tlist *a,
                                 const struct qn_tlist *b, bool *out)
{
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        bool same = false;
        QN_T_TRY(qn_tval_same_or_equal(run, &a->items[i], &b->items[i], &same));
        if (!same)
            return qn_tval_order(run, op, &a->items[i], &b->items[i], out);
    }
    *out = holds(op, a->n < b->n ? -1 : a->n > b->n);
    return QN_T_OK;
}

enum qn_tflow qn_tval_order(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                            const struct qn_tval *b, bool *out)
{
    static const char *const signs[] = {
        [QN_OP_LT] = "<", [QN_OP_GT] = ">", [QN_OP_LE] = "<=", [QN_OP_GE] = ">="};
    if (a->type == QN_T_UNDEFINED || b->type == QN_T_UNDEFINED)
        return qn_trun_undefined(run, a->type == QN_T_UNDEFINED ? a : b);
    if (a->type == QN_T_STRING && b->type == QN_T_STRING) {
        *out = holds(op, compare_strings(a, b));
        return qn_trun_copied(run, a->n);
    }
    if (qn_tval_is(a, QN_T_NUMBERS) && qn_tval_is(b, QN_T_NUMBERS)) {
        *out = holds(op, compare_numbers(a, b));
        return QN_T_OK;
    }
    if (a->type == b->type && qn_tval_is(a, QN_T_LISTS)) {
        QN_T_TRY(deeper(run));
        enum qn_tflow flow = order_lists(run, op, a->list, b->list, out);
        run->depth--;
        return flow;
    }
    return qn_trun_fail(run, "'%s' not supported between instances of '%s' and '%s'", signs[op],
                        qn_tval_class(a), qn_tval_class(b));
}

static enum qn_tflow in_items(struct qn_trun *run, const struct qn_tval *item,
                              const struct qn_tdict *dict, bool *out)
{
    struct qn_tval *found = NULL;
    *out = false;
    if (!qn_tval_is(item, QN_T_LISTS) || item->type != QN_T_TUPLE || item->list->n != 2)
        return QN_T_OK;
    QN_T_TRY(qn_tdict_find(run, dict, &item->list->items[0], &found));
    return found ? qn_tval_same_or_equal(run, found, &item->list->items[1], out) : QN_T_OK;
}

enum qn_tflow qn_tval_in(struct qn_trun *run, const struct qn_tval *item,
                         const struct qn_tval *container, bool *out)
{
    struct qn_tval *found = NULL;
    if (container->type == QN_T_STRING) {
        if (item->type != QN_T_STRING)
            return qn_trun_fail(run, "'in <string>' requires string as left operand, not %s",
                                qn_tval_class(item));
        *out = item->n == 0 || memmem(container->s, container->n, item->s, item->n) != NULL;
        return qn_trun_walked(run, container->n / 4);
    }
    if (container->type == QN_T_DICT ||
        (container->type == QN_T_VIEW && container->kind == QN_T_KEYS)) {
        QN_T_TRY(qn_tdict_find(run, container->dict, item, &found));
        *out = found != NULL;
        return QN_T_OK;
    }
    if (container->type == QN_T_VIEW && container->kind == QN_T_ITEMS)
        return in_items(run, item, container->dict, out);
    struct qn_tcursor at;
    struct qn_tval other;
    bool more = false;
    *out = false;
    QN_T_TRY(qn_titer_begin(run, container, &at));
    QN_T_TRY(qn_titer_next(run, &at, &other, &more));
    while (more) {
        QN_T_TRY(qn_tval_same_or_equal(run, &other, item, out));
        if (*out)
            break;
        QN_T_TRY(qn_titer_next(run, &at, &other, &more));
    }
    return QN_T_OK;
}

static uint64_t mix(uint64_t h)
{
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdULL;
    h ^= h >> 29;
    return h;
}

static uint64_t hash_bytes(const char *s, size_t n)
{
    uint64_t h = 1469598103934665603ULL;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 1099511628211ULL;
    return mix(h);
}

/* Equal numbers have equal hashes regardless of their types. */
static uint64_t hash_number(const struct qn_tval *v)
{
    if (v->type == QN_T_BOOL)
        return mix(v->b);
    if (v->type == QN_T_INT)
        return mix((uint64_t)v->i);
    double f = v->f;
    if (v->type == QN_T_BIG)
        f = qn_tbig_double(v->big);
    else if (f == floor(f) && f >= -9223372036854775808.0 && f < 9223372036854775808.0)
        return mix((uint64_t)(int64_t)f);
    return hash_bytes((const char *)&f, sizeof f);
}

enum qn_tflow qn_tval_hash(struct qn_trun *run, const struct qn_tval *v, uint64_t *out)
{
    uint64_t part = 0;
    switch (v->type) {
    case QN_T_UNDEFINED:
    case QN_T_NONE:
        *out = mix(v->type + 1000u);
        return QN_T_OK;
    case QN_T_BOOL:
    case QN_T_INT:
    case QN_T_BIG:
    case QN_T_FLOAT:
        *out = hash_number(v);
        return QN_T_OK;
    case QN_T_STRING:
        *out = hash_bytes(v->s, v->n);
        return qn_trun_walked(run, v->n / 4);
    case QN_T_TUPLE:
        QN_T_TRY(deeper(run));
        *out = v->list->n;
        for (size_t i = 0; i < v->list->n; i++) {
            QN_T_TRY(qn_tval_hash(run, &v->list->items[i], &part));
            *out = mix(*out * 31 + part);
        }
        run->depth--;
        return QN_T_OK;
    case QN_T_LIST:
    case QN_T_DICT:
        return qn_trun_fail(run, "unhashable type: '%s'", qn_tval_class(v));
    case QN_T_VIEW:
        if (v->kind != QN_T_VALUES)
            return qn_trun_fail(run, "unhashable type: '%s'", qn_tval_class(v));
        break;
    case QN_T_RANGE:
        *out = mix(v->range->n);
        return QN_T_OK;
    default:
        break;
    }
    *out = mix((uint64_t)(uintptr_t)v->list);
    return QN_T_OK;
}

struct sorter {
    struct qn_trun *run;
    struct qn_tval *items, *keys, *items_to, *keys_to;
    bool reverse;
};

/* Merge sort of [from, to); stable, also in reverse order. */
static enum qn_tflow sort_part(struct sorter *s, size_t from, size_t to)
{
    if (to - from < 2)
        return QN_T_OK;
    size_t middle = from + (to - from) / 2, a = from, b = middle;
    QN_T_TRY(sort_part(s, from, middle));
    QN_T_TRY(sort_part(s, middle, to));
    for (size_t i = from; i < to; i++) {
        bool second = a == middle;
        if (a < middle && b < to) {
            QN_T_TRY(qn_trun_charge(s->run, 3));
            if (s->reverse)
                QN_T_TRY(qn_tval_order(s->run, QN_OP_LT, &s->keys[a], &s->keys[b], &second));
            else
                QN_T_TRY(qn_tval_order(s->run, QN_OP_LT, &s->keys[b], &s->keys[a], &second));
        }
        size_t from_at = second ? b++ : a++;
        s->items_to[i] = s->items[from_at];
        s->keys_to[i] = s->keys[from_at];
    }
    memcpy(s->items + from, s->items_to + from, (to - from) * sizeof *s->items);
    memcpy(s->keys + from, s->keys_to + from, (to - from) * sizeof *s->keys);
    return QN_T_OK;
}

enum qn_tflow qn_tval_sort(struct qn_trun *run, struct qn_tval *items, struct qn_tval *keys,
                           size_t n, bool reverse)
{
    struct sorter s = {.run = run, .items = items, .keys = keys, .reverse = reverse};
    QN_T_TRY(qn_trun_alloc(run, n * sizeof *items, &s.items_to));
    QN_T_TRY(qn_trun_alloc(run, n * sizeof *keys, &s.keys_to));
    return sort_part(&s, 0, n);
}
