/* router/telemetry/sysinfo.c on the machine the tests run on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "telemetry/sysinfo.h"

#include <sys/wait.h>
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

static void a_process_and_those_that_it_has_started(void **state)
{
    (void)state;
    int64_t own = qn_own_memory();
    int fds[2];
    assert_true(own > 0);
    assert_true(qn_process_memory(0) < 0);
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        close(fds[1]);
        _exit(read(fds[0], &byte, 1) != 0);
    }
    int64_t child = qn_process_memory(pid), both = qn_process_memory(getpid());
    assert_true(child > 0);
    assert_true(both > child && both >= own);
    close(fds[1]);
    close(fds[0]);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(qn_process_memory(pid) < 0);
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

/* 5 J in a second are 5 W; a counter that began again has used what was left of it, too. */
static void power(void **state)
{
    (void)state;
    struct qn_power_meter m = {0};
    assert_true(qn_cpu_power_of(&m, 1000000, -1, 0) < 0);
    assert_true(qn_cpu_power_of(&m, 1000000, 90000000, 100000000) == 0);
    assert_true(qn_cpu_power_of(&m, 2000000, 95000000, 100000000) == 5);
    assert_true(qn_cpu_power_of(&m, 4000000, 1000000, 100000000) == 3);
    assert_true(qn_cpu_power_of(&m, 4000000, 1000000, 100000000) == 3); /* no time has passed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory),
                                       cmocka_unit_test(a_process_and_those_that_it_has_started),
                                       cmocka_unit_test(processors), cmocka_unit_test(power)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
