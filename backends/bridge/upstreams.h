/* The servers behind a bridge: addresses, what they are, how they are, and the probes that find
 * that out. Compute thread only. */
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
    QN_PROBE_TOTAL_MS = 30000, /* requests and loading wait for it: nobody may draw it out */
    QN_PROBE_BYTES_MAX = 4 * 1024 * 1024
};

struct qn_up {
    struct qn_ups *all;
    const char *url;           /* base address */
    const char *key, *ca_file; /* or NULL */
    char who[256];             /* host and port, for messages */
    struct qn_ask_to to;       /* model NULL: it is asked which it has */
    bool asks_flavour, asks_model;
    int64_t context;           /* tokens, as its list of models says; 0: it does not */
    struct qn_exchange *probe; /* on its way; NULL: none */
    struct qn_buf answer;      /* to the probe */
    struct qn_error error;     /* why it could not be used last; code QN_OK: it could */
};

struct qn_ups {
    struct qn_exchanges *xs;
    struct qn_arena *arena;
    struct qn_up v[QN_REMOTE_UPSTREAMS_MAX];
    struct qn_balance balance;
    bool own; /* the one server is this process's own child: it is never left alone */
};

/* def's strings are lent for good. */
void qn_upstreams_init(struct qn_ups *u, struct qn_exchanges *xs, const struct qn_remote *def);
void qn_upstreams_deinit(struct qn_ups *u);

/* Asks for the list of models; the outcome goes to the breaker. */
void qn_upstream_probe(struct qn_up *u);
/* Begins the probes that are due. */
void qn_upstreams_probe_due(struct qn_ups *u, int64_t now_ms);
bool qn_upstreams_probing(const struct qn_ups *u); /* one is on its way */

/* Takes its key out of what it said: some servers repeat what they were sent. */
void qn_upstream_hide_key(const struct qn_up *u, struct qn_error *e);

/* How a request to it went. */
void qn_upstream_note(struct qn_up *u, bool good, const struct qn_error *why);

#endif
