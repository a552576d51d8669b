/* A client that waits for something which cannot be called off: what is done for it goes on, and
 * ends, whether it is still there or not. Loop thread. */
#ifndef QN_API_WAITING_H
#define QN_API_WAITING_H

#include "base/error.h"
#include "io/http_server.h"

#include <stdbool.h>

struct qn_waiting {
    struct qn_http *http; /* NULL: the client is gone, or has its answer */
};

/* w must stay where it is until one of the two below. */
void qn_waiting_begin(struct qn_waiting *w, struct qn_http *h);

/* It has not even begun: the request is the caller's again. */
void qn_waiting_never_mind(struct qn_waiting *w);

/* It is over. True: w->http waits for the caller's answer. False: nobody does, since the client is
 * gone or, where e is not NULL, has been answered with this error. */
bool qn_waiting_end(struct qn_waiting *w, const struct qn_error *e);

#endif
