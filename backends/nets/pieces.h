/* The three ways to turn plain text into tokens, and what they need from call to call. Internal to
 * the tokenizer: tokenizer.c takes special tokens out of the text before it comes here. */
#ifndef QN_NETS_PIECES_H
#define QN_NETS_PIECES_H

#include "nets/merge.h"
#include "nets/pretokenize.h"
#include "nets/tokenizer.h"
#include "nets/vocab.h"

/* One call of qn_tokenize: where ids go, how many there may be, and memory that is used again for
 * every stretch of text. */
struct qn_tokenizing {
    const struct qn_vocab *vocab;
    int32_t unknown; /* the token for what has none; -1: such text is left out */
    struct qn_tokens *out;
    size_t max_tokens;
    struct qn_merge merge;
    struct qn_pieces pieces;
};
/* Appends an id. QN_ELIMIT over max_tokens. */
qn_err qn_tokenizing_push(struct qn_tokenizing *z, int32_t id, struct qn_error *e);

/* Byte-level BPE. */
struct qn_bpe {
    struct qn_pretokenizer *pre;
    struct qn_bpe_slot *slot; /* merges by the pair of their tokens */
    size_t mask;
    uint64_t seed;
};
/* Reads tokenizer.ggml.pre and tokenizer.ggml.merges. */
qn_err qn_bpe_init(struct qn_bpe *b, const struct qn_vocab *v, const struct qn_gguf *g,
                   struct qn_error *e);
void qn_bpe_deinit(struct qn_bpe *b);
qn_err qn_bpe_text(const struct qn_bpe *b, struct qn_tokenizing *z, const char *text, size_t len,
                   struct qn_error *e);

/* SentencePiece's BPE: the pair with the best score first. */
struct qn_spm {
    bool words_apart; /* no token reaches from one word into the next: words can be cut apart */
};
void qn_spm_init(struct qn_spm *s, const struct qn_vocab *v);
/* prefix: a space is put before the text. */
qn_err qn_spm_text(const struct qn_spm *s, struct qn_tokenizing *z, const char *text, size_t len,
                   bool prefix, struct qn_error *e);

/* BERT's WordPiece. */
struct qn_wordpiece {
    bool lowercase, strip_accents;
};
qn_err qn_wordpiece_init(struct qn_wordpiece *w, const struct qn_gguf *g, struct qn_error *e);
qn_err qn_wordpiece_text(const struct qn_wordpiece *w, struct qn_tokenizing *z, const char *text,
                         size_t len, struct qn_error *e);

#endif
