/* router/access/owner.c: what makes two requests one owner's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "access/owner.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

static void put(struct sockaddr_storage *sa, int family, const char *text)
{
    *sa = (struct sockaddr_storage){.ss_family = (sa_family_t)family};
    void *at = family == AF_INET ? (void *)&((struct sockaddr_in *)(void *)sa)->sin_addr
                                 : (void *)&((struct sockaddr_in6 *)(void *)sa)->sin6_addr;
    assert_int_equal(inet_pton(family, text, at), 1);
}

static void is(const struct qn_key_row *key, int family, const char *peer, const char *expected)
{
    char out[QN_OWNER_MAX + 1];
    struct qn_http_ends ends = {0};
    if (peer) {
        put(&ends.peer, family, peer);
        put(&ends.own, family, peer);
    }
    qn_owner_name(key, peer ? &ends : NULL, out);
    assert_string_equal(out, expected);
}

static void names(void **state)
{
    (void)state;
    struct qn_key_row key = {.id = 7, .name = "phone"}, same = {.id = 8, .name = "phone"};
    for (int i = 0; i < QN_SHA256_BYTES; i++)
        key.sum[i] = (unsigned char)(16 * i + i);
    is(&key, AF_INET, "192.0.2.1", "key:00112233445566778899aabbccddeeff");
    is(&key, AF_INET6, "::1", "key:00112233445566778899aabbccddeeff");
    is(&same, AF_INET, "192.0.2.1", "key:00000000000000000000000000000000");
    is(NULL, AF_INET, "192.0.2.1", "address:192.0.2.1");
    is(NULL, AF_INET6, "2001:db8:1:2:3:4:5:6", "address:2001:db8:1:2::/64");
    is(NULL, AF_INET6, "2001:db8:1:2:ffff::", "address:2001:db8:1:2::/64");
    is(NULL, AF_INET, "127.0.0.1", "user:unknown"); /* no such connection */
    is(NULL, 0, NULL, "address:?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
