/* router/sysinfo.c on the machine the tests run on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "router/sysinfo.h"

#include <time.h>
#include <unistd.h>

static void memory(void **state)
{
    (void)state;
    int64_t total = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    int64_t left = qn_free_memory(), used = qn_used_memory();
    assert_true(left > 0 && left <= total);
    assert_true(used > 0 && used <= total);
    assert_true(left + used > total / 2);
}

static void processors(void **state)
{
    (void)state;
    struct qn_cpu_meter m = {0};
    int64_t now = 1000;
    assert_true(qn_cpu_percent(&m, now) == 0);
    int64_t total = m.total;
    assert_true(total > 0 && m.busy <= total);
    /* Until this process has used ticks of its own. */
    struct timespec used;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    while (used.tv_sec == 0 && used.tv_nsec < 100 * 1000 * 1000);
    assert_true(qn_cpu_percent(&m, now + 199) == 0);
    assert_true(m.total == total);
    double percent = qn_cpu_percent(&m, now + 200);
    assert_true(m.total > total);
    assert_true(percent > 0 && percent <= 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory), cmocka_unit_test(processors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
