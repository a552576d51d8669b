/* Engines of others that are being installed or removed (registry/pack_install.h): one job for
 * each, on a thread of its own; whoever asks for an installation that is under way watches it. A
 * job goes on when its watchers leave, and one that the server's end cut off is begun anew by
 * whoever asks again, with the bytes that have come. Loop thread only. */
#ifndef QN_DOWNLOADS_PACK_JOBS_H
#define QN_DOWNLOADS_PACK_JOBS_H

#include "base/error.h"
#include "downloads/pull_view.h"
#include "registry/packs.h"

enum { QN_PACK_JOBS_MAX = 4, QN_PACK_TICK_MS = 200 };

struct qn_pack_jobs;
struct qn_pack_client; /* somebody who watches */

/* What they work with; all of it outlives the loop. */
struct qn_pack_jobs_config {
    const struct qn_serving *serving;
    const struct qn_packs *packs; /* NULL: the list cannot be read */
    const struct qn_web *web;
    struct qn_inventory *inventory;
    const char *unpacker; /* the program quince-unpack */
};

/* Removes what the last run left half done. */
struct qn_pack_jobs *qn_pack_jobs_new(const struct qn_pack_jobs_config *config);
/* The server is about to stop: installations end, and who watches is told. */
void qn_pack_jobs_drain(struct qn_pack_jobs *jobs);
/* Gives up what runs and joins the threads; before the loop is freed. NULL allowed, as below. */
void qn_pack_jobs_stop(struct qn_pack_jobs *jobs);
void qn_pack_jobs_free(struct qn_pack_jobs *jobs); /* after the loop */

struct qn_pack_events {
    /* MAY be set: every QN_PACK_TICK_MS. v has the archive as its one file, "RECIPE:BACKEND" as
     * its model. */
    void (*progress)(void *ctx, const struct qn_pull_view *v);
    /* MUST be set: it is over; e is NULL when it is installed. Called once; the client is gone when
     * it returns. */
    void (*end)(void *ctx, const struct qn_pull_view *v, const struct qn_error *e);
};

/* Begins an installation, or joins the one that runs. Events are not called from within. Models
 * that run with another version are unloaded when it is there, as on request: what they are at ends
 * first. QN_EBUSY: too many at a time, or stopping; QN_ECONFLICT: it is being removed. */
qn_err qn_pack_jobs_install(struct qn_pack_jobs *jobs, const struct qn_pack *pack,
                            const struct qn_pack_events *ev, void *ctx, struct qn_pack_client **out,
                            struct qn_error *e);
/* The client does not want to know any more. NULL allowed. */
void qn_pack_leave(struct qn_pack_client *c);

/* Removes an engine: it does not count as installed any more, models that use it are unloaded, its
 * files go, done is called (once, not from within). QN_ENOTFOUND: it is not installed;
 * QN_ECONFLICT: it is being installed or removed. */
qn_err qn_pack_jobs_remove(struct qn_pack_jobs *jobs, const struct qn_pack *pack,
                           void (*done)(void *ctx), void *ctx, struct qn_error *e);

#endif
