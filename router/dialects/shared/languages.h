/* Languages by their ISO 639 code and by their English name, as clients of speech endpoints write
 * them. A model's child decides which of them the model supports. */
#ifndef QN_DIALECTS_SHARED_LANGUAGES_H
#define QN_DIALECTS_SHARED_LANGUAGES_H

#include <stddef.h>

/* Returns the code of a language given as "de", "DE", "de-AT", "haw" or "German", written to out.
 * NULL: not a language. Unknown codes of two or three letters are accepted. */
const char *qn_language_code(const char *text, char *out, size_t n);

/* Returns "german" for "de"; the code itself if it is not in the list. */
const char *qn_language_name(const char *code);

#endif
