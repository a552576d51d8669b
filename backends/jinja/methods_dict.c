/* Methods of dictionaries. */
#include "jinja/compare.h"
#include "jinja/iter.h"
#include "jinja/methods.h"
#include "jinja/run.h"

#define ARGS                                                                                       \
    struct qn_trun *run, const struct qn_tval *self, const struct qn_targs *args,                  \
        struct qn_tval *out

static enum qn_tflow view(struct qn_trun *run, const struct qn_tval *self,
                          const struct qn_targs *args, int kind, struct qn_tval *out)
{
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    *out = (struct qn_tval){.type = QN_T_VIEW, .kind = (uint8_t)kind, .dict = self->dict};
    return QN_T_OK;
}

static enum qn_tflow dict_items(ARGS)
{
    return view(run, self, args, QN_T_ITEMS, out);
}

static enum qn_tflow dict_keys(ARGS)
{
    return view(run, self, args, QN_T_KEYS, out);
}

static enum qn_tflow dict_values(ARGS)
{
    return view(run, self, args, QN_T_VALUES, out);
}

static enum qn_tflow dict_get(ARGS)
{
    struct qn_tval v[2], *found = NULL;
    QN_T_TRY(qn_trun_args(run, args, "/key /default", 1, v));
    QN_T_TRY(qn_tdict_find(run, self->dict, &v[0], &found));
    *out = found ? *found : v[1].type == QN_T_MISSING ? qn_tval_none() : v[1];
    return QN_T_OK;
}

static enum qn_tflow dict_copy(ARGS)
{
    struct qn_tdict *copy = NULL;
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    QN_T_TRY(qn_tdict_copy(run, self->dict, &copy));
    *out = qn_tval_dict(copy);
    return QN_T_OK;
}

static enum qn_tflow dict_fromkeys(ARGS)
{
    struct qn_tval v[2], key;
    struct qn_tdict *dict = NULL;
    struct qn_tcursor c;
    bool more = false;
    (void)self;
    QN_T_TRY(qn_trun_args(run, args, "/iterable /value", 1, v));
    if (v[1].type == QN_T_MISSING)
        v[1] = qn_tval_none();
    QN_T_TRY(qn_tdict_new(run, 0, &dict));
    QN_T_TRY(qn_titer_begin(run, &v[0], &c));
    QN_T_TRY(qn_titer_next(run, &c, &key, &more));
    while (more) {
        QN_T_TRY(qn_tdict_set(run, dict, &key, &v[1]));
        QN_T_TRY(qn_titer_next(run, &c, &key, &more));
    }
    *out = qn_tval_dict(dict);
    return QN_T_OK;
}

static enum qn_tflow add_pairs(struct qn_trun *run, const struct qn_tval *from,
                               struct qn_tdict *dict)
{
    struct qn_tcursor c;
    struct qn_tval item;
    bool more = false;
    QN_T_TRY(qn_titer_begin(run, from, &c));
    QN_T_TRY(qn_titer_next(run, &c, &item, &more));
    while (more) {
        struct qn_tlist *pair = NULL;
        QN_T_TRY(qn_titer_list(run, &item, &pair));
        if (pair->n != 2)
            return qn_trun_fail(
                run, "dictionary update sequence element has length %zu; 2 is required", pair->n);
        QN_T_TRY(qn_tdict_set(run, dict, &pair->items[0], &pair->items[1]));
        QN_T_TRY(qn_titer_next(run, &c, &item, &more));
    }
    return QN_T_OK;
}

enum qn_tflow qn_tdict_update(struct qn_trun *run, struct qn_tdict *dict,
                              const struct qn_tval *from)
{
    if (from->type == QN_T_UNDEFINED)
        return qn_trun_undefined(run, from);
    if (from->type != QN_T_DICT)
        return add_pairs(run, from, dict);
    for (size_t i = 0; i < from->dict->n; i++)
        QN_T_TRY(qn_tdict_set(run, dict, &from->dict->members[i].key, &from->dict->members[i].val));
    return QN_T_OK;
}

/* Methods that modify a dictionary: see the comment in methods_list.c. */

static enum qn_tflow dict_clear(ARGS)
{
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    *self->dict = (struct qn_tdict){0};
    *out = qn_tval_none();
    return QN_T_OK;
}

static enum qn_tflow dict_pop(ARGS)
{
    struct qn_tval v[2], *found = NULL;
    QN_T_TRY(qn_trun_args(run, args, "/key /default", 1, v));
    QN_T_TRY(qn_tdict_find(run, self->dict, &v[0], &found));
    if (!found && v[1].type == QN_T_MISSING)
        return qn_trun_fail(run, "pop: the dictionary has no such key");
    *out = found ? *found : v[1];
    return found ? qn_tdict_remove(run, self->dict, &v[0]) : QN_T_OK;
}

static enum qn_tflow dict_popitem(ARGS)
{
    struct qn_tdict *dict = self->dict;
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    if (dict->n == 0)
        return qn_trun_fail(run, "popitem(): dictionary is empty");
    struct qn_tval key = dict->members[dict->n - 1].key, v = dict->members[dict->n - 1].val;
    QN_T_TRY(qn_tdict_remove(run, dict, &key));
    return qn_tval_pair(run, &key, &v, out);
}

static enum qn_tflow dict_setdefault(ARGS)
{
    struct qn_tval v[2], *found = NULL;
    QN_T_TRY(qn_trun_args(run, args, "/key /default", 1, v));
    QN_T_TRY(qn_tdict_find(run, self->dict, &v[0], &found));
    *out = found ? *found : v[1].type == QN_T_MISSING ? qn_tval_none() : v[1];
    return found ? QN_T_OK : qn_tdict_set(run, self->dict, &v[0], out);
}

static enum qn_tflow dict_update(ARGS)
{
    struct qn_tval v = qn_tval_of(QN_T_MISSING);
    struct qn_targs positional = {.v = args->v, .n = args->n};
    QN_T_TRY(qn_trun_args(run, &positional, "/other", 0, &v));
    if (v.type != QN_T_MISSING)
        QN_T_TRY(qn_tdict_update(run, self->dict, &v));
    for (size_t i = 0; args->named && i < args->named->n; i++)
        QN_T_TRY(qn_tdict_set(run, self->dict, &args->named->members[i].key,
                              &args->named->members[i].val));
    *out = qn_tval_none();
    return QN_T_OK;
}

const struct qn_tmethod qn_tmethods_dict[] = {
    {"items", dict_items},           {"get", dict_get},       {"keys", dict_keys},
    {"values", dict_values},         {"copy", dict_copy},     {"fromkeys", dict_fromkeys},
    {"clear", dict_clear},           {"pop", dict_pop},       {"popitem", dict_popitem},
    {"setdefault", dict_setdefault}, {"update", dict_update}, {NULL, NULL},
};
