/* Who asks: one short name per client, so that queues can be fair, limits can be kept and counts
 * can be told apart. It is a name, not a proof: what a client may do is decided by its key alone.
 */
#ifndef QN_ROUTER_CLIENT_ID_H
#define QN_ROUTER_CLIENT_ID_H

#include "io/http_server.h"

enum { QN_CLIENT_ID_MAX = 64 };

/* The name that a key is bound to wins (nobody can pass for somebody else's key); then what the
 * client calls itself, then its program, then "anonymous". Any may be NULL or blank. Printable
 * ASCII without blanks at its ends, at most QN_CLIENT_ID_MAX bytes; other bytes become '_'. Pure.
 */
void qn_client_name(const char *key_name, const char *named, const char *agent,
                    char out[static QN_CLIENT_ID_MAX + 1]);

/* The client's own name for its request, X-Client-Request-Id or else X-Request-Id, with the same
 * care; NULL: it has none. Lent for the request's life. */
const char *qn_client_request_id(struct qn_http *h);

/* The client of a request, from X-Client-Id and User-Agent. Lent for the request's life. */
const char *qn_client_id(struct qn_http *h);

#endif
