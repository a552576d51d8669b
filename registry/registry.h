/* The built-in list: models that can be downloaded by a short name, with what is needed to get and
 * run them, and the checkpoints that Ollama's names stand for. Read once at start from
 * registry/models.json and registry/ollama_names.json; immutable afterwards, any thread may read
 * it.
 *
 * An entry of models.json is an object under the model's name:
 *
 *   checkpoint      "owner/repo[:VARIANT]" as of ref.h, or, for a shipped file, its path
 *   checkpoints     instead of it, one for each role: {"main": ..., "mmproj": ..., "draft": ...,
 *                   "text_encoder": ..., "vae": ...}
 *   mmproj          the projector's file in the main repository
 *   recipe          which kind of program runs it
 *   source          "modelscope": the hub of its checkpoints; else Hugging Face
 *   size            of all files in GB (10^9 bytes), rounded
 *   labels          what the model can do (the labels are listed in contract/capabilities.h)
 *   suggested       true: shown first
 *   shipped         true: its file comes with quince
 *   image_defaults  {"steps", "cfg_scale", "width", "height", "sampling_method", "flow_shift"}
 *   recipe_options  options of loading; RECIPE_backend names an engine if quince's own does not
 *                   compute the model */
#ifndef QN_REGISTRY_REGISTRY_H
#define QN_REGISTRY_REGISTRY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_REGISTRY_FILE_MAX = 16 * 1024 * 1024,
    QN_REGISTRY_ENTRIES_MAX = 10000,
    QN_REGISTRY_PARTS_MAX = 8
};

struct qn_registry;

/* One checkpoint that a model is made of. */
struct qn_registry_part {
    const char *role; /* "main", "mmproj", "draft", "text_encoder", "vae" */
    const char *checkpoint;
};

struct qn_registry_entry {
    const char *name;       /* "quince-starter" */
    const char *recipe;     /* "llamacpp" */
    const char *checkpoint; /* the main one, as in the file; ModelScope's with the host before it */
    struct qn_registry_part parts[QN_REGISTRY_PARTS_MAX]; /* the part with the role "main" first */
    size_t n_parts;
    const char *mmproj;      /* the projector's file in the main checkpoint's repository, or NULL */
    const char *checkpoints; /* JSON object: the checkpoint of each role, including mmproj */
    const char *hub;         /* "huggingface", "modelscope"; "" for a shipped file */
    const char *file;        /* absolute path when the checkpoint ships with quince, else NULL */
    const char *labels;      /* JSON array of strings */
    const char *options;     /* JSON object: recipe_options */
    const char *extras;      /* JSON object: shown in lists unchanged ({"image_defaults":{...}}) */
    int64_t size_bytes;      /* of all files, rounded; 0: not known */
    bool suggested;
};

/* dir contains both files and the shipped files that models.json names. A malformed entry is
 * QN_EINVAL with its path in the document; a missing shipped file is QN_ENOTFOUND with the file's
 * name. ollama_names.json may be missing. Blocking. */
qn_err qn_registry_open(const char *dir, struct qn_registry **out, struct qn_error *e);
void qn_registry_close(struct qn_registry *r); /* NULL allowed */

size_t qn_registry_count(const struct qn_registry *r);       /* 0 for NULL */
int64_t qn_registry_modified_s(const struct qn_registry *r); /* of models.json, Unix time */
const struct qn_registry_entry *qn_registry_at(const struct qn_registry *r, size_t i);

/* Finds an entry by its name, also with the prefix "builtin." or the suffix ":latest"; if no name
 * matches exactly, upper and lower case are not distinguished. NULL: none; r may be NULL. */
const struct qn_registry_entry *qn_registry_find(const struct qn_registry *r, const char *name);

/* The checkpoint that a name of Ollama's library ("qwen3:8b", "qwen3", "library/qwen3:latest")
 * stands for, chosen so that every engine can run it; NULL: the name has to be looked up in
 * Ollama's registry. r may be NULL. */
const char *qn_registry_ollama(const struct qn_registry *r, const char *name);

/* The reason why models of a recipe cannot be run here; NULL: they can, or the recipe is not known.
 */
const char *qn_recipe_unsupported(const char *recipe);

/* True if the catalog accepts models with this recipe. */
bool qn_recipe_known(const char *recipe);

#endif
