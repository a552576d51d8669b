/* See launch.h. */
#include "cli/launch.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/path.h"
#include "cli/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_TIMEOUT_MS = 20000, POLL_US = 50000 };

char *qn_launch_program(void)
{
    char *dir = qn_path_self_dir();
    char *path = qn_path_join(dir, "quinced");
    free(dir);
    return path;
}

char *qn_launch_data_dir(void)
{
    const char *dir = getenv("QUINCE_DATA_DIR");
    return dir && dir[0] ? qn_xstrdup(dir) : qn_path_data_dir();
}

/* The last line of a file, for the message when the server dies at once. */
static void last_line(const char *path, off_t from, char *out, size_t n)
{
    out[0] = '\0';
    FILE *f = fopen(path, "r");
    if (!f)
        return;
    char line[1024];
    if (fseeko(f, from, SEEK_SET) == 0)
        while (fgets(line, sizeof line, f)) {
            line[strcspn(line, "\n")] = '\0';
            if (line[0])
                snprintf(out, n, "%.*s", (int)n - 1, line);
        }
    fclose(f);
}

static pid_t start(const char *program, int log_fd, const char *port)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    /* Its own session: Ctrl-C in this terminal is not for the server. */
    setsid();
    int null_fd = open("/dev/null", O_RDONLY);
    dup2(null_fd, STDIN_FILENO);
    dup2(log_fd, STDOUT_FILENO);
    dup2(log_fd, STDERR_FILENO);
    execl(program, program, "--port", port, (char *)NULL);
    _exit(127);
}

qn_err qn_launch_server(const struct qn_cli *cli, struct qn_error *e)
{
    if (qn_client_alive(cli))
        return QN_OK;
    if (!cli->local)
        return qn_fail(e, QN_EIO, "no server answers at %s", cli->base_url);
    char *program = qn_launch_program();
    char *data_dir = qn_launch_data_dir();
    char *log = qn_path_join(data_dir, "server.log");
    char port[16];
    snprintf(port, sizeof port, "%d", cli->port);
    int log_fd = -1;
    qn_err err = QN_OK;
    if (access(program, X_OK) != 0) {
        err = qn_fail(e, QN_ENOTFOUND, "no server answers at %s, and %s is not there to start one",
                      cli->base_url, program);
        goto out;
    }
    err = qn_mkdirs(data_dir, 0700, e);
    if (err)
        goto out;
    log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_fd < 0) {
        err = qn_fail_errno(e, "open %s", log);
        goto out;
    }
    off_t log_start = lseek(log_fd, 0, SEEK_END);
    fprintf(stderr, "No server runs at %s: starting one (its log: %s)\n", cli->base_url, log);
    pid_t pid = start(program, log_fd, port);
    if (pid < 0) {
        err = qn_fail_errno(e, "fork");
        goto out;
    }
    int64_t deadline = qn_now_ms() + START_TIMEOUT_MS;
    while (!qn_client_alive(cli)) {
        int status;
        if (waitpid(pid, &status, WNOHANG) == pid) {
            char line[512];
            last_line(log, log_start, line, sizeof line);
            err = qn_fail(e, QN_ECHILD, "the server did not start: %s",
                          line[0] ? line : "see its log");
            goto out;
        }
        if (qn_now_ms() > deadline) {
            err = qn_fail(e, QN_ETIMEOUT, "the server (pid %d) does not answer yet: see %s",
                          (int)pid, log);
            goto out;
        }
        usleep(POLL_US);
    }
    fprintf(stderr, "The server runs in the background (pid %d); `kill %d` stops it\n", (int)pid,
            (int)pid);
out:
    if (log_fd >= 0)
        close(log_fd);
    free(log);
    free(data_dir);
    free(program);
    return err;
}
