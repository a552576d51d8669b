/* The head of an HTTP/1.1 request: is it complete, is it well formed (RFC 9112), and what its
 * target says. Pure: works on bytes that have been peeked at, before libmicrohttpd sees them,
 * because only then can a malformed head be answered in our own words. */
#ifndef QN_IO_HTTP_HEAD_H
#define QN_IO_HTTP_HEAD_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_HTTP_METHOD_MAX = 32 };

struct qn_head {
    int status; /* 0: more bytes are needed; 200: complete and well formed; else the answer: 400,
                   431, 505 */
    size_t len; /* bytes of the head with its empty line, when complete */
    char method[QN_HTTP_METHOD_MAX]; /* as far as known, else "" */
    const char *target;              /* lent from the bytes, or NULL */
    size_t target_len;
    bool upgrade; /* when complete: it has a field Upgrade */
};

/* What the fields of a head declare: more than one opinion about where the body ends, or about whom
 * the request is for, is an attack. Begin with zeros. */
struct qn_framing {
    bool has_length, chunked, has_host;
    bool upgrade; /* not framing, but the same look at every field */
    int64_t length;
};

/* Takes one field. False: malformed, or it contradicts another one. */
bool qn_framing_add(struct qn_framing *f, const char *name, size_t name_len, const char *value,
                    size_t n);
/* The same for a line without its end. False also: no name, white space before the colon, a folded
 * line (RFC 9112, 5.1, 5.2). */
bool qn_framing_line(struct qn_framing *f, const char *line, size_t n);
/* All fields have been added. */
bool qn_framing_ok(const struct qn_framing *f);

/* Looks at the first n bytes of a connection. max: most bytes a head may have. */
void qn_head_check(const char *p, size_t n, size_t max, struct qn_head *out);

/* The value of a field of a complete, well formed head of n bytes, without white space around it;
 * several of the same name are joined by ", " (RFC 9110, 5.3). A copy in the arena; NULL: absent.
 */
const char *qn_head_field(const char *head, size_t n, const char *name, struct qn_arena *a);

/* True when a field's value, a list with commas, has this token; case does not matter. NULL: no. */
bool qn_head_lists(const char *value, const char *token);

/* A request target in parts: "/v1/x?a=b" or "http://host/v1/x?a=b" or "*". Both parts are copied to
 * the arena; the path is percent-decoded, the query is not. False: bad escapes, a NUL, not UTF-8.
 */
bool qn_target_split(const char *target, size_t n, struct qn_arena *a, char **path, char **query);

/* Appends a decoded path as a target has it: what RFC 3986 does not allow in a path is
 * percent-encoded. */
void qn_target_escape(struct qn_buf *out, const char *path);

/* The first value of name in a raw query, decoded ('+' is a space), in the arena; NULL: absent or
 * malformed. */
const char *qn_query_find(const char *query, const char *name, struct qn_arena *a);

#endif
