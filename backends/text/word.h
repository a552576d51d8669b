/* Converts one word to tokens, for all tokenizers that join symbols. A word that is a token and is
 * known to result from the merges is looked up directly, recent words are cached, and all other
 * words are processed by merge.h. Internal to the tokenizer. */
#ifndef QN_TEXT_WORD_H
#define QN_TEXT_WORD_H

#include "text/merge.h"
#include "text/tokenizer.h"
#include "text/vocab.h"

struct qn_recent; /* cache of recently tokenised words */

struct qn_recent_pair { /* cache entry: two tokens that were recently looked up as a pair */
    uint64_t pair;
    int32_t id; /* the token of the joined text; -1: there is none */
    uint32_t priority;
};

/* The state of one qn_tokenize call: the output, its limit, and working memory that is reused for
 * each part of the text. */
struct qn_tokenizing {
    const struct qn_vocab *vocab;
    int32_t unknown; /* token for text that has no token; -1: such text is left out */
    struct qn_tokens *out;
    size_t max_tokens;
    bool after_unknown; /* unigram: the preceding text ended in unknown characters */
    struct qn_merge merge;
    struct qn_recent *recent;     /* NULL: the text is too short for a cache */
    struct qn_recent_pair *pairs; /* [QN_RECENT_PAIRS] for SentencePiece; NULL: no cache */
};

/* How the symbols of a word are joined. */
struct qn_word_way {
    qn_merge_rank rank;
    const void *ctx;
    bool bytes;      /* the initial symbols are bytes, not characters */
    bool take_whole; /* a word that is a token becomes that token, regardless of the ranks */
};

enum { QN_RECENT_PAIRS = 16384 };

/* Allocates the caches for a text of len bytes if they are worthwhile; qn_tokenizing_end frees
 * them. */
void qn_tokenizing_start(struct qn_tokenizing *z, size_t len);
void qn_tokenizing_end(struct qn_tokenizing *z);

/* Appends an id; -1 is ignored. QN_ELIMIT if there would be more than max_tokens. */
qn_err qn_tokenizing_push(struct qn_tokenizing *z, int32_t id, struct qn_error *e);

/* Appends the tokens of s[0..n), n > 0. QN_ELIMIT, QN_ENOMEM. */
qn_err qn_word_tokens(struct qn_tokenizing *z, const struct qn_word_way *way, const char *s,
                      size_t n, struct qn_error *e);

/* The cache for tokenizers that do not use merges. qn_recent_take appends the ids of a cached word
 * with this qn_vocab_hash and returns true, or returns false. qn_recent_keep caches a word whose
 * ids are those of z->out from `before` on. */
bool qn_recent_take(struct qn_tokenizing *z, uint64_t hash, const char *s, size_t n);
void qn_recent_keep(struct qn_tokenizing *z, uint64_t hash, const char *s, size_t n, size_t before);

#endif
