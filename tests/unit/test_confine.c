/* lib/confine: each case in a process of its own, for nothing that is given up comes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/path.h"
#include "confine/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UNSUPPORTED = 77 };

static char *dir; /* with allowed/model, open/, secret */

static char *in_dir(const char *name)
{
    return qn_path_join(dir, name);
}

static int setup(void **state)
{
    (void)state;
    char template[] = "/tmp/test_confine_XXXXXX";
    dir = qn_xstrdup(mkdtemp(template));
    char *path = in_dir("allowed");
    mkdir(path, 0700);
    free(path);
    path = in_dir("open");
    mkdir(path, 0700);
    free(path);
    path = in_dir("allowed/model");
    assert_int_equal(qn_file_write_atomic(path, "weights", 7, 0600, NULL), QN_OK);
    free(path);
    path = in_dir("secret");
    assert_int_equal(qn_file_write_atomic(path, "secret", 6, 0600, NULL), QN_OK);
    free(path);
    return 0;
}

static int teardown(void **state)
{
    char command[256];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", dir);
    free(dir);
    return system(command);
}

/* Runs fn in a process; its wait status, and what it wrote on its standard error in text. */
static int in_process(int (*fn)(void), char text[static 512])
{
    int fds[2], status;
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[1], STDERR_FILENO);
        _exit(fn());
    }
    close(fds[1]);
    ssize_t n = read(fds[0], text, 511);
    text[n > 0 ? n : 0] = '\0';
    close(fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static bool can(const char *name, int flags)
{
    char *path = in_dir(name);
    int fd = open(path, flags | O_CLOEXEC, 0600);
    free(path);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static int files_only(void)
{
    char *allowed = in_dir("allowed"), *open_dir = in_dir("open"), *none = in_dir("no such");
    const struct qn_confine_path paths[] = {{allowed, 0}, {open_dir, QN_CONFINE_WRITE}, {none, 0}};
    struct qn_error e = {0};
    qn_err err = qn_confine_files(paths, 3, &e);
    if (err)
        return err == QN_EUNSUPPORTED ? UNSUPPORTED : 1;
    if (!can("allowed/model", O_RDONLY) || can("allowed/model", O_WRONLY))
        return 2;
    if (can("allowed/new", O_WRONLY | O_CREAT) || can("secret", O_RDONLY))
        return 3;
    if (!can("open/new", O_WRONLY | O_CREAT) || !can("open/new", O_RDWR | O_TRUNC))
        return 4;
    char *from = in_dir("open/new"), *to = in_dir("open/other"), *out = in_dir("escaped");
    if (rename(from, to) != 0 || rename(to, out) == 0 || unlink(to) != 0)
        return 5;
    if (symlink("/etc/passwd", from) == 0 || open("/etc/passwd", O_RDONLY) >= 0)
        return 6;
    return 0;
}

static int one_file(void)
{
    char *file = in_dir("allowed/model");
    const struct qn_confine_path path = {file, 0};
    qn_err err = qn_confine_files(&path, 1, NULL);
    if (err)
        return err == QN_EUNSUPPORTED ? UNSUPPORTED : 1;
    return can("allowed/model", O_RDONLY) && !can("allowed", O_RDONLY | O_DIRECTORY) ? 0 : 2;
}

static void check_files(int (*fn)(void))
{
    char text[512];
    int status = in_process(fn, text);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == UNSUPPORTED)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void other_files_are_out_of_reach(void **state)
{
    (void)state;
    check_files(files_only);
    check_files(one_file);
}

static void *nothing(void *arg)
{
    return arg;
}

static int harmless(void)
{
    pthread_t thread;
    int pair[2];
    char byte = 'x';
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return 1;
    if (qn_confine_calls(NULL))
        return UNSUPPORTED;
    if (pthread_create(&thread, NULL, nothing, &byte) != 0 || pthread_join(thread, NULL) != 0)
        return 2;
    if (write(pair[0], &byte, 1) != 1 || read(pair[1], &byte, 1) != 1)
        return 3;
    return kill(getpid(), 0) == 0 ? 0 : 4;
}

static void threads_and_open_sockets_work(void **state)
{
    char text[512];
    (void)state;
    int status = in_process(harmless, text);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == UNSUPPORTED)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int do_exec(void)
{
    if (qn_confine_calls(NULL))
        return UNSUPPORTED;
    execl("/bin/true", "true", (char *)NULL);
    return 1;
}

static int do_socket(void)
{
    if (qn_confine_calls(NULL))
        return UNSUPPORTED;
    socket(AF_INET, SOCK_STREAM, 0);
    return 1;
}

static int do_kill(void)
{
    if (qn_confine_calls(NULL))
        return UNSUPPORTED;
    kill(getppid(), 0);
    return 1;
}

#ifndef __SANITIZE_ADDRESS__
static int do_fork(void)
{
    if (qn_confine_calls(NULL))
        return UNSUPPORTED;
    if (fork() == 0)
        _exit(0);
    return 1;
}

static int do_trace(void)
{
    if (qn_confine_calls(NULL))
        return UNSUPPORTED;
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    return 1;
}
#endif

static bool denied(long result)
{
    return result < 0 && errno == EACCES;
}

/* A server that may listen, but reach no address: not by a datagram, nor by a connection's first
 * bytes.
 */
static int serve_only(void)
{
    static const int elsewhere[][3] = {
        {AF_INET, SOCK_DGRAM, 0},          {AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0},
        {AF_INET, SOCK_RAW, IPPROTO_ICMP}, {AF_INET, SOCK_STREAM, IPPROTO_SCTP},
        {AF_UNIX, SOCK_DGRAM, 0},          {AF_UNIX, SOCK_SEQPACKET, 0},
        {AF_PACKET, SOCK_RAW, 0},          {AF_VSOCK, SOCK_STREAM, 0},
        {AF_ALG, SOCK_SEQPACKET, 0},
    };
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    char byte = 'x';
    struct iovec part = {&byte, 1};
    struct msghdr m = {
        .msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &part, .msg_iovlen = 1};
    struct mmsghdr mm = {.msg_hdr = m};
    if (qn_confine_calls_but(QN_CONFINE_SERVER, NULL))
        return UNSUPPORTED;
    for (int i = 0; i < (int)(sizeof elsewhere / sizeof *elsewhere); i++)
        if (!denied(socket(elsewhere[i][0], elsewhere[i][1], elsewhere[i][2])))
            return 10 + i;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP), pair[2];
    if (fd < 0 || listen(fd, 1) != 0)
        return 2;
    if (socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0) < 0 || socket(AF_UNIX, SOCK_STREAM, 0) < 0)
        return 3;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
        send(pair[0], &byte, 1, MSG_NOSIGNAL) != 1)
        return 4;
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (!denied(
            sendto(fd, &byte, 1, MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *)&to, sizeof to)))
        return 5;
    if (!denied(sendmsg(fd, &m, MSG_FASTOPEN)) || !denied(sendmmsg(fd, &mm, 1, MSG_FASTOPEN)))
        return 6;
    return denied(connect(fd, (struct sockaddr *)&to, sizeof to)) ? 0 : 7;
}

static void a_server_reaches_no_address(void **state)
{
    char text[512];
    (void)state;
    int status = in_process(serve_only, text);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == UNSUPPORTED)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* A filter holds for threads that were there before it, too. */
static void *wait_and_exec(void *arg)
{
    char byte;
    if (read(*(int *)arg, &byte, 1) == 1)
        execl("/bin/true", "true", (char *)NULL);
    return NULL;
}

static int do_exec_elsewhere(void)
{
    pthread_t thread;
    int fds[2];
    if (pipe(fds) != 0 || pthread_create(&thread, NULL, wait_and_exec, &fds[0]) != 0)
        return 1;
    if (qn_confine_calls(NULL))
        return UNSUPPORTED;
    if (write(fds[1], "x", 1) != 1)
        return 2;
    pthread_join(thread, NULL);
    return 3;
}

static void what_is_forbidden_stops_the_process(void **state)
{
    static const struct {
        int (*fn)(void);
        const char *call;
    } cases[] = {
        {do_exec, "execve"}, {do_socket, "socket"},
        {do_kill, "kill"},   {do_exec_elsewhere, "execve"},
#ifndef __SANITIZE_ADDRESS__
        {do_fork, "clone"},  {do_trace, "ptrace"},
#endif
    };
    char text[512], line[128];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = in_process(cases[i].fn, text);
        if (WIFEXITED(status) && WEXITSTATUS(status) == UNSUPPORTED)
            skip();
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGSYS);
        snprintf(line, sizeof line,
                 "sandbox: this process made a forbidden system call and is killed: %s\n",
                 cases[i].call);
        assert_string_equal(text, line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_files_are_out_of_reach),
        cmocka_unit_test(threads_and_open_sockets_work),
        cmocka_unit_test(what_is_forbidden_stops_the_process),
        cmocka_unit_test(a_server_reaches_no_address),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
