/* The running server: what all parts need that serve clients. One value, made at start and lent to
 * all of them. Loop thread only. */
#ifndef QN_HTTP_SERVING_H
#define QN_HTTP_SERVING_H

#include <stdbool.h>
#include <stdint.h>

struct qn_serving {
    struct qn_loop *loop;
    struct qn_auth *auth;         /* access control */
    struct qn_watchers *watchers; /* open streams that may be idle (watchers.h) */
    int64_t started_ms;
    bool stopping; /* SIGTERM has arrived: no new work is begun */
    bool closed;   /* the catalog has been closed: the loop is about to end */
};

#endif
