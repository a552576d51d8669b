#include "child/jobs_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "contract/frame.h"

#include <stdlib.h>
#include <string.h>

enum { PROGRESS_MS = 100 }; /* between two reports of loading progress */

static void report_progress(void *ctx)
{
    struct qn_jobs *j = ctx;
    atomic_store(&j->progress.posted, false);
    j->ev.loading(j->ctx, atomic_load(&j->progress.fraction));
}

void qn_progress_set(struct qn_progress *p, double fraction)
{
    int64_t now = qn_now_ms();
    atomic_store(&p->fraction, fraction < 0 ? 0 : fraction > 1 ? 1 : fraction);
    if (now - p->last_ms < PROGRESS_MS || atomic_exchange(&p->posted, true))
        return;
    p->last_ms = now;
    qn_loop_post(p->jobs->loop, report_progress, p->jobs);
}

bool qn_progress_cancelled(const struct qn_progress *p)
{
    return atomic_load(&p->cancelled);
}

static void report_loaded(void *ctx)
{
    struct qn_jobs *j = ctx;
    bool failed = j->failure.code != QN_OK;
    j->ev.loaded(j->ctx, failed ? NULL : &j->ready, failed ? &j->failure : NULL);
}

/* Gives up the compute thread's reference to a run that has been removed from all lists. */
static void drop(struct qn_jobs *j, struct qn_run *r)
{
    if (r->preparation.prepared)
        j->backend->discard(j->self, r->preparation.prepared);
    pthread_mutex_lock(&j->lock);
    j->count--;
    bool last = qn_run_unref(r);
    pthread_mutex_unlock(&j->lock);
    if (last)
        qn_run_free(r);
    if (j->preparer)
        qn_preparer_retry(j->preparer);
}

/* Unlinks from *list every run for which `which` returns true, and returns those runs. */
static struct qn_run *extract(struct qn_run **list, bool (*which)(const struct qn_run *))
{
    struct qn_run *picked = NULL, **end = &picked;
    while (*list) {
        struct qn_run *r = *list;
        if (!which(r)) {
            list = &r->next;
            continue;
        }
        *list = r->next;
        r->next = NULL;
        *end = r;
        end = &r->next;
    }
    return picked;
}

static bool abandoned(const struct qn_run *r)
{
    return r->owner == NULL;
}

static bool has_finished(const struct qn_run *r)
{
    return r->finished;
}

static bool every(const struct qn_run *r)
{
    (void)r;
    return true;
}

static void drop_all(struct qn_jobs *j, struct qn_run *list, bool cancel)
{
    while (list) {
        struct qn_run *r = list;
        list = r->next;
        if (cancel && !r->finished)
            j->backend->cancel(j->self, &r->job);
        drop(j, r);
    }
}

static void unlink_run(struct qn_run **list, struct qn_run *r)
{
    while (*list != r)
        list = &(*list)->next;
    *list = r->next;
    r->next = NULL;
}

/* Inserts the run into the backlog by its ticket, that is, in the order of arrival. A job that was
 * prepared slowly thereby comes before later jobs that are still waiting; later jobs may already
 * have been started. */
static void queue_up(struct qn_jobs *j, struct qn_run *r)
{
    struct qn_run **at = &j->backlog;
    while (*at && (*at)->ticket < r->ticket)
        at = &(*at)->next;
    r->next = *at;
    *at = r;
}

/* Waits until there is work (if idle), then takes the runs that have arrived. False: quit. */
static bool take_in(struct qn_jobs *j, bool idle)
{
    pthread_mutex_lock(&j->lock);
    if (idle)
        j->busy_since = 0;
    while (idle && !j->wake && !j->quit)
        pthread_cond_wait(&j->wake_cond, &j->lock);
    j->wake = false;
    j->busy_since = qn_now_ms();
    while (j->incoming) {
        struct qn_run *r = j->incoming;
        j->incoming = r->next;
        queue_up(j, r);
    }
    struct qn_run *unstarted = extract(&j->backlog, abandoned);
    struct qn_run *cancelled = extract(&j->started, abandoned);
    for (struct qn_run *r = unstarted; r; r = r->next)
        j->queued--;
    int threads = j->threads_wish;
    j->threads_wish = 0;
    bool go_on = !j->quit;
    pthread_mutex_unlock(&j->lock);
    drop_all(j, unstarted, false);
    drop_all(j, cancelled, true);
    if (threads && j->backend->threads)
        j->backend->threads(j->self, threads);
    return go_on;
}

static qn_err start_one(struct qn_jobs *j, struct qn_run *r, struct qn_error *e)
{
    if (r->preparation.failure.code) {
        *e = r->preparation.failure;
        return e->code;
    }
    qn_err err = j->backend->start(j->self, &r->job, r->preparation.prepared, &r->sink, e);
    if (err == QN_EBUSY && !j->started)
        return qn_fail(e, QN_EINTERNAL, "the backend has no slot although nothing runs");
    return err;
}

/* Starts jobs, oldest first, until the backend has no free slot. Jobs whose preparation failed need
 * no slot and are answered with their error. */
static void start_jobs(struct qn_jobs *j)
{
    bool full = false;
    for (struct qn_run *r = j->backlog, *next; r; r = next) {
        struct qn_event failed;
        next = r->next;
        if (full && !r->preparation.failure.code)
            continue;
        qn_event_init(&failed, QN_EV_ERROR);
        qn_err err = start_one(j, r, &failed.error);
        full = full || err == QN_EBUSY;
        if (err == QN_EBUSY)
            continue;
        unlink_run(&j->backlog, r);
        pthread_mutex_lock(&j->lock);
        j->queued--;
        pthread_mutex_unlock(&j->lock);
        if (err) {
            qn_sink_send(&r->sink, &failed);
            drop(j, r);
        } else {
            r->preparation.prepared = NULL;
            r->next = j->started;
            j->started = r;
        }
    }
}

static void tell_ends_of_reasoning(struct qn_jobs *j)
{
    for (struct qn_run *r = j->started; r; r = r->next)
        if (atomic_exchange(&r->end_reasoning, false) && !r->finished && j->backend->end_reasoning)
            j->backend->end_reasoning(j->self, &r->job);
}

/* Called on a preparer's thread: hands the run to the compute thread, whether the preparation
 * succeeded or failed. */
static void on_prepared(void *ctx, struct qn_preparation *p)
{
    struct qn_jobs *j = ctx;
    struct qn_run *r = (struct qn_run *)(void *)((char *)p - offsetof(struct qn_run, preparation));
    pthread_mutex_lock(&j->lock);
    unlink_run(&j->preparing, r);
    r->next = j->incoming;
    j->incoming = r;
    qn_jobs_wake(j);
    pthread_mutex_unlock(&j->lock);
}

static qn_err load(struct qn_jobs *j, struct qn_error *e)
{
    qn_err err = j->backend->load(&j->load, &j->progress, &j->self, &j->ready, e);
    if (!err && j->preparer && (err = qn_preparer_start(j->preparer, j->self, e)) != QN_OK)
        j->backend->unload(j->self);
    return err;
}

static void *compute(void *arg)
{
    struct qn_jobs *j = arg;
    struct qn_error failure = {0};
    qn_err err = load(j, &failure);
    if (err) {
        failure.code = err;
        j->failure = failure;
    }
    pthread_mutex_lock(&j->lock);
    j->loaded = err == QN_OK;
    pthread_mutex_unlock(&j->lock);
    qn_loop_post(j->loop, report_loaded, j);
    if (err)
        return NULL;
    bool idle = true;
    while (take_in(j, idle)) {
        start_jobs(j);
        tell_ends_of_reasoning(j);
        bool more = j->backend->step(j->self);
        struct qn_run *ended = extract(&j->started, has_finished);
        idle = !more && !(ended && j->backlog);
        drop_all(j, ended, false);
    }
    if (j->preparer)
        qn_preparer_stop(j->preparer);
    take_in(j, false);
    drop_all(j, extract(&j->started, every), true);
    drop_all(j, extract(&j->backlog, every), false);
    drop_all(j, extract(&j->preparing, every), false);
    pthread_mutex_lock(&j->lock);
    j->loaded = false;
    pthread_mutex_unlock(&j->lock);
    j->backend->unload(j->self);
    return NULL;
}

static qn_err copy_load(struct qn_jobs *j, const struct qn_control *c, struct qn_error *e)
{
    qn_err err = qn_json_parse(c->options, strlen(c->options), &j->options, e);
    if (err)
        return err;
    const char **files = qn_arena_alloc(j->arena, c->files.n * sizeof *files);
    for (size_t i = 0; i < c->files.n; i++)
        files[i] = qn_arena_strdup(j->arena, c->files.v[i]);
    j->load = (struct qn_load){
        .name = qn_arena_strdup(j->arena, c->name),
        .files = files,
        .n_files = c->files.n,
        .threads = (int)c->threads,
        .context = c->context,
        .options = qn_json_root(j->options),
    };
    return QN_OK;
}

qn_err qn_jobs_new(struct qn_loop *loop, const struct qn_backend *backend,
                   const struct qn_control *line, const struct qn_jobs_events *ev, void *ctx,
                   struct qn_jobs **out, struct qn_error *e)
{
    struct qn_jobs *j = qn_xcalloc(1, sizeof *j);
    j->loop = loop;
    j->backend = backend;
    j->ev = *ev;
    j->ctx = ctx;
    j->progress.jobs = j;
    j->arena = qn_arena_new(2 * (size_t)QN_CONTROL_LINE_MAX);
    qn_buf_init(&j->frame, QN_FRAME_LINE_MAX);
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->wake_cond, NULL);
    if (backend->prepare)
        j->preparer = qn_preparer_new(backend, on_prepared, j);
    qn_err err = copy_load(j, line, e);
    if (!err && pthread_create(&j->thread, NULL, compute, j) != 0)
        err = qn_fail(e, QN_EIO, "no thread for computing could be started");
    if (err) {
        qn_json_free(j->options);
        qn_preparer_free(j->preparer);
        qn_arena_free(j->arena);
        qn_buf_deinit(&j->frame);
        free(j);
        return err;
    }
    *out = j;
    return QN_OK;
}

void qn_jobs_give_up_loading(struct qn_jobs *j)
{
    atomic_store(&j->progress.cancelled, true);
}

void qn_jobs_stop(struct qn_jobs *j)
{
    qn_jobs_give_up_loading(j);
    pthread_mutex_lock(&j->lock);
    j->quit = true;
    qn_jobs_wake(j);
    pthread_mutex_unlock(&j->lock);
    pthread_join(j->thread, NULL);
}

void qn_jobs_free(struct qn_jobs *j)
{
    pthread_cond_destroy(&j->wake_cond);
    pthread_mutex_destroy(&j->lock);
    qn_preparer_free(j->preparer);
    qn_json_free(j->options);
    qn_arena_free(j->arena);
    qn_buf_deinit(&j->frame);
    free(j);
}

qn_err qn_jobs_add(struct qn_jobs *j, const struct qn_job *job, struct qn_arena *arena, void *owner,
                   struct qn_run **out, struct qn_error *e)
{
    struct qn_run *r = qn_xcalloc(1, sizeof *r);
    r->jobs = j;
    r->arena = arena;
    r->job = *job;
    r->owner = owner;
    r->preparation.job = &r->job;
    r->refs = 2;
    /* Backends check QN_SINK_HIGH between steps, and one step adds only a few frames. */
    qn_buf_init(&r->sink.out, 4 * (size_t)QN_FRAME_LINE_MAX);
    r->sink.inputs_end = &r->sink.inputs;
    pthread_mutex_lock(&j->lock);
    bool room = j->queued < QN_CHILD_QUEUE_MAX;
    if (room) {
        struct qn_run **list = j->preparer ? &j->preparing : &j->incoming;
        r->ticket = j->tickets++;
        r->next = *list;
        *list = r;
        j->queued++;
        j->count++;
        qn_jobs_wake(j);
    }
    pthread_mutex_unlock(&j->lock);
    if (room && j->preparer)
        qn_preparer_add(j->preparer, &r->preparation);
    if (!room) {
        qn_run_free(r);
        return qn_fail(e, QN_EBUSY,
                       "%d requests are waiting for this model already: try again later",
                       (int)QN_CHILD_QUEUE_MAX);
    }
    *out = r;
    return QN_OK;
}

void qn_run_end_reasoning(struct qn_run *r)
{
    struct qn_jobs *j = r->jobs;
    atomic_store(&r->end_reasoning, true);
    pthread_mutex_lock(&j->lock);
    qn_jobs_wake(j);
    pthread_mutex_unlock(&j->lock);
}

void qn_run_release(struct qn_run *r)
{
    struct qn_jobs *j = r->jobs;
    pthread_mutex_lock(&j->lock);
    r->owner = NULL;
    pthread_mutex_unlock(&j->lock);
    if (j->preparer && qn_preparer_remove(j->preparer, &r->preparation))
        on_prepared(j, &r->preparation); /* the compute thread then drops it */
    pthread_mutex_lock(&j->lock);
    qn_jobs_wake(j);
    bool last = qn_run_unref(r);
    pthread_mutex_unlock(&j->lock);
    if (last)
        qn_run_free(r);
}

size_t qn_jobs_count(struct qn_jobs *j)
{
    pthread_mutex_lock(&j->lock);
    size_t n = j->count;
    pthread_mutex_unlock(&j->lock);
    return n;
}

int64_t qn_jobs_step_age_ms(struct qn_jobs *j)
{
    pthread_mutex_lock(&j->lock);
    int64_t since = j->busy_since;
    pthread_mutex_unlock(&j->lock);
    return since ? qn_now_ms() - since : 0;
}

const char *qn_jobs_template_warning(const struct qn_jobs *j)
{
    return j->backend->template_warning ? j->backend->template_warning(j->self) : NULL;
}

void qn_jobs_set_threads(struct qn_jobs *j, int threads)
{
    pthread_mutex_lock(&j->lock);
    j->threads_wish = threads;
    qn_jobs_wake(j);
    pthread_mutex_unlock(&j->lock);
}
