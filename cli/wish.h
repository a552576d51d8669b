/* What `quince pull` was asked for: what was typed, taken apart as far as this side must know it,
 * and the request made of it. The server knows every form of reference; here only variants are told
 * from the rest, because a person may have to choose one. Pure, but for looking whether a path
 * exists. */
#ifndef QN_CLI_WISH_H
#define QN_CLI_WISH_H

#include "base/buf.h"
#include "base/error.h"
#include "cli/cli.h"

#include <stdbool.h>

enum { QN_WISH_LABELS_MAX = 16, QN_WISH_CHECKPOINTS_MAX = 8, QN_WISH_NAME_MAX = 128 };

struct qn_wish {
    const char *word;                              /* what was typed */
    const char *name;                              /* the name that it will have; NULL: found out */
    const char *recipe, *source, *variant, *alias; /* as options gave them; NULL: not given */
    const char *labels[QN_WISH_LABELS_MAX];
    int n_labels;
    struct {
        const char *type, *checkpoint;
    } checkpoints[QN_WISH_CHECKPOINTS_MAX];
    int n_checkpoints;
    bool yes, quiet;
};

/* True for a file or folder of this machine: by how it is written, or because it is there. */
bool qn_wish_is_path(const char *word);

/* True for an address that is no repository's page: one file, or an archive. */
bool qn_wish_is_address(const char *word);

/* Appends the word as a reference to a hub: a repository's page without "https://", so that a
 * variant can be put behind it; a name without '/', which can only be one of Ollama's library, with
 * its host before it; any other as it is. */
void qn_wish_reference(const char *word, struct qn_buf *out);

/* The variant within a reference: what follows ':' behind "owner/", up to '@'; lent, *n its length.
 * NULL: there is none. */
const char *qn_wish_variant(const char *reference, size_t *n);

/* May a variant be put into it? Not into addresses, and not into Ollama's names, whose tag is all
 * there is to say. */
bool qn_wish_takes_variant(const char *reference);

/* Appends the reference with the variant in it: before '@', else at its end. */
void qn_wish_with_variant(const char *reference, const char *variant, struct qn_buf *out);

/* "user.Qwen3-8B-GGUF-Q4_K_M" from the server's suggestion and the variant; a variant that is a
 * file gives its own name. Only letters, digits and ._- remain. */
void qn_wish_name(const char *suggested, const char *variant, char out[static QN_WISH_NAME_MAX]);

/* What the request says beside the wish; NULL: nothing. */
struct qn_wish_found {
    const char *name;       /* the model's */
    const char *checkpoint; /* with its variant; NULL for a model that the server knows */
    const char *recipe;
    const struct qn_jref *labels; /* an array */
};

/* Appends the body of POST pull. */
void qn_wish_write(const struct qn_wish *w, const struct qn_wish_found *found, struct qn_buf *out);

#endif
