#include "child/jobs.h"

#include "base/clock.h"
#include "base/log.h"
#include "contract/codec.h"
#include "contract/frame.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRESS_MS = 100 }; /* between two reports of loading progress */

struct qn_progress {
    struct qn_jobs *jobs;
    atomic_bool cancelled;
    _Atomic double fraction;
    atomic_bool posted;
    int64_t last_ms;
};

struct qn_sink {
    struct qn_buf out; /* frames the loop has not taken */
    bool ended;        /* END or ERROR is in out or was taken */
    bool posted;       /* the loop has been told */
};

struct qn_run {
    struct qn_jobs *jobs;
    struct qn_run *next; /* in incoming, then backlog or started */
    struct qn_arena *arena;
    struct qn_job job;
    void *owner;         /* NULL once released; guarded by the lock */
    int refs;            /* owner, compute thread, a post on its way; guarded by the lock */
    struct qn_sink sink; /* guarded by the lock */
    bool finished;       /* compute thread: END or ERROR was sent */
};

struct qn_jobs {
    struct qn_loop *loop;
    const struct qn_backend *backend;
    struct qn_jobs_events ev;
    void *ctx;
    pthread_t thread;
    struct qn_progress progress;
    /* What the load message said. */
    struct qn_arena *arena;
    struct qn_load load;
    struct qn_json *options;
    /* The outcome, written before it is posted. */
    struct qn_ready ready;
    struct qn_error failure;

    pthread_mutex_t lock;
    pthread_cond_t wake_cond;
    bool wake, quit;
    bool loaded; /* self can be woken */
    struct qn_run *incoming, **incoming_end;
    size_t queued, count;
    int threads_wish;   /* 0: none */
    int64_t busy_since; /* when the present step began, ms; 0: waiting */

    /* Compute thread alone. */
    void *self;
    struct qn_run *backlog, **backlog_end;
    struct qn_run *started;
    struct qn_buf frame;
};

static void wake(struct qn_jobs *j)
{
    j->wake = true;
    pthread_cond_signal(&j->wake_cond);
    if (j->loaded && j->backend->wake)
        j->backend->wake(j->self);
}

/* With the lock held; true when that was the last reference: run_free it after unlocking. */
static bool unref(struct qn_run *r)
{
    return --r->refs == 0;
}

static void run_free(struct qn_run *r)
{
    qn_buf_deinit(&r->sink.out);
    qn_arena_free(r->arena);
    free(r);
}

static struct qn_run *run_of(struct qn_sink *s)
{
    return (struct qn_run *)(void *)((char *)s - offsetof(struct qn_run, sink));
}

/* Loop's thread: the post that qn_sink_send made. */
static void deliver(void *ctx)
{
    struct qn_run *r = ctx;
    struct qn_jobs *j = r->jobs;
    pthread_mutex_lock(&j->lock);
    r->sink.posted = false;
    void *owner = r->owner;
    bool last = unref(r);
    pthread_mutex_unlock(&j->lock);
    if (last)
        run_free(r);
    if (owner)
        j->ev.output(j->ctx, owner);
}

void qn_sink_send(struct qn_sink *s, const struct qn_event *ev)
{
    struct qn_run *r = run_of(s);
    struct qn_jobs *j = r->jobs;
    if (r->finished)
        return; /* the frame before was too long: the reply has ended with that error */
    qn_buf_clear(&j->frame);
    enum qn_event_kind kind = ev->kind;
    if (qn_event_frame(ev, &j->frame)) {
        struct qn_event error;
        qn_event_init(&error, QN_EV_ERROR);
        qn_fail(&error.error, QN_ELIMIT, "one event of the reply is larger than %d MiB",
                QN_FRAME_LINE_MAX >> 20);
        kind = QN_EV_ERROR;
        qn_buf_clear(&j->frame);
        qn_event_frame(&error, &j->frame);
    }
    r->finished = kind == QN_EV_END || kind == QN_EV_ERROR;
    pthread_mutex_lock(&j->lock);
    bool post = r->owner && !s->posted;
    if (r->owner) {
        qn_buf_add(&s->out, j->frame.data, j->frame.len);
        s->ended = r->finished;
        s->posted = true;
        r->refs += post;
    }
    pthread_mutex_unlock(&j->lock);
    if (post)
        qn_loop_post(j->loop, deliver, r);
}

bool qn_sink_full(const struct qn_sink *s)
{
    struct qn_run *r = run_of((struct qn_sink *)(uintptr_t)s);
    pthread_mutex_lock(&r->jobs->lock);
    bool full = s->out.len > QN_SINK_HIGH;
    pthread_mutex_unlock(&r->jobs->lock);
    return full;
}

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

/* The compute thread is done with the run, which has left its lists. */
static void drop(struct qn_jobs *j, struct qn_run *r)
{
    pthread_mutex_lock(&j->lock);
    j->count--;
    bool last = unref(r);
    pthread_mutex_unlock(&j->lock);
    if (last)
        run_free(r);
}

/* Unlinks from *list every run that `which` picks, and returns them. */
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

static void fix_backlog_end(struct qn_jobs *j)
{
    j->backlog_end = &j->backlog;
    while (*j->backlog_end)
        j->backlog_end = &(*j->backlog_end)->next;
}

/* Waits until there is something to do; takes what came in. False: quit. */
static bool take_in(struct qn_jobs *j, bool idle)
{
    pthread_mutex_lock(&j->lock);
    if (idle)
        j->busy_since = 0;
    while (idle && !j->wake && !j->quit)
        pthread_cond_wait(&j->wake_cond, &j->lock);
    j->wake = false;
    j->busy_since = qn_now_ms();
    *j->backlog_end = j->incoming;
    if (j->incoming)
        j->backlog_end = j->incoming_end;
    j->incoming = NULL;
    j->incoming_end = &j->incoming;
    struct qn_run *unstarted = extract(&j->backlog, abandoned);
    struct qn_run *cancelled = extract(&j->started, abandoned);
    for (struct qn_run *r = unstarted; r; r = r->next)
        j->queued--;
    fix_backlog_end(j);
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

/* Gives the backend jobs, oldest first, until it has no slot left. */
static void start_jobs(struct qn_jobs *j)
{
    while (j->backlog) {
        struct qn_run *r = j->backlog;
        struct qn_event failed;
        qn_event_init(&failed, QN_EV_ERROR);
        qn_err err = j->backend->start(j->self, &r->job, &r->sink, &failed.error);
        if (err == QN_EBUSY && j->started)
            return;
        if (err == QN_EBUSY)
            qn_fail(&failed.error, QN_EINTERNAL, "the backend has no slot although nothing runs");
        j->backlog = r->next;
        r->next = NULL;
        fix_backlog_end(j);
        pthread_mutex_lock(&j->lock);
        j->queued--;
        pthread_mutex_unlock(&j->lock);
        if (err) {
            qn_sink_send(&r->sink, &failed);
            drop(j, r);
        } else {
            r->next = j->started;
            j->started = r;
        }
    }
}

static void *compute(void *arg)
{
    struct qn_jobs *j = arg;
    struct qn_error failure = {0};
    qn_err err = j->backend->load(&j->load, &j->progress, &j->self, &j->ready, &failure);
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
        bool more = j->backend->step(j->self);
        struct qn_run *ended = extract(&j->started, has_finished);
        idle = !more && !(ended && j->backlog);
        drop_all(j, ended, false);
    }
    drop_all(j, extract(&j->started, every), true);
    drop_all(j, extract(&j->backlog, every), false);
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
                   const struct qn_control *load, const struct qn_jobs_events *ev, void *ctx,
                   struct qn_jobs **out, struct qn_error *e)
{
    struct qn_jobs *j = qn_xcalloc(1, sizeof *j);
    j->loop = loop;
    j->backend = backend;
    j->ev = *ev;
    j->ctx = ctx;
    j->progress.jobs = j;
    j->incoming_end = &j->incoming;
    j->backlog_end = &j->backlog;
    j->arena = qn_arena_new(2 * (size_t)QN_CONTROL_LINE_MAX);
    qn_buf_init(&j->frame, QN_FRAME_LINE_MAX);
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->wake_cond, NULL);
    qn_err err = copy_load(j, load, e);
    if (!err && pthread_create(&j->thread, NULL, compute, j) != 0)
        err = qn_fail(e, QN_EIO, "no thread for computing could be started");
    if (err) {
        qn_json_free(j->options);
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
    wake(j);
    pthread_mutex_unlock(&j->lock);
    pthread_join(j->thread, NULL);
}

void qn_jobs_free(struct qn_jobs *j)
{
    pthread_cond_destroy(&j->wake_cond);
    pthread_mutex_destroy(&j->lock);
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
    r->refs = 2;
    /* The backend minds QN_SINK_HIGH between steps; one step adds a few frames at most. */
    qn_buf_init(&r->sink.out, 4 * (size_t)QN_FRAME_LINE_MAX);
    pthread_mutex_lock(&j->lock);
    bool room = j->queued < QN_CHILD_QUEUE_MAX;
    if (room) {
        *j->incoming_end = r;
        j->incoming_end = &r->next;
        j->queued++;
        j->count++;
        wake(j);
    }
    pthread_mutex_unlock(&j->lock);
    if (!room) {
        run_free(r);
        return qn_fail(e, QN_EBUSY,
                       "%d requests are waiting for this model already: try again later",
                       (int)QN_CHILD_QUEUE_MAX);
    }
    *out = r;
    return QN_OK;
}

bool qn_run_take(struct qn_run *r, struct qn_buf *out)
{
    struct qn_jobs *j = r->jobs;
    pthread_mutex_lock(&j->lock);
    if (r->sink.out.len > QN_SINK_HIGH)
        wake(j); /* it was left out of the steps, and may go on */
    struct qn_buf taken = r->sink.out;
    qn_buf_init(&r->sink.out, taken.limit);
    bool ended = r->sink.ended;
    pthread_mutex_unlock(&j->lock);
    if (taken.len)
        qn_buf_add(out, taken.data, taken.len);
    qn_buf_deinit(&taken);
    return ended;
}

void qn_run_release(struct qn_run *r)
{
    struct qn_jobs *j = r->jobs;
    pthread_mutex_lock(&j->lock);
    r->owner = NULL;
    wake(j);
    bool last = unref(r);
    pthread_mutex_unlock(&j->lock);
    if (last)
        run_free(r);
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

void qn_jobs_set_threads(struct qn_jobs *j, int threads)
{
    pthread_mutex_lock(&j->lock);
    j->threads_wish = threads;
    wake(j);
    pthread_mutex_unlock(&j->lock);
}
