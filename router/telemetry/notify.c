/* sd_notify's protocol, implemented without libsystemd; see notify.h. */
#include "telemetry/notify.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE_MAX = 1024, WATCHDOG_LEAST_MS = 10 };

struct qn_notify {
    int fd;
    int64_t watchdog_ms; /* interval of keep-alive messages; 0: none are wanted */
    struct qn_timer *watchdog;
};

/* Half the period, so that one late message does no harm. If WATCHDOG_PID names a process, the
 * period applies to that process only. */
static int64_t watchdog_ms(const char *const *env)
{
    const char *period = qn_env_get(env, "WATCHDOG_USEC"), *whose = qn_env_get(env, "WATCHDOG_PID");
    int64_t us, pid;
    if (!period || !qn_parse_i64(period, &us) || us <= 0)
        return 0;
    if (whose && (!qn_parse_i64(whose, &pid) || pid != getpid()))
        return 0;
    return us / 2000 > WATCHDOG_LEAST_MS ? us / 2000 : WATCHDOG_LEAST_MS;
}

/* Connects to a path, or to "@name" in the abstract namespace. -1 with errno. */
static int connect_to(const char *address)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t n = strlen(address);
    if ((*address != '/' && *address != '@') || n >= sizeof to.sun_path) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    memcpy(to.sun_path, address, n);
    if (*address == '@')
        to.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to,
                           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n))) {
        int why = errno;
        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

struct qn_notify *qn_notify_new(const char *const *env)
{
    const char *address = qn_env_get(env, "NOTIFY_SOCKET");
    if (!address || !*address)
        return NULL;
    int fd = connect_to(address);
    if (fd < 0) {
        qn_warn("notify", "socket=%s unusable: %s", address, strerror(errno));
        return NULL;
    }
    struct qn_notify *n = qn_xcalloc(1, sizeof *n);
    n->fd = fd;
    n->watchdog_ms = watchdog_ms(env);
    return n;
}

void qn_notify_free(struct qn_notify *n)
{
    if (!n)
        return;
    qn_timer_stop(n->watchdog);
    close(n->fd);
    free(n);
}

/* Sends without blocking and ignores errors: the server must not wait for or fail because of the
 * manager. */
static void say(struct qn_notify *n, const char *message)
{
    if (send(n->fd, message, strlen(message), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        qn_warn("notify", "message=%.20s not_sent: %s", message, strerror(errno));
}

static void sign_of_life(void *ctx)
{
    say(ctx, "WATCHDOG=1");
}

void qn_notify_ready(struct qn_notify *n, struct qn_loop *l, const char *status)
{
    char text[MESSAGE_MAX];
    if (!n)
        return;
    snprintf(text, sizeof text, "READY=1\nMAINPID=%d\nSTATUS=%s", (int)getpid(), status);
    say(n, text);
    if (n->watchdog_ms && !n->watchdog)
        n->watchdog = qn_timer_start(l, n->watchdog_ms, n->watchdog_ms, sign_of_life, n);
}

/* The timestamp lets the manager match a READY to its reload. */
void qn_notify_reloading(struct qn_notify *n)
{
    char text[MESSAGE_MAX];
    struct timespec now;
    if (!n)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(text, sizeof text,
             "RELOADING=1\nMONOTONIC_USEC=%lld\nSTATUS=Reading the settings again",
             (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    say(n, text);
}

void qn_notify_stopping(struct qn_notify *n, int64_t limit_ms, const char *status)
{
    char text[MESSAGE_MAX];
    if (!n)
        return;
    snprintf(text, sizeof text, "STOPPING=1\nEXTEND_TIMEOUT_USEC=%lld\nSTATUS=%s",
             (long long)limit_ms * 1000, status);
    say(n, text);
}
