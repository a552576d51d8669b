/* Registration of models in the catalog: the built-in list, downloads and the user's own files.
 * Connects the registry (what can be obtained) with the catalog (what is on this disk). */
#ifndef QN_MODELS_REGISTRATION_H
#define QN_MODELS_REGISTRATION_H

#include "base/error.h"
#include "catalog/catalog.h"
#include "io/loop.h"
#include "registry/inspect.h"

#include <stdbool.h>
#include <stddef.h>

struct qn_registry;

enum {
    QN_REGISTRATIONS_MAX = 3 /* model files that are inspected at a time; further ones are queued */
};

/* Message for a file that is missing or may not be read; "%s" is its path. */
#define QN_NOT_READABLE "%s is missing, or you may not read it"

/* What registration works with; lent for the life of the server. Loop thread. */
struct qn_registration_world {
    struct qn_loop *loop;
    struct qn_catalog *catalog;
    const bool *closed; /* becomes true when the catalog has been closed; must outlive the loop */
    struct qn_inspector inspector;
    /* owned by registration.c, zero at first: */
    struct qn_registration *waiting; /* oldest first */
    int running;
};

/* Registers the models of the list that ship with quince and removes built-in rows that are no
 * longer listed. starter (at least 201 bytes) becomes the first name. Blocks: call before the loop
 * runs. */
qn_err qn_registration_builtin(const struct qn_registration_world *world,
                               const struct qn_registry *list, char *starter, size_t starter_size,
                               struct qn_error *e);

/* Called once on the loop; e is NULL on success. */
typedef void (*qn_registration_done)(void *ctx, const struct qn_error *e);

/* What is known of a model besides its files' contents. Any string MAY be NULL: see struct
 * qn_model_row. */
struct qn_registration_origin {
    /* All files, the request's `path` among them, with their roles; none: `path` is the main and
     * only file, and its symbolic links are resolved. The catalog keeps the paths in `files`
     * unresolved: the parts of a split file are found by the names of the store's links. */
    const char *const *files, *const *roles;
    size_t n_files;
    const char *checkpoint, *checkpoints;
    const char *hub, *revision, *commit;
    const char *keeper;
    const char *labels;  /* JSON array; NULL: ["custom"], or unchanged */
    const char *extras;  /* JSON object */
    const char *options; /* JSON object; NULL: unchanged */
    bool suggested;
};

/* A model to be registered under a name. */
struct qn_registration_wish {
    const char *name;                            /* see qn_registration_name_ok */
    const char *path;                            /* absolute path of the file to load */
    const struct qn_registration_origin *origin; /* MAY be NULL: a file of the user's own */
    const char *recipe;
    const char *preset; /* JSON object, or NULL: none */
    const char *digest; /* SHA-256 of the file, hexadecimal, or NULL: unknown yet */
    bool replace;       /* replaces the row of this name, unless its model ships with quince */
    const char *was; /* the checkpoint that the row of this name must still have; "": there must be
                        no such row; QN_ECONFLICT otherwise. NULL: not checked */
};

/* Valid: letters, digits and . _ - / : + @, no tag ":latest", and no part that leaves a folder, as
 * "..". */
bool qn_registration_name_ok(const char *name);

/* Registers files on this disk without copying them: a worker inspects them, then they are put into
 * the catalog. The names of files that were discovered or come from a hub need not begin with
 * "user.". QN_ECONFLICT when the name belongs to another file. Cannot be cancelled: see
 * qn_registration_file. */
void qn_registration_model(struct qn_registration_world *world,
                           const struct qn_registration_wish *wish, qn_registration_done done,
                           void *ctx);

/* The same for files of users: the name must be "user." and more. origin MAY be NULL. Cannot be
 * cancelled: a caller whose client has gone must ignore the result. */
void qn_registration_file(struct qn_registration_world *world, const char *name, const char *path,
                          const char *recipe, const struct qn_registration_origin *origin,
                          qn_registration_done done, void *ctx);

/* The same without a name from the user: the name becomes "user." and an ASCII form of the file's
 * name; where that would lose letters, of the name in the file's metadata; a number is appended if
 * the name is taken. chosen: QN_MODEL_NAME_MAX + 1 bytes of the caller's that must live until done
 * is called; they hold the name then, on success. */
void qn_registration_unnamed(struct qn_registration_world *world, const char *path,
                             const char *recipe, const struct qn_registration_origin *origin,
                             char *chosen, qn_registration_done done, void *ctx);

#endif
