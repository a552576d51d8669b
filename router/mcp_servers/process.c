/* See process.h. Uses posix_spawn(3), so that no code of the router runs between fork and exec. */
#include "mcp_servers/process.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "contract/mcp_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    READ_BYTES = 16 * 1024,
    READS = 4, /* reads per event: a process that writes without pause must not block the loop */
    SEND_MAX = 4 * QN_MCP_DOWN_MAX,
    FIRST_FREE_FD = 16,
    LAST_MS = QN_MCP_PROCESS_GRACE_MS /* time limit for all processes when the router stops */
};

struct qn_mcp_process {
    struct qn_mcp_process *prev, *next;
    struct qn_mcp_processes *all;
    char *id;          /* id of the server */
    pid_t pid;         /* process id of quince-mcp, also the id of its process group */
    pid_t program;     /* process group of the server's program; 0: no program, or unknown */
    bool introduced;   /* its first line has been received */
    int pidfd, socket; /* socket: -1 if closed */
    struct qn_watch *ended, *readable;
    struct qn_timer *killing;
    struct qn_buf up, down;
    struct qn_mcp_process_events ev;
    void *ctx;
};

struct qn_mcp_processes {
    struct qn_loop *loop;
    struct qn_mcp_process *first;
    void (*gone)(void *ctx);
    void *ctx;
};

struct qn_mcp_processes *qn_mcp_processes_new(struct qn_loop *l, void (*gone)(void *ctx), void *ctx)
{
    struct qn_mcp_processes *ps = qn_xcalloc(1, sizeof *ps);
    ps->gone = gone;
    ps->ctx = ctx;
    ps->loop = l;
    return ps;
}

size_t qn_mcp_processes_count(const struct qn_mcp_processes *ps)
{
    size_t n = 0;
    for (const struct qn_mcp_process *p = ps->first; p; p = p->next)
        n++;
    return n;
}

bool qn_mcp_processes_has(const struct qn_mcp_processes *ps, const char *id)
{
    for (const struct qn_mcp_process *p = ps->first; p; p = p->next)
        if (qn_str_eq(p->id, id))
            return true;
    return false;
}

static void close_socket(struct qn_mcp_process *p)
{
    qn_watch_remove(p->readable);
    p->readable = NULL;
    if (p->socket >= 0)
        close(p->socket);
    p->socket = -1;
}

/* Frees the struct of a process that has been reaped. */
static void process_free(struct qn_mcp_process *p)
{
    close_socket(p);
    qn_watch_remove(p->ended);
    qn_timer_stop(p->killing);
    close(p->pidfd);
    if (p->prev)
        p->prev->next = p->next;
    else
        p->all->first = p->next;
    if (p->next)
        p->next->prev = p->prev;
    qn_buf_deinit(&p->up);
    qn_buf_deinit(&p->down);
    free(p->id);
    free(p);
}

static void kill_groups(const struct qn_mcp_process *p)
{
    kill(-p->pid, SIGKILL);
    if (p->program)
        kill(-p->program, SIGKILL);
}

/* Reaps the process. If it was killed, kills the program that it started, which it could not end
 * itself. */
static void wait_for(struct qn_mcp_process *p)
{
    siginfo_t info = {0};
    while (waitid(P_PIDFD, (id_t)p->pidfd, &info, WEXITED) < 0 && errno == EINTR)
        ;
    if (p->program && info.si_code != CLD_EXITED)
        kill(-p->program, SIGKILL);
}

void qn_mcp_processes_free(struct qn_mcp_processes *ps)
{
    int64_t until = qn_now_ms() + LAST_MS;
    if (!ps)
        return;
    for (struct qn_mcp_process *p = ps->first; p; p = p->next)
        close_socket(p);
    while (ps->first) {
        struct pollfd wait = {.fd = ps->first->pidfd, .events = POLLIN};
        int64_t left = until - qn_now_ms();
        if (poll(&wait, 1, left > 0 ? (int)left : 0) < 1)
            kill_groups(ps->first);
        wait_for(ps->first);
        process_free(ps->first);
    }
    free(ps);
}

/* ---- the end of a process ---- */

static void kill_it(void *ctx)
{
    kill_groups(ctx);
}

/* Handles the end of the process. While the socket is open nothing is done: the last lines are read
 * first, and EOF on the socket reports the end. */
static void on_ended(void *ctx, uint32_t events)
{
    struct qn_mcp_process *p = ctx;
    (void)events;
    if (p->socket >= 0)
        return; /* EOF on the socket will follow */
    struct qn_mcp_processes *all = p->all;
    wait_for(p);
    process_free(p);
    all->gone(all->ctx);
}

void qn_mcp_process_end(struct qn_mcp_process *p)
{
    close_socket(p);
    p->killing = qn_timer_start(p->all->loop, QN_MCP_PROCESS_GRACE_MS, 0, kill_it, p);
}

/* ---- lines ---- */

static void flush(struct qn_mcp_process *p)
{
    while (p->down.len > 0) {
        ssize_t n = send(p->socket, p->down.data, p->down.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            qn_buf_clear(&p->down); /* broken connection: EOF on the socket will follow */
        if (n < 0)
            break;
        qn_buf_drop(&p->down, (size_t)n);
    }
    qn_watch_set(p->readable, p->down.len ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

void qn_mcp_process_send(struct qn_mcp_process *p, struct qn_buf *lines)
{
    if (p->socket < 0)
        return;
    qn_buf_add(&p->down, qn_buf_cstr(lines), lines->len); /* an overflow is handled by on_socket */
    flush(p);
}

static bool is_child(pid_t pid, pid_t parent)
{
    struct qn_buf text;
    char path[32];
    int of = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    qn_buf_init(&text, READ_BYTES);
    if (!qn_file_read(path, &text, NULL)) {
        /* Skip the program's name, which may contain blanks and parentheses. */
        const char *after = strrchr(qn_buf_cstr(&text), ')');
        if (!after || sscanf(after, ") %*c %d", &of) != 1)
            of = 0;
    }
    qn_buf_deinit(&text);
    return of == parent;
}

/* Handles the first line if it states the process id of the server's program; returns true if so.
 * quince-mcp may already be compromised, so the id is only accepted if it is a child of
 * quince-mcp. */
static bool take_program(struct qn_mcp_process *p, const char *line, size_t n)
{
    int64_t pid;
    if (p->introduced || !qn_mcp_program_read(line, n, &pid))
        return false;
    if (is_child((pid_t)pid, p->pid))
        p->program = (pid_t)pid;
    return true;
}

/* Passes complete lines to the owner, whose callback may end the process. */
static void take_lines(struct qn_mcp_process *p)
{
    size_t at = 0;
    const char *end;
    while (p->socket >= 0 && at < p->up.len &&
           (end = memchr(p->up.data + at, '\n', p->up.len - at))) {
        size_t n = (size_t)(end - (p->up.data + at));
        const char *line = p->up.data + at;
        at += n + 1;
        bool taken = take_program(p, line, n);
        p->introduced = true;
        if (!taken)
            p->ev.line(p->ctx, line, n);
    }
    qn_buf_drop(&p->up, at);
}

static void on_socket(void *ctx, uint32_t events)
{
    struct qn_mcp_process *p = ctx;
    char bytes[READ_BYTES];
    if (events & EPOLLOUT)
        flush(p);
    for (int i = 0; i < READS && p->socket >= 0; i++) {
        ssize_t n = recv(p->socket, bytes, sizeof bytes, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n <= 0) {
            p->ev.closed(p->ctx, "the process that speaks with the server has ended");
            return;
        }
        if (qn_buf_add(&p->up, bytes, (size_t)n)) {
            p->ev.closed(p->ctx, "quince-mcp sent invalid data");
            return;
        }
        take_lines(p);
    }
    if (p->socket >= 0 && p->down.overflow)
        p->ev.closed(p->ctx, "the process that speaks with the server does not read");
}

/* ---- the start of a process ---- */

/* Starts the program with stdin and stdout at /dev/null, the router's stderr, and the socket as
 * descriptor QN_MCP_FD; with no signal blocked, and in a process group of its own. Of the router's
 * environment it gets the variables that a server's program needs, and the options of
 * sanitizers. */
static int spawn(const char *program, int socket, pid_t *pid)
{
    static const char *const passed[] = {"PATH",         "LANG",           "LC_ALL",
                                         "TZ",           "ASAN_OPTIONS",   "UBSAN_OPTIONS",
                                         "TSAN_OPTIONS", "LD_LIBRARY_PATH"};
    enum { PASSED = sizeof passed / sizeof *passed };
    char *env[PASSED + 1], *argv[] = {(char *)(uintptr_t)qn_path_base(program), NULL};
    size_t n = 0;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none, all;
    for (size_t i = 0; i < PASSED; i++)
        for (char **e = environ; *e; e++)
            if (!strncmp(*e, passed[i], strlen(passed[i])) && (*e)[strlen(passed[i])] == '=') {
                env[n++] = *e;
                break;
            }
    env[n] = NULL;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                        POSIX_SPAWN_SETPGROUP);
    int err = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    err = err ? err : posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    err = err ? err : posix_spawn_file_actions_adddup2(&actions, socket, QN_MCP_FD);
    err = err ? err : posix_spawn_file_actions_addclosefrom_np(&actions, QN_MCP_FD + 1);
    err = err ? err : posix_spawn(pid, program, &actions, &attr, argv, env);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attr);
    return err;
}

/* Registers a started process and its socket with the loop. */
static qn_err adopt(struct qn_mcp_process *p, struct qn_error *e)
{
    p->pidfd = pidfd_open(p->pid, 0);
    if (p->pidfd < 0)
        return qn_fail_errno(e, "watch quince-mcp");
    qn_err err = qn_watch_add(p->all->loop, p->pidfd, EPOLLIN, on_ended, p, &p->ended, e);
    if (!err)
        err = qn_watch_add(p->all->loop, p->socket, EPOLLIN, on_socket, p, &p->readable, e);
    return err;
}

static void link_process(struct qn_mcp_processes *ps, struct qn_mcp_process *p)
{
    p->all = ps;
    p->next = ps->first;
    if (p->next)
        p->next->prev = p;
    ps->first = p;
}

qn_err qn_mcp_process_start(struct qn_mcp_processes *ps, const char *program, const char *id,
                            const struct qn_mcp_process_events *ev, void *ctx,
                            struct qn_mcp_process **out, struct qn_error *e)
{
    int pair[2];
    pid_t pid = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return qn_fail_errno(e, "open a socket for quince-mcp");
    int high = fcntl(pair[1], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
    int failed = high < 0 ? errno : spawn(program, high, &pid);
    close(pair[1]);
    if (high >= 0)
        close(high);
    if (failed) {
        close(pair[0]);
        errno = failed;
        return qn_fail_errno(e, "start %s", qn_path_base(program));
    }
    struct qn_mcp_process *p = qn_xcalloc(1, sizeof *p);
    p->id = qn_xstrdup(id);
    p->pid = pid;
    p->socket = pair[0];
    p->ev = *ev;
    p->ctx = ctx;
    qn_buf_init(&p->up, QN_MCP_UP_MAX + READ_BYTES);
    qn_buf_init(&p->down, SEND_MAX);
    link_process(ps, p);
    qn_err err = adopt(p, e);
    if (err) {
        kill(-pid, SIGKILL);
        waitpid(pid, NULL, 0);
        process_free(p);
        return err;
    }
    *out = p;
    return QN_OK;
}
