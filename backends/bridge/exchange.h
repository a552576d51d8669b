/* Concurrent HTTP requests on one thread, based on libcurl's multi interface. https certificates
 * are verified, redirects are not followed, proxies are not used, and nothing is read from the
 * environment. */
#ifndef QN_BRIDGE_EXCHANGE_H
#define QN_BRIDGE_EXCHANGE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_EXCHANGE_TYPE_MAX = 128 };

struct qn_exchanges; /* a set of concurrent requests */
struct qn_exchange;  /* one request */

struct qn_exchange_request {
    const char *url;
    const char *key;          /* sent as Authorization: Bearer; NULL: none */
    const char *ca_file;      /* trusted certificates; NULL: those of the system */
    const char *content_type; /* content type of the body */
    const void *body;         /* borrowed until the exchange has ended; NULL: the method is GET */
    size_t n;
    int64_t connect_ms; /* maximum time to establish the connection */
    int64_t silence_ms; /* maximum time without data while the exchange is not paused */
    int64_t total_ms;   /* maximum total time; 0: unlimited */
};

struct qn_exchange_events {
    /* MUST. Receives the bytes of the reply's body in order. Any result other than QN_OK aborts the
     * exchange; `end` then receives QN_ECANCELLED. */
    qn_err (*data)(void *ctx, int status, const char *content_type, const void *p, size_t n);
    /* MUST. Called once, as the last callback. e: NULL if the reply is complete; else QN_ETIMEOUT,
     * QN_EIO (connecting failed or the connection broke), QN_EFORMAT (an untrusted certificate) or
     * QN_ECANCELLED. status is 0 if no header was received. The exchange is freed before this call
     * and may not be used. The callback may begin other exchanges. */
    void (*end)(void *ctx, int status, const struct qn_error *e);
};

qn_err qn_exchanges_new(struct qn_exchanges **out, struct qn_error *e);
void qn_exchanges_free(struct qn_exchanges *xs); /* NULL allowed; running exchanges are aborted */

qn_err qn_exchange_begin(struct qn_exchanges *xs, const struct qn_exchange_request *rq,
                         const struct qn_exchange_events *ev, void *ctx, struct qn_exchange **out,
                         struct qn_error *e);
/* Stops or resumes reading; while reading is stopped, the server blocks when the socket buffers are
 * full. Must not be called within `data`. */
void qn_exchange_pause(struct qn_exchange *x, bool paused);
/* Reduces the maximum time without data. May be called within `data`. */
void qn_exchange_hurry(struct qn_exchange *x, int64_t silence_ms);
void qn_exchange_cancel(struct qn_exchange *x); /* closes the connection without further callbacks.
                                                   Must not be called within `data` */

/* Waits up to wait_ms for activity and then handles all of it. Callbacks are only called from
 * here. */
void qn_exchanges_run(struct qn_exchanges *xs, int wait_ms);
void qn_exchanges_wake(struct qn_exchanges *xs); /* ends the wait; any thread */

#endif
