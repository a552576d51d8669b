/* The servers of a bridge: their addresses, kinds and states, and the probes that determine these.
 * Compute thread only. */
#ifndef QN_BRIDGE_UPSTREAMS_H
#define QN_BRIDGE_UPSTREAMS_H

#include "base/arena.h"
#include "bridge/ask.h"
#include "bridge/balance.h"
#include "bridge/exchange.h"
#include "contract/remote.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    QN_UPSTREAM_CONNECT_MS = 5000,
    QN_PROBE_SILENCE_MS = 10000,
    QN_PROBE_TOTAL_MS = 30000, /* requests and loading wait for a probe, so its total time is
                                  limited */
    QN_PROBE_BYTES_MAX = 4 * 1024 * 1024
};

struct qn_up {
    struct qn_ups *all;
    const char *url;           /* base address */
    const char *key, *ca_file; /* or NULL */
    char who[256];             /* host and port, for messages */
    struct qn_ask_to to;       /* model NULL: to be read from the server's list of models */
    bool asks_flavour, asks_model;
    int64_t context;           /* tokens, from the server's list of models; 0: not reported */
    struct qn_exchange *probe; /* probe in progress; NULL: none */
    struct qn_buf answer;      /* reply to the probe */
    struct qn_error error;     /* why the server was last unusable; code QN_OK: it was usable */
};

struct qn_ups {
    struct qn_exchanges *xs;
    struct qn_arena *arena;
    struct qn_up v[QN_REMOTE_UPSTREAMS_MAX];
    struct qn_balance balance;
    bool own; /* the only server is this process's own child; the circuit breaker is not used */
};

/* The strings of def are borrowed and must outlive u. */
void qn_upstreams_init(struct qn_ups *u, struct qn_exchanges *xs, const struct qn_remote *def);
void qn_upstreams_deinit(struct qn_ups *u);

/* Requests the list of models; the result is reported to the circuit breaker. */
void qn_upstream_probe(struct qn_up *u);
/* Begins all probes that are due. */
void qn_upstreams_probe_due(struct qn_ups *u, int64_t now_ms);
bool qn_upstreams_probing(const struct qn_ups *u); /* whether a probe is in progress */

/* Masks the server's key in an error message, because some servers repeat the request in their
 * replies. */
void qn_upstream_hide_key(const struct qn_up *u, struct qn_error *e);

/* Records whether a request to the server succeeded. */
void qn_upstream_note(struct qn_up *u, bool good, const struct qn_error *why);

#endif
