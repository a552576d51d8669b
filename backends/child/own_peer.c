/* See own_peer.h. */
#include "child/own_peer.h"

#include "io/peer.h"

#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

bool qn_own_peer_is(int peer_fd, int fd, const struct sockaddr_storage *addr)
{
    struct qn_http_ends ends = {.peer = *addr};
    socklen_t len = sizeof ends.own;
    uid_t uid;
    if (peer_fd < 0)
        return true;
    return getsockname(fd, (struct sockaddr *)&ends.own, &len) == 0 &&
           qn_peer_ask(peer_fd, &ends, &uid) && (uid == 0 || uid == geteuid());
}

int qn_own_peer_open(void)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct qn_http_ends ends = {0};
    socklen_t n = sizeof any;
    uid_t uid;
    int peer_fd = qn_peer_open(), client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), server = -1;
    bool known = peer_fd >= 0 && bind(listener, (struct sockaddr *)&any, n) == 0 &&
                 listen(listener, 1) == 0 &&
                 getsockname(listener, (struct sockaddr *)&any, &n) == 0;
    known = known && connect(client, (struct sockaddr *)&any, n) == 0;
    n = sizeof ends.peer;
    if (known)
        server = accept4(listener, (struct sockaddr *)&ends.peer, &n, SOCK_CLOEXEC);
    memcpy(&ends.own, &any, sizeof any);
    known = server >= 0 && qn_peer_ask(peer_fd, &ends, &uid) && uid == geteuid();
    const int done[] = {client, listener, server, known ? -1 : peer_fd};
    for (size_t i = 0; i < sizeof done / sizeof *done; i++)
        if (done[i] >= 0)
            close(done[i]);
    return known ? peer_fd : -1;
}
