/* Discovery: finds models that other programs have downloaded to this disk or that the user keeps
 * in a folder. Nothing is written, copied or hashed; only names, sizes and small descriptions are
 * read. Layouts, from their public descriptions:
 *
 *   huggingface   the cache of store.h: quince's own, or another one that the environment names
 *   llama.cpp     ~/.cache/llama.cpp (LLAMA_CACHE): OWNER_REPO_FILE.gguf,
 *                 manifest=OWNER=REPO=TAG.json, and FILE.gguf.json with the address it came from;
 *                 newer versions use Hugging Face's layout
 *   lm-studio     ~/.lmstudio/models, ~/.cache/lm-studio/models: PUBLISHER/REPO/FILE.gguf
 *   ollama        ~/.ollama/models (OLLAMA_MODELS), /usr/share/ollama/.ollama/models:
 *                 manifests/REGISTRY/NAMESPACE/MODEL/TAG, which name blobs/sha256-...
 *   folder        a folder that the user names: every GGUF file below it
 *
 * The parts of a split model are one model, and a projector beside a model belongs to it. */
#ifndef QN_REGISTRY_FOUND_H
#define QN_REGISTRY_FOUND_H

#include "base/error.h"
#include "registry/store.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_FOUND_MAX = 10000,          /* models; each place may add a share of what remains */
    QN_FOUND_ENTRIES_MAX = 200000, /* files and folders visited in one place */
    QN_FOUND_DEPTH_MAX = 8,
    QN_FOUND_FILES_MAX = 514, /* of one model: more parts than can be loaded, plus a projector */
    QN_FOUND_PRESET_MAX = 256 * 1024, /* bytes of a model's preset */
    QN_FOUND_BYTES_MAX =
        64 * 1024 * 1024, /* of all strings and lists of the models; shared in the same way */
    QN_FOUND_NAMES = 3
};

struct qn_found_model {
    /* Possible names, the preferred one first; later ones are longer. Letters, digits and . _ - / :
     */
    const char *names[QN_FOUND_NAMES];
    size_t n_names;
    const char *program; /* a string constant: "huggingface", "llama.cpp", "lm-studio", "ollama" or
                            "folder" */
    const char *checkpoint;        /* "owner/repo:file.gguf", "llama3.2:1b", or the file's path */
    const char *hub;               /* "huggingface", "ollama" or "" */
    const char *revision, *commit; /* or "" */
    const char *digest; /* SHA-256 of a model of one file if the file's name contains it; else "" */
    const char *preset; /* JSON object of the parameters and texts that Ollama stores with the
                           model, or NULL */
    const char *const *files; /* absolute paths; the file to load comes first */
    const char *const *roles; /* "main", "shard", "mmproj" */
    size_t n_files;
    int64_t size_bytes; /* of all files */
    int64_t modified_s; /* of the newest part of the model itself, without the projector */
    bool fetched; /* downloaded by quince: the catalog has lost it, or the download is still running
                   */
    uint64_t device, inode; /* of the file to load */
};

struct qn_found {
    struct qn_found_model *v; /* in the order of their places; no two have the same main file */
    size_t n;
    char **unseen; /* files and folders that are missing, unreadable or hold more than the limits
                      allow: models found there earlier may still exist */
    size_t n_unseen;
    struct qn_arena *arena;
};

struct qn_found_places {
    const char *const *env;       /* NAME=VALUE strings, then NULL: gives the folders of programs */
    const struct qn_store *store; /* its Hugging Face and ModelScope folders are searched */
    const char *folders;          /* named by the user, separated by ':'; NULL: none */
    bool programs;                /* search other programs' folders */
};

/* A folder that cannot be read, or that exceeds its limits, is one warning in the log and does not
 * affect the search of the other folders. QN_ECANCELLED as soon as *stop is set. Blocking, any
 * thread. */
qn_err qn_found_scan(const struct qn_found_places *places, const atomic_bool *stop,
                     struct qn_found **out, struct qn_error *e);
/* True when a file of this path may exist although it is not among the models. */
bool qn_found_unseen(const struct qn_found *f, const char *path);
void qn_found_free(struct qn_found *f); /* NULL allowed */

#endif
