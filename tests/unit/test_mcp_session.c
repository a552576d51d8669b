/* Tests a session with an MCP server: which messages are sent, how the server's messages are
 * handled, and when the session ends. Expected messages follow the MCP specification. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mcp/results.h"
#include "mcp/session.h"
#include "mcp_servers/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct qn_buf sent; /* messages to the server, one per line */
static struct qn_buf told; /* lines to the router */
static struct qn_session *s;
static int64_t now;

static void on_send(void *ctx, int64_t rpc, const char *json, size_t n)
{
    (void)ctx;
    (void)rpc;
    qn_buf_add(&sent, json, n);
    qn_buf_char(&sent, '\n');
}

static void on_up(void *ctx, const struct qn_mcp_up *up)
{
    (void)ctx;
    qn_mcp_up_write(up, &told);
}

static int begin(void **state)
{
    static const struct qn_session_events ev = {.send = on_send, .up = on_up};
    (void)state;
    now = 1000;
    qn_buf_init(&sent, 64 * 1024 * 1024);
    qn_buf_init(&told, 64 * 1024 * 1024);
    s = qn_session_new(&ev, NULL, 30000, now);
    return 0;
}

static int end(void **state)
{
    (void)state;
    qn_session_free(s);
    qn_buf_deinit(&sent);
    qn_buf_deinit(&told);
    return 0;
}

static void say(const char *message)
{
    qn_session_message(s, message, strlen(message), now);
}

static void expect(struct qn_buf *of, const char *text)
{
    assert_string_equal(qn_buf_cstr(of), text);
    qn_buf_clear(of);
}

/* Initialises the session and answers its list request with no tools. JSON-RPC ids 1 and 2 are used
 * up. */
static void start(void)
{
    say("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-03-26\","
        "\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"n\",\"version\":\"v\"}}}");
    say("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[]}}");
    qn_buf_clear(&sent);
    qn_buf_clear(&told);
}

static void initialize_and_list(void **state)
{
    (void)state;
    expect(&sent, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
                  "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":"
                  "{\"name\":\"quince\",\"version\":\"" QN_VERSION "\"}}}\n");
    assert_string_equal(qn_session_protocol(s), "");
    say("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2024-11-05\","
        "\"capabilities\":{\"tools\":{\"listChanged\":true}},\"serverInfo\":{\"name\":\"n\","
        "\"version\":\"v\"}}}");
    expect(&sent, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
                  "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{}}\n");
    assert_string_equal(qn_session_protocol(s), "2024-11-05");
    say("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[{\"name\":\"f\",\"inputSchema\":{}},"
        "{\"name\":\"\"},7],\"nextCursor\":\"c\"}}");
    expect(&sent, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":"
                  "{\"cursor\":\"c\"}}\n");
    say("{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"tools\":[{\"name\":\"g\",\"title\":\"G\","
        "\"description\":\"d\",\"inputSchema\":{\"type\":\"object\"}}]}}");
    expect(&told,
           "{\"is\":\"ready\",\"name\":\"n\",\"version\":\"v\",\"protocol\":\"2024-11-05\"}\n"
           "{\"is\":\"tool\",\"name\":\"f\",\"title\":\"\",\"description\":\"\",\"schema\":{}}\n"
           "{\"is\":\"tool\",\"name\":\"g\",\"title\":\"G\",\"description\":\"d\",\"schema\":"
           "{\"type\":\"object\"}}\n"
           "{\"is\":\"listed\",\"left_out\":2}\n");
    expect(&sent, "");
}

static void calls(void **state)
{
    (void)state;
    start();
    qn_session_call(s, 7, "add", "{\"a\":1}", 5000, now);
    qn_session_call(s, 8, "x", "", 5000, now);
    expect(&sent, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":"
                  "{\"name\":\"add\",\"arguments\":{\"a\":1}}}\n"
                  "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\",\"params\":"
                  "{\"name\":\"x\",\"arguments\":{}}}\n");
    /* responses may come in any order, and as a JSON-RPC batch (an array) */
    say("[{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{\"code\":-32602,\"message\":\"no\"}},"
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"2\"}]"
        ","
        "\"isError\":true}}]");
    expect(&told, "{\"is\":\"failed\",\"id\":8,\"message\":\"the server reports an error: no "
                  "(-32602)\"}\n"
                  "{\"is\":\"text\",\"id\":7,\"s\":\"2\"}\n"
                  "{\"is\":\"result\",\"id\":7,\"error\":true}\n");
    /* a second response to the same request is ignored */
    say("{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}");
    qn_session_call(s, 9, "x", "7", 5000, now);
    expect(&told, "{\"is\":\"failed\",\"id\":9,\"message\":\"the arguments are not a JSON "
                  "object\"}\n");
    expect(&sent, "");
}

static void time_and_cancelling(void **state)
{
    (void)state;
    start();
    qn_session_call(s, 7, "f", "{}", 2000, now);
    qn_session_call(s, 8, "f", "{}", 9000, now);
    qn_buf_clear(&sent);
    assert_int_equal(qn_session_tick(s, now), 2000);
    now += 2000;
    assert_int_equal(qn_session_tick(s, now), 7000);
    expect(&told, "{\"is\":\"failed\",\"id\":7,\"message\":\"the server did not answer within 2 "
                  "s\"}\n");
    expect(&sent, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
                  "{\"requestId\":3,\"reason\":\"timeout\"}}\n");
    qn_session_cancel(s, 8);
    expect(&sent, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
                  "{\"requestId\":4,\"reason\":\"the user has stopped the answer\"}}\n");
    say("{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}");
    expect(&told, "");
    assert_false(qn_session_is_down(s));
}

static void requests_of_the_server(void **state)
{
    (void)state;
    start();
    say("{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}");
    say("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"roots/list\"}");
    say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}");
    expect(&sent, "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}\n"
                  "{\"jsonrpc\":\"2.0\",\"id\":9,\"error\":{\"code\":-32601,\"message\":\"Method "
                  "not found\"}}\n");
    /* after list_changed the tools are requested again, but not within QN_SESSION_RELIST_MS of the
     * last list */
    say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    qn_session_tick(s, now);
    expect(&sent, "");
    now += QN_SESSION_RELIST_MS;
    qn_session_tick(s, now);
    expect(&sent, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":{}}\n");
    expect(&told, "");
}

/* Checks that the session has reported QN_MCP_UP_DOWN with this text, and that it does nothing any
 * more. */
static void expect_down(const char *words)
{
    assert_true(qn_session_is_down(s));
    assert_non_null(strstr(qn_buf_cstr(&told), "{\"is\":\"down\""));
    if (!strstr(qn_buf_cstr(&told), words))
        fail_msg("%s", qn_buf_cstr(&told));
    qn_buf_clear(&told);
    say("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}");
    qn_session_call(s, 7, "f", "{}", 2000, now);
    expect(&told, "");
}

static void invalid_message(void **state)
{
    (void)state;
    start();
    say("hello");
    expect_down("not a message of the protocol");
}

static void banner(void **state)
{
    (void)state;
    for (int i = 0; i < QN_SESSION_BANNERS_MAX; i++)
        say(i % 2 ? "Welcome!" : "[1]");
    assert_false(qn_session_is_down(s));
    say("Welcome!");
    expect_down("not a message of the protocol");
}

static void flood(void **state)
{
    (void)state;
    start();
    for (int i = 0; i < 3 * QN_SESSION_FLOOD_MESSAGES / 2; i++) { /* at half the allowed rate */
        now += 2 * QN_SESSION_FLOOD_MS / QN_SESSION_FLOOD_MESSAGES;
        say("{\"method\":\"notifications/progress\"}");
    }
    assert_false(qn_session_is_down(s));
    now += QN_SESSION_FLOOD_MS;
    for (int i = 0; i <= QN_SESSION_FLOOD_MESSAGES; i++)
        say("{\"method\":\"notifications/progress\"}");
    expect_down("without pause");
}

static void initialize_times_out(void **state)
{
    (void)state;
    now += 30000;
    qn_session_tick(s, now);
    expect_down("within 30 s");
}

static void unsupported_revision(void **state)
{
    (void)state;
    say("{\"id\":1,\"result\":{\"protocolVersion\":\"1999-01-01\"}}");
    expect_down("revision '1999-01-01'");
}

/* After the server has lost the session, its calls are sent again in a new session. A call that is
 * lost a second time fails. */
static void session_lost(void **state)
{
    (void)state;
    start();
    qn_session_call(s, 7, "f", "{}", 9000, now); /* id 3 */
    qn_session_call(s, 8, "g", "{}", 9000, now); /* id 4 */
    qn_buf_clear(&sent);
    qn_session_lost(s, 3, now);
    assert_non_null(strstr(qn_buf_cstr(&sent), "\"id\":5,\"method\":\"initialize\""));
    qn_session_lost(s, 4, now);
    qn_buf_clear(&sent);
    say("{\"id\":5,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}}}"
        "}");
    assert_non_null(strstr(qn_buf_cstr(&sent), "\"id\":3,\"method\":\"tools/call\""));
    assert_non_null(strstr(qn_buf_cstr(&sent), "\"id\":4,\"method\":\"tools/call\""));
    qn_buf_clear(&told);
    say("{\"id\":4,\"result\":{\"content\":[]}}");
    expect(&told, "{\"is\":\"result\",\"id\":8,\"error\":false}\n");
    qn_session_lost(s, 3, now);
    expect(&told, "{\"is\":\"failed\",\"id\":7,\"message\":\"the server does not know the session "
                  "that it has begun\"}\n");
}

static void long_results(void **state)
{
    (void)state;
    struct qn_buf message;
    start();
    qn_session_call(s, 7, "f", "{}", 9000, now);
    qn_buf_init(&message, 1024 * 1024);
    qn_buf_str(&message, "{\"id\":3,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"");
    for (int i = 0; i < QN_MCP_RESULT_MAX; i++)
        qn_buf_str(&message, "\xC3\xA9");
    qn_buf_str(&message, "\"}]}}");
    qn_session_message(s, message.data, message.len, now);
    struct qn_buf schema;
    size_t bytes = 0, lines = 0;
    qn_buf_init(&schema, QN_MCP_UP_MAX);
    for (const char *at = qn_buf_cstr(&told); *at; at += strcspn(at, "\n") + 1, lines++) {
        struct qn_mcp_up up;
        struct qn_json *doc;
        assert_int_equal(qn_mcp_up_read(at, strcspn(at, "\n"), &up, &doc, &schema, NULL), QN_OK);
        bytes += strlen(up.text);
        qn_json_free(doc);
    }
    assert_in_range(bytes, QN_MCP_RESULT_MAX - 128, QN_MCP_RESULT_MAX);
    assert_in_range(lines, 9, 10);
    assert_non_null(strstr(qn_buf_cstr(&told), "the rest of the result was left out"));
    qn_buf_deinit(&schema);
    qn_buf_deinit(&message);
}

static void names(void **state)
{
    (void)state;
    static const struct {
        const char *server, *tool;
        size_t n;
        const char *name;
    } rows[] = {
        {"files", "read_file", 0, "files__read_file"},
        {"My files!", "read/file", 0, "My_files___read_file"},
        {"f", "t", 2, "f__t_2"},
        {"\xC3\xA4\xE2\x82\xAC", "\xF0\x9F\x98\x80", 0, "_____"},
        {"aaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
         0, "aaaaaaaaaaaaaaaaaaaaa__bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},
        {"aaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
         12, "aaaaaaaaaaaaaaaaaaaaa__bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb_12"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[QN_MCP_NAME_MAX + 1];
        qn_mcp_name(rows[i].server, rows[i].tool, rows[i].n, name);
        assert_string_equal(name, rows[i].name);
        assert_true(strlen(name) <= QN_MCP_NAME_MAX);
    }
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(initialize_and_list),
                                       CASE(calls),
                                       CASE(time_and_cancelling),
                                       CASE(requests_of_the_server),
                                       CASE(invalid_message),
                                       CASE(banner),
                                       CASE(flood),
                                       CASE(initialize_times_out),
                                       CASE(unsupported_revision),
                                       CASE(session_lost),
                                       CASE(long_results),
                                       cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
