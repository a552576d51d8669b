/* The options of a model that the router itself obeys rather than the child (QN_LOAD_HOUSE), see
 * inventory_private.h. They are parsed again only when one of the texts has changed. */
#include "models/inventory_private.h"

#include "base/json.h"
#include "base/str.h"
#include "contract/job.h"
#include "models/model_capabilities.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVICT_IDLE_PRESET_S = 300, SECONDS_MAX = 31536000, COUNT_MAX = 100000 };

/* The value under this name in the strongest layer that has one; absent: no layer has. */
static struct qn_jref strongest(const struct qn_jref *roots, const char *name)
{
    struct qn_jref v = {0};
    for (int i = 0; i < QN_OPTION_LAYERS; i++) {
        v = qn_json_get(&roots[i], name);
        if (qn_json_type(&v) > QN_JSON_NULL)
            break;
    }
    return v;
}

static struct qn_model_slot_picture read_picture(const struct qn_model_row *row,
                                                 const struct qn_jref *roots)
{
    struct qn_model_slot_picture p = {QN_UNSET, QN_UNSET, QN_UNSET, NAN};
    struct qn_json *doc;
    if (qn_json_parse(row->extras, strlen(row->extras), &doc, NULL))
        return p;
    struct qn_jref root = qn_json_root(doc), own[QN_OPTION_LAYERS + 1];
    memcpy(own, roots, QN_OPTION_LAYERS * sizeof *own);
    own[QN_OPTION_LAYERS] = qn_json_get(&root, "image_defaults");
    for (int i = QN_OPTION_LAYERS; i >= 0; i--) { /* a stronger layer overwrites a weaker one */
        struct qn_jref v = qn_json_get(&own[i], "steps");
        qn_json_i64_opt(&v, 1, QN_JOB_STEPS_MAX, &p.steps, NULL);
        v = qn_json_get(&own[i], "width");
        qn_json_i64_opt(&v, QN_JOB_SIDE_MIN, QN_JOB_SIDE_MAX, &p.width, NULL);
        v = qn_json_get(&own[i], "height");
        qn_json_i64_opt(&v, QN_JOB_SIDE_MIN, QN_JOB_SIDE_MAX, &p.height, NULL);
        v = qn_json_get(&own[i], "cfg_scale");
        qn_json_f64_opt(&v, 0, 100, &p.cfg_scale, NULL);
    }
    qn_json_free(doc);
    return p;
}

void qn_lease_defaults(const struct qn_lease *lease, struct qn_job *job)
{
    const struct qn_model_slot_picture *p = &lease->model_slot->policy.options.picture;
    struct qn_image *image = &job->image;
    if (job->task != QN_TASK_IMAGE || image->kind == QN_IMAGE_UPSCALE)
        return;
    if (image->steps == QN_UNSET)
        image->steps = p->steps;
    if (isnan(image->cfg_scale))
        image->cfg_scale = p->cfg_scale;
    /* The saved size is only for new images: an edit has the size of the given picture by
     * default. */
    bool both = p->width != QN_UNSET && p->height != QN_UNSET;
    if (image->kind == QN_IMAGE_GENERATE && image->width == QN_UNSET && both) {
        image->width = p->width;
        image->height = p->height;
    }
}

/* Values were validated when they were set: an invalid one is ignored here. */
static void read_layers(struct qn_model_slot *p, const struct qn_model_row *row,
                        const struct qn_jref *roots)
{
    double idle_s = EVICT_IDLE_PRESET_S;
    struct qn_model_slot_options o = {
        .weight = 1, .max_concurrent = QN_UNSET, .max_queue = QN_UNSET};
    struct qn_jref v = strongest(roots, "auto_evict");
    o.auto_evict = qn_json_type(&v) == QN_JSON_BOOL ? qn_json_raw_bool(&v) : -1;
    v = strongest(roots, "evict_idle_timeout");
    qn_json_f64_opt(&v, 0, SECONDS_MAX, &idle_s, NULL);
    o.evict_idle_ms = (int64_t)(idle_s * 1000);
    v = strongest(roots, "max_concurrent");
    qn_json_i64_opt(&v, 0, COUNT_MAX, &o.max_concurrent, NULL);
    v = strongest(roots, "max_queue");
    qn_json_i64_opt(&v, -1, COUNT_MAX, &o.max_queue, NULL);
    v = strongest(roots, "evict_weight_factor");
    qn_json_f64_opt(&v, 0, 1e9, &o.weight, NULL);
    /* Only the saved option pins a model: a load saves it, and so does POST /internal/pin. */
    v = qn_json_get(&roots[1], "pinned");
    o.pinned = qn_json_raw_bool(&v);
    o.picture = read_picture(row, roots);
    v = strongest(roots, "cache_type");
    snprintf(p->policy.cache_type, sizeof p->policy.cache_type, "%s", qn_json_raw_str(&v));
    char backend[96];
    snprintf(backend, sizeof backend, "%.80s_backend", row->recipe);
    v = strongest(roots, backend);
    p->id.usage = qn_device_use_of(row->recipe, qn_json_raw_str(&v));
    p->policy.options = o;
}

void qn_model_slot_note_options(struct qn_model_slot *p, const struct qn_model_row *row)
{
    const char *layers[QN_OPTION_LAYERS];
    struct qn_json *docs[QN_OPTION_LAYERS] = {0};
    struct qn_jref roots[QN_OPTION_LAYERS] = {0};
    const struct qn_backend_type *type = qn_backend_type_find(row->type);
    p->id.kind = qn_kind_of(qn_model_capabilities(row).has);
    /* The name may have been given to a model of another type since. */
    if (type && !qn_model_slot_has_process(qn_model_slot_state(p)))
        p->id.type = type;
    const struct qn_model_slot_load *load = qn_model_slot_next_load(p);
    uint64_t serial = load ? load->serial : 0;
    if (p->policy.noted && p->policy.noted_load == serial &&
        qn_str_eq(p->policy.noted, row->options))
        return;
    free(p->policy.noted);
    p->policy.noted = qn_xstrdup(row->options);
    p->policy.noted_load = serial;
    qn_model_slot_layers(p, row, load, layers);
    for (int i = 0; i < QN_OPTION_LAYERS; i++)
        if (qn_json_parse(layers[i], strlen(layers[i]), &docs[i], NULL) == QN_OK)
            roots[i] = qn_json_root(docs[i]);
    read_layers(p, row, roots);
    for (int i = 0; i < QN_OPTION_LAYERS; i++)
        qn_json_free(docs[i]);
    p->id.group = qn_groups_of(&p->inv->groups, p->id.name);
    p->id.elsewhere = qn_str_eq(row->recipe, "remote");
    if (p->process.child)
        qn_child_set_pinned(p->process.child, p->policy.options.pinned);
}

void qn_model_slot_note_again(struct qn_model_slot *p)
{
    free(p->policy.noted);
    p->policy.noted = NULL;
}

void qn_inventory_note_options(struct qn_inventory *inv)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(inv->catalog);
    for (struct qn_model_slot *p = inv->model_slots; p; p = p->next) {
        const struct qn_model_row *row = qn_snapshot_find(snap, p->id.name);
        if (row)
            qn_model_slot_note_options(p, row);
    }
    qn_snapshot_unref(snap);
}

void qn_inventory_options_changed(struct qn_inventory *inv)
{
    for (struct qn_model_slot *p = inv->model_slots; p; p = p->next)
        qn_model_slot_load_saved(p);
    qn_inventory_note_options(inv);
    qn_inventory_settle_soon(inv);
}
