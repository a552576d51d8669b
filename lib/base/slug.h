/* Readable ASCII names from texts of any script. Pure. */
#ifndef QN_BASE_SLUG_H
#define QN_BASE_SLUG_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the text's ASCII letters, digits and ._ into out, at most size - 1 bytes and a NUL. Latin
 * letters with marks become their base letters; whatever else stands between becomes one '-', none
 * at the ends. False when letters of another script were left out, or nothing remains: the result
 * is not what the text says. */
bool qn_slug(const char *text, char *out, size_t size);

#endif
