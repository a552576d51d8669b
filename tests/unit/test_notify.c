/* router/telemetry/notify.c against a socket that is read here as a service manager reads its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "telemetry/notify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[] = "/tmp/quince-notify-XXXXXX";
static char path[sizeof folder + 16];
static struct qn_loop *loop;

/* name: a path, or "@name". */
static int manager(const char *name)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    size_t n = strlen(name);
    memcpy(a.sun_path, name, n);
    if (*name == '@')
        a.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    struct timeval patience = {.tv_sec = 20};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_int_equal(
        bind(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)),
        0);
    return fd;
}

static const char *heard(int fd)
{
    static char text[2048];
    ssize_t n = recv(fd, text, sizeof text - 1, 0);
    assert_true(n > 0);
    text[n] = '\0';
    return text;
}

static void a_life(void **state)
{
    (void)state;
    char socket_word[64], ready[128];
    int fd = manager(path);
    snprintf(socket_word, sizeof socket_word, "NOTIFY_SOCKET=%s", path);
    const char *env[] = {"HOME=/", socket_word, NULL};
    struct qn_notify *n = qn_notify_new(env);
    assert_non_null(n);
    qn_notify_ready(n, loop, "Answering on port 1");
    snprintf(ready, sizeof ready, "READY=1\nMAINPID=%d\nSTATUS=Answering on port 1", (int)getpid());
    assert_string_equal(heard(fd), ready);
    qn_notify_reloading(n);
    const char *text = heard(fd);
    long long us = 0;
    assert_int_equal(sscanf(text, "RELOADING=1\nMONOTONIC_USEC=%lld\n", &us), 1);
    assert_true(us > 0);
    qn_notify_ready(n, loop, "again");
    assert_int_equal(strncmp(heard(fd), "READY=1\n", 8), 0);
    qn_notify_stopping(n, 43000, "Finishing what runs");
    assert_string_equal(heard(fd),
                        "STOPPING=1\nEXTEND_TIMEOUT_USEC=43000000\nSTATUS=Finishing what runs");
    close(fd);
    qn_notify_stopping(n, 1, "no reader"); /* the manager is gone: no harm */
    qn_notify_free(n);
    unlink(path);
}

static int ticks;

static void stop_loop(void *ctx)
{
    (void)ctx;
    qn_loop_stop(loop);
}

/* Two signs of life in a period, and only while the loop turns. */
static void watchdog(void **state)
{
    (void)state;
    char pid[64], name[64], socket_word[96];
    snprintf(name, sizeof name, "@quince-notify-%d", (int)getpid());
    int fd = manager(name);
    snprintf(socket_word, sizeof socket_word, "NOTIFY_SOCKET=%s", name);
    snprintf(pid, sizeof pid, "WATCHDOG_PID=%d", (int)getpid());
    const char *env[] = {socket_word, pid, "WATCHDOG_USEC=60000", NULL};
    struct qn_notify *n = qn_notify_new(env);
    assert_non_null(n);
    qn_notify_ready(n, loop, "");
    assert_int_equal(strncmp(heard(fd), "READY=1\n", 8), 0);
    char none[16];
    assert_int_equal(recv(fd, none, sizeof none, MSG_DONTWAIT), -1);
    struct qn_timer *t = qn_timer_start(loop, 200, 0, stop_loop, NULL);
    qn_loop_run(loop);
    qn_timer_stop(t);
    while (recv(fd, none, sizeof none, MSG_DONTWAIT) == 10) {
        assert_memory_equal(none, "WATCHDOG=1", 10);
        ticks++;
    }
    assert_true(ticks >= 1 && ticks <= 7); /* every 30 ms, and late ones are not made up for */
    qn_notify_free(n);
    close(fd);
}

/* A period for another process is none of ours. */
static void watchdog_of_another(void **state)
{
    (void)state;
    char socket_word[64];
    int fd = manager(path);
    snprintf(socket_word, sizeof socket_word, "NOTIFY_SOCKET=%s", path);
    const char *env[] = {socket_word, "WATCHDOG_PID=1", "WATCHDOG_USEC=20000", NULL};
    struct qn_notify *n = qn_notify_new(env);
    qn_notify_ready(n, loop, "");
    heard(fd);
    struct qn_timer *t = qn_timer_start(loop, 100, 0, stop_loop, NULL);
    qn_loop_run(loop);
    qn_timer_stop(t);
    char none[16];
    assert_int_equal(recv(fd, none, sizeof none, MSG_DONTWAIT), -1);
    qn_notify_free(n);
    close(fd);
    unlink(path);
}

static void no_manager(void **state)
{
    (void)state;
    static const char *const envs[][2] = {{NULL, NULL},
                                          {"NOTIFY_SOCKET=", NULL},
                                          {"NOTIFY_SOCKET=/nowhere/at/all", NULL},
                                          {"NOTIFY_SOCKET=vsock:2:1", NULL}};
    for (size_t i = 0; i < sizeof envs / sizeof *envs; i++)
        assert_null(qn_notify_new(envs[i]));
    char too_long[200] = "NOTIFY_SOCKET=/";
    memset(too_long + 15, 'x', sizeof too_long - 16);
    const char *env[] = {too_long, NULL};
    assert_null(qn_notify_new(env));
    qn_notify_ready(NULL, loop, "");
    qn_notify_reloading(NULL);
    qn_notify_stopping(NULL, 0, "");
    qn_notify_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_life),
        cmocka_unit_test(watchdog),
        cmocka_unit_test(watchdog_of_another),
        cmocka_unit_test(no_manager),
    };
    if (!mkdtemp(folder) || qn_loop_new(&loop, NULL))
        return 1;
    snprintf(path, sizeof path, "%s/notify", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    qn_loop_free(loop);
    rmdir(folder);
    return failed;
}
