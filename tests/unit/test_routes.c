/* router/routes.c and auth.c: every path under every prefix, methods, and who may ask. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "router/auth.h"
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
        if (!qn_auth_host_ok(good[i], "localhost", false))
            fail_msg("refused %s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (qn_auth_host_ok(bad[i], "localhost", false))
            fail_msg("accepted %s", bad[i]);
    assert_true(qn_auth_host_ok("box.lan:13305", "box.lan", false));
    assert_true(qn_auth_host_ok("192.168.1.2:13305", "0.0.0.0", true));
    assert_true(qn_auth_host_ok("[fe80::1]:13305", "0.0.0.0", true));
    assert_false(qn_auth_host_ok("evil.example", "0.0.0.0", true));
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
        if (!qn_auth_origin_ok(good[i]))
            fail_msg("refused %s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (qn_auth_origin_ok(bad[i]))
            fail_msg("accepted %s", bad[i]);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefixes),        cmocka_unit_test(unknown_paths),
        cmocka_unit_test(methods_and_ids), cmocka_unit_test(hosts),
        cmocka_unit_test(origins),         cmocka_unit_test(content_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
