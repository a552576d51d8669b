/* Runs the steps of jobs, on workers and on threads of their own, and returns their results to the
 * loop; see pull_private.h. */
#include "downloads/pull_private.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"

#include <stdlib.h>

void qn_pull_run_free(struct qn_pull_run *r)
{
    qn_pull_plan_free(r->plan);
    free(r->parts);
    free(r->files);
    free(r);
}

static struct qn_pull_run *run_new(struct qn_pull_job *j)
{
    struct qn_pull_run *r = qn_xcalloc(1, sizeof *r);
    r->job = j;
    atomic_init(&r->stop, j->pulls->stopping);
    j->run = r;
    return r;
}

/* True when the step failed because the server has gone offline meanwhile. */
static bool cut_off(const struct qn_pull_run *r)
{
    return r->err == QN_EUNSUPPORTED && r->job->pulls->config.offline && !r->job->plan->order.local;
}

/* Handles the end of a step. While the server stops it changes no state: the next start continues
 * the job. */
static void step_over(struct qn_pull_run *r)
{
    struct qn_pull_job *j = r->job;
    struct qn_pulls *p = j->pulls;
    qn_err err = cut_off(r) ? QN_ECANCELLED : r->err;
    j->run = NULL;
    if (j->m.state == QN_PULL_RESOLVING && cut_off(r)) {
        j->wants_resolve = true; /* resolved when the server is online again */
    } else if (!p->stopping) {
        if (err && err != QN_ECANCELLED)
            j->error = r->error;
        bool all = true;
        for (size_t i = 0; i < j->plan->n; i++)
            all = all && j->plan->files[i].done;
        qn_pull_handle(j, err == QN_ECANCELLED ? QN_PULL_STOPPED
                          : err                ? QN_PULL_BAD
                          : all                ? QN_PULL_DONE
                                               : QN_PULL_PART);
    }
    qn_pull_run_free(r);
    qn_pull_schedule_soon(p);
}

/* Replaces the job's plan, files included. */
static void adopt(struct qn_pull_job *j, struct qn_pull_plan *plan)
{
    qn_pull_blobs_drop(j);
    qn_pull_plan_free(j->plan);
    j->plan = plan;
    qn_pull_blobs_take(j);
    j->rate = (struct qn_pull_rate){0};
}

static void resolve_work(void *ctx)
{
    struct qn_pull_run *r = ctx;
    const struct qn_pull_steps *s = &r->job->pulls->config.steps;
    r->err = s->resolve(s->ctx, &r->job->plan->order, &r->stop, &r->plan, &r->error);
}

static void resolve_done(void *ctx)
{
    struct qn_pull_run *r = ctx;
    struct qn_pull_job *j = r->job;
    struct qn_pulls *p = j->pulls;
    p->resolving--;
    if (r->err || p->stopping) {
        step_over(r);
        return;
    }
    adopt(j, r->plan);
    r->plan = NULL;
    j->m.planned = true; /* also for a job that is being stopped */
    qn_info("pulls", "download=%s files=%zu", j->id, j->plan->n);
    qn_pull_keep(j);
    j->run = NULL;
    qn_pull_run_free(r);
    qn_pull_handle(j, QN_PULL_DONE);
    qn_pull_schedule_soon(p);
}

/* Called by schedule(), which limits the number of running resolutions. */
void qn_pull_resolve(struct qn_pull_job *j)
{
    j->wants_resolve = false;
    j->pulls->resolving++;
    qn_loop_work(j->pulls->config.loop, resolve_work, resolve_done, run_new(j));
}

/* Joins the step's thread. Called when the step or the server ends, whichever comes first. */
static void join(struct qn_pull_run *r)
{
    if (r->threaded)
        pthread_join(r->thread, NULL);
    r->threaded = false;
}

void qn_pull_join(struct qn_pull_job *j)
{
    if (j->run)
        join(j->run);
}

static void fetched(void *ctx)
{
    struct qn_pull_run *r = ctx;
    struct qn_pull_job *j = r->job;
    join(r);
    j->pulls->fetching--;
    qn_pull_note_done(j);
    for (size_t i = 0; i < r->n; i++)
        j->blobs[r->files[i]]->owner = NULL;
    step_over(r);
}

static void *fetch_thread(void *ctx)
{
    struct qn_pull_run *r = ctx;
    struct qn_pulls *p = r->job->pulls;
    const struct qn_pull_steps *s = &p->config.steps;
    r->err = s->fetch(s->ctx, r->parts, r->n, &r->stop, &r->error);
    qn_loop_post(p->config.loop, fetched, r);
    return NULL;
}

/* Fetches the files of the job that no other job is fetching. */
void qn_pull_fetch(struct qn_pull_job *j)
{
    struct qn_pull_run *r = run_new(j);
    r->parts = qn_xcalloc(j->plan->n + 1, sizeof *r->parts);
    r->files = qn_xcalloc(j->plan->n + 1, sizeof *r->files);
    for (size_t i = 0; i < j->plan->n; i++) {
        if (j->plan->files[i].done || j->blobs[i]->owner)
            continue;
        j->blobs[i]->owner = r;
        r->parts[r->n].file = &j->plan->files[i];
        r->parts[r->n].meter = &j->blobs[i]->meter;
        atomic_init(&r->parts[r->n].done, false);
        r->files[r->n++] = i;
    }
    j->pulls->fetching++;
    r->threaded = pthread_create(&r->thread, NULL, fetch_thread, r) == 0;
    if (r->threaded)
        return;
    r->err = qn_fail(&r->error, QN_EIO, "no thread for the download of %s", j->plan->order.model);
    j->pulls->fetching--;
    for (size_t i = 0; i < r->n; i++)
        j->blobs[r->files[i]]->owner = NULL;
    step_over(r);
}

static void finished(void *arg, const struct qn_error *e)
{
    struct qn_pull_run *r = arg;
    if (e) {
        r->error = *e;
        r->err = e->code;
    }
    step_over(r);
}

void qn_pull_finish(struct qn_pull_job *j)
{
    const struct qn_pull_steps *s = &j->pulls->config.steps;
    struct qn_pull_run *r = run_new(j);
    s->finish(s->ctx, &j->plan->order, j->plan->files, j->plan->n, &r->stop, finished, r);
}

/* Files to delete: copied, since the job may be freed before the worker begins. */
struct rubbish {
    struct qn_pulls *pulls;
    struct qn_snapshot *models;
    struct qn_arena *arena;
    struct qn_download_file *files;
    size_t n;
};

static void discard_work(void *ctx)
{
    struct rubbish *r = ctx;
    const struct qn_pull_steps *s = &r->pulls->config.steps;
    s->discard(s->ctx, r->files, r->n, r->models);
}

static void discarded(void *ctx)
{
    struct rubbish *r = ctx;
    r->pulls->discarding--;
    qn_pull_schedule_soon(r->pulls);
    qn_snapshot_unref(r->models);
    qn_arena_free(r->arena);
    free(r);
}

void qn_pull_discard(struct qn_pull_job *j)
{
    struct rubbish *r = qn_xcalloc(1, sizeof *r);
    r->pulls = j->pulls;
    r->models = qn_catalog_snapshot(j->pulls->config.catalog);
    r->arena = qn_arena_new(QN_DOWNLOADS_BYTES_MAX);
    r->files = qn_arena_alloc(r->arena, (j->plan->n + 1) * sizeof *r->files);
    for (size_t i = 0; j->blobs && i < j->plan->n; i++) {
        if (qn_pull_wanted_elsewhere(j, j->blobs[i]))
            continue;
        qn_download_file_copy(&j->plan->files[i], r->arena, &r->files[r->n++]);
        j->plan->files[i].done = false;
        atomic_store(&j->blobs[i]->meter.here_bytes, 0);
        atomic_store(&j->blobs[i]->meter.before_bytes, 0);
    }
    j->pulls->discarding++;
    qn_loop_work(j->pulls->config.loop, discard_work, discarded, r);
}

/* Determines the bytes on disk of files that were begun earlier, for lists; fetching determines
 * them itself. */
struct measuring {
    struct qn_pulls *pulls;
    struct qn_arena *arena;
    struct qn_download_file *files;
    int64_t *here;
    size_t n;
};

static void measure_work(void *ctx)
{
    struct measuring *m = ctx;
    const struct qn_pull_steps *s = &m->pulls->config.steps;
    for (size_t i = 0; i < m->n; i++)
        m->here[i] = s->have(s->ctx, &m->files[i]);
}

static void measured(void *ctx)
{
    struct measuring *m = ctx;
    for (size_t i = 0; i < m->n; i++) {
        struct qn_pull_blob *b = qn_pull_blob_find(m->pulls, m->files[i].partial);
        if (b && !b->owner && atomic_load(&b->meter.here_bytes) == 0)
            atomic_store(&b->meter.here_bytes, m->here[i]);
    }
    qn_arena_free(m->arena);
    free(m);
}

void qn_pull_measure(struct qn_pulls *p, const struct qn_download_row *rows, size_t n)
{
    struct measuring *m = qn_xcalloc(1, sizeof *m);
    size_t files = 0;
    for (size_t i = 0; i < n; i++)
        files += rows[i].n_files;
    m->pulls = p;
    m->arena = qn_arena_new(SIZE_MAX);
    m->files = qn_arena_alloc(m->arena, (files + 1) * sizeof *m->files);
    m->here = qn_arena_alloc(m->arena, (files + 1) * sizeof *m->here);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < rows[i].n_files; k++)
            if (!rows[i].files[k].done)
                qn_download_file_copy(&rows[i].files[k], m->arena, &m->files[m->n++]);
    qn_loop_work(p->config.loop, measure_work, measured, m);
}
