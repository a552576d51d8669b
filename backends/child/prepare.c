/* See prepare.h. One mutex guards the queue; the backend's functions are called without holding
 * it. */
#include "child/prepare.h"

#include "base/buf.h"

#include <pthread.h>
#include <stdlib.h>

struct qn_preparer {
    const struct qn_backend *backend;
    void (*done)(void *ctx, struct qn_preparation *p);
    void *ctx;
    void *self;
    pthread_t threads[QN_CHILD_PREPARERS];
    int n_threads;

    pthread_mutex_t lock;
    pthread_cond_t more;
    struct qn_preparation *queue, **end;
    uint64_t retries; /* number of calls of qn_preparer_retry */
    bool quit;
};

struct qn_preparer *qn_preparer_new(const struct qn_backend *backend,
                                    void (*done)(void *ctx, struct qn_preparation *p), void *ctx)
{
    struct qn_preparer *r = qn_xcalloc(1, sizeof *r);
    r->backend = backend;
    r->done = done;
    r->ctx = ctx;
    r->end = &r->queue;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->more, NULL);
    return r;
}

static void append(struct qn_preparer *r, struct qn_preparation *p)
{
    p->next = NULL;
    p->waiting = true;
    *r->end = p;
    r->end = &p->next;
}

static void unlink_at(struct qn_preparer *r, struct qn_preparation **at)
{
    struct qn_preparation *p = *at;
    *at = p->next;
    if (r->end == &p->next)
        r->end = at;
    p->next = NULL;
    p->waiting = false;
}

/* Takes the first job that is not put aside, waiting for one if necessary; NULL: quit. Called with
 * the lock held. */
static struct qn_preparation *take(struct qn_preparer *r)
{
    for (;;) {
        struct qn_preparation **at = &r->queue;
        while (*at && (*at)->aside)
            at = &(*at)->next;
        if (r->quit)
            return NULL;
        if (*at) {
            struct qn_preparation *p = *at;
            unlink_at(r, at);
            return p;
        }
        pthread_cond_wait(&r->more, &r->lock);
    }
}

static void *prepare(void *arg)
{
    struct qn_preparer *r = arg;
    pthread_mutex_lock(&r->lock);
    for (struct qn_preparation *p; (p = take(r)) != NULL;) {
        uint64_t retries = r->retries;
        pthread_mutex_unlock(&r->lock);
        p->failure = (struct qn_error){0};
        qn_err err = r->backend->prepare(r->self, p->job, &p->prepared, &p->failure);
        p->failure.code = err;
        if (err != QN_EBUSY)
            r->done(r->ctx, p);
        pthread_mutex_lock(&r->lock);
        if (err == QN_EBUSY) {
            /* If room was freed during the preparation, the job is tried again at once. */
            p->aside = retries == r->retries;
            append(r, p);
        }
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

qn_err qn_preparer_start(struct qn_preparer *r, void *self, struct qn_error *e)
{
    r->self = self;
    while (r->n_threads < QN_CHILD_PREPARERS &&
           pthread_create(&r->threads[r->n_threads], NULL, prepare, r) == 0)
        r->n_threads++;
    return r->n_threads ? QN_OK
                        : qn_fail(e, QN_EIO, "no thread for preparing requests could be started");
}

void qn_preparer_stop(struct qn_preparer *r)
{
    pthread_mutex_lock(&r->lock);
    r->quit = true;
    pthread_cond_broadcast(&r->more);
    pthread_mutex_unlock(&r->lock);
    while (r->n_threads > 0)
        pthread_join(r->threads[--r->n_threads], NULL);
    r->queue = NULL;
    r->end = &r->queue;
}

void qn_preparer_free(struct qn_preparer *r)
{
    if (!r)
        return;
    pthread_cond_destroy(&r->more);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

void qn_preparer_add(struct qn_preparer *r, struct qn_preparation *p)
{
    pthread_mutex_lock(&r->lock);
    append(r, p);
    pthread_cond_signal(&r->more);
    pthread_mutex_unlock(&r->lock);
}

bool qn_preparer_remove(struct qn_preparer *r, struct qn_preparation *p)
{
    pthread_mutex_lock(&r->lock);
    bool waiting = p->waiting;
    for (struct qn_preparation **at = &r->queue; waiting && *at; at = &(*at)->next) {
        if (*at == p) {
            unlink_at(r, at);
            break;
        }
    }
    pthread_mutex_unlock(&r->lock);
    return waiting;
}

void qn_preparer_retry(struct qn_preparer *r)
{
    pthread_mutex_lock(&r->lock);
    r->retries++;
    for (struct qn_preparation *p = r->queue; p; p = p->next)
        p->aside = false;
    pthread_cond_broadcast(&r->more);
    pthread_mutex_unlock(&r->lock);
}
