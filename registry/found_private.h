/* What found.c, found_folder.c and found_programs.c share: a search on its way. */
#ifndef QN_REGISTRY_FOUND_PRIVATE_H
#define QN_REGISTRY_FOUND_PRIVATE_H

#include "base/arena.h"
#include "registry/foreign.h"
#include "registry/found.h"
#include "registry/inodes.h"

struct qn_finding {
    const struct qn_found_places *places;
    const atomic_bool *stop;
    struct qn_found *found;
    size_t cap;
    struct qn_inodes mains; /* the models' files to load */
    /* of the place that is looked at: */
    struct qn_foreign place;
    struct qn_inodes folders;         /* that have been entered */
    size_t models_until, bytes_until; /* its limits, counted over all places */
    size_t n_entries, n_unseen;
    bool full;      /* one model more would be over a limit */
    bool scattered; /* a description may be about files anywhere in it: unread, it hides them all */
};

/* A folder with models, and how they lie in it. */
struct qn_finding_place {
    char *path; /* absolute, without a slash at its end */
    void (*look)(struct qn_finding *f, const char *path);
    bool there; /* when the search began */
};
struct qn_finding_places {
    struct qn_finding_place *v;
    size_t n, cap;
};
/* Adds a place unless it is among them. path: NULL is none. */
void qn_finding_place(struct qn_finding_places *all, const char *path,
                      void (*look)(struct qn_finding *f, const char *path));

/* What is known of a model besides its files; strings are lent. */
struct qn_finding_of {
    const char *program, *checkpoint, *hub, *revision, *commit, *digest, *preset;
    const char *names[QN_FOUND_NAMES]; /* NULL or "": none; made fit for names of models */
};

/* Adds a model of these files (absolute paths in the place; the first is the one to load) unless
 * one of them cannot be read, or the first is among the models already. */
void qn_finding_add(struct qn_finding *f, const struct qn_finding_of *of, const char *const *files,
                    const char *const *roles, size_t n);

/* The search is called off, or the place's budget is used up. */
bool qn_finding_stopped(const struct qn_finding *f);

/* What lies at or below this path of the place may be there without having been found. */
void qn_finding_unseen(struct qn_finding *f, const char *path);

/* The value of a variable of the environment, NULL when it is not there or empty; a path below the
 * home folder, malloc'ed, NULL without one. */
const char *qn_finding_env(const struct qn_found_places *places, const char *name);
char *qn_finding_home(const struct qn_found_places *places, const char *below);

/* One entry of a folder's listing. */
struct qn_finding_entry {
    char *name; /* the listing's */
    bool folder;
};
/* The entries of a folder of the place sorted by name, links followed as foreign.h says, hidden
 * ones left out. A folder that is not there has none; one that cannot be read has none and is
 * warned of. The caller frees with qn_finding_unlist. */
size_t qn_finding_list(struct qn_finding *f, const char *path, struct qn_finding_entry **out);
void qn_finding_unlist(struct qn_finding_entry *list, size_t n);

/* True when nothing at all lies in the folder, or it cannot be opened: as where a disk that is not
 * mounted belongs. */
bool qn_finding_bare(const struct qn_finding *f, const char *path);

/* False: this folder of the place has been entered before, by whatever name. */
bool qn_finding_enter(struct qn_finding *f, const char *path);

/* Every GGUF below a folder. owners: the two folders above a file are its publisher and repository.
 */
void qn_finding_folder(struct qn_finding *f, const char *path, const char *program, bool owners);

/* Repositories of a cache in Hugging Face's layout. */
void qn_finding_store(struct qn_finding *f, const struct qn_store *store, enum qn_hub_kind hub);

/* Where the programs of this machine keep models (found_programs.c). */
void qn_finding_programs(const struct qn_found_places *places, struct qn_finding_places *out);

#endif
