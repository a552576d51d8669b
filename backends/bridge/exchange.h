/* HTTP requests of one thread, side by side: libcurl's multi interface behind four verbs. https is
 * verified, redirects are not followed, no proxy is asked, nothing is read from the environment. */
#ifndef QN_BRIDGE_EXCHANGE_H
#define QN_BRIDGE_EXCHANGE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_EXCHANGE_TYPE_MAX = 128 };

struct qn_exchanges; /* all of them */
struct qn_exchange;  /* one */

struct qn_exchange_request {
    const char *url;
    const char *key;          /* sent as Authorization: Bearer; NULL: none */
    const char *ca_file;      /* certificates to trust; NULL: the system's */
    const char *content_type; /* of the body */
    const void *body;         /* lent until the exchange has ended; NULL: GET */
    size_t n;
    int64_t connect_ms; /* longest time until the connection stands */
    int64_t silence_ms; /* longest time without a byte, while it is not paused */
    int64_t total_ms;   /* longest time for all of it; 0: any */
};

struct qn_exchange_events {
    /* MUST. Bytes of the reply's body in order. Anything but QN_OK breaks the exchange off; end
     * is then told QN_ECANCELLED. */
    qn_err (*data)(void *ctx, int status, const char *content_type, const void *p, size_t n);
    /* MUST. Once, last. e: NULL where the reply came whole; else QN_ETIMEOUT, QN_EIO (no
     * connection, or it broke), QN_EFORMAT (a certificate that is not to be trusted) or
     * QN_ECANCELLED, and status is 0 while no head had come. The exchange is freed when it returns.
     * It may begin others. */
    void (*end)(void *ctx, int status, const struct qn_error *e);
};

qn_err qn_exchanges_new(struct qn_exchanges **out, struct qn_error *e);
void qn_exchanges_free(struct qn_exchanges *xs); /* NULL allowed; those that run are broken off */

qn_err qn_exchange_begin(struct qn_exchanges *xs, const struct qn_exchange_request *rq,
                         const struct qn_exchange_events *ev, void *ctx, struct qn_exchange **out,
                         struct qn_error *e);
/* Stops reading, or goes on: the server's sending comes to rest when the sockets are full. Not from
 * within data. */
void qn_exchange_pause(struct qn_exchange *x, bool paused);
/* From now on no byte may take longer than this. Also from within data. */
void qn_exchange_hurry(struct qn_exchange *x, int64_t silence_ms);
void qn_exchange_cancel(struct qn_exchange *x); /* closes the connection; no callback follows. Not
                                                   from within data */

/* Waits for at most wait_ms until something happens, then handles all that has. The callbacks come
 * from here. */
void qn_exchanges_run(struct qn_exchanges *xs, int wait_ms);
void qn_exchanges_wake(struct qn_exchanges *xs); /* ends that waiting; any thread */

#endif
