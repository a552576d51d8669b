/* Finds tokens that stand in text as they are, "<|im_end|>". Immutable after construction. */
#ifndef QN_TEXT_SPECIAL_H
#define QN_TEXT_SPECIAL_H

#include "text/vocab.h"

struct qn_special_entry {
    int32_t id;
    int32_t shorter; /* the longest entry that is a proper prefix of this one; -1: none */
};

struct qn_special {
    struct qn_special_entry *entry; /* [n] in the order of their bytes */
    int32_t n;
    int32_t first[257]; /* entries that begin with byte c: first[c] to first[c + 1] */
};

/* The tokens whose kind is in kinds, a mask of 1 << enum qn_token_kind. */
void qn_special_init(struct qn_special *s, const struct qn_vocab *v, unsigned kinds);
void qn_special_deinit(struct qn_special *s);

/* The index in entry of the longest one that text[0..n) begins with, n > 0; -1: none. */
int32_t qn_special_longest(const struct qn_special *s, const struct qn_vocab *v, const char *text,
                           size_t n);

/* The first place in text[from..len) where one begins and there the longest; *at is len and the
 * answer -1 when there is none. */
int32_t qn_special_next(const struct qn_special *s, const struct qn_vocab *v, const char *text,
                        size_t from, size_t len, size_t *at);

#endif
