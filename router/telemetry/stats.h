/* The figures of the last completed request, as GET stats reports them. Totals since the start are
 * in metrics.h. Loop thread only. */
#ifndef QN_TELEMETRY_STATS_H
#define QN_TELEMETRY_STATS_H

#include "access/owner.h"

#include <stddef.h>
#include <stdint.h>

enum {
    QN_STATS_TIMES_MAX = 16384
}; /* limit of times_s; of a longer output the first times are
      kept */

struct qn_stats {
    double first_s;   /* from the request's arrival to its first piece of text; 0: no text */
    double output_ms; /* time spent generating */
    int64_t prompt, cached, output; /* tokens */
    char owner[QN_OWNER_MAX + 1];   /* the request's owner */
    float *times_s;                 /* times between pieces of text of the first choice; owned */
    size_t n_times;
};

void qn_stats_deinit(struct qn_stats *s);

#endif
