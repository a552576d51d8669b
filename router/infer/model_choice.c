/* See model_choice.h. */
#include "infer/model_choice.h"

#include "base/json.h"
#include "library/preset.h"
#include "models/inventory.h"
#include "models/model_capabilities.h"
#include "models/no_engine.h"

#include <string.h>

const char *qn_choice_stand_in(const struct qn_models *models, struct qn_arena *arena)
{
    const char *name = qn_inventory_last_used(models->inventory);
    struct qn_snapshot *snap = qn_catalog_snapshot(models->catalog);
    for (size_t i = 0; !name && i < qn_snapshot_count(snap); i++)
        if (qn_snapshot_at(snap, i)->builtin)
            name = qn_snapshot_at(snap, i)->name;
    if (name)
        name = qn_arena_strdup(arena, name);
    qn_snapshot_unref(snap);
    return name;
}

/* Chooses a model for a request that names none, or names an unknown one, where the dialect and the
 * profile allow that: clients of some APIs do so. */
static void choose(const struct qn_models *models, const struct qn_dialect *dialect,
                   struct qn_request *rq)
{
    enum qn_profile_model policy = rq->profile->model;
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    const char *last = qn_inventory_last_used(models->inventory);
    if (dialect->last_used) {
        if (!rq->model && last)
            rq->model = qn_arena_strdup(rq->arena, last);
        return;
    }
    if (!rq->model && policy != QN_MODEL_REQUIRED)
        rq->model = qn_choice_stand_in(models, rq->arena);
    if (!rq->model || policy != QN_MODEL_ANY)
        return;
    const char *other = NULL;
    if (qn_inventory_find(models->inventory, rq->model, &snap, &row, NULL) == QN_OK)
        qn_snapshot_unref(snap);
    else
        other = qn_choice_stand_in(models, rq->arena);
    if (other)
        rq->model = other;
}

/* A preset may have a template of its own, of which it is unknown whether it supports reasoning. */
static bool has_template(const char *preset)
{
    struct qn_json *doc;
    if (qn_json_parse(preset, strlen(preset), &doc, NULL))
        return false;
    struct qn_jref root = qn_json_root(doc), own = qn_json_get(&root, "jinja");
    bool has = qn_json_type(&own) == QN_JSON_STRING;
    qn_json_free(doc);
    return has;
}

/* The task that a refused model cannot do, for the message. */
static const char *task_words(enum qn_task task)
{
    return task == QN_TASK_EMBED    ? "make embeddings"
           : task == QN_TASK_RERANK ? "rank documents"
                                    : "do this";
}

static qn_err cannot(const struct qn_model_row *row, enum qn_task task, struct qn_error *e)
{
    unsigned capability = qn_capability_of_task(task);
    bool may = qn_model_capabilities(row).may & capability;
    const char *why = may ? qn_no_engine(row->recipe, capability) : NULL;
    return qn_fail_param(e, QN_EUNSUPPORTED, "model", "model '%s' cannot %s: it is %s%s", row->name,
                         task_words(task), why ? "" : "of type ",
                         why ? why : qn_model_kind_name(row));
}

qn_err qn_choice_take(const struct qn_models *models, const struct qn_dialect *dialect,
                      struct qn_request *rq, struct qn_model_choice *out, struct qn_error *e)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    *out = (struct qn_model_choice){0};
    choose(models, dialect, rq);
    if (!rq->model)
        return qn_fail_param(e, QN_EINVAL, "model",
                             "no model was named: add \"model\" (GET /v1/models or `quince list` "
                             "shows the names, quince-starter is always there)");
    qn_err err = qn_inventory_find(models->inventory, rq->model, &snap, &row, e);
    if (err)
        return err;
    out->name = qn_arena_strdup(rq->arena, row->name);
    out->cannot_reason = !(qn_model_capabilities(row).may & QN_CAN_REASON);
    out->preset = qn_arena_strdup(rq->arena, row->preset);
    if (!qn_inventory_can(models->inventory, row, qn_capability_of_task(dialect->task)))
        err = cannot(row, dialect->task, e);
    qn_snapshot_unref(snap);
    return err;
}

size_t qn_choice_bytes(const struct qn_model_choice *c)
{
    return strlen(c->preset);
}

qn_err qn_choice_apply(const struct qn_model_choice *c, struct qn_request *rq, struct qn_error *e)
{
    if (rq->must_reason && c->cannot_reason && !has_template(c->preset)) /* Ollama's message */
        return qn_fail_param(e, QN_EUNSUPPORTED, "think", "\"%s\" does not support thinking",
                             rq->model);
    return qn_preset_apply(c->preset, rq, e);
}
