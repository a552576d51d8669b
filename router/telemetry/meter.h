/* Measures one inference request while it runs, and adds it to the metrics and to the stats of the
 * last request. infer.c calls one function for each step that is counted. A streamed event costs
 * one reading of the clock and a few additions. Loop thread only. */
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
    /* numbers of its model; until the model is known, those of the whole server */
    struct qn_series *series;
    struct qn_client_series *client;
    const char *owner;              /* borrowed for the life of the request */
    int64_t began_us, granted_us;   /* 0: has not happened */
    int64_t first_us, last_us;      /* times of pieces of the first choice; 0: none so far */
    int64_t prompt, cached, output; /* tokens, summed over the request's jobs */
    double output_ms;
    bool told;      /* a child has reported usage */
    float *times_s; /* see qn_stats.times_s */
    size_t n_times, cap_times;
};

/* How a request ended. */
enum qn_meter_end { QN_METER_COMPLETED, QN_METER_ERRORED, QN_METER_CANCELLED };

/* Begins measuring a request. client MAY be NULL: not counted per client. owner: see owner.h,
 * borrowed. */
void qn_meter_begin(struct qn_meter *m, struct qn_metrics *metrics, struct qn_stats *stats,
                    const char *client, const char *owner);
void qn_meter_model(struct qn_meter *m, const char *name); /* name as in the catalog; called once */
void qn_meter_granted(struct qn_meter *m);                 /* the request has got its lease */
void qn_meter_again(struct qn_meter *m); /* forgets what the model's process has reported, before
                                            the request begins again */
/* Counts one event of the request's job with index `job`. */
void qn_meter_event(struct qn_meter *m, size_t job, const struct qn_event *ev);
/* Ends measuring and frees what the meter holds. Further calls do nothing. */
void qn_meter_end(struct qn_meter *m, enum qn_meter_end how);

#endif
