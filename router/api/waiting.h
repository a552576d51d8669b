/* A client that waits for an operation which cannot be cancelled: the operation continues and ends,
 * whether or not the client is still connected. Loop thread. */
#ifndef QN_API_WAITING_H
#define QN_API_WAITING_H

#include "base/error.h"
#include "io/http_server.h"

#include <stdbool.h>

struct qn_waiting {
    struct qn_http *http; /* NULL: the client has disconnected, or has been answered */
};

/* w must keep its address until one of the next two is called. */
void qn_waiting_begin(struct qn_waiting *w, struct qn_http *h);

/* The operation has not begun: the caller handles the request again. */
void qn_waiting_never_mind(struct qn_waiting *w);

/* The operation has ended. True: the caller answers w->http. False: there is no client to answer,
 * because it has disconnected or, if e is not NULL, has been answered with this error. */
bool qn_waiting_end(struct qn_waiting *w, const struct qn_error *e);

#endif
