/* Text to token ids and back, as a model's GGUF metadata says: BPE over bytes or characters
 * ("gpt2", "gemma4") with the pre-tokenizer the file names, SentencePiece ("llama") with byte
 * fallback and its unigram model ("t5"), WordPiece ("bert"), longest match ("rwkv"). Immutable
 * after construction; any thread may use it. */
#ifndef QN_TEXT_TOKENIZER_H
#define QN_TEXT_TOKENIZER_H

#include "base/error.h"
#include "formats/gguf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_tokenizer;

struct qn_tokens { /* a growing list of ids; zero-initialise, free with qn_tokens_deinit */
    int32_t *v;
    size_t n, cap;
};
void qn_tokens_push(struct qn_tokens *t, int32_t id);
void qn_tokens_deinit(struct qn_tokens *t);

#define QN_TOKEN_MARK "\xef\xb7\x90" /* U+FDD0, a noncharacter for use within a program */

enum {
    QN_TOK_SPECIAL =
        1, /* text of control and user-defined tokens becomes those tokens (chat templates) */
    QN_TOK_MARKED =
        4, /* QN_TOKEN_MARK is no part of the text: it only keeps special tokens from being found */
    QN_TOK_BOS_EOS = 2 /* add what tokenizer.ggml.add_bos_token / add_eos_token / sep ask for */
};

/* Reads the vocabulary; the gguf may be closed afterwards. QN_EFORMAT for broken metadata,
 * QN_EUNSUPPORTED for a tokenizer or pre-tokenizer this version does not know (named in the
 * message). */
qn_err qn_tokenizer_new(const struct qn_gguf *g, struct qn_tokenizer **out, struct qn_error *e);
void qn_tokenizer_free(struct qn_tokenizer *t);

/* Appends the ids of text[0..len) (any bytes) to out. QN_ELIMIT over max_tokens ids in out. */
qn_err qn_tokenize(const struct qn_tokenizer *t, const char *text, size_t len, unsigned flags,
                   size_t max_tokens, struct qn_tokens *out, struct qn_error *e);

/* Where in text[from..len) the written form of a control token begins; len: nowhere. */
size_t qn_tokenizer_next_control(const struct qn_tokenizer *t, const char *text, size_t from,
                                 size_t len);

int32_t qn_tokenizer_size(const struct qn_tokenizer *t);

/* The bytes a token stands for in text (byte-level and "▁" undone); a control token gives its
 * written form ("<|im_end|>"). Lent. *len 0 for ids out of range. */
const char *qn_token_bytes(const struct qn_tokenizer *t, int32_t id, size_t *len);

bool qn_token_is_control(const struct qn_tokenizer *t, int32_t id);
bool qn_token_is_end(const struct qn_tokenizer *t,
                     int32_t id);                   /* eos, eot and other ends of generation */
int32_t qn_token_bos(const struct qn_tokenizer *t); /* -1: none */
int32_t qn_token_eos(const struct qn_tokenizer *t); /* -1: none */
bool qn_tokenizer_adds_bos(const struct qn_tokenizer *t);
/* SentencePiece puts a space before the first word; a detokeniser removes it again. */
bool qn_tokenizer_space_prefix(const struct qn_tokenizer *t);

#endif
