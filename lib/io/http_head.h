/* The head of an HTTP/1.1 request: is it complete, is it well formed (RFC 9112). Pure, and the same
 * for the first head of a connection and every later one. */
#ifndef QN_IO_HTTP_HEAD_H
#define QN_IO_HTTP_HEAD_H

#include "base/arena.h"
#include "io/http_framing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_HTTP_METHOD_MAX = 32,
    QN_HTTP_FIELDS_MAX = 128 /* of a head */
};

struct qn_head {
    int status; /* 0: more bytes are needed; 200: complete and well formed; else the answer: 400,
                   414, 431, 505 */
    const char *why;                 /* static: the reason for such an answer, or NULL */
    size_t len;                      /* bytes of the head with its empty line, when complete */
    char method[QN_HTTP_METHOD_MAX]; /* as far as known, else "" */
    const char *target;              /* lent from the bytes, or NULL */
    size_t target_len;
    int minor;                 /* of the version: HTTP/1.minor */
    struct qn_framing framing; /* its host is lent from the bytes and valid when complete */
    /* Private. */
    size_t at, scanned, target_at, host_at; /* where the next line begins; its end is not before */
    size_t fields;
    bool started;
};

/* Looks at the first n bytes of a request. max: most bytes a head may have. */
void qn_head_check(const char *p, size_t n, size_t max, struct qn_head *out);

/* The same in steps: h begins with zeros; each call has the bytes of the calls before, wherever
 * they lie now, and may have more. Work is done for new bytes alone. */
void qn_head_more(struct qn_head *h, const char *p, size_t n, size_t max);

/* The value of a field of a complete, well formed head of n bytes, without white space around it;
 * several of the same name are joined by ", " (RFC 9110, 5.3). A copy in the arena; NULL: absent.
 */
const char *qn_head_field(const char *head, size_t n, const char *name, struct qn_arena *a);

/* True when a field's value, a list with commas, has this token; case does not matter. NULL: no. */
bool qn_head_lists(const char *value, const char *token);

#endif
