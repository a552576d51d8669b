/* Shared by found.c, found_folder.c and found_programs.c: the state of a search in progress. */
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
    struct qn_inodes mains; /* main files of the models found so far */
    /* Of the place being searched: */
    struct qn_foreign place;
    struct qn_inodes folders;         /* visited so far */
    size_t models_until, bytes_until; /* limits of this place, counted over all places */
    size_t n_entries, n_unseen;
    bool full;      /* one more model would exceed a limit */
    bool scattered; /* a description may refer to files anywhere in the place: if one cannot be
                       read, the whole place counts as unseen */
};

/* A folder with models, and the function that knows its layout. */
struct qn_finding_place {
    char *path; /* absolute, without a slash at its end */
    void (*look)(struct qn_finding *f, const char *path);
    bool there; /* existed when the search began */
};
struct qn_finding_places {
    struct qn_finding_place *v;
    size_t n, cap;
};
/* Adds a place unless the list has it already. path may be NULL: nothing is added. */
void qn_finding_place(struct qn_finding_places *all, const char *path,
                      void (*look)(struct qn_finding *f, const char *path));

/* What is known about a model besides its files; strings are lent. */
struct qn_finding_of {
    const char *program, *checkpoint, *hub, *revision, *commit, *digest, *preset;
    const char *names[QN_FOUND_NAMES]; /* NULL or "": none; characters that model names cannot have
                                          are replaced */
};

/* Adds a model made of these files (absolute paths in the place; the first is the one to load),
 * unless one of them cannot be read or a model with the same first file is known already. */
void qn_finding_add(struct qn_finding *f, const struct qn_finding_of *of, const char *const *files,
                    const char *const *roles, size_t n);

/* True when the search is cancelled or the limits of the place are reached. */
bool qn_finding_stopped(const struct qn_finding *f);

/* Records that files at or below this path of the place may exist without having been found. */
void qn_finding_unseen(struct qn_finding *f, const char *path);

/* qn_finding_env: the value of an environment variable, NULL when it is unset or empty.
 * qn_finding_home: a path below the home folder, malloc'ed, NULL if there is no home folder. */
const char *qn_finding_env(const struct qn_found_places *places, const char *name);
char *qn_finding_home(const struct qn_found_places *places, const char *below);

/* One entry of a folder's listing. */
struct qn_finding_entry {
    char *name; /* owned by the listing */
    bool folder;
};
/* Lists a folder of the place sorted by name, without hidden entries; links are followed by the
 * rules of foreign.h. A missing folder gives no entries; an unreadable one gives none and logs a
 * warning. The caller frees with qn_finding_unlist. */
size_t qn_finding_list(struct qn_finding *f, const char *path, struct qn_finding_entry **out);
void qn_finding_unlist(struct qn_finding_entry *list, size_t n);

/* True when the folder is empty or cannot be opened, like the mount point of a disk that is not
 * mounted. */
bool qn_finding_bare(const struct qn_finding *f, const char *path);

/* False: this folder of the place was visited before, by this or another path. */
bool qn_finding_enter(struct qn_finding *f, const char *path);

/* Finds every GGUF file below a folder. owners: the two folders above a file are named after its
 * publisher and its repository. */
void qn_finding_folder(struct qn_finding *f, const char *path, const char *program, bool owners);

/* Finds the repositories of a cache in Hugging Face's layout. */
void qn_finding_store(struct qn_finding *f, const struct qn_store *store, enum qn_hub_kind hub);

/* Lists the folders in which the programs of this machine keep models (found_programs.c). */
void qn_finding_programs(const struct qn_found_places *places, struct qn_finding_places *out);

#endif
