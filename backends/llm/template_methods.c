/* Methods and properties of strings, lists and dictionaries, and the text functions that filters of
 * the same name share. */
#include "llm/template_builtin.h"

#include "llm/template_text.h"

#include <string.h>

static bool word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static enum qn_tflow convert(struct qn_trun *run, const struct qn_tval *v,
                             void (*change)(const char *, size_t, struct qn_buf *),
                             struct qn_tval *out)
{
    size_t mark = run->out.len;
    QN_T_TRY(qn_trun_walked(run, v->n));
    change(v->s, v->n, &run->out);
    return qn_trun_take(run, mark, out);
}

enum qn_tflow qn_ttext_upper(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out)
{
    return convert(run, v, qn_text_upper, out);
}

enum qn_tflow qn_ttext_lower(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out)
{
    return convert(run, v, qn_text_lower, out);
}

/* The first character in upper case, the rest as it is. */
enum qn_tflow qn_ttext_capitalize(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out)
{
    size_t mark = run->out.len, first = v->n > 0 ? qn_text_char(v->s, v->n) : 0;
    qn_text_upper(v->s, first, &run->out);
    QN_T_TRY(qn_trun_put(run, v->s + first, v->n - first));
    return qn_trun_take(run, mark, out);
}

/* Every ASCII letter that begins a word in upper case, the rest as it is. */
enum qn_tflow qn_ttext_title(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out)
{
    size_t mark = run->out.len;
    QN_T_TRY(qn_trun_walked(run, v->n));
    for (size_t i = 0; i < v->n; i++) {
        if (word_char(v->s[i]) && (i == 0 || !word_char(v->s[i - 1])))
            qn_text_upper(v->s + i, 1, &run->out);
        else
            qn_buf_char(&run->out, v->s[i]);
    }
    return qn_trun_take(run, mark, out);
}

enum qn_tflow qn_ttext_trim(struct qn_trun *run, const struct qn_tval *v, bool left, bool right,
                            struct qn_tval *out)
{
    size_t skip = left ? qn_text_skip(v->s, v->n) : 0, n = v->n - skip;
    *out = qn_tval_string(v->s + skip, right ? qn_text_rtrim(v->s + skip, n) : n);
    return qn_trun_walked(run, v->n - out->n);
}

/* How often replace may replace: the third argument, by place or name; below 0 is always. */
static enum qn_tflow replace_count(struct qn_trun *run, const struct qn_targs *args, double *out)
{
    const struct qn_tval *count = qn_targ_at(args, 2);
    if (count && count->type == QN_T_KWARGS)
        count = qn_tdict_find(run, count->dict, "count", 5);
    *out = -1;
    if (!count || count->type == QN_T_NULL)
        return QN_T_OK;
    if (count->type != QN_T_INT)
        return qn_trun_fail(run, "replace: the count is an integer, this is %s",
                            qn_ttype_name(count->type));
    *out = count->num;
    return QN_T_OK;
}

/* Replacing "" puts the new text before every character and at the end. */
static enum qn_tflow replace_nothing(struct qn_trun *run, const struct qn_tval *v,
                                     const struct qn_tval *with, double count, struct qn_tval *out)
{
    size_t mark = run->out.len;
    for (size_t i = 0; i <= v->n;) {
        size_t k = i < v->n ? qn_text_char(v->s + i, v->n - i) : 0;
        if (count-- != 0)
            QN_T_TRY(qn_trun_put(run, with->s, with->n));
        else
            count = 0;
        QN_T_TRY(qn_trun_put(run, v->s + i, k));
        QN_T_TRY(qn_trun_charge(run, 1));
        i += k > 0 ? k : 1;
    }
    return qn_trun_take(run, mark, out);
}

enum qn_tflow qn_ttext_replace(struct qn_trun *run, const struct qn_tval *v,
                               const struct qn_targs *args, struct qn_tval *out)
{
    double count;
    size_t mark = run->out.len;
    if (args->n < 2 || args->v[0].type != QN_T_STRING || args->v[1].type != QN_T_STRING)
        return qn_trun_fail(run, "replace needs two strings");
    const struct qn_tval *old = &args->v[0], *with = &args->v[1];
    QN_T_TRY(replace_count(run, args, &count));
    if (old->n == 0)
        return replace_nothing(run, v, with, count, out);
    const char *s = v->s, *end = v->s + v->n, *found;
    while (count != 0 && (found = memmem(s, (size_t)(end - s), old->s, old->n)) != NULL) {
        QN_T_TRY(qn_trun_put(run, s, (size_t)(found - s)));
        QN_T_TRY(qn_trun_put(run, with->s, with->n));
        QN_T_TRY(qn_trun_charge(run, 1));
        s = found + old->n;
        count--;
    }
    QN_T_TRY(qn_trun_put(run, s, (size_t)(end - s)));
    return qn_trun_take(run, mark, out);
}

#define METHOD(name)                                                                               \
    static enum qn_tflow name(struct qn_trun *run, const struct qn_tfunc *fn,                      \
                              const struct qn_targs *args, struct qn_tval *out)

METHOD(method_upper)
{
    (void)args;
    return qn_ttext_upper(run, &fn->self, out);
}

METHOD(method_lower)
{
    (void)args;
    return qn_ttext_lower(run, &fn->self, out);
}

METHOD(method_title)
{
    (void)args;
    return qn_ttext_title(run, &fn->self, out);
}

METHOD(method_capitalize)
{
    (void)args;
    return qn_ttext_capitalize(run, &fn->self, out);
}

METHOD(method_strip)
{
    (void)args;
    return qn_ttext_trim(run, &fn->self, true, true, out);
}

METHOD(method_lstrip)
{
    (void)args;
    return qn_ttext_trim(run, &fn->self, true, false, out);
}

METHOD(method_rstrip)
{
    (void)args;
    return qn_ttext_trim(run, &fn->self, false, true, out);
}

METHOD(method_replace)
{
    return qn_ttext_replace(run, &fn->self, args, out);
}

static bool affix(const struct qn_tval *s, const struct qn_tval *part, bool end)
{
    return part->n <= s->n && memcmp(s->s + (end ? s->n - part->n : 0), part->s, part->n) == 0;
}

/* startswith and endswith: one string or a list of them. */
static enum qn_tflow has_affix(struct qn_trun *run, const struct qn_tval *s,
                               const struct qn_targs *args, bool end, struct qn_tval *out)
{
    const struct qn_tval *part = qn_targ_at(args, 0);
    *out = qn_tval_bool(false);
    QN_T_TRY(qn_trun_copied(run, s->n));
    if (part && part->type == QN_T_STRING) {
        out->b = affix(s, part, end);
        return QN_T_OK;
    }
    if (!part || !qn_tval_is(part, QN_T_LISTS))
        return qn_trun_fail(run, "startswith and endswith need a string or a list of strings");
    for (size_t i = 0; !out->b && i < part->list->n; i++) {
        QN_T_TRY(qn_tval_charge_search(run, s, 1));
        if (part->list->items[i].type != QN_T_STRING)
            return qn_trun_fail(run, "startswith and endswith need strings");
        out->b = affix(s, &part->list->items[i], end);
    }
    return QN_T_OK;
}

METHOD(method_startswith)
{
    return has_affix(run, &fn->self, args, false, out);
}

METHOD(method_endswith)
{
    return has_affix(run, &fn->self, args, true, out);
}

static enum qn_tflow push_text(struct qn_trun *run, struct qn_tlist *list, const char *s, size_t n)
{
    struct qn_tval part = qn_tval_string(s, n);
    QN_T_TRY(qn_trun_charge(run, 1));
    return qn_tlist_push(run, list, &part);
}

/* Words between white space; the rest after `max` of them stays in one piece. */
static enum qn_tflow split_words(struct qn_trun *run, const struct qn_tval *v, double max,
                                 struct qn_tlist *list)
{
    const char *s = v->s, *end = v->s + v->n;
    for (s += qn_text_skip(s, (size_t)(end - s)); s < end;) {
        const char *word = s;
        if (max >= 0 && (double)list->n >= max)
            return push_text(run, list, word, (size_t)(end - word));
        while (s < end && qn_text_space(s, (size_t)(end - s)) == 0)
            s += qn_text_char(s, (size_t)(end - s));
        QN_T_TRY(push_text(run, list, word, (size_t)(s - word)));
        s += qn_text_skip(s, (size_t)(end - s));
    }
    return QN_T_OK;
}

static enum qn_tflow split_at(struct qn_trun *run, const struct qn_tval *v,
                              const struct qn_tval *separator, double max, struct qn_tlist *list)
{
    const char *s = v->s, *end = v->s + v->n, *found;
    while ((max < 0 || (double)list->n < max) &&
           (found = memmem(s, (size_t)(end - s), separator->s, separator->n)) != NULL) {
        QN_T_TRY(push_text(run, list, s, (size_t)(found - s)));
        s = found + separator->n;
    }
    return push_text(run, list, s, (size_t)(end - s));
}

METHOD(method_split)
{
    const struct qn_tval *separator = qn_targ_at(args, 0), *max = qn_targ_at(args, 1);
    struct qn_tlist *list;
    bool words = !separator || separator->type == QN_T_NULL;
    if (!words && (separator->type != QN_T_STRING || separator->n == 0))
        return qn_trun_fail(run, "split: the separator is a string that is not empty");
    if (max && max->type != QN_T_INT)
        return qn_trun_fail(run, "split: the number of splits is an integer");
    double splits = max ? max->num : -1;
    QN_T_TRY(qn_trun_walked(run, fn->self.n));
    QN_T_TRY(qn_tlist_new(run, 0, &list));
    QN_T_TRY(words ? split_words(run, &fn->self, splits, list)
                   : split_at(run, &fn->self, separator, splits, list));
    *out = qn_tval_list(list);
    return QN_T_OK;
}

METHOD(method_get)
{
    const struct qn_tval *key = qn_targ_at(args, 0), *fallback = qn_targ_at(args, 1);
    if (!key || key->type != QN_T_STRING)
        return qn_trun_fail(run, "get needs a string as key");
    const struct qn_tval *found = qn_tdict_find(run, fn->self.dict, key->s, key->n);
    *out = found ? *found : fallback ? *fallback : qn_tval_null();
    return QN_T_OK;
}

METHOD(method_items)
{
    (void)args;
    return qn_tdict_items(run, &fn->self, out);
}

METHOD(method_keys)
{
    (void)args;
    return qn_tdict_keys(run, &fn->self, out);
}

METHOD(method_values)
{
    (void)args;
    return qn_tdict_values(run, &fn->self, out);
}

METHOD(method_dictsort)
{
    return qn_tdict_sorted(run, &fn->self, args, out);
}

/* Lists are values that others may hold: append and pop change them for all, as in Python. */
METHOD(method_append)
{
    if (args->n != 1)
        return qn_trun_fail(run, "append takes one value");
    *out = qn_tval_null();
    return qn_tlist_push(run, fn->self.list, &args->v[0]);
}

METHOD(method_pop)
{
    const struct qn_tval *at = qn_targ_at(args, 0);
    struct qn_tlist *list = fn->self.list;
    if (at && at->type != QN_T_INT)
        return qn_trun_fail(run, "pop: the place is an integer");
    double i = at ? at->num : -1;
    i += i < 0 ? (double)list->n : 0;
    if (i < 0 || i >= (double)list->n)
        return qn_trun_fail(run, "pop: the list of %zu has nothing there", list->n);
    QN_T_TRY(qn_trun_walked(run, list->n));
    *out = list->items[(size_t)i];
    list->n--;
    memmove(list->items + (size_t)i, list->items + (size_t)i + 1,
            (list->n - (size_t)i) * sizeof *list->items);
    return QN_T_OK;
}

enum { STRING = QN_T_BIT(QN_T_STRING) };

static const struct {
    unsigned types;
    const char *name;
    qn_tcall call; /* NULL: a property, the length */
} methods[] = {
    {STRING | QN_T_LISTS, "length", NULL},     {STRING, "upper", method_upper},
    {STRING, "lower", method_lower},           {STRING, "title", method_title},
    {STRING, "capitalize", method_capitalize}, {STRING, "strip", method_strip},
    {STRING, "lstrip", method_lstrip},         {STRING, "rstrip", method_rstrip},
    {STRING, "replace", method_replace},       {STRING, "startswith", method_startswith},
    {STRING, "endswith", method_endswith},     {STRING, "split", method_split},
    {QN_T_DICTS, "get", method_get},           {QN_T_DICTS, "items", method_items},
    {QN_T_DICTS, "keys", method_keys},         {QN_T_DICTS, "values", method_values},
    {QN_T_DICTS, "dictsort", method_dictsort}, {QN_T_LISTS, "append", method_append},
    {QN_T_LISTS, "pop", method_pop},
};

enum qn_tflow qn_tmethod_get(struct qn_trun *run, const struct qn_tval *object, const char *name,
                             size_t n, struct qn_tval *out)
{
    struct qn_tval self = *object; /* out may be the same place */
    *out = qn_tval_undefined();
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (!qn_tval_is(&self, methods[i].types) || strlen(methods[i].name) != n ||
            memcmp(methods[i].name, name, n) != 0)
            continue;
        if (!methods[i].call) {
            QN_T_TRY(qn_trun_walked(run, self.n));
            *out = qn_tval_int((double)(self.type == QN_T_STRING ? qn_text_utf16_len(self.s, self.n)
                                                                 : self.list->n));
            return QN_T_OK;
        }
        out->type = QN_T_FUNCTION;
        QN_T_TRY(qn_trun_alloc(run, sizeof(*out->fn), &out->fn));
        *out->fn = (struct qn_tfunc){.call = methods[i].call, .self = self};
        return QN_T_OK;
    }
    return QN_T_OK;
}
