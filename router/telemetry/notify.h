/* Tells the service manager that started the server (systemd, or another one that sets
 * NOTIFY_SOCKET) the server's state: ready, reloading, stopping, alive. Each message is one
 * datagram of NAME=VALUE lines. Without such a manager every call does nothing. Loop thread only.
 *
 * Source: sd_notify(3), "Standalone Implementations"; sd_watchdog_enabled(3). */
#ifndef QN_TELEMETRY_NOTIFY_H
#define QN_TELEMETRY_NOTIFY_H

#include "io/loop.h"

#include <stdint.h>

struct qn_notify;

/* Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID from NAME=VALUE strings that end with NULL.
 * NULL: no manager expects messages, or its socket cannot be reached, which is logged. */
struct qn_notify *qn_notify_new(const char *const *env);
void qn_notify_free(struct qn_notify *n); /* NULL allowed, here and below */

/* Reports that the server accepts requests. From then on the loop sends a keep-alive message twice
 * in each watchdog period, so that the manager notices a loop that hangs. status: text for users,
 * borrowed. */
void qn_notify_ready(struct qn_notify *n, struct qn_loop *l, const char *status);

/* Reports that settings are being read again; qn_notify_ready ends this state. */
void qn_notify_reloading(struct qn_notify *n);

/* Reports that the server is stopping and may need up to limit_ms for it. */
void qn_notify_stopping(struct qn_notify *n, int64_t limit_ms, const char *status);

#endif
