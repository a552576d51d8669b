/* map, select, reject, selectattr and rejectattr: generators that evaluate an item only when it is
 * requested. */
#include "jinja/filters.h"
#include "jinja/iter.h"
#include "jinja/run.h"
#include "jinja/tests.h"

#define ARGS                                                                                       \
    struct qn_trun *run, const struct qn_tval *self, const struct qn_targs *args,                  \
        struct qn_tval *out

struct chooser {
    struct qn_targs args, rest; /* rest: the arguments of the filter or test */
    bool by_attribute, wanted, mapping;
    struct qn_tpath path;
    struct qn_tval fallback; /* replaces undefined attributes; QN_T_NONE: undefined attributes are
                                not replaced */
    const struct qn_tfilter *filter;
    const struct qn_ttest *test;
};

/* The argument at index `at` is the name of the filter or test; the arguments after it are passed
 * to the filter or test. */
static enum qn_tflow prepare_name(struct qn_trun *run, struct chooser *c, size_t at)
{
    c->rest = (struct qn_targs){.named = c->args.named};
    if (at >= c->args.n)
        return c->mapping ? qn_trun_fail(run, "map requires a filter argument") : QN_T_OK;
    const struct qn_tval *name = &c->args.v[at];
    c->filter = c->mapping ? qn_tfilter_find(name) : NULL;
    c->test = c->mapping ? NULL : qn_ttest_find(name);
    if (!c->filter && !c->test)
        return qn_trun_fail(run, "No %s named '%.*s'.", c->mapping ? "filter" : "test",
                            name->type == QN_T_STRING ? (int)(name->n & 0xff) : 0,
                            name->type == QN_T_STRING ? name->s : "");
    c->rest.v = c->args.v + at + 1;
    c->rest.n = c->args.n - at - 1;
    return QN_T_OK;
}

static enum qn_tflow prepare(struct qn_trun *run, struct chooser *c)
{
    struct qn_tval v[2];
    struct qn_targs named = {.named = c->args.named};
    bool attribute = c->mapping && c->args.n == 0 && c->args.named &&
                     qn_tdict_get(run, c->args.named, "attribute");
    if (attribute) {
        QN_T_TRY(qn_trun_args(run, &named, "attribute default", 0, v));
        c->by_attribute = true;
        c->fallback = v[1].type == QN_T_MISSING ? qn_tval_none() : v[1];
        return qn_tpath_new(run, &v[0], &c->path);
    }
    if (c->by_attribute) {
        if (c->args.n == 0)
            return qn_trun_fail(run, "Missing parameter for attribute name");
        QN_T_TRY(qn_tpath_new(run, &c->args.v[0], &c->path));
    }
    return prepare_name(run, c, c->by_attribute);
}

static enum qn_tflow chosen(struct qn_trun *run, const struct chooser *c,
                            const struct qn_tval *item, bool *out)
{
    struct qn_tval v = *item;
    if (c->by_attribute)
        QN_T_TRY(qn_tpath_get(run, &c->path, item, NULL, &v));
    if (c->test)
        QN_T_TRY(c->test->call(run, &v, &c->rest, out));
    else
        QN_T_TRY(qn_tval_truth(run, &v, out));
    *out = *out == c->wanted;
    return QN_T_OK;
}

static enum qn_tflow next_chosen(struct qn_trun *run, struct qn_titer *it, struct qn_tval *out,
                                 bool *more)
{
    struct chooser *c = it->state;
    bool take = false;
    if (!it->started) {
        it->started = true;
        QN_T_TRY(qn_tval_truth(run, &it->source, more));
        if (!*more)
            return QN_T_OK;
        QN_T_TRY(prepare(run, c));
        QN_T_TRY(qn_titer_begin(run, &it->source, &it->cursor));
    }
    while (!take) {
        QN_T_TRY(qn_titer_next(run, &it->cursor, out, more));
        if (!*more)
            return QN_T_OK;
        if (c->mapping)
            break;
        QN_T_TRY(chosen(run, c, out, &take));
    }
    struct qn_tval item = *out;
    if (c->filter)
        return c->filter->call(run, &item, &c->rest, out);
    if (c->mapping)
        return qn_tpath_get(run, &c->path, &item,
                            c->fallback.type == QN_T_NONE ? NULL : &c->fallback, out);
    return QN_T_OK;
}

static enum qn_tflow generator(struct qn_trun *run, const struct qn_tval *self,
                               const struct chooser *from, struct qn_tval *out)
{
    struct qn_titer *it = NULL;
    struct chooser *c = NULL;
    QN_T_TRY(qn_trun_alloc(run, sizeof *c, &c));
    *c = *from;
    QN_T_TRY(qn_titer_new(run, &it, out));
    it->next = next_chosen;
    it->name = "generator";
    it->source = *self;
    it->state = c;
    return QN_T_OK;
}

static enum qn_tflow do_map(ARGS)
{
    struct chooser c = {.args = *args, .mapping = true};
    return generator(run, self, &c, out);
}

static enum qn_tflow do_select(ARGS)
{
    struct chooser c = {.args = *args, .wanted = true};
    return generator(run, self, &c, out);
}

static enum qn_tflow do_reject(ARGS)
{
    struct chooser c = {.args = *args};
    return generator(run, self, &c, out);
}

static enum qn_tflow do_selectattr(ARGS)
{
    struct chooser c = {.args = *args, .wanted = true, .by_attribute = true};
    return generator(run, self, &c, out);
}

static enum qn_tflow do_rejectattr(ARGS)
{
    struct chooser c = {.args = *args, .by_attribute = true};
    return generator(run, self, &c, out);
}

const struct qn_tfilter qn_tfilters_select[] = {
    {"map", do_map},
    {"select", do_select},
    {"reject", do_reject},
    {"selectattr", do_selectattr},
    {"rejectattr", do_rejectattr},
    {NULL, NULL},
};
