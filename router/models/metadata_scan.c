/* See metadata_scan.h. A pass visits the rows in order of their names, so that rows may be added
 * and removed meanwhile; a change behind the current row is seen in the next pass. */
#include "models/metadata_scan.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"
#include "models/registration.h"
#include "registry/digest.h"

#include <stdlib.h>
#include <string.h>

enum { CHECK_MS = 500 }; /* how often a running checksum's file is compared with the catalog */

struct qn_metadata_scan {
    const struct qn_registration_world *world;
    bool stopped;
    atomic_bool give_up; /* cancels the work on the current file */
    struct qn_timer *timer;
    bool running, again;
    char *name; /* of the last row visited; NULL: none */
    /* input of the worker, set before it begins: */
    char *path;
    char known[QN_STAMP_MAX]; /* the files' stamp when their checksum was made */
    bool wants_facts;
    /* output of the worker: */
    struct qn_stamp stamp;
    char digest[QN_SHA256_HEX + 1];
    struct qn_buf facts;
    struct qn_error error;
};

static void next(struct qn_metadata_scan *s);

/* Runs on the worker. */
static void look(void *ctx)
{
    struct qn_metadata_scan *s = ctx;
    s->error = (struct qn_error){0};
    s->digest[0] = '\0';
    if (qn_registry_stamp(s->path, &s->stamp, &s->error) || qn_str_eq(s->stamp.text, s->known))
        return;
    if (qn_registry_digest(s->path, &s->give_up, s->digest, &s->error))
        return;
    /* A changed file's metadata must be read again. */
    struct qn_inspection unused;
    if ((s->wants_facts || s->known[0]) &&
        qn_registry_inspect(&s->world->inspector, s->path, &unused, &s->facts, &s->error))
        qn_buf_clear(&s->facts);
}

static void looked(void *ctx)
{
    struct qn_metadata_scan *s = ctx;
    s->running = false;
    qn_timer_stop(s->timer);
    s->timer = NULL;
    if (!*s->world->closed && s->error.code == QN_OK && s->digest[0])
        qn_catalog_set_digest(s->world->catalog, s->name, s->digest, s->stamp.text,
                              s->facts.len ? qn_buf_cstr(&s->facts) : NULL, NULL, NULL);
    else if (s->error.code != QN_OK)
        qn_debug("metadata_scan", "model=%s message=\"%s\"", s->name, s->error.message);
    qn_buf_clear(&s->facts);
    next(s);
}

/* Files of other programs are not read in full without need. The definition of a remote model may
 * hold a key, so no checksum of it is shown. */
static bool is_ours(const struct qn_model_row *row)
{
    bool kept = qn_str_eq(row->keeper, QN_KEEPER_QUINCE) || qn_str_eq(row->keeper, QN_KEEPER_USER);
    return kept && !qn_str_eq(row->recipe, "remote");
}

/* The first row after this name that has a file; the row of that name need not exist any more. */
static const struct qn_model_row *after(const struct qn_snapshot *snap, const char *name)
{
    for (size_t i = 0; i < qn_snapshot_count(snap); i++) {
        const struct qn_model_row *row = qn_snapshot_at(snap, i);
        if ((!name || strcmp(row->name, name) > 0) && row->n_files > 0 && is_ours(row))
            return row;
    }
    return NULL;
}

/* A checksum takes minutes: it is cancelled when its model has been removed or has another file. */
static void check(void *ctx)
{
    struct qn_metadata_scan *s = ctx;
    struct qn_snapshot *snap = qn_catalog_snapshot(s->world->catalog);
    const struct qn_model_row *row = qn_snapshot_find(snap, s->name);
    if (!row || row->n_files == 0 || !qn_str_eq(row->files[0], s->path))
        atomic_store(&s->give_up, true);
    qn_snapshot_unref(snap);
}

static void next(struct qn_metadata_scan *s)
{
    if (*s->world->closed || s->running || s->stopped)
        return;
    struct qn_snapshot *snap = qn_catalog_snapshot(s->world->catalog);
    const struct qn_model_row *row = after(snap, s->name);
    if (!row && s->again) {
        free(s->name);
        s->name = NULL;
        s->again = false;
        row = after(snap, NULL);
    }
    if (row) {
        free(s->name);
        free(s->path);
        s->name = qn_xstrdup(row->name);
        s->path = qn_xstrdup(row->files[0]);
        s->wants_facts = qn_str_eq(row->facts, "{}");
        size_t n = strlen(row->digest_of);
        bool usable = n < sizeof s->known && *row->digest;
        memcpy(s->known, usable ? row->digest_of : "", usable ? n + 1 : 1);
        s->running = true;
        atomic_store(&s->give_up, false);
        s->timer = qn_timer_start(s->world->loop, CHECK_MS, CHECK_MS, check, s);
        qn_loop_work(s->world->loop, look, looked, s);
    }
    qn_snapshot_unref(snap);
}

struct qn_metadata_scan *qn_metadata_scan_new(const struct qn_registration_world *world)
{
    struct qn_metadata_scan *s = qn_xcalloc(1, sizeof *s);
    s->world = world;
    atomic_init(&s->give_up, false);
    qn_buf_init(&s->facts, QN_FACTS_MAX);
    next(s);
    return s;
}

void qn_metadata_scan_again(struct qn_metadata_scan *s)
{
    s->again = true;
    next(s);
}

void qn_metadata_scan_stop(struct qn_metadata_scan *s)
{
    if (!s)
        return;
    s->stopped = true;
    atomic_store(&s->give_up, true);
    qn_timer_stop(s->timer);
    s->timer = NULL;
}

void qn_metadata_scan_free(struct qn_metadata_scan *s)
{
    if (!s)
        return;
    free(s->name);
    free(s->path);
    qn_buf_deinit(&s->facts);
    free(s);
}
