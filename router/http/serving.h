/* The server while it runs: what any of its parts needs that works for clients. One value, made at
 * the start and lent to all. Loop thread only. */
#ifndef QN_HTTP_SERVING_H
#define QN_HTTP_SERVING_H

#include <stdbool.h>
#include <stdint.h>

struct qn_serving {
    struct qn_loop *loop;
    struct qn_auth *auth; /* who may ask */
    int64_t started_ms;
    bool stopping; /* SIGTERM has come: nothing new is begun */
    bool closed;   /* the catalog has been closed: the loop is about to end */
};

#endif
