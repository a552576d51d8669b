/* See value.h: truth, length, and construction of lists and dictionaries. */
#include "jinja/value.h"

#include "jinja/bigint.h"
#include "jinja/compare.h"
#include "jinja/loop.h"
#include "jinja/run.h"
#include "jinja/template.h"
#include "jinja/text.h"

#include <math.h>

enum { INDEX_FROM = 9 }; /* smaller dictionaries are searched linearly */

bool qn_tval_str_eq(const struct qn_tval *v, const char *s)
{
    return v->type == QN_T_STRING && v->n == strlen(s) && memcmp(v->s, s, v->n) == 0;
}

const char *qn_tval_class(const struct qn_tval *v)
{
    static const char *const names[QN_T_TYPES] = {
        [QN_T_MISSING] = "missing",   [QN_T_UNDEFINED] = "Undefined",
        [QN_T_NONE] = "NoneType",     [QN_T_BOOL] = "bool",
        [QN_T_INT] = "int",           [QN_T_BIG] = "int",
        [QN_T_FLOAT] = "float",       [QN_T_STRING] = "str",
        [QN_T_LIST] = "list",         [QN_T_TUPLE] = "tuple",
        [QN_T_DICT] = "dict",         [QN_T_RANGE] = "range",
        [QN_T_ITER] = "generator",    [QN_T_NAMESPACE] = "Namespace",
        [QN_T_LOOP] = "LoopContext",  [QN_T_MACRO] = "Macro",
        [QN_T_FUNCTION] = "function", [QN_T_CYCLER] = "Cycler",
        [QN_T_JOINER] = "Joiner",
    };
    if (v->type == QN_T_VIEW)
        return v->kind == QN_T_KEYS     ? "dict_keys"
               : v->kind == QN_T_VALUES ? "dict_values"
                                        : "dict_items";
    if (v->type == QN_T_STRING && v->kind == QN_T_MARKUP)
        return "Markup";
    return names[v->type];
}

bool qn_tval_has_len(const struct qn_tval *v)
{
    return qn_tval_is(v, QN_T_LISTS | QN_T_BIT(QN_T_STRING) | QN_T_BIT(QN_T_UNDEFINED) |
                             QN_T_BIT(QN_T_DICT) | QN_T_BIT(QN_T_VIEW) | QN_T_BIT(QN_T_RANGE) |
                             QN_T_BIT(QN_T_LOOP));
}

enum qn_tflow qn_tval_len(struct qn_trun *run, const struct qn_tval *v, size_t *out)
{
    switch (v->type) {
    case QN_T_STRING:
        *out = qn_ttext_len(v->s, v->n);
        return qn_trun_copied(run, v->n);
    case QN_T_LIST:
    case QN_T_TUPLE:
        *out = v->list->n;
        return QN_T_OK;
    case QN_T_DICT:
    case QN_T_VIEW:
        *out = v->dict->n;
        return QN_T_OK;
    case QN_T_RANGE:
        *out = v->range->n;
        return QN_T_OK;
    case QN_T_UNDEFINED:
        *out = 0;
        return QN_T_OK;
    case QN_T_LOOP:
        return qn_tloop_length(run, v->loop, out);
    default:
        return qn_trun_fail(run, "object of type '%s' has no len()", qn_tval_class(v));
    }
}

enum qn_tflow qn_tval_truth(struct qn_trun *run, const struct qn_tval *v, bool *out)
{
    size_t n = 0;
    switch (v->type) {
    case QN_T_MISSING:
    case QN_T_UNDEFINED:
    case QN_T_NONE:
        *out = false;
        return QN_T_OK;
    case QN_T_BOOL:
        *out = v->b;
        return QN_T_OK;
    case QN_T_INT:
        *out = v->i != 0;
        return QN_T_OK;
    case QN_T_FLOAT:
        *out = v->f != 0;
        return QN_T_OK;
    case QN_T_STRING:
        *out = v->n > 0;
        return QN_T_OK;
    default:
        if (qn_tval_has_len(v))
            QN_T_TRY(qn_tval_len(run, v, &n));
        *out = n > 0 || !qn_tval_has_len(v);
        return QN_T_OK;
    }
}

enum qn_tflow qn_tlist_new(struct qn_trun *run, size_t cap, struct qn_tlist **out)
{
    QN_T_TRY(qn_trun_alloc(run, sizeof **out, out));
    (*out)->cap = cap;
    return cap ? qn_trun_alloc(run, cap * sizeof *(*out)->items, &(*out)->items) : QN_T_OK;
}

enum qn_tflow qn_tlist_push(struct qn_trun *run, struct qn_tlist *list, const struct qn_tval *v)
{
    if (list->n == list->cap) {
        struct qn_tval *items = NULL;
        size_t cap = list->cap ? list->cap * 2 : 4;
        QN_T_TRY(qn_trun_alloc(run, cap * sizeof *items, &items));
        if (list->n > 0)
            memcpy(items, list->items, list->n * sizeof *items);
        list->items = items;
        list->cap = cap;
    }
    list->items[list->n++] = *v;
    return QN_T_OK;
}

enum qn_tflow qn_tval_pair(struct qn_trun *run, const struct qn_tval *a, const struct qn_tval *b,
                           struct qn_tval *out)
{
    struct qn_tlist *list = NULL;
    QN_T_TRY(qn_tlist_new(run, 2, &list));
    list->items[0] = *a;
    list->items[1] = *b;
    list->n = 2;
    *out = qn_tval_tuple(list);
    return QN_T_OK;
}

enum qn_tflow qn_tdict_new(struct qn_trun *run, size_t cap, struct qn_tdict **out)
{
    QN_T_TRY(qn_trun_alloc(run, sizeof **out, out));
    (*out)->cap = cap;
    return cap ? qn_trun_alloc(run, cap * sizeof *(*out)->members, &(*out)->members) : QN_T_OK;
}

static void index_member(struct qn_tdict *dict, uint32_t number)
{
    size_t mask = dict->index_n - 1, at = (size_t)dict->members[number].hash & mask;
    while (dict->index[at])
        at = (at + 1) & mask;
    dict->index[at] = number + 1;
}

static enum qn_tflow find_hashed(struct qn_trun *run, const struct qn_tdict *dict,
                                 const struct qn_tval *key, uint64_t hash, struct qn_tval **out)
{
    bool same = false;
    *out = NULL;
    if (!dict->index) {
        for (size_t i = 0; i < dict->n && !*out; i++) {
            struct qn_tmember *m = &dict->members[i];
            if (m->hash == hash)
                QN_T_TRY(qn_tval_same_or_equal(run, &m->key, key, &same));
            if (m->hash == hash && same)
                *out = &m->val;
        }
        return QN_T_OK;
    }
    size_t mask = dict->index_n - 1;
    for (size_t at = (size_t)hash & mask; dict->index[at] && !*out; at = (at + 1) & mask) {
        struct qn_tmember *m = &dict->members[dict->index[at] - 1];
        QN_T_TRY(qn_trun_charge(run, 1));
        if (m->hash == hash)
            QN_T_TRY(qn_tval_same_or_equal(run, &m->key, key, &same));
        if (m->hash == hash && same)
            *out = &m->val;
    }
    return QN_T_OK;
}

enum qn_tflow qn_tdict_find(struct qn_trun *run, const struct qn_tdict *dict,
                            const struct qn_tval *key, struct qn_tval **out)
{
    uint64_t hash = 0;
    QN_T_TRY(qn_tval_hash(run, key, &hash));
    return find_hashed(run, dict, key, hash, out);
}

struct qn_tval *qn_tdict_get(struct qn_trun *run, const struct qn_tdict *dict, const char *key)
{
    struct qn_tval name = qn_tval_cstr(key), *found = NULL;
    return qn_tdict_find(run, dict, &name, &found) == QN_T_OK ? found : NULL;
}

static enum qn_tflow grow_dict(struct qn_trun *run, struct qn_tdict *dict)
{
    struct qn_tmember *members = NULL;
    size_t cap = dict->cap ? dict->cap * 2 : 4;
    QN_T_TRY(qn_trun_alloc(run, cap * sizeof *members, &members));
    if (dict->n > 0)
        memcpy(members, dict->members, dict->n * sizeof *members);
    dict->members = members;
    dict->cap = cap;
    return QN_T_OK;
}

static enum qn_tflow grow_index(struct qn_trun *run, struct qn_tdict *dict)
{
    size_t n = dict->index_n ? dict->index_n * 2 : 4 * (size_t)INDEX_FROM;
    size_t power = 32;
    while (power < n)
        power *= 2;
    QN_T_TRY(qn_trun_alloc(run, power * sizeof *dict->index, &dict->index));
    dict->index_n = power;
    for (uint32_t i = 0; i < dict->n; i++)
        index_member(dict, i);
    return QN_T_OK;
}

enum qn_tflow qn_tdict_set(struct qn_trun *run, struct qn_tdict *dict, const struct qn_tval *key,
                           const struct qn_tval *v)
{
    uint64_t hash = 0;
    struct qn_tval *found = NULL;
    QN_T_TRY(qn_trun_charge(run, 2));
    QN_T_TRY(qn_tval_hash(run, key, &hash));
    QN_T_TRY(find_hashed(run, dict, key, hash, &found));
    if (found) {
        *found = *v;
        return QN_T_OK;
    }
    if (dict->n == dict->cap)
        QN_T_TRY(grow_dict(run, dict));
    dict->members[dict->n++] = (struct qn_tmember){.key = *key, .val = *v, .hash = hash};
    if (dict->n >= INDEX_FROM && dict->n * 2 > dict->index_n)
        return grow_index(run, dict);
    if (dict->index)
        index_member(dict, (uint32_t)dict->n - 1);
    return QN_T_OK;
}

enum qn_tflow qn_tdict_copy(struct qn_trun *run, const struct qn_tdict *from, struct qn_tdict **out)
{
    QN_T_TRY(qn_tdict_new(run, from->n, out));
    for (size_t i = 0; i < from->n; i++)
        QN_T_TRY(qn_tdict_set(run, *out, &from->members[i].key, &from->members[i].val));
    return QN_T_OK;
}

enum qn_tflow qn_tdict_remove(struct qn_trun *run, struct qn_tdict *dict, const struct qn_tval *key)
{
    struct qn_tval *found = NULL;
    QN_T_TRY(qn_tdict_find(run, dict, key, &found));
    if (!found)
        return QN_T_OK;
    size_t at =
        (size_t)((struct qn_tmember *)(void *)((char *)found - offsetof(struct qn_tmember, val)) -
                 dict->members);
    dict->n--;
    memmove(dict->members + at, dict->members + at + 1, (dict->n - at) * sizeof *dict->members);
    if (dict->index) {
        memset(dict->index, 0, dict->index_n * sizeof *dict->index);
        for (uint32_t i = 0; i < dict->n; i++)
            index_member(dict, i);
    }
    return qn_trun_charge(run, 1 + dict->n / 4);
}

/* JSON writers use exponents for numbers from this size on, and a number with an exponent is a
 * float. */
#define JSON_INTEGER_END 1e21

static enum qn_tflow from_number(struct qn_trun *run, double f, struct qn_tval *out)
{
    if (!isfinite(f) || f != floor(f) || fabs(f) >= JSON_INTEGER_END) {
        *out = qn_tval_float(f);
        return QN_T_OK;
    }
    return qn_tbig_from_double(run, f, out);
}

enum qn_tflow qn_tval_from_json(struct qn_trun *run, const struct qn_jref *r, struct qn_tval *out)
{
    struct qn_jref it;
    struct qn_tval item;
    QN_T_TRY(qn_trun_charge(run, 1));
    switch (qn_json_type(r)) {
    case QN_JSON_BOOL:
        *out = qn_tval_bool(qn_json_raw_bool(r));
        return QN_T_OK;
    case QN_JSON_NUMBER:
        return from_number(run, qn_json_raw_f64(r), out);
    case QN_JSON_STRING:
        *out = qn_tval_cstr(qn_json_raw_str(r));
        return QN_T_OK;
    case QN_JSON_ARRAY: {
        struct qn_tlist *list = NULL;
        QN_T_TRY(qn_tlist_new(run, qn_json_count(r), &list));
        for (bool more = qn_json_first(r, &it); more; more = qn_json_next(&it)) {
            QN_T_TRY(qn_tval_from_json(run, &it, &item));
            QN_T_TRY(qn_tlist_push(run, list, &item));
        }
        *out = qn_tval_list(list);
        return QN_T_OK;
    }
    case QN_JSON_OBJECT: {
        struct qn_tdict *dict = NULL;
        QN_T_TRY(qn_tdict_new(run, qn_json_count(r), &dict));
        for (bool more = qn_json_first(r, &it); more; more = qn_json_next(&it)) {
            struct qn_tval key = qn_tval_cstr(it.key);
            QN_T_TRY(qn_tval_from_json(run, &it, &item));
            QN_T_TRY(qn_tdict_set(run, dict, &key, &item));
        }
        *out = qn_tval_dict(dict);
        return QN_T_OK;
    }
    default:
        *out = qn_tval_none();
        return QN_T_OK;
    }
}
