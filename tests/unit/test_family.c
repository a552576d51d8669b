/* router/answers/family.c: every row of the table of families, and what profiles change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answers/family.h"
#include "answers/profile.h"

#include <stdio.h>
#include <string.h>

/* The clash C5 of the interface's description, path by path. */
static void paths(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum qn_family family;
    } rows[] = {
        {"/v1/messages", QN_FAMILY_ANTHROPIC},
        {"/api/v0/messages", QN_FAMILY_ANTHROPIC},
        {"/v1/messages/count_tokens", QN_FAMILY_ANTHROPIC},
        {"/v1/messages/nothing", QN_FAMILY_ANTHROPIC},
        {"/v1/messagesx", QN_FAMILY_ERROR},
        {"/messages", QN_FAMILY_ERROR},
        {"/v1/pull", QN_FAMILY_STATUS},
        {"/api/v1/load", QN_FAMILY_STATUS},
        {"/v0/unload", QN_FAMILY_STATUS},
        {"/api/v0/delete", QN_FAMILY_STATUS},
        {"/v1/install", QN_FAMILY_STATUS},
        {"/v1/uninstall", QN_FAMILY_STATUS},
        {"/v1/models/register", QN_FAMILY_STATUS},
        {"/v1/pull/variants", QN_FAMILY_ERROR},
        {"/v1/sessions", QN_FAMILY_NUMBER},
        {"/v1/sessions/init", QN_FAMILY_NUMBER},
        {"/v1/sessions/a/flash/3", QN_FAMILY_NUMBER},
        {"/v1/documents", QN_FAMILY_NUMBER},
        {"/v1/documents/7", QN_FAMILY_NUMBER},
        {"/v1/search", QN_FAMILY_NUMBER},
        {"/v1/tenants", QN_FAMILY_NUMBER},
        {"/v1/tenants/x", QN_FAMILY_NUMBER},
        {"/v1/aicore/status", QN_FAMILY_NUMBER},
        {"/health/warm", QN_FAMILY_NUMBER},
        {"/health", QN_FAMILY_ERROR},
        {"/v1/health", QN_FAMILY_ERROR},
        {"/nodes", QN_FAMILY_TEXT},
        {"/nodes/join", QN_FAMILY_TEXT},
        {"/nodesx", QN_FAMILY_ERROR},
        {"/admin/verify", QN_FAMILY_TEXT},
        {"/metrics/summary", QN_FAMILY_TEXT},
        {"/metrics", QN_FAMILY_ERROR},
        {"/sessions/chat-1", QN_FAMILY_TEXT},
        {"/engines", QN_FAMILY_ENGINES},
        {"/engines/a/status", QN_FAMILY_ENGINES},
        {"/api/models", QN_FAMILY_TEXT},
        {"/api/chat", QN_FAMILY_TEXT},
        {"/api/nothing", QN_FAMILY_TEXT},
        {"/api/v1", QN_FAMILY_TEXT},
        {"/api/v1/chat/completions", QN_FAMILY_ERROR},
        {"/v1/chat/completions", QN_FAMILY_ERROR},
        {"/v1/models/x", QN_FAMILY_ERROR},
        {"/", QN_FAMILY_ERROR},
        {"", QN_FAMILY_ERROR},
        {"/nowhere", QN_FAMILY_ERROR},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (qn_family_of(qn_profile_main(), rows[i].path) != rows[i].family)
            fail_msg("%s", rows[i].path);
}

static void profiles(void **state)
{
    (void)state;
    static const struct {
        const char *profile;
        enum qn_family chat, models, messages, sessions;
    } rows[] = {
        {"lemonade", QN_FAMILY_ERROR, QN_FAMILY_ERROR, QN_FAMILY_ANTHROPIC, QN_FAMILY_NUMBER},
        {"ollama", QN_FAMILY_ERROR, QN_FAMILY_ERROR, QN_FAMILY_ANTHROPIC, QN_FAMILY_NUMBER},
        {"auto", QN_FAMILY_ERROR, QN_FAMILY_ERROR, QN_FAMILY_ANTHROPIC, QN_FAMILY_NUMBER},
        {"layerscale", QN_FAMILY_NUMBER, QN_FAMILY_NUMBER, QN_FAMILY_ANTHROPIC, QN_FAMILY_NUMBER},
        {"dppan", QN_FAMILY_TEXT, QN_FAMILY_ERROR, QN_FAMILY_ANTHROPIC, QN_FAMILY_NUMBER},
        {"kolosal", QN_FAMILY_ENGINES, QN_FAMILY_ENGINES, QN_FAMILY_ANTHROPIC, QN_FAMILY_NUMBER},
        {"localllm", QN_FAMILY_NUMBER, QN_FAMILY_NUMBER, QN_FAMILY_ANTHROPIC, QN_FAMILY_NUMBER},
    };
    assert_int_equal(sizeof rows / sizeof *rows, QN_PROFILE_COUNT);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct qn_profile *p = qn_profile_find(rows[i].profile);
        assert_int_equal(qn_family_of(p, "/v1/chat/completions"), rows[i].chat);
        assert_int_equal(qn_family_of(p, "/v1/models"), rows[i].models);
        assert_int_equal(qn_family_of(p, "/v1/messages"), rows[i].messages);
        assert_int_equal(qn_family_of(p, "/v1/sessions"), rows[i].sessions);
    }
}

static void prefixes(void **state)
{
    (void)state;
    assert_string_equal(qn_path_unversioned("/api/v1/models/a"), "/models/a");
    assert_string_equal(qn_path_unversioned("/v0/x"), "/x");
    assert_string_equal(qn_path_unversioned("/v1/"), "/");
    assert_null(qn_path_unversioned("/v1"));
    assert_null(qn_path_unversioned("/v10/models"));
    assert_null(qn_path_unversioned("/api/chat"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths),
        cmocka_unit_test(profiles),
        cmocka_unit_test(prefixes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
