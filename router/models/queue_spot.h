/* What a waiting client is told of its place in a queue. Pure.
 *
 * Durations are means of what was measured, newer ones counting more: each new one is a fifth of
 * the mean, so that after ten the first ones count for a tenth of it (0.8 to the tenth). */
#ifndef QN_MODELS_QUEUE_SPOT_H
#define QN_MODELS_QUEUE_SPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_mean { /* all zero: nothing was measured */
    double value;
    bool any;
};
void qn_mean_add(struct qn_mean *m, double x);

/* One model's queue when a request has come to stand in it. */
struct qn_queue_facts {
    size_t waiting;     /* requests that wait, this one included */
    size_t ahead;       /* of those that are served before it */
    int64_t capacity;   /* answers that the model works on at once, >= 1 */
    int64_t used;       /* of those, taken */
    double answer_ms;   /* mean time that an answer takes; 0: not known */
    double load_ms;     /* mean time that loading takes; 0: not known */
    bool loaded;        /* nothing to load */
    int64_t loading_ms; /* that it has been loading for */
    double others_ms;   /* that other models take before it can be loaded, or loaded again */
};

struct qn_queue_spot {
    int64_t position; /* from 1: how many answers must end before it begins, and one */
    int64_t depth;    /* the position of the last in the queue */
    int64_t wait_ms;  /* (position - 1) * mean answer / capacity, what is left of loading, and what
                         other models take before it */
    int64_t clear_ms; /* until one more can come, on average: one mean answer / capacity, and the
                         same; >= 1 */
};
struct qn_queue_spot qn_queue_spot(const struct qn_queue_facts *f);

#endif
