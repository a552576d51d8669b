/* router/http/own_addresses.c: which addresses of the machine are shown, and in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/own_addresses.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <string.h>

struct interface {
    const char *address;
    unsigned flags;
};

static struct qn_own_addresses of(const struct interface *all, size_t n)
{
    static struct sockaddr_storage places[32];
    static struct ifaddrs list[32];
    struct qn_own_addresses out;
    memset(places, 0, sizeof places);
    memset(list, 0, sizeof list);
    for (size_t i = 0; i < n; i++) {
        struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)&places[i];
        struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)&places[i];
        list[i].ifa_flags = all[i].flags;
        list[i].ifa_next = i + 1 < n ? &list[i + 1] : NULL;
        if (!all[i].address)
            continue; /* an interface without an address */
        list[i].ifa_addr = (struct sockaddr *)(void *)&places[i];
        if (inet_pton(AF_INET, all[i].address, &v4->sin_addr) == 1)
            v4->sin_family = AF_INET;
        else if (inet_pton(AF_INET6, all[i].address, &v6->sin6_addr) == 1)
            v6->sin6_family = AF_INET6;
        else
            places[i].ss_family = AF_UNIX;
    }
    qn_own_addresses_of(n ? list : NULL, &out);
    return out;
}

static void those_that_others_can_use(void **state)
{
    (void)state;
    const struct interface all[] = {
        {"127.0.0.1", IFF_UP | IFF_LOOPBACK},
        {"fe80::1", IFF_UP},
        {"fd00::7", IFF_UP},
        {NULL, IFF_UP},
        {"eth0", IFF_UP},
        {"192.168.1.5", IFF_UP},
        {"10.0.0.9", 0}, /* down */
        {"169.254.3.4", IFF_UP},
        {"192.168.1.5", IFF_UP},
        {"::1", IFF_UP | IFF_LOOPBACK},
    };
    struct qn_own_addresses own = of(all, sizeof all / sizeof *all);
    assert_int_equal(own.n, 2);
    assert_string_equal(own.text[0], "192.168.1.5");
    assert_string_equal(own.text[1], "fd00::7");
}

static void at_most_eight(void **state)
{
    (void)state;
    struct interface all[20];
    static char names[20][16];
    for (size_t i = 0; i < 20; i++) {
        strcpy(names[i], "10.0.0.1x");
        names[i][8] = (char)('0' + i % 10);
        names[i][7] = (char)('1' + i / 10);
        all[i] = (struct interface){names[i], IFF_UP};
    }
    assert_int_equal(of(all, 20).n, QN_OWN_ADDRESSES_MAX);
    assert_int_equal(of(all, 0).n, 0);
}

static void of_this_machine(void **state)
{
    (void)state;
    struct qn_own_addresses own;
    qn_own_addresses(&own);
    for (size_t i = 0; i < own.n; i++)
        assert_true(strncmp(own.text[i], "127.", 4) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(those_that_others_can_use),
                                       cmocka_unit_test(at_most_eight),
                                       cmocka_unit_test(of_this_machine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
