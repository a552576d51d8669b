/* Languages by their ISO 639 code and by their English name, as clients of speech endpoints write
 * them. Which of them a model knows is for its child to say. */
#ifndef QN_DIALECTS_SHARED_LANGUAGES_H
#define QN_DIALECTS_SHARED_LANGUAGES_H

#include <stddef.h>

/* The code of a language given as "de", "DE", "de-AT", "haw" or "German"; it is written to out.
 * NULL: this names no language. A code of two or three letters that is not listed is taken. */
const char *qn_language_code(const char *text, char *out, size_t n);

/* "german" for "de"; the code itself when it is not listed. */
const char *qn_language_name(const char *code);

#endif
