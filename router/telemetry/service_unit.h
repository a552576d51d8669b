/* Finds the systemd unit that started this process, so that users can be told how to stop it. */
#ifndef QN_TELEMETRY_SERVICE_UNIT_H
#define QN_TELEMETRY_SERVICE_UNIT_H

#include "base/buf.h"

#include <stdbool.h>
#include <sys/types.h>

enum { QN_SERVICE_UNIT_NAME_MAX = 127 };

struct qn_service_unit {
    bool there; /* systemd started the process directly */
    bool user;  /* a unit of the user's service manager, not of the system's */
    char name[QN_SERVICE_UNIT_NAME_MAX + 1]; /* "quinced.service"; "": unknown */
};

/* env: NAME=VALUE strings that end with NULL; cgroups: the text of /proc/self/cgroup. A program
 * started by a program of a unit does not count as started by systemd. Pure. Source:
 * systemd.exec(5), SYSTEMD_EXEC_PID; cgroups(7), /proc/PID/cgroup. */
void qn_service_unit_read(const char *const *env, const char *cgroups, pid_t pid,
                          struct qn_service_unit *out);

/* Like qn_service_unit_read, for this process. */
void qn_service_unit_look(const char *const *env, struct qn_service_unit *out);

/* Appends the command that stops the unit. socket: also stop the socket unit of the same name,
 * which would start the service again at the next request. */
void qn_service_unit_stop_command(const struct qn_service_unit *u, bool socket, struct qn_buf *out);

#endif
