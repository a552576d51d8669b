/* Finds out which user of this machine is at the other end of a connection. The kernel gives the
 * owner of a socket in reply to a sock_diag(7) request or, if it is built without that, in its
 * tables of sockets (proc_pid_net_tcp(5)). Both have the same content, which no other program can
 * change. */
#ifndef QN_IO_PEER_H
#define QN_IO_PEER_H

#include "io/http_server.h"

#include <stdbool.h>
#include <sys/types.h>

/* True for a connection from this machine over its loopback addresses. */
bool qn_peer_is_here(const struct qn_http_ends *ends);

/* *uid: the user whose process is at the other end; determined once for each connection. False when
 * that end is not on this machine or the kernel does not name the user. */
bool qn_peer_user(const struct qn_http_ends *ends, uid_t *uid);

/* For callers that ask often, or that cannot open a socket later (sandbox): returns a descriptor
 * for qn_peer_ask, which the caller closes; -1: the kernel is built without sock_diag. */
int qn_peer_open(void);
/* Like qn_peer_user, but only by this descriptor: one request and reply of microseconds, without a
 * search of tables. Also false for a connection that its client has closed. */
bool qn_peer_ask(int fd, const struct qn_http_ends *ends, uid_t *uid);

enum qn_peer {
    QN_PEER_OTHER,  /* another user, or another machine */
    QN_PEER_OWN,    /* the user that the server runs as, or root */
    QN_PEER_UNKNOWN /* a user of this machine; the kernel does not give the UID */
};
enum qn_peer qn_peer_is(const struct qn_http_ends *ends);

/* *uid: the owner of the socket with these endpoints, seen from the other side, in a table in the
 * format of /proc/net/tcp or /proc/net/tcp6. False: there is no such connected socket with an
 * owner, or the table cannot be read. */
bool qn_peer_look_up(const char *table, const struct qn_http_ends *ends, uid_t *uid);

#endif
