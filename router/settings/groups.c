/* See groups.h. */
#include "settings/groups.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* A model's name without the prefix that members of groups may omit. */
static const char *bare(const char *model)
{
    static const char *const prefixes[] = {"user.", "extra."};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (qn_str_starts(model, prefixes[i]))
            return model + strlen(prefixes[i]);
    return model;
}

static bool is_member(const struct qn_group *g, const char *model)
{
    for (size_t i = 0; i < g->n_members; i++)
        if (qn_str_ieq(g->members[i], model) || qn_str_ieq(g->members[i], bare(model)))
            return true;
    return false;
}

const struct qn_group *qn_groups_of(const struct qn_groups *g, const char *model)
{
    for (size_t i = 0; i < g->n; i++)
        if (is_member(&g->v[i], model))
            return &g->v[i];
    return NULL;
}

/* Whether a is exclusive and thereby excludes models of b from memory. */
static bool keeps_out(const struct qn_group *a, const struct qn_group *b)
{
    return a && a->exclusive && !(b && b->persistent);
}

bool qn_groups_coexist(const struct qn_group *a, const struct qn_group *b)
{
    if (a == b)
        return !a || !a->swap;
    return !keeps_out(a, b) && !keeps_out(b, a);
}

static qn_err read_members(const struct qn_jref *list, const struct qn_groups *earlier,
                           struct qn_group *g, struct qn_error *e)
{
    struct qn_jref it;
    if (qn_json_type(list) != QN_JSON_ARRAY || qn_json_count(list) == 0)
        return qn_json_fail(list, e, "expected an array of the names of models");
    size_t n = qn_json_count(list);
    if (n > QN_GROUP_MEMBERS_MAX)
        return qn_json_fail(list, e, "has more than %d members", QN_GROUP_MEMBERS_MAX);
    g->members = qn_xcalloc(n, sizeof *g->members);
    for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it)) {
        const char *name;
        qn_err err = qn_json_str(&it, &name, e);
        if (err)
            return err;
        const struct qn_group *other = qn_groups_of(earlier, name);
        if (other || is_member(g, name))
            return qn_json_fail(&it, e, "'%.200s' is a member of '%s' already", name,
                                other ? other->name : g->name);
        g->members[g->n_members++] = qn_xstrdup(name);
    }
    return QN_OK;
}

static qn_err read_group(const struct qn_jref *v, struct qn_groups *all, struct qn_error *e)
{
    static const char *const known[] = {"members", "swap", "exclusive", "persistent"};
    struct qn_group *g = &all->v[all->n];
    struct qn_jref it;
    *g = (struct qn_group){.swap = true, .exclusive = true};
    g->name = qn_xstrdup(v->key);
    const struct qn_groups earlier = {all->v, all->n++};
    if (!*g->name || strlen(g->name) > QN_GROUP_NAME_MAX)
        return qn_json_fail(v, e, "a group's name has 1 to %d bytes", QN_GROUP_NAME_MAX);
    if (qn_json_type(v) != QN_JSON_OBJECT)
        return qn_json_fail(v, e, "expected an object with members");
    for (bool more = qn_json_first(v, &it); more; more = qn_json_next(&it)) {
        size_t i = 0;
        while (i < sizeof known / sizeof *known && !qn_str_eq(it.key, known[i]))
            i++;
        if (i == sizeof known / sizeof *known)
            return qn_json_fail(&it, e, "is none of members, swap, exclusive and persistent");
    }
    struct qn_jref members = qn_json_get(v, "members"), swap = qn_json_get(v, "swap");
    struct qn_jref exclusive = qn_json_get(v, "exclusive");
    struct qn_jref persistent = qn_json_get(v, "persistent");
    qn_err err = read_members(&members, &earlier, g, e);
    if (!err)
        err = qn_json_bool_opt(&swap, &g->swap, e);
    if (!err)
        err = qn_json_bool_opt(&exclusive, &g->exclusive, e);
    return err ? err : qn_json_bool_opt(&persistent, &g->persistent, e);
}

qn_err qn_groups_parse(const char *text, struct qn_groups *out, struct qn_error *e)
{
    struct qn_json *doc;
    struct qn_jref it;
    *out = (struct qn_groups){0};
    if (!*text)
        return QN_OK;
    qn_err err = qn_json_parse(text, strlen(text), &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc);
    size_t n = qn_json_count(&root);
    if (qn_json_type(&root) != QN_JSON_OBJECT)
        err = qn_fail(e, QN_EINVAL, "expected an object of groups");
    else if (n > QN_GROUPS_MAX)
        err = qn_fail(e, QN_EINVAL, "has more than %d groups", QN_GROUPS_MAX);
    else
        out->v = qn_xcalloc(n ? n : 1, sizeof *out->v);
    for (bool more = !err && qn_json_first(&root, &it); more && !err; more = qn_json_next(&it))
        err = read_group(&it, out, e);
    qn_json_free(doc);
    return err;
}

void qn_groups_free(struct qn_groups *g)
{
    for (size_t i = 0; i < g->n; i++) {
        for (size_t k = 0; k < g->v[i].n_members; k++)
            free(g->v[i].members[k]);
        free(g->v[i].members);
        free(g->v[i].name);
    }
    free(g->v);
    *g = (struct qn_groups){0};
}
