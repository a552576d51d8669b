/* GET stats: the last request's figures, for its owner, and the totals since the start. ?times=false
 * leaves out the times of its tokens. */
#include "telemetry/stats.h"

#include "access/auth.h"
#include "answers/answer.h"
#include "api/api.h"
#include "base/str.h"
#include "telemetry/metrics.h"

/* Rounded to microseconds. */
static void write_times(struct qn_jw *w, const struct qn_stats *s)
{
    qn_jw_key(w, "decode_token_times");
    qn_jw_arr(w);
    for (size_t i = 0; i < s->n_times; i++)
        qn_jw_f64(w, (double)(int64_t)((double)s->times_s[i] * 1e6 + 0.5) / 1e6);
    qn_jw_arr_end(w);
}

/* Writes the 50th and the 99th percentile, in seconds. */
static void write_latency(struct qn_jw *w, const char *key, const struct qn_series *m,
                          enum qn_timing t)
{
    qn_jw_key(w, key);
    qn_jw_obj(w);
    qn_jw_ki64(w, "count", (int64_t)m->timings[t].count);
    qn_jw_kf64(w, "p50", qn_histogram_quantile(&m->timings[t], qn_timing_bounds(t), 0.5));
    qn_jw_kf64(w, "p99", qn_histogram_quantile(&m->timings[t], qn_timing_bounds(t), 0.99));
    qn_jw_obj_end(w);
}

static void write_model(struct qn_jw *w, const struct qn_series *m)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "model_name", m->label);
    qn_jw_kf64(w, "time_to_first_token", m->last.first_token_s);
    qn_jw_kf64(w, "tokens_per_second", m->last.tokens_s);
    qn_jw_ki64(w, "request_count_total", m->counts[QN_M_REQUESTS]);
    qn_jw_ki64(w, "stream_chunks_total", m->counts[QN_M_STREAM_CHUNKS]);
    qn_jw_ki64(w, "prompt_tokens_total", m->counts[QN_M_PROMPT_TOKENS]);
    qn_jw_ki64(w, "output_tokens_total", m->counts[QN_M_OUTPUT_TOKENS]);
    qn_jw_obj_end(w);
}

static void write_series(struct qn_jw *w, const struct qn_metrics *metrics)
{
    const struct qn_series *whole = qn_metrics_whole(metrics);
    qn_jw_key(w, "latency");
    qn_jw_obj(w);
    write_latency(w, "time_to_first_token", whole, QN_H_FIRST_TOKEN);
    write_latency(w, "inter_token", whole, QN_H_INTER_TOKEN);
    write_latency(w, "queue_wait", whole, QN_H_QUEUE_WAIT);
    write_latency(w, "request", whole, QN_H_REQUEST);
    qn_jw_obj_end(w);
    qn_jw_key(w, "models");
    qn_jw_arr(w);
    for (size_t i = 0; i < qn_metrics_models(metrics); i++)
        write_model(w, qn_metrics_model_at(metrics, i));
    qn_jw_arr_end(w);
}

void qn_api_stats(const struct qn_watch_api *api, struct qn_http *h, const char *id)
{
    static const struct qn_stats none;
    struct qn_caller caller;
    qn_auth_caller(api->serving->auth, h, &caller);
    bool own = caller.admin || qn_str_eq(api->telemetry->stats->owner, caller.owner);
    const struct qn_stats *s = own ? api->telemetry->stats : &none;
    const int64_t *sums = qn_metrics_whole(api->telemetry->metrics)->counts;
    struct qn_buf body;
    (void)id;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kf64(&w, "time_to_first_token", s->first_s);
    qn_jw_kf64(&w, "tokens_per_second",
               s->output_ms > 0 ? (double)s->output * 1000 / s->output_ms : 0);
    qn_jw_ki64(&w, "input_tokens", s->prompt - s->cached);
    qn_jw_ki64(&w, "output_tokens", s->output);
    qn_jw_ki64(&w, "prompt_tokens", s->prompt);
    qn_jw_ki64(&w, "cache_tokens", s->cached);
    if (!qn_str_eq(qn_http_query(h, "times"), "false"))
        write_times(&w, s);
    qn_jw_ki64(&w, "request_count_total", sums[QN_M_REQUESTS]);
    qn_jw_ki64(&w, "completed_count_total", sums[QN_M_COMPLETED]);
    qn_jw_ki64(&w, "failed_count_total", sums[QN_M_ERRORED]);
    qn_jw_ki64(&w, "cancelled_count_total", sums[QN_M_CANCELLED]);
    qn_jw_ki64(&w, "input_tokens_total", sums[QN_M_PROMPT_TOKENS] - sums[QN_M_CACHED_TOKENS]);
    qn_jw_ki64(&w, "prompt_tokens_total", sums[QN_M_PROMPT_TOKENS]);
    qn_jw_ki64(&w, "cache_tokens_total", sums[QN_M_CACHED_TOKENS]);
    qn_jw_ki64(&w, "output_tokens_total", sums[QN_M_OUTPUT_TOKENS]);
    qn_jw_ki64(&w, "stream_chunks_total", sums[QN_M_STREAM_CHUNKS]);
    write_series(&w, api->telemetry->metrics);
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
}
