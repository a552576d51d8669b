/* What Python knows about characters: classes and letter case. */
#ifndef QN_JINJA_UNICODE_H
#define QN_JINJA_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_TCASE_MAX = 3 }; /* most code points that one becomes when its case changes */

bool qn_tchar_space(uint32_t cp);
bool qn_tchar_alpha(uint32_t cp);
bool qn_tchar_decimal(uint32_t cp); /* 0 to 9 in some script */
bool qn_tchar_digit(uint32_t cp);   /* also superscripts and circled digits */
bool qn_tchar_numeric(uint32_t cp); /* also fractions and other numbers */
bool qn_tchar_word(uint32_t cp);    /* \w of a regular expression */
bool qn_tchar_upper(uint32_t cp);
bool qn_tchar_lower(uint32_t cp);
bool qn_tchar_title(uint32_t cp);
bool qn_tchar_printable(uint32_t cp); /* repr() shows it as it is */
bool qn_tchar_ignorable(uint32_t cp); /* between letters it does not end a word: final sigma */

/* A code point in other case; gives the number of code points. */
size_t qn_tchar_to_upper(uint32_t cp, uint32_t out[static QN_TCASE_MAX]);
size_t qn_tchar_to_lower(uint32_t cp, uint32_t out[static QN_TCASE_MAX]);
size_t qn_tchar_to_title(uint32_t cp, uint32_t out[static QN_TCASE_MAX]);

#endif
