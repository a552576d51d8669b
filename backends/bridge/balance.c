#include "bridge/balance.h"

/* Chooses among the usable servers that are not in the mask `without`; -1: there are none. */
static int turn(struct qn_balance *b, unsigned without)
{
    int best = -1;
    int64_t sum = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (b->v[i].breaker.state != QN_BREAKER_CLOSED || without & 1u << i)
            continue;
        b->v[i].credit += b->v[i].weight;
        sum += b->v[i].weight;
        if (best < 0 || b->v[i].credit > b->v[best].credit)
            best = (int)i;
    }
    if (best >= 0)
        b->v[best].credit -= sum;
    return best;
}

int qn_balance_pick(struct qn_balance *b, unsigned tried)
{
    int first = turn(b, tried);
    return first >= 0 ? first : turn(b, 0);
}
