/* Makes readable ASCII names from text in any script. Pure. */
#ifndef QN_BASE_SLUG_H
#define QN_BASE_SLUG_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the text's ASCII letters, digits, '.' and '_' into out, at most size - 1 bytes and a NUL.
 * Accented Latin letters become their base letters; each run of other characters becomes one '-',
 * with none at the ends. False when letters of another script were dropped or nothing remains: then
 * the result does not represent the text. */
bool qn_slug(const char *text, char *out, size_t size);

#endif
