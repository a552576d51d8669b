/* Methods of lists and tuples. */
#include "jinja/compare.h"
#include "jinja/iter.h"
#include "jinja/methods.h"
#include "jinja/number.h"
#include "jinja/run.h"

#define ARGS                                                                                       \
    struct qn_trun *run, const struct qn_tval *self, const struct qn_targs *args,                  \
        struct qn_tval *out

static enum qn_tflow list_count(ARGS)
{
    struct qn_tval v, item;
    struct qn_tcursor c;
    int64_t count = 0;
    bool more = false, same = false;
    QN_T_TRY(qn_trun_args(run, args, "/value", 1, &v));
    QN_T_TRY(qn_titer_begin(run, self, &c));
    QN_T_TRY(qn_titer_next(run, &c, &item, &more));
    while (more) {
        QN_T_TRY(qn_tval_same_or_equal(run, &item, &v, &same));
        count += same;
        QN_T_TRY(qn_titer_next(run, &c, &item, &more));
    }
    *out = qn_tval_int(count);
    return QN_T_OK;
}

static int64_t bound(int64_t at, size_t n)
{
    int64_t len = (int64_t)n;
    return at < -len ? 0 : at < 0 ? at + len : at > len ? len : at;
}

static enum qn_tflow list_index(ARGS)
{
    struct qn_tval v[3];
    struct qn_tlist *list = NULL;
    int64_t start, stop;
    bool same = false;
    QN_T_TRY(qn_trun_args(run, args, "/value /start /stop", 1, v));
    QN_T_TRY(qn_titer_list(run, self, &list));
    QN_T_TRY(qn_tval_index_or(run, &v[1], 0, &start));
    QN_T_TRY(qn_tval_index_or(run, &v[2], INT64_MAX, &stop));
    stop = bound(stop, list->n);
    for (int64_t i = bound(start, list->n); i < stop && !same; i++) {
        QN_T_TRY(qn_tval_same_or_equal(run, &list->items[i], &v[0], &same));
        *out = qn_tval_int(i);
    }
    return same ? QN_T_OK : qn_trun_fail(run, "the value is not in the list");
}

static enum qn_tflow list_copy(ARGS)
{
    struct qn_tlist *list = NULL;
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    QN_T_TRY(qn_titer_list(run, self, &list));
    *out = qn_tval_list(list);
    return QN_T_OK;
}

static enum qn_tflow list_pop(ARGS)
{
    struct qn_tval v;
    struct qn_tlist *list = self->list;
    int64_t at;
    QN_T_TRY(qn_trun_args(run, args, "/index", 0, &v));
    at = -1;
    if (v.type != QN_T_MISSING)
        QN_T_TRY(qn_tval_index(run, &v, &at));
    at = at < 0 ? at + (int64_t)list->n : at;
    if (at < 0 || at >= (int64_t)list->n)
        return qn_trun_fail(run, list->n ? "pop index out of range" : "pop from empty list");
    *out = list->items[at];
    list->n--;
    memmove(list->items + at, list->items + at + 1, (list->n - (size_t)at) * sizeof *list->items);
    return qn_trun_copied(run, list->n * sizeof *list->items);
}

static enum qn_tflow list_clear(ARGS)
{
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    self->list->n = 0;
    *out = qn_tval_none();
    return QN_T_OK;
}

/* The sandbox of Transformers does not allow the methods below, because they modify a list. Some
 * models' templates need them, and a rendering only modifies values of its own, so they work here
 * as in Python. */

static enum qn_tflow list_append(ARGS)
{
    struct qn_tval v;
    QN_T_TRY(qn_trun_args(run, args, "/object", 1, &v));
    *out = qn_tval_none();
    return qn_tlist_push(run, self->list, &v);
}

static enum qn_tflow list_extend(ARGS)
{
    struct qn_tval v;
    struct qn_tlist *more = NULL;
    QN_T_TRY(qn_trun_args(run, args, "/iterable", 1, &v));
    QN_T_TRY(qn_titer_list(run, &v, &more));
    for (size_t i = 0; i < more->n; i++)
        QN_T_TRY(qn_tlist_push(run, self->list, &more->items[i]));
    *out = qn_tval_none();
    return QN_T_OK;
}

static enum qn_tflow list_insert(ARGS)
{
    struct qn_tval v[2];
    struct qn_tlist *list = self->list;
    int64_t at = 0;
    QN_T_TRY(qn_trun_args(run, args, "/index /object", 2, v));
    QN_T_TRY(qn_tval_index(run, &v[0], &at));
    at = bound(at, list->n);
    QN_T_TRY(qn_tlist_push(run, list, &v[1]));
    memmove(list->items + at + 1, list->items + at,
            (list->n - 1 - (size_t)at) * sizeof *list->items);
    list->items[at] = v[1];
    *out = qn_tval_none();
    return qn_trun_copied(run, list->n * sizeof *list->items);
}

static enum qn_tflow list_remove(ARGS)
{
    struct qn_tval at, first = {0};
    struct qn_targs index = {.v = &at, .n = 1};
    QN_T_TRY(list_index(run, self, args, &at));
    QN_T_TRY(list_pop(run, self, &index, &first));
    *out = qn_tval_none();
    return QN_T_OK;
}

static enum qn_tflow list_reverse(ARGS)
{
    struct qn_tlist *list = self->list;
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    for (size_t i = 0; i < list->n / 2; i++) {
        struct qn_tval v = list->items[i];
        list->items[i] = list->items[list->n - 1 - i];
        list->items[list->n - 1 - i] = v;
    }
    *out = qn_tval_none();
    return qn_trun_copied(run, list->n * sizeof *list->items);
}

static enum qn_tflow list_sort(ARGS)
{
    struct qn_tval reverse, *keys = NULL;
    struct qn_targs named = {.named = args->named};
    bool turned = false;
    QN_T_TRY(qn_trun_args(run, &named, "reverse", 0, &reverse));
    QN_T_TRY(qn_tval_truth(run, &reverse, &turned));
    if (args->n > 0)
        return qn_trun_fail(run, "sort() takes no positional arguments");
    QN_T_TRY(qn_trun_alloc(run, self->list->n * sizeof *keys, &keys));
    memcpy(keys, self->list->items, self->list->n * sizeof *keys);
    *out = qn_tval_none();
    return qn_tval_sort(run, self->list->items, keys, self->list->n, turned);
}

const struct qn_tmethod qn_tmethods_list[] = {
    {"count", list_count},     {"index", list_index},   {"copy", list_copy},
    {"pop", list_pop},         {"clear", list_clear},   {"append", list_append},
    {"extend", list_extend},   {"insert", list_insert}, {"remove", list_remove},
    {"reverse", list_reverse}, {"sort", list_sort},     {NULL, NULL},
};

const struct qn_tmethod qn_tmethods_tuple[] = {
    {"count", list_count}, {"index", list_index}, {NULL, NULL}};
