/* A download as clients see it: the figures of one moment, and how they are written as JSON with
 * the members that Lemonade's clients know, of its first document and of today's. Pure. */
#ifndef QN_DOWNLOADS_PULL_VIEW_H
#define QN_DOWNLOADS_PULL_VIEW_H

#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_pull_view_file {
    const char *path;   /* in its repository */
    const char *sum;    /* the hub's sum, or "" */
    int64_t size_bytes; /* < 0: not known yet */
    int64_t here_bytes;
    int64_t before_bytes; /* of here_bytes: were here when the download was begun or resumed */
    bool done;
};

/* Lent for the time of a call. */
struct qn_pull_view {
    const char *id, *model;
    const char *status;             /* "downloading", "paused", "completed", "cancelled", "error" */
    const char *phase;              /* "resolving", "waiting", "fetching" ... */
    bool running;                   /* a step is at work */
    const char *error, *error_name; /* "" unless it failed */
    const char *recipe;             /* "" until it is known */
    const char *main_ref;           /* the main checkpoint as it was asked for */
    const struct qn_pull_view_file *files;
    size_t n;
    /* Over all files, see qn_pull_view_add_up: */
    int64_t here_bytes, total_bytes; /* total < 0: a size is not known yet */
    size_t current;                  /* the first file that is not done; n when all are */
    int64_t retry_s;                 /* failed, and tried again in so many seconds; 0: it is not */
    double rate_bytes_s;             /* of late; 0: nothing comes */
    int64_t priority;
    size_t ahead; /* jobs before it in the queue, while it waits */
    int64_t created_s, changed_s;
};

/* Sets what is over all files: once for a view, since events need it for each of thousands. */
void qn_pull_view_add_up(struct qn_pull_view *v);
/* Seconds until the last byte at the rate of late; < 0: nobody knows. */
double qn_pull_view_left_s(const struct qn_pull_view *v);

/* The members of a progress event about file i (< n), without braces. */
void qn_pull_view_progress(const struct qn_pull_view *v, size_t i, struct qn_jw *w);
/* The job as an object, as GET downloads lists it. */
void qn_pull_view_job(const struct qn_pull_view *v, struct qn_jw *w);

/* A speed from byte counts at irregular times: what came less than a few seconds ago counts most.
 */
struct qn_pull_rate {
    int64_t bytes, at_ms; /* of the last look; at_ms 0: none yet */
    int64_t begun_ms;     /* the first one */
    double bytes_s;
};
void qn_pull_rate_look(struct qn_pull_rate *r, int64_t bytes, int64_t now_ms);

#endif
