/* Filters: value | name. One table says which filter takes which types in which form. */
#include "llm/template_builtin.h"

#include "base/str.h"
#include "llm/template_print.h"
#include "llm/template_text.h"

#include <math.h>
#include <string.h>

const struct qn_tval *qn_targ_at(const struct qn_targs *args, size_t i)
{
    return i < args->n ? &args->v[i] : NULL;
}

const struct qn_tval *qn_targ(struct qn_trun *run, const struct qn_targs *args, size_t i,
                              const char *name)
{
    size_t positional = args->n;
    const struct qn_tdict *named = NULL;
    if (positional > 0 && args->v[positional - 1].type == QN_T_KWARGS)
        named = args->v[--positional].dict;
    if (i < positional)
        return &args->v[i];
    return named && name ? qn_tdict_find(run, named, name, strlen(name)) : NULL;
}

/* A flag that is false when absent. */
static enum qn_tflow flag_argument(struct qn_trun *run, const struct qn_targs *args, size_t i,
                                   const char *name, bool *out)
{
    const struct qn_tval *v = qn_targ(run, args, i, name);
    *out = false;
    if (!v)
        return QN_T_OK;
    if (v->type != QN_T_BOOL)
        return qn_trun_fail(run, "%s: expected a boolean, this is %s", name,
                            qn_ttype_name(v->type));
    *out = v->b;
    return QN_T_OK;
}

#define FILTER(name)                                                                               \
    static enum qn_tflow name(struct qn_trun *run, const struct qn_tval *v,                        \
                              const struct qn_targs *args, struct qn_tval *out)

FILTER(same)
{
    (void)run;
    (void)args;
    *out = *v;
    return QN_T_OK;
}

FILTER(filter_default)
{
    const struct qn_tval *value = qn_targ(run, args, 0, NULL);
    bool boolean;
    QN_T_TRY(flag_argument(run, args, 1, "boolean", &boolean));
    bool replace = v->type == QN_T_UNDEFINED || (boolean && !qn_tval_truth(v));
    *out = !replace ? *v : value ? *value : qn_tval_string("", 0);
    return QN_T_OK;
}

/* tojson(indent, ensure_ascii, separators, sort_keys): only by name. */
static enum qn_tflow json_settings(struct qn_trun *run, const struct qn_targs *args,
                                   struct qn_tjson *how)
{
    const struct qn_tval *indent = qn_targ(run, args, SIZE_MAX, "indent");
    const struct qn_tval *separators = qn_targ(run, args, SIZE_MAX, "separators");
    *how = qn_tjson_default(0);
    if (indent && indent->type != QN_T_NULL) {
        if (indent->type != QN_T_INT || !(indent->num >= 0))
            return qn_trun_fail(run, "tojson: indent is a number of spaces");
        *how = qn_tjson_default(indent->num);
    }
    QN_T_TRY(flag_argument(run, args, SIZE_MAX, "ensure_ascii", &how->ensure_ascii));
    QN_T_TRY(flag_argument(run, args, SIZE_MAX, "sort_keys", &how->sort_keys));
    if (!separators || separators->type == QN_T_NULL)
        return QN_T_OK;
    if (!qn_tval_is(separators, QN_T_LISTS) || separators->list->n != 2 ||
        separators->list->items[0].type != QN_T_STRING ||
        separators->list->items[1].type != QN_T_STRING)
        return qn_trun_fail(run, "tojson: separators are two strings");
    how->item_separator = separators->list->items[0].s;
    how->item_n = separators->list->items[0].n;
    how->key_separator = separators->list->items[1].s;
    how->key_n = separators->list->items[1].n;
    return QN_T_OK;
}

FILTER(filter_tojson)
{
    struct qn_tjson how;
    size_t mark = run->out.len;
    QN_T_TRY(json_settings(run, args, &how));
    QN_T_TRY(qn_tval_put_json(run, v, &how));
    return qn_trun_take(run, mark, out);
}

FILTER(filter_string)
{
    size_t mark = run->out.len;
    (void)args;
    QN_T_TRY(qn_tval_put(run, v));
    return qn_trun_take(run, mark, out);
}

/* Lists. */

FILTER(filter_first)
{
    (void)run;
    (void)args;
    *out = v->list->n > 0 ? v->list->items[0] : (struct qn_tval){.type = QN_T_ABSENT};
    return QN_T_OK;
}

FILTER(filter_last)
{
    (void)run;
    (void)args;
    *out = v->list->n > 0 ? v->list->items[v->list->n - 1] : (struct qn_tval){.type = QN_T_ABSENT};
    return QN_T_OK;
}

FILTER(filter_reverse)
{
    struct qn_tlist *list;
    size_t n = v->list->n;
    (void)args;
    QN_T_TRY(qn_trun_charge(run, n / 4));
    QN_T_TRY(qn_tlist_new(run, n, &list));
    for (size_t i = 0; i < n; i++)
        list->items[i] = v->list->items[n - 1 - i];
    list->n = n;
    *out = qn_tval_list(list);
    return QN_T_OK;
}

FILTER(filter_unique)
{
    struct qn_tlist *list;
    (void)args;
    QN_T_TRY(qn_tlist_new(run, 0, &list));
    for (size_t i = 0; i < v->list->n; i++) {
        bool seen = false;
        QN_T_TRY(qn_tval_charge_search(run, &v->list->items[i], list->n));
        for (size_t k = 0; !seen && k < list->n; k++)
            seen = qn_tval_strict_eq(&v->list->items[i], &list->items[k]);
        if (!seen)
            QN_T_TRY(qn_tlist_push(run, list, &v->list->items[i]));
    }
    *out = qn_tval_list(list);
    return QN_T_OK;
}

FILTER(filter_join)
{
    const struct qn_tval *given = qn_targ(run, args, 0, "separator");
    struct qn_tval separator = given ? *given : qn_tval_string("", 0);
    size_t mark = run->out.len;
    if (separator.type != QN_T_STRING)
        return qn_trun_fail(run, "join: the separator is a string, this is %s",
                            qn_ttype_name(separator.type));
    bool text = v->type == QN_T_STRING;
    for (size_t i = 0, k; i < (text ? v->n : v->list->n); i += k) {
        k = text ? qn_text_char(v->s + i, v->n - i) : 1;
        if (i > 0)
            QN_T_TRY(qn_trun_put(run, separator.s, separator.n));
        QN_T_TRY(qn_trun_charge(run, 1));
        QN_T_TRY(text ? qn_trun_put(run, v->s + i, k) : qn_tval_put_raw(run, &v->list->items[i]));
    }
    return qn_trun_take(run, mark, out);
}

/* The member that a path like "function.name" leads to; undefined when the way ends. */
static enum qn_tflow follow(struct qn_trun *run, const struct qn_tval *v,
                            const struct qn_tval *path, struct qn_tval *out)
{
    const char *s = path->s, *end = path->s + path->n;
    *out = *v;
    QN_T_TRY(qn_trun_walked(run, path->n));
    while (s <= end && out->type != QN_T_UNDEFINED) {
        const char *point = memchr(s, '.', (size_t)(end - s));
        size_t n = (size_t)((point ? point : end) - s);
        const struct qn_tval *found = NULL;
        double index = qn_text_to_number(s, n);
        QN_T_TRY(qn_trun_charge(run, 1));
        if (qn_tval_is(out, QN_T_DICTS | QN_T_BIT(QN_T_NAMESPACE)))
            found = qn_tdict_find(run, out->dict, s, n);
        else if (qn_tval_is(out, QN_T_LISTS) && n > 0 && index >= 0 && index == floor(index) &&
                 index < (double)out->list->n)
            found = &out->list->items[(size_t)index];
        *out = found ? *found : qn_tval_undefined();
        s += n + 1;
    }
    return QN_T_OK;
}

static bool has_members(const struct qn_tval *v)
{
    return qn_tval_is(v, QN_T_DICTS | QN_T_BIT(QN_T_NAMESPACE));
}

FILTER(filter_map)
{
    const struct qn_tval *path = qn_targ(run, args, SIZE_MAX, "attribute");
    const struct qn_tval *fallback = qn_targ(run, args, SIZE_MAX, "default");
    struct qn_tlist *list;
    if (!path || path->type != QN_T_STRING)
        return qn_trun_fail(run, "map needs attribute=\"...\"");
    QN_T_TRY(qn_tlist_new(run, v->list->n, &list));
    for (size_t i = 0; i < v->list->n; i++) {
        struct qn_tval found;
        if (!has_members(&v->list->items[i]))
            return qn_trun_fail(run, "map: %s has no attributes",
                                qn_ttype_name(v->list->items[i].type));
        QN_T_TRY(follow(run, &v->list->items[i], path, &found));
        QN_T_TRY(
            qn_tlist_push(run, list, found.type == QN_T_UNDEFINED && fallback ? fallback : &found));
    }
    *out = qn_tval_list(list);
    return QN_T_OK;
}

/* selectattr and rejectattr(name, test, argument): the items whose member passes, or does not. */
static enum qn_tflow pick(struct qn_trun *run, const struct qn_tval *v, const struct qn_targs *args,
                          bool wanted, struct qn_tval *out)
{
    struct qn_tlist *list;
    QN_T_TRY(qn_trun_charge(run, v->list->n));
    for (size_t i = 0; i < v->list->n; i++)
        if (!has_members(&v->list->items[i]))
            return qn_trun_fail(run, "%s has no attributes", qn_ttype_name(v->list->items[i].type));
    for (size_t i = 0; i < args->n; i++)
        if (args->v[i].type != QN_T_STRING)
            return qn_trun_fail(run, "attribute, test and its argument are strings, this is %s",
                                qn_ttype_name(args->v[i].type));
    QN_T_TRY(qn_tlist_new(run, 0, &list));
    *out = qn_tval_list(list);
    if (args->n == 0)
        return v->list->n == 0 ? QN_T_OK : qn_trun_fail(run, "the attribute's name is missing");
    for (size_t i = 0; i < v->list->n; i++) {
        const struct qn_tval *item = &v->list->items[i];
        const struct qn_tval *member = qn_tdict_find(run, item->dict, args->v[0].s, args->v[0].n);
        bool passes = member && qn_tval_truth(member);
        QN_T_TRY(qn_trun_charge(run, 1));
        if (member && args->n > 1)
            QN_T_TRY(qn_ttest_apply(run, &args->v[1], member, qn_targ_at(args, 2), &passes));
        if (passes == wanted)
            QN_T_TRY(qn_tlist_push(run, list, item));
    }
    return QN_T_OK;
}

FILTER(filter_selectattr)
{
    return pick(run, v, args, true, out);
}

FILTER(filter_rejectattr)
{
    return pick(run, v, args, false, out);
}

/* A stable merge sort of items by keys. */
struct sorting {
    struct qn_trun *run;
    struct entry {
        struct qn_tval key, item;
    } * v, *spare;
    bool reverse, case_sensitive;
};

static enum qn_tflow merge(struct sorting *s, size_t low, size_t middle, size_t high)
{
    size_t a = low, b = middle;
    for (size_t i = low; i < high; i++) {
        int order = a == middle ? 1 : -1;
        if (a < middle && b < high) {
            QN_T_TRY(
                qn_tval_compare(s->run, &s->v[a].key, &s->v[b].key, s->case_sensitive, &order));
            order = s->reverse ? -order : order;
        }
        s->spare[i] = order <= 0 ? s->v[a++] : s->v[b++];
    }
    memcpy(s->v + low, s->spare + low, (high - low) * sizeof(*s->v));
    return QN_T_OK;
}

static enum qn_tflow merge_sort(struct sorting *s, size_t low, size_t high)
{
    size_t middle = low + (high - low) / 2;
    if (high - low < 2)
        return QN_T_OK;
    QN_T_TRY(merge_sort(s, low, middle));
    QN_T_TRY(merge_sort(s, middle, high));
    return merge(s, low, middle, high);
}

static enum qn_tflow sorting_new(struct qn_trun *run, size_t n, struct sorting *s)
{
    *s = (struct sorting){.run = run};
    QN_T_TRY(qn_trun_charge(run, n / 4));
    QN_T_TRY(qn_trun_alloc(run, (n + 1) * sizeof(*s->v), &s->v));
    return qn_trun_alloc(run, (n + 1) * sizeof(*s->v), &s->spare);
}

static enum qn_tflow sorting_finish(struct sorting *s, size_t n, struct qn_tval *out)
{
    struct qn_tlist *list;
    QN_T_TRY(merge_sort(s, 0, n));
    QN_T_TRY(qn_tlist_new(s->run, n, &list));
    for (size_t i = 0; i < n; i++)
        list->items[i] = s->v[i].item;
    list->n = n;
    *out = qn_tval_list(list);
    return QN_T_OK;
}

FILTER(filter_sort)
{
    struct sorting s;
    size_t n = v->list->n, mark = run->out.len;
    const struct qn_tval *attribute = qn_targ(run, args, 2, "attribute");
    struct qn_tval path = {0};
    QN_T_TRY(sorting_new(run, n, &s));
    QN_T_TRY(flag_argument(run, args, 0, "reverse", &s.reverse));
    QN_T_TRY(flag_argument(run, args, 1, "case_sensitive", &s.case_sensitive));
    if (attribute && !qn_tval_is(attribute, QN_T_NOTHING)) {
        if (!qn_tval_is(attribute, QN_T_BIT(QN_T_STRING) | QN_T_BIT(QN_T_INT)))
            return qn_trun_fail(run, "sort: the attribute is a string, this is %s",
                                qn_ttype_name(attribute->type));
        QN_T_TRY(qn_tval_put(run, attribute));
        QN_T_TRY(qn_trun_take(run, mark, &path));
    }
    for (size_t i = 0; i < n; i++) {
        s.v[i].item = s.v[i].key = v->list->items[i];
        if (path.type == QN_T_STRING)
            QN_T_TRY(follow(run, &v->list->items[i], &path, &s.v[i].key));
    }
    return sorting_finish(&s, n, out);
}

/* Dictionaries. */

static enum qn_tflow pair(struct qn_trun *run, const struct qn_tmember *m, struct qn_tval *out)
{
    struct qn_tlist *list;
    QN_T_TRY(qn_tlist_new(run, 2, &list));
    list->items[0] = qn_tval_string(m->key, m->n);
    list->items[1] = m->val;
    list->n = 2;
    *out = qn_tval_list(list);
    return QN_T_OK;
}

static enum qn_tflow collect(struct qn_trun *run, const struct qn_tval *v, bool keys, bool values,
                             struct qn_tval *out)
{
    struct qn_tdict *dict = v->dict;
    struct qn_tlist *list;
    QN_T_TRY(qn_trun_charge(run, dict->n));
    QN_T_TRY(qn_tlist_new(run, dict->n, &list));
    for (size_t i = 0; i < dict->n; i++) {
        const struct qn_tmember *m = &dict->members[i];
        list->items[i] = keys ? qn_tval_string(m->key, m->n) : m->val;
        if (keys && values)
            QN_T_TRY(pair(run, m, &list->items[i]));
    }
    list->n = dict->n;
    *out = qn_tval_list(list);
    return QN_T_OK;
}

enum qn_tflow qn_tdict_items(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out)
{
    return collect(run, v, true, true, out);
}

enum qn_tflow qn_tdict_keys(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out)
{
    return collect(run, v, true, false, out);
}

enum qn_tflow qn_tdict_values(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out)
{
    return collect(run, v, false, true, out);
}

enum qn_tflow qn_tdict_sorted(struct qn_trun *run, const struct qn_tval *v,
                              const struct qn_targs *args, struct qn_tval *out)
{
    struct sorting s;
    const struct qn_tdict *dict = v->dict;
    const struct qn_tval *by = qn_targ(run, args, 1, "by");
    bool value = by && qn_tval_str_eq(by, "value");
    QN_T_TRY(sorting_new(run, dict->n, &s));
    QN_T_TRY(flag_argument(run, args, 0, "case_sensitive", &s.case_sensitive));
    QN_T_TRY(flag_argument(run, args, 2, "reverse", &s.reverse));
    if (by && !value && !qn_tval_str_eq(by, "key"))
        return qn_trun_fail(run, "dictsort: by is \"key\" or \"value\"");
    for (size_t i = 0; i < dict->n; i++) {
        const struct qn_tmember *m = &dict->members[i];
        s.v[i].key = value ? m->val : qn_tval_string(m->key, m->n);
        QN_T_TRY(pair(run, m, &s.v[i].item));
    }
    return sorting_finish(&s, dict->n, out);
}

FILTER(filter_items)
{
    (void)args;
    return qn_tdict_items(run, v, out);
}

FILTER(filter_keys)
{
    (void)args;
    return qn_tdict_keys(run, v, out);
}

FILTER(filter_values)
{
    (void)args;
    return qn_tdict_values(run, v, out);
}

/* Numbers. */

FILTER(filter_abs)
{
    (void)run;
    (void)args;
    *out = *v;
    out->num = fabs(v->num);
    return QN_T_OK;
}

FILTER(filter_int)
{
    const struct qn_tval *fallback = qn_targ(run, args, 0, "default");
    QN_T_TRY(qn_trun_walked(run, v->n));
    double num = v->type == QN_T_BOOL     ? (double)v->b
                 : v->type == QN_T_STRING ? qn_text_parse_int(v->s, v->n)
                                          : floor(v->num);
    bool number = v->type != QN_T_STRING || !isnan(num);
    *out = number ? qn_tval_int(num) : fallback ? *fallback : qn_tval_int(0);
    return QN_T_OK;
}

FILTER(filter_float)
{
    const struct qn_tval *fallback = qn_targ(run, args, 0, "default");
    QN_T_TRY(qn_trun_walked(run, v->n));
    double num = v->type == QN_T_BOOL     ? (double)v->b
                 : v->type == QN_T_STRING ? qn_text_parse_float(v->s, v->n)
                                          : v->num;
    bool number = v->type != QN_T_STRING || !isnan(num);
    *out = number ? qn_tval_float(num) : fallback ? *fallback : qn_tval_float(0);
    return QN_T_OK;
}

/* Text. */

FILTER(filter_length)
{
    (void)args;
    if (v->type == QN_T_STRING)
        QN_T_TRY(qn_trun_walked(run, v->n));
    *out = qn_tval_int((double)(v->type == QN_T_STRING      ? qn_text_utf16_len(v->s, v->n)
                                : qn_tval_is(v, QN_T_LISTS) ? v->list->n
                                                            : v->dict->n));
    return QN_T_OK;
}

FILTER(filter_upper)
{
    (void)args;
    return qn_ttext_upper(run, v, out);
}

FILTER(filter_lower)
{
    (void)args;
    return qn_ttext_lower(run, v, out);
}

FILTER(filter_title)
{
    (void)args;
    return qn_ttext_title(run, v, out);
}

FILTER(filter_capitalize)
{
    (void)args;
    return qn_ttext_capitalize(run, v, out);
}

FILTER(filter_trim)
{
    (void)args;
    return qn_ttext_trim(run, v, true, true, out);
}

FILTER(filter_replace)
{
    return qn_ttext_replace(run, v, args, out);
}

FILTER(filter_indent)
{
    const struct qn_tval *width = qn_targ(run, args, 0, "width");
    const struct qn_tval *first = qn_targ(run, args, 1, "first");
    const struct qn_tval *blank = qn_targ(run, args, 2, "blank");
    size_t mark = run->out.len;
    double spaces = width ? width->num : 4;
    if (width && (width->type != QN_T_INT || !(spaces >= 0)))
        return qn_trun_fail(run, "indent: the width is a number of spaces");
    bool all = blank && qn_tval_js_truth(blank), indent = first && qn_tval_js_truth(first);
    for (size_t i = 0; i <= v->n;) {
        const char *newline = i < v->n ? memchr(v->s + i, '\n', v->n - i) : NULL;
        size_t n = newline ? (size_t)(newline - (v->s + i)) : v->n - i;
        if (indent && (n > 0 || all))
            QN_T_TRY(qn_trun_fill(run, ' ', spaces));
        QN_T_TRY(qn_trun_put(run, v->s + i, n + (newline != NULL)));
        QN_T_TRY(qn_trun_charge(run, 1));
        indent = true;
        i += n + 1;
    }
    return qn_trun_take(run, mark, out);
}

enum {
    PLAIN = 1, /* value | name */
    CALL = 2,  /* value | name(...) */
    BOTH = PLAIN | CALL,
    STRING = QN_T_BIT(QN_T_STRING),
    BOOL = QN_T_BIT(QN_T_BOOL),
    SIZED = STRING | QN_T_LISTS | QN_T_DICTS,
    SCALARS = STRING | QN_T_NUMBERS | BOOL
};

static const struct {
    const char *name;
    unsigned forms, types;
    enum qn_tflow (*apply)(struct qn_trun *run, const struct qn_tval *v,
                           const struct qn_targs *args, struct qn_tval *out);
} filters[] = {
    {"abs", PLAIN, QN_T_NUMBERS, filter_abs},
    {"bool", PLAIN, BOOL, same},
    {"capitalize", PLAIN, STRING, filter_capitalize},
    {"default", CALL, QN_T_ANY, filter_default},
    {"dictsort", BOTH, QN_T_DICTS, qn_tdict_sorted},
    {"first", PLAIN, QN_T_LISTS, filter_first},
    {"float", PLAIN, SCALARS, filter_float},
    {"float", CALL, STRING | BOOL, filter_float},
    {"float", CALL, QN_T_NUMBERS, same},
    {"indent", BOTH, STRING, filter_indent},
    {"int", PLAIN, SCALARS, filter_int},
    {"int", CALL, STRING | BOOL, filter_int},
    {"int", CALL, QN_T_NUMBERS, same},
    {"items", BOTH, QN_T_DICTS, filter_items},
    {"join", BOTH, STRING | QN_T_LISTS, filter_join},
    {"keys", BOTH, QN_T_DICTS, filter_keys},
    {"last", PLAIN, QN_T_LISTS, filter_last},
    {"length", PLAIN, SIZED, filter_length},
    {"list", PLAIN, QN_T_LISTS, same},
    {"lower", PLAIN, STRING, filter_lower},
    {"map", CALL, QN_T_LISTS, filter_map},
    {"rejectattr", CALL, QN_T_LISTS, filter_rejectattr},
    {"replace", CALL, STRING, filter_replace},
    {"reverse", PLAIN, QN_T_LISTS, filter_reverse},
    {"safe", PLAIN, QN_T_ANY, same},
    {"selectattr", CALL, QN_T_LISTS, filter_selectattr},
    {"sort", BOTH, QN_T_LISTS, filter_sort},
    {"string", PLAIN, SCALARS | QN_T_LISTS, filter_string},
    {"title", PLAIN, STRING, filter_title},
    {"tojson", BOTH, QN_T_ANY, filter_tojson},
    {"trim", PLAIN, STRING, filter_trim},
    {"unique", PLAIN, QN_T_LISTS, filter_unique},
    {"upper", PLAIN, STRING, filter_upper},
    {"values", BOTH, QN_T_DICTS, filter_values},
};

enum qn_tflow qn_tfilter_apply(struct qn_trun *run, const struct qn_tval *name, bool parentheses,
                               const struct qn_tval *value, const struct qn_targs *args,
                               struct qn_tval *out)
{
    unsigned form = parentheses ? CALL : PLAIN;
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        if ((filters[i].forms & form) && qn_tval_is(value, filters[i].types) &&
            qn_tval_str_eq(name, filters[i].name)) {
            struct qn_tval v = *value; /* out may be the same place */
            return filters[i].apply(run, &v, args, out);
        }
    }
    return qn_trun_fail(run, "no filter `%.*s%s` for %s", (int)(name->n > 64 ? 64 : name->n),
                        name->s, parentheses ? "()" : "", qn_ttype_name(value->type));
}
