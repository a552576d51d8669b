/* Tests the lines between the router and quince-mcp: lines that are written can be parsed again,
 * and invalid lines, which a compromised process might write, are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "contract/mcp_wire.h"

#include <stdlib.h>
#include <string.h>

static void expect(const struct qn_mcp_up *up, const char *line)
{
    struct qn_buf out, schema;
    struct qn_mcp_up again;
    struct qn_json *doc;
    struct qn_error e = {0};
    qn_buf_init(&out, QN_MCP_UP_MAX);
    qn_buf_init(&schema, QN_MCP_UP_MAX);
    qn_mcp_up_write(up, &out);
    assert_string_equal(qn_buf_cstr(&out), line);
    if (qn_mcp_up_read(out.data, out.len - 1, &again, &doc, &schema, &e))
        fail_msg("%s", e.message);
    assert_int_equal(again.kind, up->kind);
    assert_int_equal(again.id, up->id);
    assert_int_equal(again.left_out, up->left_out);
    assert_int_equal(again.error, up->error);
    assert_string_equal(again.name, up->name ? up->name : "");
    assert_string_equal(again.text, up->text ? up->text : "");
    assert_string_equal(again.schema, up->schema ? up->schema : "");
    assert_string_equal(again.message, up->message ? up->message : "");
    qn_json_free(doc);
    qn_buf_deinit(&out);
    qn_buf_deinit(&schema);
}

static void written_lines_are_parsed(void **state)
{
    (void)state;
    expect(
        &(struct qn_mcp_up){
            .kind = QN_MCP_UP_READY, .name = "a", .version = "1", .protocol = "2025-06-18"},
        "{\"is\":\"ready\",\"name\":\"a\",\"version\":\"1\",\"protocol\":\"2025-06-18\"}\n");
    expect(&(struct qn_mcp_up){.kind = QN_MCP_UP_TOOL,
                               .name = "f",
                               .title = "F",
                               .description = "d",
                               .schema = "{\"type\":\"object\"}"},
           "{\"is\":\"tool\",\"name\":\"f\",\"title\":\"F\",\"description\":\"d\",\"schema\":"
           "{\"type\":\"object\"}}\n");
    expect(&(struct qn_mcp_up){.kind = QN_MCP_UP_LISTED, .left_out = 3},
           "{\"is\":\"listed\",\"left_out\":3}\n");
    expect(&(struct qn_mcp_up){.kind = QN_MCP_UP_TEXT, .id = 7, .text = "a\n\"b\""},
           "{\"is\":\"text\",\"id\":7,\"s\":\"a\\n\\\"b\\\"\"}\n");
    expect(&(struct qn_mcp_up){.kind = QN_MCP_UP_RESULT, .id = 7, .error = true},
           "{\"is\":\"result\",\"id\":7,\"error\":true}\n");
    expect(&(struct qn_mcp_up){.kind = QN_MCP_UP_FAILED, .id = 7, .message = "why"},
           "{\"is\":\"failed\",\"id\":7,\"message\":\"why\"}\n");
    expect(&(struct qn_mcp_up){.kind = QN_MCP_UP_UNLISTED, .message = "why"},
           "{\"is\":\"unlisted\",\"message\":\"why\"}\n");
    expect(&(struct qn_mcp_up){.kind = QN_MCP_UP_DOWN, .message = "why"},
           "{\"is\":\"down\",\"message\":\"why\"}\n");
}

static void invalid_lines_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "x",
        "[]",
        "{}",
        "{\"is\":\"nothing\"}",
        "{\"is\":7}",
        "{\"is\":\"result\",\"id\":0,\"error\":false}",
        "{\"is\":\"result\",\"id\":1.5,\"error\":false}",
        "{\"is\":\"result\",\"id\":1}",
        "{\"is\":\"result\",\"id\":1,\"error\":\"no\"}",
        "{\"is\":\"text\",\"id\":1}",
        "{\"is\":\"text\",\"s\":\"a\"}",
        "{\"is\":\"listed\"}",
        "{\"is\":\"listed\",\"left_out\":-1}",
        "{\"is\":\"down\"}",
        "{\"is\":\"ready\",\"name\":\"a\",\"version\":\"1\"}",
        "{\"is\":\"tool\",\"name\":\"\",\"title\":\"\",\"description\":\"\",\"schema\":{}}",
        "{\"is\":\"tool\",\"name\":\"f\",\"title\":\"\",\"description\":\"\",\"schema\":[]}",
        "{\"is\":\"tool\",\"name\":\"f\",\"title\":\"\",\"description\":\"\"}",
    };
    struct qn_buf schema;
    qn_buf_init(&schema, QN_MCP_UP_MAX);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct qn_mcp_up up;
        struct qn_json *doc;
        struct qn_error e = {0};
        assert_int_equal(qn_mcp_up_read(bad[i], strlen(bad[i]), &up, &doc, &schema, &e), QN_ECHILD);
        assert_null(doc);
        assert_non_null(strstr(e.message, "broke its protocol"));
    }
    qn_buf_deinit(&schema);
}

/* Strings of exactly the maximum length are accepted; one byte more is refused. */
static void limits(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after;
        size_t max;
    } rows[] = {
        {"{\"is\":\"text\",\"id\":1,\"s\":\"", "\"}", QN_MCP_PIECE_MAX},
        {"{\"is\":\"down\",\"message\":\"", "\"}", QN_MCP_MESSAGE_TEXT_MAX},
        {"{\"is\":\"ready\",\"version\":\"\",\"protocol\":\"\",\"name\":\"", "\"}",
         QN_MCP_WORD_MAX},
        {"{\"is\":\"tool\",\"title\":\"\",\"description\":\"\",\"schema\":{},\"name\":\"", "\"}",
         QN_MCP_TOOL_NAME_MAX},
        {"{\"is\":\"tool\",\"name\":\"f\",\"title\":\"\",\"schema\":{},\"description\":\"", "\"}",
         QN_MCP_DESCRIPTION_MAX},
        {"{\"is\":\"tool\",\"name\":\"f\",\"title\":\"\",\"description\":\"\",\"schema\":{\"a\":\"",
         "\"}}", QN_MCP_SCHEMA_MAX - sizeof "{\"a\":\"\"}" + 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t more = 0; more < 2; more++) {
            struct qn_buf line, schema;
            struct qn_mcp_up up;
            struct qn_json *doc;
            qn_buf_init(&line, QN_MCP_UP_MAX);
            qn_buf_init(&schema, QN_MCP_UP_MAX);
            qn_buf_str(&line, rows[i].before);
            for (size_t n = 0; n < rows[i].max + more; n++)
                qn_buf_char(&line, 'x');
            qn_buf_str(&line, rows[i].after);
            qn_err err = qn_mcp_up_read(line.data, line.len, &up, &doc, &schema, NULL);
            assert_int_equal(err, more ? QN_ECHILD : QN_OK);
            qn_json_free(doc);
            qn_buf_deinit(&line);
            qn_buf_deinit(&schema);
        }
}

static void program_line(void **state)
{
    static const char *const bad[] = {"{\"is\":\"program\",\"pid\":1}",
                                      "{\"is\":\"program\",\"pid\":-7}",
                                      "{\"is\":\"program\",\"pid\":4294967296}",
                                      "{\"is\":\"program\",\"pid\":\"7\"}",
                                      "{\"is\":\"program\"}",
                                      "{\"is\":\"listed\",\"left_out\":7}",
                                      ""};
    struct qn_buf line;
    int64_t pid = 0;
    (void)state;
    qn_buf_init(&line, 100);
    qn_mcp_program_write(77, &line);
    assert_true(qn_mcp_program_read(line.data, line.len - 1, &pid));
    assert_int_equal(pid, 77);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(qn_mcp_program_read(bad[i], strlen(bad[i]), &pid));
    qn_buf_deinit(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(written_lines_are_parsed),
                                       cmocka_unit_test(invalid_lines_are_refused),
                                       cmocka_unit_test(limits), cmocka_unit_test(program_line)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
