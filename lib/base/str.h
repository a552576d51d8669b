/* Strings other than JSON: UTF-8, strict number parsing, ASCII comparison. */
#ifndef QN_BASE_STR_H
#define QN_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True when the n bytes are well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms). */
bool qn_utf8_valid(const char *s, size_t n);

/* Decodes one code point from the n > 0 bytes at s. Returns the bytes used; a malformed sequence
 * uses 1 byte and gives U+FFFD. */
size_t qn_utf8_decode(const char *s, size_t n, uint32_t *cp);

/* Writes cp as UTF-8 and returns the number of bytes, 1 to 4; not NUL-terminated. */
size_t qn_utf8_encode(uint32_t cp, char out[4]);

/* The length of the longest prefix of s[0..n) that does not end inside a UTF-8 character; an ending
 * that no further bytes can make valid is included. */
size_t qn_utf8_whole(const char *s, size_t n);

/* Parses a decimal number that is the whole string; false for any other character or if it is out
 * of range. */
bool qn_parse_i64(const char *s, int64_t *out);
bool qn_parse_f64(const char *s, double *out); /* finite only; '.' in every locale */

bool qn_str_eq(const char *a, const char *b);  /* NULL equals only NULL */
bool qn_str_ieq(const char *a, const char *b); /* ASCII case ignored */
bool qn_str_starts(const char *s, const char *prefix);
bool qn_str_ends(const char *s, const char *suffix);

/* The value of a variable in env, NAME=VALUE strings ending in NULL like environ; NULL: it is unset
 * or empty. env MAY be NULL. */
const char *qn_env_get(const char *const *env, const char *name);

/* Compares secrets in a time that depends only on the length of `given`. */
bool qn_secret_eq(const char *given, const char *expected);

#endif
