/* Uses posix_spawn(3), which glibc implements with CLONE_VFORK: the router's memory is not copied,
 * and no code of the router runs between fork and exec. */
#include "models/spawn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "contract/control.h"

enum {
    BACKLOG = 128,
    /* the router's descriptors are moved above the numbers that the child uses */
    FIRST_FREE_FD = 16,
    LOG_PIPE_BYTES = 256 * 1024,
    DESCRIPTORS_MAX = 4096, /* of a child, whatever the router's limit is */
    END_MS = 1000           /* time for a program to exit after it has closed its output */
};

/* Environment variables passed to a child: those that locate programs, files and drivers, and, for
 * builds with sanitizers, their options. Never a key, never a proxy. */
static const char *const passed[] = {
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "LD_LIBRARY_PATH",
    "QUINCE_ISA", /* selects the engine's kernels, for benchmarks and tests */
    "VK_ICD_FILENAMES",
    "VK_DRIVER_FILES",
    "VK_LAYER_PATH",
    "VK_ADD_DRIVER_FILES",
    "CUDA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "GGML_VK_VISIBLE_DEVICES",
    "MESA_VK_DEVICE_SELECT",
    "ASAN_OPTIONS",
    "UBSAN_OPTIONS",
    "TSAN_OPTIONS",
    "LSAN_OPTIONS",
};

enum { PASSED = sizeof passed / sizeof *passed };

/* Fills env with pointers into the router's own environment. */
static void fill_environment(char *env[PASSED + 1])
{
    size_t n = 0;
    for (size_t i = 0; i < PASSED; i++) {
        size_t len = strlen(passed[i]);
        for (char **e = environ; *e; e++)
            if (strncmp(*e, passed[i], len) == 0 && (*e)[len] == '=') {
                env[n++] = *e;
                break;
            }
    }
    env[n] = NULL;
}

/* Moves fd above the numbers that the child uses; closes the old one. */
static int lift(int fd)
{
    if (fd < 0)
        return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
    int kept = errno;
    close(fd);
    errno = kept;
    return high;
}

static int open_listener(int *port, struct qn_error *e)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    int fd = lift(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, BACKLOG) < 0 ||
        getsockname(fd, (struct sockaddr *)&a, &n) < 0) {
        qn_fail_errno(e, "open a loopback socket for a model's process");
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *port = ntohs(a.sin_port);
    return fd;
}

/* Stdin, stdout and stderr, fds 3 and 4; all others are closed. */
static int plan_descriptors(posix_spawn_file_actions_t *fa, int listener, int control, int log)
{
    int err = posix_spawn_file_actions_addopen(fa, 0, "/dev/null", O_RDONLY, 0);
    const int pairs[][2] = {{log, 1}, {log, 2}, {listener, QN_FD_LISTEN}, {control, QN_FD_CONTROL}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && !err; i++)
        err = posix_spawn_file_actions_adddup2(fa, pairs[i][0], pairs[i][1]);
    return err ? err : posix_spawn_file_actions_addclosefrom_np(fa, QN_FD_CONTROL + 1);
}

/* Its own process group, no blocked signal, no ignored signal. */
static int plan_attributes(posix_spawnattr_t *at)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int err = posix_spawnattr_setpgroup(at, 0);
    err = err ? err : posix_spawnattr_setsigmask(at, &none);
    err = err ? err : posix_spawnattr_setsigdefault(at, &all);
    return err ? err
               : posix_spawnattr_setflags(at, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                  POSIX_SPAWN_SETSIGDEF);
}

static int start(const char *program, const char *name, int listener, int control, int log,
                 pid_t *pid)
{
    char *env[PASSED + 1];
    fill_environment(env);
    /* The prototype lacks const; the strings are not modified. */
    char *argv[] = {(char *)(uintptr_t)program, "--name", (char *)(uintptr_t)name, NULL};
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t at;
    int err = posix_spawn_file_actions_init(&fa);
    if (err)
        return err;
    err = posix_spawnattr_init(&at);
    if (!err) {
        err = plan_descriptors(&fa, listener, control, log);
        err = err ? err : plan_attributes(&at);
        err = err ? err : posix_spawn(pid, program, &fa, &at, argv, env);
        posix_spawnattr_destroy(&at);
    }
    posix_spawn_file_actions_destroy(&fa);
    return err;
}

/* Disables core dumps, which would write tens of gigabytes of weights, and limits descriptors, so
 * that a leak is found early. The limits are inherited by the child's own children. A process that
 * has ended already needs none. */
static void limit_resources(pid_t pid)
{
    static const struct {
        __rlimit_resource_t what;
        rlim_t most;
    } limits[] = {{RLIMIT_CORE, 0}, {RLIMIT_NOFILE, DESCRIPTORS_MAX}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit l;
        if (prlimit(pid, limits[i].what, NULL, &l))
            continue;
        if (l.rlim_max > limits[i].most)
            l.rlim_max = limits[i].most;
        if (l.rlim_cur > l.rlim_max)
            l.rlim_cur = l.rlim_max;
        if (prlimit(pid, limits[i].what, &l, NULL))
            qn_warn("spawn", "pid=%d limit=%d not_set: %s", (int)pid, (int)limits[i].what,
                    strerror(errno));
    }
}

qn_err qn_spawn(const char *program, const char *name, struct qn_process *out, struct qn_error *e)
{
    int pair[2] = {-1, -1}, log[2] = {-1, -1}, pidfd = -1, port = 0;
    pid_t pid = 0;
    qn_err err = QN_OK;
    int listener = open_listener(&port, e);
    if (listener < 0)
        return QN_EIO;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 || pipe2(log, O_CLOEXEC) < 0) {
        err = qn_fail_errno(e, "open the channels to a model's process");
        goto out;
    }
    pair[1] = lift(pair[1]);
    log[1] = lift(log[1]);
    if (pair[1] < 0 || log[1] < 0 || fcntl(pair[0], F_SETFL, O_NONBLOCK) < 0 ||
        fcntl(log[0], F_SETFL, O_NONBLOCK) < 0) {
        err = qn_fail_errno(e, "prepare the channels to a model's process");
        goto out;
    }
    (void)fcntl(log[0], F_SETPIPE_SZ, LOG_PIPE_BYTES); /* optional: the default size works too */
    int failed = start(program, name, listener, pair[1], log[1], &pid);
    if (failed) {
        errno = failed;
        err = qn_fail_errno(e, "start %s", program);
        goto out;
    }
    limit_resources(pid);
    /* only this process reaps it, so that the pid cannot have been reused */
    pidfd = pidfd_open(pid, 0);
    if (pidfd < 0) {
        err = qn_fail_errno(e, "watch the process of %s", program);
        kill(-pid, SIGKILL);
        waitpid(pid, NULL, 0);
        goto out;
    }
    *out = (struct qn_process){
        .pid = pid, .pidfd = pidfd, .control = pair[0], .log = log[0], .port = port};
    pair[0] = log[0] = -1;
out:
    close(listener);
    for (int i = 0; i < 2; i++) {
        if (pair[i] >= 0)
            close(pair[i]);
        if (log[i] >= 0)
            close(log[i]);
    }
    return err;
}

void qn_process_signal(const struct qn_process *p, int sig)
{
    kill(-p->pid, sig); /* ESRCH: it has ended already */
}

bool qn_process_reap(const struct qn_process *p, bool wait, struct qn_process_end *out)
{
    siginfo_t info = {0};
    int r;
    do
        r = waitid(P_PIDFD, (id_t)p->pidfd, &info, WEXITED | (wait ? 0 : WNOHANG));
    while (r < 0 && errno == EINTR);
    *out = (struct qn_process_end){.exit_code = -1, .text = "ended"};
    if (r < 0)
        return true;
    if (info.si_pid == 0)
        return false;
    if (info.si_code == CLD_EXITED) {
        out->exit_code = info.si_status;
        snprintf(out->text, sizeof out->text, "exited with status %d", info.si_status);
    } else {
        out->signal = info.si_status;
        snprintf(out->text, sizeof out->text, "was killed by signal %d (%s)", info.si_status,
                 strsignal(info.si_status));
    }
    return true;
}

/* Reads until end of file or until the time limit. */
static qn_err read_all(int fd, int64_t limit_ms, struct qn_buf *out, struct qn_error *e)
{
    int64_t end = qn_now_ms() + limit_ms;
    char piece[4096];
    for (;;) {
        int64_t left = end - qn_now_ms();
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        int n = left > 0 ? poll(&wait, 1, (int)left) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n ? qn_fail_errno(e, "wait for a program")
                     : qn_fail(e, QN_ETIMEOUT, "no output within %lld s",
                               (long long)(limit_ms / 1000));
        ssize_t got = read(fd, piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return qn_fail_errno(e, "read from a program");
        if (got == 0)
            return QN_OK;
        qn_buf_add(out, piece, (size_t)got);
        if (out->overflow)
            return qn_fail(e, QN_ELIMIT, "it prints too much");
    }
}

/* A program may have closed its output and still hang, for example while a driver shuts down. */
static bool ends_within(pid_t pid, int ms)
{
    int fd = pidfd_open(pid, 0);
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    bool ended = fd >= 0 && poll(&wait, 1, ms) > 0;
    if (fd >= 0)
        close(fd);
    return ended;
}

qn_err qn_spawn_output(char *const argv[], int64_t limit_ms, struct qn_buf *out, struct qn_error *e)
{
    char *env[PASSED + 1];
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t at;
    struct qn_error why = {0};
    int fds[2], status = 0;
    pid_t pid = 0;
    if (pipe2(fds, O_CLOEXEC) < 0)
        return qn_fail_errno(e, "open a pipe");
    fill_environment(env);
    posix_spawn_file_actions_init(&fa);
    posix_spawnattr_init(&at);
    int failed = posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
    failed = failed ? failed : posix_spawn_file_actions_adddup2(&fa, fds[1], 1);
    /* Not all libraries mark their descriptors close-on-exec, and a job whose connection is also
     * open in another process would not notice its cancellation. */
    failed = failed ? failed : posix_spawn_file_actions_addclosefrom_np(&fa, STDERR_FILENO + 1);
    failed = failed ? failed : plan_attributes(&at);
    failed = failed ? failed : posix_spawn(&pid, argv[0], &fa, &at, argv, env);
    posix_spawn_file_actions_destroy(&fa);
    posix_spawnattr_destroy(&at);
    close(fds[1]);
    qn_err err = failed ? QN_EIO : read_all(fds[0], limit_ms, out, &why);
    close(fds[0]);
    if (failed) {
        errno = failed;
        return qn_fail_errno(e, "start %s", argv[0]);
    }
    if (err || !ends_within(pid, END_MS))
        kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (err)
        return qn_fail(e, err, "%s: %s", qn_path_base(argv[0]), why.message);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return qn_fail(e, QN_ECHILD, "%s failed: status %d", qn_path_base(argv[0]), status);
    return QN_OK;
}
