/* Which user of this machine is at the other end of a connection: the kernel says whose a socket
 * is. */
#ifndef QN_ROUTER_PEER_H
#define QN_ROUTER_PEER_H

#include "io/http_server.h"

#include <stdbool.h>
#include <sys/types.h>

/* True for a connection from this machine over its loopback addresses. */
bool qn_peer_is_here(const struct qn_http_ends *ends);

/* *uid: whose program the other end is. False when it is not here or the kernel does not say. */
bool qn_peer_user(const struct qn_http_ends *ends, uid_t *uid);

/* True when it is the server's own user, or root. */
bool qn_peer_is_own(const struct qn_http_ends *ends);

#endif
