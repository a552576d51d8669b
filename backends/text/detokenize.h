/* Tokens back to text, one at a time, so that what comes out is always whole UTF-8 characters.
 * One generation, one thread. */
#ifndef QN_TEXT_DETOKENIZE_H
#define QN_TEXT_DETOKENIZE_H

#include "text/tokenizer.h"

#include "base/buf.h"

struct qn_detok {
    const struct qn_tokenizer *t;
    char tail[4]; /* the bytes of a character that is not complete yet */
    size_t n;
    bool strip; /* the next byte is the first: a SentencePiece prefix space is dropped */
};

/* t must outlive d; there is nothing to give back. */
void qn_detok_init(struct qn_detok *d, const struct qn_tokenizer *t);

/* Appends to out what is complete after this token, perhaps nothing. Bytes that can be no UTF-8
 * become U+FFFD. Control tokens give their written form: callers that do not want it
 * ask qn_token_is_control first. QN_ELIMIT when out is full. */
qn_err qn_detok_push(struct qn_detok *d, int32_t id, struct qn_buf *out);

/* The end: an unfinished character becomes one U+FFFD. */
qn_err qn_detok_flush(struct qn_detok *d, struct qn_buf *out);

#endif
