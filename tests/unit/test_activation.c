/* router/http/activation.c: descriptors as a service manager passes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/activation.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FIRST = 40 }; /* out of the way of the test's own */

static char pid_word[64];

/* A socket in listen at a number; its port. */
static int passed(int fd, int family)
{
    struct sockaddr_in6 a6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in a4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_storage got;
    socklen_t len = sizeof got;
    int s = socket(family, SOCK_STREAM, 0);
    if (family == AF_INET6 && bind(s, (struct sockaddr *)&a6, sizeof a6))
        skip(); /* a machine without IPv6 */
    if (family == AF_INET)
        assert_int_equal(bind(s, (struct sockaddr *)&a4, sizeof a4), 0);
    assert_int_equal(listen(s, 1), 0);
    assert_int_equal(dup2(s, fd), fd);
    close(s);
    getsockname(fd, (struct sockaddr *)&got, &len);
    return ntohs(((struct sockaddr_in *)&got)->sin_port); /* in the same place for both families */
}

static void for_us(void **state)
{
    (void)state;
    const char *env[] = {pid_word, "LISTEN_FDS=3", "LISTEN_FDNAMES=quinced.socket:ollama:x", NULL};
    int ports[] = {passed(FIRST, AF_INET), passed(FIRST + 1, AF_INET), passed(FIRST + 2, AF_INET)};
    struct qn_activation a;
    struct qn_error e = {0};
    assert_int_equal(qn_activation_read(env, FIRST, &a, &e), QN_OK);
    assert_int_equal(a.n, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(a.v[i].fd, FIRST + i);
        assert_int_equal(a.v[i].port, ports[i]);
        assert_true(qn_activation_has_port(&a, ports[i]));
        assert_true(fcntl(FIRST + i, F_GETFL) & O_NONBLOCK);
        assert_true(fcntl(FIRST + i, F_GETFD) & FD_CLOEXEC);
    }
    assert_true(a.v[0].main && !a.v[1].main && a.v[2].main);
    assert_ptr_equal(a.v[1].profile, qn_profile_find("ollama"));
    assert_false(qn_activation_has_port(&a, 1));
    for (int i = 0; i < 3; i++)
        close(FIRST + i);
}

static void of_ipv6_without_names(void **state)
{
    (void)state;
    const char *env[] = {pid_word, "LISTEN_FDS=1", NULL};
    int port = passed(FIRST, AF_INET6);
    struct qn_activation a;
    assert_int_equal(qn_activation_read(env, FIRST, &a, NULL), QN_OK);
    assert_int_equal(a.n, 1);
    assert_true(a.v[0].main);
    assert_int_equal(a.v[0].port, port);
    close(FIRST);
}

static void not_for_us(void **state)
{
    (void)state;
    static const char *const envs[][3] = {{NULL, NULL, NULL},
                                          {"LISTEN_PID=1", "LISTEN_FDS=1", NULL},
                                          {"LISTEN_FDS=1", NULL, NULL},
                                          {"LISTEN_PID=x", "LISTEN_FDS=1", NULL}};
    struct qn_activation a;
    for (size_t i = 0; i < sizeof envs / sizeof *envs; i++) {
        assert_int_equal(qn_activation_read(envs[i], FIRST, &a, NULL), QN_OK);
        assert_int_equal(a.n, 0);
    }
}

static void not_ours_to_take(void **state)
{
    (void)state;
    const char *many[] = {pid_word, "LISTEN_FDS=17", NULL},
               *one[] = {pid_word, "LISTEN_FDS=1", NULL};
    struct qn_activation a;
    struct qn_error e = {0};
    assert_int_equal(qn_activation_read(many, FIRST, &a, &e), QN_EINVAL);
    assert_int_equal(qn_activation_read(one, FIRST, &a, &e), QN_EINVAL); /* nothing is there */
    assert_non_null(strstr(e.message, "ListenStream="));
    assert_int_equal(dup2(socket(AF_INET, SOCK_DGRAM, 0), FIRST), FIRST);
    assert_int_equal(qn_activation_read(one, FIRST, &a, &e), QN_EINVAL);
    assert_int_equal(dup2(socket(AF_INET, SOCK_STREAM, 0), FIRST), FIRST); /* not in listen */
    assert_int_equal(qn_activation_read(one, FIRST, &a, &e), QN_EINVAL);
    int local = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(local, &(struct sockaddr){.sa_family = AF_UNIX}, sizeof(sa_family_t)), 0);
    assert_int_equal(listen(local, 1), 0);
    assert_int_equal(dup2(local, FIRST), FIRST);
    assert_int_equal(qn_activation_read(one, FIRST, &a, &e), QN_EINVAL);
    close(FIRST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(for_us),
        cmocka_unit_test(of_ipv6_without_names),
        cmocka_unit_test(not_for_us),
        cmocka_unit_test(not_ours_to_take),
    };
    snprintf(pid_word, sizeof pid_word, "LISTEN_PID=%d", (int)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
