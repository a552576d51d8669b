/* Telling the service manager that started us (systemd, or whatever sets NOTIFY_SOCKET) how the
 * server is: ready, reloading, stopping, alive. One datagram of NAME=VALUE lines each. Without such
 * a manager every call does nothing. Loop thread only.
 *
 * Source: sd_notify(3), "Standalone Implementations"; sd_watchdog_enabled(3). */
#ifndef QN_TELEMETRY_NOTIFY_H
#define QN_TELEMETRY_NOTIFY_H

#include "io/loop.h"

#include <stdint.h>

struct qn_notify;

/* Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID out of NAME=VALUE words ending in NULL. NULL:
 * nobody wants to be told, or the socket cannot be reached, which the log says. */
struct qn_notify *qn_notify_new(const char *const *env);
void qn_notify_free(struct qn_notify *n); /* NULL allowed, here and below */

/* The server takes requests. From now on the manager gets a sign of life from the loop twice in
 * each period that it has named, so a loop that hangs is noticed. status: for people, lent. */
void qn_notify_ready(struct qn_notify *n, struct qn_loop *l, const char *status);

/* Settings are being read again; ready ends it. */
void qn_notify_reloading(struct qn_notify *n);

/* The server goes, and may need so long for it. */
void qn_notify_stopping(struct qn_notify *n, int64_t limit_ms, const char *status);

#endif
