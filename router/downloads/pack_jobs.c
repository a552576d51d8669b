/* See pack_jobs.h. */
#include "downloads/pack_jobs.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "http/serving.h"
#include "io/loop.h"
#include "models/engine_choice.h"
#include "models/inventory.h"
#include "models/residency.h"
#include "registry/pack_install.h"
#include "registry/unpack.h"
#include "registry/web.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qn_pack_client {
    struct qn_pack_client *next;
    struct job *job;
    const struct qn_pack_events *ev;
    void *ctx;
};

struct job {
    struct job *next;
    struct qn_pack_jobs *jobs;
    const struct qn_pack *pack;
    char name[2 * QN_PACK_WORD_MAX + 2]; /* "RECIPE:BACKEND" */
    struct qn_pack_client *clients;
    /* installing */
    pthread_t thread;
    bool has_thread;
    atomic_bool stop;
    struct qn_web web;
    struct qn_pack_meter meter;
    struct qn_error error; /* owned by the thread until it has posted */
    struct qn_pull_rate rate;
    int64_t begun_s;
    /* removing */
    bool removing;
    char *away; /* the folder to delete; NULL: cleaning up after an installation */
    void (*done)(void *ctx);
    void *ctx;
    size_t unloading; /* models that must be unloaded first */
};

struct qn_pack_jobs {
    struct qn_pack_jobs_config with;
    char *unpacker;
    struct job *first;
    struct qn_timer *tick; /* runs while an engine is being installed */
    int64_t started_s;     /* Unix time */
    bool stopped;
};

/* ---- jobs ---- */

static void job_free(struct job *j)
{
    struct job **at = &j->jobs->first;
    while (*at != j)
        at = &(*at)->next;
    *at = j->next;
    while (j->clients)
        qn_pack_leave(j->clients);
    free(j->away);
    free(j);
}

static struct job *job_find(const struct qn_pack_jobs *jobs, const struct qn_pack *pack)
{
    for (struct job *j = jobs->first; j; j = j->next)
        if (j->pack == pack)
            return j;
    return NULL;
}

static struct job *job_new(struct qn_pack_jobs *jobs, const struct qn_pack *pack)
{
    struct job *j = qn_xcalloc(1, sizeof *j);
    j->jobs = jobs;
    j->pack = pack;
    j->next = jobs->first;
    jobs->first = j;
    j->begun_s = qn_wall_ms() / 1000;
    snprintf(j->name, sizeof j->name, "%s:%s", pack->recipe, pack->backend);
    atomic_init(&j->stop, false);
    atomic_init(&j->meter.size_bytes, -1);
    return j;
}

/* ---- watching clients ---- */

void qn_pack_leave(struct qn_pack_client *c)
{
    if (!c)
        return;
    struct qn_pack_client **at = &c->job->clients;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    free(c);
}

static struct qn_pack_client *join(struct job *j, const struct qn_pack_events *ev, void *ctx)
{
    struct qn_pack_client *c = qn_xcalloc(1, sizeof *c);
    *c = (struct qn_pack_client){.next = j->clients, .job = j, .ev = ev, .ctx = ctx};
    j->clients = c;
    return c;
}

static const char *phase_name(const struct job *j)
{
    static const char *const names[] = {[QN_PACK_RESOLVING] = "resolving",
                                        [QN_PACK_FETCHING] = "fetching",
                                        [QN_PACK_UNPACKING] = "unpacking"};
    return j->unloading ? "unloading" : names[atomic_load(&j->meter.phase)];
}

static const char *archive_name(const struct qn_pack *pack)
{
    const char *slash = pack->url ? strrchr(pack->url, '/') : NULL;
    return slash ? slash + 1 : "";
}

/* status as in pull_view.h; *file must outlive the view. */
static struct qn_pull_view view_of(const struct job *j, const char *status,
                                   const struct qn_error *e, struct qn_pull_view_file *file)
{
    *file = (struct qn_pull_view_file){
        .path = archive_name(j->pack),
        .sum = j->pack->sha256,
        .size_bytes = atomic_load(&j->meter.size_bytes),
        .here_bytes = atomic_load(&j->meter.here_bytes),
        .before_bytes = atomic_load(&j->meter.before_bytes),
        .done = atomic_load(&j->meter.phase) == QN_PACK_UNPACKING,
    };
    struct qn_pull_view v = {
        .id = j->name,
        .model = j->name,
        .status = status,
        .phase = phase_name(j),
        .running = true,
        .error = e ? e->message : "",
        .error_name = e ? qn_err_name(e->code) : "",
        .recipe = j->pack->recipe,
        .main_ref = j->pack->version,
        .files = file,
        .n = 1,
        .rate_bytes_s = atomic_load(&j->meter.phase) == QN_PACK_FETCHING ? j->rate.bytes_s : 0,
        .created_s = j->begun_s,
        .changed_s = j->begun_s,
    };
    qn_pull_view_add_up(&v);
    return v;
}

static void on_tick(void *ctx)
{
    struct qn_pack_jobs *jobs = ctx;
    for (struct job *j = jobs->first; j; j = j->next) {
        struct qn_pull_view_file file;
        qn_pull_rate_look(&j->rate, atomic_load(&j->meter.here_bytes), qn_now_ms());
        struct qn_pull_view v = view_of(j, "downloading", NULL, &file);
        for (struct qn_pack_client *c = j->clients, *next; c; c = next) {
            next = c->next;
            if (c->ev->progress)
                c->ev->progress(c->ctx, &v);
        }
    }
}

/* Starts or stops the progress timer, which runs while an engine is being installed. */
static void set_clock(struct qn_pack_jobs *jobs)
{
    bool wanted = false;
    for (const struct job *j = jobs->first; j; j = j->next)
        wanted = wanted || !j->removing;
    if (wanted == (jobs->tick != NULL) || jobs->stopped)
        return;
    if (!wanted)
        qn_timer_stop(jobs->tick);
    jobs->tick = wanted ? qn_timer_start(jobs->with.serving->loop, QN_PACK_TICK_MS, QN_PACK_TICK_MS,
                                         on_tick, jobs)
                        : NULL;
}

static void tell_end(struct job *j, const struct qn_error *e)
{
    struct qn_pull_view_file file;
    struct qn_pull_view v = view_of(j, e ? "error" : "completed", e, &file);
    while (j->clients) {
        struct qn_pack_client *c = j->clients;
        j->clients = c->next;
        c->ev->end(c->ctx, &v, e);
        free(c);
    }
}

/* ---- models that use it ---- */

static void all_unloaded(struct job *j);

static void on_unloaded(void *ctx)
{
    struct job *j = ctx;
    if (--j->unloading == 0)
        all_unloaded(j);
}

/* Unloads every model whose process runs this engine; running jobs end first. */
static void unload_users(struct job *j)
{
    struct qn_inventory *inv = j->jobs->with.inventory;
    struct qn_loaded loaded[QN_RESIDENTS_MAX];
    size_t n = qn_inventory_loaded(inv, loaded, QN_RESIDENTS_MAX);
    j->unloading = 1; /* held until all unloads have been requested */
    for (size_t i = 0; i < n; i++) {
        if (!qn_str_eq(loaded[i].engine, j->name))
            continue;
        j->unloading++;
        qn_info("packs", "engine=%s model=%s unloading=1", j->name, loaded[i].name);
        if (qn_inventory_unload(inv, loaded[i].name, on_unloaded, j, NULL))
            j->unloading--; /* it has been unloaded meanwhile */
    }
    on_unloaded(j);
}

/* ---- installing ---- */

/* Runs on a worker. */
static void clear_away(void *ctx)
{
    struct job *j = ctx;
    if (j->away)
        qn_unpack_discard(j->away);
    else
        qn_pack_tidy(j->jobs->with.packs, j->pack);
}

static void finished(void *ctx)
{
    struct job *j = ctx;
    struct qn_pack_jobs *jobs = j->jobs;
    if (!jobs->stopped) /* otherwise the inventory has been freed, and the next start checks the
                           engines */
        qn_engines_look(jobs->with.packs, qn_inventory_config(jobs->with.inventory)->backend_dir);
    if (!j->removing) {
        qn_info("packs", "engine=%s version=%s installed=1", j->name, j->pack->version);
        tell_end(j, NULL);
    } else {
        qn_info("packs", "engine=%s removed=1", j->name);
        j->done(j->ctx);
    }
    job_free(j);
    set_clock(jobs);
}

static void all_unloaded(struct job *j)
{
    qn_loop_work(j->jobs->with.serving->loop, clear_away, finished, j);
}

/* Runs on the loop. The thread has ended, or is about to. */
static void on_installed(void *ctx)
{
    struct job *j = ctx;
    struct qn_pack_jobs *jobs = j->jobs;
    if (j->has_thread)
        pthread_join(j->thread, NULL);
    j->has_thread = false;
    if (j->error.code == QN_ECANCELLED)
        qn_fail(&j->error, QN_EBUSY, "the server is stopping; the bytes downloaded of %s are kept",
                j->name);
    if (jobs->stopped) {
        job_free(j);
    } else if (j->error.code) {
        qn_warn("packs", "engine=%s version=%s installed=0 message=\"%s\"", j->name,
                j->pack->version, j->error.message);
        tell_end(j, &j->error);
        job_free(j);
        set_clock(jobs);
    } else {
        unload_users(j);
    }
}

static void *install_thread(void *ctx)
{
    struct job *j = ctx;
    struct qn_pack_order order = {
        .packs = j->jobs->with.packs,
        .pack = j->pack,
        .web = &j->web,
        .unpacker = j->jobs->unpacker,
        .meter = &j->meter,
    };
    qn_pack_install(&order, &j->error);
    qn_loop_post(j->jobs->with.serving->loop, on_installed, j);
    return NULL;
}

qn_err qn_pack_jobs_install(struct qn_pack_jobs *jobs, const struct qn_pack *pack,
                            const struct qn_pack_events *ev, void *ctx, struct qn_pack_client **out,
                            struct qn_error *e)
{
    struct job *j = job_find(jobs, pack);
    size_t n = 0;
    *out = NULL;
    if (jobs->with.serving->stopping || jobs->stopped)
        return qn_fail(e, QN_EBUSY, "the server is stopping");
    if (j && j->removing)
        return qn_fail(e, QN_ECONFLICT, "%s is being removed: try again when it is gone", j->name);
    for (const struct job *other = jobs->first; other; other = other->next)
        n++;
    if (!j && n >= QN_PACK_JOBS_MAX)
        return qn_fail(e, QN_EBUSY, "%d engines are being installed already: try again later",
                       QN_PACK_JOBS_MAX);
    if (!j) {
        j = job_new(jobs, pack);
        j->web = *jobs->with.web;
        j->web.stop = &j->stop;
        if (pthread_create(&j->thread, NULL, install_thread, j)) {
            job_free(j);
            return qn_fail(e, QN_EIO, "no thread can be started to install %s:%s", pack->recipe,
                           pack->backend);
        }
        j->has_thread = true;
        qn_info("packs", "engine=%s version=%s installing=1 url=%s", j->name, pack->version,
                pack->url ? pack->url : "");
        set_clock(jobs);
    }
    *out = join(j, ev, ctx);
    return QN_OK;
}

/* ---- removing ---- */

qn_err qn_pack_jobs_remove(struct qn_pack_jobs *jobs, const struct qn_pack *pack,
                           void (*done)(void *ctx), void *ctx, struct qn_error *e)
{
    char *away;
    struct job *j = job_find(jobs, pack);
    if (j)
        return qn_fail(e, QN_ECONFLICT, "%s is being %s: try again when that is over", j->name,
                       j->removing ? "removed" : "installed");
    qn_err err = qn_pack_take_away(jobs->with.packs, pack, &away, e);
    if (err)
        return err;
    j = job_new(jobs, pack);
    j->removing = true;
    j->away = away;
    j->done = done;
    j->ctx = ctx;
    unload_users(j);
    return QN_OK;
}

/* ---- all jobs ---- */

static void sweep(void *ctx)
{
    const struct qn_pack_jobs *jobs = ctx;
    qn_packs_sweep(jobs->with.packs, jobs->started_s);
}

static void swept(void *ctx)
{
    (void)ctx;
}

struct qn_pack_jobs *qn_pack_jobs_new(const struct qn_pack_jobs_config *config)
{
    struct qn_pack_jobs *jobs = qn_xcalloc(1, sizeof *jobs);
    jobs->with = *config;
    jobs->unpacker = qn_xstrdup(config->unpacker);
    jobs->started_s = qn_wall_ms() / 1000;
    qn_loop_work(config->serving->loop, sweep, swept, jobs);
    return jobs;
}

void qn_pack_jobs_drain(struct qn_pack_jobs *jobs)
{
    for (struct job *j = jobs ? jobs->first : NULL; j; j = j->next)
        atomic_store(&j->stop, true);
}

void qn_pack_jobs_stop(struct qn_pack_jobs *jobs)
{
    if (!jobs || jobs->stopped)
        return;
    jobs->stopped = true;
    qn_pack_jobs_drain(jobs);
    for (struct job *j = jobs->first; j; j = j->next) {
        if (j->has_thread)
            pthread_join(j->thread, NULL);
        j->has_thread = false;
    }
    qn_timer_stop(jobs->tick);
    jobs->tick = NULL;
}

void qn_pack_jobs_free(struct qn_pack_jobs *jobs)
{
    if (!jobs)
        return;
    while (jobs->first) { /* removals that still waited for models to be unloaded */
        struct job *j = jobs->first;
        if (j->removing)
            j->done(j->ctx);
        job_free(j);
    }
    free(jobs->unpacker);
    free(jobs);
}
