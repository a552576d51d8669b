/* Models that are on this disk already, because another program fetched them or the user has them
 * in a folder. Nothing is written, copied or hashed; only names, sizes and small descriptions are
 * read. Layouts, from their public descriptions:
 *
 *   huggingface   the cache of store.h, ours or another one that the environment names
 *   llama.cpp     ~/.cache/llama.cpp (LLAMA_CACHE): OWNER_REPO_FILE.gguf,
 * manifest=OWNER=REPO=TAG.json, and FILE.gguf.json with the address it came from; newer ones use
 * Hugging Face's layout lm-studio     ~/.lmstudio/models, ~/.cache/lm-studio/models:
 * PUBLISHER/REPO/FILE.gguf ollama        ~/.ollama/models (OLLAMA_MODELS),
 * /usr/share/ollama/.ollama/models: manifests/REGISTRY/NAMESPACE/MODEL/TAG naming blobs/sha256-...
 *   folder        whatever the user names: every GGUF below it
 *
 * Parts of a split model are one model, and a projector beside a model belongs to it. */
#ifndef QN_REGISTRY_FOUND_H
#define QN_REGISTRY_FOUND_H

#include "base/error.h"
#include "registry/store.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_FOUND_MAX = 10000,          /* models; each place may have its share of what is left */
    QN_FOUND_ENTRIES_MAX = 200000, /* files and folders looked at in one place */
    QN_FOUND_DEPTH_MAX = 8,
    QN_FOUND_FILES_MAX = 514, /* of a model: more parts than can be loaded, and a projector */
    QN_FOUND_PRESET_MAX = 256 * 1024,      /* bytes of a model's preset */
    QN_FOUND_BYTES_MAX = 64 * 1024 * 1024, /* of all that is said of the models; shared likewise */
    QN_FOUND_NAMES = 3
};

struct qn_found_model {
    /* Names it may have, the best first; later ones are longer. Letters, digits and . _ - / : */
    const char *names[QN_FOUND_NAMES];
    size_t n_names;
    const char *program; /* static: "huggingface", "llama.cpp", "lm-studio", "ollama", "folder" */
    const char *checkpoint;        /* "owner/repo:file.gguf", "llama3.2:1b", or the file's path */
    const char *hub;               /* "huggingface", "ollama" or "" */
    const char *revision, *commit; /* or "" */
    const char *digest;            /* SHA-256 of a single file, where its name says it; else "" */
    const char *preset;            /* JSON object of what Ollama keeps with it, or NULL */
    const char *const *files;      /* absolute; the one to load first */
    const char *const *roles;      /* "main", "shard", "mmproj" */
    size_t n_files;
    int64_t size_bytes;     /* of all files */
    int64_t modified_s;     /* of the newest part of the model itself */
    bool fetched;           /* by quince, which has forgotten, or it is on its way */
    uint64_t device, inode; /* of the one to load */
};

struct qn_found {
    struct qn_found_model *v; /* in the order of their places; no main file twice */
    size_t n;
    char **unseen; /* files and folders that are not there, cannot be read, or hold more than is
                      looked at: what was found there once may be there still */
    size_t n_unseen;
    struct qn_arena *arena;
};

struct qn_found_places {
    const char *const *env; /* NAME=VALUE words ending in NULL: where programs have their files */
    const struct qn_store *store; /* its Hugging Face and ModelScope folders */
    const char *folders;          /* of the user's, with : between; NULL: none */
    bool programs;                /* look into other programs' folders */
};

/* A folder that cannot be read is one warning in the log, and the others are looked at. So is one
 * that holds more than it may: it takes nothing from the others.
 * QN_ECANCELLED as soon as *stop is set. Blocking, any thread. */
qn_err qn_found_scan(const struct qn_found_places *places, const atomic_bool *stop,
                     struct qn_found **out, struct qn_error *e);
/* True when a file of this path may be there although it is not among the models. */
bool qn_found_unseen(const struct qn_found *f, const char *path);
void qn_found_free(struct qn_found *f); /* NULL allowed */

#endif
