/* The program quince-mcp talks to one MCP server on behalf of the router (contract/mcp_wire.h),
 * until the router closes its end of the socket QN_MCP_FD or the server can no longer be used. For
 * an HTTP server it is one process, in a sandbox that allows network connections. For a stdio
 * server it is three processes: the keeper, the server itself in a sandbox, and the speaker, which
 * reads what the server writes, in a sandbox without files, programs and network. */
#include "base/arena.h"
#include "base/log.h"
#include "confine/confine.h"
#include "mcp/http.h"
#include "mcp/keeper.h"
#include "mcp/launch.h"
#include "mcp/limits.h"
#include "mcp/router.h"
#include "mcp/stdio.h"
#include "mcp/target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
/* The sanitizer's leak check at exit needs system calls that the sandbox forbids. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}
#endif

/* Files that are needed to resolve host names and to verify certificates. */
static const struct qn_confine_path network_files[] = {
    {"/etc/resolv.conf", 0},
    {"/etc/hosts", 0},
    {"/etc/host.conf", 0},
    {"/etc/nsswitch.conf", 0},
    {"/etc/gai.conf", 0},
    {"/etc/services", 0},
    {"/etc/ssl", 0},
    {"/etc/pki", 0},
    {"/etc/ca-certificates", 0},
    {"/usr/share", 0},
    {"/usr/lib", 0},
    {"/lib", 0},
    {"/lib64", 0},
    {"/usr/local/lib", 0},
    {"/etc/ld.so.cache", 0},
    {"/etc/localtime", 0},
    {"/run/systemd/resolve", 0},
    {"/run/resolvconf", 0},
    {"/dev/null", QN_CONFINE_WRITE},
    {"/dev/urandom", 0},
};

/* Limits of a process that reads what a server sends. */
static const struct qn_limits limits = {
    .memory_bytes = 512 << 20, .descriptors = 256, .file_bytes = 1 << 20};

static void fail(const struct qn_error *e)
{
    struct qn_buf text;
    qn_buf_init(&text, QN_MCP_MESSAGE_TEXT_MAX);
    qn_buf_fmt(&text, "%.450s", e->message);
    qn_router_tell(&(struct qn_mcp_up){.kind = QN_MCP_UP_DOWN, .message = qn_buf_cstr(&text)});
    qn_buf_deinit(&text);
}

/* Puts this process into a sandbox. A restriction that the kernel does not support is skipped, with
 * a warning in the log. */
static qn_err confine(const struct qn_confine_path *paths, size_t n, enum qn_confine_need need,
                      struct qn_error *e)
{
    if (!qn_limits_set(&limits))
        return qn_fail_errno(e, "limit what this process may use");
    qn_err err = qn_confine_files(paths, n, e);
    if (err == QN_EUNSUPPORTED) {
        qn_warn("mcp", "sandbox=without_files: %s", e->message);
        err = QN_OK;
    }
    if (!err)
        err = qn_confine_calls_but(need, e);
    if (err == QN_EUNSUPPORTED) {
        qn_warn("mcp", "sandbox=without_calls: %s", e->message);
        err = QN_OK;
    }
    return err;
}

static int run_http(const struct qn_mcp_target *config, struct qn_buf *in)
{
    struct qn_error e = {0};
    if (confine(network_files, sizeof network_files / sizeof *network_files, QN_CONFINE_CLIENT,
                &e)) {
        fail(&e);
        return 1;
    }
    qn_http_run(config, in);
    return 0;
}

/* Main function of the speaker, the process that reads what the server writes. */
static _Noreturn void speak(const struct qn_mcp_target *config, const struct qn_launched *server,
                            int status, struct qn_buf *in, pid_t keeper)
{
    struct qn_error e = {0};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != keeper)
        _exit(1);
    if (confine(NULL, 0, QN_CONFINE_ALONE, &e))
        fail(&e);
    else
        qn_stdio_run(config, server, status, in);
    _exit(0);
}

static int run_stdio(const struct qn_mcp_target *config, struct qn_arena *arena, struct qn_buf *in)
{
    struct qn_launched server;
    struct qn_error e = {0};
    bool lacking;
    int ends[2];
    qn_keeper_prepare();
    if (pipe2(ends, O_CLOEXEC)) {
        qn_fail_errno(&e, "open a pipe");
        fail(&e);
        return 1;
    }
    if (qn_launch(config, arena, &server, &lacking, &e)) {
        fail(&e);
        return 1;
    }
    if (lacking)
        qn_warn("mcp", "sandbox=without_files: this kernel has no Landlock; an MCP server can read "
                       "and write what you can");
    if (qn_confine_version() < QN_CONFINE_PORTS_VERSION)
        qn_warn("mcp",
                "sandbox=without_ports: this kernel's Landlock is older than version %d; an "
                "MCP server can use quince's API as you can, unless a key is needed",
                QN_CONFINE_PORTS_VERSION);
    qn_router_tell_program(server.pid);
    pid_t keeper = getpid(), speaker = fork();
    if (speaker == 0) {
        close(ends[1]);
        speak(config, &server, ends[0], in, keeper);
    }
    close(ends[0]);
    close(QN_MCP_FD);
    qn_keeper_run(&server, speaker, ends[1]);
    return 0;
}

int main(int argc, char **argv)
{
    struct qn_buf line, rest;
    struct qn_mcp_target config;
    struct qn_error e = {0};
    struct stat st;
    (void)argv;
    if (argc != 1 || fstat(QN_MCP_FD, &st) || !S_ISSOCK(st.st_mode)) {
        fputs("quince-mcp is started by quinced\n", stderr);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    qn_buf_init(&line, QN_MCP_DOWN_MAX);
    qn_buf_init(&rest, 2 * QN_MCP_DOWN_MAX);
    struct qn_arena *arena = qn_arena_new(QN_TARGET_ARENA_MAX);
    int status = 1;
    if (!qn_router_first(&line, &rest))
        status = 0;
    else if (qn_mcp_target_read(line.data, line.len, arena, &config, &e))
        fail(&e);
    else
        status = config.stdio ? run_stdio(&config, arena, &rest) : run_http(&config, &rest);
    qn_buf_deinit(&line);
    qn_buf_deinit(&rest);
    qn_arena_free(arena);
    return status;
}
