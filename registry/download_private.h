/* What the parts of the download engine share: download.c schedules and ends, download_file.c is
 * one file's life on the disk, download_piece.c one request and what becomes of its reply.
 * Everything belongs to the thread that called qn_fetch_run; only registry/verify.c has one of its
 * own. */
#ifndef QN_REGISTRY_DOWNLOAD_PRIVATE_H
#define QN_REGISTRY_DOWNLOAD_PRIVATE_H

#include "base/error.h"
#include "registry/download.h"
#include "registry/ranges.h"
#include "registry/reply_head.h"
#include "registry/verify.h"
#include "registry/web_way.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    DL_BUFFER = 256 * 1024,    /* of one connection: what a kill may lose */
    DL_OPEN_MAX = 64,          /* files at once, with those that wait for their sums */
    DL_SPAN_MAX = 4,           /* chunks in one request */
    DL_ANEW_MAX = 5,           /* times that a file may change at the server */
    DL_GAIN = 256 * 1024,      /* bytes after which a failure is a first one again */
    DL_SCRAP_MAX = 64 * 1024,  /* of a reply's body that is not the file's */
    DL_DISK_LOW = 1024 * 1024, /* bytes: with less a disk is full */
    DL_TICK_MS = 100
};
#define DL_UNTOLD_MAX ((int64_t)16 << 30) /* of a body that does not say how long it is */

enum dl_state {
    DL_WAITING, /* not opened yet */
    DL_OPEN,    /* bytes are missing */
    DL_FULL,    /* all bytes are there; its sum is not */
    DL_COMPLETE
};

struct dl_file {
    struct qn_fetch_file *pub;
    enum dl_state state;
    bool insisted;          /* on the size that the caller gave */
    bool probed;            /* the server gives ranges of it */
    bool no_ranges, untold; /* one request for all of it; that did not say how long it is */
    bool second_time;       /* its sum was wrong once */
    int fd;
    char *ranges_path;
    struct qn_ranges *ranges; /* NULL: its size is not known */
    bool *claimed;            /* [ranges' count]: chunks that a request is filling */
    struct qn_verify_sum *sum;
    int64_t synced;
    char *final_url; /* where redirects led the last time, or NULL */
    int running;     /* pieces */
    int anew, failures;
    bool dry;              /* no bytes that nobody fetches, until a request ends */
    int64_t best;          /* most bytes that were ever there */
    int64_t gained;        /* since the last failure: beyond the best before it */
    int64_t not_before_ms; /* the next request */
};

enum dl_verdict {
    DL_UNJUDGED,
    DL_TAKE,    /* the body is the file's */
    DL_SCRAP,   /* it is not: the status says what to do */
    DL_ENOUGH,  /* more came than was asked for: the rest is not read */
    DL_CHANGED, /* the file is another than before: start anew */
    DL_ODD,     /* a reply that makes no sense, in `odd`: try again */
    DL_STALE,   /* the file has started anew without this request: dropped as soon as curl allows */
    DL_ENDED    /* the whole call has ended in an error */
};

struct dl;

struct dl_piece {
    struct dl *dl;
    struct dl_file *file; /* NULL: idle */
    CURL *easy;
    struct curl_slist *headers;
    struct qn_way way;
    struct qn_reply_head head;
    bool ranged; /* asked for a range */
    bool cached; /* began at final_url */
    bool paused; /* curl keeps its bytes, because the rate is used up */
    enum dl_verdict verdict;
    int64_t begin, end; /* the bytes it is to fetch */
    int64_t pos;        /* the next one to come; the last `held` before it are in the buffer */
    size_t held;
    unsigned char *buffer; /* [DL_BUFFER] */
    size_t scrap;
    int64_t window_ms, window_bytes; /* for QN_WEB_STALL_RATE */
    char why[CURL_ERROR_SIZE];       /* curl's */
    const char *odd;
};

struct dl {
    const struct qn_web *web;
    struct qn_fetch_watch *watch;
    struct dl_file *files; /* [n] */
    size_t n, first;       /* files before `first` are complete */
    size_t opened;         /* files from here on are waiting */
    int open_count;
    struct dl_piece *pieces; /* [limit] */
    size_t pieces_n, running, limit;
    CURLM *multi;
    struct qn_verify *verify;
    int64_t hold_until_ms;  /* the rate is used up */
    int64_t not_before_ms;  /* a server asked everybody to wait */
    qn_err err;             /* the call has ended */
    struct qn_error *error; /* the caller's, may be NULL */
};

/* Ends the call: the first one counts. f may be NULL. Returns code. */
qn_err dl_end(struct dl *dl, const struct dl_file *f, enum qn_fetch_end end, qn_err code,
              const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* The same with an error that has been filled. */
qn_err dl_end_with(struct dl *dl, const struct dl_file *f, enum qn_fetch_end end,
                   const struct qn_error *why);

/* download_file.c */
void dl_file_open(struct dl *dl, struct dl_file *f);
/* Its size is known and nothing of it is there. False: the call has ended. */
bool dl_file_lay_out(struct dl *dl, struct dl_file *f, int64_t size, const char *etag);
/* Begins a body of unknown length. False: the call has ended. */
bool dl_file_lay_out_untold(struct dl *dl, struct dl_file *f, int64_t *limit);
/* Forgets all bytes; requests other than `keep` become stale. Also from within curl. */
void dl_file_anew(struct dl *dl, struct dl_file *f, const struct dl_piece *keep);
/* Writes n bytes at `at`. False: the call has ended. */
bool dl_file_write(struct dl *dl, struct dl_file *f, int64_t at, const unsigned char *data,
                   size_t n);
void dl_file_full(struct dl *dl, struct dl_file *f); /* if it is: its sum is next */
void dl_file_untold_end(struct dl *dl, struct dl_file *f, int64_t size);
void dl_file_check(struct dl *dl, struct dl_file *f); /* its sum, and what follows */
void dl_file_close(struct dl *dl, struct dl_file *f);
/* Ends the call when what is missing does not fit on the disk. */
bool dl_disk_fits(struct dl *dl);
char *dl_ranges_path(const char *partial);

/* download_piece.c */
void dl_piece_begin(struct dl_piece *p, struct dl_file *f, int64_t begin, int64_t end);
void dl_piece_finish(struct dl_piece *p, CURLcode code); /* curl is done with it */
/* Writes what is in the buffer. False: the call has ended. */
bool dl_piece_flush(struct dl_piece *p);
void dl_piece_drop(struct dl_piece *p); /* gives it up; what came is kept */

#endif
