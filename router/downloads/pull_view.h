/* A download as clients see it: the figures of one moment, and their JSON with the members that
 * Lemonade's clients know, of both the first and the current version of its API. Pure. */
#ifndef QN_DOWNLOADS_PULL_VIEW_H
#define QN_DOWNLOADS_PULL_VIEW_H

#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_pull_view_file {
    const char *path;   /* in its repository */
    const char *sum;    /* checksum from the hub, or "" */
    int64_t size_bytes; /* < 0: unknown yet */
    int64_t here_bytes;
    int64_t
        before_bytes; /* of here_bytes: on disk already when the download was begun or resumed */
    bool done;
};

/* Lent for the duration of a call. */
struct qn_pull_view {
    const char *id, *model;
    const char *status;             /* "downloading", "paused", "completed", "cancelled", "error" */
    const char *phase;              /* "resolving", "waiting", "fetching" ... */
    bool running;                   /* a step is running */
    const char *error, *error_name; /* "" unless it failed */
    const char *recipe;             /* "" until known */
    const char *main_ref;           /* the main checkpoint as requested */
    const struct qn_pull_view_file *files;
    size_t n;
    /* Totals over all files, see qn_pull_view_add_up: */
    int64_t here_bytes, total_bytes; /* total < 0: a size is unknown yet */
    size_t current;                  /* the first file that is not done; n when all are */
    int64_t retry_s;                 /* failed: seconds until the automatic retry; 0: none */
    double rate_bytes_s;             /* current rate; 0: no bytes arrive */
    int64_t priority;
    size_t ahead; /* jobs before it in the queue, while it waits */
    int64_t created_s, changed_s;
};

/* Sets the totals: once per view, since events need them for each of thousands of files. */
void qn_pull_view_add_up(struct qn_pull_view *v);
/* Seconds until the last byte at the current rate; < 0: unknown. */
double qn_pull_view_left_s(const struct qn_pull_view *v);

/* The members of a progress event about file i (< n), without braces. */
void qn_pull_view_progress(const struct qn_pull_view *v, size_t i, struct qn_jw *w);
/* The job as an object, as GET downloads lists it. */
void qn_pull_view_job(const struct qn_pull_view *v, struct qn_jw *w);

/* A rate from byte counts at irregular times: an exponential moving mean with a time constant of a
 * few seconds. */
struct qn_pull_rate {
    int64_t bytes, at_ms; /* at the last update; at_ms 0: none yet */
    int64_t begun_ms;     /* time of the first update */
    double bytes_s;
};
void qn_pull_rate_look(struct qn_pull_rate *r, int64_t bytes, int64_t now_ms);

#endif
