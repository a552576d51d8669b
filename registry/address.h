/* Which network addresses belong to the public internet. What a stranger's document names must not
 * lead to services of this machine or of its network. Pure. */
#ifndef QN_REGISTRY_ADDRESS_H
#define QN_REGISTRY_ADDRESS_H

#include <stdbool.h>

struct sockaddr;

/* False for every address that is not unicast and globally reachable, and for families other than
 * IPv4 and IPv6. IPv6 forms that carry an IPv4 address (mapped, NAT64, 6to4) are judged by it.
 * Source: the IANA special-purpose address registries (RFC 6890). */
bool qn_address_public(const struct sockaddr *sa);

/* The same for a host of a URL, IPv6 with or without brackets, when it is written as a number;
 * *number tells whether it was one, and the answer for names is true. Old notations of IPv4
 * ("0x7f.1") are numbers too: resolvers understand them. */
bool qn_address_host_public(const char *host, bool *number);

#endif
