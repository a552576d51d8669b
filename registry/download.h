/* Downloads: files of known or unknown size, in parallel ranges over several connections, that go
 * on where they stopped after whatever stopped them.
 *
 * A file grows in its `partial`. Which bytes are there stands in "<partial>.ranges", renewed after
 * each write and self-checking (registry/ranges.h), with the size and the ETag they belong to:
 * after kill -9 at any moment no more than one buffer for each connection is fetched again, after a
 * power failure what came since the file was last synced (every QN_FETCH_SYNC_S). When either file
 * is not what it was, or the server's file has changed, the file starts anew. Nobody else may write
 * the partial meanwhile: it is locked (flock), and a second download of it is QN_EBUSY.
 *
 * A sum is computed while bytes come and checked at the end; a file whose sum is wrong is thrown
 * away and fetched once more, and then it is an error. Complete means: every byte there, the sum
 * right, and synced to the disk. */
#ifndef QN_REGISTRY_DOWNLOAD_H
#define QN_REGISTRY_DOWNLOAD_H

#include "base/error.h"
#include "registry/web.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_FETCH_CONNECTIONS = 8, /* unless struct qn_web says otherwise */
    QN_FETCH_CONNECTIONS_MAX = 32,
    QN_FETCH_FILES_MAX = 100000, /* of one call */
    QN_FETCH_PROGRESS_MS = 100,
    QN_FETCH_SYNC_S = 10,
    QN_FETCH_SUM_MAX = 64 /* hexadecimal digits */
};
#define QN_FETCH_SIZE_MAX ((int64_t)1 << 43) /* 8 TiB: of one file */

/* One file to fetch. Strings are lent for the call. */
struct qn_fetch_file {
    const char *url;      /* each piece asks here, or where it was redirected to */
    const char *partial;  /* path it grows in; its folder exists */
    int64_t size_bytes;   /* < 0: unknown, set when it is learned. A known size is insisted on */
    const char *sha256;   /* expected, 64 hexadecimal digits, or NULL or "" */
    const char *git_sha1; /* expected sum as a git blob, 40 digits, or NULL or "" */
    const char *token;    /* bearer token for url's own host, or NULL or "" */
    /* Set by the call: */
    int64_t done_bytes; /* that are there */
    bool complete;      /* it, and what the watch's `complete` does with it, is done */
    bool whole_only;    /* its server gives no ranges: when the call is stopped, what has come of a
                           file that is not complete is fetched again */
    char sum[QN_FETCH_SUM_MAX +
             1]; /* SHA-256 of a complete file; its git sum if only that was expected */
    char etag[QN_WEB_ETAG_MAX]; /* as the server said it last, with its quotes, or ""; its
                                   Last-Modified where it says none and no sum was expected */
};

/* Why a call that failed ended, for whoever decides what to do next. */
enum qn_fetch_end {
    QN_FETCH_DONE,
    QN_FETCH_STOPPED,   /* the stop flag: goes on where it was when called again */
    QN_FETCH_NETWORK,   /* retries are used up; later it may work */
    QN_FETCH_REFUSED,   /* the server said no (http_status), or our own rules did, or offline */
    QN_FETCH_DAMAGED,   /* other bytes than promised: size, sum, or the file keeps changing */
    QN_FETCH_DISK_FULL, /* need_bytes and free_bytes say how much; goes on when there is room */
    QN_FETCH_LOCAL      /* a file cannot be written or locked, or the call was wrong */
};

/* What the caller sees meanwhile and learns in the end. Functions are called on the caller's own
 * thread and should be quick. */
struct qn_fetch_watch {
    void *ctx;
    /* MAY be set: done_bytes and size_bytes of the files have changed; at most every
     * QN_FETCH_PROGRESS_MS, and once at the end. */
    void (*progress)(void *ctx, const struct qn_fetch_file *files, size_t n);
    /* MAY be set: file i is complete; moves it to where it belongs. After QN_OK the ranges file is
     * removed; any error ends the call. Without it the partial stays where it is, and whoever
     * moves it calls qn_fetch_forget afterwards. */
    qn_err (*complete)(void *ctx, size_t i, struct qn_error *e);
    /* Set by the call: */
    enum qn_fetch_end end;
    size_t failed_file;             /* the file the error is about, or n */
    int http_status;                /* of QN_FETCH_REFUSED, else 0 */
    int64_t need_bytes, free_bytes; /* of QN_FETCH_DISK_FULL */
};

/* Fetches all files, or ends with the first error that retries do not cure; files that are complete
 * are complete then too, and others keep what they have. Partials of one call are different files.
 * watch may be NULL. Blocking, any thread. */
qn_err qn_fetch_run(const struct qn_web *web, struct qn_fetch_file *files, size_t n,
                    struct qn_fetch_watch *watch, struct qn_error *e);

/* How many bytes of a partial are there, by its ranges file; 0 where there is none or it is not in
 * order. size_bytes as for qn_fetch_file. Blocking, any thread. */
int64_t qn_fetch_have(const char *partial, int64_t size_bytes);

/* Removes the ranges file of a partial that has been moved; a missing one is fine. */
void qn_fetch_forget(const char *partial);

/* Removes a partial and its ranges file: a download that was given up. Missing ones are fine;
 * what is being downloaded (by another server with the same cache) stays. */
void qn_fetch_discard(const char *partial);

#endif
