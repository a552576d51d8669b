/* Parses the head of an HTTP/1.1 request: whether it is complete, and whether it is well formed
 * (RFC 9112). Pure, and the same for the first and every later head of a connection. */
#ifndef QN_IO_HTTP_HEAD_H
#define QN_IO_HTTP_HEAD_H

#include "base/arena.h"
#include "io/http_framing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_HTTP_METHOD_MAX = 32,
    QN_HTTP_FIELDS_MAX = 128 /* header fields of one head */
};

struct qn_head {
    int status;      /* 0: more bytes are needed; 200: complete and well formed; else the status to
                        refuse with: 400, 414, 431, 505 */
    const char *why; /* a string constant: the reason for a refusal, or NULL */
    size_t len;      /* bytes of a complete head including the empty line */
    char method[QN_HTTP_METHOD_MAX]; /* "" while not known */
    const char *target;              /* lent from the bytes, or NULL */
    size_t target_len;
    int minor;                 /* HTTP/1.minor */
    struct qn_framing framing; /* its host is lent from the bytes; valid when complete */
    /* Private. */
    /* `at`: begin of the next line, whose end is not before `scanned`. */
    size_t at, scanned, target_at, host_at;
    size_t fields;
    bool started;
};

/* Checks the first n bytes of a request. max: limit of a head's bytes. */
void qn_head_check(const char *p, size_t n, size_t max, struct qn_head *out);

/* The same incrementally: h begins zeroed; each call passes the bytes of the earlier calls, which
 * may have moved in memory, and possibly more. Only new bytes cost work. */
void qn_head_more(struct qn_head *h, const char *p, size_t n, size_t max);

/* The value of a field of a complete, valid head of n bytes, without surrounding white space;
 * fields with the same name are joined by ", " (RFC 9110, 5.3). A copy in the arena; NULL: absent.
 */
const char *qn_head_field(const char *head, size_t n, const char *name, struct qn_arena *a);

/* True when a field's value, a comma-separated list, contains this token; upper and lower case are
 * the same. NULL as the value: false. */
bool qn_head_lists(const char *value, const char *token);

#endif
