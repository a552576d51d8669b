/* Parses the headers of an HTTP reply that a download needs (RFC 9110). Untrusted bytes; pure. */
#ifndef QN_REGISTRY_REPLY_HEAD_H
#define QN_REGISTRY_REPLY_HEAD_H

#include "registry/web.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_REPLY_DATE_MAX = 48 };

struct qn_reply_head {
    int status;     /* 0: no status line yet */
    int64_t length; /* Content-Length, or -1 */
    bool ranged; /* a valid Content-Range in bytes was sent; without one, the next three are -1 */
    int64_t first, last;               /* the range, both inclusive; -1 if it is unsatisfied */
    int64_t total;                     /* of the whole file, or -1 if the header has '*' */
    int retry_after_s;                 /* or -1; at most QN_WEB_RETRY_AFTER_MAX_S + 1 */
    bool encoded;                      /* a Content-Encoding other than identity */
    char etag[QN_WEB_ETAG_MAX];        /* with its quotes; "" if it is missing or malformed */
    char modified[QN_REPLY_DATE_MAX];  /* Last-Modified as sent; "" if it is missing or too long */
    char location[QN_WEB_URL_MAX + 1]; /* of a redirect, as sent; "" if it is missing or too long */
};

/* Parses one header line with or without its line end. A status line clears the struct first, so
 * that it has no values of 1xx replies and earlier hops. wall_ms: current time, for dates. */
void qn_reply_head_line(struct qn_reply_head *h, const char *line, size_t n, int64_t wall_ms);

/* True for a strong ETag, one that stands for identical bytes (RFC 9110, 8.8.1). */
bool qn_etag_strong(const char *etag);

#endif
