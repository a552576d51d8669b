/* Shared by the files of the download engine: download.c schedules requests and ends the call,
 * download_file.c handles one file on the disk, download_piece.c one request and its reply.
 * Everything belongs to the thread that called qn_fetch_run; only registry/verify.c has a thread of
 * its own. */
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
    DL_BUFFER = 256 * 1024, /* bytes per connection; they are fetched again after a kill */
    DL_OPEN_MAX = 64,     /* files open at a time, including those that wait for their checksums */
    DL_OPEN_SHARE = 8,    /* fewer if these are more than this fraction of the open-file limit */
    DL_SPAN_MAX = 4,      /* chunks in one request */
    DL_ANEW_MAX = 5,      /* restarts from the beginning because the file changed at the server */
    DL_GAIN = 256 * 1024, /* bytes of progress after which the count of failures begins again */
    DL_SCRAP_MAX = 64 * 1024,  /* bytes read of a reply's body that is not the file's contents */
    DL_DISK_LOW = 1024 * 1024, /* bytes: with less free space the disk counts as full */
    DL_TICK_MS = 100
};
#define DL_UNTOLD_MAX ((int64_t)16 << 30) /* of a body whose length the server does not give */

enum dl_state {
    DL_WAITING, /* not opened yet */
    DL_OPEN,    /* bytes are missing */
    DL_FULL,    /* all bytes are present; the checksum is being computed */
    DL_COMPLETE
};

struct dl_file {
    struct qn_fetch_file *pub;
    enum dl_state state;
    bool insisted;          /* the caller gave the size: another one is an error */
    bool probed;            /* the server has shown that it supports ranges for this file */
    bool no_ranges, untold; /* fetched by one request; the server gives no length */
    bool second_time;       /* its checksum was wrong once */
    int fd;
    char *ranges_path;
    struct qn_ranges *ranges; /* NULL: the file's size is not known */
    bool *claimed;            /* [ranges' count]: chunks assigned to a request */
    struct qn_verify_sum *sum;
    int64_t synced;
    char *final_url; /* where the last redirects led, or NULL */
    int running;     /* pieces that fetch this file */
    int anew, failures;
    bool dry;              /* no bytes are left to assign until a request ends */
    int64_t best;          /* the most bytes that were ever present */
    int64_t gained;        /* bytes since the last failure, beyond `best` at that time */
    int64_t not_before_ms; /* earliest time of the next request */
};

enum dl_verdict {
    DL_UNJUDGED,
    DL_TAKE,    /* the body is the file's contents */
    DL_SCRAP,   /* the body is something else: the status decides what to do */
    DL_ENOUGH,  /* more bytes came than were asked for: the rest is not read */
    DL_CHANGED, /* the server's file has changed: start from the beginning */
    DL_ODD,     /* the reply is inconsistent, `odd` says how: try again */
    DL_STALE,   /* the file was restarted without this request: dropped as soon as curl allows */
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
    bool ranged; /* a range was requested */
    bool cached; /* the request began at final_url */
    bool paused; /* curl holds its bytes back because the rate limit is used up */
    enum dl_verdict verdict;
    int64_t begin, end; /* the bytes to fetch */
    int64_t pos; /* position of the next byte; the last `held` bytes before it are in the buffer */
    size_t held;
    unsigned char *buffer; /* [DL_BUFFER] */
    size_t scrap;
    int64_t window_ms, window_bytes; /* for QN_WEB_STALL_RATE: begin, bytes since */
    char why[CURL_ERROR_SIZE];       /* curl's error message */
    const char *odd;
};

struct dl {
    const struct qn_web *web;
    struct qn_fetch_watch *watch;
    struct dl_file *files; /* [n] */
    size_t n, first;       /* files before index `first` are complete */
    size_t opened;         /* files from this index on are waiting */
    int open_count, open_max;
    struct dl_piece *pieces; /* [limit] */
    size_t pieces_n, running, limit;
    CURLM *multi;
    struct qn_verify *verify;
    int64_t hold_until_ms;  /* while the rate limit is used up */
    int64_t not_before_ms;  /* a server asked to wait (Retry-After) */
    qn_err err;             /* not QN_OK: the call has ended */
    struct qn_error *error; /* the caller's, may be NULL */
};

/* Ends the call with this error; later errors are ignored. f may be NULL. Returns code. */
qn_err dl_end(struct dl *dl, const struct dl_file *f, enum qn_fetch_end end, qn_err code,
              const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* The same with the message of `why`. */
qn_err dl_end_with(struct dl *dl, const struct dl_file *f, enum qn_fetch_end end,
                   const struct qn_error *why);

/* download_file.c */
void dl_file_open(struct dl *dl, struct dl_file *f);
/* Creates the ranges of a file whose size is known and of which no byte is present. False: the call
 * has ended. */
bool dl_file_lay_out(struct dl *dl, struct dl_file *f, int64_t size, const char *etag);
/* Prepares for a body of unknown length. False: the call has ended. */
bool dl_file_lay_out_untold(struct dl *dl, struct dl_file *f, int64_t *limit);
/* Discards all bytes; requests other than `keep` become stale. May be called from within a curl
 * callback. */
void dl_file_anew(struct dl *dl, struct dl_file *f, const struct dl_piece *keep);
/* Writes n bytes at offset `at`. False: the call has ended. */
bool dl_file_write(struct dl *dl, struct dl_file *f, int64_t at, const unsigned char *data,
                   size_t n);
/* Goes on to the checksum if all bytes are present. */
void dl_file_full(struct dl *dl, struct dl_file *f);
void dl_file_untold_end(struct dl *dl, struct dl_file *f, int64_t size);
/* Looks whether the checksum is ready; completes the file, or discards it if the checksum is wrong.
 */
void dl_file_check(struct dl *dl, struct dl_file *f);
void dl_file_close(struct dl *dl, struct dl_file *f);
/* False: the missing bytes do not fit on the disk, and the call has ended. */
bool dl_disk_fits(struct dl *dl);
char *dl_ranges_path(const char *partial);

/* download_piece.c */
void dl_piece_begin(struct dl_piece *p, struct dl_file *f, int64_t begin, int64_t end);
void dl_piece_finish(struct dl_piece *p, CURLcode code); /* curl has ended the transfer */
/* Writes the buffered bytes. False: the call has ended. */
bool dl_piece_flush(struct dl_piece *p);
void dl_piece_drop(struct dl_piece *p); /* ends it early; bytes already received are kept */

#endif
