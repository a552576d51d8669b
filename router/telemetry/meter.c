/* See meter.h. */
#include "telemetry/meter.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>

enum { TIMES_FIRST = 64 };

void qn_meter_begin(struct qn_meter *m, struct qn_metrics *metrics, struct qn_stats *stats,
                    const char *client, const char *owner)
{
    *m = (struct qn_meter){.metrics = metrics,
                           .stats = stats,
                           .owner = owner,
                           .series = qn_metrics_model(metrics, NULL),
                           .client = client ? qn_metrics_client(metrics, client) : NULL,
                           .began_us = qn_now_us()};
    qn_series_add(m->series, QN_M_REQUESTS, 1);
    if (m->client)
        m->client->requests++;
}

/* The server's totals have counted this request already, so only the model's numbers get it. */
void qn_meter_model(struct qn_meter *m, const char *name)
{
    m->series = qn_metrics_model(m->metrics, name);
    if (m->series)
        m->series->counts[QN_M_REQUESTS]++;
}

static double seconds(int64_t from_us, int64_t to_us)
{
    return (double)(to_us - from_us) / 1e6;
}

void qn_meter_granted(struct qn_meter *m)
{
    if (m->granted_us)
        return; /* the request began again after a crash; its model is counted already */
    m->granted_us = qn_now_us();
    qn_series_observe(m->series, QN_H_QUEUE_WAIT, seconds(m->began_us, m->granted_us));
}

void qn_meter_again(struct qn_meter *m)
{
    qn_series_add(m->series, QN_M_REPLAYED, 1);
    m->last_us = m->prompt = m->cached = m->output = 0;
    m->output_ms = 0;
    m->n_times = 0;
}

static void keep_time(struct qn_meter *m, double s)
{
    if (m->n_times == QN_STATS_TIMES_MAX)
        return;
    if (m->n_times == m->cap_times) {
        m->cap_times = m->cap_times ? m->cap_times * 2 : TIMES_FIRST;
        m->times_s = qn_xrealloc(m->times_s, m->cap_times * sizeof *m->times_s);
    }
    m->times_s[m->n_times++] = (float)s;
}

/* Counts a piece of output. The choices of a request are generated in parallel, so the time between
 * pieces is taken from the first choice only. */
static void take_piece(struct qn_meter *m, bool first_choice)
{
    qn_series_add(m->series, QN_M_STREAM_CHUNKS, 1);
    if (!first_choice)
        return;
    int64_t now = qn_now_us();
    if (!m->last_us) {
        if (!m->first_us) /* otherwise the request began again, and its first token is counted
                             already */
            qn_series_observe(m->series, QN_H_FIRST_TOKEN, seconds(m->began_us, now));
        m->first_us = now;
    } else {
        double s = seconds(m->last_us, now);
        qn_series_observe(m->series, QN_H_INTER_TOKEN, s);
        keep_time(m, s);
    }
    m->last_us = now;
}

void qn_meter_event(struct qn_meter *m, size_t job, const struct qn_event *ev)
{
    switch (ev->kind) {
    case QN_EV_TEXT:
    case QN_EV_REASONING:
    case QN_EV_TOOL_CALL:
    case QN_EV_SEGMENT:
    case QN_EV_AUDIO:
        take_piece(m, job == 0 && ev->index == 0);
        break;
    case QN_EV_USAGE:
        m->told = true;
        m->prompt += ev->usage.prompt;
        m->cached += ev->usage.cached;
        m->output += ev->usage.output;
        m->output_ms += ev->usage.output_ms;
        break;
    default:
        break;
    }
}

/* Stores the request as the last one. Not called for requests that only load or unload a model, so
 * these do not replace the figures of an inference. */
static void keep_last(struct qn_meter *m, double first)
{
    if (m->series)
        m->series->last = (struct qn_last_request){
            .first_token_s = first,
            .tokens_s = m->output_ms > 0 ? (double)m->output * 1000 / m->output_ms : 0,
            .prompt = m->prompt,
            .cached = m->cached,
            .output = m->output,
        };
    qn_stats_deinit(m->stats);
    *m->stats = (struct qn_stats){.first_s = first,
                                  .output_ms = m->output_ms,
                                  .prompt = m->prompt,
                                  .cached = m->cached,
                                  .output = m->output,
                                  .times_s = m->times_s,
                                  .n_times = m->n_times};
    snprintf(m->stats->owner, sizeof m->stats->owner, "%s", m->owner);
    m->times_s = NULL;
}

static void complete(struct qn_meter *m)
{
    int64_t now = qn_now_us();
    double inference = m->granted_us ? seconds(m->granted_us, now) : 0;
    double first = m->first_us ? seconds(m->began_us, m->first_us) : 0;
    qn_series_add(m->series, QN_M_COMPLETED, 1);
    qn_series_add(m->series, QN_M_PROMPT_TOKENS, m->prompt);
    qn_series_add(m->series, QN_M_CACHED_TOKENS, m->cached);
    qn_series_add(m->series, QN_M_OUTPUT_TOKENS, m->output);
    qn_series_observe(m->series, QN_H_REQUEST, seconds(m->began_us, now));
    qn_series_observe(m->series, QN_H_INFERENCE, inference);
    if (m->client) {
        m->client->completed++;
        m->client->inference_s += inference;
    }
    if (m->told)
        keep_last(m, first);
}

void qn_meter_end(struct qn_meter *m, enum qn_meter_end how)
{
    if (!m->began_us)
        return;
    if (how == QN_METER_COMPLETED)
        complete(m);
    else
        qn_series_add(m->series, how == QN_METER_ERRORED ? QN_M_ERRORED : QN_M_CANCELLED, 1);
    free(m->times_s);
    m->times_s = NULL;
    m->began_us = 0;
}
