/* The addresses of this machine in its networks. */
#ifndef QN_HTTP_OWN_ADDRESSES_H
#define QN_HTTP_OWN_ADDRESSES_H

#include <ifaddrs.h>
#include <netinet/in.h>
#include <stddef.h>

enum { QN_OWN_ADDRESSES_MAX = 8 };

struct qn_own_addresses {
    char text[QN_OWN_ADDRESSES_MAX][INET6_ADDRSTRLEN];
    size_t n;
};

/* The addresses by which other machines may reach this one: of interfaces that are up, without
 * loopback and link-local ones (which need a zone); those of IPv4 first. Empty if the system does
 * not list them. Any thread. */
void qn_own_addresses(struct qn_own_addresses *out);

/* The same of a given list; NULL: empty. Pure. */
void qn_own_addresses_of(const struct ifaddrs *list, struct qn_own_addresses *out);

#endif
