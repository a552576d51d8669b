/* Starts a model's child with its files and the options from inventory_want.c, and estimates the
 * memory it needs. See inventory_private.h. */
#include "models/inventory_private.h"

#include "base/path.h"
#include "base/str.h"
#include "contract/control.h"
#include "contract/job.h"
#include "models/load_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 64 * 1024 };

/* More than any machine has. Sizes claimed by files are added up for all models and must not
 * overflow. */
static const int64_t MEMORY_MAX = INT64_C(1) << 53;

static void note_digest(struct qn_model_slot *p, const struct qn_model_row *row)
{
    if (snprintf(p->process.digest, sizeof p->process.digest, "%s", row->digest) >=
        (int)sizeof p->process.digest)
        p->process.digest[0] = '\0';
}

/* The row's files that are passed to the child. The child finds further ones, such as the other
 * parts of a split file, beside them. */
static size_t main_files(const struct qn_model_row *row,
                         const char *out[static QN_CONTROL_FILES_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < row->n_files && n < QN_CONTROL_FILES_MAX; i++)
        if (qn_str_eq(row->roles[i], "main"))
            out[n++] = row->files[i];
    return n;
}

bool qn_model_slot_has_other_files(struct qn_model_slot *p, const struct qn_model_row *row)
{
    const char *mains[QN_CONTROL_FILES_MAX];
    if (!qn_child_has_files(p->process.child, mains, main_files(row, mains)))
        return true;
    if (!*p->process.digest)
        note_digest(p, row);
    return *row->digest && !qn_str_eq(p->process.digest, row->digest);
}

int64_t qn_model_slot_estimate(const struct qn_model_slot *p, int64_t context)
{
    struct qn_memory_facts facts = {
        .cache_type = p->policy.cache_type,
        .file_bytes = p->id.size_bytes,
        .kv_token_bytes = p->id.kv_token_bytes,
        .context = context,
        .slots = p->inv->config.slots,
    };
    int64_t bytes = p->id.type->memory_estimate(&facts);
    return bytes < MEMORY_MAX ? bytes : MEMORY_MAX;
}

void qn_model_slot_note_shown(struct qn_model_slot *p, const struct qn_model_row *row)
{
    const char *layers[QN_OPTION_LAYERS];
    struct qn_buf text;
    qn_buf_init(&text, OPTIONS_MAX);
    qn_model_slot_layers(p, row, qn_model_slot_next_load(p), layers);
    qn_load_options_plain(p->id.type, layers, QN_OPTION_LAYERS, &text);
    free(p->process.shown);
    p->process.shown = text.overflow ? NULL : qn_xstrdup(qn_buf_cstr(&text));
    qn_buf_deinit(&text);
}

/* A child object keeps its backend type for life. No process runs at this point, and the old
 * child's history belongs to an earlier model of the same name. */
static void drop_child_of_other_type(struct qn_model_slot *p)
{
    if (!p->process.child || qn_str_eq(qn_child_type(p->process.child), p->id.type->type))
        return;
    qn_child_free(p->process.child);
    p->process.child = NULL;
    p->process.ends = (struct qn_model_slot_ends){0};
    p->process.measured_bytes = p->process.gpu_bytes = 0;
}

qn_err qn_model_slot_start(struct qn_model_slot *p, int threads,
                           const struct qn_child_events *events, struct qn_error *e)
{
    struct qn_inventory *inv = p->inv;
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    qn_err err = qn_inventory_find(inv, p->id.name, &snap, &row, e);
    if (err)
        return err;
    struct qn_model_slot_want w;
    err = qn_model_slot_want(p, row, qn_model_slot_next_load(p), &w, e);
    if (!err)
        err = qn_model_slot_want_files(&w, e);
    if (err) {
        qn_model_slot_want_deinit(&w);
        qn_snapshot_unref(snap);
        return err;
    }
    qn_model_slot_note_shown(p, row);
    if (!qn_model_slot_runs_with(p, &w))
        p->process.measured_bytes = 0; /* measured with other options */
    free(p->process.options);
    p->process.options = qn_xstrdup(qn_buf_cstr(&w.options));
    memcpy(p->process.engine, w.engine, sizeof p->process.engine);
    char *program =
        qn_path_join(inv->backend_dir, w.bridged ? "quince-bridge" : p->id.type->binary);
    /* The end of the previous process may not have been handled yet: what held for that process is
     * reset. */
    p->process.unloading = p->load.stale = p->load.retry = p->policy.leave = false;
    p->policy.keep_ms =
        p->load.before.ran && !qn_model_slot_asked(p) ? p->load.before.keep_ms : QN_UNSET;
    p->process.context = w.context;
    qn_model_slot_load_key(row, &w, p->load.load_key);
    qn_model_slot_load_begins(p);
    note_digest(p, row);
    p->process.threads = threads;
    const char *mains[QN_CONTROL_FILES_MAX];
    struct qn_child_spec spec = {
        .type = p->id.type->type,
        .program = program,
        .name = p->id.name,
        .files = mains,
        .n_files = main_files(row, mains),
        .options = qn_buf_cstr(&w.options),
        .threads = threads,
        .context = p->process.context,
        .pinned = p->policy.options.pinned,
    };
    drop_child_of_other_type(p);
    if (p->process.child)
        qn_child_respec(p->process.child, &spec);
    else
        err = qn_child_new(inv->loop, inv->client, &spec, events, p, &p->process.child, e);
    if (!err)
        qn_child_load(p->process.child);
    free(program);
    qn_model_slot_want_deinit(&w);
    qn_snapshot_unref(snap);
    return err;
}
