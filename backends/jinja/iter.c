/* See iter.h. */
#include "jinja/iter.h"

#include "jinja/loop.h"
#include "jinja/run.h"
#include "jinja/text.h"

bool qn_tval_iterable(const struct qn_tval *v)
{
    return qn_tval_is(v, QN_T_LISTS | QN_T_BIT(QN_T_STRING) | QN_T_BIT(QN_T_DICT) |
                             QN_T_BIT(QN_T_VIEW) | QN_T_BIT(QN_T_RANGE) | QN_T_BIT(QN_T_ITER) |
                             QN_T_BIT(QN_T_UNDEFINED) | QN_T_BIT(QN_T_LOOP));
}

enum qn_tflow qn_titer_begin(struct qn_trun *run, const struct qn_tval *v, struct qn_tcursor *c)
{
    if (!qn_tval_iterable(v))
        return qn_trun_fail(run, "'%s' object is not iterable", qn_tval_class(v));
    *c = (struct qn_tcursor){.over = *v};
    if (v->type == QN_T_DICT || v->type == QN_T_VIEW)
        c->size = v->dict->n;
    return QN_T_OK;
}

static enum qn_tflow view_item(struct qn_trun *run, const struct qn_tval *view, size_t at,
                               struct qn_tval *out)
{
    const struct qn_tmember *m = &view->dict->members[at];
    if (view->kind == QN_T_ITEMS)
        return qn_tval_pair(run, &m->key, &m->val, out);
    *out = view->kind == QN_T_VALUES ? m->val : m->key;
    return QN_T_OK;
}

static enum qn_tflow generate(struct qn_trun *run, struct qn_titer *it, struct qn_tval *out,
                              bool *more)
{
    *more = !it->ended;
    if (it->ended)
        return QN_T_OK;
    QN_T_TRY(it->next(run, it, out, more));
    it->ended = !*more;
    return QN_T_OK;
}

enum qn_tflow qn_titer_next(struct qn_trun *run, struct qn_tcursor *c, struct qn_tval *out,
                            bool *more)
{
    const struct qn_tval *v = &c->over;
    QN_T_TRY(qn_trun_charge(run, 1));
    switch (v->type) {
    case QN_T_LIST:
    case QN_T_TUPLE:
        *more = c->at < v->list->n;
        if (*more)
            *out = v->list->items[c->at++];
        return QN_T_OK;
    case QN_T_STRING:
        *more = c->at < v->n;
        if (*more) {
            size_t n = qn_ttext_char(v->s + c->at, v->n - c->at);
            *out = qn_tval_string(v->s + c->at, n);
            out->kind = QN_T_PLAIN;
            c->at += n;
        }
        return QN_T_OK;
    case QN_T_DICT:
    case QN_T_VIEW:
        if (c->size != v->dict->n)
            return qn_trun_fail(run, "dictionary changed size during iteration");
        *more = c->at < v->dict->n;
        return *more ? view_item(run, v, c->at++, out) : QN_T_OK;
    case QN_T_RANGE:
        *more = c->at < v->range->n;
        if (*more)
            *out = qn_tval_int(v->range->start + (int64_t)c->at++ * v->range->step);
        return QN_T_OK;
    case QN_T_ITER:
        return generate(run, v->iter, out, more);
    case QN_T_LOOP:
        return qn_tloop_next_pair(run, v->loop, out, more);
    default:
        *more = false;
        return QN_T_OK;
    }
}

enum qn_tflow qn_titer_list(struct qn_trun *run, const struct qn_tval *v, struct qn_tlist **out)
{
    struct qn_tcursor c;
    struct qn_tval item;
    bool more = false;
    QN_T_TRY(qn_titer_begin(run, v, &c));
    QN_T_TRY(qn_tlist_new(run, qn_tval_is(v, QN_T_LISTS) ? v->list->n : 0, out));
    QN_T_TRY(qn_titer_next(run, &c, &item, &more));
    while (more) {
        QN_T_TRY(qn_tlist_push(run, *out, &item));
        QN_T_TRY(qn_titer_next(run, &c, &item, &more));
    }
    return QN_T_OK;
}

enum qn_tflow qn_titer_new(struct qn_trun *run, struct qn_titer **it, struct qn_tval *out)
{
    QN_T_TRY(qn_trun_alloc(run, sizeof **it, it));
    *out = (struct qn_tval){.type = QN_T_ITER, .iter = *it};
    return QN_T_OK;
}

static enum qn_tflow next_reversed(struct qn_trun *run, struct qn_titer *it, struct qn_tval *out,
                                   bool *more)
{
    const struct qn_tlist *list = it->state;
    (void)run;
    *more = it->cursor.at < list->n;
    if (*more)
        *out = list->items[list->n - 1 - it->cursor.at++];
    return QN_T_OK;
}

bool qn_tval_reversible(const struct qn_tval *v)
{
    return qn_tval_iterable(v) && v->type != QN_T_ITER && v->type != QN_T_LOOP;
}

enum qn_tflow qn_titer_reversed(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out)
{
    struct qn_titer *it = NULL;
    struct qn_tlist *list = NULL;
    if (!qn_tval_reversible(v))
        return qn_trun_fail(run, "'%s' object is not reversible", qn_tval_class(v));
    QN_T_TRY(qn_titer_list(run, v, &list));
    QN_T_TRY(qn_titer_new(run, &it, out));
    it->next = next_reversed;
    it->name = "reversed";
    it->state = list;
    return QN_T_OK;
}
