/* See metrics.h. */
#include "telemetry/metrics.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

static const char other[] = "other";

struct qn_metrics {
    struct qn_series whole;
    struct qn_series *models[QN_METRIC_MODELS_MAX + 1]; /* the last entry is "other" */
    size_t n_models;
    struct qn_client_series clients[QN_METRIC_CLIENTS_MAX + 1];
    size_t n_clients;
};

static const struct qn_bounds bounds[QN_H_COUNT] = {
    [QN_H_FIRST_TOKEN] = {14, {0.01, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 1, 2, 5, 10, 30, 60, 180}},
    [QN_H_INTER_TOKEN] = {14,
                          {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.2,
                           0.5, 1, 5}},
    [QN_H_LOAD] = {12, {0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160}},
    [QN_H_QUEUE_WAIT] = {14,
                         {0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180}},
    [QN_H_REQUEST] = {14, {0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 600}},
    [QN_H_INFERENCE] = {14, {0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 600}},
};

struct qn_metrics *qn_metrics_new(void)
{
    return qn_xcalloc(1, sizeof(struct qn_metrics));
}

void qn_metrics_free(struct qn_metrics *m)
{
    for (size_t i = 0; m && i < m->n_models; i++)
        free(m->models[i]);
    free(m);
}

void qn_series_add(struct qn_series *s, enum qn_metric what, int64_t n)
{
    for (; s; s = s->whole)
        s->counts[what] += n;
}

void qn_series_observe(struct qn_series *s, enum qn_timing what, double seconds)
{
    size_t bucket = qn_bounds_find(&bounds[what], seconds);
    for (; s; s = s->whole)
        qn_histogram_add(&s->timings[what], bucket, seconds);
}

struct qn_series *qn_metrics_model(struct qn_metrics *m, const char *model)
{
    if (!m || !model)
        return m ? &m->whole : NULL;
    for (size_t i = 0; i < m->n_models; i++)
        if (qn_str_eq(m->models[i]->label, model))
            return m->models[i];
    if (m->n_models > QN_METRIC_MODELS_MAX)
        return m->models[QN_METRIC_MODELS_MAX];
    struct qn_series *s = qn_xcalloc(1, sizeof *s);
    s->whole = &m->whole;
    snprintf(s->label, sizeof s->label, "%s", m->n_models < QN_METRIC_MODELS_MAX ? model : other);
    m->models[m->n_models++] = s;
    return s;
}

struct qn_client_series *qn_metrics_client(struct qn_metrics *m, const char *client)
{
    if (!m)
        return NULL;
    for (size_t i = 0; i < m->n_clients; i++)
        if (qn_str_eq(m->clients[i].label, client))
            return &m->clients[i];
    if (m->n_clients > QN_METRIC_CLIENTS_MAX)
        return &m->clients[QN_METRIC_CLIENTS_MAX];
    struct qn_client_series *c = &m->clients[m->n_clients];
    snprintf(c->label, sizeof c->label, "%s",
             m->n_clients < QN_METRIC_CLIENTS_MAX ? client : other);
    m->n_clients++;
    return c;
}

void qn_metric_add_of(struct qn_metrics *m, const char *model, enum qn_metric what, int64_t n)
{
    qn_series_add(qn_metrics_model(m, model), what, n);
}

void qn_metric_observe_of(struct qn_metrics *m, const char *model, enum qn_timing what,
                          double seconds)
{
    qn_series_observe(qn_metrics_model(m, model), what, seconds);
}

void qn_metric_add(struct qn_metrics *m, enum qn_metric what, int64_t n)
{
    qn_metric_add_of(m, NULL, what, n);
}

void qn_metric_observe(struct qn_metrics *m, enum qn_timing what, double seconds)
{
    qn_metric_observe_of(m, NULL, what, seconds);
}

const struct qn_series *qn_metrics_whole(const struct qn_metrics *m)
{
    return &m->whole;
}

size_t qn_metrics_models(const struct qn_metrics *m)
{
    return m->n_models;
}

const struct qn_series *qn_metrics_model_at(const struct qn_metrics *m, size_t i)
{
    return m->models[i];
}

size_t qn_metrics_clients(const struct qn_metrics *m)
{
    return m->n_clients;
}

const struct qn_client_series *qn_metrics_client_at(const struct qn_metrics *m, size_t i)
{
    return &m->clients[i];
}

const struct qn_bounds *qn_timing_bounds(enum qn_timing what)
{
    return &bounds[what];
}
