/* Which of several servers gets the next request: those that can be used take turns by their
 * weights. Pure. Source of the turns: smooth weighted round robin as nginx has it; each round every
 * server's credit grows by its weight, the richest is taken and pays the sum of all weights. */
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

/* The next one whose breaker is closed, preferably not among those of the mask `tried` (bit i:
 * number i); -1: none is closed. */
int qn_balance_pick(struct qn_balance *b, unsigned tried);

#endif
