/* See owner.h. */
#include "access/owner.h"

#include "io/peer.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

void qn_owner_address(const struct sockaddr_storage *sa, char out[static QN_OWNER_ADDRESS_MAX + 1])
{
    char text[INET6_ADDRSTRLEN] = "?";
    bool v6 = sa->ss_family == AF_INET6;
    if (v6) {
        struct in6_addr net = ((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr;
        memset(&net.s6_addr[8], 0, 8);
        inet_ntop(AF_INET6, &net, text, sizeof text);
    } else if (sa->ss_family == AF_INET) {
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)sa)->sin_addr, text,
                  sizeof text);
    }
    snprintf(out, QN_OWNER_ADDRESS_MAX + 1, "%s%s", text, v6 ? "/64" : "");
}

static void key_owner(const struct qn_key_row *key, char out[static QN_OWNER_MAX + 1])
{
    int n = snprintf(out, QN_OWNER_MAX + 1, "key:");
    for (size_t i = 0; i < QN_SHA256_BYTES / 2; i++)
        n += snprintf(out + n, QN_OWNER_MAX + 1 - (size_t)n, "%02x", key->sum[i]);
}

void qn_owner_name(const struct qn_key_row *key, const struct qn_http_ends *ends,
                   char out[static QN_OWNER_MAX + 1])
{
    uid_t uid;
    char address[QN_OWNER_ADDRESS_MAX + 1] = "?";
    if (key) {
        key_owner(key, out);
    } else if (!qn_peer_is_here(ends)) {
        if (ends)
            qn_owner_address(&ends->peer, address);
        snprintf(out, QN_OWNER_MAX + 1, "address:%s", address);
    } else if (qn_peer_user(ends, &uid)) {
        snprintf(out, QN_OWNER_MAX + 1, "user:%lu", (unsigned long)uid);
    } else {
        snprintf(out, QN_OWNER_MAX + 1, "user:unknown");
    }
}
