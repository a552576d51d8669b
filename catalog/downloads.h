/* Downloads stored in the catalog, so that a server resumes them after it was killed: the request,
 * the files, and the state of each. The number of bytes present is stored beside each file, not
 * here: rows are written when a state changes, not for every byte. */
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
    const char *revision; /* as requested: "main" */
    const char *commit;   /* the commit of the revision at that time, or "" */
    const char *path;     /* path in the repository */
    const char *role;     /* "main", "shard", "mmproj" ... */
    const char *url;
    const char *partial;  /* absolute path of the file while it grows */
    const char *etag;     /* ETag of the bytes present, or "" */
    const char *sha256;   /* hexadecimal, or "" */
    const char *git_sha1; /* hexadecimal, or "" */
    int64_t size_bytes;   /* < 0: unknown */
    bool done;            /* complete and verified */
};

struct qn_download_row {
    const char *id;               /* unique: "model:NAME" */
    const char *model;            /* name of the model when complete */
    const char *wish;             /* JSON object: the request */
    const char *state;            /* "downloading", "paused", "completed", "cancelled", "error" */
    const char *error;            /* message of the failure, or "" */
    const char *error_name;       /* name of the failure's code (qn_err_name), or "" */
    int64_t priority;             /* higher ones go first */
    int64_t created_s, changed_s; /* Unix time */
    const struct qn_download_file *files; /* n_files; none before the files are known */
    size_t n_files;
};

struct qn_arena;
/* Copies the struct and its strings to the arena; NULL becomes "". */
void qn_download_file_copy(const struct qn_download_file *from, struct qn_arena *a,
                           struct qn_download_file *to);

/* Rows are lent for the time of the call, oldest first; e is NULL unless the database failed. */
typedef void (*qn_downloads_fn)(void *ctx, const struct qn_download_row *rows, size_t n,
                                const struct qn_error *e);
/* fn is called once, never from within this call. */
void qn_catalog_find_downloads(struct qn_catalog *c, qn_downloads_fn fn, void *ctx);

/* Each of these returns at once and copies its arguments; they are carried out in the order of the
 * calls. done MAY be NULL: then a failure is logged. */
/* Inserts or replaces the row with all its files. */
void qn_catalog_put_download(struct qn_catalog *c, const struct qn_download_row *row,
                             qn_catalog_done done, void *ctx);
/* Updates the row without its files: state, error, priority, changed_s. */
void qn_catalog_mark_download(struct qn_catalog *c, const struct qn_download_row *row,
                              qn_catalog_done done, void *ctx);
/* Updates one file's etag, size and done. */
void qn_catalog_mark_download_file(struct qn_catalog *c, const char *id, size_t position,
                                   const struct qn_download_file *file, qn_catalog_done done,
                                   void *ctx);
void qn_catalog_remove_download(struct qn_catalog *c, const char *id, qn_catalog_done done,
                                void *ctx);

#endif
