/* A circuit breaker: a server that fails again and again is left alone for a while, then asked one
 * harmless question, and used again when it answers. A pure table; the caller has the clock. */
#ifndef QN_BRIDGE_BREAKER_H
#define QN_BRIDGE_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    QN_BREAKER_FAILURES = 3,    /* in a row open it */
    QN_BREAKER_PAUSE_MS = 1000, /* first time it stays open; doubles with every failed probe */
    QN_BREAKER_PAUSE_MAX_MS = 60000
};

enum qn_breaker_state {
    QN_BREAKER_CLOSED,    /* used */
    QN_BREAKER_OPEN,      /* left alone until due_ms */
    QN_BREAKER_HALF_OPEN, /* a probe is on its way */
    QN_BREAKER_STATES
};

enum qn_breaker_event {
    QN_BREAKER_SUCCESS, /* it has answered: a request or a probe */
    QN_BREAKER_FAILURE, /* it has not, or not properly */
    QN_BREAKER_PROBE,   /* a probe begins; only where qn_breaker_due */
    QN_BREAKER_EVENTS
};

struct qn_breaker {
    enum qn_breaker_state state; /* all zero: closed */
    int failures;                /* in a row */
    int64_t pause_ms;            /* of the present or last opening; 0: none yet */
    int64_t due_ms;              /* OPEN: when to probe */
};

void qn_breaker_step(struct qn_breaker *b, enum qn_breaker_event ev, int64_t now_ms);
/* Open, and its pause is over. */
bool qn_breaker_due(const struct qn_breaker *b, int64_t now_ms);
const char *qn_breaker_state_name(enum qn_breaker_state s); /* "closed", "open", "half-open" */

#endif
