/* Counts the events of models' processes in the metrics. */
#include "models/inventory_private.h"

#include "telemetry/metrics.h"

void qn_model_slot_count(struct qn_model_slot *p)
{
    struct qn_metrics *m = p->inv->config.metrics;
    const struct qn_child_status s = qn_child_status(p->process.child);
    struct qn_model_slot_ends *seen = &p->process.ends;
    if (s.state == QN_INST_READY && seen->state != QN_INST_READY) {
        qn_metric_add_of(m, p->id.name, QN_M_LOADS, 1);
        qn_metric_observe_of(m, p->id.name, QN_H_LOAD, (double)s.load_ms / 1000);
    }
    if (s.state == QN_INST_LOADING && seen->state == QN_INST_BACKOFF)
        qn_metric_add_of(m, p->id.name, QN_M_RESTARTS, 1);
    /* A load that was refused for good is not a crash, and is not retried. */
    bool refused = s.state == QN_INST_FAILED && seen->state != QN_INST_FAILED;
    if (s.failed_loads > seen->failed_loads || (refused && s.crashes == seen->crashes))
        qn_metric_add_of(m, p->id.name, QN_M_LOAD_FAILURES, 1);
    else if (s.crashes > seen->crashes)
        qn_metric_add_of(m, p->id.name, QN_M_CRASHES, 1);
    *seen = (struct qn_model_slot_ends){s.state, s.crashes, s.failed_loads};
}
