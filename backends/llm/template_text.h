/* Text and numbers as JavaScript sees them, over UTF-8: its white space, its lengths in UTF-16
 * units, its upper and lower case, its number formats. Pure functions. */
#ifndef QN_LLM_TEMPLATE_TEXT_H
#define QN_LLM_TEMPLATE_TEXT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_TEXT_NUMBER_MAX = 32 }; /* longest number written, with its NUL; exponent form included */

/* Bytes of the white space character at s, or 0. */
size_t qn_text_space(const char *s, size_t n);
/* White space at the start of s; bytes of s without the white space at its end. */
size_t qn_text_skip(const char *s, size_t n);
size_t qn_text_rtrim(const char *s, size_t n);

size_t qn_text_utf16_len(const char *s, size_t n);
/* Bytes of the code point at s (n > 0); malformed bytes count alone. */
size_t qn_text_char(const char *s, size_t n);
/* Order by UTF-16 units: negative, 0, positive. */
int qn_text_compare(const char *a, size_t an, const char *b, size_t bn);
/* Order of dictionary keys by a reader's alphabet: punctuation, digits, letters without case.
 * Beyond ASCII by code point, which is not what Unicode collation would say. */
int qn_text_collate(const char *a, size_t an, const char *b, size_t bn);

void qn_text_upper(const char *s, size_t n, struct qn_buf *out);
void qn_text_lower(const char *s, size_t n, struct qn_buf *out);

/* The shortest decimal that reads back equal, in JavaScript's notation; returns its length. */
size_t qn_text_number(double num, char out[static QN_TEXT_NUMBER_MAX]);

/* Number("..."): the whole text, blanks around it allowed, "" is 0; NaN when it is no number. */
double qn_text_to_number(const char *s, size_t n);
/* parseInt and parseFloat: the longest prefix after blanks; NaN when there is none. */
double qn_text_parse_int(const char *s, size_t n);
double qn_text_parse_float(const char *s, size_t n);

#endif
