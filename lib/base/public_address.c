/* See public_address.h. */
#include "base/public_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

struct v4_block {
    uint32_t base;
    int bits;
};

static bool v4_public(uint32_t a)
{
    static const struct v4_block not_public[] = {
        {0x00000000, 8},  /* "this network" */
        {0x0a000000, 8},  /* private */
        {0x64400000, 10}, /* carriers' shared addresses */
        {0x7f000000, 8},  /* loopback */
        {0xa9fe0000, 16}, /* link-local; clouds' metadata services */
        {0xac100000, 12}, /* private */
        {0xc0000000, 24}, /* protocol assignments */
        {0xc0000200, 24}, /* documentation */
        {0xc0586300, 24}, /* 6to4 relays, withdrawn */
        {0xc0a80000, 16}, /* private */
        {0xc6120000, 15}, /* benchmarks */
        {0xc6336400, 24}, /* documentation */
        {0xcb007100, 24}, /* documentation */
        {0xe0000000, 4},  /* multicast */
        {0xf0000000, 4},  /* reserved, broadcast */
    };
    for (size_t i = 0; i < sizeof not_public / sizeof *not_public; i++)
        if (((a ^ not_public[i].base) >> (32 - not_public[i].bits)) == 0)
            return false;
    return true;
}

static uint32_t word(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool v6_public(const unsigned char a[static 16])
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    static const unsigned char nat64[12] = {0x00, 0x64, 0xff, 0x9b};
    if (memcmp(a, mapped, 12) == 0 || memcmp(a, nat64, 12) == 0)
        return v4_public(word(a + 12));
    if (a[0] == 0x20 && a[1] == 0x02) /* 6to4 */
        return v4_public(word(a + 2));
    if ((a[0] & 0xe0) != 0x20) /* global unicast is 2000::/3 */
        return false;
    if (a[0] == 0x20 && a[1] == 0x01 && a[2] < 0x02) /* 2001::/23: Teredo, ORCHID, benchmarks */
        return false;
    if (word(a) == 0x20010db8) /* documentation */
        return false;
    return !(a[0] == 0x3f && a[1] == 0xff && a[2] < 0x10); /* documentation, 3fff::/20 */
}

bool qn_address_public(const struct sockaddr *sa)
{
    if (sa->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, sa, sizeof in);
        return v4_public(ntohl(in.sin_addr.s_addr));
    }
    if (sa->sa_family == AF_INET6) {
        struct sockaddr_in6 in;
        memcpy(&in, sa, sizeof in);
        return v6_public(in.sin6_addr.s6_addr);
    }
    return false;
}

bool qn_address_host_public(const char *host, bool *number)
{
    char plain[256];
    size_t n = strlen(host);
    struct in_addr v4;
    struct in6_addr v6;
    *number = true;
    if (n >= 2 && host[0] == '[' && host[n - 1] == ']') {
        host++;
        n -= 2;
    }
    if (n >= sizeof plain)
        return true; /* no resolver accepts such a long name */
    memcpy(plain, host, n);
    plain[n] = '\0';
    if (inet_aton(plain, &v4))
        return v4_public(ntohl(v4.s_addr));
    plain[strcspn(plain, "%")] = '\0'; /* an IPv6 zone */
    if (inet_pton(AF_INET6, plain, &v6) == 1)
        return v6_public(v6.s6_addr);
    *number = false;
    return true;
}
