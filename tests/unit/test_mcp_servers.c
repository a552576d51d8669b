/* Tests the router's side of MCP servers, with shell scripts in place of quince-mcp: starts, calls,
 * ends, pauses after failures, and lines that a compromised process might write. The clock is moved
 * forward instead of waiting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/log.h"
#include "mcp_servers/servers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int64_t __real_qn_now_ms(void);
int64_t __wrap_qn_now_ms(void);

static int64_t ahead_ms; /* milliseconds by which the clock was moved forward */

int64_t __wrap_qn_now_ms(void)
{
    return __real_qn_now_ms() + ahead_ms;
}

#define ID "0123456789abcdef0123456789abcdef"
#define READY "{\"is\":\"ready\",\"name\":\"n\",\"version\":\"1\",\"protocol\":\"2025-06-18\"}"
#define TOOL "{\"is\":\"tool\",\"name\":\"f\",\"title\":\"\",\"description\":\"d\",\"schema\":{}}"
#define LISTED "{\"is\":\"listed\",\"left_out\":0}"

static char dir[64], program[80], folder[80];
static struct qn_loop *loop;
static struct qn_mcp *mcp;
static int told; /* number of calls of the callback `changed` */

static void on_changed(void *ctx, const char *owner)
{
    (void)ctx;
    assert_true(*owner);
    told++;
}

/* Writes the shell script that replaces quince-mcp. Its descriptor 3 is the socket. */
static void write_script(const char *text)
{
    char temp[100];
    snprintf(temp, sizeof temp, "%s.new", program);
    FILE *f = fopen(temp, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\nread -r first <&3\n%s\n", text);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(temp, 0700), 0);
    /* Replaced by renaming, because a shell may still be reading the old script. */
    assert_int_equal(rename(temp, program), 0);
}

static size_t own_ports(void *ctx, int out[static QN_MCP_PORTS_MAX])
{
    (void)ctx;
    out[0] = 8080;
    out[1] = 8081;
    return 2;
}

static int begin(void **state)
{
    struct qn_error e;
    (void)state;
    qn_log_set_level(QN_LOG_FATAL);
    strcpy(dir, "/tmp/qn-mcp-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(program, sizeof program, "%s/quince-mcp", dir);
    snprintf(folder, sizeof folder, "%s/mcp", dir);
    assert_int_equal(qn_loop_new(&loop, &e), QN_OK);
    mcp = qn_mcp_new(&(struct qn_mcp_config){.loop = loop,
                                             .program = program,
                                             .folder = folder,
                                             .changed = on_changed,
                                             .ports = own_ports,
                                             .data_dir = "/data"});
    ahead_ms = told = 0;
    return 0;
}

static int end(void **state)
{
    char command[128];
    (void)state;
    qn_mcp_stop(mcp);
    qn_loop_free(loop);
    qn_mcp_free(mcp);
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

/* ---- wants, calls and states ---- */

static struct qn_chat_mcp stored(void)
{
    return (struct qn_chat_mcp){.id = ID,
                                .name = "tools",
                                .stdio = true,
                                .enabled = true,
                                .revision = 1,
                                .config = "{\"command\":\"x\",\"call_s\":5}",
                                .secrets = "{\"env\":{\"A\":\"b\"}}",
                                .permissions = "{}"};
}

static struct qn_error settled; /* error of the last want; code QN_OK: the tools were listed */

static void on_settled(void *ctx, const struct qn_error *e)
{
    (void)ctx;
    settled = e ? *e : (struct qn_error){0};
    qn_loop_stop(loop);
}

/* Wants the tools of the server and waits for the outcome; returns the error's message, "" if
 * none. */
static const char *want(const struct qn_chat_mcp *m, bool admin, bool again)
{
    struct qn_mcp_want w = {.fn = on_settled};
    qn_mcp_want(mcp, m, "me", admin, again, &w);
    qn_loop_run(loop);
    assert_null(w.server);
    return settled.message;
}

static const char *want_tools(void)
{
    struct qn_chat_mcp m = stored();
    return want(&m, true, false);
}

static bool failed;
static char result[4096];

static void on_done(void *ctx, bool bad, const char *text, size_t n)
{
    (void)ctx;
    failed = bad;
    snprintf(result, sizeof result, "%.*s", (int)n, text);
    qn_loop_stop(loop);
}

static void call(void)
{
    struct qn_mcp_call c = {.done = on_done};
    qn_mcp_call_begin(mcp, ID, true, "f", "{}", &c);
    qn_loop_run(loop);
    assert_null(c.server);
}

static struct qn_mcp_view look(void)
{
    struct qn_mcp_view v;
    qn_mcp_look(mcp, ID, &v);
    return v;
}

static void stop_loop(void *ctx)
{
    (void)ctx;
    qn_loop_stop(loop);
}

/* Runs the loop until the server has this state. */
static void until(enum qn_mcp_state s)
{
    for (int i = 0; look().state != s; i++) {
        struct qn_timer *t = qn_timer_start(loop, 20, 0, stop_loop, NULL);
        qn_loop_run(loop);
        qn_timer_stop(t);
        assert_true(i < 1000);
    }
}

/* ---- cases ---- */

static void start_list_and_call(void **state)
{
    (void)state;
    write_script(
        "printf '%s\\n' '" READY "' '" TOOL "' '" LISTED "' >&3\n"
        "read -r line <&3\n"
        "printf '%s\\n' '{\"is\":\"text\",\"id\":1,\"s\":\"a\"}' "
        "'{\"is\":\"text\",\"id\":9,\"s\":\"x\"}' '{\"is\":\"text\",\"id\":1,\"s\":\"b\"}' "
        "'{\"is\":\"result\",\"id\":1,\"error\":false}' >&3\n"
        "echo \"$first\" > \"$0.first\"; echo \"$line\" >> \"$0.first\"; read -r line <&3");
    assert_string_equal(want_tools(), "");
    struct qn_mcp_view v = look();
    assert_int_equal(v.state, QN_MCP_READY);
    assert_int_equal(v.n_tools, 1);
    assert_string_equal(v.tools[0].name, "f");
    assert_string_equal(v.tools[0].schema, "{}");
    assert_string_equal(v.protocol, "2025-06-18");
    call();
    assert_false(failed);
    assert_string_equal(result, "ab");
    assert_true(told >= 2);
    /* the lines that the program has received */
    char path[100], text[1024] = "", expected[1024];
    snprintf(path, sizeof path, "%s.first", program);
    until(QN_MCP_READY);
    for (int i = 0; i < 1000 && !strstr(text, "call"); i++) {
        FILE *f = fopen(path, "r");
        size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
        text[n] = '\0';
        if (f)
            fclose(f);
        usleep(5000);
    }
    snprintf(expected, sizeof expected,
             "{\"do\":\"start\",\"kind\":\"stdio\",\"command\":\"x\",\"call_s\":5,\"env\":"
             "{\"A\":\"b\"},\"folder\":\"%s/" ID "\",\"public\":false,\"ports\":[8080,8081],"
             "\"private\":[\"/data\"],\"start_ms\":30000}\n"
             "{\"do\":\"call\",\"id\":1,\"tool\":\"f\",\"arguments\":\"{}\",\"ms\":5000}\n",
             folder);
    assert_string_equal(text, expected);
}

/* Each script makes the start fail, and the want reports the reason. */
static void failed_starts_report_the_reason(void **state)
{
    (void)state;
    static const struct {
        const char *script, *words;
    } rows[] = {
        {"echo nonsense >&3; read -r line <&3", "broke its protocol"},
        {"echo '{\"is\":\"other\"}' >&3; read -r line <&3", "broke its protocol"},
        {"head -c 300000 /dev/zero >&3 2>/dev/null; read -r line <&3", "sent invalid data"},
        {"echo '" READY "' >&3; while echo '" TOOL "' >&3; do :; done 2>/dev/null",
         "exceeds its limits"},
        {"echo '{\"is\":\"down\",\"message\":\"so it is\"}' >&3", "so it is"},
        {"exit 3", "has ended"},
        {"echo '" READY "' >&3; echo '{\"is\":\"unlisted\",\"message\":\"no list\"}' >&3;"
         " read -r line <&3",
         "no list"},
    };
    struct qn_chat_mcp m = stored();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_script(rows[i].script);
        m.revision++; /* a new revision restarts the server at once */
        const char *why = want(&m, true, false);
        if (!strstr(why, rows[i].words))
            fail_msg("%s: %s", rows[i].words, why);
    }
}

static void pauses_after_failures(void **state)
{
    (void)state;
    write_script("exit 1");
    int64_t expected = QN_MCP_BACKOFF_MS;
    for (int i = 0; i < 9; i++) {
        assert_true(*want_tools());
        struct qn_mcp_view v = look();
        assert_int_equal(v.state, QN_MCP_FAILED);
        assert_in_range(v.retry_ms, expected - 900, expected);
        assert_non_null(strstr(want_tools(), "it can be started again in"));
        call(); /* fails at once, too */
        assert_true(failed && strstr(result, "it can be started again in"));
        ahead_ms += v.retry_ms;
        expected = 2 * expected < QN_MCP_BACKOFF_MAX_MS ? 2 * expected : QN_MCP_BACKOFF_MAX_MS;
    }
    struct qn_chat_mcp m = stored();
    assert_true(*want_tools());
    write_script("printf '%s\\n' '" READY "' '" TOOL "' '" LISTED "' >&3; read -r line <&3");
    assert_true(*want(&m, true, false));           /* during the pause */
    assert_string_equal(want(&m, true, true), ""); /* a refresh (again = true) skips the pause */
}

static void an_idle_server_ends(void **state)
{
    (void)state;
    write_script("printf '%s\\n' '" READY "' '" TOOL "' '" LISTED "' >&3; read -r line <&3");
    assert_string_equal(want_tools(), "");
    ahead_ms += QN_MCP_IDLE_MS;
    until(QN_MCP_OFF);
    assert_int_equal(look().n_tools, 1); /* the list of tools is kept */
    assert_string_equal(want_tools(), "");
    assert_int_equal(look().state, QN_MCP_READY);
}

static void start_and_call_time_out(void **state)
{
    (void)state;
    struct qn_chat_mcp m = stored();
    struct qn_mcp_want w = {.fn = on_settled};
    write_script("read -r line <&3");
    qn_mcp_want(mcp, &m, "me", true, false, &w);
    ahead_ms += QN_MCP_START_MS + QN_MCP_GRACE_MS;
    qn_loop_run(loop);
    assert_string_equal(settled.message, "the server did not answer in time; it can be started "
                                         "again in 1 s");
    /* a call that gets no result */
    write_script("printf '%s\\n' '" READY "' '" LISTED "' >&3; while read -r line <&3; do :; done");
    ahead_ms += QN_MCP_BACKOFF_MS;
    assert_string_equal(want_tools(), "");
    struct qn_mcp_call c = {.done = on_done};
    qn_mcp_call_begin(mcp, ID, true, "f", "{}", &c);
    ahead_ms += 5000 + QN_MCP_GRACE_MS;
    qn_loop_run(loop);
    assert_true(failed);
    assert_string_equal(result, "the server did not answer in time");
}

/* The process reports READY but never lists its tools. */
static void list_times_out(void **state)
{
    (void)state;
    struct qn_chat_mcp m = stored();
    struct qn_mcp_want w = {.fn = on_settled};
    write_script("echo '" READY "' >&3; while read -r line <&3; do :; done");
    qn_mcp_want(mcp, &m, "me", true, false, &w);
    until(QN_MCP_READY);
    ahead_ms += QN_MCP_START_MS + QN_MCP_GRACE_MS;
    qn_loop_run(loop);
    assert_non_null(strstr(settled.message, "the server did not answer in time"));
    /* the same for a later list */
    write_script("printf '%s\\n' '" READY "' '" LISTED "' >&3; while read -r line <&3; do :; done");
    ahead_ms += QN_MCP_BACKOFF_MS;
    assert_string_equal(want_tools(), "");
    qn_mcp_want(mcp, &m, "me", true, true, &w);
    ahead_ms += QN_MCP_LIST_MS + QN_MCP_GRACE_MS;
    qn_loop_run(loop);
    assert_non_null(strstr(settled.message, "the server did not answer in time"));
}

static void barred_disabled_and_deleted_servers(void **state)
{
    (void)state;
    struct qn_chat_mcp m = stored();
    write_script("printf '%s\\n' '" READY "' '" LISTED "' >&3; echo \"$first\" > \"$0.first\";"
                 " read -r line <&3");
    assert_non_null(strstr(want(&m, false, true), "only an admin"));
    m.stdio = false;
    m.revision++;
    assert_string_equal(want(&m, false, false), "");
    m.enabled = false;
    qn_mcp_changed(mcp, &m);
    assert_int_equal(look().state, QN_MCP_OFF);
    call();
    assert_true(failed);
    assert_string_equal(result, "the MCP server is switched off");
    qn_mcp_removed(mcp, ID);
    call();
    assert_string_equal(result, "the MCP server was deleted");
}

/* ---- limits of processes ---- */

/* Wants the tools of server n of the owner; returns the error's message, "" if none. */
static const char *want_of(const char *owner, int n)
{
    char id[QN_CHATS_ID_DIGITS + 1];
    struct qn_chat_mcp m = stored();
    struct qn_mcp_want w = {.fn = on_settled};
    snprintf(id, sizeof id, "%.4s%028d", owner, n);
    m.id = id;
    ahead_ms++;
    qn_mcp_want(mcp, &m, owner, true, false, &w);
    qn_loop_run(loop);
    return settled.message;
}

static enum qn_mcp_state state_of(const char *owner, int n)
{
    char id[QN_CHATS_ID_DIGITS + 1];
    struct qn_mcp_view v;
    snprintf(id, sizeof id, "%.4s%028d", owner, n);
    qn_mcp_look(mcp, id, &v);
    return v.state;
}

static void processes_of_an_owner_are_limited(void **state)
{
    (void)state;
    struct qn_mcp_call calls[QN_MCP_OWNER_PROCESSES_MAX] = {0};
    write_script("printf '%s\\n' '" READY "' '" LISTED "' >&3; while read -r line <&3; do :; done");
    for (int i = 0; i < QN_MCP_OWNER_PROCESSES_MAX; i++)
        assert_string_equal(want_of("anna", i), "");
    assert_int_equal(state_of("anna", 0), QN_MCP_READY);
    assert_string_equal(want_of("anna", 50), "");
    assert_int_equal(state_of("anna", 0), QN_MCP_OFF); /* unused for the longest time */
    assert_int_equal(state_of("anna", 1), QN_MCP_READY);
    for (int i = 0; i < QN_MCP_OWNER_PROCESSES_MAX; i++) {
        char id[QN_CHATS_ID_DIGITS + 1];
        snprintf(id, sizeof id, "anna%028d", i ? i : 50);
        calls[i].done = on_done;
        qn_mcp_call_begin(mcp, id, true, "f", "{}", &calls[i]);
    }
    assert_string_equal(want_of("anna", 51), "16 MCP servers of yours are at work already");
    assert_string_equal(want_of("bert", 0), "");
    for (int i = 0; i < QN_MCP_OWNER_PROCESSES_MAX; i++)
        qn_mcp_call_cancel(&calls[i]);
}

/* When other owners use all processes, a new owner still gets one: an idle process is ended. */
static void processes_of_all_are_limited(void **state)
{
    (void)state;
    static const char *const owners[] = {"anna", "bert", "cleo", "dora"};
    write_script("printf '%s\\n' '" READY "' '" LISTED "' >&3; while read -r line <&3; do :; done");
    for (int i = 0; i < QN_MCP_OWNER_PROCESSES_MAX; i++)
        for (size_t k = 0; k < sizeof owners / sizeof *owners; k++)
            assert_string_equal(want_of(owners[k], i), "");
    assert_string_equal(want_of("emil", 0), "");
    assert_int_equal(state_of("anna", 0), QN_MCP_OFF);
    assert_int_equal(state_of("bert", 0), QN_MCP_READY);
    assert_string_equal(want_of("emil", 1), "");
    assert_int_equal(state_of("bert", 0), QN_MCP_OFF);
    assert_int_equal(state_of("emil", 0), QN_MCP_READY);
}

static void cancelled_calls_and_changed_servers(void **state)
{
    (void)state;
    struct qn_chat_mcp m = stored();
    write_script("printf '%s\\n' '" READY "' '" LISTED "' >&3; while read -r line <&3; do :; done");
    assert_string_equal(want_tools(), "");
    struct qn_mcp_call a = {.done = on_done}, b = {.done = on_done};
    qn_mcp_call_begin(mcp, ID, true, "f", "{}", &a);
    qn_mcp_call_begin(mcp, ID, true, "f", "{}", &b);
    qn_mcp_call_cancel(&a);
    qn_mcp_call_cancel(&a);
    assert_null(a.server);
    m.revision++;
    qn_mcp_changed(mcp, &m);
    assert_true(failed);
    assert_string_equal(result, "the server's configuration has changed");
    assert_int_equal(look().state, QN_MCP_OFF);
    assert_false(look().listed);
}

/* A call is not sent to a process that was started for a client with other rights. If a restart for
 * such a client interrupts a want, the want reports this reason. */
static void clients_with_other_rights(void **state)
{
    (void)state;
    struct qn_chat_mcp m = stored();
    struct qn_mcp_call c = {.done = on_done};
    struct qn_mcp_want w = {.fn = on_settled}, other = {.fn = on_settled};
    write_script("printf '%s\\n' '" READY "' '" LISTED "' >&3; while read -r line <&3; do"
                 " echo '{\"is\":\"result\",\"id\":2,\"error\":false}' >&3; done");
    m.stdio = false;
    assert_string_equal(want(&m, true, false), "");
    qn_mcp_call_begin(mcp, ID, false, "f", "{}", &c);
    qn_loop_run(loop);
    assert_true(failed);
    assert_string_equal(result, "a client with other rights uses the MCP server");
    call();
    assert_false(failed);
    m.revision++;
    write_script("read -r line <&3");
    qn_mcp_want(mcp, &m, "me", true, false, &w);
    qn_mcp_want(mcp, &m, "me", false, false, &other);
    assert_null(w.server);
    assert_string_equal(settled.message,
                        "the server was restarted because a client with other rights uses it");
    m.enabled = false;
    qn_mcp_changed(mcp, &m);
    assert_string_equal(settled.message, "the server was switched off");
    m.enabled = true;
    qn_mcp_want(mcp, &m, "me", true, false, &w);
    m.revision++;
    qn_mcp_changed(mcp, &m);
    assert_string_equal(settled.message, "the server's configuration has changed");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(start_list_and_call),
                                       CASE(failed_starts_report_the_reason),
                                       CASE(pauses_after_failures),
                                       CASE(an_idle_server_ends),
                                       CASE(start_and_call_time_out),
                                       CASE(list_times_out),
                                       CASE(barred_disabled_and_deleted_servers),
                                       CASE(processes_of_an_owner_are_limited),
                                       CASE(processes_of_all_are_limited),
                                       CASE(cancelled_calls_and_changed_servers),
                                       CASE(clients_with_other_rights)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
