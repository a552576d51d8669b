/* See peer.h. The netlink request names both endpoints, so the kernel finds the one socket without
 * a search, and no other socket can match. The tables are searched for the same two endpoints. */
#include "io/peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    END_MAX = 40,        /* "0000000000000000FFFF00000100007F:1F90" with its NUL */
    ROW_BYTES_MAX = 512, /* of a table; the kernel's rows have about 180 */
    ROWS_MAX = 65536,    /* searched at most: 10 MB. Later sockets are not found */
};

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

enum answer {
    OWNER,    /* the socket's owner */
    NO_OWNER, /* the socket has none: its process has closed it */
    UNKNOWN   /* the kernel does not support the request, or the request failed */
};

/* The kernel replies within the call of send. */
static enum answer ask(int fd, const struct qn_http_ends *ends, uid_t *uid)
{
    /* For IPv4 and IPv6: whether a lookup has found a socket. After that, ENOENT means that the
     * socket does not exist; before, it may mean that the kernel is built without sock_diag. */
    static atomic_bool finds[2];
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
    if (fd < 0 || !qn_peer_is_here(ends))
        return UNKNOWN;
    put_end(&ends->peer, &question.body.id.idiag_sport, question.body.id.idiag_src);
    put_end(&ends->own, &question.body.id.idiag_dport, question.body.id.idiag_dst);
    if (send(fd, &question, sizeof question, MSG_DONTWAIT) != (ssize_t)sizeof question)
        return UNKNOWN;
    union {
        struct nlmsghdr head;
        char bytes[4096];
    } answer;
    ssize_t n = recv(fd, &answer, sizeof answer, MSG_DONTWAIT);
    bool v6 = ends->peer.ss_family == AF_INET6;
    if (n >= (ssize_t)NLMSG_LENGTH(sizeof(struct nlmsgerr)) &&
        answer.head.nlmsg_type == NLMSG_ERROR) {
        const struct nlmsgerr *failure = NLMSG_DATA(&answer.head);
        return failure->error == -ENOENT && finds[v6] ? NO_OWNER : UNKNOWN;
    }
    if (n < (ssize_t)NLMSG_LENGTH(sizeof(struct inet_diag_msg)) ||
        answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return UNKNOWN;
    const struct inet_diag_msg *found = NLMSG_DATA(&answer.head);
    finds[v6] = true;
    *uid = found->idiag_uid;
    /* Older kernels report user 0 for a socket without owner. */
    return found->idiag_state == TCP_ESTABLISHED && found->idiag_inode != 0 ? OWNER : NO_OWNER;
}

bool qn_peer_ask(int fd, const struct qn_http_ends *ends, uid_t *uid)
{
    return ask(fd, ends, uid) == OWNER;
}

/* Prints an address and a port in the format of the kernel's tables: the 32-bit words of the
 * address in memory order, each printed as a number. wide: for the table of IPv6, which may contain
 * IPv4 sockets, too. */
static void print_end(const struct sockaddr_storage *sa, bool wide, char out[static END_MAX])
{
    uint32_t words[4] = {0, 0, htonl(0xffff), 0};
    __be16 port;
    bool v4 = sa->ss_family == AF_INET;
    put_end(sa, &port, v4 ? &words[3] : words);
    if (wide)
        snprintf(out, END_MAX, "%08X%08X%08X%08X:%04X", words[0], words[1], words[2], words[3],
                 ntohs(port));
    else
        snprintf(out, END_MAX, "%08X:%04X", words[3], ntohs(port));
}

bool qn_peer_look_up(const char *table, const struct qn_http_ends *ends, uid_t *uid)
{
    char peer[2][END_MAX], own[2][END_MAX], line[ROW_BYTES_MAX];
    bool v4 = ends->peer.ss_family == AF_INET, found = false;
    FILE *f = fopen(table, "re");
    for (int wide = 0; wide < 2; wide++) {
        print_end(&ends->peer, wide, peer[wide]);
        print_end(&ends->own, wide, own[wide]);
    }
    for (int i = 0; f && !found && i < ROWS_MAX && fgets(line, sizeof line, f); i++) {
        char local[END_MAX], remote[END_MAX];
        unsigned state, user;
        unsigned long inode;
        if (sscanf(line, " %*s %39s %39s %x %*s %*s %*s %u %*s %lu", local, remote, &state, &user,
                   &inode) != 5)
            continue; /* the heading of the table */
        int wide = strlen(local) > strlen("00000000:0000");
        if ((!wide && !v4) || strcmp(local, peer[wide]) != 0 || strcmp(remote, own[wide]) != 0)
            continue;
        *uid = user;
        found = state == TCP_ESTABLISHED && inode != 0;
    }
    if (f)
        fclose(f);
    return found;
}

int qn_peer_open(void)
{
    return socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
}

bool qn_peer_user(const struct qn_http_ends *ends, uid_t *uid)
{
    static const char *const tables[] = {"/proc/self/net/tcp", "/proc/self/net/tcp6"};
    if (!qn_peer_is_here(ends))
        return false;
    if (ends->user && ends->user->known) {
        *uid = ends->user->uid;
        return true;
    }
    int fd = qn_peer_open();
    enum answer answer = ask(fd, ends, uid);
    bool known = answer == OWNER;
    if (fd >= 0)
        close(fd);
    /* The tables cost milliseconds, so a client that has left must not cause a search. */
    for (size_t i = 0; answer == UNKNOWN && !known && i < sizeof tables / sizeof *tables; i++)
        known = qn_peer_look_up(tables[i], ends, uid);
    if (known && ends->user)
        *ends->user = (struct qn_http_user){.known = true, .uid = *uid};
    return known;
}

enum qn_peer qn_peer_is(const struct qn_http_ends *ends)
{
    uid_t uid;
    if (!qn_peer_is_here(ends))
        return QN_PEER_OTHER;
    if (!qn_peer_user(ends, &uid))
        return QN_PEER_UNKNOWN;
    return uid == 0 || uid == geteuid() ? QN_PEER_OWN : QN_PEER_OTHER;
}
