/* Downloads that the catalog keeps, so that a server that was killed goes on with them: what was
 * asked for, which files that means, and how far each is. How many bytes of a file are there is not
 * in here but beside the file itself: rows are written when something changes, not per byte. */
#ifndef QN_CATALOG_DOWNLOADS_H
#define QN_CATALOG_DOWNLOADS_H

#include "base/error.h"
#include "catalog/catalog.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_DOWNLOADS_MAX = 1000,          /* of all states */
    QN_DOWNLOAD_FILES_MAX = 2000,     /* of one download */
    QN_DOWNLOADS_BYTES_MAX = 64 << 20 /* of all rows when they are read */
};

struct qn_download_file {
    const char *hub;      /* "huggingface", "ollama" ... */
    const char *repo;     /* "owner/name" */
    const char *revision; /* as asked for: "main" */
    const char *commit;   /* what that was then, or "" */
    const char *path;     /* in the repository */
    const char *role;     /* "main", "shard", "mmproj" ... */
    const char *url;
    const char *partial;  /* absolute path of the file it grows in */
    const char *etag;     /* of the bytes that are there, or "" */
    const char *sha256;   /* hexadecimal, or "" */
    const char *git_sha1; /* hexadecimal, or "" */
    int64_t size_bytes;   /* < 0: unknown */
    bool done;            /* complete and checked */
};

struct qn_download_row {
    const char *id;               /* unique: "model:NAME" */
    const char *model;            /* the name that it will have */
    const char *wish;             /* JSON object: what was asked for */
    const char *state;            /* "downloading", "paused", "completed", "cancelled", "error" */
    const char *error;            /* why it failed: the message, or "" */
    const char *error_name;       /* and its code's name (qn_err_name), or "" */
    int64_t priority;             /* higher ones go first */
    int64_t created_s, changed_s; /* Unix time */
    const struct qn_download_file *files; /* n_files; none before it is known which */
    size_t n_files;
};

struct qn_arena;
/* A copy whose strings are the arena's; NULL becomes "". */
void qn_download_file_copy(const struct qn_download_file *from, struct qn_arena *a,
                           struct qn_download_file *to);

/* Rows are lent for the time of the call, oldest first; e is NULL unless the database failed. */
typedef void (*qn_downloads_fn)(void *ctx, const struct qn_download_row *rows, size_t n,
                                const struct qn_error *e);
/* fn is called once, not from within. */
void qn_catalog_find_downloads(struct qn_catalog *c, qn_downloads_fn fn, void *ctx);

/* Each returns at once, copies what it is given, and is carried out in the order of the calls. done
 * MAY be NULL: then what fails is logged. */
/* Inserts or replaces the row with all its files. */
void qn_catalog_put_download(struct qn_catalog *c, const struct qn_download_row *row,
                             qn_catalog_done done, void *ctx);
/* The row without its files: state, error, priority, changed_s. */
void qn_catalog_mark_download(struct qn_catalog *c, const struct qn_download_row *row,
                              qn_catalog_done done, void *ctx);
/* One file's etag, size and done. */
void qn_catalog_mark_download_file(struct qn_catalog *c, const char *id, size_t position,
                                   const struct qn_download_file *file, qn_catalog_done done,
                                   void *ctx);
void qn_catalog_remove_download(struct qn_catalog *c, const char *id, qn_catalog_done done,
                                void *ctx);

#endif
