/* Determines what a model's child is started with: the load's options, the model's saved options
 * and the settings are merged into the options of one process, its engine and its context. See
 * inventory_private.h. */
#include "models/inventory_private.h"

#include "base/json.h"
#include "base/str.h"
#include "formats/stretch.h"
#include "models/engine_choice.h"
#include "models/load_options.h"
#include "models/model_capabilities.h"
#include "settings/remote.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPTIONS_MAX = 64 * 1024 };

int64_t qn_row_number(const char *options, const char *name)
{
    struct qn_json *doc;
    int64_t out = QN_UNSET;
    if (qn_json_parse(options, strlen(options), &doc, NULL))
        return out;
    struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, name);
    qn_json_i64_opt(&v, 0, INT32_MAX, &out, NULL);
    qn_json_free(doc);
    return out;
}

void qn_model_slot_layers(const struct qn_model_slot *p, const struct qn_model_row *row,
                          const struct qn_model_slot_load *load,
                          const char *layers[static QN_OPTION_LAYERS])
{
    layers[0] = load && load->options ? load->options : "{}";
    layers[1] = load && load->saved ? load->saved : row->options;
    layers[2] = p->inv->load_options;
}

static bool is_file(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, R_OK) == 0;
}

/* Checked before the load, so that no other model is evicted for one whose file is missing. A
 * running process no longer needs its file. */
static qn_err check_files(const struct qn_inventory *inv, const struct qn_model_row *row,
                          struct qn_error *e)
{
    const struct qn_model_slot *p = qn_model_slot_find(inv, row->name);
    if (p && qn_model_slot_has_process(qn_model_slot_state(p)))
        return QN_OK;
    for (size_t i = 0; i < row->n_files; i++)
        if (qn_str_eq(row->roles[i], "main") && access(row->files[i], F_OK) != 0)
            return qn_fail_param(e, QN_ENOTFOUND, "model",
                                 "the file %.300s of model '%s' is missing: put it "
                                 "back, get it again, or forget the model with `quince delete %s`",
                                 row->files[i], row->name, row->name);
    return QN_OK;
}

qn_err qn_inventory_check_row(const struct qn_inventory *inv, const struct qn_model_row *row,
                              struct qn_error *e)
{
    if (!row->n_files)
        return qn_fail_param(e, QN_ENOTFOUND, "model",
                             "model '%s' is not downloaded: `quince pull %s` gets it", row->name,
                             row->name);
    if (!qn_backend_type_find(row->type))
        return qn_fail_param(e, QN_EUNSUPPORTED, "model",
                             "model '%s' is of type '%s', which this version cannot run", row->name,
                             row->type);
    return check_files(inv, row, e);
}

/* ---- the draft model ---- */

static qn_err no_draft(struct qn_error *e, const char *name, const char *why)
{
    return qn_fail_param(e, QN_EINVAL, "draft_model", "the draft model '%.200s' %s", name, why);
}

static qn_err file_of_draft(void *ctx, const char *name, struct qn_buf *path, struct qn_error *e)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    if (qn_inventory_find(ctx, name, &snap, &row, NULL))
        return no_draft(e, name, "is not known here: `quince list` shows the names");
    qn_err err = QN_OK;
    if (!qn_str_eq(row->type, "llm"))
        err = no_draft(e, name, "is not a language model that this machine computes");
    else if (row->n_files < 1)
        err = no_draft(e, name, "is not downloaded: `quince pull` gets it");
    else
        qn_buf_str(path, row->files[0]);
    qn_snapshot_unref(snap);
    return err;
}

/* Refuses the model itself as its draft model: it would check its own guesses at twice its cost.
 * options: as the process gets them. */
static qn_err check_draft_is_another(const struct qn_model_row *row, struct qn_buf *options,
                                     struct qn_error *e)
{
    struct qn_json *doc;
    qn_err err = qn_json_parse(qn_buf_cstr(options), options->len, &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc), draft = qn_json_get(&root, "draft_model");
    if (row->n_files && qn_str_eq(qn_json_raw_str(&draft), row->files[0]))
        err = no_draft(e, row->name,
                       "is the model itself: choose a smaller model of the same family");
    qn_json_free(doc);
    return err;
}

/* ---- the engine ---- */

/* The text under a name in the strongest layer that has one, else "". */
static void layer_text(const char *const *layers, const char *name, struct qn_buf *out)
{
    for (int i = 0; i < QN_OPTION_LAYERS && !out->len; i++) {
        struct qn_json *doc;
        if (qn_json_parse(layers[i], strlen(layers[i]), &doc, NULL))
            continue;
        struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, name);
        qn_buf_str(out, qn_json_raw_str(&v));
        qn_json_free(doc);
    }
}

/* Chooses the engine and adds the options that it needs. */
static qn_err add_engine(const struct qn_model_slot *p, const struct qn_model_row *row,
                         const char *const *layers, struct qn_model_slot_want *out,
                         struct qn_error *e)
{
    const struct qn_server_kind *kind = qn_server_kind_of_type(p->id.type->type);
    struct qn_engine_choice choice;
    struct qn_buf backend, args;
    out->bridged = p->id.type->defined;
    if (p->id.type->defined)
        return qn_remote_options(row->files[0], &out->options, e);
    if (!kind)
        return QN_OK;
    qn_buf_init(&backend, OPTIONS_MAX);
    qn_buf_init(&args, OPTIONS_MAX);
    layer_text(layers, kind->backend_option, &backend);
    layer_text(layers, kind->args_option, &args);
    qn_err err =
        qn_engine_choose(p->inv->config.packs, p->id.type, row, qn_buf_cstr(&backend), &choice, e);
    if (!err) {
        out->bridged = choice.server != NULL;
        memcpy(out->engine, choice.engine, sizeof out->engine);
        err = qn_engine_options(&choice, row, qn_buf_cstr(&args), &out->options, e);
        qn_engine_choice_deinit(&choice);
    }
    qn_buf_deinit(&backend);
    qn_buf_deinit(&args);
    return err;
}

bool qn_inventory_can(const struct qn_inventory *inv, const struct qn_model_row *row,
                      unsigned capability)
{
    const struct qn_backend_type *type = qn_backend_type_find(row->type);
    const struct qn_server_kind *kind = type ? qn_server_kind_of_type(type->type) : NULL;
    const char *layers[QN_OPTION_LAYERS] = {row->options, "{}", inv->load_options};
    struct qn_buf backend;
    if (!type || !(qn_model_capabilities(row).may & capability))
        return false;
    if (!kind || type->offers & capability)
        return type->offers & capability;
    qn_buf_init(&backend, OPTIONS_MAX);
    layer_text(layers, kind->backend_option, &backend);
    bool can = qn_engine_offers(inv->config.packs, type, row, qn_buf_cstr(&backend)) & capability;
    qn_buf_deinit(&backend);
    return can;
}

unsigned qn_inventory_abilities(const struct qn_inventory *inv, const struct qn_model_row *row)
{
    unsigned has = qn_model_capabilities(row).has, can = 0;
    for (unsigned bit = 1; bit <= QN_CAPABILITIES_ALL; bit <<= 1)
        if (has & bit && qn_inventory_can(inv, row, bit))
            can |= bit;
    return can;
}

/* ---- the context ---- */

/* Tokens of context that quince's own engine can use with this model; 0: unknown. */
static int64_t usable_context(const struct qn_model_row *row, const struct qn_jref *options)
{
    int64_t trained = qn_row_number(row->details, "context_length");
    struct qn_jref v = qn_json_get(options, "rope_scaling");
    struct qn_stretch stretch;
    if (trained <= 0)
        return 0;
    bool stretched = qn_stretch_parse(qn_json_raw_str(&v), &stretch, NULL) == QN_OK;
    return qn_stretch_context(stretched ? &stretch : NULL, (int32_t)trained);
}

/* A context longer than the model was trained for would only distort the memory plan, since
 * quince's own engine limits it. Other projects' servers may support it, so that theirs is left as
 * it is. */
static void limit_context(const struct qn_model_slot *p, const struct qn_model_row *row,
                          struct qn_model_slot_want *w)
{
    struct qn_json *doc;
    if (w->bridged || !qn_str_eq(p->id.type->type, "llm") ||
        qn_json_parse(qn_buf_cstr(&w->options), w->options.len, &doc, NULL))
        return;
    struct qn_jref root = qn_json_root(doc);
    int64_t most = usable_context(row, &root);
    if (most > 0 && w->context > most)
        w->context = most;
    qn_json_free(doc);
}

static int64_t asked_context(const struct qn_model_slot *p, const struct qn_model_row *row,
                             const struct qn_model_slot_load *load)
{
    if (load && load->context != QN_UNSET)
        return load->context;
    int64_t saved = qn_row_number(load && load->saved ? load->saved : row->options, "ctx_size");
    return saved != QN_UNSET ? saved : p->inv->config.context;
}

/* ---- everything together ---- */

qn_err qn_model_slot_want(const struct qn_model_slot *p, const struct qn_model_row *row,
                          const struct qn_model_slot_load *load, struct qn_model_slot_want *out,
                          struct qn_error *e)
{
    const char *layers[QN_OPTION_LAYERS];
    qn_model_slot_layers(p, row, load, layers);
    struct qn_load_places places = {.model_file = file_of_draft,
                                    .ctx = p->inv,
                                    .data_dir = p->inv->data_dir,
                                    .name = p->id.name};
    *out = (struct qn_model_slot_want){.context = asked_context(p, row, load)};
    qn_buf_init(&out->options, OPTIONS_MAX);
    qn_err err =
        qn_load_options_merge(p->id.type, layers, QN_OPTION_LAYERS, &places, &out->options, e);
    if (!err)
        err = check_draft_is_another(row, &out->options, e);
    if (!err)
        err = add_engine(p, row, layers, out, e);
    if (!err)
        limit_context(p, row, out);
    return err;
}

void qn_model_slot_want_deinit(struct qn_model_slot_want *w)
{
    qn_buf_deinit(&w->options);
}

bool qn_model_slot_has_options(const struct qn_model_slot *p, struct qn_model_slot_want *w)
{
    return p->process.options && qn_str_eq(p->process.options, qn_buf_cstr(&w->options));
}

bool qn_model_slot_runs_with(const struct qn_model_slot *p, struct qn_model_slot_want *w)
{
    return p->process.context == w->context && qn_model_slot_has_options(p, w);
}

void qn_model_slot_want_each_file(struct qn_model_slot_want *w,
                                  void (*fn)(void *ctx, const char *path), void *ctx)
{
    struct qn_json *doc;
    if (qn_json_parse(qn_buf_cstr(&w->options), w->options.len, &doc, NULL))
        return;
    struct qn_jref root = qn_json_root(doc), it, draft = qn_json_get(&root, "draft_model");
    struct qn_jref lora = qn_json_get(&root, "lora");
    if (qn_json_type(&draft) == QN_JSON_STRING)
        fn(ctx, qn_json_raw_str(&draft));
    for (bool more = qn_json_first(&lora, &it); more; more = qn_json_next(&it)) {
        struct qn_jref path = qn_json_get(&it, "path");
        fn(ctx, qn_json_raw_str(&path));
    }
    qn_json_free(doc);
}

qn_err qn_inventory_check_file(const char *draft, const char *path, struct qn_error *e)
{
    if (is_file(path))
        return QN_OK;
    return draft
               ? qn_fail_param(e, QN_EINVAL, "draft_model",
                               "the draft model '%.200s' cannot be read: its file %.300s is not "
                               "there",
                               draft, path)
               : qn_fail_param(e, QN_EINVAL, "lora",
                               "the adapter '%.300s' cannot be read: there is no such file", path);
}

/* list: the value of the option lora. A value that is not an array contains no file. */
static qn_err check_adapters(const struct qn_jref *list, struct qn_error *e)
{
    struct qn_jref it;
    bool more = qn_json_type(list) == QN_JSON_ARRAY && qn_json_first(list, &it);
    for (; more; more = qn_json_next(&it)) {
        struct qn_jref path = qn_json_get(&it, "path");
        qn_err err = qn_inventory_check_file(NULL, qn_json_raw_str(&path), e);
        if (err)
            return err;
    }
    return QN_OK;
}

qn_err qn_model_slot_want_files(struct qn_model_slot_want *w, struct qn_error *e)
{
    struct qn_json *doc;
    qn_err err = qn_json_parse(qn_buf_cstr(&w->options), w->options.len, &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc), draft = qn_json_get(&root, "draft_model");
    struct qn_jref lora = qn_json_get(&root, "lora");
    if (qn_json_type(&draft) == QN_JSON_STRING && !is_file(qn_json_raw_str(&draft)))
        err = no_draft(e, qn_json_raw_str(&draft), "cannot be read: its file is not there");
    if (!err)
        err = check_adapters(&lora, e);
    qn_json_free(doc);
    return err;
}

qn_err qn_inventory_draft(struct qn_inventory *inv, const struct qn_jref *options,
                          const char **name, struct qn_buf *path, struct qn_error *e)
{
    struct qn_jref draft = qn_json_get(options, "draft_model");
    const char *text = qn_json_type(&draft) == QN_JSON_STRING ? qn_json_raw_str(&draft) : "";
    *name = *text ? text : NULL;
    return *name ? file_of_draft(inv, *name, path, e) : QN_OK;
}
