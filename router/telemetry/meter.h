/* One inference request's own account: measures it while it runs, and enters it into the metrics
 * and the stats of the last request. Each step of infer.c that means something here is one call.
 * What a streamed event costs is one reading of the clock and a few additions. Loop thread only. */
#ifndef QN_TELEMETRY_METER_H
#define QN_TELEMETRY_METER_H

#include "contract/event.h"
#include "telemetry/metrics.h"
#include "telemetry/stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_meter {
    struct qn_metrics *metrics;
    struct qn_stats *stats;
    struct qn_series *series; /* its model's; before it is known, the whole's */
    struct qn_client_series *client;
    const char *owner;              /* lent for the request */
    int64_t began_us, granted_us;   /* 0: not yet */
    int64_t first_us, last_us;      /* pieces of the first choice; 0: none yet */
    int64_t prompt, cached, output; /* tokens, summed over its jobs */
    double output_ms;
    bool told;      /* a model has said what the request took */
    float *times_s; /* see qn_stats */
    size_t n_times, cap_times;
};

/* How a request ended. */
enum qn_meter_end { QN_METER_COMPLETED, QN_METER_ERRORED, QN_METER_CANCELLED };

/* A request has come. client MAY be NULL: it is not told apart. owner: see owner.h, lent. */
void qn_meter_begin(struct qn_meter *m, struct qn_metrics *metrics, struct qn_stats *stats,
                    const char *client, const char *owner);
void qn_meter_model(struct qn_meter *m, const char *name); /* as the catalog spells it; once */
void qn_meter_granted(struct qn_meter *m);                 /* its model is its */
void qn_meter_again(struct qn_meter *m); /* what its model's process said does not count */
/* One event of its job number `job`. */
void qn_meter_event(struct qn_meter *m, size_t job, const struct qn_event *ev);
/* It is over; frees what the meter holds. Calls after the first do nothing. */
void qn_meter_end(struct qn_meter *m, enum qn_meter_end how);

#endif
