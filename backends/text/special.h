/* Finds tokens that occur in text in their written form, such as "<|im_end|>". Immutable after
 * construction. */
#ifndef QN_TEXT_SPECIAL_H
#define QN_TEXT_SPECIAL_H

#include "text/vocab.h"

struct qn_special_entry {
    int32_t id;
    int32_t shorter; /* the longest entry that is a proper prefix of this one; -1: none */
};

struct qn_special {
    struct qn_special_entry *entry; /* [n] sorted by bytes */
    int32_t n;
    int32_t first[257]; /* the entries that begin with byte c are first[c] to first[c + 1] - 1 */
};

/* Collects the tokens whose kind is in `kinds`, a mask of 1 << enum qn_token_kind. */
void qn_special_init(struct qn_special *s, const struct qn_vocab *v, unsigned kinds);
void qn_special_deinit(struct qn_special *s);

/* Index in `entry` of the longest token with which text[0..n) begins, n > 0; -1: none. */
int32_t qn_special_longest(const struct qn_special *s, const struct qn_vocab *v, const char *text,
                           size_t n);

/* Finds the first position in text[from..len) at which a token begins, and the longest token there.
 * Returns the token's id and stores the position in *at; returns -1 and stores len when there is
 * none. */
int32_t qn_special_next(const struct qn_special *s, const struct qn_vocab *v, const char *text,
                        size_t from, size_t len, size_t *at);

#endif
