/* See pull_first.h. */
#include "downloads/pull_first.h"

#include "base/buf.h"
#include "downloads/pull_request.h"
#include "downloads/pulls.h"
#include "models/inventory.h"
#include "models/no_engine.h"
#include "registry/registry.h"
#include "registry/web.h"

#include <stdlib.h>

enum { ORDER_BYTES_MAX = 1024 * 1024 };

struct qn_pull_first {
    struct qn_pull_client *client;
    void (*done)(void *ctx, const struct qn_error *e);
    void *ctx;
};

static void on_end(void *ctx, const struct qn_pull_view *v, const struct qn_error *e)
{
    struct qn_pull_first f = *(struct qn_pull_first *)ctx;
    (void)v;
    free(ctx);
    f.done(f.ctx, e);
}

static const struct qn_pull_events events = {.end = on_end};

static bool is_missing(const struct qn_puller *p, const char *name)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    if (!p->pulls || qn_web_is_offline(p->web))
        return false;
    if (qn_inventory_find(p->models->inventory, name, &snap, &row, NULL)) {
        const struct qn_registry_entry *entry = qn_registry_find(p->models->registry, name);
        return entry && !qn_no_engine_for_listed(entry) && !entry->file;
    }
    bool missing = !row->n_files;
    qn_snapshot_unref(snap);
    return missing;
}

qn_err qn_pull_first(const struct qn_puller *p, const char *name, const char *owner,
                     void (*done)(void *ctx, const struct qn_error *e), void *ctx,
                     struct qn_pull_first **out, struct qn_error *e)
{
    *out = NULL;
    if (!is_missing(p, name))
        return QN_OK;
    struct qn_pull_asked asked;
    struct qn_arena *arena = qn_arena_new(ORDER_BYTES_MAX);
    struct qn_pull_first *f = qn_xcalloc(1, sizeof *f);
    f->done = done;
    f->ctx = ctx;
    qn_err err = qn_pull_by_name(p, name, false, false, arena, &asked, e);
    if (!err && !asked.here)
        err =
            qn_pulls_ask(p->pulls,
                         &(struct qn_pull_wish){
                             .order = &asked.order, .owner = owner, .priority = QN_UNSET_PRIORITY},
                         &events, f, &f->client, e);
    if (err || asked.here)
        free(f);
    else
        *out = f;
    qn_arena_free(arena);
    return err;
}

void qn_pull_first_leave(struct qn_pull_first *f)
{
    if (!f)
        return;
    qn_pull_leave(f->client);
    free(f);
}
