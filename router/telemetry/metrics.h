/* The server's counters, one for each kind of occurrence, and histograms of durations. The code
 * that causes an occurrence counts it with one call. GET metrics reports each number under the
 * names that the APIs have for it (router/telemetry/exposition.h). What can be read from the
 * server's state (which models are loaded, how many requests wait) is not counted here.
 *
 * Occurrences that concern a model are also counted per model, and requests per client. Models and
 * clients beyond the limits share one entry, "other". Loop thread only.
 *
 * A metrics pointer MAY be NULL everywhere: then nothing is counted. */
#ifndef QN_TELEMETRY_METRICS_H
#define QN_TELEMETRY_METRICS_H

#include "telemetry/histogram.h"

#include <stddef.h>
#include <stdint.h>

/* Counters; they only grow. */
enum qn_metric {
    QN_M_HTTP_REQUESTS, /* of any kind, refused ones included */
    /* inference: each accepted request ends in one of the three that follow */
    QN_M_REQUESTS,
    QN_M_COMPLETED,
    QN_M_ERRORED,
    QN_M_CANCELLED, /* the client disconnected */
    /* restarted because the model's process died before the first byte of the reply */
    QN_M_REPLAYED,
    QN_M_STREAM_CHUNKS, /* pieces of output, whether streamed or not */
    QN_M_PROMPT_TOKENS, /* including cached ones */
    QN_M_CACHED_TOKENS,
    QN_M_OUTPUT_TOKENS,
    QN_M_QUEUE_REFUSED, /* refused because a queue was full */
    QN_M_RATE_LIMITED,  /* a client exceeded its rate limit */
    QN_M_TIMED_OUT,     /* the request's deadline passed */
    /* models and their processes: */
    QN_M_LOADS, /* successful loads */
    QN_M_LOAD_FAILURES,
    QN_M_EVICTIONS,    /* unloaded to make room for another model */
    QN_M_IDLE_UNLOADS, /* unloaded because their keep-alive time was over */
    QN_M_CRASHES,      /* a process ended unexpectedly, or violated the protocol */
    QN_M_RESTARTS,     /* starts after a crash */
    /* access checks: */
    QN_M_KEY_REFUSED,    /* 401 and 403 because of a missing or wrong key */
    QN_M_ORIGIN_REFUSED, /* a Host or an Origin that is not allowed */
    QN_M_RELOADS,        /* settings were read again */
    /* WebSockets: */
    QN_M_SOCKETS_OPENED,
    QN_M_SOCKETS_CLOSED,
    QN_M_SOCKETS_DROPPED, /* closed because the client read too slowly */
    QN_M_COUNT
};

enum qn_timing {
    QN_H_FIRST_TOKEN, /* from a request's arrival to the first piece of its output */
    QN_H_INTER_TOKEN, /* between two pieces of output */
    QN_H_LOAD,        /* from the start of a model's process until it is ready */
    QN_H_QUEUE_WAIT,  /* from a request's arrival until it has a lease of its model */
    QN_H_REQUEST,     /* whole duration of a completed request */
    QN_H_INFERENCE,   /* duration of a completed request from its lease on */
    QN_H_COUNT
};

enum { QN_METRIC_MODELS_MAX = 64, QN_METRIC_CLIENTS_MAX = 32, QN_METRIC_LABEL_MAX = 200 };

/* Figures of the last completed request. */
struct qn_last_request {
    double first_token_s, tokens_s; /* 0: it had no text */
    int64_t prompt, cached, output; /* tokens */
};

/* All numbers of one model, or of the whole server. */
struct qn_series {
    /* the series of the totals, which gets every count of this series, too; NULL: this is that
     * series */
    struct qn_series *whole;
    char label[QN_METRIC_LABEL_MAX + 1];
    int64_t counts[QN_M_COUNT];
    struct qn_histogram timings[QN_H_COUNT];
    struct qn_last_request last;
};

struct qn_client_series {
    char label[QN_METRIC_LABEL_MAX + 1];
    int64_t requests, completed;
    double inference_s; /* sum over completed requests */
};

struct qn_metrics;

struct qn_metrics *qn_metrics_new(void);
void qn_metrics_free(struct qn_metrics *m); /* NULL allowed */

/* Adds n to a counter of the whole server. */
void qn_metric_add(struct qn_metrics *m, enum qn_metric what, int64_t n);
void qn_metric_observe(struct qn_metrics *m, enum qn_timing what, double seconds);
/* Adds n to a counter of a model and to the total. model NULL: to the total alone. */
void qn_metric_add_of(struct qn_metrics *m, const char *model, enum qn_metric what, int64_t n);
void qn_metric_observe_of(struct qn_metrics *m, const char *model, enum qn_timing what,
                          double seconds);

/* Returns a model's series. The caller keeps it, so that counting what happens with every token
 * needs no search. Borrowed for the life of the metrics; NULL if m is NULL. */
struct qn_series *qn_metrics_model(struct qn_metrics *m, const char *model);
void qn_series_add(struct qn_series *s, enum qn_metric what, int64_t n); /* s MAY be NULL */
void qn_series_observe(struct qn_series *s, enum qn_timing what, double seconds);

struct qn_client_series *qn_metrics_client(struct qn_metrics *m, const char *client);

/* Returns the totals, for reports. */
const struct qn_series *qn_metrics_whole(const struct qn_metrics *m);
/* number of models counted; and each of them: */
size_t qn_metrics_models(const struct qn_metrics *m);
const struct qn_series *qn_metrics_model_at(const struct qn_metrics *m, size_t i);
size_t qn_metrics_clients(const struct qn_metrics *m);
const struct qn_client_series *qn_metrics_client_at(const struct qn_metrics *m, size_t i);
const struct qn_bounds *qn_timing_bounds(enum qn_timing what);

#endif
