/* The catalog's changes and its snapshot, see catalog.h.
 *
 * Invariants: only the database's thread uses the database; `current` is replaced, never changed; a
 * change's done callback is posted after the snapshot that contains the change has been
 * published. */
#include "catalog/catalog.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"
#include "catalog/catalog_private.h"
#include "catalog/last_uses.h"
#include "catalog/rows.h"
#include "database/db_thread.h"

#include <pthread.h>
#include <stdlib.h>

/* TOUCH_DELAY_S: delay before uses of models are written to disk, since they come with every
 * request. */
enum {
    TOUCH_DELAY_S = 5,
    CHANGE_BYTES_MAX = 64 * 1024 * 1024,
    CHECKED_BYTES = 1024 * 1024 * 1024 /* the catalog is checked completely */
};

enum change_kind {
    CHANGE_PUT,
    CHANGE_REMOVE,
    CHANGE_OPTIONS,
    CHANGE_DIGEST,
    CHANGE_ALIAS,
    CHANGE_FORGET,
    CHANGE_TOUCH
};

struct change {
    struct qn_db_task task;
    struct qn_catalog *catalog;
    enum change_kind kind;
    struct qn_arena *arena;  /* holds the copies below */
    struct qn_model_row row; /* PUT: all members; DIGEST: the results; others: the name */
    const char *json;        /* OPTIONS: the options; ALIAS: the model, NULL: none */
    bool forgotten;          /* FORGET; the name is the path */
    int64_t when_s;          /* TOUCH */
    struct change *peer;     /* the change before this one that the next snapshot will show */
    qn_catalog_done done;
    void *ctx;
    bool failed;
    struct qn_error error;
};

/* A task of another file of this room. */
struct other {
    struct qn_db_task task;
    void (*work)(struct qn_database *db, void *ctx);
    void (*after)(void *ctx);
    void *ctx;
};

struct qn_catalog {
    struct qn_db_thread *thread;
    struct change *changed; /* of the database's thread: changes that no snapshot shows yet */
    pthread_mutex_t mutex;  /* guards `current` and `touches`; held for a few instructions */
    struct qn_snapshot *current;
    struct change *touches;    /* queued uses of models */
    struct qn_last_uses *uses; /* includes uses that are not in the database yet */
};

static void change_free(struct qn_db_task *task)
{
    struct change *c = (struct change *)task;
    qn_arena_free(c->arena);
    free(c);
}

static qn_err apply(struct qn_database *db, const struct change *c, struct qn_error *e)
{
    switch (c->kind) {
    case CHANGE_PUT:
        return qn_rows_put(db, &c->row, e);
    case CHANGE_REMOVE:
        return qn_rows_remove(db, c->row.name, e);
    case CHANGE_OPTIONS:
        return qn_rows_set_options(db, c->row.name, c->json, e);
    case CHANGE_DIGEST:
        return qn_rows_set_digest(db, &c->row, e);
    case CHANGE_ALIAS:
        return qn_rows_set_alias(db, c->row.name, c->json, e);
    case CHANGE_FORGET:
        return qn_rows_set_forgotten(db, c->row.name, c->forgotten, e);
    case CHANGE_TOUCH:
        return qn_rows_touch(db, c->row.name, c->when_s, e);
    }
    return qn_fail(e, QN_EINTERNAL, "unknown change");
}

/* Takes a use from the list of queued ones, so that no further use is merged with it. */
static void unlist_touch(struct qn_catalog *c, struct change *ch)
{
    pthread_mutex_lock(&c->mutex);
    struct change **at = &c->touches;
    while (*at && *at != ch)
        at = &(*at)->peer;
    if (*at)
        *at = ch->peer;
    pthread_mutex_unlock(&c->mutex);
}

static void run_change(struct qn_db_task *task, struct qn_database *db, const struct qn_error *e)
{
    struct change *ch = (struct change *)task;
    (void)e; /* the catalog is open */
    if (ch->kind == CHANGE_TOUCH)
        unlist_touch(ch->catalog, ch);
    ch->failed = apply(db, ch, &ch->error) != QN_OK;
    /* A failure is logged if no request waits for the result, unless the model was removed
     * meanwhile. */
    if (ch->failed && !ch->done && ch->error.code != QN_ENOTFOUND)
        qn_error_log("catalog", "%s", ch->error.message);
    ch->peer = ch->catalog->changed;
    ch->catalog->changed = ch;
}

static void tell(struct qn_db_task *task)
{
    struct change *c = (struct change *)task;
    c->done(c->ctx, c->failed ? &c->error : NULL);
    change_free(task);
}

static struct change *change_new(struct qn_catalog *catalog, enum change_kind kind,
                                 const char *name, qn_catalog_done done, void *ctx)
{
    struct change *c = qn_xcalloc(1, sizeof *c);
    c->task = (struct qn_db_task){.run = run_change,
                                  .after = done ? tell : change_free,
                                  .unheard = !done,
                                  .patient = kind == CHANGE_TOUCH};
    c->catalog = catalog;
    c->kind = kind;
    c->arena = qn_arena_new(CHANGE_BYTES_MAX);
    c->row.name = qn_arena_strdup(c->arena, name);
    c->done = done;
    c->ctx = ctx;
    return c;
}

static void enqueue(struct qn_catalog *c, struct change *ch)
{
    qn_db_thread_queue(c->thread, &ch->task);
}

/* Publishes a snapshot that has the changes of the batch. If it cannot be made, the next request
 * would not see them, so they count as failed. */
static void publish(void *ctx, struct qn_database *db)
{
    struct qn_catalog *c = ctx;
    struct qn_snapshot *fresh;
    struct qn_error e = {0};
    struct change *list = c->changed;
    c->changed = NULL;
    if (!list)
        return;
    if (qn_rows_snapshot(db, &fresh, &e)) {
        qn_error_log("catalog", "the catalog's snapshot is out of date: %s", e.message);
        for (; list; list = list->peer)
            if (!list->failed) {
                list->failed = true;
                list->error = e;
            }
        return;
    }
    pthread_mutex_lock(&c->mutex);
    struct qn_snapshot *old = c->current;
    c->current = fresh;
    pthread_mutex_unlock(&c->mutex);
    qn_snapshot_unref(old);
}

static qn_err first_snapshot(void *ctx, struct qn_database *db, struct qn_error *e)
{
    struct qn_catalog *c = ctx;
    return qn_rows_snapshot(db, &c->current, e);
}

static const struct qn_database_kind kind = {
    .name = "the catalog",
    .loss = "model files are not touched and can be imported anew",
    .schema = qn_catalog_schema,
    .checked_bytes = CHECKED_BYTES,
};

static void catalog_free(struct qn_catalog *c)
{
    qn_snapshot_unref(c->current);
    qn_last_uses_free(c->uses);
    pthread_mutex_destroy(&c->mutex);
    free(c);
}

qn_err qn_catalog_open(const char *path, qn_catalog_post post, void *post_ctx,
                       struct qn_catalog **out, struct qn_error *e)
{
    struct qn_catalog *c = qn_xcalloc(1, sizeof *c);
    c->uses = qn_last_uses_new();
    pthread_mutex_init(&c->mutex, NULL);
    qn_err err = qn_db_thread_open(&(struct qn_db_config){.path = path,
                                                          .kind = &kind,
                                                          .post = post,
                                                          .post_ctx = post_ctx,
                                                          .opened = first_snapshot,
                                                          .batch_ended = publish,
                                                          .ctx = c,
                                                          .delay_s = TOUCH_DELAY_S},
                                   &c->thread, e);
    if (err)
        catalog_free(c);
    else
        *out = c;
    return err;
}

void qn_catalog_close(struct qn_catalog *c)
{
    if (!c)
        return;
    qn_db_thread_close(c->thread);
    catalog_free(c);
}

void qn_catalog_flush(struct qn_catalog *c)
{
    qn_db_thread_flush(c->thread);
}

struct qn_snapshot *qn_catalog_snapshot(struct qn_catalog *c)
{
    pthread_mutex_lock(&c->mutex);
    struct qn_snapshot *s = c->current;
    qn_snapshot_ref(s);
    pthread_mutex_unlock(&c->mutex);
    return s;
}

static void run_other(struct qn_db_task *task, struct qn_database *db, const struct qn_error *e)
{
    struct other *o = (struct other *)task;
    (void)e; /* the catalog is open */
    o->work(db, o->ctx);
}

static void after_other(struct qn_db_task *task)
{
    struct other *o = (struct other *)task;
    o->after(o->ctx);
    free(o);
}

void qn_catalog_task(struct qn_catalog *c, void (*work)(struct qn_database *db, void *ctx),
                     void (*after)(void *ctx), void *ctx)
{
    struct other *o = qn_xcalloc(1, sizeof *o);
    *o = (struct other){
        .task = {.run = run_other, .after = after_other}, .work = work, .after = after, .ctx = ctx};
    qn_db_thread_queue(c->thread, &o->task);
}

static const char *copy(struct qn_arena *a, const char *s)
{
    return s ? qn_arena_strdup(a, s) : NULL;
}

static void copy_files(struct qn_arena *a, const struct qn_model_row *from, struct qn_model_row *to)
{
    const char **files = qn_arena_alloc(a, (from->n_files + 1) * sizeof *files);
    const char **roles = qn_arena_alloc(a, (from->n_files + 1) * sizeof *roles);
    int64_t *sizes = qn_arena_alloc(a, (from->n_files + 1) * sizeof *sizes);
    for (size_t i = 0; i < from->n_files; i++) {
        files[i] = copy(a, from->files[i]);
        roles[i] = from->roles ? copy(a, from->roles[i]) : "main";
        sizes[i] = from->sizes ? from->sizes[i] : -1;
    }
    to->files = files;
    to->roles = roles;
    to->sizes = sizes;
}

void qn_catalog_put(struct qn_catalog *c, const struct qn_model_row *row, qn_catalog_done done,
                    void *ctx)
{
    struct change *ch = change_new(c, CHANGE_PUT, row->name, done, ctx);
    struct qn_arena *a = ch->arena;
    const char *name = ch->row.name;
    ch->row = *row;
    ch->row.name = name;
    ch->row.type = copy(a, row->type);
    ch->row.recipe = copy(a, row->recipe);
    ch->row.checkpoint = copy(a, row->checkpoint);
    ch->row.labels = copy(a, row->labels);
    ch->row.details = copy(a, row->details);
    ch->row.options = copy(a, row->options);
    ch->row.facts = copy(a, row->facts);
    ch->row.digest = copy(a, row->digest);
    ch->row.digest_of = copy(a, row->digest_of);
    ch->row.base = copy(a, row->base);
    ch->row.preset = copy(a, row->preset);
    ch->row.checkpoints = copy(a, row->checkpoints);
    ch->row.hub = copy(a, row->hub);
    ch->row.revision = copy(a, row->revision);
    ch->row.commit = copy(a, row->commit);
    ch->row.keeper = copy(a, row->keeper);
    ch->row.extras = copy(a, row->extras);
    copy_files(a, row, &ch->row);
    enqueue(c, ch);
}

void qn_catalog_remove(struct qn_catalog *c, const char *name, qn_catalog_done done, void *ctx)
{
    qn_last_uses_forget(c->uses, name);
    enqueue(c, change_new(c, CHANGE_REMOVE, name, done, ctx));
}

void qn_catalog_set_options(struct qn_catalog *c, const char *name, const char *options_json,
                            qn_catalog_done done, void *ctx)
{
    struct change *ch = change_new(c, CHANGE_OPTIONS, name, done, ctx);
    ch->json = copy(ch->arena, options_json);
    enqueue(c, ch);
}

void qn_catalog_set_digest(struct qn_catalog *c, const char *name, const char *digest,
                           const char *digest_of, const char *facts, qn_catalog_done done,
                           void *ctx)
{
    struct change *ch = change_new(c, CHANGE_DIGEST, name, done, ctx);
    ch->row.digest = copy(ch->arena, digest);
    ch->row.digest_of = copy(ch->arena, digest_of);
    ch->row.facts = copy(ch->arena, facts);
    enqueue(c, ch);
}

void qn_catalog_set_alias(struct qn_catalog *c, const char *name, const char *model,
                          qn_catalog_done done, void *ctx)
{
    struct change *ch = change_new(c, CHANGE_ALIAS, name, done, ctx);
    ch->json = copy(ch->arena, model);
    enqueue(c, ch);
}

void qn_catalog_set_forgotten(struct qn_catalog *c, const char *path, bool forgotten,
                              qn_catalog_done done, void *ctx)
{
    struct change *ch = change_new(c, CHANGE_FORGET, path, done, ctx);
    ch->forgotten = forgotten;
    enqueue(c, ch);
}

/* Merges a use with a queued use of the same model; otherwise lists ch as one. */
static bool merge_touch(struct qn_catalog *c, struct change *ch)
{
    bool merged = false;
    pthread_mutex_lock(&c->mutex);
    for (struct change *at = c->touches; at && !merged; at = at->peer)
        if (qn_str_eq(at->row.name, ch->row.name)) {
            if (at->when_s < ch->when_s)
                at->when_s = ch->when_s;
            merged = true;
        }
    if (!merged) {
        ch->peer = c->touches;
        c->touches = ch;
    }
    pthread_mutex_unlock(&c->mutex);
    return merged;
}

void qn_catalog_touch(struct qn_catalog *c, const char *name, int64_t when_s)
{
    qn_last_uses_note(c->uses, name, when_s);
    struct change *ch = change_new(c, CHANGE_TOUCH, name, NULL, NULL);
    ch->when_s = when_s;
    if (merge_touch(c, ch))
        change_free(&ch->task);
    else
        enqueue(c, ch);
}

int64_t qn_catalog_last_use(struct qn_catalog *c, const struct qn_model_row *row)
{
    int64_t recent = qn_last_uses_find(c->uses, row->name);
    return recent > row->last_use_s ? recent : row->last_use_s;
}
