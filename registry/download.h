/* Downloads files of known or unknown size, in parallel ranges over several connections, and
 * resumes them after any interruption.
 *
 * A file grows at its `partial` path. "<partial>.ranges" records which bytes are present, with the
 * size and the ETag that they belong to; it is updated after each write and checks itself
 * (registry/ranges.h). After kill -9 at any moment at most one buffer for each connection is
 * fetched again; after a power failure, what arrived since the last sync of the file (every
 * QN_FETCH_SYNC_S). When either file was changed by something else, or the server's file has
 * changed, the download starts from the beginning. No other process may write the partial
 * meanwhile: it is locked (flock), and a second download of it is QN_EBUSY.
 *
 * The checksum is computed while bytes arrive and compared at the end. A file with a wrong checksum
 * is discarded and fetched once more; a second mismatch is an error. A complete file has every
 * byte, the right checksum, and is synced to the disk. */
#ifndef QN_REGISTRY_DOWNLOAD_H
#define QN_REGISTRY_DOWNLOAD_H

#include "base/error.h"
#include "registry/web.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_FETCH_CONNECTIONS = 8, /* default of `connections` in struct qn_web */
    QN_FETCH_CONNECTIONS_MAX = 32,
    QN_FETCH_FILES_MAX = 100000, /* in one call */
    QN_FETCH_PROGRESS_MS = 100,
    QN_FETCH_SYNC_S = 10,
    QN_FETCH_SUM_MAX = 64 /* hexadecimal digits */
};
#define QN_FETCH_SIZE_MAX ((int64_t)1 << 43) /* 8 TiB, of one file */

/* One file to fetch. Strings are lent for the call. */
struct qn_fetch_file {
    const char *url;     /* each request goes here, or to where the last one was redirected */
    const char *partial; /* path of the file while it grows; its folder exists */
    int64_t size_bytes; /* < 0: unknown, set once the server has said it. A known size must match */
    const char *sha256; /* expected SHA-256, 64 hexadecimal digits, or NULL or "" */
    const char *git_sha1; /* expected checksum as a git blob, 40 digits, or NULL or "" */
    const char *token;    /* bearer token for url's own host, or NULL or "" */
    /* Set by the call: */
    int64_t done_bytes; /* bytes present */
    bool complete;      /* all bytes are verified, and the watch's `complete` has returned QN_OK */
    bool whole_only; /* its server supports no ranges: when the call is stopped, an incomplete file
                        is fetched again from the beginning */
    char sum[QN_FETCH_SUM_MAX +
             1]; /* SHA-256 of a complete file; its git checksum if only that was expected */
    char etag[QN_WEB_ETAG_MAX]; /* the ETag that the server sent last, with its quotes, or "";
                                   Last-Modified in its place if the server sends no ETag and no
                                   checksum was expected */
};

/* Why a call failed, for the caller's decision what to do next. */
enum qn_fetch_end {
    QN_FETCH_DONE,
    QN_FETCH_STOPPED, /* the stop flag was set: the next call resumes */
    QN_FETCH_NETWORK, /* retries are used up; a later call may succeed */
    QN_FETCH_REFUSED, /* refused by the server (http_status) or by the rules of web.h, or offline */
    QN_FETCH_DAMAGED, /* other bytes than promised: wrong size or checksum, or the server's file
                         keeps changing */
    QN_FETCH_DISK_FULL, /* need_bytes and free_bytes say how much is missing; the next call
                           resumes */
    QN_FETCH_LOCAL      /* a file cannot be written or locked, or the arguments were wrong */
};

/* Callbacks during the call, and details of its result. The functions are called on the thread that
 * called qn_fetch_run and should return quickly. */
struct qn_fetch_watch {
    void *ctx;
    /* MAY be set: done_bytes and size_bytes of the files have changed; at most every
     * QN_FETCH_PROGRESS_MS, and once at the end. */
    void (*progress)(void *ctx, const struct qn_fetch_file *files, size_t n);
    /* MAY be set: file i is complete; the function moves it to its final path. After QN_OK the
     * ranges file is removed; any error ends the call. If not set, the partial stays at its path,
     * and the caller must call qn_fetch_forget after moving it. */
    qn_err (*complete)(void *ctx, size_t i, struct qn_error *e);
    /* Set by the call: */
    enum qn_fetch_end end;
    size_t failed_file;             /* index of the file that the error is about, or n */
    int http_status;                /* if end is QN_FETCH_REFUSED, else 0 */
    int64_t need_bytes, free_bytes; /* if end is QN_FETCH_DISK_FULL */
};

/* Fetches all files, or ends with the first error that retries cannot overcome. Files completed by
 * then stay complete, and the others keep the bytes they have. No two files of one call may have
 * the same partial. watch may be NULL. Blocking, any thread. */
qn_err qn_fetch_run(const struct qn_web *web, struct qn_fetch_file *files, size_t n,
                    struct qn_fetch_watch *watch, struct qn_error *e);

/* The number of bytes of a partial that are present according to its ranges file; 0 if that is
 * missing or malformed. size_bytes as for qn_fetch_file. Blocking, any thread. */
int64_t qn_fetch_have(const char *partial, int64_t size_bytes);

/* Removes the ranges file of a partial that has been moved; a missing one is no error. */
void qn_fetch_forget(const char *partial);

/* Removes a partial and its ranges file when a download is abandoned. Missing files are no error; a
 * partial that is being downloaded (by another server with the same cache) is left alone. */
void qn_fetch_discard(const char *partial);

#endif
