/* Downloads of models: who asked for what, what runs, what waits. A job belongs to one model name
 * and is kept in the catalog, so that it goes on by itself after whatever ended the server; clients
 * only watch it. Further requests for a model that is being downloaded watch the same job, and jobs
 * that need the same file fetch it once.
 *
 * What a job does outside of the loop is a table of functions (struct qn_pull_steps), so tests can
 * put their own in the place of the network and the disk. Loop thread only, unless it says
 * otherwise. */
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
    QN_PULL_RESOLVES_MAX = 2,                 /* at a time: workers have other things to do, too */
    QN_PULL_FINISHED_MAX = 100,               /* jobs that are over and still listed */
    QN_PULL_OWNER_MAX = QN_DOWNLOADS_MAX / 4, /* jobs of one owner, of all states */
    QN_PULL_WATCHERS_MAX = 64, /* clients of one owner that are told of one job's progress */
    QN_PULL_PRIORITY_MAX = 100,
    QN_PULL_TICK_MS = 200,
    QN_PULL_SLICE_MS = 2 * 60 * 1000, /* a job that fetches keeps its thread for so long while the
                                         jobs of an owner without a thread wait */
    QN_PULL_ETAG_MAX = 256
};
/* A job that the network has failed is tried again by itself, after pauses that double. */
enum {
    QN_PULL_RETRY_MS = 5 * 60 * 1000,
    QN_PULL_RETRY_MAX_MS = 60 * 60 * 1000,
    QN_PULL_RETRIES = 24
};
#define QN_PULL_NETWORK "network"     /* param of an error that may pass by itself */
#define QN_PULL_DISK_FULL "disk_full" /* error_name of a job that goes on when there is room */

/* Which files an order means. Everything is the arena's. */
struct qn_pull_plan {
    struct qn_arena *arena;
    struct qn_pull_order order; /* what was asked for, with what the files say in addition */
    struct qn_download_file *files;
    size_t n;
};
void qn_pull_plan_free(struct qn_pull_plan *plan); /* NULL allowed */

/* How far a file is. Written by the thread that fetches it, read by the loop. */
struct qn_pull_meter {
    _Atomic int64_t here_bytes, before_bytes;
    _Atomic int64_t size_bytes; /* < 0: not known yet */
    _Atomic bool whole_only;    /* a fetch that is stopped begins this file again */
};

/* One file of a run. */
struct qn_pull_part {
    const struct qn_download_file *file; /* does not change meanwhile */
    struct qn_pull_meter *meter;
    /* Set by the step: */
    char etag[QN_PULL_ETAG_MAX];
    atomic_bool done; /* complete, checked, in its place; set after the etag */
};

struct qn_pull_steps {
    void *ctx;
    /* Worker; blocking. Asks the hubs. */
    qn_err (*resolve)(void *ctx, const struct qn_pull_order *order, const atomic_bool *stop,
                      struct qn_pull_plan **out, struct qn_error *e);
    /* A thread of its own; blocking. Ends early with QN_ECANCELLED when *stop is set. QN_EIO with
     * the param QN_PULL_DISK_FULL: there is no room; any error with QN_PULL_NETWORK: it may pass.
     */
    qn_err (*fetch)(void *ctx, struct qn_pull_part *parts, size_t n, const atomic_bool *stop,
                    struct qn_error *e);
    /* Loop. All files are there: unpacks what is an archive and makes the model known. done is
     * called once on the loop, not from within; *stop as above. */
    void (*finish)(void *ctx, const struct qn_pull_order *order,
                   const struct qn_download_file *files, size_t n, const atomic_bool *stop,
                   void (*done)(void *arg, const struct qn_error *e), void *arg);
    /* Worker; blocking. How many bytes of a file are there. */
    int64_t (*have)(void *ctx, const struct qn_download_file *file);
    /* Worker; blocking. Throws away what is there of files of a download that was given up, but for
     * what models of the catalog use. */
    void (*discard)(void *ctx, const struct qn_download_file *files, size_t n,
                    const struct qn_snapshot *models);
};

struct qn_pulls_config {
    struct qn_loop *loop;
    struct qn_catalog *catalog;
    const bool *closed; /* becomes true when the catalog has been closed; outlives the loop */
    struct qn_pull_steps steps;
    int threads;      /* 1 to QN_PULL_THREADS_MAX jobs fetch at a time */
    bool offline;     /* jobs wait but for those whose order is local */
    int64_t retry_ms; /* 0: QN_PULL_RETRY_MS */
    int64_t slice_ms; /* 0: QN_PULL_SLICE_MS */
};

struct qn_pulls;
struct qn_pull_client; /* somebody who watches a job */

/* Reads the jobs of the last run and goes on with those that were not over. */
struct qn_pulls *qn_pulls_new(const struct qn_pulls_config *config);
/* The server is about to stop: steps at work are stopped, clients are told, nothing new begins.
 * What has come is kept. */
void qn_pulls_drain(struct qn_pulls *p);
/* Joins the threads; before the catalog is closed. NULL allowed, as below. */
void qn_pulls_stop(struct qn_pulls *p);
void qn_pulls_free(struct qn_pulls *p); /* after the loop */

struct qn_pull_events {
    /* MAY be set: figures have changed; at most every QN_PULL_TICK_MS. */
    void (*progress)(void *ctx, const struct qn_pull_view *v);
    /* MAY be set: the job is in the catalog: it will go on whatever happens. */
    void (*kept)(void *ctx, const struct qn_pull_view *v);
    /* MUST be set: it is over. e is NULL when the model is there. Called once, last; the client is
     * gone when it returns. */
    void (*end)(void *ctx, const struct qn_pull_view *v, const struct qn_error *e);
};

struct qn_pull_wish {
    const struct qn_pull_order *order;
    const char *owner; /* who asks (access/owner.h); NULL: the server itself, as an admin */
    bool admin;        /* an admin asks: other owners' jobs give way */
    int64_t priority;  /* QN_UNSET_PRIORITY: as it is, 0 for a new job. Of a job that others asked
                          for, too, only an admin's counts */
    bool until_gone;   /* the job is cancelled when the last client that set this leaves, unless
                          another client asked for it without */
};
#define QN_UNSET_PRIORITY INT64_MIN

/* Begins the download, or joins the one that is there, which is then the asker's, too. Events are
 * not called from within. QN_ECONFLICT: another download of that name is not over, or has failed
 * and is another owner's; QN_EBUSY: stopping, too many jobs, or QN_PULL_WATCHERS_MAX. */
qn_err qn_pulls_ask(struct qn_pulls *p, const struct qn_pull_wish *wish,
                    const struct qn_pull_events *ev, void *ctx, struct qn_pull_client **out,
                    struct qn_error *e);
/* The client does not want to know any more; no event follows. NULL allowed. */
void qn_pull_leave(struct qn_pull_client *c);

/* All jobs, oldest first. */
void qn_pulls_each(const struct qn_pulls *p, void (*fn)(void *ctx, const struct qn_pull_view *v),
                   void *ctx);
/* One job; false: there is none. */
bool qn_pulls_view(const struct qn_pulls *p, const char *id,
                   void (*fn)(void *ctx, const struct qn_pull_view *v), void *ctx);

/* What a job is to an owner. */
enum qn_pull_share {
    QN_PULL_OF_OTHERS, /* or without an owner */
    QN_PULL_OF_SEVERAL,
    QN_PULL_OWN
};
/* False: there is no such job. */
bool qn_pulls_share(const struct qn_pulls *p, const char *id, const char *owner,
                    enum qn_pull_share *out);
/* The owner does not want the job any more, which others do: those of its clients that wait are
 * told that it was cancelled, and it goes on. */
void qn_pulls_give_up(struct qn_pulls *p, const char *id, const char *owner);

enum qn_pull_control {
    QN_PULL_DO_PAUSE,
    QN_PULL_DO_RESUME,
    QN_PULL_DO_CANCEL, /* and throw away what has come */
    QN_PULL_DO_REMOVE  /* from the list; cancels first what runs */
};
/* Does not check rights: see qn_pulls_share. A job that is over is left as it is by what
 * makes no sense for it. QN_ENOTFOUND: no such job;
 * QN_ECONFLICT: all its files are here and it is being made known, or it is being cancelled. */
qn_err qn_pulls_control(struct qn_pulls *p, const char *id, enum qn_pull_control what,
                        struct qn_error *e);
qn_err qn_pulls_set_priority(struct qn_pulls *p, const char *id, int64_t priority,
                             struct qn_error *e);

/* The model is being deleted: what is downloaded for it is cancelled and taken off the list. NULL
 * allowed. False: its files are all here and it is being made known at this moment; nothing
 * happened. */
bool qn_pulls_forget_model(struct qn_pulls *p, const char *model);

/* A download of that model is under way, paused or has failed: there is something to forget. */
bool qn_pulls_wants(const struct qn_pulls *p, const char *model);

/* The paths of all partial files that jobs still want, sorted; malloc'ed, the caller frees the
 * strings and the list. For whoever cleans up. */
size_t qn_pulls_partials(const struct qn_pulls *p, char ***out);

/* The settings have changed: jobs beyond so many threads, of the lowest priority first, and with
 * `offline` all that are not local, wait with what they have; who waits for one of the latter is
 * told (QN_ENOTFOUND, as who asks for one). */
void qn_pulls_set(struct qn_pulls *p, int threads, bool offline);

#endif
