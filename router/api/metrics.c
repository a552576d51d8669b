/* GET metrics: all counters of the server and its state, in Prometheus' text format. One table of
 * families: each API's name for a number is a row, and all names of a number have the same
 * value. */
#include "telemetry/metrics.h"

#include "access/auth.h"
#include "answers/answer.h"
#include "api/api.h"
#include "base/address.h"
#include "base/clock.h"
#include "base/str.h"
#include "models/inventory.h"
#include "models/model_capabilities.h"
#include "models/residency.h"
#include "telemetry/exposition.h"

#include <stdio.h>
#include <stdlib.h>

enum { SOURCE_MAX = 4096 }; /* of a label with the source of a model */

/* The state that a scrape reports. */
struct scene {
    const struct qn_watch_api *api;
    const struct qn_series *whole;
    struct qn_snapshot *snap;
    struct qn_loaded loaded[QN_RESIDENTS_MAX];
    size_t n_loaded;
    size_t waiting, running; /* numbers of requests, over all models */
    size_t ready;            /* number of models */
    bool clients;            /* clients may be shown by name: the request is authenticated */
};

struct family {
    const char *name, *type, *help;
    /* Writes the samples. which: a counter, a timing, or an argument of the function. NULL: nothing
     * on this machine provides the value. */
    void (*samples)(struct qn_buf *out, const struct family *f, const struct scene *s);
    int which;
};

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static const struct qn_histogram *timing(const struct scene *s, enum qn_timing t)
{
    return &s->whole->timings[t];
}

static double mean_s(const struct qn_histogram *h)
{
    return ratio(h->sum_s, (double)h->count);
}

static bool is_ready(const struct qn_loaded *m)
{
    return m->status.state == QN_INST_READY;
}

/* Counters and timings of the whole server. */

static void whole_count(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    qn_expose(out, f->name, NULL, (double)s->whole->counts[f->which]);
}

static void whole_timing(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    enum qn_timing t = (enum qn_timing)f->which;
    qn_expose_histogram(out, f->name, NULL, timing(s, t), qn_timing_bounds(t));
}

/* The same for each model. A counter's last line has no label: it is what happened without a model,
 * so that the lines add up to the number of the whole server. */

static void count_by_model(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    int64_t rest = s->whole->counts[f->which];
    for (size_t i = 0; i < qn_metrics_models(s->api->telemetry->metrics); i++) {
        const struct qn_series *m = qn_metrics_model_at(s->api->telemetry->metrics, i);
        struct qn_labels labels = {1, {{"model", m->label}}};
        qn_expose(out, f->name, &labels, (double)m->counts[f->which]);
        rest -= m->counts[f->which];
    }
    qn_expose(out, f->name, NULL, (double)rest);
}

static void timing_by_model(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    enum qn_timing t = (enum qn_timing)f->which;
    for (size_t i = 0; i < qn_metrics_models(s->api->telemetry->metrics); i++) {
        const struct qn_series *m = qn_metrics_model_at(s->api->telemetry->metrics, i);
        struct qn_labels labels = {1, {{"model", m->label}}};
        qn_expose_histogram(out, f->name, &labels, &m->timings[t], qn_timing_bounds(t));
    }
}

/* LocalLLM's averages and engines. */

static void inference_seconds(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    qn_expose(out, f->name, NULL, timing(s, QN_H_INFERENCE)->sum_s);
}

static void timing_mean(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    qn_expose(out, f->name, NULL, mean_s(timing(s, (enum qn_timing)f->which)));
}

static void chunks_per_second(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    qn_expose(
        out, f->name, NULL,
        ratio((double)s->whole->counts[QN_M_STREAM_CHUNKS], timing(s, QN_H_INFERENCE)->sum_s));
}

static void client_requests(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    for (size_t i = 0; s->clients && i < qn_metrics_clients(s->api->telemetry->metrics); i++) {
        const struct qn_client_series *c = qn_metrics_client_at(s->api->telemetry->metrics, i);
        struct qn_labels labels = {1, {{"client", c->label}}};
        qn_expose(out, f->name, &labels, (double)c->requests);
    }
}

static void client_seconds(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    for (size_t i = 0; s->clients && i < qn_metrics_clients(s->api->telemetry->metrics); i++) {
        const struct qn_client_series *c = qn_metrics_client_at(s->api->telemetry->metrics, i);
        struct qn_labels labels = {1, {{"client", c->label}}};
        qn_expose(out, f->name, &labels, ratio(c->inference_s, (double)c->completed));
    }
}

static void engine_loaded(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    for (size_t i = 0; i < s->n_loaded; i++) {
        struct qn_engine_name name;
        qn_api_engine_name(&s->loaded[i], &name);
        struct qn_labels labels = {2, {{"key", name.key}, {"backend", name.backend}}};
        if (is_ready(&s->loaded[i]))
            qn_expose(out, f->name, &labels, 1);
    }
}

/* The server's state. */

static void requests_waiting(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    qn_expose(out, f->name, NULL, (double)s->waiting);
}

static void requests_running(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    qn_expose(out, f->name, NULL, (double)s->running);
}

static void models_ready(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    qn_expose(out, f->name, NULL, (double)s->ready);
}

static void one(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    (void)s;
    qn_expose(out, f->name, NULL, 1);
}

static void version(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    struct qn_labels labels = {1, {{"version", QN_VERSION}}};
    (void)s;
    qn_expose(out, f->name, &labels, 1);
}

static void max_loaded(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    const struct qn_kind_limits *limits =
        &qn_inventory_config(s->api->models->inventory)->max_loaded;
    for (int k = 0; k < QN_KIND_COUNT; k++) {
        struct qn_labels labels = {1, {{"type", qn_kind_name((enum qn_kind)k)}}};
        qn_expose(out, f->name, &labels, (double)limits->of[k]);
    }
}

/* For each loaded model: a number of its status. */
enum of_status { MEMORY, SLOTS, SLOTS_USED, CONTEXT, REQUESTS_WAITING, REQUESTS_RUNNING };

static void by_loaded(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    for (size_t i = 0; i < s->n_loaded; i++) {
        const struct qn_loaded *m = &s->loaded[i];
        const int64_t values[] = {
            [MEMORY] = m->status.memory_bytes,
            [SLOTS] = m->status.slots,
            [SLOTS_USED] = m->status.jobs,
            [CONTEXT] = m->status.context,
            [REQUESTS_WAITING] = (int64_t)m->waiting,
            [REQUESTS_RUNNING] = (int64_t)m->holders,
        };
        struct qn_labels labels = {1, {{"model", m->name}}};
        qn_expose(out, f->name, &labels, (double)values[f->which]);
    }
}

enum of_system { CPU, SYSTEM_MEMORY, GPU, VRAM, UPTIME, OWN_MEMORY };

static void of_system(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    static const double gib = 1024.0 * 1024 * 1024;
    int64_t bytes = -1;
    double value = -1;
    switch ((enum of_system)f->which) {
    case CPU:
        value = qn_cpu_percent(&s->api->telemetry->cpu, qn_now_ms());
        break;
    case SYSTEM_MEMORY:
        bytes = qn_used_memory();
        value = (double)bytes / gib;
        break;
    case GPU:
        value = (double)qn_gpu_use().percent;
        break;
    case VRAM:
        bytes = qn_gpu_use().used_bytes;
        value = (double)bytes / gib;
        break;
    case UPTIME:
        value = (double)(qn_now_ms() - s->api->serving->started_ms) / 1000;
        break;
    case OWN_MEMORY:
        value = (double)qn_own_memory();
        break;
    }
    if (value >= 0) /* otherwise the system does not report it */
        qn_expose(out, f->name, NULL, value);
}

static void sockets_open(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    const int64_t *n = s->whole->counts;
    qn_expose(out, f->name, NULL, (double)(n[QN_M_SOCKETS_OPENED] - n[QN_M_SOCKETS_CLOSED]));
}

/* Lemonade's families for each model that has been used or is loaded. */
enum of_model {
    INFO,
    LOADED,
    LAST_INPUT,
    LAST_OUTPUT,
    LAST_PROMPT,
    LAST_FIRST_TOKEN,
    LAST_SPEED,
    SUM_REQUESTS,
    SUM_INPUT,
    SUM_OUTPUT,
    SUM_PROMPT
};

static const struct qn_loaded *loaded_as(const struct scene *s, const struct qn_series *m)
{
    for (size_t i = 0; i < s->n_loaded; i++)
        if (qn_str_eq(s->loaded[i].name, m->label))
            return &s->loaded[i];
    return NULL;
}

static double model_value(const struct scene *s, const struct qn_series *m, enum of_model which)
{
    const int64_t *n = m->counts;
    switch (which) {
    case INFO:
        return 1;
    case LOADED:
        return loaded_as(s, m) && is_ready(loaded_as(s, m));
    case LAST_INPUT:
        return (double)(m->last.prompt - m->last.cached);
    case LAST_OUTPUT:
        return (double)m->last.output;
    case LAST_PROMPT:
        return (double)m->last.prompt;
    case LAST_FIRST_TOKEN:
        return m->last.first_token_s;
    case LAST_SPEED:
        return m->last.tokens_s;
    case SUM_REQUESTS:
        return (double)n[QN_M_REQUESTS];
    case SUM_INPUT:
        return (double)(n[QN_M_PROMPT_TOKENS] - n[QN_M_CACHED_TOKENS]);
    case SUM_OUTPUT:
        return (double)n[QN_M_OUTPUT_TOKENS];
    case SUM_PROMPT:
        return (double)n[QN_M_PROMPT_TOKENS];
    }
    return 0;
}

/* Metrics may be read without a key, so no label contains a file's path or a secret. */
static const char *public_name(const char *checkpoint, char out[static SOURCE_MAX])
{
    if (*checkpoint == '/')
        return NULL;
    snprintf(out, SOURCE_MAX, "%s", checkpoint);
    qn_address_strip(out);
    return out;
}

static void by_model(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    for (size_t i = 0; i < qn_metrics_models(s->api->telemetry->metrics); i++) {
        const struct qn_series *m = qn_metrics_model_at(s->api->telemetry->metrics, i);
        const struct qn_model_row *row = qn_snapshot_find(s->snap, m->label);
        const struct qn_loaded *now = loaded_as(s, m);
        char source[SOURCE_MAX];
        struct qn_labels labels = {
            5,
            {{"model_name", m->label},
             {"checkpoint", row ? public_name(row->checkpoint, source) : NULL},
             {"type", row ? qn_model_kind_name(row) : NULL},
             {"device", now ? now->device : NULL},
             {"recipe", row ? row->recipe : NULL}}};
        qn_expose(out, f->name, &labels, model_value(s, m, (enum of_model)f->which));
    }
}

static void input_tokens(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    const int64_t *n = s->whole->counts;
    qn_expose(out, f->name, NULL, (double)(n[QN_M_PROMPT_TOKENS] - n[QN_M_CACHED_TOKENS]));
}

/* DPPAN's families, for a cluster that is this host. */

static void ready_nodes(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    qn_expose(out, f->name, NULL, !s->api->serving->stopping);
}

static void mean_ms(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    qn_expose(out, f->name, NULL, 1000 * mean_s(timing(s, (enum qn_timing)f->which)));
}

enum of_cluster { MODEL_REQUESTS, MODEL_TOKENS, MODEL_LATENCY };

static void by_model_id(struct qn_buf *out, const struct family *f, const struct scene *s)
{
    for (size_t i = 0; i < qn_metrics_models(s->api->telemetry->metrics); i++) {
        const struct qn_series *m = qn_metrics_model_at(s->api->telemetry->metrics, i);
        const double values[] = {
            [MODEL_REQUESTS] = (double)m->counts[QN_M_REQUESTS],
            [MODEL_TOKENS] = (double)m->counts[QN_M_OUTPUT_TOKENS],
            [MODEL_LATENCY] = 1000 * mean_s(&m->timings[QN_H_INTER_TOKEN]),
        };
        struct qn_labels labels = {1, {{"model_id", m->label}}};
        qn_expose(out, f->name, &labels, values[f->which]);
    }
}

#define C "counter"
#define G "gauge"
#define H "histogram"

static const struct family families[] = {
    /* LocalLLM */
    {"localllm_requests_total", C, "Inference requests.", whole_count, QN_M_REQUESTS},
    {"localllm_requests_completed_total", C, "Inference requests that completed.", whole_count,
     QN_M_COMPLETED},
    {"localllm_requests_errored_total", C, "Inference requests that ended in an error.",
     whole_count, QN_M_ERRORED},
    {"localllm_requests_cancelled_total", C, "Inference requests whose client disconnected.",
     whole_count, QN_M_CANCELLED},
    {"localllm_stream_chunks_total", C, "Pieces of output.", whole_count, QN_M_STREAM_CHUNKS},
    {"localllm_inference_seconds_total", C,
     "Time of completed requests from their lease of the model to their end.", inference_seconds,
     0},
    {"localllm_client_requests_total", C,
     "Inference requests of each client; clients beyond 32 are counted together.", client_requests,
     0},
    {"localllm_inference_seconds_avg", G, "Mean inference time of completed requests.", timing_mean,
     QN_H_INFERENCE},
    {"localllm_chunks_per_second_avg", G, "Pieces of output per second of inference.",
     chunks_per_second, 0},
    {"localllm_queue_depth", G, "Requests that wait for their model.", requests_waiting, 0},
    {"localllm_inflight", G, "Requests that are running.", requests_running, 0},
    {"localllm_engines_loaded", G, "Models that are loaded.", models_ready, 0},
    {"localllm_engine_loaded", G, "1 for each model that is loaded.", engine_loaded, 0},
    {"localllm_client_inference_seconds_avg", G,
     "Mean inference time of each client's completed requests.", client_seconds, 0},
    /* Lemonade */
    {"lemonade_server_up", G, "Whether the server is running.", one, 0},
    {"lemonade_server_info", G, "The server's version.", version, 0},
    {"lemonade_loaded_models", G, "Models that are loaded.", models_ready, 0},
    {"lemonade_max_loaded_models", G, "How many models of each type may be loaded; -1: any.",
     max_loaded, 0},
    {"lemonade_model_info", G, "1 for each model that was used or is loaded.", by_model, INFO},
    {"lemonade_model_loaded", G, "Whether this model is loaded.", by_model, LOADED},
    {"lemonade_model_input_tokens", G, "Prompt tokens that the last request computed.", by_model,
     LAST_INPUT},
    {"lemonade_model_output_tokens", G, "Output tokens of the last request.", by_model,
     LAST_OUTPUT},
    {"lemonade_model_prompt_tokens", G, "Prompt tokens of the last request, with cached ones.",
     by_model, LAST_PROMPT},
    {"lemonade_model_time_to_first_token_seconds", G, "Time to the last request's first token.",
     by_model, LAST_FIRST_TOKEN},
    {"lemonade_model_tokens_per_second", G, "Speed of the last request.", by_model, LAST_SPEED},
    {"lemonade_model_requests_total", C, "Inference requests of this model.", by_model,
     SUM_REQUESTS},
    {"lemonade_model_input_tokens_total", C, "Prompt tokens that this model computed.", by_model,
     SUM_INPUT},
    {"lemonade_model_output_tokens_total", C, "Tokens that this model generated.", by_model,
     SUM_OUTPUT},
    {"lemonade_model_prompt_tokens_total", C, "Prompt tokens of this model, with cached ones.",
     by_model, SUM_PROMPT},
    {"lemonade_requests_total", C, "Inference requests.", whole_count, QN_M_REQUESTS},
    {"lemonade_input_tokens_total", C, "Prompt tokens that were computed.", input_tokens, 0},
    {"lemonade_output_tokens_total", C, "Tokens generated.", whole_count, QN_M_OUTPUT_TOKENS},
    {"lemonade_prompt_tokens_total", C, "Prompt tokens, with cached ones.", whole_count,
     QN_M_PROMPT_TOKENS},
    {"lemonade_cache_tokens_total", C, "Prompt tokens that were in a cache.", whole_count,
     QN_M_CACHED_TOKENS},
    {"lemonade_cpu_usage_percent", G, "Load of the machine's processors.", of_system, CPU},
    {"lemonade_memory_used_gb", G, "Memory in use on the machine, in GiB.", of_system,
     SYSTEM_MEMORY},
    {"lemonade_gpu_usage_percent", G, "Load of the graphics processor.", of_system, GPU},
    {"lemonade_vram_used_gb", G, "Graphics memory in use, in GiB.", of_system, VRAM},
    {"lemonade_npu_usage_percent", G, "Load of the neural processor: no driver reports it.", NULL,
     0},
    /* LayerScale */
    {"layerscale_requests_total", C, "Inference requests.", whole_count, QN_M_REQUESTS},
    {"layerscale_requests_failed_total", C, "Inference requests that ended in an error.",
     whole_count, QN_M_ERRORED},
    {"layerscale_requests_in_flight", G, "Requests that are running.", requests_running, 0},
    {"layerscale_queue_depth", G, "Requests that wait for their model.", requests_waiting, 0},
    {"layerscale_request_duration_seconds", H, "Time of completed requests.", whole_timing,
     QN_H_REQUEST},
    {"layerscale_time_to_first_token_seconds", H, "From a request's arrival to its first token.",
     whole_timing, QN_H_FIRST_TOKEN},
    {"layerscale_inter_token_seconds", H, "Time between two output tokens.", whole_timing,
     QN_H_INTER_TOKEN},
    {"layerscale_prompt_tokens_total", C, "Prompt tokens, with cached ones.", whole_count,
     QN_M_PROMPT_TOKENS},
    {"layerscale_generated_tokens_total", C, "Tokens generated.", whole_count, QN_M_OUTPUT_TOKENS},
    {"layerscale_context_pool_size", G, "Slots of a loaded model.", by_loaded, SLOTS},
    {"layerscale_context_pool_in_use", G, "Slots in use.", by_loaded, SLOTS_USED},
    {"layerscale_context_pool_tokens", G, "Context of each slot in tokens.", by_loaded, CONTEXT},
    {"layerscale_flash_queries_total", C, "Queries of streams that were asked.", NULL, 0},
    {"layerscale_flash_hits_total", C, "Of these, answered from what had been computed before.",
     NULL, 0},
    {"layerscale_stream_queue_depth", G, "Rows of streams that wait to be read in.", NULL, 0},
    /* DPPAN */
    {"dppan_total_nodes", G, "Nodes of the cluster: this host.", one, 0},
    {"dppan_ready_nodes", G, "Nodes that take requests.", ready_nodes, 0},
    {"dppan_requests_total", C, "Inference requests.", whole_count, QN_M_REQUESTS},
    {"dppan_tokens_total", C, "Tokens generated.", whole_count, QN_M_OUTPUT_TOKENS},
    {"dppan_avg_latency_ms", G, "Mean time between two tokens.", mean_ms, QN_H_INTER_TOKEN},
    {"dppan_model_requests_total", C, "Inference requests of each model.", by_model_id,
     MODEL_REQUESTS},
    {"dppan_model_tokens_total", C, "Tokens that each model generated.", by_model_id, MODEL_TOKENS},
    {"dppan_model_avg_latency_ms", G, "Mean time between two tokens of each model.", by_model_id,
     MODEL_LATENCY},
    /* quince */
    {"quince_build_info", G, "The server's version.", version, 0},
    {"quince_uptime_seconds", G, "Since the server started.", of_system, UPTIME},
    {"quince_resident_memory_bytes", G, "Memory of the router itself.", of_system, OWN_MEMORY},
    {"quince_http_requests_total", C, "HTTP requests of any kind.", whole_count,
     QN_M_HTTP_REQUESTS},
    {"quince_requests_total", C, "Inference requests.", count_by_model, QN_M_REQUESTS},
    {"quince_requests_completed_total", C, "Inference requests that completed.", count_by_model,
     QN_M_COMPLETED},
    {"quince_requests_errored_total", C, "Inference requests that ended in an error.",
     count_by_model, QN_M_ERRORED},
    {"quince_requests_cancelled_total", C, "Inference requests whose client disconnected.",
     count_by_model, QN_M_CANCELLED},
    {"quince_requests_replayed_total", C,
     "Inference requests restarted because the model's process died before their first byte.",
     count_by_model, QN_M_REPLAYED},
    {"quince_requests_queue_refused_total", C, "Requests refused because a queue was full.",
     count_by_model, QN_M_QUEUE_REFUSED},
    {"quince_requests_timed_out_total", C, "Requests whose deadline passed.", count_by_model,
     QN_M_TIMED_OUT},
    {"quince_requests_rate_limited_total", C,
     "Requests refused because a client exceeded its rate limit.", whole_count, QN_M_RATE_LIMITED},
    {"quince_requests_waiting", G, "Requests that wait for this model.", by_loaded,
     REQUESTS_WAITING},
    {"quince_requests_running", G, "Running requests of this model.", by_loaded, REQUESTS_RUNNING},
    {"quince_prompt_tokens_total", C, "Prompt tokens, with cached ones.", count_by_model,
     QN_M_PROMPT_TOKENS},
    {"quince_cached_tokens_total", C, "Prompt tokens that were in a cache.", count_by_model,
     QN_M_CACHED_TOKENS},
    {"quince_output_tokens_total", C, "Tokens generated.", count_by_model, QN_M_OUTPUT_TOKENS},
    {"quince_time_to_first_token_seconds", H, "From a request's arrival to its first token.",
     timing_by_model, QN_H_FIRST_TOKEN},
    {"quince_inter_token_seconds", H, "Time between two output tokens.", timing_by_model,
     QN_H_INTER_TOKEN},
    {"quince_queue_wait_seconds", H, "From a request's arrival to its lease of the model.",
     timing_by_model, QN_H_QUEUE_WAIT},
    {"quince_request_duration_seconds", H, "Time of completed requests.", timing_by_model,
     QN_H_REQUEST},
    {"quince_inference_seconds", H, "Time of completed requests from their lease of the model.",
     timing_by_model, QN_H_INFERENCE},
    {"quince_model_load_seconds", H, "From a model's start until it was ready.", timing_by_model,
     QN_H_LOAD},
    {"quince_model_memory_bytes", G, "Memory of a loaded model, as its process says.", by_loaded,
     MEMORY},
    {"quince_model_loads_total", C, "Models loaded.", count_by_model, QN_M_LOADS},
    {"quince_model_load_failures_total", C, "Loads that failed.", count_by_model,
     QN_M_LOAD_FAILURES},
    {"quince_model_evictions_total", C, "Models unloaded to make room for others.", count_by_model,
     QN_M_EVICTIONS},
    {"quince_model_idle_unloads_total", C,
     "Models unloaded because their keep-alive time was over.", count_by_model, QN_M_IDLE_UNLOADS},
    {"quince_model_crashes_total", C, "Models' processes that ended unexpectedly.", count_by_model,
     QN_M_CRASHES},
    {"quince_model_restarts_total", C, "Processes restarted after a crash.", count_by_model,
     QN_M_RESTARTS},
    {"quince_key_refused_total", C, "Requests without the required key.", whole_count,
     QN_M_KEY_REFUSED},
    {"quince_origin_refused_total", C, "Requests from a Host or an Origin that is not allowed.",
     whole_count, QN_M_ORIGIN_REFUSED},
    {"quince_reloads_total", C, "Times that the settings were read again.", whole_count,
     QN_M_RELOADS},
    {"quince_sockets", G, "WebSockets that are open.", sockets_open, 0},
    {"quince_sockets_total", C, "WebSockets that were opened.", whole_count, QN_M_SOCKETS_OPENED},
    {"quince_sockets_dropped_total", C, "WebSockets closed because their client read too slowly.",
     whole_count, QN_M_SOCKETS_DROPPED},
};

static void look(struct scene *s, const struct qn_watch_api *api, const struct qn_http *h)
{
    struct qn_caller caller;
    *s = (struct scene){.api = api, .whole = qn_metrics_whole(api->telemetry->metrics)};
    qn_auth_caller(api->serving->auth, h, &caller);
    s->clients = caller.key || caller.admin;
    s->snap = qn_catalog_snapshot(api->models->catalog);
    s->n_loaded = qn_inventory_loaded(api->models->inventory, s->loaded, QN_RESIDENTS_MAX);
    for (size_t i = 0; i < s->n_loaded; i++) {
        s->waiting += s->loaded[i].waiting;
        s->running += s->loaded[i].holders;
        s->ready += is_ready(&s->loaded[i]);
        qn_metrics_model(api->telemetry->metrics,
                         s->loaded[i].name); /* a model that has not been used yet */
    }
}

void qn_api_metrics(const struct qn_watch_api *api, struct qn_http *h, const char *id)
{
    struct scene *s = qn_xcalloc(1, sizeof *s);
    struct qn_buf body;
    (void)id;
    look(s, api, h);
    qn_buf_init(&body, QN_API_REPLY_MAX);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const struct family *f = &families[i];
        qn_expose_family(&body, f->name, f->type, f->help);
        if (f->samples)
            f->samples(&body, f, s);
    }
    qn_http_reply(h, 200, QN_EXPOSITION_TYPE, qn_buf_cstr(&body), body.len);
    qn_buf_deinit(&body);
    qn_snapshot_unref(s->snap);
    free(s);
}
