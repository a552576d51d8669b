/* Parses the target of an HTTP request (RFC 9112, 3.2; RFC 3986): its forms, its path and its
 * query. Pure. */
#ifndef QN_IO_HTTP_TARGET_H
#define QN_IO_HTTP_TARGET_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* True for a target that is valid with this method: "/path?query" or "http://host/path" with any,
 * "*" with OPTIONS only. Fragments and CONNECT's form are invalid. *authority: lent, host and port
 * of the second form, else NULL. */
bool qn_target_ok(const char *method, const char *target, size_t n, const char **authority,
                  size_t *authority_len);

/* Splits a request target: "/v1/x?a=b" or "http://host/v1/x?a=b" or "*". Both parts are copied to
 * the arena; the path is percent-decoded, the query is not. False: invalid escapes, a NUL, not
 * UTF-8. */
bool qn_target_split(const char *target, size_t n, struct qn_arena *a, char **path, char **query);

/* Appends a decoded path in the form of a target: characters that RFC 3986 does not allow in a path
 * are percent-encoded. */
void qn_target_escape(struct qn_buf *out, const char *path);

/* The first value of name in a raw query, decoded ('+' is a space), in the arena; NULL: absent or
 * malformed, or the arena is full. Only the value, and names written with escapes, use memory of
 * the arena. */
const char *qn_query_find(const char *query, const char *name, struct qn_arena *a);

#endif
