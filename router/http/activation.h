/* Sockets that a service manager has opened for us (socket activation): the server takes them
 * instead of opening its own, so it can be started by the first connection and restarted without
 * refusing one.
 *
 * Source: sd_listen_fds(3): LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES, descriptors from 3 on. */
#ifndef QN_HTTP_ACTIVATION_H
#define QN_HTTP_ACTIVATION_H

#include "answers/profile.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { QN_ACTIVATION_MAX = 16, QN_ACTIVATION_FIRST_FD = 3 };

struct qn_activation {
    struct {
        int fd;
        int port;
        bool main;                        /* takes the place of the settings host and port */
        const struct qn_profile *profile; /* not main: what its clients expect; else NULL */
    } v[QN_ACTIVATION_MAX];
    size_t n;
};

/* Reads NAME=VALUE words ending in NULL; first_fd is QN_ACTIVATION_FIRST_FD but in tests. The
 * sockets are made non-blocking and close-on-exec. One whose name (FileDescriptorName= of its unit)
 * is that of a profile gets this profile; every other is a main one. Variables for another process
 * mean nothing. QN_EINVAL: too many, or one that is no TCP socket in listen. The descriptors are
 * the caller's. */
qn_err qn_activation_read(const char *const *env, int first_fd, struct qn_activation *out,
                          struct qn_error *e);

/* True when one of them listens on that port. */
bool qn_activation_has_port(const struct qn_activation *a, int port);

#endif
