/* SentencePiece's precompiled normalisation: a map from strings to strings, stored in model files
 * as a double-array trie. Immutable after construction. */
#ifndef QN_TEXT_CHARSMAP_H
#define QN_TEXT_CHARSMAP_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_charsmap { /* all zero: an empty map */
    uint32_t *node;  /* [nodes] */
    size_t nodes;
    char *text; /* [text_n] the replacement texts, each NUL-terminated; the last byte is NUL */
    size_t text_n;
    bool plain[128]; /* ASCII characters that the map leaves unchanged when another ASCII character
                        follows */
};

/* Copies blob[0..n): the size of the trie in bytes as 32 bits little-endian, the trie, the texts.
 * QN_EFORMAT, QN_ENOMEM. */
qn_err qn_charsmap_init(struct qn_charsmap *m, const void *blob, size_t n, struct qn_error *e);
void qn_charsmap_deinit(struct qn_charsmap *m);

/* Finds the longest prefix of s[0..n) that is in the map; returns its length in bytes and stores
 * the replacement in *to. 0: no prefix is in the map. */
size_t qn_charsmap_longest(const struct qn_charsmap *m, const char *s, size_t n, const char **to);

#endif
