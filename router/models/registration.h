/* How models come into the catalog: the built-in list, and files of the user's own. Brings the
 * registry (what exists in the world) and the catalog (what is on this disk) together. */
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
    QN_REGISTRATIONS_MAX = 3 /* model files that are read at a time; further ones wait in order */
};

/* What is said of a file that is not there and of one that may not be read: "%s" is its path. */
#define QN_NOT_READABLE "%s is missing, or you may not read it"

/* What models come in by; lent for the life of the server. Loop thread. */
struct qn_registration_world {
    struct qn_loop *loop;
    struct qn_catalog *catalog;
    const bool *closed; /* becomes true when the catalog has been closed; must outlive the loop */
    struct qn_inspector inspector;
    /* registration.c's, zero at first: */
    struct qn_registration *waiting; /* the oldest first */
    int running;
};

/* Puts the models of the list that ship with quince into the catalog and takes away built-in rows
 * that are no longer listed. starter (at least 201 bytes) becomes the first name. Blocking: before
 * the loop runs. */
qn_err qn_registration_builtin(const struct qn_registration_world *world,
                               const struct qn_registry *list, char *starter, size_t starter_size,
                               struct qn_error *e);

/* Called once on the loop; e is NULL on success. */
typedef void (*qn_registration_done)(void *ctx, const struct qn_error *e);

/* What is known of a model's files besides themselves. Any string MAY be NULL: see struct
 * qn_model_row. */
struct qn_registration_origin {
    /* All files, the one that is the wish's path among them, with their roles; none: that one is
     * the main and only file, and its links are followed. The catalog keeps these paths as they
     * are: the store's links have the names that parts of a split file are found by. */
    const char *const *files, *const *roles;
    size_t n_files;
    const char *checkpoint, *checkpoints;
    const char *hub, *revision, *commit;
    const char *keeper;
    const char *labels;  /* JSON array; NULL: ["custom"], or as they are */
    const char *extras;  /* JSON object */
    const char *options; /* JSON object; NULL: as they are */
    bool suggested;
};

/* A model that is to be known by a name. */
struct qn_registration_wish {
    const char *name;                            /* see qn_registration_name_ok */
    const char *path;                            /* absolute: the file to load */
    const struct qn_registration_origin *origin; /* MAY be NULL: a file of the user's */
    const char *recipe;
    const char *preset; /* JSON object, or NULL: none */
    const char *digest; /* of the file, hexadecimal, or NULL: not known yet */
    bool replace;       /* what has the name now; models that ship with quince stay */
    const char *was;    /* the checkpoint that the name must have until then, "": the name must be
                           unknown; QN_ECONFLICT otherwise. NULL: any */
};

/* Letters, digits and . _ - / : + @, no tag ":latest", and nothing that steps out of a folder. */
bool qn_registration_name_ok(const char *name);

/* Takes in files that lie on this disk, without copying them: a worker inspects them, then they are
 * put into the catalog. Names of files that were found elsewhere or come from a hub are not bound
 * to begin with "user.". QN_ECONFLICT when the name belongs to another file. Called off by nobody:
 * see qn_registration_file. */
void qn_registration_model(struct qn_registration_world *world,
                           const struct qn_registration_wish *wish, qn_registration_done done,
                           void *ctx);

/* The same for files that users bring: the name must be "user." and more. origin MAY be NULL.
 * Cannot be called off: an asker that is gone must ignore the answer. */
void qn_registration_file(struct qn_registration_world *world, const char *name, const char *path,
                          const char *recipe, const struct qn_registration_origin *origin,
                          qn_registration_done done, void *ctx);

/* The same where the user gives no name: it becomes "user." and an ASCII form of the file's name;
 * where that would lose letters, of the name that the model has in the file; else a number tells
 * several apart. chosen: QN_MODEL_NAME_MAX + 1 bytes of the caller's, until done is called; the
 * name is there then if all went well.
 */
void qn_registration_unnamed(struct qn_registration_world *world, const char *path,
                             const char *recipe, const struct qn_registration_origin *origin,
                             char *chosen, qn_registration_done done, void *ctx);

#endif
