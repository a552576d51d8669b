/* Splits text into the words that byte-level BPE works on, by the rules of the model family that
 * tokenizer.ggml.pre names. Any thread. */
#ifndef QN_TEXT_PRETOKENIZE_H
#define QN_TEXT_PRETOKENIZE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_pretokenizer; /* the rules of one family; a constant that is never freed */

struct qn_text_pieces { /* the end of each piece; the first piece begins at 0; zero-initialise */
    uint32_t *end;
    size_t n, cap;
};
void qn_pieces_deinit(struct qn_text_pieces *p);
void qn_pieces_grow(struct qn_text_pieces *p);

static inline void qn_pieces_add(struct qn_text_pieces *p, size_t end)
{
    if (p->n == p->cap) {
        qn_pieces_grow(p);
    }
    p->end[p->n++] = (uint32_t)end;
}

enum { /* other properties of a family */
       QN_PRE_WHOLE_TOKENS =
           1, /* a word that is itself a token becomes that token, regardless of the merges */
       QN_PRE_ADDS_BOS = 2,   /* texts begin with BOS unless the file says otherwise */
       QN_PRE_RAW_TEXT = 4,   /* merges join characters instead of bytes, and spaces are represented
                                 as U+2581 */
       QN_PRE_WHOLE_LINES = 8 /* as WHOLE_TOKENS, only for words of line feeds */
};

/* QN_EUNSUPPORTED, with the name in the message, when the name is not in the table. */
qn_err qn_pretokenizer_find(const char *name, size_t len, const struct qn_pretokenizer **out,
                            struct qn_error *e);
unsigned qn_pretokenizer_flags(const struct qn_pretokenizer *p);

/* Replaces the contents of out by the pieces of text[0..len), which must be valid UTF-8 of at most
 * QN_TOKEN_TEXT_MAX bytes. The pieces cover the whole text. Time is linear in len. */
void qn_pretokenize(const struct qn_pretokenizer *p, const char *text, size_t len,
                    struct qn_text_pieces *out);

#endif
