/* The queue position and waiting time reported to a waiting client. Pure.
 *
 * Durations are exponential moving means of measured values: each new value has a weight of one
 * fifth, so that after ten values the first ones have a weight of a tenth (0.8 to the tenth). */
#ifndef QN_MODELS_QUEUE_SPOT_H
#define QN_MODELS_QUEUE_SPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_mean { /* all zero: no value yet */
    double value;
    bool any;
};
void qn_mean_add(struct qn_mean *m, double x);

/* One model's queue when a request has been appended. */
struct qn_queue_facts {
    size_t waiting;     /* waiting requests, this one included */
    size_t ahead;       /* of those, served before this one */
    int64_t capacity;   /* sequences that the model computes at once, >= 1 */
    int64_t used;       /* of those, in use */
    double answer_ms;   /* mean duration of a request; 0: unknown */
    double load_ms;     /* mean duration of a load; 0: unknown */
    bool loaded;        /* no load is needed */
    int64_t loading_ms; /* how long the load has been running */
    double others_ms;   /* what other models need before this one can be loaded, or loaded again */
};

struct qn_queue_spot {
    int64_t position; /* from 1: the number of requests that must end before this one begins, plus
                         one */
    int64_t depth;    /* the position of the last request in the queue */
    int64_t wait_ms;  /* (position - 1) * mean duration / capacity, plus the rest of loading and
                         others_ms */
    int64_t clear_ms; /* mean time until one more request can be queued: one mean duration /
                         capacity, plus the same; >= 1 */
};
struct qn_queue_spot qn_queue_spot(const struct qn_queue_facts *f);

#endif
