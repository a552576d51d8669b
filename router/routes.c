/* The table of endpoints, see routes.h. */
#include "router/routes.h"

#include "access/auth.h"
#include "api/api.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/str.h"
#include "chats/blobs.h"
#include "chats/import.h"
#include "dialects/dialect.h"
#include "http/rate_limit.h"
#include "http/ws.h"
#include "infer/infer.h"
#include "library/blobs.h"
#include "telemetry/metrics.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* clang-format off */
#define ON_MODELS(f) {QN_TOPIC_MODELS, {.models = f}}
#define ON_PULLS(f) {QN_TOPIC_PULLS, {.pulls = f}}
#define ON_DISK(f) {QN_TOPIC_DISK, {.disk = f}}
#define ON_HUBS(f) {QN_TOPIC_HUBS, {.hubs = f}}
#define ON_ENGINES(f) {QN_TOPIC_ENGINES, {.engines = f}}
#define ON_WATCH(f) {QN_TOPIC_WATCH, {.watch = f}}
#define ON_SETTINGS(f) {QN_TOPIC_SETTINGS, {.settings = f}}
#define ON_OLLAMA(f) {QN_TOPIC_OLLAMA, {.ollama = f}}
#define ON_PAGE(f) {QN_TOPIC_PAGE, {.page = f}}
#define ON_CHATS(f) {QN_TOPIC_CHATS, {.chats = f}}
#define ON_ANSWERING(f) {QN_TOPIC_ANSWERING, {.answering = f}}
#define ON_MCP(f) {QN_TOPIC_MCP, {.mcp = f}}
#define INFER(dialect) {0}, &dialect
/* clang-format on */

/* More specific patterns come before more general ones. A row without a class needs a key
 * (QN_KEY). */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
static const struct qn_route table[] = {
    {"GET", "/live", QN_AT_ROOT, ON_WATCH(qn_api_live), NULL, QN_OPEN, .flags = QN_VITAL},
    {"GET", "/health", QN_AT_BOTH, ON_WATCH(qn_api_health), NULL, QN_OPEN},
    {"POST", "/health/warm", QN_AT_BOTH, ON_MODELS(qn_api_warm), NULL, .flags = QN_WORK},
    {"GET", "/status", QN_AT_ROOT, ON_WATCH(qn_api_status), NULL, QN_OPEN},
    {"GET", "/engines", QN_AT_ROOT, ON_MODELS(qn_api_engines), NULL},
    {"POST", "/engines", QN_AT_ROOT, ON_MODELS(qn_api_engine_add), NULL, QN_ADMIN,
     .flags = QN_WORK},
    {"GET", "/engines/{id}/status", QN_AT_ROOT, ON_MODELS(qn_api_engine), NULL},
    {"DELETE", "/engines/{id}", QN_AT_ROOT, ON_MODELS(qn_api_engine_remove), NULL, QN_ADMIN},
    {"GET", "/metrics", QN_AT_ROOT, ON_WATCH(qn_api_metrics), NULL, QN_METRICS},
    {"GET", "/running", QN_AT_BOTH, ON_MODELS(qn_api_running), NULL},
    {"GET", "/slots", QN_AT_BOTH, ON_MODELS(qn_api_slots), NULL},
    {"POST", "/slots/{id}", QN_AT_BOTH, ON_MODELS(qn_api_slot), NULL, QN_ADMIN, .flags = QN_WORK},
    {"GET", "/upstream/{id}", QN_AT_ROOT, ON_MODELS(qn_api_upstream), NULL,
     .flags = QN_WORK | QN_ANY_TYPE},
    {"POST", "/upstream/{id}", QN_AT_ROOT, ON_MODELS(qn_api_upstream), NULL,
     .flags = QN_WORK | QN_ANY_TYPE},
    {"PUT", "/upstream/{id}", QN_AT_ROOT, ON_MODELS(qn_api_upstream), NULL,
     .flags = QN_WORK | QN_ANY_TYPE},
    {"PATCH", "/upstream/{id}", QN_AT_ROOT, ON_MODELS(qn_api_upstream), NULL,
     .flags = QN_WORK | QN_ANY_TYPE},
    {"DELETE", "/upstream/{id}", QN_AT_ROOT, ON_MODELS(qn_api_upstream), NULL,
     .flags = QN_WORK | QN_ANY_TYPE},
    {"GET", "/stats", QN_AT_PREFIXES, ON_WATCH(qn_api_stats), NULL},
    {"GET", "/system-info", QN_AT_PREFIXES, ON_ENGINES(qn_api_system_info), NULL},
    {"GET", "/system-stats", QN_AT_PREFIXES, ON_ENGINES(qn_api_system_stats), NULL},
    {"GET", "/logs/stream", QN_AT_BOTH, ON_WATCH(qn_api_log_stream), NULL, QN_KEY, &qn_log_socket},
    {"GET", "/logs/stream/{id}", QN_AT_BOTH, ON_WATCH(qn_api_log_stream), NULL, QN_KEY,
     &qn_log_socket},
    {"GET", "/logs", QN_AT_BOTH, ON_WATCH(qn_api_logs), NULL},
    {"GET", "/internal/requests", QN_AT_ROOT, ON_WATCH(qn_api_requests), NULL},
    {"POST", "/internal/requests/capture", QN_AT_ROOT, ON_WATCH(qn_api_requests_capture), NULL,
     QN_ADMIN},
    {"GET", "/internal/requests/{id}", QN_AT_ROOT, ON_WATCH(qn_api_request), NULL},
    {"GET", "/models", QN_AT_PREFIXES, ON_MODELS(qn_api_models), NULL},
    {"POST", "/models/check-updates", QN_AT_PREFIXES, ON_HUBS(qn_api_check_updates), NULL},
    {"GET", "/pull/variants", QN_AT_PREFIXES, ON_HUBS(qn_api_variants), NULL},
    {"GET", "/registry/search", QN_AT_PREFIXES, ON_HUBS(qn_api_search), NULL},
    {"POST", "/models/register", QN_AT_PREFIXES, ON_MODELS(qn_api_register), NULL, QN_ADMIN},
    {"POST", "/models/rescan", QN_AT_PREFIXES, ON_DISK(qn_api_rescan), NULL, QN_ADMIN},
    {"GET", "/models/{id}/files", QN_AT_PREFIXES, ON_MODELS(qn_api_model_files), NULL},
    {"GET", "/models/{id}/options", QN_AT_PREFIXES, ON_MODELS(qn_api_options), NULL},
    {"POST", "/models/{id}/options", QN_AT_PREFIXES, ON_MODELS(qn_api_options_set), NULL, QN_ADMIN},
    {"DELETE", "/models/{id}/options", QN_AT_PREFIXES, ON_MODELS(qn_api_options_reset), NULL,
     QN_ADMIN},
    {"GET", "/models/{id}", QN_AT_PREFIXES, ON_MODELS(qn_api_model), NULL},
    {"POST", "/delete", QN_AT_PREFIXES, ON_DISK(qn_api_delete), NULL, QN_ADMIN},
    {"POST", "/internal/cleanup-cache", QN_AT_ROOT, ON_DISK(qn_api_cleanup), NULL, QN_ADMIN},
    {"GET", "/internal/config", QN_AT_ROOT, ON_SETTINGS(qn_api_config), NULL, QN_ADMIN},
    {"GET", "/internal/config/defaults", QN_AT_ROOT, ON_SETTINGS(qn_api_config_defaults), NULL,
     QN_ADMIN},
    {"POST", "/internal/set", QN_AT_ROOT, ON_SETTINGS(qn_api_config_set), NULL, QN_ADMIN},
    {"POST", "/internal/shutdown", QN_AT_ROOT, ON_SETTINGS(qn_api_shutdown), NULL, QN_ADMIN},
    {"GET", "/internal/keys", QN_AT_ROOT, ON_SETTINGS(qn_api_keys), NULL, QN_ADMIN},
    {"POST", "/internal/keys", QN_AT_ROOT, ON_SETTINGS(qn_api_key_add), NULL, QN_ADMIN},
    {"DELETE", "/internal/keys/{id}", QN_AT_ROOT, ON_SETTINGS(qn_api_key_remove), NULL, QN_ADMIN},
    {"GET", "/params", QN_AT_PREFIXES, ON_SETTINGS(qn_api_config), NULL, QN_ADMIN},
    {"POST", "/params", QN_AT_PREFIXES, ON_SETTINGS(qn_api_params_set), NULL, QN_ADMIN},
    {"POST", "/log-level", QN_AT_PREFIXES, ON_SETTINGS(qn_api_log_level), NULL, QN_ADMIN},
    {"POST", "/internal/pin", QN_AT_ROOT, ON_MODELS(qn_api_pin), NULL, QN_ADMIN},
    {"POST", "/internal/simulate-vram-pressure", QN_AT_ROOT, ON_MODELS(qn_api_simulate_pressure),
     NULL, QN_ADMIN},
    {"GET", "/internal/user_models.json", QN_AT_ROOT, ON_MODELS(qn_api_user_models), NULL,
     QN_ADMIN},
    {"GET", "/internal/recipe_options.json", QN_AT_ROOT, ON_MODELS(qn_api_recipe_options), NULL,
     QN_ADMIN},
    {"POST", "/internal/recipe_options.json", QN_AT_ROOT, ON_MODELS(qn_api_recipe_options_set),
     NULL, QN_ADMIN},
    {"GET", "/internal/aliases", QN_AT_ROOT, ON_MODELS(qn_api_aliases), NULL, QN_ADMIN},
    {"POST", "/internal/aliases", QN_AT_ROOT, ON_MODELS(qn_api_alias_add), NULL, QN_ADMIN},
    {"DELETE", "/internal/aliases", QN_AT_ROOT, ON_MODELS(qn_api_alias_remove), NULL, QN_ADMIN},
    {"DELETE", "/internal/aliases/{id}", QN_AT_ROOT, ON_MODELS(qn_api_alias_remove), NULL,
     QN_ADMIN},
    {"GET", "/internal/chats", QN_AT_ROOT, ON_CHATS(qn_api_chats), NULL},
    {"POST", "/internal/chats", QN_AT_ROOT, ON_CHATS(qn_api_chat_add), NULL},
    {"GET", "/internal/chats/events", QN_AT_ROOT, ON_CHATS(qn_api_chats_events), NULL},
    {"GET", "/internal/chats/search", QN_AT_ROOT, ON_CHATS(qn_api_chat_search), NULL},
    {"GET", "/internal/chats/export", QN_AT_ROOT, ON_CHATS(qn_api_chats_export), NULL},
    {"POST", "/internal/chats/import", QN_AT_ROOT, ON_CHATS(qn_api_chats_import), NULL,
     .flags = QN_KEPT_BODY | QN_ANY_TYPE, .kept_max = QN_CHATS_IMPORT_MAX},
    {"POST", "/internal/chats/bulk", QN_AT_ROOT, ON_CHATS(qn_api_chats_bulk), NULL},
    {"GET", "/internal/chats/{id}", QN_AT_ROOT, ON_CHATS(qn_api_chat), NULL},
    {"PATCH", "/internal/chats/{id}", QN_AT_ROOT, ON_CHATS(qn_api_chat_change), NULL},
    {"DELETE", "/internal/chats/{id}", QN_AT_ROOT, ON_CHATS(qn_api_chat_remove), NULL},
    {"POST", "/internal/messages", QN_AT_ROOT, ON_CHATS(qn_api_chat_message_add), NULL},
    {"POST", "/internal/messages/{id}/answer", QN_AT_ROOT, ON_ANSWERING(qn_api_answer), NULL,
     .flags = QN_WORK},
    {"POST", "/internal/messages/{id}/stop", QN_AT_ROOT, ON_ANSWERING(qn_api_answer_stop), NULL},
    {"POST", "/internal/messages/{id}/calls", QN_AT_ROOT, ON_ANSWERING(qn_api_answer_calls), NULL},
    {"GET", "/internal/messages/{id}/stream", QN_AT_ROOT, ON_ANSWERING(qn_api_answer_stream), NULL},
    {"GET", "/internal/messages/{id}", QN_AT_ROOT, ON_CHATS(qn_api_chat_message), NULL},
    {"PATCH", "/internal/messages/{id}", QN_AT_ROOT, ON_CHATS(qn_api_chat_message_change), NULL},
    {"DELETE", "/internal/messages/{id}", QN_AT_ROOT, ON_CHATS(qn_api_chat_message_remove), NULL},
    {"GET", "/internal/mcp", QN_AT_ROOT, ON_MCP(qn_api_mcp_servers), NULL},
    {"POST", "/internal/mcp", QN_AT_ROOT, ON_MCP(qn_api_mcp_add), NULL},
    {"POST", "/internal/mcp/{id}/refresh", QN_AT_ROOT, ON_MCP(qn_api_mcp_refresh), NULL},
    {"GET", "/internal/mcp/{id}", QN_AT_ROOT, ON_MCP(qn_api_mcp_server), NULL},
    {"PATCH", "/internal/mcp/{id}", QN_AT_ROOT, ON_MCP(qn_api_mcp_change), NULL},
    {"DELETE", "/internal/mcp/{id}", QN_AT_ROOT, ON_MCP(qn_api_mcp_remove), NULL},
    {"GET", "/internal/presets", QN_AT_ROOT, ON_CHATS(qn_api_chat_presets), NULL},
    {"POST", "/internal/presets", QN_AT_ROOT, ON_CHATS(qn_api_chat_preset_put), NULL},
    {"DELETE", "/internal/presets/{id}", QN_AT_ROOT, ON_CHATS(qn_api_chat_preset_remove), NULL},
    {"POST", "/internal/blobs", QN_AT_ROOT, ON_CHATS(qn_api_chat_blob_add), NULL,
     .flags = QN_KEPT_BODY | QN_ANY_TYPE, .kept_max = QN_CHATS_BLOB_MAX},
    {"GET", "/internal/blobs/{id}", QN_AT_ROOT, ON_CHATS(qn_api_chat_blob), NULL},
    {"POST", "/pull", QN_AT_PREFIXES, ON_PULLS(qn_api_pull), NULL, QN_GIVEN},
    {"GET", "/downloads", QN_AT_PREFIXES, ON_PULLS(qn_api_downloads), NULL},
    {"POST", "/downloads/control", QN_AT_PREFIXES, ON_PULLS(qn_api_downloads_control), NULL,
     QN_GIVEN},
    {"POST", "/install", QN_AT_PREFIXES, ON_ENGINES(qn_api_install), NULL, QN_ADMIN},
    {"POST", "/install/dry-run", QN_AT_PREFIXES, ON_ENGINES(qn_api_install_dry_run), NULL},
    {"POST", "/uninstall", QN_AT_PREFIXES, ON_ENGINES(qn_api_uninstall), NULL, QN_ADMIN},
    {"POST", "/load", QN_AT_PREFIXES, ON_MODELS(qn_api_load), NULL, .flags = QN_WORK},
    {"POST", "/unload", QN_AT_PREFIXES, ON_MODELS(qn_api_unload), NULL},
    {"POST", "/chat/completions", QN_AT_PREFIXES, INFER(qn_openai_chat)},
    {"POST", "/messages", QN_AT_PREFIXES, INFER(qn_anthropic)},
    {"POST", "/messages/count_tokens", QN_AT_PREFIXES, INFER(qn_anthropic_count)},
    {"POST", "/completions", QN_AT_PREFIXES, INFER(qn_openai_complete)},
    {"POST", "/responses", QN_AT_PREFIXES, INFER(qn_responses)},
    {"POST", "/embeddings", QN_AT_PREFIXES, INFER(qn_openai_embed)},
    {"POST", "/rerank", QN_AT_PREFIXES, INFER(qn_rerank)},
    {"POST", "/reranking", QN_AT_PREFIXES, INFER(qn_rerank)},
    {"POST", "/reranker", QN_AT_PREFIXES, INFER(qn_rerank)},
    {"POST", "/tokenize", QN_AT_BOTH, INFER(qn_tokenize_dialect)},
    {"POST", "/audio/transcriptions", QN_AT_PREFIXES, INFER(qn_openai_transcribe)},
    {"POST", "/audio/translations", QN_AT_PREFIXES, INFER(qn_openai_translate)},
    {"POST", "/audio/speech", QN_AT_PREFIXES, INFER(qn_openai_speech)},
    {"POST", "/images/generations", QN_AT_PREFIXES, INFER(qn_openai_generate)},
    {"POST", "/images/edits", QN_AT_PREFIXES, INFER(qn_openai_edit)},
    {"POST", "/images/variations", QN_AT_PREFIXES, INFER(qn_openai_vary)},
    {"POST", "/images/upscale", QN_AT_PREFIXES, INFER(qn_upscale)},
    {"GET", "/responses/{id}/input_items", QN_AT_PREFIXES, ON_MODELS(qn_api_response_input), NULL},
    {"POST", "/responses/{id}/cancel", QN_AT_PREFIXES, ON_MODELS(qn_api_response_cancel), NULL},
    {"GET", "/responses/{id}", QN_AT_PREFIXES, ON_MODELS(qn_api_response), NULL},
    {"DELETE", "/responses/{id}", QN_AT_PREFIXES, ON_MODELS(qn_api_response_delete), NULL},
    {"GET", "/", QN_AT_ROOT, ON_OLLAMA(qn_api_ollama_root), NULL, QN_OPEN},
    {"GET", "/app", QN_AT_ROOT, ON_PAGE(qn_api_page), NULL, QN_OPEN},
    {"GET", "/app/", QN_AT_ROOT, ON_PAGE(qn_api_page), NULL, QN_OPEN},
    {"GET", "/app/{id}", QN_AT_ROOT, ON_PAGE(qn_api_page), NULL, QN_OPEN},
    {"GET", "/ui/{id}", QN_AT_ROOT, ON_PAGE(qn_api_page_file), NULL, QN_OPEN},
    {"GET", "/sw.js", QN_AT_ROOT, ON_PAGE(qn_api_page_root_file), NULL, QN_OPEN},
    {"GET", "/manifest.webmanifest", QN_AT_ROOT, ON_PAGE(qn_api_page_root_file), NULL, QN_OPEN},
    {"GET", "/favicon.svg", QN_AT_ROOT, ON_PAGE(qn_api_page_root_file), NULL, QN_OPEN},
    {"GET", "/api/version", QN_AT_ROOT, ON_OLLAMA(qn_api_ollama_version), NULL},
    {"GET", "/api/status", QN_AT_ROOT, ON_OLLAMA(qn_api_ollama_status), NULL},
    {"POST", "/api/me", QN_AT_ROOT, ON_OLLAMA(qn_api_ollama_me), NULL},
    {"GET", "/api/tags", QN_AT_ROOT, ON_OLLAMA(qn_api_ollama_tags), NULL},
    {"GET", "/api/ps", QN_AT_ROOT, ON_OLLAMA(qn_api_ollama_ps), NULL},
    {"POST", "/api/show", QN_AT_ROOT, ON_OLLAMA(qn_api_ollama_show), NULL},
    {"POST", "/api/create", QN_AT_ROOT, ON_OLLAMA(qn_api_ollama_create), NULL, QN_ADMIN},
    {"POST", "/api/copy", QN_AT_ROOT, ON_OLLAMA(qn_api_ollama_copy), NULL, QN_ADMIN},
    {"DELETE", "/api/delete", QN_AT_ROOT, ON_OLLAMA(qn_api_ollama_delete), NULL, QN_ADMIN},
    {"POST", "/api/pull", QN_AT_ROOT, ON_PULLS(qn_api_ollama_pull), NULL, QN_GIVEN},
    {"POST", "/api/push", QN_AT_ROOT, ON_PULLS(qn_api_ollama_push), NULL},
    {"GET", "/api/blobs/{id}", QN_AT_ROOT, ON_OLLAMA(qn_api_ollama_blob), NULL},
    {"POST", "/api/blobs/{id}", QN_AT_ROOT, ON_OLLAMA(qn_api_ollama_blob_put), NULL, QN_ADMIN,
     .flags = QN_KEPT_BODY},
    {"POST", "/api/embed", QN_AT_ROOT, INFER(qn_ollama_embed)},
    {"POST", "/api/embeddings", QN_AT_ROOT, INFER(qn_ollama_embeddings)},
    {"POST", "/api/chat", QN_AT_ROOT, INFER(qn_ollama_chat)},
    {"POST", "/api/generate", QN_AT_ROOT, INFER(qn_ollama_generate)},
};
#pragma GCC diagnostic pop

const struct qn_route *qn_route_at(size_t i)
{
    return i < sizeof table / sizeof *table ? &table[i] : NULL;
}

/* The methods that a path can take. GET implies HEAD; OPTIONS is always allowed. */
static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
enum { METHODS = sizeof methods / sizeof *methods };

/* Whether path, which begins with a slash, matches the pattern; if so, hit->id points to the text
 * at {id}, or is NULL. */
static bool matches(const char *pattern, const char *path, struct qn_route_hit *hit)
{
    /* Rejects most rows by one character. This is valid because no pattern begins with "/{id}". */
    if (pattern[1] != path[1])
        return false;
    const char *brace = strchr(pattern, '{');
    hit->id = NULL;
    hit->id_len = 0;
    if (!brace)
        return qn_str_eq(pattern, path);
    const char *tail = brace + strlen("{id}");
    size_t head_len = (size_t)(brace - pattern), tail_len = strlen(tail), n = strlen(path);
    if (n <= head_len + tail_len || strncmp(pattern, path, head_len) != 0 ||
        strcmp(path + n - tail_len, tail) != 0)
        return false;
    hit->id = path + head_len;
    hit->id_len = n - head_len - tail_len;
    return true;
}

/* unversioned: qn_path_unversioned(path). */
static bool row_has(const struct qn_route *row, const char *path, const char *unversioned,
                    struct qn_route_hit *hit)
{
    if ((row->places & QN_AT_ROOT) && matches(row->pattern, path, hit))
        return true;
    return (row->places & QN_AT_PREFIXES) && unversioned && matches(row->pattern, unversioned, hit);
}

static void write_methods(const bool has[static METHODS], struct qn_route_hit *hit)
{
    size_t n = 0, m = 0;
    for (size_t i = 0; i < METHODS; i++) {
        if (!has[i])
            continue;
        n += (size_t)snprintf(hit->allow + n, QN_ALLOW_MAX - n, "%s, %s", methods[i],
                              i == 0 ? "HEAD, " : "");
        m += (size_t)snprintf(hit->use + m, QN_ALLOW_MAX - m, "%s%s", m ? " or " : "", methods[i]);
    }
    snprintf(hit->allow + n, QN_ALLOW_MAX - n, "OPTIONS");
}

enum qn_route_found qn_route_find(const char *method, const char *path, struct qn_route_hit *hit)
{
    const char *wanted = qn_str_eq(method, "HEAD") ? "GET" : method;
    const char *unversioned = qn_path_unversioned(path);
    bool has[METHODS] = {false}, any = false;
    struct qn_route_hit at;
    *hit = (struct qn_route_hit){0};
    if (*path != '/')
        return QN_ROUTE_NO_PATH;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!row_has(&table[i], path, unversioned, &at))
            continue;
        any = true;
        if (!hit->row && qn_str_eq(table[i].method, wanted)) {
            hit->row = &table[i];
            hit->id = at.id;
            hit->id_len = at.id_len;
        }
        for (size_t k = 0; k < METHODS; k++)
            has[k] = has[k] || qn_str_eq(table[i].method, methods[k]);
    }
    if (!any)
        return QN_ROUTE_NO_PATH;
    write_methods(has, hit);
    return hit->row ? QN_ROUTE_FOUND : QN_ROUTE_NO_METHOD;
}

/* Lets a page from this origin read the reply. Origins that are not allowed have been refused by
 * the guard. */
static void allow_origin(struct qn_http *h, const char *origin)
{
    qn_http_set_header(h, "Access-Control-Allow-Origin", origin);
    qn_http_set_header(h, "Vary", "Origin");
    qn_http_set_header(h, "Access-Control-Expose-Headers",
                       "Retry-After, Allow, Request-Id, X-Request-Id, X-Client-Request-Id, "
                       "X-Client-Id, X-Queue-Position, X-Queue-Depth, X-Estimated-Wait-Ms, "
                       "X-RateLimit-Client, X-API-Profile, X-Quince-Warning, X-Lemonade-Warning");
}

/* Answers a CORS preflight request. The headers are those that the five APIs define and those that
 * their official clients send. */
static void answer_options(struct qn_http *h, const char *allow)
{
    qn_http_set_header(h, "Allow", allow);
    qn_http_set_header(h, "Access-Control-Allow-Methods", allow);
    qn_http_set_header(
        h, "Access-Control-Allow-Headers",
        "Content-Type, Authorization, X-Api-Key, X-API-Profile, X-Admin-Token, X-Client-Id, "
        "X-Request-Id, X-Client-Request-Id, X-Request-Timeout, "
        "X-Tenant-Id, X-Client-Session-Id, X-Account-Session-Id, Anthropic-Version, "
        "Anthropic-Beta, Anthropic-Dangerous-Direct-Browser-Access, OpenAI-Organization, "
        "OpenAI-Project, OpenAI-Beta, Idempotency-Key, Last-Event-ID, Traceparent, "
        "Mcp-Protocol-Version, Mcp-Session-Id, X-Stainless-Arch, X-Stainless-Async, "
        "X-Stainless-Custom-Poll-Interval, X-Stainless-Helper, X-Stainless-Helper-Method, "
        "X-Stainless-Lang, X-Stainless-OS, X-Stainless-Package-Version, X-Stainless-Poll-Helper, "
        "X-Stainless-Retry-Count, X-Stainless-Runtime, X-Stainless-Runtime-Version, "
        "X-Stainless-Timeout");
    qn_http_set_header(h, "Access-Control-Max-Age", "600");
    if (qn_http_header(h, "Access-Control-Request-Private-Network"))
        qn_http_set_header(h, "Access-Control-Allow-Private-Network", "true");
    qn_http_reply(h, 204, NULL, "", 0);
}

static void answer_no_method(struct qn_http *h, const struct qn_route_hit *hit)
{
    char text[QN_ALLOW_MAX + 64];
    snprintf(text, sizeof text, "Method Not Allowed. Use %s for this endpoint", hit->use);
    qn_http_set_header(h, "Allow", hit->allow);
    qn_answer_plain(h, 405, "method_not_allowed", text);
}

/* Whether the row accepts a body without "Content-Type: application/json". Ollama does not require
 * the header and its documents show requests without it; a server behind /upstream has its own
 * rules. Cross-origin requests have been checked before. */
static bool takes_any_type(const struct qn_route *row)
{
    return row->flags & QN_ANY_TYPE ||
           (row->places == QN_AT_ROOT && qn_str_starts(row->pattern, "/api/"));
}

/* Whether the Content-Type of a JSON body is accepted. A page of another origin can send other
 * types without a preflight request, so requests of browsers must declare JSON; a browser is
 * recognised by Origin or Sec-Fetch-Site, one of which it sends with every POST. Other programs,
 * such as `curl -d`, may declare any type but multipart. */
static bool type_is_acceptable(const struct qn_http *h, const struct qn_visit *v)
{
    static const char multipart[] = "multipart/";
    const char *type = qn_http_header(h, "Content-Type");
    if (qn_auth_is_json(type))
        return true;
    return !v->origin && !v->site &&
           !(type && strncasecmp(type, multipart, sizeof multipart - 1) == 0);
}

static void refuse(const struct qn_routes *r, struct qn_http *h, enum qn_verdict verdict)
{
    int status = qn_verdict_status(verdict);
    bool stranger = verdict == QN_BAD_HOST || verdict == QN_BAD_ORIGIN;
    qn_metric_add(r->metrics, stranger ? QN_M_ORIGIN_REFUSED : QN_M_KEY_REFUSED, 1);
    if (status == 401)
        qn_http_set_header(h, "WWW-Authenticate", "Bearer");
    qn_answer_plain(h, status, qn_verdict_type(verdict), qn_verdict_text(verdict));
}

/* GET and HEAD: their bodies have no meaning. */
static bool has_no_use_for_a_body(const char *method)
{
    return qn_str_eq(method, "GET") || qn_str_eq(method, "HEAD");
}

static bool is_work(const struct qn_route *row)
{
    return row->dialect != NULL || row->flags & QN_WORK;
}

static void handle(const struct qn_apis *apis, const struct qn_route_hit *hit, struct qn_http *h)
{
    const struct qn_route_handler *to = &hit->row->handle;
    const char *id = hit->id ? qn_arena_strndup(qn_http_arena(h), hit->id, hit->id_len) : NULL;
    switch (to->topic) {
    case QN_TOPIC_MODELS:
        to->fn.models(&apis->models, h, id);
        break;
    case QN_TOPIC_PULLS:
        to->fn.pulls(&apis->pulls, h, id);
        break;
    case QN_TOPIC_DISK:
        to->fn.disk(&apis->disk, h, id);
        break;
    case QN_TOPIC_HUBS:
        to->fn.hubs(&apis->hubs, h, id);
        break;
    case QN_TOPIC_ENGINES:
        to->fn.engines(&apis->engines, h, id);
        break;
    case QN_TOPIC_WATCH:
        to->fn.watch(&apis->watch, h, id);
        break;
    case QN_TOPIC_SETTINGS:
        to->fn.settings(&apis->settings, h, id);
        break;
    case QN_TOPIC_OLLAMA:
        to->fn.ollama(&apis->ollama, h, id);
        break;
    case QN_TOPIC_PAGE:
        to->fn.page(h, id);
        break;
    case QN_TOPIC_CHATS:
        to->fn.chats(&apis->chats, h, id);
        break;
    case QN_TOPIC_ANSWERING:
        to->fn.answering(&apis->answering, h, id);
        break;
    case QN_TOPIC_MCP:
        to->fn.mcp(&apis->mcp, h, id);
        break;
    }
}

/* Whether the client exceeds its rate limit; if so, the request has been answered with 429. */
static bool too_often(const struct qn_routes *r, struct qn_http *h)
{
    char client[QN_RATE_NAME_MAX + 1], text[160], seconds[24];
    qn_rate_limit_client(h, client);
    int64_t wait_s = qn_rate_limit_take(r->rate_limit, client, qn_now_ms());
    if (wait_s == 0)
        return false;
    qn_metric_add(r->metrics, QN_M_RATE_LIMITED, 1);
    snprintf(seconds, sizeof seconds, "%lld", (long long)wait_s);
    snprintf(text, sizeof text, "Too many requests from this client: try again in %s s", seconds);
    qn_http_set_header(h, "Retry-After", seconds);
    qn_http_set_header(h, "X-RateLimit-Client", client);
    qn_answer_plain(h, 429, "rate_limit_exceeded", text);
    return true;
}

bool qn_routes_upgrade(struct qn_routes *r, struct qn_http_upgrade *u)
{
    struct qn_route_hit hit;
    struct qn_visit visit;
    struct qn_http_ends ends;
    const struct qn_key_row *key;
    if (!qn_ws_asked(u->method, u->protocol, qn_http_upgrade_header(u, "Connection")) ||
        qn_route_find("GET", u->path, &hit) != QN_ROUTE_FOUND || !hit.row->socket)
        return false;
    qn_auth_visit_socket(u, &visit, &ends);
    if (qn_auth_guard(r->serving->auth, &visit) != QN_MAY ||
        qn_auth_enter(r->serving->auth, &visit, hit.row->class, &key) != QN_MAY)
        return false;
    struct qn_caller caller;
    qn_auth_caller_of(r->serving->auth, &visit, &caller);
    if (qn_ws_check(r->ws, &caller, qn_http_upgrade_header(u, "Sec-WebSocket-Version"),
                    qn_http_upgrade_header(u, "Sec-WebSocket-Key"), NULL))
        return false;
    qn_ws_open(r->ws, hit.row->socket, u,
               hit.id ? qn_arena_strndup(u->arena, hit.id, hit.id_len) : NULL, &caller);
    return true;
}

/* Answers a WebSocket handshake that qn_routes_upgrade has not accepted. */
static void answer_no_socket(struct qn_routes *r, struct qn_http *h)
{
    struct qn_error e = {0};
    struct qn_caller caller;
    qn_auth_caller(r->serving->auth, h, &caller);
    if (!qn_ws_check(r->ws, &caller, qn_http_header(h, "Sec-WebSocket-Version"),
                     qn_http_header(h, "Sec-WebSocket-Key"), &e))
        qn_fail(&e, QN_EINVAL, "a WebSocket handshake must not have a body");
    if (qn_str_eq(e.param, "Sec-WebSocket-Version")) {
        qn_http_set_header(h, "Sec-WebSocket-Version", "13");
        qn_answer_plain(h, 426, "upgrade_required", e.message);
    } else {
        qn_answer_error(h, &e);
    }
}

/* How many bytes of a path may be logged. The id after "/responses/" gives access to a stored
 * response, so it is left out. */
static size_t printable(const char *path)
{
    enum { PATH_PRINTED_MAX = 200 };
    const char *secret = strstr(path, "/responses/");
    size_t n = secret ? (size_t)(secret - path) + strlen("/responses/") : strlen(path);
    return n < PATH_PRINTED_MAX ? n : PATH_PRINTED_MAX;
}

void qn_routes_serve(struct qn_routes *r, struct qn_http *h)
{
    const char *method = qn_http_method(h), *path = qn_http_path(h);
    struct qn_route_hit hit;
    size_t body_len;
    enum qn_route_found found = qn_route_find(method, path, &hit);
    qn_metric_add(r->metrics, QN_M_HTTP_REQUESTS, 1);
    qn_debug("http", "method=%.16s path=%.*s", method, (int)printable(path), path);
    qn_http_body(h, &body_len);
    qn_http_set_header(h, "X-API-Profile", qn_request_profile(h)->name);

    struct qn_visit visit;
    struct qn_http_ends ends;
    qn_auth_visit(h, &visit, &ends);
    const char *origin = visit.origin;
    enum qn_verdict verdict = qn_auth_guard(r->serving->auth, &visit);
    if (verdict != QN_MAY) {
        refuse(r, h, verdict);
    } else {
        if (origin)
            allow_origin(h, origin);
        if (qn_str_eq(method, "OPTIONS")) {
            answer_options(h, *hit.allow ? hit.allow : "GET, HEAD, POST, OPTIONS");
        } else if (found == QN_ROUTE_NO_PATH) {
            qn_answer_plain(h, 404, "not_found", "The requested endpoint does not exist");
        } else if (found == QN_ROUTE_NO_METHOD) {
            answer_no_method(h, &hit);
        } else if ((verdict = qn_auth_admit(r->serving->auth, h, &visit, hit.row->class)) !=
                   QN_MAY) {
            refuse(r, h, verdict);
        } else if (qn_http_body_thrown(h) && !has_no_use_for_a_body(method)) {
            struct qn_error e; /* the keys changed while the body arrived */
            qn_fail(&e, QN_EBUSY, "the keys changed while the request arrived: try again");
            qn_answer_error(h, &e);
        } else if (qn_str_eq(method, "POST") && body_len > 0 && !takes_any_type(hit.row) &&
                   !(hit.row->dialect && hit.row->dialect->form) &&
                   !type_is_acceptable(h, &visit)) {
            qn_answer_plain(h, 415, "unsupported_media_type",
                            "The body must be JSON and say so: add the header "
                            "'Content-Type: application/json'");
        } else if (is_work(hit.row) && too_often(r, h)) {
            return;
        } else if (hit.row->socket && qn_ws_asked(method, qn_http_header(h, "Upgrade"),
                                                  qn_http_header(h, "Connection"))) {
            answer_no_socket(r, h);
        } else if (hit.row->dialect) {
            qn_infer(r->inference, h, hit.row->dialect);
        } else {
            handle(r->apis, &hit, h);
        }
    }
}

void qn_routes_again(void *ctx, struct qn_http *h)
{
    const struct qn_routes *r = ctx;
    struct qn_route_hit hit;
    if (qn_route_find(qn_http_method(h), qn_http_path(h), &hit) == QN_ROUTE_FOUND)
        handle(r->apis, &hit, h);
}

/* Whether qn_routes_serve will refuse the request, as far as its head shows. *hit is set if the
 * route exists. */
static bool will_be_refused(const struct qn_routes *r, const struct qn_http *h,
                            struct qn_route_hit *hit)
{
    const struct qn_key_row *key;
    struct qn_visit visit;
    struct qn_http_ends ends;
    if (qn_route_find(qn_http_method(h), qn_http_path(h), hit) != QN_ROUTE_FOUND)
        return true;
    qn_auth_visit(h, &visit, &ends);
    return qn_auth_guard(r->serving->auth, &visit) != QN_MAY ||
           qn_auth_enter(r->serving->auth, &visit, hit->row->class, &key) != QN_MAY;
}

/* Whether the row's body is a file of a chat, or else an upload from which models are made. */
static bool is_of_chats(const struct qn_route *row)
{
    return row->handle.topic == QN_TOPIC_CHATS;
}

const char *qn_routes_large_body(const struct qn_routes *r, const struct qn_http *h, size_t *max)
{
    struct qn_route_hit hit;
    if (!qn_str_eq(qn_http_method(h), "POST") ||
        qn_route_find("POST", qn_http_path(h), &hit) != QN_ROUTE_FOUND ||
        !(hit.row->flags & QN_KEPT_BODY) || will_be_refused(r, h, &hit) || r->serving->stopping)
        return NULL;
    *max = hit.row->kept_max;
    if (is_of_chats(hit.row))
        return qn_chats_blob_dir(r->apis->chats.chats);
    return r->apis->ollama.no_presets ? NULL : qn_blobs_dir(r->apis->ollama.custody->blobs);
}

int64_t qn_routes_upload_left(const struct qn_routes *r, const struct qn_http *h, int64_t max,
                              int64_t wanted, const char **why)
{
    struct qn_caller caller;
    struct qn_route_hit hit;
    /* Files of chats are counted when they have arrived (chats/blobs.h); the number of uploads at a
     * time and their size are limited. */
    if (qn_route_find("POST", qn_http_path(h), &hit) == QN_ROUTE_FOUND && is_of_chats(hit.row))
        return INT64_MAX;
    qn_auth_caller(r->serving->auth, h, &caller);
    *why = "this client has reached the limit of uploads that no model uses: make models of them, "
           "wait a day until they are removed, or raise the setting upload-limit";
    return qn_blobs_left(r->apis->ollama.custody->blobs, caller.owner, max, wanted);
}

bool qn_routes_vital(const struct qn_routes *r, const struct qn_http *h)
{
    struct qn_route_hit hit;
    return !will_be_refused(r, h, &hit) &&
           (hit.row->flags & QN_VITAL || hit.row->class == QN_ADMIN);
}

uint64_t qn_routes_owner(const struct qn_routes *r, const struct qn_http *h, uint64_t seed)
{
    struct qn_caller caller;
    qn_auth_caller(r->serving->auth, h, &caller);
    return qn_hash_bytes(seed, caller.owner, strlen(caller.owner));
}

bool qn_routes_unwanted_body(const struct qn_routes *r, const struct qn_http *h)
{
    struct qn_route_hit hit;
    return has_no_use_for_a_body(qn_http_method(h)) || will_be_refused(r, h, &hit);
}

void qn_routes_refuse(const struct qn_http_refusal *r, struct qn_buf *body)
{
    static const struct {
        int status;
        const char *type, *message, *why; /* why: used if the refusal has no reason of its own */
    } known[] = {
        {400, "bad_request", "The request is not valid HTTP", NULL},
        {413, "too_large", "The request body is too large", "the setting body-limit is the limit"},
        {414, "uri_too_long", "The request's target is too long", NULL},
        {429, "too_much_held",
         "The requests of this client use all of its share of the server's memory: read their "
         "replies, or try again in a moment",
         NULL},
        {431, "headers_too_large", "The request's headers are too large", NULL},
        {500, "server_error", "The request's body could not be stored: the server's log says why",
         NULL},
        {503, "overloaded", "Too many connections: try again in a moment", NULL},
        {505, "http_version_not_supported", "Only HTTP/1.0 and HTTP/1.1 are supported", NULL},
        {507, "disk_full", "The disk has no room for this body",
         "free some, or lower the setting disk-reserve"},
    };
    size_t i = 0;
    while (i + 1 < sizeof known / sizeof *known && known[i].status != r->status)
        i++;
    if (known[i].status != r->status)
        i = 0;
    const char *why = r->why ? r->why : known[i].why;
    char text[QN_ERROR_MESSAGE_MAX];
    snprintf(text, sizeof text, "%s%s%s", known[i].message, why ? ": " : "", why ? why : "");
    qn_plain_body(qn_family_of(qn_profile_at(r->tag), r->path), r->status, known[i].type, text,
                  NULL, body);
}
