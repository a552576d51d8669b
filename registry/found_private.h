/* What found.c and found_programs.c share: a search on its way. */
#ifndef QN_REGISTRY_FOUND_PRIVATE_H
#define QN_REGISTRY_FOUND_PRIVATE_H

#include "base/arena.h"
#include "registry/foreign.h"
#include "registry/found.h"

struct qn_finding {
    const struct qn_found_places *places;
    const atomic_bool *stop;
    struct qn_found *found;
    size_t cap;
    size_t n_entries;
    bool full;               /* what would be said of one model more is over QN_FOUND_BYTES_MAX */
    struct qn_foreign place; /* the one that is looked at */
};

/* A folder with models, and how they lie in it. */
struct qn_finding_place {
    char *path; /* absolute, without a slash at its end */
    void (*look)(struct qn_finding *f, const char *path);
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

bool qn_finding_stopped(const struct qn_finding *f);

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

/* Every GGUF below a folder. owners: the two folders above a file are its publisher and repository.
 */
void qn_finding_folder(struct qn_finding *f, const char *path, const char *program, bool owners);

/* Repositories of a cache in Hugging Face's layout. */
void qn_finding_store(struct qn_finding *f, const struct qn_store *store, enum qn_hub_kind hub);

/* Where the programs of this machine keep models (found_programs.c). */
void qn_finding_programs(const struct qn_found_places *places, struct qn_finding_places *out);

#endif
