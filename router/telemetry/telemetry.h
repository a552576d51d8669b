/* What the server writes down about itself, and where. One value, made at the start and lent to
 * what is counted and to what shows the counts. Loop thread only. */
#ifndef QN_TELEMETRY_TELEMETRY_H
#define QN_TELEMETRY_TELEMETRY_H

#include "telemetry/sysinfo.h"

struct qn_telemetry {
    struct qn_logs *logs;
    struct qn_metrics *metrics;
    struct qn_stats *stats;
    struct qn_cpu_meter cpu; /* of the machine */
};

#endif
