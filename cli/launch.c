/* See launch.h. */
#include "cli/launch.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/str.h"
#include "cli/client.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_TIMEOUT_MS = 20000, RIVAL_TIMEOUT_MS = 1500, POLL_US = 50000, LINE_MAX_BYTES = 65536 };

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

/* Reads the last line of the server's log, which says why a server ended at once. */
static void last_line(const char *path, off_t from, struct qn_buf *out)
{
    char *line = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "r");
    struct stat st;
    /* the server has rotated the log */
    bool anew = f && fstat(fileno(f), &st) == 0 && st.st_size < from;
    if (f && fseeko(f, anew ? 0 : from, SEEK_SET) == 0)
        while (getline(&line, &room, f) > 0) {
            line[strcspn(line, "\n")] = '\0';
            if (!line[0])
                continue;
            qn_buf_clear(out);
            qn_buf_str(out, line + (qn_str_starts(line, "quinced: ") ? 9 : 0));
        }
    free(line);
    if (f)
        fclose(f);
}

static pid_t start(const char *program, int log_fd, const char *host, const char *port)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    /* A session of its own protects the server from Ctrl-C in this terminal and from the terminal's
     * end. Only the log's descriptor is passed on, so that no program waits for a pipe that the
     * server keeps open. */
    setsid();
    signal(SIGPIPE, SIG_DFL);
    int null_fd = open("/dev/null", O_RDONLY);
    dup2(null_fd, STDIN_FILENO);
    dup2(log_fd, STDOUT_FILENO);
    dup2(log_fd, STDERR_FILENO);
    close_range(STDERR_FILENO + 1, ~0U, 0);
    execl(program, program, "--host", host, "--port", port, (char *)NULL);
    fprintf(stderr, "cannot start %s: %s\n", program, strerror(errno));
    _exit(127);
}

/* Opens the log for appending; the server limits its size. *start: offset at which this server's
 * lines begin. */
static qn_err open_log(const char *path, int *fd, off_t *start, struct qn_error *e)
{
    *fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (*fd < 0)
        return qn_fail_errno(e, "open %s", path);
    *start = lseek(*fd, 0, SEEK_END);
    return QN_OK;
}

/* Waits until a server answers. If the started server ends, reports the last line of its log,
 * unless another server was started meanwhile and answers instead. */
static qn_err await(const struct qn_cli *cli, pid_t pid, const char *log, off_t log_start,
                    struct qn_error *e)
{
    int64_t deadline = qn_now_ms() + START_TIMEOUT_MS;
    bool dead = false;
    while (qn_client_probe(cli) != QN_SERVER) {
        int status;
        if (!dead && waitpid(pid, &status, WNOHANG) == pid) {
            dead = true;
            deadline = qn_now_ms() + RIVAL_TIMEOUT_MS;
        }
        if (qn_now_ms() > deadline) {
            if (!dead)
                return qn_fail(e, QN_ETIMEOUT, "the server (pid %d) does not answer yet: see %s",
                               (int)pid, log);
            struct qn_buf line;
            qn_buf_init(&line, LINE_MAX_BYTES);
            last_line(log, log_start, &line);
            qn_fail(e, QN_ECHILD, "the server did not start: %s",
                    line.len ? line.data : "see its log");
            qn_buf_deinit(&line);
            return QN_ECHILD;
        }
        usleep(POLL_US);
    }
    usleep(POLL_US); /* the other server may have answered before the started one ended */
    if (!dead && waitpid(pid, NULL, WNOHANG) == 0)
        fprintf(stderr, "The server runs in the background (pid %d); `quince stop` stops it\n",
                (int)pid);
    return QN_OK;
}

/* Takes the log's lock into *fd. Commands thereby start servers one after another, so that a second
 * command finds the first one's server. */
static qn_err take_turn(const char *path, int *fd, struct qn_error *e)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return qn_fail_errno(e, "open %s", path);
    return flock(*fd, LOCK_EX) ? qn_fail_errno(e, "lock %s", path) : QN_OK;
}

static qn_err start_and_wait(const struct qn_cli *cli, struct qn_error *e)
{
    char *program = qn_launch_program();
    char *data_dir = qn_launch_data_dir();
    if (!data_dir) {
        free(program);
        return qn_fail(e, QN_EINVAL,
                       "there is no home folder for a server's data: set "
                       "QUINCE_DATA_DIR");
    }
    char *log = qn_path_join(data_dir, "server.log");
    bool any = qn_str_eq(cli->at.host, "0.0.0.0") || qn_str_eq(cli->at.host, "::");
    char port[16];
    snprintf(port, sizeof port, "%d", cli->at.port);
    int log_fd = -1, turn_fd = -1;
    off_t log_start = 0;
    qn_err err = QN_OK;
    if (access(program, X_OK) != 0)
        err = qn_fail(e, QN_ENOTFOUND, "no server runs at %s, and %s does not exist to start one",
                      cli->at.url, program);
    if (!err)
        err = qn_mkdirs(data_dir, 0700, e);
    if (!err)
        err = open_log(log, &log_fd, &log_start, e);
    if (!err)
        err = take_turn(log, &turn_fd, e);
    if (err || qn_client_probe(cli) == QN_SERVER)
        goto out;
    fprintf(stderr, "No server runs at %s: starting one (its log: %s)\n", cli->at.url, log);
    pid_t pid = start(program, log_fd, any ? "localhost" : cli->at.host, port);
    err = pid < 0 ? qn_fail_errno(e, "fork") : await(cli, pid, log, log_start, e);
out:
    if (turn_fd >= 0)
        close(turn_fd);
    if (log_fd >= 0)
        close(log_fd);
    free(log);
    free(data_dir);
    free(program);
    return err;
}

qn_err qn_launch_server(const struct qn_cli *cli, struct qn_error *e)
{
    switch (qn_client_probe(cli)) {
    case QN_SERVER:
        return QN_OK;
    case QN_STRANGER:
        return qn_fail(
            e, QN_ECONFLICT,
            "the program at %s is not a quince server: choose another port with --port N",
            cli->at.url);
    case QN_SILENT:
        return qn_fail(e, QN_ETIMEOUT,
                       "a program listens at %s and does not answer: if it is not quince, choose "
                       "another port with --port N",
                       cli->at.url);
    case QN_NO_SERVER:
        break;
    }
    return cli->at.local ? start_and_wait(cli, e)
                         : qn_fail(e, QN_EIO, "no server answers at %s", cli->at.url);
}
