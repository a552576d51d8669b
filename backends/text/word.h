/* One word to tokens, for every tokenizer that joins symbols: a word that is a token and that the
 * merges make into it is found at once, a word seen a moment ago is remembered, and the rest goes
 * through merge.h. Internal to the tokenizer. */
#ifndef QN_TEXT_WORD_H
#define QN_TEXT_WORD_H

#include "text/merge.h"
#include "text/tokenizer.h"
#include "text/vocab.h"

struct qn_recent; /* words seen a moment ago */

struct qn_recent_pair { /* two tokens whose texts were joined a moment ago */
    uint64_t pair;
    int32_t id; /* the token of both; -1: there is none */
    uint32_t priority;
};

/* One call of qn_tokenize: where ids go, how many there may be, and memory that is used again for
 * every stretch of text. */
struct qn_tokenizing {
    const struct qn_vocab *vocab;
    int32_t unknown; /* the token for what has none; -1: such text is left out */
    struct qn_tokens *out;
    size_t max_tokens;
    bool after_unknown; /* unigram: the text before ended in unknown characters */
    struct qn_merge merge;
    struct qn_recent *recent;     /* NULL: the text is too short for it to pay */
    struct qn_recent_pair *pairs; /* [QN_RECENT_PAIRS] for SentencePiece; or NULL, as before */
};

/* How the symbols of a word are joined. */
struct qn_word_way {
    qn_merge_rank rank;
    const void *ctx;
    bool bytes;      /* symbols begin as bytes, not as characters */
    bool take_whole; /* a word that is a token is that token, whatever the ranks say */
};

enum { QN_RECENT_PAIRS = 16384 };

/* Memory for a text of len bytes to tokenise; the end of that text. */
void qn_tokenizing_start(struct qn_tokenizing *z, size_t len);
void qn_tokenizing_end(struct qn_tokenizing *z);

/* Appends an id, none for -1. QN_ELIMIT over max_tokens. */
qn_err qn_tokenizing_push(struct qn_tokenizing *z, int32_t id, struct qn_error *e);

/* Appends the tokens of s[0..n), n > 0. QN_ELIMIT, QN_ENOMEM. */
qn_err qn_word_tokens(struct qn_tokenizing *z, const struct qn_word_way *way, const char *s,
                      size_t n, struct qn_error *e);

/* The same for tokenizers with another way than merges: whether the word with this qn_vocab_hash
 * was seen a moment ago and its ids could be appended; and what to remember of one, whose ids are
 * those of z->out from `before`. */
bool qn_recent_take(struct qn_tokenizing *z, uint64_t hash, const char *s, size_t n);
void qn_recent_keep(struct qn_tokenizing *z, uint64_t hash, const char *s, size_t n, size_t before);

#endif
