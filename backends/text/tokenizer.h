/* Converts text to token ids and back as a model's GGUF metadata describes: BPE over bytes or
 * characters ("gpt2", "gemma4") with the file's pre-tokenizer, SentencePiece ("llama") with byte
 * fallback, its unigram model ("t5"), WordPiece ("bert"), longest match ("rwkv"). Immutable after
 * construction; may be used by any thread. */
#ifndef QN_TEXT_TOKENIZER_H
#define QN_TEXT_TOKENIZER_H

#include "base/error.h"
#include "formats/gguf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_tokenizer;

struct qn_tokens { /* a growable list of ids; zero-initialise, free with qn_tokens_deinit */
    int32_t *v;
    size_t n, cap;
};
void qn_tokens_push(struct qn_tokens *t, int32_t id);
void qn_tokens_deinit(struct qn_tokens *t);

#define QN_TOKEN_MARK "\xef\xb7\x90" /* U+FDD0, a noncharacter reserved for internal use */

enum {
    QN_TOK_SPECIAL = 1, /* the written forms of control and user-defined tokens become those tokens
                           (for chat templates) */
    QN_TOK_MARKED = 4,  /* QN_TOKEN_MARK is not part of the text; it only prevents special tokens
                           from being  recognised */
    QN_TOK_BOS_EOS = 2  /* add the tokens that tokenizer.ggml.add_bos_token / add_eos_token /
                           add_sep_token ask for */
};

/* Reads the vocabulary; the gguf may be closed afterwards. QN_EFORMAT for invalid metadata,
 * QN_EUNSUPPORTED for an unsupported tokenizer or pre-tokenizer (named in the message). */
qn_err qn_tokenizer_new(const struct qn_gguf *g, struct qn_tokenizer **out, struct qn_error *e);
void qn_tokenizer_free(struct qn_tokenizer *t);

/* Appends the ids of text[0..len) (any bytes) to out. QN_ELIMIT if out would have more than
 * max_tokens ids. */
qn_err qn_tokenize(const struct qn_tokenizer *t, const char *text, size_t len, unsigned flags,
                   size_t max_tokens, struct qn_tokens *out, struct qn_error *e);

/* Offset in text[from..len) at which the written form of a control token begins; len: there is
 * none. */
size_t qn_tokenizer_next_control(const struct qn_tokenizer *t, const char *text, size_t from,
                                 size_t len);

int32_t qn_tokenizer_size(const struct qn_tokenizer *t);

/* The bytes of text that a token stands for, with the byte-level alphabet and "▁" decoded; for a
 * control token its written form ("<|im_end|>"). Borrowed. *len is 0 for ids out of range. */
const char *qn_token_bytes(const struct qn_tokenizer *t, int32_t id, size_t *len);

bool qn_token_is_control(const struct qn_tokenizer *t, int32_t id);
bool qn_token_is_end(const struct qn_tokenizer *t, int32_t id); /* eos, eot and other tokens that
                                                                   end generation */
int32_t qn_token_bos(const struct qn_tokenizer *t);             /* -1: none */
int32_t qn_token_eos(const struct qn_tokenizer *t);             /* -1: none */
bool qn_tokenizer_adds_bos(const struct qn_tokenizer *t);
/* Whether SentencePiece inserts a space before the first word, which a detokenizer must remove. */
bool qn_tokenizer_space_prefix(const struct qn_tokenizer *t);

#endif
