/* What the server counts of itself: one number for each thing that happens, and histograms of how
 * long things take. Whoever makes something happen counts it with one call; GET metrics tells each
 * number under the names of all the APIs that have one for it (router/telemetry/exposition.h). What
 * can be read off the server's state (what is loaded, how many wait) is not counted here.
 *
 * Everything is also counted per model where a model is named, and requests per client. Models and
 * clients beyond the limits share one entry, "other". Loop thread only.
 *
 * A metrics pointer MAY be NULL everywhere: nothing is counted. */
#ifndef QN_TELEMETRY_METRICS_H
#define QN_TELEMETRY_METRICS_H

#include "telemetry/histogram.h"

#include <stddef.h>
#include <stdint.h>

/* Counts only grow. */
enum qn_metric {
    QN_M_HTTP_REQUESTS, /* of any kind, also refused ones */
    /* inference: each request taken ends in one of the three */
    QN_M_REQUESTS,
    QN_M_COMPLETED,
    QN_M_ERRORED,
    QN_M_CANCELLED,     /* the client went away */
    QN_M_REPLAYED,      /* begun anew because a model's process died before the first byte */
    QN_M_STREAM_CHUNKS, /* pieces of answers, streamed or not */
    QN_M_PROMPT_TOKENS, /* cached ones included */
    QN_M_CACHED_TOKENS,
    QN_M_OUTPUT_TOKENS,
    QN_M_QUEUE_REFUSED, /* a queue was full */
    QN_M_RATE_LIMITED,  /* a client asked too often */
    QN_M_TIMED_OUT,     /* the request's deadline passed */
    /* models and their processes */
    QN_M_LOADS, /* that ended well */
    QN_M_LOAD_FAILURES,
    QN_M_EVICTIONS,    /* made room for another */
    QN_M_IDLE_UNLOADS, /* their stay was over */
    QN_M_CRASHES,      /* a process ended by itself, or broke the contract */
    QN_M_RESTARTS,     /* after a crash */
    /* doors */
    QN_M_KEY_REFUSED,    /* 401 and 403 for want of a key */
    QN_M_ORIGIN_REFUSED, /* a Host or an Origin that may not ask */
    QN_M_RELOADS,        /* settings were read anew */
    /* sockets */
    QN_M_SOCKETS_OPENED,
    QN_M_SOCKETS_CLOSED,
    QN_M_SOCKETS_DROPPED, /* of those closed: because their reader was too slow */
    QN_M_COUNT
};

enum qn_timing {
    QN_H_FIRST_TOKEN, /* from a request's arrival to its answer's first piece */
    QN_H_INTER_TOKEN, /* between two pieces of an answer */
    QN_H_LOAD,        /* a model's start, until it is ready */
    QN_H_QUEUE_WAIT,  /* from a request's arrival until its model was its */
    QN_H_REQUEST,     /* a whole request that completed */
    QN_H_INFERENCE,   /* of that, since its model was its */
    QN_H_COUNT
};

enum { QN_METRIC_MODELS_MAX = 64, QN_METRIC_CLIENTS_MAX = 32, QN_METRIC_LABEL_MAX = 200 };

/* The last request that completed. */
struct qn_last_request {
    double first_token_s, tokens_s; /* 0: it had no text */
    int64_t prompt, cached, output; /* tokens */
};

/* All numbers of one model, or of everything. */
struct qn_series {
    struct qn_series *whole; /* in which all of this counts, too; NULL: this is it */
    char label[QN_METRIC_LABEL_MAX + 1];
    int64_t counts[QN_M_COUNT];
    struct qn_histogram timings[QN_H_COUNT];
    struct qn_last_request last;
};

struct qn_client_series {
    char label[QN_METRIC_LABEL_MAX + 1];
    int64_t requests, completed;
    double inference_s; /* of completed ones */
};

struct qn_metrics;

struct qn_metrics *qn_metrics_new(void);
void qn_metrics_free(struct qn_metrics *m); /* NULL allowed */

/* Counts n more. */
void qn_metric_add(struct qn_metrics *m, enum qn_metric what, int64_t n);
void qn_metric_observe(struct qn_metrics *m, enum qn_timing what, double seconds);
/* The same of a model: in its numbers and in the whole. model NULL: in the whole alone. */
void qn_metric_add_of(struct qn_metrics *m, const char *model, enum qn_metric what, int64_t n);
void qn_metric_observe_of(struct qn_metrics *m, const char *model, enum qn_timing what,
                          double seconds);

/* A model's numbers, found once and then counted in at the cost of an addition: for what happens
 * with every token. Lent for the life of the metrics; NULL when m is. */
struct qn_series *qn_metrics_model(struct qn_metrics *m, const char *model);
void qn_series_add(struct qn_series *s, enum qn_metric what, int64_t n); /* s MAY be NULL */
void qn_series_observe(struct qn_series *s, enum qn_timing what, double seconds);

struct qn_client_series *qn_metrics_client(struct qn_metrics *m, const char *client);

/* For who tells them. */
const struct qn_series *qn_metrics_whole(const struct qn_metrics *m);
size_t qn_metrics_models(const struct qn_metrics *m); /* how many; and each: */
const struct qn_series *qn_metrics_model_at(const struct qn_metrics *m, size_t i);
size_t qn_metrics_clients(const struct qn_metrics *m);
const struct qn_client_series *qn_metrics_client_at(const struct qn_metrics *m, size_t i);
const struct qn_bounds *qn_timing_bounds(enum qn_timing what);

#endif
