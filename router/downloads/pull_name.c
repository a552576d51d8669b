/* See pull_name.h. */
#include "downloads/pull_name.h"

#include "base/json.h"
#include "base/str.h"
#include "models/inventory.h"
#include "registry/registry.h"

#include <string.h>

/* True when every string of the JSON array `some` is in the JSON array `all`. */
static bool texts_among(const char *some, const char *all)
{
    struct qn_json *a, *b;
    if (qn_json_parse(some, strlen(some), &a, NULL))
        return false;
    if (qn_json_parse(all, strlen(all), &b, NULL)) {
        qn_json_free(a);
        return false;
    }
    struct qn_jref wanted = qn_json_root(a), known = qn_json_root(b), w, k;
    bool among = true;
    for (bool more = qn_json_first(&wanted, &w); more && among; more = qn_json_next(&w)) {
        bool found = false;
        for (bool next = qn_json_first(&known, &k); next && !found; next = qn_json_next(&k))
            found = qn_str_eq(qn_json_raw_str(&k), qn_json_raw_str(&w));
        among = found;
    }
    qn_json_free(a);
    qn_json_free(b);
    return among;
}

/* True when an object of the request is empty or equal to the model's. */
static bool same_object(const char *asked, const char *has)
{
    return !*asked || qn_str_eq(asked, "{}") || qn_str_eq(asked, has);
}

/* True when the request's description of the model, apart from its source, changes nothing. */
static bool same_description(const struct qn_model_row *row, const struct qn_pull_order *o)
{
    bool recipe = !*o->recipe || qn_str_eq(o->recipe, row->recipe);
    bool projector = !*o->mmproj || qn_str_eq(o->mmproj, "auto");
    return recipe && projector && texts_among(o->labels, row->labels) &&
           same_object(o->options, row->options) && same_object(o->extras, row->extras);
}

/* What "user.NAME" or NAME already means: a model or alias, in any letter case, or an entry of a
 * built-in list. NULL: nothing. */
static const char *stands_for(const struct qn_puller *p, const char *name, struct qn_arena *a)
{
    const char *plain = name + strlen("user.");
    const char *const ways[] = {name, plain};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct qn_snapshot *snap;
        const struct qn_model_row *row;
        struct qn_error unknown = {0};
        if (qn_inventory_find(p->models->inventory, ways[i], &snap, &row, &unknown) == QN_OK) {
            const char *found = qn_arena_strdup(a, row->name);
            qn_snapshot_unref(snap);
            return found;
        }
        const struct qn_registry_entry *entry = qn_registry_find(p->models->registry, ways[i]);
        if (entry)
            return entry->name;
    }
    return qn_registry_ollama(p->models->registry, plain);
}

qn_err qn_pull_name_claim(const struct qn_puller *p, bool upgrade, struct qn_arena *a,
                          struct qn_pull_asked *asked, struct qn_error *e)
{
    const struct qn_pull_order *o = &asked->order;
    const char *name = o->model;
    struct qn_snapshot *snap = qn_catalog_snapshot(p->models->catalog);
    const struct qn_model_row *row = qn_snapshot_find(snap, name);
    bool known = row != NULL;
    bool same = known && qn_pull_same_source(row, o) && same_description(row, o);
    qn_snapshot_unref(snap);
    if (same)
        return qn_pull_by_name(p, name, false, upgrade, a, asked, e);
    const char *other = known ? NULL : stands_for(p, name, a);
    if (known)
        asked->admin_only =
            qn_arena_fmt(a,
                         "the model '%s' exists, and only an admin key may give it another source "
                         "or description: choose another name, or pull it by its name alone",
                         name);
    else if (other)
        asked->admin_only =
            qn_arena_fmt(a, "'%s' already means %s: choose another name, or ask with an admin key",
                         name + strlen("user."), other);
    else if (strchr(name, '/')) /* the form of a hub's repository */
        asked->admin_only = qn_arena_fmt(
            a,
            "'%s' could be taken for a repository of a hub: choose a name without a slash, or "
            "ask with an admin key",
            name);
    return QN_OK;
}
