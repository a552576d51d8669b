/* See pull_request.h. Checkpoints are written in the shortest unambiguous form (qn_ref_print), so
 * that the same download always gives the same order, whatever form a client used. */
#include "downloads/pull_request.h"

#include "base/buf.h"
#include "base/str.h"
#include "contract/backend_types.h"
#include "downloads/pull_name.h"
#include "models/inventory.h"
#include "models/load_options.h"
#include "models/no_engine.h"
#include "models/registration.h"
#include "registry/ref.h"
#include "registry/registry.h"
#include "registry/web.h"

#include <string.h>

enum { REF_MAX = 4096, LABEL_MAX = 64, LABELS_MAX = 32 };

/* ---- parts of an order ---- */

static enum qn_hub_kind plain_hub(const struct qn_puller *p, const char *source)
{
    return qn_hub_kind_parse(source && *source ? source : p->model_source);
}

static qn_err add_checkpoint(const char *role, const char *text, enum qn_hub_kind plain,
                             struct qn_arena *a, struct qn_pull_order *o, struct qn_error *e)
{
    struct qn_ref ref;
    struct qn_buf print;
    qn_err err = qn_ref_parse(text, plain, &ref, e);
    if (err)
        return err;
    if (o->n == QN_PULL_ROLES_MAX)
        return qn_fail_param(e, QN_ELIMIT, "checkpoints", "a model has at most %d checkpoints",
                             QN_PULL_ROLES_MAX);
    qn_buf_init(&print, REF_MAX);
    qn_ref_print(&ref, &print);
    struct qn_pull_checkpoint c = {qn_arena_strdup(a, role),
                                   qn_arena_strdup(a, qn_buf_cstr(&print))};
    qn_buf_deinit(&print);
    if (qn_str_eq(role, "main")) { /* main is the first, wherever it was in the request */
        memmove(&o->checkpoints[1], &o->checkpoints[0], o->n * sizeof c);
        o->checkpoints[0] = c;
    } else {
        o->checkpoints[o->n] = c;
    }
    o->n++;
    return QN_OK;
}

/* Adds the projector, a file of the main repository, as a checkpoint of its own, as lists show
 * it. */
static qn_err add_mmproj(const char *file, struct qn_arena *a, struct qn_pull_order *o,
                         struct qn_error *e)
{
    struct qn_ref ref;
    for (size_t i = 0; i < o->n; i++)
        if (qn_str_eq(o->checkpoints[i].role, "mmproj"))
            return QN_OK;
    qn_err err = qn_ref_parse(o->checkpoints[0].ref, QN_HUB_HF, &ref, e);
    if (err)
        return err;
    size_t n = strlen(file);
    if (!n || n >= sizeof ref.variant)
        return qn_fail_param(e, QN_EINVAL, "mmproj", "'%.80s' is not a file of %s", file, ref.repo);
    if (ref.hub != QN_HUB_HF && ref.hub != QN_HUB_MODELSCOPE) {
        o->mmproj = qn_arena_strdup(a, file);
        return QN_OK;
    }
    memcpy(ref.variant, file, n + 1);
    struct qn_buf print;
    qn_buf_init(&print, REF_MAX);
    qn_ref_print(&ref, &print);
    err = add_checkpoint("mmproj", qn_buf_cstr(&print), QN_HUB_HF, a, o, e);
    qn_buf_deinit(&print);
    return err;
}

/* {"main": "owner/repo:X", "vae": ...} */
static qn_err add_checkpoints(const struct qn_jref *all, enum qn_hub_kind plain, struct qn_arena *a,
                              struct qn_pull_order *o, struct qn_error *e)
{
    struct qn_jref it;
    qn_err err = QN_OK;
    for (bool more = qn_json_first(all, &it); more && !err; more = qn_json_next(&it)) {
        const char *text = NULL;
        size_t n = strlen(it.key);
        if (!n || n > 32)
            return qn_json_fail(&it, e, "this is not the role of a file");
        if (!(err = qn_json_str(&it, &text, e)))
            err = add_checkpoint(it.key, text, plain, a, o, e);
    }
    return err;
}

static struct qn_pull_order empty_order(struct qn_arena *a, const char *name)
{
    return (struct qn_pull_order){.model = qn_arena_strdup(a, name),
                                  .recipe = "",
                                  .source = "",
                                  .mmproj = "",
                                  .labels = "",
                                  .extras = "",
                                  .options = ""};
}

static bool has_label(const char *labels, const char *label)
{
    struct qn_json *doc;
    struct qn_jref it;
    bool has = false;
    if (qn_json_parse(labels, strlen(labels), &doc, NULL))
        return false;
    struct qn_jref root = qn_json_root(doc);
    for (bool more = qn_json_first(&root, &it); more && !has; more = qn_json_next(&it))
        has = qn_str_eq(qn_json_raw_str(&it), label);
    qn_json_free(doc);
    return has;
}

/* ---- names ---- */

static qn_err parts_of_json(const char *checkpoints, enum qn_hub_kind plain, struct qn_arena *a,
                            struct qn_pull_order *o, struct qn_error *e)
{
    struct qn_json *doc;
    if (qn_json_parse(checkpoints, strlen(checkpoints), &doc, NULL))
        return QN_OK;
    struct qn_jref root = qn_json_root(doc);
    qn_err err = add_checkpoints(&root, plain, a, o, e);
    qn_json_free(doc);
    return err;
}

/* Makes the order for a model of the catalog that came from a hub, or that is known without its
 * files. */
static qn_err from_row(const struct qn_model_row *row, struct qn_arena *a, struct qn_pull_order *o,
                       struct qn_error *e)
{
    *o = empty_order(a, row->name);
    o->recipe = qn_arena_strdup(a, row->recipe);
    o->labels = qn_arena_strdup(a, row->labels);
    o->extras = qn_arena_strdup(a, row->extras);
    qn_err err = parts_of_json(row->checkpoints, QN_HUB_HF, a, o, e);
    if (!err && !o->n)
        err = add_checkpoint("main", row->checkpoint, QN_HUB_HF, a, o, e);
    if (!err && o->n == 1 && has_label(row->labels, "vision"))
        o->mmproj = "auto";
    return err;
}

static const struct qn_pull_checkpoint *part_of(const struct qn_pull_order *o, const char *role)
{
    for (size_t i = 0; i < o->n; i++)
        if (qn_str_eq(o->checkpoints[i].role, role))
            return &o->checkpoints[i];
    return NULL;
}

bool qn_pull_same_source(const struct qn_model_row *row, const struct qn_pull_order *order)
{
    struct qn_pull_order own;
    struct qn_arena *a = qn_arena_new(QN_PULL_ORDER_MAX);
    bool same = from_row(row, a, &own, NULL) == QN_OK && own.n == order->n;
    for (size_t i = 0; same && i < own.n; i++) {
        const struct qn_pull_checkpoint *other = part_of(order, own.checkpoints[i].role);
        same = other && qn_str_eq(other->ref, own.checkpoints[i].ref);
    }
    qn_arena_free(a);
    return same;
}

/* Refused before gigabytes are downloaded that no engine here can use. */
static qn_err check_runs(const char *recipe, struct qn_error *e)
{
    const char *why = qn_no_engine(recipe, 0);
    return why ? qn_fail_param(e, QN_EUNSUPPORTED, "recipe",
                               "a model of the recipe '%.40s' cannot be run here: it is %s", recipe,
                               why)
               : QN_OK;
}

static qn_err from_entry(const struct qn_registry_entry *entry, struct qn_arena *a,
                         struct qn_pull_order *o, struct qn_error *e)
{
    *o = empty_order(a, entry->name);
    const char *why = qn_no_engine_for_listed(entry);
    qn_err err = QN_OK;
    if (why)
        return qn_fail_param(e, QN_EUNSUPPORTED, "model_name",
                             "model '%.200s' cannot be run here: it is %s", entry->name, why);
    o->recipe = qn_arena_strdup(a, entry->recipe);
    o->labels = qn_arena_strdup(a, entry->labels);
    o->extras = qn_arena_strdup(a, entry->extras);
    o->options = qn_arena_strdup(a, entry->options);
    enum qn_hub_kind hub = qn_hub_kind_parse(entry->hub);
    for (size_t i = 0; i < entry->n_parts && !err; i++)
        err = add_checkpoint(entry->parts[i].role, entry->parts[i].checkpoint, hub, a, o, e);
    if (!err && entry->mmproj)
        err = add_mmproj(entry->mmproj, a, o, e);
    return err;
}

/* Makes the order for a name that Ollama's clients may use. The model gets the name that the client
 * sent. */
static qn_err from_ollama(const struct qn_puller *p, const char *name, struct qn_arena *a,
                          struct qn_pull_order *o, struct qn_error *e)
{
    const char *checkpoint = qn_registry_ollama(p->models->registry, name);
    size_t n = strlen(name);
    if (qn_str_ends(name, ":latest"))
        n -= strlen(":latest");
    const char *plain = n <= QN_MODEL_NAME_MAX ? qn_arena_strndup(a, name, n) : "";
    *o = empty_order(a, plain);
    if (!qn_registration_name_ok(plain))
        return qn_fail_param(e, QN_EINVAL, "model", "'%.200s' cannot be a model's name", name);
    o->mmproj = "auto";
    struct qn_ref ref;
    qn_err err = checkpoint ? QN_OK : qn_ref_parse(name, QN_HUB_HF, &ref, e);
    if (err)
        return err;
    if (!checkpoint && ref.hub == QN_HUB_LOCAL)
        return qn_fail_param(e, QN_ENOTFOUND, "model",
                             "pull model manifest: '%.200s' names a file: `quince import FILE` "
                             "makes it known",
                             name);
    return add_checkpoint("main", checkpoint ? checkpoint : name, QN_HUB_HF, a, o, e);
}

/* True when the model's files are on this machine and no hub needs to be queried for newer ones. */
static bool rests(const struct qn_puller *p, const struct qn_model_row *row, bool upgrade)
{
    if (!row->n_files)
        return false;
    return !upgrade || qn_web_is_offline(p->web) || row->builtin || *row->base || !*row->hub ||
           qn_str_eq(row->hub, "url") || /* a plain URL does not tell whether it has changed */
           !qn_str_eq(row->keeper, QN_KEEPER_QUINCE);
}

qn_err qn_pull_by_name(const struct qn_puller *p, const char *name, bool ollama, bool upgrade,
                       struct qn_arena *a, struct qn_pull_asked *out, struct qn_error *e)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    struct qn_error unknown = {0};
    *out = (struct qn_pull_asked){0};
    qn_err err = qn_inventory_find(p->models->inventory, name, &snap, &row, &unknown);
    if (!err) {
        out->here = rests(p, row, upgrade);
        if (out->here) {
            out->order = empty_order(a, row->name);
            out->order.recipe = qn_arena_strdup(a, row->recipe);
            out->order.checkpoints[0] =
                (struct qn_pull_checkpoint){"main", qn_arena_strdup(a, row->checkpoint)};
            out->order.n = 1;
        } else {
            err = from_row(row, a, &out->order, e);
        }
        qn_snapshot_unref(snap);
        return err;
    }
    const struct qn_registry_entry *entry = qn_registry_find(p->models->registry, name);
    if (entry)
        return from_entry(entry, a, &out->order, e);
    if (ollama)
        return from_ollama(p, name, a, &out->order, e);
    return qn_fail_param(e, QN_ENOTFOUND, "model",
                         "model '%.200s' is not known: GET /v1/models?show_all=true lists the "
                         "names; to get another one, name it user.NAME and say its checkpoint",
                         name);
}

/* ---- requests ---- */

/* Labels that requests may also set as boolean members. */
static const struct {
    const char *member, *label;
} truths[] = {{"reasoning", "reasoning"},
              {"vision", "vision"},
              {"embedding", "embeddings"},
              {"reranking", "reranking"}};

static qn_err add_label(struct qn_jw *w, struct qn_buf *text, const char *label)
{
    char quoted[LABEL_MAX + 4];
    struct qn_buf q;
    qn_buf_init(&q, sizeof quoted);
    struct qn_jw qw = qn_jw_to(&q);
    qn_jw_str(&qw, label);
    bool has = strstr(qn_buf_cstr(text), qn_buf_cstr(&q)) != NULL;
    qn_buf_deinit(&q);
    if (!has)
        qn_jw_str(w, label);
    return QN_OK;
}

static qn_err read_labels(const struct qn_jref *root, struct qn_arena *a, struct qn_pull_order *o,
                          struct qn_error *e)
{
    struct qn_jref list = qn_json_get(root, "labels"), it;
    struct qn_buf text;
    qn_err err = QN_OK;
    if (qn_json_type(&list) != QN_JSON_ABSENT && qn_json_type(&list) != QN_JSON_NULL &&
        qn_json_type(&list) != QN_JSON_ARRAY)
        return qn_json_fail(&list, e, "expected an array of strings");
    if (qn_json_count(&list) > LABELS_MAX)
        return qn_json_fail(&list, e, "at most %d labels", LABELS_MAX);
    qn_buf_init(&text, LABELS_MAX * (LABEL_MAX * 6 + 4) + 256);
    struct qn_jw w = qn_jw_to(&text);
    qn_jw_arr(&w);
    add_label(&w, &text, "custom");
    for (bool more = qn_json_first(&list, &it); more && !err; more = qn_json_next(&it)) {
        const char *label = "";
        if (!(err = qn_json_str(&it, &label, e)) && (!*label || strlen(label) > LABEL_MAX))
            err = qn_json_fail(&it, e, "a label has 1 to %d letters", LABEL_MAX);
        if (!err)
            add_label(&w, &text, label);
    }
    for (size_t i = 0; i < sizeof truths / sizeof *truths && !err; i++) {
        bool holds = false;
        struct qn_jref v = qn_json_get(root, truths[i].member);
        if (!(err = qn_json_bool_opt(&v, &holds, e)) && holds)
            add_label(&w, &text, truths[i].label);
    }
    qn_jw_arr_end(&w);
    if (!err)
        o->labels = qn_arena_strdup(a, qn_buf_cstr(&text));
    qn_buf_deinit(&text);
    return err;
}

static qn_err read_source(const struct qn_jref *root, const char **source, struct qn_error *e)
{
    const char *other = NULL;
    struct qn_jref v = qn_json_get(root, "source"), w = qn_json_get(root, "registry_source");
    qn_err err = qn_json_str_opt(&v, source, e);
    if (!err)
        err = qn_json_str_opt(&w, &other, e);
    if (err)
        return err;
    if (*source && other && qn_hub_kind_parse(*source) != qn_hub_kind_parse(other))
        return qn_json_fail(&w, e, "source and registry_source name different hubs");
    if (!*source)
        *source = other;
    enum qn_hub_kind kind = *source ? qn_hub_kind_parse(*source) : QN_HUB_HF;
    if (kind != QN_HUB_HF && kind != QN_HUB_MODELSCOPE)
        return qn_json_fail(&v, e, "'%.40s' is not a hub: huggingface and modelscope are", *source);
    return QN_OK;
}

/* Copies a JSON object's text unchanged into the arena. */
static qn_err read_object(const struct qn_jref *root, const char *name, struct qn_arena *a,
                          const char **out, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, name);
    struct qn_buf text;
    if (qn_json_type(&v) == QN_JSON_ABSENT || qn_json_type(&v) == QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(&v) != QN_JSON_OBJECT)
        return qn_json_fail(&v, e, "expected an object");
    qn_buf_init(&text, QN_PULL_ORDER_MAX / 4);
    qn_err err = qn_json_print(&v, &text);
    if (err)
        err = qn_json_fail(&v, e, "it is too long");
    else
        *out = qn_arena_strdup(a, qn_buf_cstr(&text));
    qn_buf_deinit(&text);
    return err;
}

static qn_err read_extras(const struct qn_jref *root, struct qn_arena *a, struct qn_pull_order *o,
                          struct qn_error *e)
{
    const char *defaults = NULL, *recipe = o->recipe && *o->recipe ? o->recipe : "llamacpp";
    struct qn_jref options = qn_json_get(root, "recipe_options");
    qn_err err = read_object(root, "recipe_options", a, &o->options, e);
    if (!err)
        err = qn_load_options_check(qn_backend_type_of(recipe, 0), &options, e);
    if (!err)
        err = read_object(root, "image_defaults", a, &defaults, e);
    if (!err && defaults)
        o->extras = qn_arena_fmt(a, "{\"image_defaults\":%s}", defaults);
    return err;
}

qn_err qn_pull_describe(const struct qn_jref *root, struct qn_arena *a, struct qn_pull_order *out,
                        struct qn_error *e)
{
    qn_err err = read_labels(root, a, out, e);
    return err ? err : read_extras(root, a, out, e);
}

static qn_err check_new_name(const char *name, struct qn_error *e)
{
    if (qn_str_starts(name, "user.") && qn_registration_name_ok(name + strlen("user.")) &&
        strlen(name) <= QN_MODEL_NAME_MAX)
        return QN_OK;
    return qn_fail_param(e, QN_EINVAL, "model_name",
                         "'%.80s' cannot be a new model's name: it must be user. and then letters, "
                         "digits or . _ - / : + @, and nothing between two slashes may be empty, "
                         ". or ..",
                         name);
}

/* A name of the user's own files, or of another program's, is not given to a downloaded model. */
static qn_err check_free(const struct qn_puller *p, const char *name, struct qn_error *e)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(p->models->catalog);
    const struct qn_model_row *row = qn_snapshot_find(snap, name);
    qn_err err = QN_OK;
    if (row && row->n_files && !qn_str_eq(row->keeper, QN_KEEPER_QUINCE))
        err = qn_fail_param(e, QN_ECONFLICT, "model_name",
                            "the name '%s' belongs to another model (%s): choose another one, or "
                            "delete that one first",
                            name, row->files[0]);
    qn_snapshot_unref(snap);
    return err;
}

static qn_err new_model(const struct qn_puller *p, const char *name, const struct qn_jref *root,
                        struct qn_arena *a, struct qn_pull_asked *out, struct qn_error *e)
{
    struct qn_pull_order *o = &out->order;
    const char *checkpoint = NULL, *recipe = "", *source = NULL, *mmproj = NULL;
    struct qn_jref v, parts = qn_json_get(root, "checkpoints");
    qn_err err = check_new_name(name, e);
    if (err)
        return err;
    *o = empty_order(a, name);
    err = check_free(p, name, e);
    if (!err)
        err = read_source(root, &source, e);
    v = qn_json_get(root, "checkpoint");
    if (!err)
        err = qn_json_str_opt(&v, &checkpoint, e);
    v = qn_json_get(root, "recipe");
    if (!err)
        err = qn_json_str_opt(&v, &recipe, e);
    v = qn_json_get(root, "mmproj");
    if (!err)
        err = qn_json_str_opt(&v, &mmproj, e);
    if (!err && qn_json_type(&parts) != QN_JSON_ABSENT && qn_json_type(&parts) != QN_JSON_OBJECT)
        err = qn_json_fail(&parts, e, "expected an object: a checkpoint for each role");
    if (!err && *recipe && !qn_recipe_known(recipe))
        err = qn_fail_param(e, QN_EINVAL, "recipe", "recipe '%.40s' is not known", recipe);
    else if (!err && *recipe)
        err = check_runs(recipe, e);
    if (!err)
        o->recipe = qn_arena_strdup(a, recipe);
    if (!err && checkpoint)
        err = add_checkpoint("main", checkpoint, plain_hub(p, source), a, o, e);
    if (!err && qn_json_type(&parts) == QN_JSON_OBJECT && !checkpoint)
        err = add_checkpoints(&parts, plain_hub(p, source), a, o, e);
    if (!err && (!o->n || !qn_str_eq(o->checkpoints[0].role, "main")))
        err = qn_fail_param(e, QN_EINVAL, "checkpoints", "the main checkpoint is missing");
    if (!err)
        err = read_labels(root, a, o, e);
    if (!err && mmproj && *mmproj)
        err = add_mmproj(mmproj, a, o, e);
    else if (!err && o->n == 1 && has_label(o->labels, "vision"))
        o->mmproj = "auto";
    if (!err)
        err = read_extras(root, a, o, e);
    return err;
}

qn_err qn_pull_by_request(const struct qn_puller *p, const struct qn_jref *root, bool admin,
                          struct qn_arena *a, struct qn_pull_asked *out, struct qn_error *e)
{
    const char *name = NULL;
    bool local = false, stays = false;
    struct qn_jref v = qn_json_get(root, "model_name"), other = qn_json_get(root, "model");
    struct qn_jref checkpoint = qn_json_get(root, "checkpoint"),
                   checkpoints = qn_json_get(root, "checkpoints");
    *out = (struct qn_pull_asked){0};
    qn_err err = qn_json_str_opt(&v, &name, e);
    if (!err && !name)
        err = qn_json_str_opt(&other, &name, e);
    if (!err && (!name || !*name))
        err = qn_fail_param(e, QN_EINVAL, "model_name", "model_name: the model's name is missing");
    v = qn_json_get(root, "local_import");
    if (!err)
        err = qn_json_bool_opt(&v, &local, e);
    v = qn_json_get(root, "do_not_upgrade");
    if (!err)
        err = qn_json_bool_opt(&v, &stays, e);
    if (err)
        return err;
    bool is_new =
        qn_json_type(&checkpoint) == QN_JSON_STRING || qn_json_type(&checkpoints) == QN_JSON_OBJECT;
    err = is_new ? new_model(p, name, root, a, out, e)
                 : qn_pull_by_name(p, name, false, !stays && !local, a, out, e);
    struct qn_jref options = qn_json_get(root, "recipe_options");
    const char *reserved = is_new && !admin ? qn_load_options_for_admins(&options) : NULL;
    if (!err && reserved)
        out->admin_only =
            qn_arena_fmt(a, "recipe_options.%s needs an admin key, as in a load", reserved);
    else if (!err && is_new && !admin)
        err = qn_pull_name_claim(p, !stays && !local, a, out, e);
    out->order.redefines = is_new && admin;
    out->order.local = local || qn_web_is_offline(p->web);
    return err;
}
