/* The algorithms that convert plain text to tokens. Internal to the tokenizer: tokenizer.c removes
 * special tokens from the text first. */
#ifndef QN_TEXT_PIECES_H
#define QN_TEXT_PIECES_H

#include "text/charsmap.h"
#include "text/pretokenize.h"
#include "text/special.h"
#include "text/token_trie.h"
#include "text/word.h"

/* BPE over bytes, or over characters. */
struct qn_bpe {
    const struct qn_pretokenizer *pre;
    struct qn_bpe_slot *slot; /* hash table of merges by the pair of their tokens */
    size_t mask;
    uint64_t seed;
    bool words_apart; /* for BPE over characters: see qn_vocab_words_apart */
};
/* Reads tokenizer.ggml.merges. */
qn_err qn_bpe_init(struct qn_bpe *b, const struct qn_pretokenizer *pre, const struct qn_vocab *v,
                   const struct qn_gguf *g, struct qn_error *e);
void qn_bpe_deinit(struct qn_bpe *b);
qn_err qn_bpe_text(const struct qn_bpe *b, struct qn_tokenizing *z, const char *text, size_t len,
                   struct qn_error *e);

/* SentencePiece's BPE: the pair with the best score is joined first. */
struct qn_spm {
    bool words_apart;
};
void qn_spm_init(struct qn_spm *s, const struct qn_vocab *v);
/* prefix: a space is inserted before the text. */
qn_err qn_spm_text(const struct qn_spm *s, struct qn_tokenizing *z, const char *text, size_t len,
                   bool prefix, struct qn_error *e);

/* BERT's WordPiece. */
struct qn_wordpiece {
    bool lowercase, strip_accents;
};
qn_err qn_wordpiece_init(struct qn_wordpiece *w, const struct qn_gguf *g, struct qn_error *e);
qn_err qn_wordpiece_text(const struct qn_wordpiece *w, struct qn_tokenizing *z, const char *text,
                         size_t len, struct qn_error *e);

/* SentencePiece's unigram model. */
struct qn_unigram {
    struct qn_token_trie tokens; /* all tokens that plain text can become */
    struct qn_charsmap map;
    double unknown_score;
    bool merge_spaces; /* runs of white space become one space, and a space is inserted before the
                          text */
    bool words_apart;
};
/* Reads tokenizer.ggml.precompiled_charsmap and remove_extra_whitespaces. */
qn_err qn_unigram_init(struct qn_unigram *u, const struct qn_vocab *v, const struct qn_gguf *g,
                       struct qn_error *e);
void qn_unigram_deinit(struct qn_unigram *u);
/* prefix: a space is inserted before the first word. */
qn_err qn_unigram_text(const struct qn_unigram *u, struct qn_tokenizing *z, const char *text,
                       size_t len, bool prefix, struct qn_error *e);

/* RWKV's longest-match tokenizer. */
struct qn_rwkv {
    struct qn_token_trie tokens;
};
qn_err qn_rwkv_init(struct qn_rwkv *r, const struct qn_vocab *v, struct qn_error *e);
void qn_rwkv_deinit(struct qn_rwkv *r);
qn_err qn_rwkv_text(const struct qn_rwkv *r, struct qn_tokenizing *z, const char *text, size_t len,
                    struct qn_error *e);

/* For tokenizers that represent spaces as U+2581: replaces U+2581 by spaces and inserts a space in
 * front if prefix is true. *n is the length in bytes. Returns NULL when out of memory; the caller
 * frees the text. */
char *qn_spaced_text(const char *text, size_t len, bool prefix, size_t *n);

/* The end of the word that begins at text[from]: words are split before a space that follows a
 * character other than a space. */
static inline size_t qn_spaced_word_end(const char *text, size_t from, size_t n)
{
    size_t to = from + 1;
    while (to < n && !(text[to] == ' ' && text[to - 1] != ' ')) {
        to++;
    }
    return to;
}

#endif
