/* The protocol of sd_listen_fds without its library, see activation.h. */
#include "http/activation.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The port of a listening TCP socket; -1: it is something else. */
static int listens_on(int fd)
{
    struct sockaddr_storage a;
    int type = 0, listening = 0;
    socklen_t len = sizeof type, addr_len = sizeof a;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) || type != SOCK_STREAM ||
        getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) || !listening ||
        getsockname(fd, (struct sockaddr *)&a, &addr_len))
        return -1;
    if (a.ss_family == AF_INET)
        return ntohs(((struct sockaddr_in *)(void *)&a)->sin_port);
    return a.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)(void *)&a)->sin6_port) : -1;
}

/* Splits the next name off "a:b:c"; *names moves on. */
static const struct qn_profile *next_profile(const char **names)
{
    char name[32] = "";
    size_t n = strcspn(*names, ":");
    if (n < sizeof name)
        memcpy(name, *names, n);
    *names += n + ((*names)[n] == ':');
    return qn_profile_find(name);
}

qn_err qn_activation_read(const char *const *env, int first_fd, struct qn_activation *out,
                          struct qn_error *e)
{
    const char *pid_text = qn_env_get(env, "LISTEN_PID"), *n_text = qn_env_get(env, "LISTEN_FDS");
    const char *names = qn_env_get(env, "LISTEN_FDNAMES");
    int64_t pid, n;
    *out = (struct qn_activation){0};
    if (!pid_text || !n_text || !qn_parse_i64(pid_text, &pid) || pid != getpid() ||
        !qn_parse_i64(n_text, &n))
        return QN_OK;
    if (n < 0 || n > QN_ACTIVATION_MAX)
        return qn_fail(e, QN_EINVAL, "LISTEN_FDS=%s: at most %d sockets can be handed over", n_text,
                       QN_ACTIVATION_MAX);
    names = names ? names : "";
    for (int i = 0; i < (int)n; i++) {
        int fd = first_fd + i, port = listens_on(fd), flags = fcntl(fd, F_GETFL);
        if (port < 0)
            return qn_fail(e, QN_EINVAL,
                           "descriptor %d from the service manager is not a TCP socket in listen: "
                           "the unit needs ListenStream=ADDRESS:PORT",
                           fd);
        if (fcntl(fd, F_SETFL, flags | O_NONBLOCK) || fcntl(fd, F_SETFD, FD_CLOEXEC))
            return qn_fail_errno(e, "take over descriptor %d", fd);
        const struct qn_profile *profile = next_profile(&names);
        out->v[i].fd = fd;
        out->v[i].port = port;
        out->v[i].main = profile == NULL;
        out->v[i].profile = profile;
        out->n++;
    }
    return QN_OK;
}

bool qn_activation_has_port(const struct qn_activation *a, int port)
{
    bool found = false;
    for (size_t i = 0; i < a->n; i++)
        found = found || a->v[i].port == port;
    return found;
}
