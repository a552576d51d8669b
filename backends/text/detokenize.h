/* Converts tokens to text one at a time, so that the output always consists of whole UTF-8
 * characters. For one sequence; one thread. */
#ifndef QN_TEXT_DETOKENIZE_H
#define QN_TEXT_DETOKENIZE_H

#include "text/tokenizer.h"

#include "base/buf.h"

struct qn_detok {
    const struct qn_tokenizer *t;
    char tail[4]; /* bytes of a character that is not complete */
    size_t n;
    bool strip; /* no byte has been output; a leading space that SentencePiece added is dropped */
};

/* t must outlive d. There is nothing to free. */
void qn_detok_init(struct qn_detok *d, const struct qn_tokenizer *t);

/* Appends to out the characters that are complete after this token, which may be none. Invalid
 * UTF-8 becomes U+FFFD. Control tokens yield their written form; callers that do not want it check
 * qn_token_is_control first. QN_ELIMIT when out is full. */
qn_err qn_detok_push(struct qn_detok *d, int32_t id, struct qn_buf *out);

/* At the end of the sequence: an incomplete character becomes one U+FFFD. */
qn_err qn_detok_flush(struct qn_detok *d, struct qn_buf *out);

#endif
