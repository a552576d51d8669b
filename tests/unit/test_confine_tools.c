/* Tests the restrictions of lib/confine for foreign programs that may use the network. Each case
 * runs in a process of its own, because restrictions cannot be lifted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "confine/confine.h"

#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UNSUPPORTED = 77 };

static bool denied(int result)
{
    return result < 0 && errno == EACCES;
}

static void in_process(int (*fn)(void))
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(fn());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == UNSUPPORTED)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Returns 0 if the sandbox for tools allows and forbids the right calls, otherwise the number of
 * the failed check. */
static int use_tools(void)
{
    static const int elsewhere[][3] = {
        {AF_UNIX, SOCK_STREAM, 0},   {AF_UNIX, SOCK_DGRAM, 0},    {AF_VSOCK, SOCK_STREAM, 0},
        {AF_ALG, SOCK_SEQPACKET, 0}, {AF_INET, SOCK_STREAM, 262}, {AF_INET6, SOCK_STREAM, 256},
    };
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int pair[2];
    if (qn_confine_calls_but(QN_CONFINE_TOOL, NULL))
        return UNSUPPORTED;
    for (int i = 0; i < (int)(sizeof elsewhere / sizeof *elsewhere); i++)
        if (!denied(socket(elsewhere[i][0], elsewhere[i][1], elsewhere[i][2])))
            return 10 + i;
    if (socket(AF_INET, SOCK_DGRAM, 0) < 0 || socket(AF_NETLINK, SOCK_RAW, 0) < 0)
        return 2;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
        return 3;
    if (!denied(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair)) ||
        !denied(socketpair(AF_UNIX, SOCK_RAW, 0, pair)))
        return 4;
    int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
    if (!denied(sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *)&to, sizeof to)))
        return 5;
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0 || errno != ECONNREFUSED)
        return 6;
    if (!denied(unshare(CLONE_NEWUSER)) || !denied((int)syscall(SYS_keyctl, 0, -3, 0, 0, 0)))
        return 7;
    pid_t child = fork();
    if (child == 0)
        execl("/bin/true", "true", (char *)NULL);
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : 8;
}

static void a_tool_reaches_no_service_of_the_session(void **state)
{
    (void)state;
    in_process(use_tools);
}

static int listening(int *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t n = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 4) ||
        getsockname(fd, (struct sockaddr *)&at, &n))
        return -1;
    *port = ntohs(at.sin_port);
    return fd;
}

static int reach(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&to, sizeof to);
}

static int two_ports(void)
{
    int open, closed;
    if (listening(&open) < 0 || listening(&closed) < 0)
        return 1;
    const int ports[] = {closed, 0, 70000};
    if (qn_confine_ports(ports, 3, NULL))
        return UNSUPPORTED;
    if (reach(open))
        return 2;
    if (!denied(reach(closed)))
        return 3;
    if (qn_confine_version() >= 6 && (kill(getppid(), 0) == 0 || errno != EPERM))
        return 4;
    return kill(getpid(), 0) ? 5 : 0;
}

static void ports_are_refused(void **state)
{
    (void)state;
    in_process(two_ports);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tool_reaches_no_service_of_the_session),
        cmocka_unit_test(ports_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
