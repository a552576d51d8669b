/* See helper.h. Uses posix_spawn(3), so that no code of the server runs between fork and exec. */
#include "registry/helper.h"

#include "base/clock.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLL_MS = 100, EXIT_MS = 10000 };

static size_t count_args(const struct qn_helper *h)
{
    size_t n = 0;
    while (h->args[n])
        n++;
    return n;
}

/* Starts the program without blocked or ignored signals, in a process group of its own. */
static int spawn(const struct qn_helper *h, const posix_spawn_file_actions_t *actions, pid_t *pid)
{
    size_t n = count_args(h);
    char **argv = qn_xcalloc(n + 2, sizeof *argv);
    char *env[] = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8", NULL};
    posix_spawnattr_t attr;
    sigset_t none, all;
    /* The prototype lacks const; the strings are not changed. */
    argv[0] = (char *)(uintptr_t)qn_path_base(h->program);
    for (size_t i = 0; i < n; i++)
        argv[i + 1] = (char *)(uintptr_t)h->args[i];
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                        POSIX_SPAWN_SETPGROUP);
    int why = posix_spawn(pid, h->program, actions, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    free(argv);
    return why;
}

/* high [n_fds + 1]: the descriptors, then the report pipe's write end, all numbered above their
 * targets in the child. */
static qn_err start(const struct qn_helper *h, const int *high, pid_t *pid, struct qn_error *e)
{
    posix_spawn_file_actions_t actions;
    int to = QN_HELPER_FIRST_FD;
    posix_spawn_file_actions_init(&actions);
    int why = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    why = why ? why : posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    for (size_t i = 0; i <= h->n_fds && !why; i++)
        why = posix_spawn_file_actions_adddup2(&actions, high[i], to++);
    why = why ? why : posix_spawn_file_actions_addclosefrom_np(&actions, to);
    why = why ? why : spawn(h, &actions, pid);
    posix_spawn_file_actions_destroy(&actions);
    return why ? qn_fail(e, QN_EIO, "%s cannot be started: %s", h->program, strerror(why)) : QN_OK;
}

/* Reads until the helper closes its end of the pipe or has to be killed. */
static qn_err read_report(const struct qn_helper *h, int fd, pid_t pid, struct qn_buf *out,
                          struct qn_error *e)
{
    const int64_t end_ms = qn_now_ms() + h->limit_ms;
    for (;;) {
        char chunk[4096];
        struct pollfd p = {.fd = fd, .events = POLLIN};
        bool late = h->limit_ms && qn_now_ms() >= end_ms;
        if (atomic_load(h->stop) || late) {
            kill(pid, SIGKILL);
            return late ? qn_fail(e, QN_ETIMEOUT, "no answer within %lld s",
                                  (long long)(h->limit_ms / 1000))
                        : qn_fail(e, QN_ECANCELLED, "it was cancelled");
        }
        if (poll(&p, 1, POLL_MS) <= 0)
            continue;
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n > 0 && !qn_buf_add(out, chunk, (size_t)n))
            continue;
        if (n > 0) { /* a report over the limit: the helper may have been taken over by its input */
            kill(pid, SIGKILL);
            qn_buf_clear(out);
        }
        return QN_OK;
    }
}

/* Waits for the helper, which has closed its report and is about to exit. */
static int wait_for(pid_t pid)
{
    int status = 0;
    for (int tick = 0;; tick++) {
        pid_t ended = waitpid(pid, &status, WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR))
            return status;
        if (tick * POLL_MS >= EXIT_MS)
            kill(pid, SIGKILL);
        poll(NULL, 0, tick ? POLL_MS : 1);
    }
}

static void close_all(int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(fds);
}

qn_err qn_helper_run(const struct qn_helper *h, struct qn_buf *report, int *status,
                     struct qn_error *e)
{
    int ends[2] = {-1, -1}, *high = qn_xcalloc(h->n_fds + 1, sizeof *high);
    const int first_free = QN_HELPER_FIRST_FD + (int)h->n_fds + 1;
    pid_t pid = 0;
    qn_err err = QN_OK;
    *status = 0;
    if (pipe2(ends, O_CLOEXEC))
        err = qn_fail_errno(e, "open a pipe");
    for (size_t i = 0; i <= h->n_fds; i++) {
        high[i] = err ? -1 : fcntl(i < h->n_fds ? h->fds[i] : ends[1], F_DUPFD_CLOEXEC, first_free);
        if (!err && high[i] < 0)
            err = qn_fail_errno(e, "hand files to %s", qn_path_base(h->program));
    }
    if (!err)
        err = start(h, high, &pid, e);
    close_all(high, h->n_fds + 1);
    if (ends[1] >= 0)
        close(ends[1]);
    if (!err) {
        err = read_report(h, ends[0], pid, report, e);
        *status = wait_for(pid);
    }
    if (ends[0] >= 0)
        close(ends[0]);
    return err;
}

qn_err qn_helper_died(const char *what, int status, struct qn_error *e)
{
    return qn_fail(e, QN_ECHILD, "%s ended unexpectedly (%s %d)", what,
                   WIFSIGNALED(status) ? "signal" : "status",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}
