/* The catalog's thread and its queue of changes, see catalog.h.
 *
 * Invariants: once the thread runs, no other thread uses the database; `current` is replaced, never
 * changed; a change's done callback is posted after the snapshot that contains the change has been
 * published. */
#include "catalog/catalog.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"
#include "catalog/catalog_private.h"
#include "catalog/database.h"
#include "catalog/last_uses.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* TOUCH_DELAY_S: delay before uses of models are written to disk, since they come with every
 * request. */
enum { TOUCH_DELAY_S = 5, CHANGE_BYTES_MAX = 64 * 1024 * 1024 };

enum change_kind {
    CHANGE_PUT,
    CHANGE_REMOVE,
    CHANGE_OPTIONS,
    CHANGE_DIGEST,
    CHANGE_ALIAS,
    CHANGE_FORGET,
    CHANGE_TOUCH,
    CHANGE_TASK
};

struct change {
    struct change *next;
    enum change_kind kind;
    struct qn_arena *arena;  /* holds the copies below */
    struct qn_model_row row; /* PUT: all members; DIGEST: the results; others: the name */
    const char *json;        /* OPTIONS: the options; ALIAS: the model, NULL: none */
    bool forgotten;          /* FORGET; the name is the path */
    int64_t when_s;          /* TOUCH */
    qn_catalog_done done;
    void (*run)(struct qn_database *db, void *ctx); /* TASK */
    void (*tell)(void *ctx);                        /* TASK */
    void *ctx;
    bool failed;
    struct qn_error error;
};

struct qn_catalog {
    struct qn_database *db;
    qn_catalog_post post;
    void *post_ctx;
    pthread_t thread;
    pthread_mutex_t
        mutex; /* guards the queue and the pointer `current`; held for a few instructions */
    pthread_cond_t wake;
    struct change *first, **last;
    pthread_cond_t idle; /* signalled when the thread has finished the changes it took */
    bool busy;           /* the thread has taken changes and not finished them */
    bool urgent;         /* a change other than touches is waiting, or the catalog is closing */
    bool closing;
    struct qn_snapshot *current;
    struct qn_last_uses *uses; /* includes uses that are not in the database yet */
};

static struct change *change_new(enum change_kind kind, const char *name, qn_catalog_done done,
                                 void *ctx)
{
    struct change *c = qn_xcalloc(1, sizeof *c);
    c->kind = kind;
    c->arena = qn_arena_new(CHANGE_BYTES_MAX);
    c->row.name = qn_arena_strdup(c->arena, name);
    c->done = done;
    c->ctx = ctx;
    return c;
}

static void change_free(struct change *c)
{
    qn_arena_free(c->arena);
    free(c);
}

static qn_err apply(struct qn_database *db, const struct change *c, struct qn_error *e)
{
    switch (c->kind) {
    case CHANGE_PUT:
        return qn_database_put(db, &c->row, e);
    case CHANGE_REMOVE:
        return qn_database_remove(db, c->row.name, e);
    case CHANGE_OPTIONS:
        return qn_database_set_options(db, c->row.name, c->json, e);
    case CHANGE_DIGEST:
        return qn_database_set_digest(db, &c->row, e);
    case CHANGE_ALIAS:
        return qn_database_set_alias(db, c->row.name, c->json, e);
    case CHANGE_FORGET:
        return qn_database_set_forgotten(db, c->row.name, c->forgotten, e);
    case CHANGE_TOUCH:
        return qn_database_touch(db, c->row.name, c->when_s, e);
    case CHANGE_TASK:
        c->run(db, c->ctx);
        return QN_OK;
    }
    return qn_fail(e, QN_EINTERNAL, "unknown change");
}

/* Runs on the catalog user's thread. */
static void tell(void *arg)
{
    struct change *c = arg;
    if (c->kind == CHANGE_TASK)
        c->tell(c->ctx);
    else
        c->done(c->ctx, c->failed ? &c->error : NULL);
    change_free(c);
}

static qn_err publish(struct qn_catalog *c, struct qn_error *e)
{
    struct qn_snapshot *fresh;
    qn_err err = qn_database_snapshot(c->db, &fresh, e);
    if (err) {
        qn_error_log("catalog", "the catalog's snapshot is out of date: %s", e->message);
        return err;
    }
    pthread_mutex_lock(&c->mutex);
    struct qn_snapshot *old = c->current;
    c->current = fresh;
    pthread_mutex_unlock(&c->mutex);
    qn_snapshot_unref(old);
    return QN_OK;
}

static void work_off(struct qn_catalog *c, struct change *list)
{
    bool models = false; /* a change that the snapshot shows */
    for (struct change *ch = list; ch; ch = ch->next) {
        models = models || ch->kind != CHANGE_TASK;
        ch->failed = apply(c->db, ch, &ch->error) != QN_OK;
        /* A failure is logged if no request waits for the result, unless the model was removed
         * meanwhile. */
        if (ch->failed && !ch->done && ch->error.code != QN_ENOTFOUND)
            qn_error_log("catalog", "%s", ch->error.message);
    }
    struct qn_error e = {0};
    bool hidden = models && publish(c, &e) != QN_OK;
    while (list) {
        struct change *next = list->next;
        if (hidden && !list->failed &&
            list->kind != CHANGE_TASK) { /* not in the snapshot, so the next request would not see
                                            the change */
            list->failed = true;
            list->error = e;
        }
        if (list->done || list->kind == CHANGE_TASK)
            c->post(c->post_ctx, tell, list);
        else
            change_free(list);
        list = next;
    }
}

/* Waits until an urgent change is queued, or touches have waited long enough; then takes the whole
 * queue. */
static struct change *take_queue(struct qn_catalog *c, bool *closing)
{
    pthread_mutex_lock(&c->mutex);
    while (!c->first && !c->closing)
        pthread_cond_wait(&c->wake, &c->mutex);
    if (!c->urgent) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += TOUCH_DELAY_S;
        while (!c->urgent && pthread_cond_timedwait(&c->wake, &c->mutex, &until) == 0)
            ;
    }
    struct change *list = c->first;
    c->first = NULL;
    c->last = &c->first;
    c->urgent = c->closing;
    *closing = c->closing;
    c->busy = true;
    pthread_mutex_unlock(&c->mutex);
    return list;
}

static void *run(void *arg)
{
    struct qn_catalog *c = arg;
    for (bool closing = false; !closing;) {
        struct change *list = take_queue(c, &closing);
        if (list)
            work_off(c, list);
        pthread_mutex_lock(&c->mutex);
        c->busy = false;
        pthread_cond_broadcast(&c->idle);
        pthread_mutex_unlock(&c->mutex);
    }
    return NULL;
}

qn_err qn_catalog_open(const char *path, qn_catalog_post post, void *post_ctx,
                       struct qn_catalog **out, struct qn_error *e)
{
    struct qn_catalog *c = qn_xcalloc(1, sizeof *c);
    c->post = post;
    c->post_ctx = post_ctx;
    c->last = &c->first;
    c->uses = qn_last_uses_new();
    qn_err err = qn_database_open(path, &c->db, e);
    if (!err)
        err = qn_database_snapshot(c->db, &c->current, e);
    if (err)
        goto fail;
    pthread_mutex_init(&c->mutex, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&c->wake, &attr);
    pthread_cond_init(&c->idle, NULL);
    pthread_condattr_destroy(&attr);
    if (pthread_create(&c->thread, NULL, run, c) != 0) {
        err = qn_fail(e, QN_EIO, "no thread for the catalog");
        pthread_cond_destroy(&c->idle);
        pthread_cond_destroy(&c->wake);
        pthread_mutex_destroy(&c->mutex);
        goto fail;
    }
    *out = c;
    return QN_OK;
fail:
    qn_snapshot_unref(c->current);
    qn_database_close(c->db);
    qn_last_uses_free(c->uses);
    free(c);
    return err;
}

void qn_catalog_close(struct qn_catalog *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->mutex);
    c->closing = c->urgent = true;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->mutex);
    pthread_join(c->thread, NULL);
    pthread_cond_destroy(&c->idle);
    pthread_cond_destroy(&c->wake);
    pthread_mutex_destroy(&c->mutex);
    qn_snapshot_unref(c->current);
    qn_database_close(c->db);
    qn_last_uses_free(c->uses);
    free(c);
}

void qn_catalog_flush(struct qn_catalog *c)
{
    pthread_mutex_lock(&c->mutex);
    while (c->first || c->busy) {
        c->urgent = true;
        pthread_cond_signal(&c->wake);
        pthread_cond_wait(&c->idle, &c->mutex);
    }
    pthread_mutex_unlock(&c->mutex);
}

struct qn_snapshot *qn_catalog_snapshot(struct qn_catalog *c)
{
    pthread_mutex_lock(&c->mutex);
    struct qn_snapshot *s = c->current;
    qn_snapshot_ref(s);
    pthread_mutex_unlock(&c->mutex);
    return s;
}

static void enqueue(struct qn_catalog *c, struct change *ch)
{
    pthread_mutex_lock(&c->mutex);
    *c->last = ch;
    c->last = &ch->next;
    if (ch->kind != CHANGE_TOUCH)
        c->urgent = true;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->mutex);
}

void qn_catalog_task(struct qn_catalog *c, void (*work)(struct qn_database *db, void *ctx),
                     void (*after)(void *ctx), void *ctx)
{
    struct change *ch = change_new(CHANGE_TASK, "", NULL, ctx);
    ch->run = work;
    ch->tell = after;
    enqueue(c, ch);
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
    struct change *ch = change_new(CHANGE_PUT, row->name, done, ctx);
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
    enqueue(c, change_new(CHANGE_REMOVE, name, done, ctx));
}

void qn_catalog_set_options(struct qn_catalog *c, const char *name, const char *options_json,
                            qn_catalog_done done, void *ctx)
{
    struct change *ch = change_new(CHANGE_OPTIONS, name, done, ctx);
    ch->json = copy(ch->arena, options_json);
    enqueue(c, ch);
}

void qn_catalog_set_digest(struct qn_catalog *c, const char *name, const char *digest,
                           const char *digest_of, const char *facts, qn_catalog_done done,
                           void *ctx)
{
    struct change *ch = change_new(CHANGE_DIGEST, name, done, ctx);
    ch->row.digest = copy(ch->arena, digest);
    ch->row.digest_of = copy(ch->arena, digest_of);
    ch->row.facts = copy(ch->arena, facts);
    enqueue(c, ch);
}

void qn_catalog_set_alias(struct qn_catalog *c, const char *name, const char *model,
                          qn_catalog_done done, void *ctx)
{
    struct change *ch = change_new(CHANGE_ALIAS, name, done, ctx);
    ch->json = copy(ch->arena, model);
    enqueue(c, ch);
}

void qn_catalog_set_forgotten(struct qn_catalog *c, const char *path, bool forgotten,
                              qn_catalog_done done, void *ctx)
{
    struct change *ch = change_new(CHANGE_FORGET, path, done, ctx);
    ch->forgotten = forgotten;
    enqueue(c, ch);
}

/* Merges a use with a queued use of the same model. */
static bool merge_touch(struct qn_catalog *c, const char *name, int64_t when_s)
{
    bool merged = false;
    pthread_mutex_lock(&c->mutex);
    for (struct change *ch = c->first; ch && !merged; ch = ch->next)
        if (ch->kind == CHANGE_TOUCH && qn_str_eq(ch->row.name, name)) {
            if (ch->when_s < when_s)
                ch->when_s = when_s;
            merged = true;
        }
    pthread_mutex_unlock(&c->mutex);
    return merged;
}

void qn_catalog_touch(struct qn_catalog *c, const char *name, int64_t when_s)
{
    qn_last_uses_note(c->uses, name, when_s);
    if (merge_touch(c, name, when_s))
        return;
    struct change *ch = change_new(CHANGE_TOUCH, name, NULL, NULL);
    ch->when_s = when_s;
    enqueue(c, ch);
}

int64_t qn_catalog_last_use(struct qn_catalog *c, const struct qn_model_row *row)
{
    int64_t recent = qn_last_uses_find(c->uses, row->name);
    return recent > row->last_use_s ? recent : row->last_use_s;
}
