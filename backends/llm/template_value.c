/* See template_value.h: truth, equality, order, and the building of lists and dictionaries. */
#include "llm/template_value.h"

#include "llm/template.h"
#include "llm/template_print.h"
#include "llm/template_run.h"
#include "llm/template_text.h"

#include <math.h>
#include <string.h>

struct qn_tval qn_tval_number(double num)
{
    return isfinite(num) && num == floor(num) ? qn_tval_int(num) : qn_tval_float(num);
}

bool qn_tval_str_eq(const struct qn_tval *v, const char *s)
{
    return v->type == QN_T_STRING && v->n == strlen(s) && memcmp(v->s, s, v->n) == 0;
}

const char *qn_ttype_name(enum qn_ttype type)
{
    static const char *const names[QN_T_TYPES] = {
        [QN_T_ABSENT] = "the first item of an empty list",
        [QN_T_UNDEFINED] = "an undefined value",
        [QN_T_NULL] = "none",
        [QN_T_BOOL] = "a boolean",
        [QN_T_INT] = "an integer",
        [QN_T_FLOAT] = "a float",
        [QN_T_STRING] = "a string",
        [QN_T_LIST] = "a list",
        [QN_T_TUPLE] = "a tuple",
        [QN_T_DICT] = "a dictionary",
        [QN_T_KWARGS] = "keyword arguments",
        [QN_T_NAMESPACE] = "a namespace",
        [QN_T_FUNCTION] = "a function",
    };
    return names[type];
}

bool qn_tval_js_truth(const struct qn_tval *v)
{
    switch (v->type) {
    case QN_T_BOOL:
        return v->b;
    case QN_T_INT:
    case QN_T_FLOAT:
        return v->num != 0 && !isnan(v->num);
    case QN_T_STRING:
        return v->n > 0;
    default:
        return v->type > QN_T_NULL;
    }
}

bool qn_tval_truth(const struct qn_tval *v)
{
    if (qn_tval_is(v, QN_T_LISTS))
        return v->list->n > 0;
    if (qn_tval_is(v, QN_T_DICTS))
        return v->dict->n > 0;
    return qn_tval_js_truth(v);
}

/* What JavaScript's == distinguishes. */
enum family { NOTHING, TRUTH, NUMBER, TEXT, REFERENCE };

static enum family family_of(const struct qn_tval *v)
{
    static const enum family families[QN_T_TYPES] = {
        [QN_T_ABSENT] = NOTHING,     [QN_T_UNDEFINED] = NOTHING,   [QN_T_NULL] = NOTHING,
        [QN_T_BOOL] = TRUTH,         [QN_T_INT] = NUMBER,          [QN_T_FLOAT] = NUMBER,
        [QN_T_STRING] = TEXT,        [QN_T_LIST] = REFERENCE,      [QN_T_TUPLE] = REFERENCE,
        [QN_T_DICT] = REFERENCE,     [QN_T_NAMESPACE] = REFERENCE, [QN_T_KWARGS] = REFERENCE,
        [QN_T_FUNCTION] = REFERENCE,
    };
    return families[v->type];
}

static bool same_function(const struct qn_tfunc *a, const struct qn_tfunc *b)
{
    return a == b ||
           (a->call == b->call && a->node == b->node && qn_tval_strict_eq(&a->self, &b->self));
}

bool qn_tval_strict_eq(const struct qn_tval *a, const struct qn_tval *b)
{
    enum family family = family_of(a);
    if (family != family_of(b))
        return false;
    switch (family) {
    case NOTHING:
        return true;
    case TRUTH:
        return a->b == b->b;
    case NUMBER:
        return a->num == b->num;
    case TEXT:
        return a->n == b->n && memcmp(a->s, b->s, a->n) == 0;
    case REFERENCE:
        break;
    }
    if (a->type == QN_T_FUNCTION || b->type == QN_T_FUNCTION)
        return a->type == b->type && same_function(a->fn, b->fn);
    bool lists = qn_tval_is(a, QN_T_LISTS);
    if (lists != qn_tval_is(b, QN_T_LISTS))
        return false;
    return lists ? a->list == b->list : a->dict == b->dict;
}

enum qn_tflow qn_tval_charge_search(struct qn_trun *run, const struct qn_tval *v, size_t count)
{
    size_t bytes = 16 + v->n; /* of each candidate, at most */
    return count > SIZE_MAX / bytes ? qn_trun_charge(run, SIZE_MAX)
                                    : qn_trun_copied(run, count * bytes);
}

static double to_number(const struct qn_tval *v)
{
    return v->type == QN_T_STRING ? qn_text_to_number(v->s, v->n)
           : v->type == QN_T_BOOL ? (double)v->b
                                  : v->num;
}

enum qn_tflow qn_tval_loose_eq(struct qn_trun *run, const struct qn_tval *a,
                               const struct qn_tval *b, bool *out)
{
    enum family fa = family_of(a), fb = family_of(b);
    QN_T_TRY(qn_trun_walked(run, fa == fb ? a->n / 8 : a->n + b->n));
    if (fa == fb || fa == NOTHING || fb == NOTHING) {
        *out = qn_tval_strict_eq(a, b);
        return QN_T_OK;
    }
    if (fa != REFERENCE && fb != REFERENCE) {
        *out = to_number(a) == to_number(b);
        return QN_T_OK;
    }
    const struct qn_tval *reference = fa == REFERENCE ? a : b;
    const struct qn_tval *other = fa == REFERENCE ? b : a;
    struct qn_tval text;
    size_t mark = run->out.len;
    QN_T_TRY(qn_tval_put_raw(run, reference));
    QN_T_TRY(qn_trun_take(run, mark, &text));
    *out = other->type == QN_T_STRING ? qn_tval_strict_eq(&text, other)
                                      : to_number(&text) == to_number(other);
    return QN_T_OK;
}

static enum qn_tflow compare_text(struct qn_trun *run, const struct qn_tval *a,
                                  const struct qn_tval *b, bool case_sensitive, int *out)
{
    QN_T_TRY(qn_trun_walked(run, a->n + b->n));
    if (case_sensitive) {
        *out = qn_text_compare(a->s, a->n, b->s, b->n);
        return QN_T_OK;
    }
    struct qn_buf la, lb;
    qn_buf_init(&la, QN_TEMPLATE_OUTPUT_MAX * (size_t)2);
    qn_buf_init(&lb, QN_TEMPLATE_OUTPUT_MAX * (size_t)2);
    qn_text_lower(a->s, a->n, &la);
    qn_text_lower(b->s, b->n, &lb);
    *out = qn_text_compare(qn_buf_cstr(&la), la.len, qn_buf_cstr(&lb), lb.len);
    qn_buf_deinit(&la);
    qn_buf_deinit(&lb);
    return QN_T_OK;
}

enum qn_tflow qn_tval_compare(struct qn_trun *run, const struct qn_tval *a, const struct qn_tval *b,
                              bool case_sensitive, int *out)
{
    const unsigned numeric = QN_T_NUMBERS | QN_T_BIT(QN_T_BOOL);
    QN_T_TRY(qn_trun_charge(run, 1));
    if (qn_tval_is(a, numeric) && qn_tval_is(b, numeric)) {
        double x = to_number(a), y = to_number(b);
        *out = x < y ? -1 : x > y ? 1 : 0;
        return QN_T_OK;
    }
    if (a->type != b->type)
        return qn_trun_fail(run, "%s and %s have no order", qn_ttype_name(a->type),
                            qn_ttype_name(b->type));
    if (qn_tval_is(a, QN_T_NOTHING)) {
        *out = 0;
        return QN_T_OK;
    }
    if (a->type != QN_T_STRING)
        return qn_trun_fail(run, "%s has no order", qn_ttype_name(a->type));
    return compare_text(run, a, b, case_sensitive, out);
}

enum qn_tflow qn_tlist_new(struct qn_trun *run, size_t cap, struct qn_tlist **out)
{
    QN_T_TRY(qn_trun_alloc(run, sizeof(struct qn_tlist), out));
    if (cap > 0)
        QN_T_TRY(qn_trun_alloc(run, cap * sizeof(struct qn_tval), &(*out)->items));
    (*out)->cap = cap;
    return QN_T_OK;
}

enum qn_tflow qn_tlist_push(struct qn_trun *run, struct qn_tlist *list, const struct qn_tval *v)
{
    if (list->n == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 8;
        struct qn_tval *items;
        QN_T_TRY(qn_trun_alloc(run, cap * sizeof(*items), &items));
        if (list->n > 0)
            memcpy(items, list->items, list->n * sizeof(*items));
        list->items = items;
        list->cap = cap;
    }
    list->items[list->n++] = *v;
    return QN_T_OK;
}

enum qn_tflow qn_tdict_new(struct qn_trun *run, size_t cap, struct qn_tdict **out)
{
    QN_T_TRY(qn_trun_alloc(run, sizeof(struct qn_tdict), out));
    if (cap > 0)
        QN_T_TRY(qn_trun_alloc(run, cap * sizeof(struct qn_tmember), &(*out)->members));
    (*out)->cap = cap;
    return QN_T_OK;
}

struct qn_tval *qn_tdict_find(struct qn_trun *run, const struct qn_tdict *dict, const char *key,
                              size_t n)
{
    size_t looked = dict->n / 16 * (1 + n / 64);
    run->steps -= looked < run->steps ? looked : run->steps;
    for (size_t i = 0; i < dict->n; i++)
        if (dict->members[i].n == n && memcmp(dict->members[i].key, key, n) == 0)
            return &dict->members[i].val;
    return NULL;
}

enum qn_tflow qn_tdict_set(struct qn_trun *run, struct qn_tdict *dict, const char *key, size_t n,
                           const struct qn_tval *v)
{
    QN_T_TRY(qn_trun_charge(run, 1));
    struct qn_tval *old = qn_tdict_find(run, dict, key, n);
    if (old) {
        *old = *v;
        return QN_T_OK;
    }
    if (dict->n == dict->cap) {
        size_t cap = dict->cap ? dict->cap * 2 : 8;
        struct qn_tmember *members;
        QN_T_TRY(qn_trun_alloc(run, cap * sizeof(*members), &members));
        if (dict->n > 0)
            memcpy(members, dict->members, dict->n * sizeof(*members));
        dict->members = members;
        dict->cap = cap;
    }
    dict->members[dict->n++] = (struct qn_tmember){.key = key, .n = n, .val = *v};
    return QN_T_OK;
}

static enum qn_tflow list_from_json(struct qn_trun *run, const struct qn_jref *r,
                                    struct qn_tval *out)
{
    struct qn_jref it;
    *out = qn_tval_list(NULL);
    QN_T_TRY(qn_tlist_new(run, qn_json_count(r), &out->list));
    for (bool more = qn_json_first(r, &it); more; more = qn_json_next(&it)) {
        struct qn_tval item;
        QN_T_TRY(qn_tval_from_json(run, &it, &item));
        QN_T_TRY(qn_tlist_push(run, out->list, &item));
    }
    return QN_T_OK;
}

static enum qn_tflow dict_from_json(struct qn_trun *run, const struct qn_jref *r,
                                    struct qn_tval *out)
{
    struct qn_jref it;
    *out = qn_tval_dict(QN_T_DICT, NULL);
    QN_T_TRY(qn_tdict_new(run, qn_json_count(r), &out->dict));
    for (bool more = qn_json_first(r, &it); more; more = qn_json_next(&it)) {
        struct qn_tval val;
        QN_T_TRY(qn_tval_from_json(run, &it, &val));
        QN_T_TRY(qn_tdict_set(run, out->dict, it.key, strlen(it.key), &val));
    }
    return QN_T_OK;
}

enum qn_tflow qn_tval_from_json(struct qn_trun *run, const struct qn_jref *r, struct qn_tval *out)
{
    switch (qn_json_type(r)) {
    case QN_JSON_BOOL:
        *out = qn_tval_bool(qn_json_raw_bool(r));
        return QN_T_OK;
    case QN_JSON_NUMBER:
        *out = qn_tval_number(qn_json_raw_f64(r));
        return QN_T_OK;
    case QN_JSON_STRING:
        *out = qn_tval_string(qn_json_raw_str(r), strlen(qn_json_raw_str(r)));
        return QN_T_OK;
    case QN_JSON_ARRAY:
        return list_from_json(run, r, out);
    case QN_JSON_OBJECT:
        return dict_from_json(run, r, out);
    case QN_JSON_NULL:
    case QN_JSON_ABSENT:
        break;
    }
    *out = qn_tval_null();
    return QN_T_OK;
}
