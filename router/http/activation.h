/* Socket activation: the server takes over listening sockets that a service manager has opened, so
 * that it can be started by the first connection and restarted without refusing one.
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
        bool main;                        /* replaces the settings host and port */
        const struct qn_profile *profile; /* unless main: the profile of its clients; else NULL */
    } v[QN_ACTIVATION_MAX];
    size_t n;
};

/* Reads NAME=VALUE strings ending in NULL; first_fd is QN_ACTIVATION_FIRST_FD except in tests. The
 * sockets are made non-blocking and close-on-exec. A socket whose name (FileDescriptorName= of its
 * unit) is that of a profile gets this profile; all others are main ones. Variables meant for
 * another process are ignored. QN_EINVAL: too many, or one that is not a listening TCP socket. The
 * caller owns the descriptors. */
qn_err qn_activation_read(const char *const *env, int first_fd, struct qn_activation *out,
                          struct qn_error *e);

/* True when one of them listens on that port. */
bool qn_activation_has_port(const struct qn_activation *a, int port);

#endif
