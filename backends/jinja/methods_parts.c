/* String methods that search, replace, split and join. */
#include "jinja/filters.h"
#include "jinja/iter.h"
#include "jinja/methods.h"
#include "jinja/number.h"
#include "jinja/print.h"
#include "jinja/run.h"
#include "jinja/text.h"

#define ARGS                                                                                       \
    struct qn_trun *run, const struct qn_tval *self, const struct qn_targs *args,                  \
        struct qn_tval *out

/* Reads an argument that may be omitted or None; *out is then NULL. */
static enum qn_tflow optional_text(struct qn_trun *run, const struct qn_tval *v,
                                   const struct qn_tval **out)
{
    *out = NULL;
    if (qn_tval_is(v, QN_T_BIT(QN_T_MISSING) | QN_T_BIT(QN_T_NONE)))
        return QN_T_OK;
    *out = v;
    return qn_tval_need_string(run, v);
}

static enum qn_tflow split(struct qn_trun *run, const struct qn_tval *self,
                           const struct qn_targs *args, bool right, struct qn_tval *out)
{
    struct qn_tval v[2];
    const struct qn_tval *sep = NULL;
    struct qn_tlist *list = NULL;
    int64_t max = -1;
    QN_T_TRY(qn_trun_args(run, args, "sep maxsplit", 0, v));
    QN_T_TRY(optional_text(run, &v[0], &sep));
    if (v[1].type != QN_T_MISSING)
        QN_T_TRY(qn_tval_index(run, &v[1], &max));
    QN_T_TRY(qn_ttext_split(run, self, sep, max, right, &list));
    *out = qn_tval_list(list);
    return QN_T_OK;
}

static enum qn_tflow str_split(ARGS)
{
    return split(run, self, args, false, out);
}

static enum qn_tflow str_rsplit(ARGS)
{
    return split(run, self, args, true, out);
}

static enum qn_tflow str_splitlines(ARGS)
{
    struct qn_tval v;
    struct qn_tlist *list = NULL;
    bool keep = false;
    QN_T_TRY(qn_trun_args(run, args, "keepends", 0, &v));
    QN_T_TRY(qn_tval_truth(run, &v, &keep));
    QN_T_TRY(qn_ttext_lines(run, self, keep, &list));
    *out = qn_tval_list(list);
    return QN_T_OK;
}

static enum qn_tflow str_join(ARGS)
{
    struct qn_tval v;
    struct qn_tlist *list = NULL;
    bool markup = self->kind == QN_T_MARKUP;
    QN_T_TRY(qn_trun_args(run, args, "/iterable", 1, &v));
    QN_T_TRY(qn_titer_list(run, &v, &list));
    for (size_t i = 0; markup && i < list->n; i++)
        QN_T_TRY(qn_tval_escape(run, &list->items[i], &list->items[i]));
    QN_T_TRY(qn_ttext_join(run, self, list, out));
    out->kind = self->kind;
    return QN_T_OK;
}

static enum qn_tflow str_replace(ARGS)
{
    struct qn_tval v[3];
    int64_t max = -1;
    QN_T_TRY(qn_trun_args(run, args, "/old /new /count", 2, v));
    QN_T_TRY(qn_tval_need_string(run, &v[0]));
    QN_T_TRY(qn_tval_need_string(run, &v[1]));
    if (v[2].type != QN_T_MISSING)
        QN_T_TRY(qn_tval_index(run, &v[2], &max));
    if (self->kind == QN_T_MARKUP) {
        QN_T_TRY(qn_tval_escape(run, &v[0], &v[0]));
        QN_T_TRY(qn_tval_escape(run, &v[1], &v[1]));
    }
    return qn_ttext_replace(run, self, &v[0], &v[1], max, out);
}

/* The part of a text between two optional bounds; *from is the index of its first character. *any
 * is false when the bounds leave no part. */
static enum qn_tflow part_of(struct qn_trun *run, const struct qn_tval *self,
                             const struct qn_tval bounds[2], struct qn_tval *out, int64_t *from,
                             bool *any)
{
    int64_t n = (int64_t)qn_ttext_len(self->s, self->n), start, stop;
    QN_T_TRY(qn_trun_copied(run, self->n));
    QN_T_TRY(qn_tval_index_or(run, &bounds[0], 0, &start));
    QN_T_TRY(qn_tval_index_or(run, &bounds[1], INT64_MAX, &stop));
    start = start < -n ? 0 : start < 0 ? start + n : start;
    stop = stop < -n ? 0 : stop < 0 ? stop + n : stop > n ? n : stop;
    *any = start <= stop;
    *from = start;
    if (*any) {
        size_t at = qn_ttext_offset(self->s, self->n, (size_t)start);
        size_t len = qn_ttext_offset(self->s + at, self->n - at, (size_t)(stop - start));
        *out = qn_tval_string(self->s + at, len);
    }
    return QN_T_OK;
}

static enum qn_tflow locate(struct qn_trun *run, const struct qn_tval *self,
                            const struct qn_targs *args, bool right, bool must, struct qn_tval *out)
{
    struct qn_tval v[3], part;
    int64_t from = 0;
    bool any = false;
    size_t at = SIZE_MAX;
    QN_T_TRY(qn_trun_args(run, args, "/sub /start /end", 1, v));
    QN_T_TRY(qn_tval_need_string(run, &v[0]));
    QN_T_TRY(part_of(run, self, v + 1, &part, &from, &any));
    QN_T_TRY(qn_trun_walked(run, self->n * 2));
    if (any)
        at = right ? qn_ttext_rfind(part.s, part.n, v[0].s, v[0].n)
                   : qn_ttext_find(part.s, part.n, v[0].s, v[0].n);
    if (at == SIZE_MAX && must)
        return qn_trun_fail(run, "substring not found");
    *out = qn_tval_int(at == SIZE_MAX ? -1 : from + (int64_t)qn_ttext_len(part.s, at));
    return QN_T_OK;
}

static enum qn_tflow str_find(ARGS)
{
    return locate(run, self, args, false, false, out);
}

static enum qn_tflow str_rfind(ARGS)
{
    return locate(run, self, args, true, false, out);
}

static enum qn_tflow str_index(ARGS)
{
    return locate(run, self, args, false, true, out);
}

static enum qn_tflow str_rindex(ARGS)
{
    return locate(run, self, args, true, true, out);
}

static enum qn_tflow str_count(ARGS)
{
    struct qn_tval v[3], part;
    int64_t from = 0, count = 0;
    bool any = false;
    QN_T_TRY(qn_trun_args(run, args, "/sub /start /end", 1, v));
    QN_T_TRY(qn_tval_need_string(run, &v[0]));
    QN_T_TRY(part_of(run, self, v + 1, &part, &from, &any));
    QN_T_TRY(qn_trun_walked(run, self->n));
    if (any && v[0].n == 0)
        count = (int64_t)qn_ttext_len(part.s, part.n) + 1;
    for (size_t at = 0; any && v[0].n > 0; count++) {
        size_t found = qn_ttext_find(part.s + at, part.n - at, v[0].s, v[0].n);
        if (found == SIZE_MAX)
            break;
        at += found + v[0].n;
    }
    *out = qn_tval_int(count);
    return QN_T_OK;
}

static bool has_edge(const struct qn_tval *text, const struct qn_tval *edge, bool end)
{
    return text->n >= edge->n &&
           (edge->n == 0 || memcmp(text->s + (end ? text->n - edge->n : 0), edge->s, edge->n) == 0);
}

static enum qn_tflow edge_test(struct qn_trun *run, const struct qn_tval *self,
                               const struct qn_targs *args, bool end, struct qn_tval *out)
{
    struct qn_tval v[3], part;
    int64_t from = 0;
    bool any = false, found = false;
    QN_T_TRY(qn_trun_args(run, args, "/prefix /start /end", 1, v));
    QN_T_TRY(part_of(run, self, v + 1, &part, &from, &any));
    if (v[0].type != QN_T_TUPLE) {
        QN_T_TRY(qn_tval_need_string(run, &v[0]));
        found = any && has_edge(&part, &v[0], end);
    }
    for (size_t i = 0; v[0].type == QN_T_TUPLE && !found && i < v[0].list->n; i++) {
        QN_T_TRY(qn_tval_need_string(run, &v[0].list->items[i]));
        found = any && has_edge(&part, &v[0].list->items[i], end);
    }
    *out = qn_tval_bool(found);
    return QN_T_OK;
}

static enum qn_tflow str_startswith(ARGS)
{
    return edge_test(run, self, args, false, out);
}

static enum qn_tflow str_endswith(ARGS)
{
    return edge_test(run, self, args, true, out);
}

static enum qn_tflow remove_edge(struct qn_trun *run, const struct qn_tval *self,
                                 const struct qn_targs *args, bool end, struct qn_tval *out)
{
    struct qn_tval edge;
    QN_T_TRY(qn_trun_args(run, args, "/affix", 1, &edge));
    QN_T_TRY(qn_tval_need_string(run, &edge));
    *out = *self;
    out->kind = QN_T_PLAIN;
    if (has_edge(self, &edge, end)) {
        out->s += end ? 0 : edge.n;
        out->n -= edge.n;
    }
    return QN_T_OK;
}

static enum qn_tflow str_removeprefix(ARGS)
{
    return remove_edge(run, self, args, false, out);
}

static enum qn_tflow str_removesuffix(ARGS)
{
    return remove_edge(run, self, args, true, out);
}

static enum qn_tflow partition(struct qn_trun *run, const struct qn_tval *self,
                               const struct qn_targs *args, bool right, struct qn_tval *out)
{
    struct qn_tval sep, parts[3];
    struct qn_tlist *list = NULL;
    QN_T_TRY(qn_trun_args(run, args, "/sep", 1, &sep));
    QN_T_TRY(qn_tval_need_string(run, &sep));
    if (sep.n == 0)
        return qn_trun_fail(run, "empty separator");
    QN_T_TRY(qn_trun_walked(run, self->n / 2));
    size_t at = right ? qn_ttext_rfind(self->s, self->n, sep.s, sep.n)
                      : qn_ttext_find(self->s, self->n, sep.s, sep.n);
    parts[0] = parts[1] = parts[2] = qn_tval_cstr("");
    if (at == SIZE_MAX) {
        parts[right ? 2 : 0] = *self;
    } else {
        parts[0] = qn_tval_string(self->s, at);
        parts[1] = sep;
        parts[2] = qn_tval_string(self->s + at + sep.n, self->n - at - sep.n);
    }
    QN_T_TRY(qn_tlist_new(run, 3, &list));
    for (int i = 0; i < 3; i++) {
        parts[i].kind = self->kind;
        QN_T_TRY(qn_tlist_push(run, list, &parts[i]));
    }
    *out = qn_tval_tuple(list);
    return QN_T_OK;
}

static enum qn_tflow str_partition(ARGS)
{
    return partition(run, self, args, false, out);
}

static enum qn_tflow str_rpartition(ARGS)
{
    return partition(run, self, args, true, out);
}

const struct qn_tmethod qn_tmethods_str_parts[] = {
    {"split", str_split},
    {"rsplit", str_rsplit},
    {"splitlines", str_splitlines},
    {"join", str_join},
    {"replace", str_replace},
    {"find", str_find},
    {"rfind", str_rfind},
    {"index", str_index},
    {"rindex", str_rindex},
    {"count", str_count},
    {"startswith", str_startswith},
    {"endswith", str_endswith},
    {"removeprefix", str_removeprefix},
    {"removesuffix", str_removesuffix},
    {"partition", str_partition},
    {"rpartition", str_rpartition},
    {NULL, NULL},
};
