/* status, ps, stats: whether the server runs, which models it has loaded, how fast it is. */
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/print.h"
#include "cli/table.h"
#include "cli/words.h"

#include <stdio.h>

enum { CALL_TIMEOUT_S = 30, CELL_MAX = 64 };

static const char none_loaded[] = "No model is loaded; models are loaded at their first use";

static double number(const struct qn_jref *object, const char *key)
{
    struct qn_jref v = qn_json_get(object, key);
    return qn_json_raw_f64(&v);
}

static const char *text(const struct qn_jref *object, const char *key)
{
    struct qn_jref v = qn_json_get(object, key);
    return qn_json_raw_str(&v);
}

static bool is_there(const struct qn_jref *object, const char *key)
{
    struct qn_jref v = qn_json_get(object, key);
    return qn_json_type(&v) > QN_JSON_NULL;
}

/* A table of names and values. */

static struct qn_table *properties(void)
{
    static const char *const titles[] = {"Property", "Value"};
    return qn_table_new(2, titles);
}

static void property(struct qn_table *t, const char *name, const char *value)
{
    const char *cells[] = {name, value};
    qn_table_row(t, cells);
}

__attribute__((format(printf, 3, 4))) static void property_fmt(struct qn_table *t, const char *name,
                                                               const char *fmt, ...)
{
    char value[2 * CELL_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(value, sizeof value, fmt, ap);
    va_end(ap);
    property(t, name, value);
}

static void print_and_free(struct qn_table *t)
{
    qn_table_print(t);
    qn_table_free(t);
}

/* status */

/* Counts the loaded models; others are queued, being loaded or being unloaded. */
static size_t count_loaded(const struct qn_jref *list)
{
    struct qn_jref it;
    size_t n = 0;
    for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it)) {
        struct qn_jref there = qn_json_get(&it, "loaded");
        n += qn_json_raw_bool(&there);
    }
    return n;
}

static void print_server(const struct qn_cli *cli, const struct qn_jref *root)
{
    struct qn_jref system = qn_json_get(root, "system");
    struct qn_jref loaded = qn_json_get(root, "all_models_loaded");
    char duration[24], bytes[16];
    struct qn_table *t = properties();
    property(t, "Version", text(root, "version"));
    property(t, "Address", cli->at.url);
    if (is_there(root, "websocket_port"))
        property_fmt(t, "WebSocket port", "%.0f", number(root, "websocket_port"));
    struct qn_jref server = qn_json_get(root, "server"), ollama = qn_json_get(&server, "ollama");
    if (is_there(&server, "pid"))
        property_fmt(t, "Process", "%.0f", number(&server, "pid"));
    if (is_there(&server, "unit"))
        property(t, "Unit of systemd", text(&server, "unit"));
    if (is_there(&ollama, "port"))
        property_fmt(t, "Ollama's port", "%.0f", number(&ollama, "port"));
    qn_words_duration(number(&system, "uptime_seconds"), duration);
    property(t, "Running for", duration);
    property_fmt(t, "Models in memory", "%zu", count_loaded(&loaded));
    qn_human_bytes(number(&system, "memory_usage_mb") * 1048576, bytes);
    property(t, "Memory in use", bytes);
    print_and_free(t);
}

static void print_loaded(const struct qn_jref *list)
{
    static const char *const titles[] = {"Model", "Type", "State", "Device", "Recipe"};
    struct qn_table *t = qn_table_new(5, titles);
    struct qn_jref it;
    for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it)) {
        const char *cells[] = {text(&it, "model_name"), text(&it, "type"), text(&it, "status"),
                               text(&it, "device"), text(&it, "recipe")};
        qn_table_row(t, cells);
    }
    print_and_free(t);
}

/* Prints what prevents programs made for Ollama, or Ollama itself, from working. */
static void print_ollama(const struct qn_jref *root)
{
    struct qn_jref server = qn_json_get(root, "server"), ollama = qn_json_get(&server, "ollama");
    if (is_there(&ollama, "message")) {
        puts("");
        qn_print_line(text(&ollama, "message"));
    }
}

/* Prints why a model waits, or why it did not start. */
static void print_troubles(const struct qn_jref *root)
{
    static const struct {
        const char *list, *why;
    } places[] = {{"all_models_loaded", "reason"}, {"failed_models", "message"}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct qn_jref list = qn_json_get(root, places[i].list), it;
        for (bool more = qn_json_first(&list, &it); more; more = qn_json_next(&it)) {
            if (!*text(&it, places[i].why))
                continue;
            printf("\n");
            qn_print_safe(stdout, text(&it, "model_name"));
            printf(" (");
            qn_print_safe(stdout, text(&it, "status"));
            printf("): ");
            qn_print_line(text(&it, places[i].why));
        }
    }
}

/* Prints the server's report with the port, under the name that programs read. */
static void print_status_json(const struct qn_cli *cli, const struct qn_jref *root)
{
    struct qn_buf b;
    struct qn_jref it;
    qn_buf_init(&b, QN_CLIENT_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&b);
    qn_jw_obj(&w);
    qn_jw_ki64(&w, "port", cli->at.port);
    for (bool more = qn_json_first(root, &it); more; more = qn_json_next(&it)) {
        struct qn_buf value;
        qn_buf_init(&value, QN_CLIENT_REPLY_MAX);
        qn_json_print(&it, &value);
        qn_jw_key(&w, it.key);
        qn_jw_raw(&w, qn_buf_cstr(&value), value.len);
        qn_buf_deinit(&value);
    }
    qn_jw_obj_end(&w);
    puts(qn_buf_cstr(&b));
    qn_buf_deinit(&b);
}

int qn_cmd_status(struct qn_cli *cli, const struct qn_cli_args *a)
{
    (void)a;
    struct qn_json *doc = NULL;
    struct qn_error e;
    if (qn_client_call(cli, "/status", NULL, CALL_TIMEOUT_S, NULL, &doc, &e))
        return qn_cli_failed(cli, &e);
    struct qn_jref root = qn_json_root(doc);
    struct qn_jref loaded = qn_json_get(&root, "all_models_loaded");
    if (cli->json) {
        print_status_json(cli, &root);
    } else {
        printf("Server is running on port %d\n\n", cli->at.port);
        print_server(cli, &root);
        puts("");
        if (qn_json_count(&loaded))
            print_loaded(&loaded);
        else
            puts(none_loaded);
        print_troubles(&root);
        print_ollama(&root);
    }
    qn_json_free(doc);
    return QN_EXIT_OK;
}

/* ps */

static void add_process(struct qn_table *t, const struct qn_jref *m)
{
    char memory[16] = "", used[16] = "", context[CELL_MAX] = "", busy[CELL_MAX] = "", left[24] = "";
    if (is_there(m, "memory_bytes"))
        qn_human_bytes(number(m, "memory_bytes"), memory);
    if (is_there(m, "resident_bytes"))
        qn_human_bytes(number(m, "resident_bytes"), used);
    if (is_there(m, "max_context_window"))
        snprintf(context, sizeof context, "%.0f", number(m, "max_context_window"));
    if (is_there(m, "slots"))
        snprintf(busy, sizeof busy, "%.0f/%.0f", number(m, "requests_running"), number(m, "slots"));
    struct qn_jref pinned = qn_json_get(m, "pinned");
    if (qn_json_raw_bool(&pinned))
        snprintf(left, sizeof left, "pinned");
    else if (is_there(m, "unloads_in_seconds"))
        qn_words_duration(number(m, "unloads_in_seconds"), left);
    else
        snprintf(left, sizeof left, "forever");
    char pid[CELL_MAX] = "";
    if (number(m, "pid") > 0) /* a queued model has no process */
        snprintf(pid, sizeof pid, "%.0f", number(m, "pid"));
    const char *cells[] = {text(m, "model_name"), text(m, "status"), pid,  memory, used,
                           text(m, "device"),     context,           busy, left};
    qn_table_row(t, cells);
}

int qn_cmd_ps(struct qn_cli *cli, const struct qn_cli_args *a)
{
    static const char *const titles[] = {"Model",  "State",   "PID",  "Memory", "In use",
                                         "Device", "Context", "Busy", "Stays"};
    (void)a;
    struct qn_json *doc = NULL;
    struct qn_error e;
    if (qn_client_call(cli, "/api/v1/health", NULL, CALL_TIMEOUT_S, NULL, &doc, &e))
        return qn_cli_failed(cli, &e);
    struct qn_jref root = qn_json_root(doc), list = qn_json_get(&root, "all_models_loaded"), it;
    if (cli->json) {
        qn_print_json(&list);
    } else if (qn_json_count(&list) == 0) {
        puts(none_loaded);
    } else {
        struct qn_table *t = qn_table_new(sizeof titles / sizeof *titles, titles);
        for (bool more = qn_json_first(&list, &it); more; more = qn_json_next(&it))
            add_process(t, &it);
        print_and_free(t);
    }
    qn_json_free(doc);
    return QN_EXIT_OK;
}

/* stats */

static void print_last(const struct qn_jref *s)
{
    struct qn_table *t = properties();
    property_fmt(t, "Time to first token", "%.3f s", number(s, "time_to_first_token"));
    property_fmt(t, "Tokens per second", "%.2f", number(s, "tokens_per_second"));
    property_fmt(t, "Prompt tokens", "%.0f (%.0f of them cached)", number(s, "prompt_tokens"),
                 number(s, "cache_tokens"));
    property_fmt(t, "Output tokens", "%.0f", number(s, "output_tokens"));
    print_and_free(t);
}

static void latency(struct qn_table *t, const struct qn_jref *s, const char *name, const char *key)
{
    struct qn_jref all = qn_json_get(s, "latency"), one = qn_json_get(&all, key);
    if (number(&one, "count") > 0)
        property_fmt(t, name, "%.3f s; 99 of 100 within %.3f s", number(&one, "p50"),
                     number(&one, "p99"));
}

static void print_sums(const struct qn_jref *s)
{
    struct qn_table *t = properties();
    property_fmt(t, "Requests", "%.0f (%.0f completed, %.0f failed, %.0f cancelled)",
                 number(s, "request_count_total"), number(s, "completed_count_total"),
                 number(s, "failed_count_total"), number(s, "cancelled_count_total"));
    property_fmt(t, "Prompt tokens", "%.0f (%.0f of them cached)", number(s, "prompt_tokens_total"),
                 number(s, "cache_tokens_total"));
    property_fmt(t, "Output tokens", "%.0f", number(s, "output_tokens_total"));
    latency(t, s, "Wait for the model", "queue_wait");
    latency(t, s, "First token", "time_to_first_token");
    latency(t, s, "Between tokens", "inter_token");
    latency(t, s, "Whole request", "request");
    print_and_free(t);
}

int qn_cmd_stats(struct qn_cli *cli, const struct qn_cli_args *a)
{
    (void)a;
    struct qn_json *doc = NULL;
    struct qn_error e;
    if (qn_client_call(cli, "/api/v1/stats", NULL, CALL_TIMEOUT_S, NULL, &doc, &e))
        return qn_cli_failed(cli, &e);
    struct qn_jref root = qn_json_root(doc);
    if (cli->json) {
        qn_print_json(&root);
    } else {
        puts("The last request\n");
        print_last(&root);
        puts("\n"
             "Since the server's start\n");
        print_sums(&root);
    }
    qn_json_free(doc);
    return QN_EXIT_OK;
}
