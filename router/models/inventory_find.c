/* Finds the row for a name that a client sent; see inventory.h. */
#include "models/inventory_private.h"

#include "base/near.h"
#include "base/str.h"
#include "models/no_engine.h"
#include "registry/registry.h"

#include <string.h>

/* Removes a trailing ":latest", which Ollama's clients append. */
static void strip_latest(const char *name, char out[static QN_MODEL_NAME_MAX + 1])
{
    size_t n = strlen(name);
    if (qn_str_ends(name, ":latest"))
        n -= strlen(":latest");
    if (n > QN_MODEL_NAME_MAX)
        n = QN_MODEL_NAME_MAX;
    memcpy(out, name, n);
    out[n] = '\0';
}

/* Inexact matches of a row's name, better ones first. */
static const struct way {
    const char *prefix; /* a prefix of the row's name that the client may have left out */
    bool any_case;
} ways[] = {{"user.", false}, {"extra.", false}, {"", true}, {"user.", true}, {"extra.", true}};
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static const struct qn_model_row *find_loosely(const struct qn_snapshot *snap, const char *name,
                                               const struct way *way)
{
    size_t n = strlen(way->prefix);
    for (size_t i = 0; i < qn_snapshot_count(snap); i++) {
        const struct qn_model_row *row = qn_snapshot_at(snap, i);
        if (strncmp(row->name, way->prefix, n) != 0)
            continue;
        if (way->any_case ? qn_str_ieq(row->name + n, name) : qn_str_eq(row->name + n, name))
            return row;
    }
    return NULL;
}

const struct qn_model_row *qn_inventory_computes(const struct qn_snapshot *snap,
                                                 const struct qn_model_row *row)
{
    const struct qn_model_row *base = *row->base ? qn_snapshot_find(snap, row->base) : NULL;
    bool same = base && base->n_files == row->n_files && qn_str_eq(base->type, row->type);
    for (size_t i = 0; same && i < row->n_files; i++)
        same = qn_str_eq(base->files[i], row->files[i]);
    return same ? base : row;
}

/* Reports that no model has the name and suggests the most similar one; without e it only returns
 * the code. */
static qn_err not_found(const struct qn_snapshot *snap, const char *name, struct qn_error *e)
{
    if (!e)
        return QN_ENOTFOUND;
    struct qn_near near = qn_near_begin(name);
    for (size_t i = 0; i < qn_snapshot_count(snap); i++) {
        const char *own = qn_snapshot_at(snap, i)->name;
        for (size_t way = 0; way < COUNT(ways); way++)
            if (!ways[way].any_case && qn_str_starts(own, ways[way].prefix))
                qn_near_offer(&near, own + strlen(ways[way].prefix), own);
        qn_near_offer(&near, own, own);
    }
    for (size_t i = 0; i < qn_snapshot_alias_count(snap); i++) {
        const char *alias = qn_snapshot_alias_at(snap, i)->name;
        qn_near_offer(&near, alias, alias);
    }
    return qn_fail_param(e, QN_ENOTFOUND, "model",
                         "model '%.200s' not found%s%s%s: `quince list` or GET /v1/models shows "
                         "the names, `quince import FILE.gguf` adds one",
                         name, near.found ? "; did you mean '" : "", near.found ? near.found : "",
                         near.found ? "'?" : "");
}

static qn_err find_row(struct qn_inventory *inv, const char *name, bool exactly,
                       struct qn_snapshot **snap, const struct qn_model_row **row,
                       struct qn_error *e)
{
    char plain[QN_MODEL_NAME_MAX + 1];
    *snap = qn_catalog_snapshot(inv->catalog);
    *row = qn_snapshot_find(*snap, name);
    if (!*row && strlen(name) <= QN_MODEL_NAME_MAX) {
        strip_latest(name, plain);
        *row = qn_snapshot_find(*snap, plain);
        for (size_t way = 0; way < COUNT(ways) && !*row && !exactly; way++)
            *row = find_loosely(*snap, plain, &ways[way]);
    }
    if (!*row && !exactly) { /* the model of an alias; a model's own name has precedence */
        const char *model = qn_snapshot_alias(*snap, name);
        if (!model && strlen(name) <= QN_MODEL_NAME_MAX)
            model = qn_snapshot_alias(*snap, plain);
        *row = model ? qn_snapshot_find(*snap, model) : NULL;
    }
    if (*row)
        return QN_OK;
    const struct qn_registry_entry *listed = qn_registry_find(inv->config.registry, name);
    const char *why = listed ? qn_no_engine_for_listed(listed) : NULL;
    qn_err err;
    if (why)
        err = qn_fail_param(e, QN_ENOTFOUND, "model", "model '%.200s' cannot be run here: it is %s",
                            listed->name, why);
    else if (listed)
        err = qn_fail_param(
            e, QN_ENOTFOUND, "model",
            "model '%.200s' is not downloaded: `quince pull %.200s` gets it (%.1f GB)",
            listed->name, listed->name, (double)listed->size_bytes / 1e9);
    else
        err = not_found(*snap, name, e);
    qn_snapshot_unref(*snap);
    *snap = NULL;
    return err;
}

qn_err qn_inventory_find(struct qn_inventory *inv, const char *name, struct qn_snapshot **snap,
                         const struct qn_model_row **row, struct qn_error *e)
{
    return find_row(inv, name, false, snap, row, e);
}

qn_err qn_inventory_find_exactly(struct qn_inventory *inv, const char *name,
                                 struct qn_snapshot **snap, const struct qn_model_row **row,
                                 struct qn_error *e)
{
    return find_row(inv, name, true, snap, row, e);
}
