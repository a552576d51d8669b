/* The request of `quince pull`: the user's word parsed as far as the command line needs it, and the
 * body of the request. The server parses all forms of references; here only the variant is
 * separated, because the user may have to choose one. Pure, except for checks whether a path
 * exists. */
#ifndef QN_CLI_WISH_H
#define QN_CLI_WISH_H

#include "base/buf.h"
#include "base/error.h"
#include "cli/cli.h"

#include <stdbool.h>

enum { QN_WISH_LABELS_MAX = 16, QN_WISH_CHECKPOINTS_MAX = 8, QN_WISH_NAME_MAX = 128 };

struct qn_wish {
    const char *word; /* as the user typed it */
    const char *name; /* the name that the model will get; NULL: derived */
    const char *recipe, *source, *variant, *alias; /* values of options; NULL: not given */
    const char *labels[QN_WISH_LABELS_MAX];
    int n_labels;
    struct {
        const char *type, *checkpoint;
    } checkpoints[QN_WISH_CHECKPOINTS_MAX];
    int n_checkpoints;
    bool yes, quiet;
};

/* True if word is a file or folder of this machine, by its form or because it exists. */
bool qn_wish_is_path(const char *word);

/* True for an address that is not a repository's page: one file, or an archive. */
bool qn_wish_is_address(const char *word);

/* Appends the word as a reference to a hub. The address of a repository's page loses "https://", so
 * that a variant can be appended; a name without '/', which can only be in Ollama's library, gets
 * that library's host; other words are unchanged. */
void qn_wish_reference(const char *word, struct qn_buf *out);

/* Returns the variant in a reference: the text after the ':' that follows "owner/", up to '@';
 * borrowed, *n is its length. NULL: none. */
const char *qn_wish_variant(const char *reference, size_t *n);

/* Whether a variant can be added: not to addresses, and not to Ollama's names, whose tag is
 * complete. */
bool qn_wish_takes_variant(const char *reference);

/* Appends the reference with the variant: before '@', else at its end. */
void qn_wish_with_variant(const char *reference, const char *variant, struct qn_buf *out);

/* Makes "user.Qwen3-8B-GGUF-Q4_K_M" from the server's suggestion and the variant; if the variant is
 * a file, from the file's name. Characters other than letters, digits and ._- are removed. */
void qn_wish_name(const char *suggested, const char *variant, char out[static QN_WISH_NAME_MAX]);

/* Parts of the request that are not in the wish; NULL: none. */
struct qn_wish_found {
    const char *name;       /* the model's name */
    const char *checkpoint; /* with its variant; NULL for a model that the server knows */
    const char *recipe;
    const struct qn_jref *labels; /* an array */
};

/* Appends the body of POST pull. */
void qn_wish_write(const struct qn_wish *w, const struct qn_wish_found *found, struct qn_buf *out);

#endif
