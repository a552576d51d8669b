/* Shared by the parts of the tokenizer: a vocabulary's tokens as bytes of text, and the lookup of a
 * token by its bytes. Not for users of tokenizer.h. Immutable after loading. */
#ifndef QN_TEXT_VOCAB_H
#define QN_TEXT_VOCAB_H

#include "base/error.h"
#include "formats/gguf.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_VOCAB_TOKENS_MAX = 4 * 1024 * 1024,
    QN_VOCAB_TOKEN_BYTES_MAX = 16384,
    QN_VOCAB_BYTES_MAX = 256 * 1024 * 1024, /* bytes of all tokens together */
    QN_TOKEN_TEXT_MAX = 256 * 1024 * 1024   /* bytes of one text to tokenise */
};

enum qn_vocab_model {
    QN_VOCAB_BPE, /* BPE over bytes */
    QN_VOCAB_RAW, /* BPE over characters, with spaces and bytes written as in SentencePiece */
    QN_VOCAB_SPM,
    QN_VOCAB_WORDPIECE,
    QN_VOCAB_UNIGRAM,
    QN_VOCAB_RWKV
};

enum qn_token_kind { /* tokenizer.ggml.token_type, numbered as in the file */
                     QN_TOKEN_NORMAL = 1,
                     QN_TOKEN_UNKNOWN = 2,
                     QN_TOKEN_CONTROL = 3,
                     QN_TOKEN_USER = 4,
                     QN_TOKEN_UNUSED = 5,
                     QN_TOKEN_BYTE = 6
};

enum { QN_TOKEN_END = 1, QN_TOKEN_LSTRIP = 2, QN_TOKEN_RSTRIP = 4 }; /* flags of a token */

struct qn_token {
    const char *s; /* the bytes of text that it stands for; for control and user-defined tokens the
                      written form */
    uint32_t n;
    uint8_t kind;  /* enum qn_token_kind */
    uint8_t flags; /* QN_TOKEN_* */
};

enum { QN_JOINED = 1 }; /* the merges of this token's text end with this token */

struct qn_vocab_slot {
    uint32_t tag; /* the upper half of the hash */
    int32_t id;   /* -1: free */
};

struct qn_vocab {
    enum qn_vocab_model model;
    int32_t n;
    struct qn_token *token;  /* [n] */
    float *score;            /* [n] for SPM and unigram vocabularies, else NULL */
    _Atomic uint8_t *joined; /* [n] QN_JOINED once that is known; the only field that is written
                                after loading */
    char *bytes;             /* storage of all tokens' bytes */
    uint64_t seed;
    struct qn_vocab_slot *slot; /* [mask + 1] index of control tokens and of the tokens that text
                                   can become */
    size_t mask;
    uint32_t longest;      /* bytes of the longest token */
    int32_t ascii_id[128]; /* the token that text of one ASCII character becomes; -1: none */
    int32_t byte_id[256];  /* the token that stands for one byte; -1: none */
};

/* Reads the tokens, their kinds (token_type) and, for SentencePiece and unigram, their scores. */
qn_err qn_vocab_init(struct qn_vocab *v, enum qn_vocab_model model, const struct qn_gguf *g,
                     struct qn_error *e);
void qn_vocab_deinit(struct qn_vocab *v);

/* The token of any kind with these bytes; -1: none. If a normal and a special token have the same
 * bytes, the normal one. */
int32_t qn_vocab_find(const struct qn_vocab *v, const char *s, size_t n);

/* The same without control, unknown and byte tokens: the token that plain text can become. */
int32_t qn_vocab_find_text(const struct qn_vocab *v, const char *s, size_t n);

/* qn_vocab_find_text for n > 0 bytes whose hash is known. */
uint64_t qn_vocab_hash(const struct qn_vocab *v, const char *s, size_t n);
int32_t qn_vocab_find_hashed(const struct qn_vocab *v, uint64_t hash, const char *s, size_t n);

/* Whether no token that text can become contains a space after another character. Then no token
 * spans two words, and words can be tokenised separately. */
bool qn_vocab_words_apart(const struct qn_vocab *v);

/* Decodes GPT-2's byte-level alphabet, in which each character stands for one byte. Returns the
 * number of bytes written to out (of capacity n), or -1 when a character is not in the alphabet. */
int qn_byte_level_decode(const char *s, size_t n, char *out);

/* Decodes SentencePiece's "▁" to spaces; returns the number of bytes written to out, at most n. */
int qn_unescape_spaces(const char *s, size_t n, char *out);

#endif
