/* Character classes and letter case with Python's definitions. */
#ifndef QN_JINJA_UNICODE_H
#define QN_JINJA_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_TCASE_MAX = 3 }; /* most code points that a case mapping can yield */

bool qn_tchar_space(uint32_t cp);
bool qn_tchar_alpha(uint32_t cp);
bool qn_tchar_decimal(uint32_t cp); /* a decimal digit 0 to 9 of any script */
bool qn_tchar_digit(uint32_t cp);   /* decimal digits, superscripts and circled digits */
bool qn_tchar_numeric(uint32_t cp); /* digits, fractions and other numeric characters */
bool qn_tchar_word(uint32_t cp);    /* \w of a regular expression */
bool qn_tchar_upper(uint32_t cp);
bool qn_tchar_lower(uint32_t cp);
bool qn_tchar_title(uint32_t cp);
bool qn_tchar_printable(uint32_t cp); /* repr() shows it unescaped */
bool qn_tchar_ignorable(uint32_t cp); /* does not end a word when it stands between letters; for the
                                         final sigma */

/* Maps the case of a code point; returns the number of resulting code points. */
size_t qn_tchar_to_upper(uint32_t cp, uint32_t out[static QN_TCASE_MAX]);
size_t qn_tchar_to_lower(uint32_t cp, uint32_t out[static QN_TCASE_MAX]);
size_t qn_tchar_to_title(uint32_t cp, uint32_t out[static QN_TCASE_MAX]);

#endif
