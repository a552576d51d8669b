/* Whether a connection is the router's. A child's port can be reached by every user of this
 * machine, and although its requests need the child's secret, other users could take
 * all its connections and its loop's time. */
#ifndef QN_CHILD_OWN_PEER_H
#define QN_CHILD_OWN_PEER_H

#include <stdbool.h>
#include <sys/socket.h>

/* A descriptor to ask the kernel with, which the caller closes; -1: the kernel does not answer such
 * questions, which is tried with a connection of this process's own. To be called before the
 * sandbox, which allows no socket. */
int qn_own_peer_open(void);

/* True when the other end of an accepted socket, at addr, is a program of this process's user or of
 * root, and for every connection when peer_fd is -1. */
bool qn_own_peer_is(int peer_fd, int fd, const struct sockaddr_storage *addr);

#endif
