/* open: shows the browser page of the server. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/launch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* xdg-open ends at once, or stays until the browser that it has started is closed. */
enum { OPENER_TIMEOUT_MS = 3000, POLL_US = 20000, URL_MAX = 8192 };

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

/* Passes the address to the desktop's browser. False: there is no desktop, no xdg-open, or xdg-open
 * found no browser. */
static bool show(const char *url)
{
    if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY"))
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        int null_fd = open("/dev/null", O_RDWR);
        setsid(); /* the browser survives the terminal */
        signal(SIGPIPE, SIG_DFL);
        dup2(null_fd, STDIN_FILENO);
        dup2(null_fd, STDOUT_FILENO);
        dup2(null_fd, STDERR_FILENO);
        close_range(STDERR_FILENO + 1, ~0U, 0);
        execlp("xdg-open", "xdg-open", url, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    pid_t ended = 0;
    int64_t deadline = qn_now_ms() + OPENER_TIMEOUT_MS;
    while (pid > 0 && (ended = waitpid(pid, &status, WNOHANG)) == 0 && qn_now_ms() < deadline)
        usleep(POLL_US);
    return pid > 0 && (ended == 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

static void print_json(const char *url, bool opened)
{
    struct qn_buf b;
    qn_buf_init(&b, URL_MAX);
    struct qn_jw w = qn_jw_to(&b);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "url", url);
    qn_jw_kbool(&w, "opened", opened);
    qn_jw_obj_end(&w);
    puts(qn_buf_cstr(&b));
    qn_buf_deinit(&b);
}

int qn_cmd_open(struct qn_cli *cli, const struct qn_cli_args *a)
{
    struct qn_error e;
    if (qn_launch_server(cli, &e))
        return qn_cli_failed(cli, &e);
    char url[URL_MAX];
    snprintf(url, sizeof url, "%s/", cli->at.url);
    bool opened = !a->values[0] && show(url);
    if (cli->json)
        print_json(url, opened);
    else if (a->values[0])
        puts(url);
    else if (opened)
        printf("Opened %s\n", url);
    else
        printf("Open %s in a browser\n", url);
    return QN_EXIT_OK;
}
