/* All that the server records about itself: metrics, stats, logs, requests. One value, created at
 * start and lent to the code that counts and the code that reports. Loop thread only. */
#ifndef QN_TELEMETRY_TELEMETRY_H
#define QN_TELEMETRY_TELEMETRY_H

#include "telemetry/sysinfo.h"

struct qn_telemetry {
    struct qn_logs *logs;
    struct qn_metrics *metrics;
    struct qn_stats *stats;
    struct qn_requests *requests;
    struct qn_cpu_meter cpu;     /* load of the machine's processors */
    struct qn_power_meter power; /* their power */
};

#endif
