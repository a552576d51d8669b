/* SentencePiece's precompiled normalisation: a map from strings to strings, in a double-array trie
 * as model files carry it. Immutable after construction. */
#ifndef QN_TEXT_CHARSMAP_H
#define QN_TEXT_CHARSMAP_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_charsmap { /* zero-initialised: maps nothing */
    uint32_t *node;  /* [nodes] */
    size_t nodes;
    char *text; /* [text_n] what strings become, each with its NUL; the last byte is one */
    size_t text_n;
    bool plain[128]; /* ASCII that stays what it is where other ASCII follows */
};

/* Reads a copy of blob[0..n): the bytes of the trie as 32 bits little-endian, the trie, the texts.
 * QN_EFORMAT, QN_ENOMEM. */
qn_err qn_charsmap_init(struct qn_charsmap *m, const void *blob, size_t n, struct qn_error *e);
void qn_charsmap_deinit(struct qn_charsmap *m);

/* The longest beginning of s[0..n) that the map has: its bytes, and in *to what it becomes. 0:
 * none.
 */
size_t qn_charsmap_longest(const struct qn_charsmap *m, const char *s, size_t n, const char **to);

#endif
