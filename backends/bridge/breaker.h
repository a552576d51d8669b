/* A circuit breaker. After several consecutive failures a server receives no requests for a while;
 * then one harmless probe is sent, and the server is used again when it replies. A pure state
 * table; the caller supplies the time. */
#ifndef QN_BRIDGE_BREAKER_H
#define QN_BRIDGE_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    QN_BREAKER_FAILURES = 3,    /* consecutive failures that open the breaker */
    QN_BREAKER_PAUSE_MS = 1000, /* how long the breaker stays open at first; doubles after every
                                   failed probe */
    QN_BREAKER_PAUSE_MAX_MS = 60000
};

enum qn_breaker_state {
    QN_BREAKER_CLOSED,    /* the server is used */
    QN_BREAKER_OPEN,      /* the server receives no requests until due_ms */
    QN_BREAKER_HALF_OPEN, /* a probe is in progress */
    QN_BREAKER_STATES
};

enum qn_breaker_event {
    QN_BREAKER_SUCCESS, /* the server has replied to a request or a probe */
    QN_BREAKER_FAILURE, /* the server has not replied, or not correctly */
    QN_BREAKER_PROBE,   /* a probe begins; only if qn_breaker_due */
    QN_BREAKER_EVENTS
};

struct qn_breaker {
    enum qn_breaker_state state; /* zero-initialised: closed */
    int failures;                /* number of consecutive failures */
    int64_t pause_ms;            /* duration of the current or last pause; 0: none */
    int64_t due_ms;              /* if OPEN: when to send a probe */
};

void qn_breaker_step(struct qn_breaker *b, enum qn_breaker_event ev, int64_t now_ms);
/* Whether the breaker is open and its pause is over. */
bool qn_breaker_due(const struct qn_breaker *b, int64_t now_ms);
const char *qn_breaker_state_name(enum qn_breaker_state s); /* "closed", "open", "half-open" */

#endif
