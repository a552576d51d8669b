/* Which user of this machine is at the other end of a connection: the kernel says whose a socket
 * is, in answer to a question (sock_diag(7)) or, where it has been built without that, in its
 * tables of sockets (proc_pid_net_tcp(5)). Both show the same, and only the kernel writes it. */
#ifndef QN_IO_PEER_H
#define QN_IO_PEER_H

#include "io/http_server.h"

#include <stdbool.h>
#include <sys/types.h>

/* True for a connection from this machine over its loopback addresses. */
bool qn_peer_is_here(const struct qn_http_ends *ends);

/* *uid: whose program the other end is; asked once for each connection. False when it is not here
 * or the kernel does not say. */
bool qn_peer_user(const struct qn_http_ends *ends, uid_t *uid);

/* For those who ask often, or will not be allowed to open a socket later: a descriptor to ask with,
 * which the caller closes; -1: the kernel has been built without it. */
int qn_peer_open(void);
/* The same by this descriptor alone: a question and an answer of microseconds, and no walk through
 * tables. False also for a connection that its client has closed. */
bool qn_peer_ask(int fd, const struct qn_http_ends *ends, uid_t *uid);

enum qn_peer {
    QN_PEER_OTHER,  /* another user, or another machine */
    QN_PEER_OWN,    /* the server's own user, or root */
    QN_PEER_UNKNOWN /* a user of this machine that the kernel does not name */
};
enum qn_peer qn_peer_is(const struct qn_http_ends *ends);

/* *uid: whose socket has these ends, seen from the other side, in a table of the form of
 * /proc/net/tcp or /proc/net/tcp6. False: it has no connected socket with an owner, or cannot
 * be read. */
bool qn_peer_look_up(const char *table, const struct qn_http_ends *ends, uid_t *uid);

#endif
