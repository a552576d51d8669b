/* Filters that compare items: sorting, grouping, minimum and maximum. */
#include "jinja/compare.h"
#include "jinja/filters.h"
#include "jinja/iter.h"
#include "jinja/number.h"
#include "jinja/run.h"
#include "jinja/text.h"

#define ARGS                                                                                       \
    struct qn_trun *run, const struct qn_tval *self, const struct qn_targs *args,                  \
        struct qn_tval *out

/* The sort key of an item: the value at a path, without case if fold is true. */
static enum qn_tflow key_of(struct qn_trun *run, const struct qn_tpath *path,
                            const struct qn_tval *item, const struct qn_tval *fallback, bool fold,
                            struct qn_tval *out)
{
    struct qn_tval v;
    QN_T_TRY(qn_tpath_get(run, path, item, fallback, &v));
    *out = v;
    return fold ? qn_tval_fold(run, &v, out) : QN_T_OK;
}

static enum qn_tflow keys_of(struct qn_trun *run, const struct qn_tlist *list,
                             const struct qn_tpath *path, const struct qn_tval *fallback, bool fold,
                             struct qn_tval **out)
{
    QN_T_TRY(qn_trun_alloc(run, list->n * sizeof **out, out));
    for (size_t i = 0; i < list->n; i++)
        QN_T_TRY(key_of(run, path, &list->items[i], fallback, fold, &(*out)[i]));
    return QN_T_OK;
}

/* For several attributes the key is a list, which is compared element by element. */
static enum qn_tflow sort_keys(struct qn_trun *run, const struct qn_tlist *list,
                               const struct qn_tval *attribute, bool fold, struct qn_tval **out)
{
    struct qn_tval comma = qn_tval_cstr(","), *part = NULL;
    struct qn_tlist *names = NULL;
    struct qn_tpath path;
    QN_T_TRY(qn_tlist_new(run, 1, &names));
    if (attribute->type == QN_T_STRING)
        QN_T_TRY(qn_ttext_split(run, attribute, &comma, -1, false, &names));
    else
        QN_T_TRY(qn_tlist_push(run, names, attribute));
    QN_T_TRY(qn_trun_alloc(run, list->n * sizeof **out, out));
    for (size_t k = 0; k < names->n; k++) {
        QN_T_TRY(qn_tpath_new(run, &names->items[k], &path));
        QN_T_TRY(keys_of(run, list, &path, NULL, fold, &part));
        for (size_t i = 0; i < list->n; i++) {
            struct qn_tlist *key = k ? (*out)[i].list : NULL;
            if (!key)
                QN_T_TRY(qn_tlist_new(run, names->n, &key));
            QN_T_TRY(qn_tlist_push(run, key, &part[i]));
            (*out)[i] = qn_tval_list(key);
        }
    }
    return QN_T_OK;
}

/* Reads the argument `reverse` of sorted(): a boolean or a number. */
static enum qn_tflow reverse_of(struct qn_trun *run, const struct qn_tval *v, bool *out)
{
    int64_t number = 0;
    if (v->type != QN_T_MISSING)
        QN_T_TRY(qn_tval_index(run, v, &number));
    *out = number != 0;
    return QN_T_OK;
}

static enum qn_tflow do_sort(ARGS)
{
    struct qn_tval v[3], *keys = NULL;
    struct qn_tlist *list = NULL;
    bool reverse = false, cased = false;
    QN_T_TRY(qn_trun_args(run, args, "reverse case_sensitive attribute", 0, v));
    QN_T_TRY(reverse_of(run, &v[0], &reverse));
    QN_T_TRY(qn_tval_truth(run, &v[1], &cased));
    QN_T_TRY(qn_titer_list(run, self, &list));
    QN_T_TRY(sort_keys(run, list, &v[2], !cased, &keys));
    QN_T_TRY(qn_tval_sort(run, list->items, keys, list->n, reverse));
    *out = qn_tval_list(list);
    return QN_T_OK;
}

static enum qn_tflow do_dictsort(ARGS)
{
    struct qn_tval v[3], *keys = NULL, items = {.type = QN_T_VIEW, .kind = QN_T_ITEMS};
    struct qn_tlist *list = NULL;
    bool reverse = false, cased = false;
    QN_T_TRY(qn_trun_args(run, args, "case_sensitive by reverse", 0, v));
    QN_T_TRY(qn_tval_truth(run, &v[0], &cased));
    QN_T_TRY(reverse_of(run, &v[2], &reverse));
    bool by_value = qn_tval_str_eq(&v[1], "value");
    if (v[1].type != QN_T_MISSING && !by_value && !qn_tval_str_eq(&v[1], "key"))
        return qn_trun_fail(run, "You can only sort by either \"key\" or \"value\"");
    if (self->type == QN_T_UNDEFINED)
        return qn_trun_undefined(run, self);
    if (self->type != QN_T_DICT)
        return qn_trun_fail(run, "'%s' object has no attribute 'items'", qn_tval_class(self));
    items.dict = self->dict;
    QN_T_TRY(qn_titer_list(run, &items, &list));
    QN_T_TRY(qn_trun_alloc(run, list->n * sizeof *keys, &keys));
    for (size_t i = 0; i < list->n; i++) {
        keys[i] = list->items[i].list->items[by_value];
        if (!cased)
            QN_T_TRY(qn_tval_fold(run, &keys[i], &keys[i]));
    }
    QN_T_TRY(qn_tval_sort(run, list->items, keys, list->n, reverse));
    *out = qn_tval_list(list);
    return QN_T_OK;
}

struct unique {
    struct qn_tpath path;
    struct qn_tdict *seen;
    bool fold;
};

static enum qn_tflow next_unique(struct qn_trun *run, struct qn_titer *it, struct qn_tval *out,
                                 bool *more)
{
    struct unique *u = it->state;
    struct qn_tval key, *found = NULL;
    if (!it->started)
        QN_T_TRY(qn_titer_begin(run, &it->source, &it->cursor));
    it->started = true;
    do {
        QN_T_TRY(qn_titer_next(run, &it->cursor, out, more));
        if (!*more)
            return QN_T_OK;
        QN_T_TRY(key_of(run, &u->path, out, NULL, u->fold, &key));
        QN_T_TRY(qn_tdict_find(run, u->seen, &key, &found));
    } while (found);
    return qn_tdict_set(run, u->seen, &key, &key);
}

static enum qn_tflow do_unique(ARGS)
{
    struct qn_tval v[2];
    struct qn_titer *it = NULL;
    struct unique *u = NULL;
    bool cased = false;
    QN_T_TRY(qn_trun_args(run, args, "case_sensitive attribute", 0, v));
    QN_T_TRY(qn_tval_truth(run, &v[0], &cased));
    QN_T_TRY(qn_trun_alloc(run, sizeof *u, &u));
    QN_T_TRY(qn_tdict_new(run, 0, &u->seen));
    QN_T_TRY(qn_tpath_new(run, &v[1], &u->path));
    u->fold = !cased;
    QN_T_TRY(qn_titer_new(run, &it, out));
    it->next = next_unique;
    it->name = "generator";
    it->source = *self;
    it->state = u;
    return QN_T_OK;
}

static enum qn_tflow extreme(struct qn_trun *run, const struct qn_tval *self,
                             const struct qn_targs *args, enum qn_top op, struct qn_tval *out)
{
    struct qn_tval v[2], item, key, best;
    struct qn_tpath path;
    struct qn_tcursor c;
    bool cased = false, more = false, better = true;
    QN_T_TRY(qn_trun_args(run, args, "case_sensitive attribute", 0, v));
    QN_T_TRY(qn_tval_truth(run, &v[0], &cased));
    QN_T_TRY(qn_titer_begin(run, self, &c));
    QN_T_TRY(qn_titer_next(run, &c, &item, &more));
    QN_T_TRY(qn_tpath_new(run, &v[1], &path));
    *out = qn_tval_hint("No aggregated item, sequence was empty.");
    best = qn_tval_of(QN_T_MISSING);
    while (more) {
        QN_T_TRY(key_of(run, &path, &item, NULL, !cased, &key));
        if (best.type != QN_T_MISSING)
            QN_T_TRY(qn_tval_order(run, op, &key, &best, &better));
        if (better) {
            *out = item;
            best = key;
        }
        QN_T_TRY(qn_titer_next(run, &c, &item, &more));
    }
    return QN_T_OK;
}

static enum qn_tflow do_min(ARGS)
{
    return extreme(run, self, args, QN_OP_LT, out);
}

static enum qn_tflow do_max(ARGS)
{
    return extreme(run, self, args, QN_OP_GT, out);
}

static enum qn_tflow do_groupby(ARGS)
{
    struct qn_tval v[3], *keys = NULL, group;
    struct qn_tlist *list = NULL, *groups = NULL, *members = NULL;
    struct qn_tpath path;
    bool cased = false;
    QN_T_TRY(qn_trun_args(run, args, "attribute default case_sensitive", 1, v));
    const struct qn_tval *fallback =
        qn_tval_is(&v[1], QN_T_BIT(QN_T_MISSING) | QN_T_BIT(QN_T_NONE)) ? NULL : &v[1];
    QN_T_TRY(qn_tval_truth(run, &v[2], &cased));
    QN_T_TRY(qn_tpath_new(run, &v[0], &path));
    QN_T_TRY(qn_titer_list(run, self, &list));
    QN_T_TRY(keys_of(run, list, &path, fallback, !cased, &keys));
    QN_T_TRY(qn_tval_sort(run, list->items, keys, list->n, false));
    QN_T_TRY(qn_tlist_new(run, 0, &groups));
    for (size_t i = 0; i < list->n; i++) {
        bool same = false;
        if (i > 0)
            QN_T_TRY(qn_tval_same_or_equal(run, &keys[i - 1], &keys[i], &same));
        if (!same) {
            struct qn_tval key = keys[i], items;
            if (!cased)
                QN_T_TRY(qn_tpath_get(run, &path, &list->items[i], fallback, &key));
            QN_T_TRY(qn_tlist_new(run, 0, &members));
            items = qn_tval_list(members);
            QN_T_TRY(qn_tval_pair(run, &key, &items, &group));
            group.kind = QN_T_GROUP;
            QN_T_TRY(qn_tlist_push(run, groups, &group));
        }
        QN_T_TRY(qn_tlist_push(run, members, &list->items[i]));
    }
    *out = qn_tval_list(groups);
    return QN_T_OK;
}

const struct qn_tfilter qn_tfilters_order[] = {
    {"sort", do_sort}, {"dictsort", do_dictsort}, {"unique", do_unique}, {"min", do_min},
    {"max", do_max},   {"groupby", do_groupby},   {NULL, NULL},
};
