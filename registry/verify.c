/* See verify.h. One mutex guards the list and the data passed between the threads; the bytes and
 * the hash state of a file belong to the thread while it works on the file (`busy`). */
#include "registry/verify.h"

#include "base/buf.h"
#include "base/clock.h"
#include "digest/sha1.h"
#include "digest/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    READ_BYTES = 256 * 1024,      /* per read: fits the processor's cache */
    TURN_BYTES = 4 * 1024 * 1024, /* of one file before the next file gets its turn */
    WORTH_BYTES = 1024 * 1024     /* bytes: the thread is not woken for fewer, except at the end of
                                     a file */
};

struct qn_verify_sum {
    struct qn_verify_sum *next;
    int fd;
    int64_t size;
    enum qn_verify_kind kind;
    union {
        struct qn_sha256 sha256;
        struct qn_sha1 sha1;
    } state;
    int64_t summed;  /* used by the thread only */
    int64_t sync_at; /* used by the thread only: time of the next sync, monotonic clock */
    /* Under the mutex: */
    int64_t front, synced;
    bool busy, done;
    bool gone; /* freed by the caller while busy: the thread frees the struct */
    qn_err err;
    struct qn_error error;
    char hex[QN_VERIFY_HEX_MAX + 1];
};

struct qn_verify {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct qn_verify_sum *sums; /* in the order in which they began */
    bool quit;
    int64_t sync_ms;
    void (*wake)(void *ctx);
    void *ctx;
    unsigned char *bytes; /* [READ_BYTES] */
};

static bool worth(const struct qn_verify_sum *s)
{
    int64_t ahead = s->front - s->summed;
    return !s->done && (ahead >= WORTH_BYTES || s->front == s->size);
}

/* Hashes bytes up to `until`. Called without the mutex. */
static qn_err read_on(struct qn_verify *v, struct qn_verify_sum *s, int64_t until,
                      struct qn_error *e)
{
    while (s->summed < until) {
        size_t want = until - s->summed < READ_BYTES ? (size_t)(until - s->summed) : READ_BYTES;
        ssize_t n = pread(s->fd, v->bytes, want, (off_t)s->summed);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return qn_fail_errno(e, "read a download back");
        if (n == 0)
            return qn_fail(e, QN_EIO, "a download was cut short by another program");
        if (s->kind == QN_VERIFY_SHA256)
            qn_sha256_add(&s->state.sha256, v->bytes, (size_t)n);
        else
            qn_sha1_add(&s->state.sha1, v->bytes, (size_t)n);
        s->summed += n;
    }
    return QN_OK;
}

/* Works on one file for one turn, without the mutex. *synced: bytes that are on the disk, or -1:
 * unchanged. */
static qn_err take_turn(struct qn_verify *v, struct qn_verify_sum *s, int64_t until,
                        int64_t *synced, struct qn_error *e)
{
    qn_err err = read_on(v, s, until, e);
    bool end = s->summed == s->size;
    *synced = -1;
    if (err || (!end && qn_now_ms() < s->sync_at))
        return err;
    if (fdatasync(s->fd))
        return qn_fail_errno(e, "sync a download");
    *synced = s->summed;
    s->sync_at = qn_now_ms() + v->sync_ms;
    return QN_OK;
}

static void finish(struct qn_verify_sum *s)
{
    s->done = true;
    if (s->err)
        return;
    if (s->kind == QN_VERIFY_SHA256)
        qn_sha256_hex(&s->state.sha256, s->hex);
    else
        qn_sha1_hex(&s->state.sha1, s->hex);
}

static void sum_free(struct qn_verify_sum *s)
{
    close(s->fd);
    free(s);
}

/* Removes s from the list and frees it. The mutex must be held. */
static void forget(struct qn_verify *v, struct qn_verify_sum *s)
{
    struct qn_verify_sum **at = &v->sums;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    sum_free(s);
}

static void destroy(struct qn_verify *v)
{
    while (v->sums)
        forget(v, v->sums);
    pthread_mutex_destroy(&v->lock);
    pthread_cond_destroy(&v->work);
    free(v->bytes);
    free(v);
}

static void *run(void *arg)
{
    struct qn_verify *v = arg;
    pthread_mutex_lock(&v->lock);
    while (!v->quit) {
        struct qn_verify_sum *s = v->sums;
        while (s && !worth(s))
            s = s->next;
        if (!s) {
            pthread_cond_wait(&v->work, &v->lock);
            continue;
        }
        int64_t until = s->front - s->summed > TURN_BYTES ? s->summed + TURN_BYTES : s->front;
        int64_t synced;
        struct qn_error error = {0};
        s->busy = true;
        pthread_mutex_unlock(&v->lock);
        qn_err err = take_turn(v, s, until, &synced, &error);
        pthread_mutex_lock(&v->lock);
        s->busy = false;
        if (s->gone) {
            forget(v, s);
            continue;
        }
        if (synced >= 0)
            s->synced = synced;
        if (err) {
            s->err = err;
            s->error = error;
        }
        if (err || s->summed == s->size)
            finish(s);
        if (!v->quit && (s->done || synced >= 0))
            v->wake(v->ctx);
    }
    pthread_mutex_unlock(&v->lock);
    destroy(v);
    return NULL;
}

qn_err qn_verify_new(void (*wake)(void *ctx), void *ctx, int64_t sync_ms, struct qn_verify **out,
                     struct qn_error *e)
{
    struct qn_verify *v = qn_xcalloc(1, sizeof *v);
    v->wake = wake;
    v->ctx = ctx;
    v->sync_ms = sync_ms;
    v->bytes = qn_xmalloc(READ_BYTES);
    pthread_mutex_init(&v->lock, NULL);
    pthread_cond_init(&v->work, NULL);
    if ((errno = pthread_create(&v->thread, NULL, run, v))) {
        qn_err err = qn_fail_errno(e, "start a thread");
        destroy(v);
        *out = NULL;
        return err;
    }
    pthread_detach(v->thread);
    *out = v;
    return QN_OK;
}

void qn_verify_free(struct qn_verify *v)
{
    if (!v)
        return;
    pthread_mutex_lock(&v->lock);
    v->quit = true;
    pthread_cond_signal(&v->work);
    pthread_mutex_unlock(&v->lock);
}

qn_err qn_verify_begin(struct qn_verify *v, int fd, int64_t size, enum qn_verify_kind kind,
                       struct qn_verify_sum **out, struct qn_error *e)
{
    struct qn_verify_sum *s = qn_xcalloc(1, sizeof *s), **end;
    *out = NULL;
    s->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (s->fd < 0) {
        qn_err err = qn_fail_errno(e, "duplicate a descriptor");
        free(s);
        return err;
    }
    s->size = size;
    s->kind = kind;
    s->sync_at = qn_now_ms() + v->sync_ms;
    if (kind == QN_VERIFY_SHA256)
        qn_sha256_init(&s->state.sha256);
    else
        qn_sha1_init_git(&s->state.sha1, (uint64_t)size);
    pthread_mutex_lock(&v->lock);
    for (end = &v->sums; *end; end = &(*end)->next)
        ;
    *end = s;
    if (worth(s))
        pthread_cond_signal(&v->work);
    pthread_mutex_unlock(&v->lock);
    *out = s;
    return QN_OK;
}

void qn_verify_front(struct qn_verify *v, struct qn_verify_sum *s, int64_t front)
{
    pthread_mutex_lock(&v->lock);
    s->front = front;
    if (!s->busy && worth(s))
        pthread_cond_signal(&v->work);
    pthread_mutex_unlock(&v->lock);
}

bool qn_verify_poll(struct qn_verify *v, struct qn_verify_sum *s, int64_t *synced,
                    char hex[static QN_VERIFY_HEX_MAX + 1], qn_err *err, struct qn_error *e)
{
    pthread_mutex_lock(&v->lock);
    bool done = s->done;
    *synced = s->synced;
    *err = s->err;
    if (done && s->err && e)
        *e = s->error;
    if (done && !s->err)
        memcpy(hex, s->hex, sizeof s->hex);
    pthread_mutex_unlock(&v->lock);
    return done;
}

void qn_verify_end(struct qn_verify *v, struct qn_verify_sum *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&v->lock);
    if (s->busy)
        s->gone = true;
    else
        forget(v, s);
    pthread_mutex_unlock(&v->lock);
}
