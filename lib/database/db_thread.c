/* See db_thread.h. Invariants: once the thread runs, no other thread uses the database; the mutex
 * is held for a few instructions only. */
#include "database/db_thread.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct qn_db_thread {
    struct qn_db_config config;
    char *path;
    struct qn_database *d; /* NULL: not open. Of the thread, once it runs */
    struct qn_error error; /* why it is not open */
    bool spare;            /* there may be spare work; of the thread */
    int64_t tried_ms;      /* when opening failed; 0: it was not tried */
    pthread_t thread;
    bool running;          /* the thread has been started; user's thread only */
    pthread_mutex_t mutex; /* guards the members below */
    pthread_cond_t wake;
    struct qn_db_task *first, **last;
    pthread_cond_t idle; /* signalled when the thread has finished the tasks it took */
    bool busy;           /* the thread has taken tasks and not finished them */
    bool urgent;         /* a task that is not patient is waiting, or the thread is closing */
    bool closing;
};

static struct qn_db_thread *thread_new(const struct qn_db_config *config)
{
    struct qn_db_thread *t = qn_xcalloc(1, sizeof *t);
    t->config = *config;
    t->config.path = t->path = qn_xstrdup(config->path);
    t->last = &t->first;
    pthread_mutex_init(&t->mutex, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&t->wake, &attr);
    pthread_cond_init(&t->idle, NULL);
    pthread_condattr_destroy(&attr);
    return t;
}

static void thread_free(struct qn_db_thread *t)
{
    qn_database_close(t->d);
    pthread_cond_destroy(&t->idle);
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->mutex);
    free(t->path);
    free(t);
}

static qn_err open_file(struct qn_db_thread *t)
{
    t->error = (struct qn_error){0};
    qn_err err = qn_database_open(t->path, t->config.kind, &t->d, &t->error);
    if (!err && t->config.opened) {
        err = t->config.opened(t->config.ctx, t->d, &t->error);
        if (err) {
            qn_database_close(t->d);
            t->d = NULL;
        }
    }
    return err;
}

/* Opens a file that is not open, unless that has just failed. */
static void open_late(struct qn_db_thread *t)
{
    if (t->d || (t->tried_ms && qn_now_ms() - t->tried_ms < QN_DB_RETRY_MS))
        return;
    t->tried_ms = open_file(t) ? qn_now_ms() : 0;
    if (t->error.code)
        qn_error_log("database", "%s", t->error.message);
}

/* Runs on the user's thread. */
static void report(void *arg)
{
    struct qn_db_task *task = arg;
    task->after(task);
}

static void work_off(struct qn_db_thread *t, struct qn_db_task *list)
{
    open_late(t);
    for (struct qn_db_task *task = list; task; task = task->next)
        task->run(task, t->d, t->d ? NULL : &t->error);
    if (t->d && t->config.batch_ended)
        t->config.batch_ended(t->config.ctx, t->d);
    t->spare = t->d && t->config.spare;
    while (list) {
        struct qn_db_task *next = list->next;
        if (list->unheard)
            list->after(list);
        else
            t->config.post(t->config.post_ctx, report, list);
        list = next;
    }
}

/* Does spare work until a task is queued. The mutex is held, except during that work. */
static void do_spare(struct qn_db_thread *t)
{
    while (t->spare && !t->first && !t->closing) {
        pthread_mutex_unlock(&t->mutex);
        t->spare = t->config.spare(t->config.ctx, t->d);
        pthread_mutex_lock(&t->mutex);
    }
}

/* Waits until a task is queued that is not patient, or patient ones have waited long enough; then
 * takes the whole queue. */
static struct qn_db_task *take_queue(struct qn_db_thread *t, bool *closing)
{
    pthread_mutex_lock(&t->mutex);
    do_spare(t);
    while (!t->first && !t->closing)
        pthread_cond_wait(&t->wake, &t->mutex);
    if (!t->urgent) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += t->config.delay_s;
        while (!t->urgent && pthread_cond_timedwait(&t->wake, &t->mutex, &until) == 0)
            ;
    }
    struct qn_db_task *list = t->first;
    t->first = NULL;
    t->last = &t->first;
    t->urgent = t->closing;
    *closing = t->closing;
    t->busy = true;
    pthread_mutex_unlock(&t->mutex);
    return list;
}

static void *run(void *arg)
{
    struct qn_db_thread *t = arg;
    for (bool closing = false; !closing;) {
        struct qn_db_task *list = take_queue(t, &closing);
        if (list)
            work_off(t, list);
        pthread_mutex_lock(&t->mutex);
        t->busy = false;
        pthread_cond_broadcast(&t->idle);
        pthread_mutex_unlock(&t->mutex);
    }
    return NULL;
}

static qn_err start(struct qn_db_thread *t, struct qn_error *e)
{
    if (t->running)
        return QN_OK;
    if (pthread_create(&t->thread, NULL, run, t) != 0)
        return qn_fail(e, QN_EIO, "no thread for %s", t->config.kind->name);
    t->running = true;
    return QN_OK;
}

qn_err qn_db_thread_open(const struct qn_db_config *config, struct qn_db_thread **out,
                         struct qn_error *e)
{
    struct qn_db_thread *t = thread_new(config);
    qn_err err = open_file(t);
    if (err && e)
        *e = t->error;
    if (!err)
        err = start(t, e);
    if (err)
        thread_free(t);
    else
        *out = t;
    return err;
}

struct qn_db_thread *qn_db_thread_lazy(const struct qn_db_config *config)
{
    return thread_new(config);
}

void qn_db_thread_close(struct qn_db_thread *t)
{
    if (!t)
        return;
    if (t->running) {
        pthread_mutex_lock(&t->mutex);
        t->closing = t->urgent = true;
        pthread_cond_signal(&t->wake);
        pthread_mutex_unlock(&t->mutex);
        pthread_join(t->thread, NULL);
    }
    thread_free(t);
}

void qn_db_thread_queue(struct qn_db_thread *t, struct qn_db_task *task)
{
    struct qn_error e = {0};
    task->next = NULL;
    if (start(t, &e)) {
        task->run(task, NULL, &e);
        t->config.post(t->config.post_ctx, report, task);
        return;
    }
    pthread_mutex_lock(&t->mutex);
    *t->last = task;
    t->last = &task->next;
    t->urgent = t->urgent || !task->patient;
    pthread_cond_signal(&t->wake);
    pthread_mutex_unlock(&t->mutex);
}

void qn_db_thread_flush(struct qn_db_thread *t)
{
    pthread_mutex_lock(&t->mutex);
    while (t->first || t->busy) {
        t->urgent = true;
        pthread_cond_signal(&t->wake);
        pthread_cond_wait(&t->idle, &t->mutex);
    }
    pthread_mutex_unlock(&t->mutex);
}
