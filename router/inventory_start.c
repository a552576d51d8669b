/* With what a model's child is started: its files, the context and options that were asked for,
 * saved or set, and the memory that this needs. See inventory_private.h. */
#include "router/inventory_private.h"

#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "contract/control.h"
#include "contract/job.h"
#include "router/engine_choice.h"
#include "router/load_options.h"
#include "router/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 64 * 1024 };

/* More than any machine has. What files claim is added up for all models, and must not overflow. */
static const int64_t MEMORY_MAX = INT64_C(1) << 53;

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

int64_t qn_place_wanted_context(const struct place *p, const struct qn_model_row *row)
{
    if (p->context_asked != QN_UNSET)
        return p->context_asked;
    int64_t saved = qn_row_number(row->options, "ctx_size");
    return saved != QN_UNSET ? saved : p->inv->config.context;
}

static qn_err file_of_model(void *ctx, const char *name, struct qn_buf *path, struct qn_error *e)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    qn_err err = qn_inventory_find(ctx, name, &snap, &row, e);
    if (err)
        return err;
    if (row->n_files < 1)
        err = qn_fail_param(e, QN_ENOTFOUND, "model", "model '%.200s' has no file", name);
    else
        qn_buf_str(path, row->files[0]);
    qn_snapshot_unref(snap);
    return err;
}

/* The strongest layer's text under a name, "" where none says one. */
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

/* What a child is to run with. */
struct wanted {
    struct qn_buf options;                 /* a JSON object */
    bool bridged;                          /* behind quince-bridge: a server of somebody else's */
    char engine[2 * QN_PACK_WORD_MAX + 2]; /* which of packs.h; "": none of them */
};

/* Which engine it is to be, and what that is told on top. */
static qn_err add_engine(const struct place *p, const struct qn_model_row *row,
                         const char *const *layers, struct wanted *out, struct qn_error *e)
{
    const struct qn_server_kind *kind = qn_server_kind_of_type(p->type->type);
    struct qn_engine_choice choice;
    struct qn_buf backend, args;
    out->bridged = p->type->defined;
    if (p->type->defined)
        return qn_remote_options(row->files[0], &out->options, e);
    if (!kind)
        return QN_OK;
    qn_buf_init(&backend, OPTIONS_MAX);
    qn_buf_init(&args, OPTIONS_MAX);
    layer_text(layers, kind->backend_option, &backend);
    layer_text(layers, kind->args_option, &args);
    qn_err err =
        qn_engine_choose(p->inv->config.packs, p->type, row, qn_buf_cstr(&backend), &choice, e);
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
                      enum qn_task task)
{
    const struct qn_backend_type *type = qn_backend_type_find(row->type);
    const struct qn_server_kind *kind = type ? qn_server_kind_of_type(type->type) : NULL;
    const char *layers[QN_OPTION_LAYERS] = {row->options, "{}", inv->load_options};
    struct qn_buf backend;
    if (!type || !kind)
        return type && qn_backend_type_can(type, task);
    qn_buf_init(&backend, OPTIONS_MAX);
    layer_text(layers, kind->backend_option, &backend);
    bool can = qn_engine_can(inv->config.packs, type, row, qn_buf_cstr(&backend), task);
    qn_buf_deinit(&backend);
    return can;
}

static qn_err wanted_options(const struct place *p, const struct qn_model_row *row,
                             struct wanted *out, struct qn_error *e)
{
    const char *layers[QN_OPTION_LAYERS];
    qn_place_layers(p, row, layers);
    struct qn_load_places places = {
        .model_file = file_of_model, .ctx = p->inv, .data_dir = p->inv->data_dir, .name = p->name};
    *out = (struct wanted){.bridged = false};
    qn_buf_init(&out->options, OPTIONS_MAX);
    qn_err err =
        qn_load_options_merge(p->type, layers, QN_OPTION_LAYERS, &places, &out->options, e);
    return err ? err : add_engine(p, row, layers, out, e);
}

bool qn_place_wants_other_options(const struct place *p, const struct qn_model_row *row)
{
    struct wanted w;
    bool other = wanted_options(p, row, &w, NULL) || !p->options ||
                 !qn_str_eq(p->options, qn_buf_cstr(&w.options));
    qn_buf_deinit(&w.options);
    return other;
}

static void note_digest(struct place *p, const struct qn_model_row *row)
{
    if (snprintf(p->digest, sizeof p->digest, "%s", row->digest) >= (int)sizeof p->digest)
        p->digest[0] = '\0';
}

/* What a child gets of a row's files. What else the model has (the further parts of a split file,
 * say) is found beside these. */
static size_t main_files(const struct qn_model_row *row,
                         const char *out[static QN_CONTROL_FILES_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < row->n_files && n < QN_CONTROL_FILES_MAX; i++)
        if (qn_str_eq(row->roles[i], "main"))
            out[n++] = row->files[i];
    return n;
}

bool qn_place_has_other_files(struct place *p, const struct qn_model_row *row)
{
    const char *mains[QN_CONTROL_FILES_MAX];
    if (!qn_child_has_files(p->child, mains, main_files(row, mains)))
        return true;
    if (!*p->digest)
        note_digest(p, row);
    return *row->digest && !qn_str_eq(p->digest, row->digest);
}

int64_t qn_place_estimate(const struct place *p, int64_t context)
{
    struct qn_memory_facts facts = {
        .cache_type = p->cache_type,
        .file_bytes = p->size_bytes,
        .kv_token_bytes = p->kv_token_bytes,
        .context = context,
        .slots = p->inv->config.slots,
    };
    int64_t bytes = p->type->memory_estimate(&facts);
    return bytes < MEMORY_MAX ? bytes : MEMORY_MAX;
}

static void note_shown(struct place *p, const struct qn_model_row *row)
{
    const char *layers[QN_OPTION_LAYERS];
    struct qn_buf text;
    qn_buf_init(&text, OPTIONS_MAX);
    qn_place_layers(p, row, layers);
    qn_load_options_plain(p->type, layers, QN_OPTION_LAYERS, &text);
    free(p->shown);
    p->shown = text.overflow ? NULL : qn_xstrdup(qn_buf_cstr(&text));
    qn_buf_deinit(&text);
}

/* A child keeps its type for life. Nothing runs now, and nothing of its history is about the model
 * that has the name today. */
static void drop_child_of_other_type(struct place *p)
{
    if (!p->child || qn_str_eq(qn_child_type(p->child), p->type->type))
        return;
    qn_child_free(p->child);
    p->child = NULL;
    p->ends = (struct place_ends){0};
    p->measured_bytes = p->gpu_bytes = 0;
}

qn_err qn_place_start(struct place *p, int threads, const struct qn_child_events *events,
                      struct qn_error *e)
{
    struct qn_inventory *inv = p->inv;
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    qn_err err = qn_inventory_find(inv, p->name, &snap, &row, e);
    if (err)
        return err;
    struct wanted w;
    err = wanted_options(p, row, &w, e);
    if (err) {
        qn_buf_deinit(&w.options);
        qn_snapshot_unref(snap);
        return err;
    }
    note_shown(p, row);
    free(p->options);
    p->options = qn_xstrdup(qn_buf_cstr(&w.options));
    memcpy(p->engine, w.engine, sizeof p->engine);
    char *program = qn_path_join(inv->backend_dir, w.bridged ? "quince-bridge" : p->type->binary);
    /* Its state may not have been told yet: what held for the process before this one is over. */
    p->unloading = p->stale = p->retry = p->leave = false;
    p->keep_ms = QN_UNSET;
    p->context = qn_place_wanted_context(p, row);
    note_digest(p, row);
    p->threads = threads;
    const char *mains[QN_CONTROL_FILES_MAX];
    struct qn_child_spec spec = {
        .type = p->type->type,
        .program = program,
        .name = p->name,
        .files = mains,
        .n_files = main_files(row, mains),
        .options = qn_buf_cstr(&w.options),
        .threads = threads,
        .context = p->context,
        .pinned = p->house.pinned,
    };
    drop_child_of_other_type(p);
    if (p->child)
        qn_child_respec(p->child, &spec);
    else
        err = qn_child_new(inv->loop, inv->client, &spec, events, p, &p->child, e);
    if (!err)
        qn_child_load(p->child);
    free(program);
    qn_buf_deinit(&w.options);
    qn_snapshot_unref(snap);
    return err;
}
