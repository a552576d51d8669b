/* The catalog of this disk: known models, their files, options saved per model, time of last use.
 * SQLite in WAL mode, migrated in transactions, checked for integrity when opened.
 *
 * The database handle belongs to a thread of its own; every change is a message to this thread,
 * which reports the result through a callback. Readers never use SQLite: qn_catalog_snapshot
 * returns the current immutable snapshot. */
#ifndef QN_CATALOG_CATALOG_H
#define QN_CATALOG_CATALOG_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values of `keeper`. When a row is stored, its strings may be NULL, which means "" or {}, and
 * QN_KEEPER_USER for the keeper. */
#define QN_KEEPER_QUINCE "quince"
#define QN_KEEPER_USER "user"

struct qn_model_row {
    const char *name;         /* "quince-starter", "user.my-model": unique, case-sensitive */
    const char *type;         /* backend type: "llm" */
    const char *recipe;       /* "llamacpp" */
    const char *checkpoint;   /* its source: a path or a hub name */
    const char *const *files; /* absolute paths, n_files of them; none: not on this disk */
    const char *const *roles; /* "main", "shard", "mmproj", ...; when stored, NULL: all "main" */
    const int64_t *sizes; /* of each file in bytes, < 0: unknown; when stored, NULL: all unknown */
    size_t n_files;
    int64_t size_bytes; /* of all files */
    const char *labels; /* JSON array of strings */
    const char
        *details; /* JSON object: architecture, parameters, context_length, quantization ... */
    const char *options; /* JSON object: options saved for this model */
    const char *facts; /* JSON object: metadata of the file, {"info": {...}, "template", "license",
                          "capabilities": [...]}; {} until the file was inspected */
    const char *capabilities; /* JSON array: the capabilities of the facts, "[]" until the file was
                                 inspected; ignored when stored, since it follows from facts */
    const char *digest;       /* SHA-256 of the files in hexadecimal; "": not computed yet */
    const char *digest_of; /* stamp (sizes and times) of the files when the digest was computed */
    const char *base;      /* of a preset: the model it was made from, else "" */
    const char *preset; /* JSON object: {"system","template","parameters","messages","license"} */
    const char *checkpoints; /* JSON object: a checkpoint by role, {"main":"...","mmproj":"..."} */
    const char *hub;      /* "huggingface", "modelscope", "ollama", "url"; "": from this machine */
    const char *revision; /* revision as requested: "main"; may be "" */
    const char *commit;   /* commit of the repository; may be "" */
    const char *keeper;   /* the owner of the files: QN_KEEPER_QUINCE (quince may delete them),
                             QN_KEEPER_USER, or the name of the program in whose folder they were
                             found ("lm-studio") */
    const char *extras;   /* JSON object: shown unchanged in lists of models (image_defaults) */
    bool builtin;         /* shipped with quince: not removable */
    bool suggested;
    int64_t created_s;  /* Unix time */
    int64_t modified_s; /* Unix time of the file, or of the preset */
    int64_t last_use_s; /* Unix time, 0: never */
};

/* An immutable state of the catalog with an atomic reference count. Rows are sorted by name. */
struct qn_snapshot;
void qn_snapshot_ref(struct qn_snapshot *s);
void qn_snapshot_unref(struct qn_snapshot *s); /* NULL allowed */
size_t qn_snapshot_count(const struct qn_snapshot *s);
const struct qn_model_row *qn_snapshot_at(const struct qn_snapshot *s, size_t i);
const struct qn_model_row *qn_snapshot_find(const struct qn_snapshot *s,
                                            const char *name); /* NULL: none */

/* Aliases of models, sorted by name. The model need not exist. */
struct qn_alias_row {
    const char *name, *model;
};
size_t qn_snapshot_alias_count(const struct qn_snapshot *s);
const struct qn_alias_row *qn_snapshot_alias_at(const struct qn_snapshot *s, size_t i);
const char *qn_snapshot_alias(const struct qn_snapshot *s,
                              const char *name); /* the model or NULL */

/* True for a file of another program that the user has removed from the list. */
bool qn_snapshot_forgotten(const struct qn_snapshot *s, const char *path);

struct qn_catalog;

/* Called when a change is complete, on the thread that `post` runs callbacks on. e is NULL on
 * success. */
typedef void (*qn_catalog_done)(void *ctx, const struct qn_error *e);

/* Runs a callback on the thread of the catalog's user: post(post_ctx, fn, arg) must arrange for
 * fn(arg) to run there. */
typedef void (*qn_catalog_post)(void *post_ctx, void (*fn)(void *), void *arg);

/* Opens or creates the database file at path, migrates it, checks it, starts the thread. Blocking;
 * call before the loop runs. A damaged file is QN_EFORMAT with what to do in the message; it is
 * never deleted. A schema newer than this program is QN_EUNSUPPORTED. */
qn_err qn_catalog_open(const char *path, qn_catalog_post post, void *post_ctx,
                       struct qn_catalog **out, struct qn_error *e);
void qn_catalog_close(struct qn_catalog *c); /* finishes queued changes and joins the thread; all
                                                done callbacks are posted before it returns */

/* Waits until every change requested so far is in the database and in the snapshot. Blocking: for
 * the start of the program, before the loop runs. */
void qn_catalog_flush(struct qn_catalog *c);

struct qn_snapshot *
qn_catalog_snapshot(struct qn_catalog *c); /* a reference for the caller; any thread */

/* Each of these returns at once; done MAY be NULL. Rows and strings are copied. */
void qn_catalog_put(struct qn_catalog *c, const struct qn_model_row *row, qn_catalog_done done,
                    void *ctx); /* inserts or replaces by name; keeps last_use, created and options
                                   of an existing row, and its digest if none is given */
void qn_catalog_remove(struct qn_catalog *c, const char *name, qn_catalog_done done, void *ctx);
void qn_catalog_set_options(struct qn_catalog *c, const char *name, const char *options_json,
                            qn_catalog_done done, void *ctx);
/* Stores the result of reading the model's files. If facts is NULL, the stored facts stay as they
 * are. */
void qn_catalog_set_digest(struct qn_catalog *c, const char *name, const char *digest,
                           const char *digest_of, const char *facts, qn_catalog_done done,
                           void *ctx);
/* Makes name an alias of model; model NULL removes the alias, QN_ENOTFOUND when there was none. */
void qn_catalog_set_alias(struct qn_catalog *c, const char *name, const char *model,
                          qn_catalog_done done, void *ctx);
/* forgotten: the file is not listed again when discovery finds it in another program's folder;
 * false: it is. */
void qn_catalog_set_forgotten(struct qn_catalog *c, const char *path, bool forgotten,
                              qn_catalog_done done, void *ctx);
void qn_catalog_touch(struct qn_catalog *c, const char *name,
                      int64_t when_s); /* time of last use; written with a delay */
/* Unix time of the last use of the row's model, including uses that are not in the database yet; 0:
 * never. Any thread. */
int64_t qn_catalog_last_use(struct qn_catalog *c, const struct qn_model_row *row);

#endif
