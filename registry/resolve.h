/* Decides which files of a repository make up the requested model. Pure. The rules are those of
 * Lemonade and llama.cpp:
 *
 *   "*"                         every .gguf; the first in order is the one to load
 *   a path with an ending       exactly that file, and its shards
 *   ""                          the first .gguf that is no projector and no draft
 *   a quantisation              Q4_K_M, UD-Q4_K_XL, IQ4_NL, MXFP4_MOE, BF16 ...: the variant of
 *                               that name
 *   else                        the one file that ends in VARIANT.gguf, in any case of letters
 *   else                        a folder VARIANT, X-VARIANT or X_VARIANT
 *
 * Projectors (mmproj) and drafts (mtp-*, dflash-*) are never variants. A missing file is never
 * replaced by another one: the error lists what the repository has. */
#ifndef QN_REGISTRY_RESOLVE_H
#define QN_REGISTRY_RESOLVE_H

#include "base/error.h"
#include "registry/hub.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_choice_file {
    const struct qn_repo_file *file; /* lent by the repository */
    const char *role; /* a string constant: "main" (exactly one, the file to load), "shard",
                         "mmproj", "draft", "extra", "template", "params", "license", "system",
                         "messages" or "adapter" */
};

struct qn_choice {
    char variant[QN_REF_VARIANT_MAX + 1]; /* the name that qn_variants gives, else as requested */
    struct qn_choice_file *files;         /* main first, then shards in order, then the rest */
    size_t n;
    int64_t size_bytes; /* of all files; < 0: not all are known */
};

/* mmproj: the projector's file name; "auto": the best one if the repository has any; NULL or "":
 * none. The choice refers to repo, which must outlive it. QN_ENOTFOUND and QN_EINVAL (ambiguous)
 * list the possible choices. */
qn_err qn_resolve(const struct qn_repo *repo, const char *variant, const char *mmproj,
                  struct qn_choice **out, struct qn_error *e);
void qn_choice_free(struct qn_choice *c); /* NULL allowed */

/* The same for one GGUF file of the index's repository, given by its number, with all parts of its
 * series and, if projector is set, the best projector of the repository. Meant for resolving every
 * model of a large folder, since it takes no pass over all files. The file must be a model
 * (QN_FILE_GGUF of variant.h). QN_ENOTFOUND: a part is missing; QN_EINVAL: the name is too long. */
struct qn_repo_index; /* registry/repo_index.h */
qn_err qn_resolve_file(const struct qn_repo_index *index, size_t file, bool projector,
                       struct qn_choice **out, struct qn_error *e);

/* One variant that a repository offers, for a list to choose from. */
struct qn_variant {
    char name[QN_REF_VARIANT_MAX +
              1]; /* "Q4_K_M"; if two variants have the same, the file name without its ending */
    const struct qn_repo_file **files; /* in order; the first is the one to load */
    size_t n;
    bool sharded;
    int64_t size_bytes; /* < 0: not known */
};
struct qn_variants {
    struct qn_variant *v; /* most common first: Q4_K_M, UD-Q4_K_XL, Q8_0, Q4_0, then by name */
    size_t n;
    const struct qn_repo_file **mmproj, **drafts; /* sorted by name */
    size_t n_mmproj, n_drafts;
    const char *kind;   /* a string constant: "gguf", "whisper", "diffusion", "onnx-ryzenai" or
                           "unknown" */
    const char *recipe; /* a string constant: "llamacpp", "whispercpp", "sd-cpp" or "ryzenai-llm" */
    char suggested_name[QN_REF_REPO_MAX + 1];
    const char *labels[4]; /* string constants: "vision", "embeddings", "reranking", "image", ... */
    size_t n_labels;
};
void qn_variants(const struct qn_repo *repo, struct qn_variants **out);
void qn_variants_free(struct qn_variants *v); /* NULL allowed */

/* Finds the quantisation in a file's or folder's name, in capitals ("UD-Q4_K_XL"). False: there is
 * none. */
bool qn_quantization_of(const char *name, char out[static 32]);

#endif
