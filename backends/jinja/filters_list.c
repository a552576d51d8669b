/* Filters over sequences. */
#include "jinja/compare.h"
#include "jinja/eval.h"
#include "jinja/filters.h"
#include "jinja/iter.h"
#include "jinja/number.h"
#include "jinja/print.h"
#include "jinja/text.h"

#include "base/rand.h"

#define ARGS                                                                                       \
    struct qn_trun *run, const struct qn_tval *self, const struct qn_targs *args,                  \
        struct qn_tval *out

static enum qn_tflow do_first(ARGS)
{
    struct qn_tcursor c;
    bool more = false;
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    QN_T_TRY(qn_titer_begin(run, self, &c));
    QN_T_TRY(qn_titer_next(run, &c, out, &more));
    if (!more)
        *out = qn_tval_hint("No first item, sequence was empty.");
    return QN_T_OK;
}

static enum qn_tflow do_last(ARGS)
{
    struct qn_tval reversed;
    struct qn_tcursor c;
    bool more = false;
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    QN_T_TRY(qn_titer_reversed(run, self, &reversed));
    QN_T_TRY(qn_titer_begin(run, &reversed, &c));
    QN_T_TRY(qn_titer_next(run, &c, out, &more));
    if (!more)
        *out = qn_tval_hint("No last item, sequence was empty.");
    return QN_T_OK;
}

static enum qn_tflow do_random(ARGS)
{
    size_t n = 0;
    uint64_t r = 0;
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    QN_T_TRY(qn_tval_len(run, self, &n));
    *out = qn_tval_hint("No random item, sequence was empty.");
    if (n == 0)
        return QN_T_OK;
    qn_random_bytes(&r, sizeof r);
    struct qn_tval at = qn_tval_size((size_t)(r % n));
    return qn_titem_get(run, self, &at, out);
}

static enum qn_tflow do_list(ARGS)
{
    struct qn_tlist *list = NULL;
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    QN_T_TRY(qn_titer_list(run, self, &list));
    *out = qn_tval_list(list);
    return QN_T_OK;
}

static enum qn_tflow do_reverse(ARGS)
{
    struct qn_tlist *list = NULL;
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    if (self->type == QN_T_STRING) {
        QN_T_TRY(qn_ttext_reverse(run, self, out));
        out->kind = self->kind;
        return QN_T_OK;
    }
    if (qn_tval_reversible(self))
        return qn_titer_reversed(run, self, out);
    QN_T_TRY(qn_titer_list(run, self, &list));
    for (size_t i = 0; i < list->n / 2; i++) {
        struct qn_tval v = list->items[i];
        list->items[i] = list->items[list->n - 1 - i];
        list->items[list->n - 1 - i] = v;
    }
    *out = qn_tval_list(list);
    return QN_T_OK;
}

/* The text of join: the items as strings, escaped when one of them is markup. */
static enum qn_tflow joined(struct qn_trun *run, struct qn_tlist *list, struct qn_tval *sep,
                            struct qn_tval *out)
{
    bool markup = run->autoescape && sep->type == QN_T_STRING && sep->kind == QN_T_MARKUP;
    for (size_t i = 0; i < list->n; i++) {
        QN_T_TRY(qn_tval_soft_str(run, &list->items[i], &list->items[i]));
        markup = markup || (run->autoescape && list->items[i].kind == QN_T_MARKUP);
    }
    QN_T_TRY(qn_tval_soft_str(run, sep, sep));
    for (size_t i = 0; markup && i < list->n; i++)
        QN_T_TRY(qn_tval_escape(run, &list->items[i], &list->items[i]));
    if (markup)
        QN_T_TRY(qn_tval_escape(run, sep, sep));
    QN_T_TRY(qn_ttext_join(run, sep, list, out));
    out->kind = markup ? QN_T_MARKUP : QN_T_PLAIN;
    return QN_T_OK;
}

static enum qn_tflow do_join(ARGS)
{
    struct qn_tval v[2];
    struct qn_tlist *list = NULL;
    struct qn_tpath path;
    QN_T_TRY(qn_trun_args(run, args, "d attribute", 0, v));
    QN_T_TRY(qn_titer_list(run, self, &list));
    QN_T_TRY(qn_tpath_new(run, &v[1], &path));
    for (size_t i = 0; i < list->n && path.parts->n > 0; i++) {
        struct qn_tval item = list->items[i];
        QN_T_TRY(qn_tpath_get(run, &path, &item, NULL, &list->items[i]));
    }
    if (v[0].type == QN_T_MISSING)
        v[0] = qn_tval_cstr("");
    return joined(run, list, &v[0], out);
}

/* A generator whose result, a list of lists, is built at the first item. */
struct groups {
    enum qn_tflow (*build)(struct qn_trun *run, const struct groups *g, struct qn_tlist *out);
    struct qn_tval of, count, fill;
};

static enum qn_tflow next_group(struct qn_trun *run, struct qn_titer *it, struct qn_tval *out,
                                bool *more)
{
    struct groups *g = it->state;
    struct qn_tlist *list = NULL;
    if (!it->started) {
        QN_T_TRY(qn_tlist_new(run, 0, &list));
        QN_T_TRY(g->build(run, g, list));
        it->source = qn_tval_list(list);
        QN_T_TRY(qn_titer_begin(run, &it->source, &it->cursor));
        it->started = true;
    }
    return qn_titer_next(run, &it->cursor, out, more);
}

static enum qn_tflow grouped(struct qn_trun *run, const struct groups *from, const char *name,
                             struct qn_tval *out)
{
    struct qn_titer *it = NULL;
    struct groups *g = NULL;
    QN_T_TRY(qn_titer_new(run, &it, out));
    QN_T_TRY(qn_trun_alloc(run, sizeof *g, &g));
    *g = *from;
    if (g->fill.type == QN_T_MISSING)
        g->fill = qn_tval_none();
    it->next = next_group;
    it->name = name;
    it->state = g;
    return QN_T_OK;
}

static enum qn_tflow push_fill(struct qn_trun *run, const struct qn_tval *fill, int64_t count,
                               struct qn_tlist *list)
{
    for (int64_t i = 0; i < count; i++) {
        QN_T_TRY(qn_trun_charge(run, 1));
        QN_T_TRY(qn_tlist_push(run, list, fill));
    }
    return QN_T_OK;
}

static enum qn_tflow build_batches(struct qn_trun *run, const struct groups *g,
                                   struct qn_tlist *out)
{
    struct qn_tlist *items = NULL, *batch = NULL;
    QN_T_TRY(qn_titer_list(run, &g->of, &items));
    for (size_t i = 0; i < items->n; i++) {
        bool full = false;
        struct qn_tval n = qn_tval_size(batch ? batch->n : 0);
        if (batch)
            QN_T_TRY(qn_tval_eq(run, &n, &g->count, &full));
        if (!batch || full) {
            QN_T_TRY(qn_tlist_new(run, 0, &batch));
            struct qn_tval v = qn_tval_list(batch);
            QN_T_TRY(qn_tlist_push(run, out, &v));
        }
        QN_T_TRY(qn_tlist_push(run, batch, &items->items[i]));
    }
    int64_t count = 0;
    if (!batch || g->fill.type == QN_T_NONE)
        return QN_T_OK;
    QN_T_TRY(qn_tval_index(run, &g->count, &count));
    return push_fill(run, &g->fill, count - (int64_t)batch->n, batch);
}

static enum qn_tflow do_batch(ARGS)
{
    struct qn_tval v[2];
    QN_T_TRY(qn_trun_args(run, args, "linecount fill_with", 1, v));
    struct groups g = {.build = build_batches, .of = *self, .count = v[0], .fill = v[1]};
    return grouped(run, &g, "generator", out);
}

static enum qn_tflow build_slices(struct qn_trun *run, const struct groups *g, struct qn_tlist *out)
{
    struct qn_tlist *items = NULL, *slice = NULL;
    int64_t slices = 0;
    QN_T_TRY(qn_titer_list(run, &g->of, &items));
    QN_T_TRY(qn_tval_index(run, &g->count, &slices));
    if (slices == 0)
        return qn_trun_fail(run, "integer division or modulo by zero");
    if (slices < 0)
        return QN_T_OK;
    size_t each = items->n / (size_t)slices, extra = items->n % (size_t)slices, at = 0;
    for (size_t i = 0; i < (size_t)slices; i++) {
        size_t n = each + (i < extra);
        QN_T_TRY(qn_trun_charge(run, 2));
        QN_T_TRY(qn_tlist_new(run, n + 1, &slice));
        for (size_t k = 0; k < n; k++)
            QN_T_TRY(qn_tlist_push(run, slice, &items->items[at++]));
        if (g->fill.type != QN_T_NONE && i >= extra)
            QN_T_TRY(qn_tlist_push(run, slice, &g->fill));
        struct qn_tval v = qn_tval_list(slice);
        QN_T_TRY(qn_tlist_push(run, out, &v));
    }
    return QN_T_OK;
}

static enum qn_tflow do_slice(ARGS)
{
    struct qn_tval v[2];
    QN_T_TRY(qn_trun_args(run, args, "slices fill_with", 1, v));
    struct groups g = {.build = build_slices, .of = *self, .count = v[0], .fill = v[1]};
    return grouped(run, &g, "generator", out);
}

static enum qn_tflow build_items(struct qn_trun *run, const struct groups *g, struct qn_tlist *out)
{
    if (g->of.type == QN_T_UNDEFINED)
        return QN_T_OK;
    if (g->of.type != QN_T_DICT)
        return qn_trun_fail(run, "Can only get item pairs from a mapping.");
    for (size_t i = 0; i < g->of.dict->n; i++) {
        struct qn_tval v;
        QN_T_TRY(qn_tval_pair(run, &g->of.dict->members[i].key, &g->of.dict->members[i].val, &v));
        QN_T_TRY(qn_tlist_push(run, out, &v));
    }
    return QN_T_OK;
}

static enum qn_tflow do_items(ARGS)
{
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    struct groups g = {.build = build_items, .of = *self};
    return grouped(run, &g, "generator", out);
}

static enum qn_tflow do_sum(ARGS)
{
    struct qn_tval v[2], item, one;
    struct qn_tpath path;
    struct qn_tcursor c;
    bool more = false;
    QN_T_TRY(qn_trun_args(run, args, "attribute start", 0, v));
    QN_T_TRY(qn_tpath_new(run, &v[0], &path));
    QN_T_TRY(qn_titer_begin(run, self, &c));
    *out = v[1].type == QN_T_MISSING ? qn_tval_int(0) : v[1];
    if (out->type == QN_T_STRING)
        return qn_trun_fail(run, "sum() can't sum strings");
    QN_T_TRY(qn_titer_next(run, &c, &item, &more));
    while (more) {
        struct qn_tval sum = *out;
        QN_T_TRY(qn_tpath_get(run, &path, &item, NULL, &one));
        QN_T_TRY(qn_tval_binary(run, QN_OP_ADD, &sum, &one, out));
        QN_T_TRY(qn_titer_next(run, &c, &item, &more));
    }
    return QN_T_OK;
}

static enum qn_tflow do_attr(ARGS)
{
    struct qn_tval name, v;
    QN_T_TRY(qn_trun_args(run, args, "name", 1, &name));
    QN_T_TRY(qn_tval_need_string(run, &name));
    if (self->type == QN_T_DICT) { /* attr looks up attributes only, never the dictionary's items */
        struct qn_tdict *empty = NULL;
        QN_T_TRY(qn_tdict_new(run, 0, &empty));
        struct qn_tval plain = qn_tval_dict(empty);
        QN_T_TRY(qn_tmember_get(run, &plain, &name, &v));
        if (v.type == QN_T_UNDEFINED) {
            *out = v;
            return QN_T_OK;
        }
    }
    return qn_tmember_get(run, self, &name, out);
}

const struct qn_tfilter qn_tfilters_list[] = {
    {"first", do_first},     {"last", do_last}, {"random", do_random}, {"list", do_list},
    {"reverse", do_reverse}, {"join", do_join}, {"batch", do_batch},   {"slice", do_slice},
    {"items", do_items},     {"sum", do_sum},   {"attr", do_attr},     {NULL, NULL},
};
