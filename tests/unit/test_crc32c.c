/* CRC-32C: the examples of RFC 3720, appendix B.4, as a whole and in pieces. */
#include "base/crc32c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void examples_of_the_rfc(void **state)
{
    unsigned char zeros[32] = {0}, ones[32], up[32], down[32];
    (void)state;
    memset(ones, 0xff, sizeof ones);
    for (int i = 0; i < 32; i++) {
        up[i] = (unsigned char)i;
        down[i] = (unsigned char)(31 - i);
    }
    assert_int_equal(qn_crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(qn_crc32c(0, zeros, 32), 0x8a9136aa);
    assert_int_equal(qn_crc32c(0, ones, 32), 0x62a8ab43);
    assert_int_equal(qn_crc32c(0, up, 32), 0x46dd794e);
    assert_int_equal(qn_crc32c(0, down, 32), 0x113fdb5c);
    for (size_t cut = 0; cut <= 32; cut++)
        assert_int_equal(qn_crc32c(qn_crc32c(0, up, cut), up + cut, 32 - cut), 0x46dd794e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_of_the_rfc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
