/* Load balancing: chooses which of several servers receives the next request. Usable servers take
 * turns in proportion to their weights. Pure. Algorithm: smooth weighted round robin as in nginx;
 * for each request every server's credit grows by its weight, the server with the most credit is
 * chosen, and its credit is reduced by the sum of all weights. */
#ifndef QN_BRIDGE_BALANCE_H
#define QN_BRIDGE_BALANCE_H

#include "bridge/breaker.h"
#include "contract/remote.h"

#include <stddef.h>

struct qn_balance {
    size_t n; /* 1 to QN_REMOTE_UPSTREAMS_MAX */
    struct {
        int64_t weight; /* 1 to QN_REMOTE_WEIGHT_MAX */
        int64_t credit;
        struct qn_breaker breaker;
    } v[QN_REMOTE_UPSTREAMS_MAX];
};

/* Chooses the next server whose breaker is closed, preferably not one in the mask `tried` (bit i:
 * server i). -1: no breaker is closed. */
int qn_balance_pick(struct qn_balance *b, unsigned tried);

#endif
