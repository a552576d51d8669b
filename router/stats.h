/* Counts of the inference that went through: the last request's figures and the sums since the
 * start. Loop thread only. */
#ifndef QN_ROUTER_STATS_H
#define QN_ROUTER_STATS_H

#include <stdint.h>

struct qn_stats {
    double first_ms;                /* last request: until its first piece of text; 0: none came */
    double output_ms;               /* last request: generating */
    int64_t prompt, cached, output; /* last request: tokens */
    int64_t requests, failed, cancelled; /* since the start */
    int64_t prompt_total, cached_total, output_total;
};

/* One request's counters, gathered while it runs. */
struct qn_tally {
    int64_t prompt, cached, output;
    double first_ms, output_ms;
};

void qn_stats_add(struct qn_stats *s, const struct qn_tally *t);

#endif
