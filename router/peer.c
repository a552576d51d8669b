/* See peer.h. The question goes over netlink (sock_diag(7)) and names both ends, so that the kernel
 * finds the one socket without a walk through all, and no other socket can be taken for it. */
#include "router/peer.h"

#include "base/log.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

static bool is_loopback(const struct sockaddr_storage *sa)
{
    if (sa->ss_family == AF_INET)
        return (ntohl(((const struct sockaddr_in *)(const void *)sa)->sin_addr.s_addr) >> 24) ==
               127;
    return sa->ss_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr);
}

bool qn_peer_is_here(const struct qn_http_ends *ends)
{
    return ends && is_loopback(&ends->peer) && is_loopback(&ends->own);
}

static void put_end(const struct sockaddr_storage *sa, __be16 *port, __be32 address[4])
{
    if (sa->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)sa;
        *port = in->sin_port;
        memcpy(address, &in->sin_addr, sizeof in->sin_addr);
    } else {
        const struct sockaddr_in6 *in = (const void *)sa;
        *port = in->sin6_port;
        memcpy(address, &in->sin6_addr, sizeof in->sin6_addr);
    }
}

/* The kernel answers within the call that asks. */
static bool ask(int fd, const struct qn_http_ends *ends, uid_t *uid)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 body;
    } question = {
        .head = {.nlmsg_len = sizeof question,
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST},
        .body = {.sdiag_family = (__u8)ends->peer.ss_family,
                 .sdiag_protocol = IPPROTO_TCP,
                 .idiag_states = ~0U,
                 .id = {.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
    };
    put_end(&ends->peer, &question.body.id.idiag_sport, question.body.id.idiag_src);
    put_end(&ends->own, &question.body.id.idiag_dport, question.body.id.idiag_dst);
    if (send(fd, &question, sizeof question, MSG_DONTWAIT) != (ssize_t)sizeof question)
        return false;
    union {
        struct nlmsghdr head;
        char bytes[4096];
    } answer;
    ssize_t n = recv(fd, &answer, sizeof answer, MSG_DONTWAIT);
    if (n < (ssize_t)NLMSG_LENGTH(sizeof(struct inet_diag_msg)) ||
        answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return false;
    const struct inet_diag_msg *found = NLMSG_DATA(&answer.head);
    *uid = found->idiag_uid;
    /* A socket that its program has closed belongs to nobody, which older kernels call user 0. */
    return found->idiag_state == TCP_ESTABLISHED && found->idiag_inode != 0;
}

bool qn_peer_user(const struct qn_http_ends *ends, uid_t *uid)
{
    if (!qn_peer_is_here(ends))
        return false;
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
    bool known = fd >= 0 && ask(fd, ends, uid);
    if (!known)
        qn_warn("auth", "the kernel does not say which user asks");
    if (fd >= 0)
        close(fd);
    return known;
}

bool qn_peer_is_own(const struct qn_http_ends *ends)
{
    uid_t uid;
    return qn_peer_user(ends, &uid) && (uid == 0 || uid == geteuid());
}
