/* Downloads of models: the jobs, their clients and their order. A job belongs to one model name and
 * is kept in the catalog, so that it goes on by itself after a restart or crash of the server;
 * clients only watch it. Further requests for a model that is being downloaded watch the same job,
 * and a file that several jobs need is fetched once.
 *
 * The steps of a job outside of the loop are a table of functions (struct qn_pull_steps), so that
 * tests can replace the network and the disk. Loop thread only, unless a comment says otherwise. */
#ifndef QN_DOWNLOADS_PULLS_H
#define QN_DOWNLOADS_PULLS_H

#include "base/error.h"
#include "catalog/catalog.h"
#include "catalog/downloads.h"
#include "downloads/pull_order.h"
#include "downloads/pull_view.h"
#include "io/loop.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_PULL_THREADS_MAX = 3,
    QN_PULL_RESOLVES_MAX = 2,                 /* at a time: the workers have other tasks, too */
    QN_PULL_FINISHED_MAX = 100,               /* jobs that are over and still listed */
    QN_PULL_OWNER_MAX = QN_DOWNLOADS_MAX / 4, /* jobs of one owner, of all states */
    QN_PULL_PRIORITY_MAX = 100,
    QN_PULL_TICK_MS = 200,
    QN_PULL_SLICE_MS = 2 * 60 * 1000, /* how long a job may fetch without interruption while a job
                                         of another owner waits of whose jobs none is fetching */
    QN_PULL_ETAG_MAX = 256
};
/* A job that failed because of the network is retried automatically, after pauses that double. */
enum {
    QN_PULL_RETRY_MS = 5 * 60 * 1000,
    QN_PULL_RETRY_MAX_MS = 60 * 60 * 1000,
    QN_PULL_RETRIES = 24
};
#define QN_PULL_NETWORK "network" /* param of an error that a retry may resolve */
/* error_name of a job that can be resumed when there is disk space. */
#define QN_PULL_DISK_FULL "disk_full"

/* The files that an order needs. Everything is in the arena. */
struct qn_pull_plan {
    struct qn_arena *arena;
    struct qn_pull_order order; /* the request, completed by what the files say */
    struct qn_download_file *files;
    size_t n;
};
void qn_pull_plan_free(struct qn_pull_plan *plan); /* NULL allowed */

/* The progress of one file. Written by the thread that fetches it, read by the loop. */
struct qn_pull_meter {
    _Atomic int64_t here_bytes, before_bytes;
    _Atomic int64_t size_bytes; /* < 0: unknown yet */
    _Atomic bool whole_only;    /* an interrupted fetch begins this file again */
};

/* One file of a run. */
struct qn_pull_part {
    const struct qn_download_file *file; /* unchanged while the run lasts */
    struct qn_pull_meter *meter;
    /* Set by the step: */
    char etag[QN_PULL_ETAG_MAX];
    atomic_bool done; /* complete, verified, in its place; set after the etag */
};

struct qn_pull_steps {
    void *ctx;
    /* Worker; blocking. Queries the hubs. */
    qn_err (*resolve)(void *ctx, const struct qn_pull_order *order, const atomic_bool *stop,
                      struct qn_pull_plan **out, struct qn_error *e);
    /* On a thread of its own; blocking. Ends early with QN_ECANCELLED when *stop is set. QN_EIO
     * with the param QN_PULL_DISK_FULL: no disk space; any error with QN_PULL_NETWORK: a retry may
     * succeed. */
    qn_err (*fetch)(void *ctx, struct qn_pull_part *parts, size_t n, const atomic_bool *stop,
                    struct qn_error *e);
    /* Loop. All files are there: unpacks an archive and registers the model. done is called once on
     * the loop, never from within this call; *stop as above. */
    void (*finish)(void *ctx, const struct qn_pull_order *order,
                   const struct qn_download_file *files, size_t n, const atomic_bool *stop,
                   void (*done)(void *arg, const struct qn_error *e), void *arg);
    /* Worker; blocking. How many bytes of a file are on disk. */
    int64_t (*have)(void *ctx, const struct qn_download_file *file);
    /* Worker; blocking. Deletes what has been downloaded of a cancelled download's files, except
     * files that models of the catalog use. */
    void (*discard)(void *ctx, const struct qn_download_file *files, size_t n,
                    const struct qn_snapshot *models);
};

struct qn_pulls_config {
    struct qn_loop *loop;
    struct qn_catalog *catalog;
    const bool *closed; /* becomes true when the catalog has been closed; outlives the loop */
    struct qn_pull_steps steps;
    int threads;      /* 1 to QN_PULL_THREADS_MAX jobs fetch at a time */
    bool offline;     /* jobs wait, except those whose order is local */
    int64_t retry_ms; /* 0: QN_PULL_RETRY_MS */
    int64_t slice_ms; /* 0: QN_PULL_SLICE_MS */
};

struct qn_pulls;
struct qn_pull_client; /* a client that watches a job */

/* Reads the jobs of the last run and continues those that were not over. */
struct qn_pulls *qn_pulls_new(const struct qn_pulls_config *config);
/* The server is about to stop: stops the running steps and notifies clients; no step begins any
 * more. Downloaded bytes are kept. */
void qn_pulls_drain(struct qn_pulls *p);
/* Joins the threads; call before the catalog is closed. NULL allowed, as below. */
void qn_pulls_stop(struct qn_pulls *p);
void qn_pulls_free(struct qn_pulls *p); /* call after the loop has been freed */

struct qn_pull_events {
    /* MAY be set: figures have changed; at most every QN_PULL_TICK_MS. */
    void (*progress)(void *ctx, const struct qn_pull_view *v);
    /* MAY be set: the job is in the catalog and goes on even if the server is restarted. */
    void (*kept)(void *ctx, const struct qn_pull_view *v);
    /* MUST be set: the job has ended. e is NULL on success. Called once, last; the client is freed
     * when this returns. */
    void (*end)(void *ctx, const struct qn_pull_view *v, const struct qn_error *e);
};

struct qn_pull_wish {
    const struct qn_pull_order *order;
    const char
        *owner; /* the requesting owner (access/owner.h); NULL: the server itself, as an admin */
    bool admin; /* the client is an admin: it may change jobs of other owners, and QN_PULL_OWNER_MAX
                   does not apply */
    int64_t priority; /* QN_UNSET_PRIORITY: unchanged, 0 for a new job. For a job with other owners,
                         only an admin's value counts */
    bool until_gone;  /* the job is cancelled when the last client with this flag leaves, unless
                         another client asked without it */
};
#define QN_UNSET_PRIORITY INT64_MIN

/* Begins the download, or joins the existing one, of which the client becomes an owner, too. No
 * event is called from within this call. QN_ECONFLICT: another download for that name is not over,
 * or has failed and belongs to another owner; QN_EBUSY: stopping, or too many jobs. The number of
 * clients is limited by the caller (http/watchers.h). */
qn_err qn_pulls_ask(struct qn_pulls *p, const struct qn_pull_wish *wish,
                    const struct qn_pull_events *ev, void *ctx, struct qn_pull_client **out,
                    struct qn_error *e);
/* The client stops watching; no event follows. NULL allowed. */
void qn_pull_leave(struct qn_pull_client *c);

/* All jobs, oldest first. */
void qn_pulls_each(const struct qn_pulls *p, void (*fn)(void *ctx, const struct qn_pull_view *v),
                   void *ctx);
/* One job; false: there is none. */
bool qn_pulls_view(const struct qn_pulls *p, const char *id,
                   void (*fn)(void *ctx, const struct qn_pull_view *v), void *ctx);

/* The relation of an owner to a job. */
enum qn_pull_share {
    QN_PULL_OF_OTHERS, /* or without an owner */
    QN_PULL_OF_SEVERAL,
    QN_PULL_OWN
};
/* False: there is no such job. */
bool qn_pulls_share(const struct qn_pulls *p, const char *id, const char *owner,
                    enum qn_pull_share *out);
/* The owner gives up a job that has other owners: its waiting clients are told that the download
 * was cancelled, and the job goes on. */
void qn_pulls_give_up(struct qn_pulls *p, const char *id, const char *owner);

enum qn_pull_control {
    QN_PULL_DO_PAUSE,
    QN_PULL_DO_RESUME,
    QN_PULL_DO_CANCEL, /* and delete what has been downloaded */
    QN_PULL_DO_REMOVE  /* from the list; cancels a running job first */
};
/* Does not check rights: see qn_pulls_share. An action without effect on a finished job succeeds.
 * QN_ENOTFOUND: no such job; QN_ECONFLICT: the job is registering its model, or is being
 * cancelled. */
qn_err qn_pulls_control(struct qn_pulls *p, const char *id, enum qn_pull_control what,
                        struct qn_error *e);
qn_err qn_pulls_set_priority(struct qn_pulls *p, const char *id, int64_t priority,
                             struct qn_error *e);

/* The model is being deleted: its download is cancelled and removed from the list. NULL allowed.
 * False: the download is registering the model at this moment; nothing was changed. */
bool qn_pulls_forget_model(struct qn_pulls *p, const char *model);

/* True when a download of that model is running, paused or failed. */
bool qn_pulls_wants(const struct qn_pulls *p, const char *model);

/* The paths of all partial files that jobs still need, sorted, for a clean-up; malloc'ed, the
 * caller frees the strings and the list. */
size_t qn_pulls_partials(const struct qn_pulls *p, char ***out);

/* The settings have changed. Jobs beyond the number of threads wait, lowest priority first, and
 * keep their bytes; with `offline` all jobs that are not local wait, and their clients get
 * QN_ENOTFOUND, as do new requests. */
void qn_pulls_set(struct qn_pulls *p, int threads, bool offline);

#endif
