/* router/answers/answer.c: status by code, and the body of an error in every family. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answers/answer.h"

#include <string.h>

static char text[4096];

static const char *body(enum qn_family family, qn_err code, const char *param, bool loading)
{
    struct qn_error e = {0};
    struct qn_buf out;
    qn_fail_param(&e, code, param, "it went wrong");
    qn_buf_init(&out, sizeof text);
    qn_problem_body(
        &(struct qn_problem){
            .error = &e, .loading = loading, .model = "m", .id = "0123456789abcdef01234567"},
        family, &out);
    memcpy(text, qn_buf_cstr(&out), out.len + 1);
    qn_buf_deinit(&out);
    return text;
}

static void families(void **state)
{
    (void)state;
    assert_string_equal(body(QN_FAMILY_ERROR, QN_EINVAL, "top_p", false),
                        "{\"error\":{\"message\":\"it went wrong\",\"type\":\"invalid_request_"
                        "error\",\"param\":\"top_p\",\"code\":\"invalid_value\"}}");
    assert_string_equal(body(QN_FAMILY_ERROR, QN_ENOTFOUND, "model", false),
                        "{\"error\":{\"message\":\"it went wrong\",\"type\":\"model_not_found\","
                        "\"param\":\"model\",\"code\":\"model_not_found\",\"requested_model\":"
                        "\"m\"}}");
    assert_string_equal(body(QN_FAMILY_NUMBER, QN_ENOTFOUND, "", false),
                        "{\"error\":{\"message\":\"it went wrong\",\"type\":\"not_found\","
                        "\"param\":null,\"code\":404}}");
    assert_string_equal(body(QN_FAMILY_ENGINES, QN_ENOTFOUND, "", false),
                        "{\"error\":{\"message\":\"it went wrong\",\"type\":\"not_found_error\","
                        "\"param\":null,\"code\":\"not_found\"}}");
    assert_string_equal(body(QN_FAMILY_ENGINES, QN_EBUSY, "", false),
                        "{\"error\":{\"message\":\"it went wrong\",\"type\":\"server_error\","
                        "\"param\":null,\"code\":\"overloaded\"}}");
    assert_string_equal(body(QN_FAMILY_STATUS, QN_EFORMAT, "", true),
                        "{\"status\":\"error\",\"message\":\"it went wrong\",\"error\":{"
                        "\"message\":\"it went wrong\",\"type\":\"model_load_error\",\"param\":"
                        "\"model\",\"code\":\"model_load_error\",\"requested_model\":\"m\"}}");
    assert_string_equal(body(QN_FAMILY_TEXT, QN_EINTERNAL, "", false),
                        "{\"error\":\"it went wrong\"}");
    assert_string_equal(body(QN_FAMILY_ANTHROPIC, QN_EINVAL, "messages", false),
                        "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
                        "\"message\":\"it went wrong\"},\"request_id\":"
                        "\"req_0123456789abcdef01234567\"}");
    assert_string_equal(body(QN_FAMILY_ANTHROPIC, QN_ECONTEXT, "", false),
                        "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
                        "\"message\":\"prompt is too long: it went wrong\"},\"request_id\":"
                        "\"req_0123456789abcdef01234567\"}");
}

/* A crashed process's last output: members of quince's error objects, else part of the text. */
static void crash_report(void **state)
{
    (void)state;
    struct qn_error e = {0};
    struct qn_crash_report ev = {.exit_code = -1, .signal = 6};
    qn_fail(&e, QN_ECHILD, "it died");
    ev.error = e;
    qn_crash_report_take_log(&ev, "one\ntwo\nthree\nfour\n");
    struct qn_problem p = {.error = &e, .crash_report = &ev, .id = "0123456789abcdef01234567"};
    static const struct {
        enum qn_family family;
        const char *body;
    } rows[] = {
        {QN_FAMILY_ERROR, "{\"error\":{\"message\":\"it died\",\"type\":\"server_error\",\"param\":"
                          "null,\"code\":\"model_process_failed\",\"details\":{\"exit_code\":null,"
                          "\"signal\":6,\"signal_name\":\"SIGABRT\",\"killed_by_server\":false,"
                          "\"log\":[\"one\",\"two\",\"three\",\"four\"]}}}"},
        {QN_FAMILY_TEXT, "{\"error\":\"it died (its last output: two | three | four)\"}"},
        {QN_FAMILY_ANTHROPIC, "{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":"
                              "\"it died (its last output: two | three | four)\"},\"request_id\":"
                              "\"req_0123456789abcdef01234567\"}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_buf out;
        qn_buf_init(&out, 4096);
        qn_problem_body(&p, rows[i].family, &out);
        assert_string_equal(qn_buf_cstr(&out), rows[i].body);
        qn_buf_deinit(&out);
    }
}

/* Anthropic's list of errors: https://docs.anthropic.com/en/api/errors. */
static void anthropic_types(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *type;
    } rows[] = {
        {400, "invalid_request_error"},
        {401, "authentication_error"},
        {403, "permission_error"},
        {404, "not_found_error"},
        {405, "invalid_request_error"},
        {413, "request_too_large"},
        {429, "rate_limit_error"},
        {500, "api_error"},
        {502, "api_error"},
        {503, "overloaded_error"},
        {504, "timeout_error"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_buf out;
        struct qn_json *doc;
        qn_buf_init(&out, 4096);
        qn_plain_body(QN_FAMILY_ANTHROPIC, rows[i].status, "slug", "text", NULL, &out);
        assert_int_equal(qn_json_parse(out.data, out.len, &doc, NULL), QN_OK);
        struct qn_jref root = qn_json_root(doc), error = qn_json_get(&root, "error");
        struct qn_jref type = qn_json_get(&error, "type"), id = qn_json_get(&root, "request_id");
        assert_string_equal(qn_json_raw_str(&type), rows[i].type);
        assert_int_equal(strlen(qn_json_raw_str(&id)), 4 + QN_REQUEST_ID_DIGITS);
        qn_json_free(doc);
        qn_buf_deinit(&out);
    }
}

static void statuses(void **state)
{
    (void)state;
    static const struct {
        qn_err code;
        int status, loading;
    } rows[] = {
        {QN_EINVAL, 400, 500},     {QN_EFORMAT, 400, 500},   {QN_EUNSUPPORTED, 400, 500},
        {QN_ENOTFOUND, 404, 500},  {QN_ECONFLICT, 409, 409}, {QN_ELIMIT, 413, 500},
        {QN_ECONTEXT, 400, 500},   {QN_ENOMEM, 503, 503},    {QN_EIO, 500, 500},
        {QN_EBUSY, 503, 503},      {QN_ETIMEOUT, 504, 504},  {QN_ECHILD, 502, 500},
        {QN_ECANCELLED, 503, 503}, {QN_EINTERNAL, 500, 500},
    };
    assert_int_equal(sizeof rows / sizeof *rows, QN_ERR_COUNT - 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_error e = {.code = rows[i].code};
        assert_int_equal(qn_problem_status(&(struct qn_problem){.error = &e}), rows[i].status);
        assert_int_equal(qn_problem_status(&(struct qn_problem){.error = &e, .loading = true}),
                         rows[i].loading);
    }
}

/* What an option of the model has spoilt is told by the option's name, and is no server error. */
static void loads_with_an_option_at_fault(void **state)
{
    (void)state;
    static const struct {
        qn_err code;
        const char *param;
        int status;
    } rows[] = {
        {QN_EINVAL, "draft_model", 409}, {QN_EFORMAT, "lora", 409}, {QN_ENOTFOUND, "lora", 409},
        {QN_EFORMAT, "model", 500},      {QN_EFORMAT, "", 500},     {QN_ENOMEM, "lora", 503},
        {QN_ECHILD, "lora", 500},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_error e = {0};
        qn_fail_param(&e, rows[i].code, rows[i].param, "no");
        assert_int_equal(qn_problem_status(&(struct qn_problem){.error = &e, .loading = true}),
                         rows[i].status);
    }
    struct qn_buf out;
    struct qn_error e = {0};
    qn_fail_param(&e, QN_EFORMAT, "lora", "it is damaged");
    qn_buf_init(&out, 4096);
    qn_problem_body(&(struct qn_problem){.error = &e, .loading = true}, QN_FAMILY_ERROR, &out);
    assert_string_equal(qn_buf_cstr(&out),
                        "{\"error\":{\"message\":\"it is damaged\",\"type\":\"conflict\",\"param\":"
                        "\"lora\",\"code\":\"conflict\"}}");
    qn_buf_deinit(&out);
}

static void plain(void **state)
{
    (void)state;
    struct qn_buf out;
    qn_buf_init(&out, 4096);
    qn_plain_body(QN_FAMILY_ERROR, 404, "not_found", "nothing here", "/x", &out);
    assert_string_equal(qn_buf_cstr(&out),
                        "{\"error\":{\"message\":\"nothing here\",\"type\":\"not_found\",\"param\":"
                        "null,\"code\":\"not_found\",\"path\":\"/x\"}}");
    qn_buf_clear(&out);
    qn_plain_body(QN_FAMILY_NUMBER, 405, "method_not_allowed", "no", NULL, &out);
    assert_string_equal(qn_buf_cstr(&out),
                        "{\"error\":{\"message\":\"no\",\"type\":\"method_not_allowed\",\"param\":"
                        "null,\"code\":405}}");
    qn_buf_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families),
        cmocka_unit_test(crash_report),
        cmocka_unit_test(anthropic_types),
        cmocka_unit_test(statuses),
        cmocka_unit_test(loads_with_an_option_at_fault),
        cmocka_unit_test(plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
