/* Cuts text into the words that byte-level BPE works on, by the regular expressions of the model
 * family that tokenizer.ggml.pre names. Owns PCRE2. Immutable after construction; any thread. */
#ifndef QN_NETS_PRETOKENIZE_H
#define QN_NETS_PRETOKENIZE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_pretokenizer;

struct qn_pieces { /* where each piece ends; the first begins at 0; zero-initialise */
    uint32_t *end;
    size_t n, cap;
};
void qn_pieces_deinit(struct qn_pieces *p);

/* QN_EUNSUPPORTED with the name in the message when it is not in the table. */
qn_err qn_pretokenizer_new(const char *name, size_t len, struct qn_pretokenizer **out,
                           struct qn_error *e);
void qn_pretokenizer_free(struct qn_pretokenizer *p); /* NULL allowed */

/* A whole word that is a token is taken as it is, whatever the merges say. */
bool qn_pretokenizer_ignores_merges(const struct qn_pretokenizer *p);
/* Models of this family begin with BOS unless their file says otherwise. */
bool qn_pretokenizer_adds_bos(const struct qn_pretokenizer *p);

/* Replaces out by the pieces of text[0..len), which must be valid UTF-8 of at most
 * QN_TOKEN_TEXT_MAX bytes; together they are the text. QN_ELIMIT when an expression would need too
 * many steps on this text, QN_ENOMEM. */
qn_err qn_pretokenize(const struct qn_pretokenizer *p, const char *text, size_t len,
                      struct qn_pieces *out, struct qn_error *e);

#endif
