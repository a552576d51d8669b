/* The table of endpoints, see routes.h. */
#include "router/routes.h"

#include "base/log.h"
#include "base/str.h"
#include "router/api/api.h"
#include "router/auth.h"
#include "router/dialects/dialect.h"
#include "router/infer.h"

#include <stdio.h>
#include <string.h>

static const char *const prefixes[] = {"/api/v1", "/api/v0", "/v1", "/v0"};

/* More special patterns stand before more general ones. */
static const struct qn_route table[] = {
    {"GET", "/live", QN_AT_ROOT, QN_FAMILY_ERROR, qn_api_live, NULL},
    {"GET", "/health", QN_AT_BOTH, QN_FAMILY_ERROR, qn_api_health, NULL},
    {"GET", "/stats", QN_AT_PREFIXES, QN_FAMILY_ERROR, qn_api_stats, NULL},
    {"GET", "/logs", QN_AT_BOTH, QN_FAMILY_ERROR, qn_api_logs, NULL},
    {"GET", "/models", QN_AT_PREFIXES, QN_FAMILY_ERROR, qn_api_models, NULL},
    {"POST", "/models/register", QN_AT_PREFIXES, QN_FAMILY_STATUS, qn_api_register, NULL},
    {"GET", "/models/{id}", QN_AT_PREFIXES, QN_FAMILY_ERROR, qn_api_model, NULL},
    {"POST", "/load", QN_AT_PREFIXES, QN_FAMILY_STATUS, qn_api_load, NULL},
    {"POST", "/unload", QN_AT_PREFIXES, QN_FAMILY_STATUS, qn_api_unload, NULL},
    {"POST", "/chat/completions", QN_AT_PREFIXES, QN_FAMILY_ERROR, NULL, &qn_openai_chat},
    {"POST", "/completions", QN_AT_PREFIXES, QN_FAMILY_ERROR, NULL, &qn_openai_complete},
};

/* path begins with prefix and a slash follows: the rest, else NULL. */
static const char *after_prefix(const char *path)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t n = strlen(prefixes[i]);
        if (!strncmp(path, prefixes[i], n) && path[n] == '/')
            return path + n;
    }
    return NULL;
}

/* True when path has the pattern's form; *id becomes what stands at {id}, or NULL. */
static bool matches(const char *pattern, const char *path, const char **id)
{
    const char *brace = strchr(pattern, '{');
    *id = NULL;
    if (!brace)
        return qn_str_eq(pattern, path);
    size_t n = (size_t)(brace - pattern);
    if (strncmp(pattern, path, n) != 0 || !path[n])
        return false;
    *id = path + n;
    return true;
}

static bool row_has(const struct qn_route *row, const char *path, const char **id)
{
    const char *rest = after_prefix(path);
    if ((row->places & QN_AT_ROOT) && matches(row->pattern, path, id))
        return true;
    return (row->places & QN_AT_PREFIXES) && rest && matches(row->pattern, rest, id);
}

enum qn_route_found qn_route_find(const char *method, const char *path, const struct qn_route **row,
                                  const char **id, char allow[static QN_ALLOW_MAX])
{
    const char *wanted = qn_str_eq(method, "HEAD") ? "GET" : method, *at = NULL;
    bool get = false, post = false;
    *row = NULL;
    *id = NULL;
    allow[0] = '\0';
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!row_has(&table[i], path, &at))
            continue;
        *row = &table[i];
        if (qn_str_eq(table[i].method, wanted)) {
            *id = at;
            return QN_ROUTE_FOUND;
        }
        get = get || qn_str_eq(table[i].method, "GET");
        post = post || qn_str_eq(table[i].method, "POST");
    }
    if (!*row)
        return QN_ROUTE_NO_PATH;
    snprintf(allow, QN_ALLOW_MAX, "%s%sOPTIONS", get ? "GET, HEAD, " : "", post ? "POST, " : "");
    return QN_ROUTE_NO_METHOD;
}

enum qn_family qn_route_family(const char *path)
{
    const struct qn_route *row;
    const char *id;
    char allow[QN_ALLOW_MAX];
    qn_route_find("", path, &row, &id, allow);
    return row ? row->family : QN_FAMILY_ERROR;
}

/* Pages served from this machine may read the answers; the guard has turned others away. */
static void allow_origin(struct qn_http *h, const char *origin)
{
    qn_http_set_header(h, "Access-Control-Allow-Origin", origin);
    qn_http_set_header(h, "Vary", "Origin");
    qn_http_set_header(h, "Access-Control-Expose-Headers", "Retry-After");
}

/* The answer to a browser's question before a request of another origin. */
static void answer_options(struct qn_http *h)
{
    qn_http_set_header(h, "Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS");
    qn_http_set_header(
        h, "Access-Control-Allow-Headers",
        "Content-Type, Authorization, X-Api-Key, X-Stainless-Arch, X-Stainless-Lang, "
        "X-Stainless-OS, X-Stainless-Package-Version, X-Stainless-Retry-Count, "
        "X-Stainless-Runtime, X-Stainless-Runtime-Version, X-Stainless-Timeout");
    qn_http_set_header(h, "Access-Control-Max-Age", "600");
    if (qn_http_header(h, "Access-Control-Request-Private-Network"))
        qn_http_set_header(h, "Access-Control-Allow-Private-Network", "true");
    qn_http_reply(h, 204, NULL, "", 0);
}

void qn_routes_serve(struct qn_routes *r, struct qn_http *h)
{
    const char *method = qn_http_method(h), *path = qn_http_path(h);
    const char *host = qn_http_header(h, "Host"), *origin = qn_http_header(h, "Origin");
    const struct qn_route *row;
    const char *id;
    char allow[QN_ALLOW_MAX];
    size_t body_len;
    enum qn_route_found found = qn_route_find(method, path, &row, &id, allow);
    enum qn_family family = row ? row->family : QN_FAMILY_ERROR;
    qn_debug("http", "method=%.16s path=%.200s", method, path);
    qn_http_body(h, &body_len);

    if (!host || !qn_auth_host_ok(host, r->host, r->any_numeric)) {
        qn_answer_plain(h, family, 403, "host_not_allowed",
                        "This Host is not allowed: use http://localhost or 127.0.0.1");
    } else if (origin && !qn_auth_origin_ok(origin)) {
        qn_answer_plain(h, family, 403, "origin_not_allowed",
                        "Origin not allowed: only pages served from this machine may ask");
    } else {
        if (origin)
            allow_origin(h, origin);
        if (qn_str_eq(method, "OPTIONS")) {
            answer_options(h);
        } else if (found == QN_ROUTE_NO_PATH) {
            qn_answer_plain(h, family, 404, "not_found", "The requested endpoint does not exist");
        } else if (found == QN_ROUTE_NO_METHOD) {
            qn_http_set_header(h, "Allow", allow);
            qn_answer_plain(h, family, 405, "method_not_allowed",
                            strstr(allow, "POST")
                                ? "Method Not Allowed. Use POST for this endpoint"
                                : "Method Not Allowed. Use GET for this endpoint");
        } else if (qn_str_eq(method, "POST") && body_len > 0 &&
                   !qn_auth_is_json(qn_http_header(h, "Content-Type"))) {
            qn_answer_plain(h, family, 415, "unsupported_media_type",
                            "The body must be JSON and say so: add the header "
                            "'Content-Type: application/json'");
        } else if (row->dialect) {
            qn_infer(r->services, h, row->dialect);
        } else {
            row->handle(r->services, h, id);
        }
    }
}

void qn_routes_refuse(int status, const char *path, struct qn_buf *body)
{
    static const struct {
        int status;
        const char *type, *message;
    } known[] = {
        {400, "bad_request", "The request is not valid HTTP"},
        {413, "too_large",
         "The request body is too large: the setting body-limit says how large it "
         "may be"},
        {431, "headers_too_large", "The request's headers are too large"},
        {503, "overloaded", "Too many connections: try again in a moment"},
    };
    size_t i = 0;
    while (i + 1 < sizeof known / sizeof *known && known[i].status != status)
        i++;
    if (known[i].status != status)
        i = 0;
    qn_plain_body(path ? qn_route_family(path) : QN_FAMILY_ERROR, known[i].type, known[i].message,
                  NULL, body);
}
