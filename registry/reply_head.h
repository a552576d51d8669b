/* What a download needs to know from the head of an HTTP reply: RFC 9110. Foreign bytes; pure. */
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
    bool ranged; /* there is a Content-Range in bytes that can be read; without one, all three are
                    -1 */
    int64_t first, last;        /* the range, both inclusive; -1 for an unsatisfied one */
    int64_t total;              /* of the whole file, or -1 where it says '*' */
    int retry_after_s;          /* or -1; at most QN_WEB_RETRY_AFTER_MAX_S + 1 */
    bool encoded;               /* a Content-Encoding other than identity */
    char etag[QN_WEB_ETAG_MAX]; /* with its quotes; "" where there is none or it is malformed */
    char modified[QN_REPLY_DATE_MAX];  /* Last-Modified as written; "" where none or too long */
    char location[QN_WEB_URL_MAX + 1]; /* of a redirect, as written; "" where none or too long */
};

/* Takes one header line with or without its line end. A status line begins a new head, so replies
 * of 1xx and of earlier hops leave nothing. wall_ms: now, for dates. */
void qn_reply_head_line(struct qn_reply_head *h, const char *line, size_t n, int64_t wall_ms);

/* An ETag that stands for the same bytes, not merely for the same meaning (RFC 9110, 8.8.1). */
bool qn_etag_strong(const char *etag);

#endif
