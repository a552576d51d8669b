/* Which unit of systemd has started this process, so that people can be told how to stop it. */
#ifndef QN_TELEMETRY_SERVICE_UNIT_H
#define QN_TELEMETRY_SERVICE_UNIT_H

#include "base/buf.h"

#include <stdbool.h>
#include <sys/types.h>

enum { QN_SERVICE_UNIT_NAME_MAX = 127 };

struct qn_service_unit {
    bool there; /* systemd has started the process itself */
    bool user;  /* the unit is of a user's manager, not the machine's */
    char name[QN_SERVICE_UNIT_NAME_MAX + 1]; /* "quinced.service"; "": not known */
};

/* env: NAME=VALUE words ending in NULL; cgroups: the text of /proc/self/cgroup. A program that a
 * unit's program has started is not the unit's. Pure.
 * Source: systemd.exec(5), SYSTEMD_EXEC_PID; cgroups(7), /proc/PID/cgroup. */
void qn_service_unit_read(const char *const *env, const char *cgroups, pid_t pid,
                          struct qn_service_unit *out);

/* The same of this process. */
void qn_service_unit_look(const char *const *env, struct qn_service_unit *out);

/* Appends the command that stops the unit; socket: together with the socket unit of its name, which
 * would start it again at the next request. */
void qn_service_unit_stop_command(const struct qn_service_unit *u, bool socket, struct qn_buf *out);

#endif
