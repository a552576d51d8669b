/* Installs and removes other projects' engines (registry/pack_install.h): one job for each engine,
 * on a thread of its own; further requests for a running installation watch the same job. A job
 * goes on when its watchers leave. An installation that was cut off by the server's end is
 * continued by the next request for it, with the bytes that have arrived. Loop thread only. */
#ifndef QN_DOWNLOADS_PACK_JOBS_H
#define QN_DOWNLOADS_PACK_JOBS_H

#include "base/error.h"
#include "downloads/pull_view.h"
#include "registry/packs.h"

enum { QN_PACK_JOBS_MAX = 4, QN_PACK_TICK_MS = 200 };

struct qn_pack_jobs;
struct qn_pack_client; /* a client that watches a job */

/* The environment of the jobs; all of it outlives the loop. */
struct qn_pack_jobs_config {
    const struct qn_serving *serving;
    const struct qn_packs *packs; /* NULL: the list could not be read */
    const struct qn_web *web;
    struct qn_inventory *inventory;
    const char *unpacker; /* the program quince-unpack */
};

/* Removes incomplete installations of the last run. */
struct qn_pack_jobs *qn_pack_jobs_new(const struct qn_pack_jobs_config *config);
/* The server is about to stop: cancels installations; their watchers get the error. */
void qn_pack_jobs_drain(struct qn_pack_jobs *jobs);
/* Cancels running installations and joins their threads; call before the loop is freed. NULL
 * allowed, as below. */
void qn_pack_jobs_stop(struct qn_pack_jobs *jobs);
void qn_pack_jobs_free(struct qn_pack_jobs *jobs); /* call after the loop has been freed */

struct qn_pack_events {
    /* MAY be set: called every QN_PACK_TICK_MS. v has the archive as its one file and
     * "RECIPE:BACKEND" as its model. */
    void (*progress)(void *ctx, const struct qn_pull_view *v);
    /* MUST be set: the installation has ended; e is NULL on success. Called once; the client is
     * freed when this returns. */
    void (*end)(void *ctx, const struct qn_pull_view *v, const struct qn_error *e);
};

/* Begins an installation, or joins the running one. No event is called from within this call.
 * Models that run with another version are unloaded after the installation, as on request: their
 * running jobs end first. QN_EBUSY: too many at a time, or stopping; QN_ECONFLICT: the engine is
 * being removed. */
qn_err qn_pack_jobs_install(struct qn_pack_jobs *jobs, const struct qn_pack *pack,
                            const struct qn_pack_events *ev, void *ctx, struct qn_pack_client **out,
                            struct qn_error *e);
/* The client stops watching. NULL allowed. */
void qn_pack_leave(struct qn_pack_client *c);

/* Removes an engine: it no longer counts as installed, models that use it are unloaded, its files
 * are deleted, then done is called (once, never from within this call). QN_ENOTFOUND: it is not
 * installed; QN_ECONFLICT: it is being installed or removed. */
qn_err qn_pack_jobs_remove(struct qn_pack_jobs *jobs, const struct qn_pack *pack,
                           void (*done)(void *ctx), void *ctx, struct qn_error *e);

#endif
