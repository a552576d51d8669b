/* Checks whether a connection comes from the router. All users of this machine can reach a child's
 * port. Requests need the child's secret, but without this check other users could use up its
 * connections and the time of its loop. */
#ifndef QN_CHILD_OWN_PEER_H
#define QN_CHILD_OWN_PEER_H

#include <stdbool.h>
#include <sys/socket.h>

/* Returns a descriptor for queries to the kernel, which the caller closes. -1: the kernel does not
 * answer such queries; this is tested with a connection of this process to itself. Call it before
 * the sandbox is entered, which forbids new sockets. */
int qn_own_peer_open(void);

/* Whether the peer of an accepted socket, at addr, is a process of this process's user or of root.
 * Always true if peer_fd is -1. */
bool qn_own_peer_is(int peer_fd, int fd, const struct sockaddr_storage *addr);

#endif
