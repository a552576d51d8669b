/* See stats.h. */
#include "telemetry/stats.h"

#include <stdlib.h>

void qn_stats_deinit(struct qn_stats *s)
{
    free(s->times_s);
    *s = (struct qn_stats){0};
}
