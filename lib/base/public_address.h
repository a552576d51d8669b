/* Tells whether a network address belongs to the public internet. An address named by an untrusted
 * document must not lead to services on this machine or its local network. Pure functions. */
#ifndef QN_BASE_PUBLIC_ADDRESS_H
#define QN_BASE_PUBLIC_ADDRESS_H

#include <stdbool.h>

struct sockaddr;

/* False for every address that is not unicast and globally reachable, and for families other than
 * IPv4 and IPv6. IPv6 forms that carry an IPv4 address (mapped, NAT64, 6to4) are judged by that
 * IPv4 address. Source: the IANA special-purpose address registries (RFC 6890). */
bool qn_address_public(const struct sockaddr *sa);

/* Does the same for the host of a URL if it is written as a number (IPv6 with or without brackets).
 * *number tells whether the host was a number; the result for names is true. Old notations of IPv4
 * ("0x7f.1") count as numbers because resolvers accept them. */
bool qn_address_host_public(const char *host, bool *number);

#endif
