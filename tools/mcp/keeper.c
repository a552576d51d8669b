/* See keeper.h. */
#include "mcp/keeper.h"

#include "base/clock.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STOP_MS = 1000, ROUNDS = 200, ROUND_MS = 10 };

static sigset_t wanted(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGCHLD);
    return set;
}

void qn_keeper_prepare(void)
{
    sigset_t set = wanted();
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Reaps children that have ended. Returns false if there are no children left. */
static bool reap(void)
{
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
        ;
    return pid == 0 || errno != ECHILD;
}

/* Kills all children: the server's process group, and orphans outside the group, which this process
 * has adopted as subreaper. Returns when no child is left, or after ROUNDS rounds. */
static void kill_all(pid_t group)
{
    char path[64];
    kill(-group, SIGKILL);
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    for (int i = 0; i < ROUNDS; i++) {
        FILE *f = fopen(path, "re");
        int pid;
        while (f && fscanf(f, "%d", &pid) == 1)
            kill(pid, SIGKILL);
        if (f)
            fclose(f);
        if (!reap())
            return;
        poll(NULL, 0, ROUND_MS);
    }
}

/* Writes to `tell` how the server ended. Does not reap the server: as a zombie it keeps its process
 * group id from being reused. */
static void tell_end(int tell, pid_t server)
{
    char text[100];
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)server, &info, WEXITED | WNOHANG | WNOWAIT))
        return;
    if (info.si_code == CLD_EXITED)
        snprintf(text, sizeof text, "ended with status %d", info.si_status);
    else
        snprintf(text, sizeof text, "was killed by signal %d (%s)", info.si_status,
                 strsignal(info.si_status));
    ssize_t written = write(tell, text, strlen(text));
    (void)written; /* the speaker may have ended */
}

static bool is_gone(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == pid;
}

void qn_keeper_run(const struct qn_launched *server, pid_t speaker, int tell)
{
    sigset_t set = wanted();
    int signals = signalfd(-1, &set, SFD_CLOEXEC);
    bool told = false, asked = false;
    close(server->in);
    close(server->out);
    close(server->errors);
    while (!asked && !is_gone(speaker)) {
        struct signalfd_siginfo info;
        if (is_gone(server->pid) && !told) {
            told = true;
            tell_end(tell, server->pid);
            close(tell);
        }
        ssize_t n = read(signals, &info, sizeof info);
        asked = n == (ssize_t)sizeof info && info.ssi_signo != SIGCHLD;
        /* reap orphans that have ended */
        for (siginfo_t one = {0}; !waitid(P_ALL, 0, &one, WEXITED | WNOHANG | WNOWAIT) &&
                                  one.si_pid && one.si_pid != speaker && one.si_pid != server->pid;
             one = (siginfo_t){0})
            waitpid(one.si_pid, NULL, 0);
    }
    kill(speaker, SIGKILL); /* closes the server's stdin */
    waitpid(speaker, NULL, 0);
    for (int64_t until = qn_now_ms() + STOP_MS; !asked && !told && qn_now_ms() < until;) {
        if (is_gone(server->pid))
            break;
        poll(NULL, 0, ROUND_MS);
    }
    kill_all(server->pid);
    if (!told)
        close(tell);
    close(signals);
}
