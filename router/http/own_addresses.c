/* See own_addresses.h. */
#include "http/own_addresses.h"

#include "base/str.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdbool.h>
#include <string.h>

static bool is_listed(const struct qn_own_addresses *out, const char *text)
{
    for (size_t i = 0; i < out->n; i++)
        if (qn_str_eq(out->text[i], text))
            return true;
    return false;
}

/* Writes the address as text; false: other machines cannot use it. */
static bool print(const struct sockaddr *sa, char text[static INET6_ADDRSTRLEN])
{
    if (sa->sa_family == AF_INET) {
        const struct in_addr *a = &((const struct sockaddr_in *)(const void *)sa)->sin_addr;
        bool link_local = (ntohl(a->s_addr) & 0xffff0000) == 0xa9fe0000; /* 169.254.0.0/16 */
        return !link_local && inet_ntop(AF_INET, a, text, INET6_ADDRSTRLEN) != NULL;
    }
    const struct in6_addr *a = &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr;
    return !IN6_IS_ADDR_LINKLOCAL(a) && inet_ntop(AF_INET6, a, text, INET6_ADDRSTRLEN) != NULL;
}

void qn_own_addresses_of(const struct ifaddrs *list, struct qn_own_addresses *out)
{
    static const int families[] = {AF_INET, AF_INET6};
    out->n = 0;
    for (size_t k = 0; k < sizeof families / sizeof *families; k++)
        for (const struct ifaddrs *i = list; i && out->n < QN_OWN_ADDRESSES_MAX; i = i->ifa_next) {
            char text[INET6_ADDRSTRLEN];
            if (!i->ifa_addr || i->ifa_addr->sa_family != families[k] ||
                !(i->ifa_flags & IFF_UP) || i->ifa_flags & IFF_LOOPBACK ||
                !print(i->ifa_addr, text) || is_listed(out, text))
                continue;
            memcpy(out->text[out->n++], text, sizeof text);
        }
}

void qn_own_addresses(struct qn_own_addresses *out)
{
    struct ifaddrs *list = NULL;
    if (getifaddrs(&list))
        list = NULL;
    qn_own_addresses_of(list, out);
    if (list)
        freeifaddrs(list);
}
