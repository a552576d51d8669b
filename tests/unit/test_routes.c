/* router/routes.c and auth.c: every path under every prefix, methods, and who may ask. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "access/auth.h"
#include "router/routes.h"

#include <stdio.h>
#include <string.h>

static struct qn_route_hit hit;

static enum qn_route_found find(const char *method, const char *path)
{
    return qn_route_find(method, path, &hit);
}

static void prefixes(void **state)
{
    (void)state;
    static const char *const prefix[] = {"/api/v0", "/api/v1", "/v0", "/v1"};
    static const struct {
        const char *method, *path;
        bool root; /* also without prefix */
    } rows[] = {
        {"GET", "/health", true},        {"GET", "/models", false},
        {"GET", "/models/a/b", false},   {"POST", "/load", false},
        {"POST", "/unload", false},      {"POST", "/chat/completions", false},
        {"POST", "/completions", false}, {"POST", "/models/register", false},
        {"GET", "/stats", false},        {"GET", "/logs", true},
    };
    char path[64];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t k = 0; k < 4; k++) {
            snprintf(path, sizeof path, "%s%s", prefix[k], rows[i].path);
            assert_int_equal(find(rows[i].method, path), QN_ROUTE_FOUND);
            assert_int_equal(find("DELETE", path), QN_ROUTE_NO_METHOD);
        }
        assert_int_equal(find(rows[i].method, rows[i].path),
                         rows[i].root ? QN_ROUTE_FOUND : QN_ROUTE_NO_PATH);
    }
    assert_int_equal(find("GET", "/live"), QN_ROUTE_FOUND);
    assert_int_equal(find("GET", "/v1/live"), QN_ROUTE_NO_PATH);
}

static void unknown_paths(void **state)
{
    (void)state;
    static const char *const paths[] = {"",
                                        "/v1",
                                        "/v1/",
                                        "/v2/models",
                                        "/v1models",
                                        "/v1/models/",
                                        "/v1/healthy",
                                        "/api/models",
                                        "/v1/v1/models",
                                        "/V1/models"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (find("GET", paths[i]) != QN_ROUTE_NO_PATH)
            fail_msg("%s", paths[i]);
}

static void methods_and_ids(void **state)
{
    (void)state;
    assert_int_equal(find("GET", "/v1/models/user.org/name:Q4"), QN_ROUTE_FOUND);
    assert_int_equal(hit.id_len, strlen("user.org/name:Q4"));
    assert_string_equal(hit.id, "user.org/name:Q4");
    assert_int_equal(find("GET", "/v1/models/register"), QN_ROUTE_FOUND);
    assert_string_equal(hit.id, "register");
    assert_int_equal(find("POST", "/v1/models/register"), QN_ROUTE_FOUND);
    assert_null(hit.id);
    assert_int_equal(find("HEAD", "/v1/models"), QN_ROUTE_FOUND);
    assert_int_equal(find("HEAD", "/v1/load"), QN_ROUTE_NO_METHOD);
    assert_string_equal(hit.allow, "POST, OPTIONS");
    assert_string_equal(hit.use, "POST");
    assert_int_equal(find("POST", "/v1/models"), QN_ROUTE_NO_METHOD);
    assert_string_equal(hit.allow, "GET, HEAD, OPTIONS");
    assert_int_equal(find("PUT", "/v1/models/register"), QN_ROUTE_NO_METHOD);
    assert_string_equal(hit.allow, "GET, HEAD, POST, OPTIONS");
    assert_string_equal(hit.use, "GET or POST");
    assert_int_equal(find("GET", "/v1/models"), QN_ROUTE_FOUND);
    assert_string_equal(hit.allow, "GET, HEAD, OPTIONS");
}

static const struct qn_auth local = {.host = "localhost"};
static const struct qn_auth lan = {.host = "0.0.0.0",
                                   .open_to_others = true,
                                   .allow_hosts = "box ,chat.example.org",
                                   .allow_origins = "https://chat.example.org, http://a.example"};
static const struct qn_auth any = {
    .host = "0.0.0.0", .open_to_others = true, .allow_hosts = "*", .allow_origins = "*"};

static void hosts(void **state)
{
    (void)state;
    static const char *const good[] = {"localhost",    "localhost:13305", "LOCALHOST:1",
                                       "127.0.0.1:80", "127.8.9.1",       "[::1]",
                                       "[::1]:13305",  "app.localhost:1", "localhost:"};
    static const char *const bad[] = {"",
                                      "evil.example",
                                      "localhost.evil.example",
                                      "127.0.0.1.evil.example",
                                      "evil.example:13305",
                                      "xlocalhost",
                                      ".localhost.",
                                      "192.168.1.2",
                                      "[::1",
                                      "[::2]",
                                      "::1",
                                      "localhost:80x",
                                      "0.0.0.0",
                                      ":80"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!qn_auth_host_ok(&local, good[i]))
            fail_msg("refused %s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (qn_auth_host_ok(&local, bad[i]))
            fail_msg("accepted %s", bad[i]);
    assert_true(qn_auth_host_ok(&(struct qn_auth){.host = "box.lan"}, "box.lan:13305"));
    assert_true(qn_auth_host_ok(&lan, "192.168.1.2:13305"));
    assert_true(qn_auth_host_ok(&lan, "[fe80::1]:13305"));
    assert_true(qn_auth_host_ok(&lan, "chat.example.org"));
    assert_true(qn_auth_host_ok(&lan, "Box:13305"));
    assert_false(qn_auth_host_ok(&lan, "evil.example"));
    assert_false(qn_auth_host_ok(&lan, "chat.example.org, box"));
    assert_true(qn_auth_host_ok(&any, "whatever.example"));
    assert_false(qn_auth_host_ok(&any, "[a"));
}

static void origins(void **state)
{
    (void)state;
    static const char *const good[] = {"http://localhost",       "http://localhost:3000",
                                       "https://127.0.0.1:8443", "HTTP://[::1]:5",
                                       "http://app.localhost:1", "app://obsidian.md",
                                       "vscode-webview://0abc",  "tauri://localhost"};
    static const char *const bad[] = {"null",
                                      "",
                                      "http://evil.example",
                                      "https://localhost.evil.example",
                                      "file://",
                                      "http://",
                                      "http://localhost@evil.example",
                                      "http://localhost/evil",
                                      "ftp://localhost",
                                      "app:",
                                      "xapp://a",
                                      "chrome-extension://abc"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!qn_auth_origin_ok(&local, good[i], "127.0.0.1:13305"))
            fail_msg("refused %s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (qn_auth_origin_ok(&local, bad[i], "127.0.0.1:13305"))
            fail_msg("accepted %s", bad[i]);
}

/* The server's own page is one of whatever name the request was allowed to use. */
static void own_and_allowed_origins(void **state)
{
    (void)state;
    static const struct {
        const struct qn_auth *auth;
        const char *origin, *host;
        bool good;
    } rows[] = {
        {&lan, "http://192.168.1.2:13305", "192.168.1.2:13305", true},
        {&lan, "http://192.168.1.2:13306", "192.168.1.2:13305", false},
        {&lan, "http://192.168.1.3:13305", "192.168.1.2:13305", false},
        {&lan, "https://box", "box", true},
        {&lan, "https://box", "box:443", true},
        {&lan, "http://box", "box:80", true},
        {&lan, "http://box", "box:443", false},
        {&lan, "https://CHAT.example.org", "box", true},
        {&lan, "http://chat.example.org", "box", false},
        {&lan, "https://chat.example.org.evil", "box", false},
        {&lan, "http://a.example", "box", true},
        {&lan, "http://", "", false},
        {&any, "https://evil.example", "box", true},
        {&any, "null", "box", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (qn_auth_origin_ok(rows[i].auth, rows[i].origin, rows[i].host) != rows[i].good)
            fail_msg("row %zu: %s asks %s", i, rows[i].origin, rows[i].host);
}

/* Requests of web pages that carry no origin. */
static void sites(void **state)
{
    (void)state;
    static const struct {
        const struct qn_auth *auth;
        const char *site;
        bool navigates;
        enum qn_verdict verdict;
    } rows[] = {
        {&local, NULL, false, QN_MAY},
        {&local, "same-origin", false, QN_MAY},
        {&local, "same-site", false, QN_MAY},
        {&local, "none", true, QN_MAY},
        {&local, "cross-site", true, QN_MAY},
        {&local, "cross-site", false, QN_BAD_ORIGIN},
        {&lan, "cross-site", false, QN_BAD_ORIGIN},
        {&any, "cross-site", false, QN_MAY},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct qn_visit v = {
            .host = "localhost", .site = rows[i].site, .navigates = rows[i].navigates};
        if (qn_auth_guard(rows[i].auth, &v) != rows[i].verdict)
            fail_msg("row %zu", i);
    }
    assert_int_equal(qn_auth_guard(&local, &(struct qn_visit){.host = NULL}), QN_BAD_HOST);
    assert_int_equal(qn_auth_guard(&local, &(struct qn_visit){.host = "evil.example"}),
                     QN_BAD_HOST);
}

/* Every row of the table: which class it has. A new endpoint is behind the keys, unless it is
 * written down here as one that strangers may ask. */
static void classes(void **state)
{
    (void)state;
    static const struct {
        const char *method, *pattern;
        enum qn_route_class class;
    } special[] = {
        {"GET", "/", QN_OPEN},
        {"GET", "/live", QN_OPEN},
        {"GET", "/health", QN_OPEN},
        {"GET", "/status", QN_OPEN},
        {"GET", "/app", QN_OPEN},
        {"GET", "/app/", QN_OPEN},
        {"GET", "/app/{id}", QN_OPEN},
        {"GET", "/ui/{id}", QN_OPEN},
        {"GET", "/sw.js", QN_OPEN},
        {"GET", "/manifest.webmanifest", QN_OPEN},
        {"GET", "/favicon.svg", QN_OPEN},
        {"GET", "/metrics", QN_METRICS},
        {"GET", "/internal/requests", QN_KEY},
        {"GET", "/internal/requests/{id}", QN_KEY},
        {"GET", "/params", QN_ADMIN},
        {"POST", "/params", QN_ADMIN},
        {"POST", "/log-level", QN_ADMIN},
        {"POST", "/engines", QN_ADMIN},
        {"DELETE", "/engines/{id}", QN_ADMIN},
        {"POST", "/delete", QN_ADMIN},
        {"POST", "/models/register", QN_ADMIN},
        {"POST", "/install", QN_ADMIN},
        {"POST", "/models/rescan", QN_ADMIN},
        {"POST", "/uninstall", QN_ADMIN},
        {"POST", "/models/{id}/options", QN_ADMIN},
        {"POST", "/api/create", QN_ADMIN},
        {"DELETE", "/models/{id}/options", QN_ADMIN},
        {"POST", "/api/copy", QN_ADMIN},
        {"DELETE", "/api/delete", QN_ADMIN},
        {"POST", "/slots/{id}", QN_ADMIN},
        {"POST", "/api/blobs/{id}", QN_ADMIN},
        {"POST", "/pull", QN_GIVEN},
        {"POST", "/api/pull", QN_GIVEN},
        {"POST", "/downloads/control", QN_GIVEN},
    };
    enum { SPECIAL = sizeof special / sizeof *special };
    /* Each client's own data. */
    static const char *const own[] = {"/internal/chats", "/internal/messages", "/internal/presets",
                                      "/internal/blobs", "/internal/mcp"};
    const struct qn_route *row;
    size_t n = 0;
    for (; (row = qn_route_at(n)); n++) {
        bool admin =
            !strncmp(row->pattern, "/internal/", 10) || !strncmp(row->pattern, "/admin/", 7);
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            admin = admin && strncmp(row->pattern, own[k], strlen(own[k]));
        enum qn_route_class wanted = admin ? QN_ADMIN : QN_KEY;
        for (size_t k = 0; k < SPECIAL; k++)
            if (!strcmp(row->method, special[k].method) &&
                !strcmp(row->pattern, special[k].pattern))
                wanted = special[k].class;
        if (row->class != wanted)
            fail_msg("%s %s has class %d, not %d", row->method, row->pattern, (int)row->class,
                     (int)wanted);
    }
    assert_true(n > 60);
}

static void content_types(void **state)
{
    (void)state;
    assert_true(qn_auth_is_json("application/json"));
    assert_true(qn_auth_is_json("Application/JSON; charset=utf-8"));
    assert_true(qn_auth_is_json("application/vnd.api+json"));
    assert_false(qn_auth_is_json(NULL));
    assert_false(qn_auth_is_json(""));
    assert_false(qn_auth_is_json("text/plain"));
    assert_false(qn_auth_is_json("application/x-www-form-urlencoded"));
    assert_false(qn_auth_is_json("application/jsonx"));
    assert_false(qn_auth_is_json("+json"));
}

/* Each answer of the HTTP server itself says what is wrong, and nothing else. */
static void refusals(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *type;
    } rows[] = {{400, "bad_request"},
                {413, "too_large"},
                {414, "uri_too_long"},
                {431, "headers_too_large"},
                {500, "server_error"},
                {503, "overloaded"},
                {505, "http_version_not_supported"},
                {507, "disk_full"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_buf body;
        char type[64];
        qn_buf_init(&body, 4096);
        qn_routes_refuse(
            &(struct qn_http_refusal){.status = rows[i].status, .method = "", .path = "/v1/models"},
            &body);
        snprintf(type, sizeof type, "\"type\":\"%s\"", rows[i].type);
        assert_non_null(strstr(qn_buf_cstr(&body), type));
        qn_buf_deinit(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefixes),
        cmocka_unit_test(unknown_paths),
        cmocka_unit_test(methods_and_ids),
        cmocka_unit_test(hosts),
        cmocka_unit_test(origins),
        cmocka_unit_test(content_types),
        cmocka_unit_test(own_and_allowed_origins),
        cmocka_unit_test(sites),
        cmocka_unit_test(classes),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
