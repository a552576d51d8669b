/* See print.h: pprint.pformat() at its usual width of 80. */
#include "jinja/compare.h"
#include "jinja/print.h"
#include "jinja/run.h"
#include "jinja/text.h"

enum { WIDTH = 80 };

static enum qn_tflow put(struct qn_trun *run, const struct qn_tval *v, size_t indent,
                         size_t allowance);

/* Dictionaries are shown sorted by key; keys that cannot be compared are sorted by the names of
 * their types. Returns false for a key that prevents sorting, in which case the order is left
 * unchanged. */
static bool rank_of(const struct qn_tval *key, int64_t *rank)
{
    *rank = key->type == QN_T_NONE ? 0 : qn_tval_is(key, QN_T_NUMBERS) ? 1 : 2;
    return *rank < 2 || key->type == QN_T_STRING;
}

static enum qn_tflow sort_keys(struct qn_trun *run, const struct qn_tval *keys, size_t n,
                               bool *plain, struct qn_tval **out)
{
    *plain = true;
    QN_T_TRY(qn_trun_alloc(run, n * sizeof **out, out));
    for (size_t i = 0; i < n && *plain; i++) {
        int64_t rank = 0;
        *plain = rank_of(&keys[i], &rank);
        struct qn_tval first = qn_tval_int(rank);
        QN_T_TRY(qn_tval_pair(run, &first, &keys[i], &(*out)[i]));
    }
    return QN_T_OK;
}

static enum qn_tflow sorted(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out)
{
    struct qn_tval *keys = NULL, *vals = NULL;
    struct qn_tdict *dict = NULL;
    *out = *v;
    if (v->type == QN_T_LIST || v->type == QN_T_TUPLE) {
        struct qn_tlist *list = NULL;
        QN_T_TRY(qn_tlist_new(run, v->list->n, &list));
        for (size_t i = 0; i < v->list->n; i++) {
            struct qn_tval item;
            QN_T_TRY(sorted(run, &v->list->items[i], &item));
            QN_T_TRY(qn_tlist_push(run, list, &item));
        }
        out->list = list;
        return QN_T_OK;
    }
    if (v->type != QN_T_DICT)
        return QN_T_OK;
    if (++run->depth > QN_TEMPLATE_VALUE_DEPTH)
        return qn_trun_limit(run, "values nested deeper than %d levels", QN_TEMPLATE_VALUE_DEPTH);
    QN_T_TRY(qn_trun_alloc(run, v->dict->n * sizeof *keys, &keys));
    QN_T_TRY(qn_trun_alloc(run, v->dict->n * sizeof *vals, &vals));
    for (size_t i = 0; i < v->dict->n; i++) {
        keys[i] = v->dict->members[i].key;
        QN_T_TRY(sorted(run, &v->dict->members[i].val, &vals[i]));
    }
    struct qn_tval *order = NULL, *places = NULL;
    bool plain = false;
    QN_T_TRY(sort_keys(run, keys, v->dict->n, &plain, &order));
    QN_T_TRY(qn_trun_alloc(run, v->dict->n * sizeof *places, &places));
    for (size_t i = 0; i < v->dict->n; i++)
        places[i] = qn_tval_size(i);
    if (plain)
        QN_T_TRY(qn_tval_sort(run, places, order, v->dict->n, false));
    QN_T_TRY(qn_tdict_new(run, v->dict->n, &dict));
    for (size_t i = 0; i < v->dict->n; i++)
        QN_T_TRY(qn_tdict_set(run, dict, &keys[places[i].i], &vals[places[i].i]));
    out->dict = dict;
    run->depth--;
    return QN_T_OK;
}

static enum qn_tflow new_line(struct qn_trun *run, size_t indent)
{
    QN_T_TRY(qn_trun_puts(run, ",\n"));
    return qn_trun_fill(run, " ", 1, indent);
}

static enum qn_tflow put_list(struct qn_trun *run, const struct qn_tval *v, size_t indent,
                              size_t allowance)
{
    bool tuple = v->type == QN_T_TUPLE, single = tuple && v->list->n == 1;
    QN_T_TRY(qn_trun_puts(run, tuple ? "(" : "["));
    for (size_t i = 0; i < v->list->n; i++) {
        bool last = i + 1 == v->list->n;
        if (i > 0)
            QN_T_TRY(new_line(run, indent + 1));
        QN_T_TRY(put(run, &v->list->items[i], indent + 1, last ? allowance + 1 + single : 1));
    }
    return qn_trun_puts(run, single ? ",)" : tuple ? ")" : "]");
}

static enum qn_tflow put_dict(struct qn_trun *run, const struct qn_tdict *dict, size_t indent,
                              size_t allowance)
{
    QN_T_TRY(qn_trun_puts(run, "{"));
    for (size_t i = 0; i < dict->n; i++) {
        struct qn_tval key;
        if (i > 0)
            QN_T_TRY(new_line(run, indent + 1));
        QN_T_TRY(qn_tval_repr(run, &dict->members[i].key, &key));
        QN_T_TRY(qn_trun_putv(run, &key));
        QN_T_TRY(qn_trun_puts(run, ": "));
        QN_T_TRY(put(run, &dict->members[i].val, indent + qn_ttext_len(key.s, key.n) + 3,
                     i + 1 == dict->n ? allowance + 1 : 1));
    }
    return qn_trun_puts(run, "}");
}

/* The end of a word and of the spaces after it. */
static size_t word_end(const struct qn_tval *v, size_t at)
{
    while (at < v->n && !qn_ttext_skip(v->s + at, qn_ttext_char(v->s + at, v->n - at)))
        at += qn_ttext_char(v->s + at, v->n - at);
    return at + qn_ttext_skip(v->s + at, v->n - at);
}

/* Splits a line that is too wide into pieces that fit and adds their repr()s to the list. */
static enum qn_tflow split_line(struct qn_trun *run, const struct qn_tval *line, size_t width,
                                size_t last_width, bool last, struct qn_tlist *out)
{
    struct qn_tval repr;
    size_t start = 0, fits = 0;
    for (size_t at = 0; at < line->n;) {
        size_t end = word_end(line, at);
        struct qn_tval candidate = qn_tval_string(line->s + start, end - start);
        size_t most = last && end == line->n ? last_width : width;
        QN_T_TRY(qn_tval_repr(run, &candidate, &repr));
        if (qn_ttext_len(repr.s, repr.n) > most && fits > start) {
            candidate.n = fits - start;
            QN_T_TRY(qn_tval_repr(run, &candidate, &repr));
            QN_T_TRY(qn_tlist_push(run, out, &repr));
            start = fits;
        }
        fits = at = end;
    }
    struct qn_tval rest = qn_tval_string(line->s + start, line->n - start);
    if (rest.n == 0)
        return QN_T_OK;
    QN_T_TRY(qn_tval_repr(run, &rest, &repr));
    return qn_tlist_push(run, out, &repr);
}

static enum qn_tflow put_string(struct qn_trun *run, const struct qn_tval *v, size_t indent,
                                size_t allowance)
{
    struct qn_tlist *lines = NULL, *pieces = NULL;
    bool outer = indent == 0;
    indent += outer;
    allowance += outer;
    QN_T_TRY(qn_ttext_lines(run, v, true, &lines));
    QN_T_TRY(qn_tlist_new(run, 0, &pieces));
    for (size_t i = 0; i < lines->n; i++) {
        struct qn_tval repr;
        bool last = i + 1 == lines->n;
        size_t width = indent < WIDTH ? WIDTH - indent : 0,
               most = last ? (width > allowance ? width - allowance : 0) : width;
        lines->items[i].kind = QN_T_PLAIN;
        QN_T_TRY(qn_tval_repr(run, &lines->items[i], &repr));
        if (qn_ttext_len(repr.s, repr.n) <= most)
            QN_T_TRY(qn_tlist_push(run, pieces, &repr));
        else
            QN_T_TRY(split_line(run, &lines->items[i], width, most, last, pieces));
    }
    bool brackets = outer && pieces->n > 1;
    QN_T_TRY(qn_trun_puts(run, brackets ? "(" : ""));
    for (size_t i = 0; i < pieces->n; i++) {
        if (i > 0) {
            QN_T_TRY(qn_trun_puts(run, "\n"));
            QN_T_TRY(qn_trun_fill(run, " ", 1, indent));
        }
        QN_T_TRY(qn_trun_putv(run, &pieces->items[i]));
    }
    return qn_trun_puts(run, brackets ? ")" : "");
}

static enum qn_tflow put(struct qn_trun *run, const struct qn_tval *v, size_t indent,
                         size_t allowance)
{
    struct qn_tval repr;
    QN_T_TRY(qn_tval_repr(run, v, &repr));
    if (qn_ttext_len(repr.s, repr.n) + indent + allowance <= WIDTH)
        return qn_trun_putv(run, &repr);
    if (v->type == QN_T_LIST || (v->type == QN_T_TUPLE && v->kind != QN_T_GROUP))
        return put_list(run, v, indent, allowance);
    if (v->type == QN_T_DICT && v->dict->n > 0)
        return put_dict(run, v->dict, indent, allowance);
    if (v->type == QN_T_STRING && v->kind == QN_T_PLAIN && v->n > 0)
        return put_string(run, v, indent, allowance);
    return qn_trun_putv(run, &repr);
}

enum qn_tflow qn_tval_put_pretty(struct qn_trun *run, const struct qn_tval *v)
{
    struct qn_tval ordered;
    QN_T_TRY(sorted(run, v, &ordered));
    return put(run, &ordered, 0, 0);
}
