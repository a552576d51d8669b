/* The start-up trial of kernels: one that faults or gives wrong numbers is left out, the rest is
 * kept; QUINCE_ISA names a set or is refused with a reason. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/cpu/cpu.h"

static void wrong_add(float *y, const float *a, const float *b, int64_t n)
{
    cpu_kernels_generic.add(y, a, b, n);
    y[n - 1] += 0.01f;
}

static void nan_softmax(float *y, const float *x, int64_t n)
{
    cpu_kernels_generic.softmax(y, x, n);
    y[0] = NAN;
}

static void illegal_panel(float *y, const void *panel, const void *acts, int64_t cols)
{
    (void)y, (void)panel, (void)acts, (void)cols;
    raise(SIGILL);
}

static void wild_silu(float *y, const float *gate, const float *up, int64_t n)
{
    (void)y, (void)gate, (void)up, (void)n;
    raise(SIGSEGV);
}

static void test_bad_kernels_are_left_out(void **state)
{
    struct cpu_kernels bad = cpu_kernels_generic, out;
    struct sigaction before, after;
    (void)state;
    sigaction(SIGILL, NULL, &before);
    bad.name = "bad";
    bad.add = wrong_add;
    bad.softmax = nan_softmax;
    bad.silu_mul = wild_silu;
    bad.panel[QN_Q4_K][3] = illegal_panel;
    assert_int_equal(cpu_kernels_try(&bad, &out), 4);
    assert_ptr_equal(out.add, cpu_kernels_generic.add);
    assert_ptr_equal(out.softmax, cpu_kernels_generic.softmax);
    assert_ptr_equal(out.silu_mul, cpu_kernels_generic.silu_mul);
    assert_ptr_equal(out.panel[QN_Q4_K][3], cpu_kernels_generic.panel[QN_Q4_K][3]);
    sigaction(SIGILL, NULL, &after); /* our handler is gone again */
    assert_ptr_equal(before.sa_handler, after.sa_handler);
}

static void test_real_kernels_pass(void **state)
{
    struct cpu_kernels out;
    (void)state;
    for (int i = 0; cpu_kernels_all[i]; i++)
        if (cpu_kernels_all[i]->supported())
            assert_int_equal(cpu_kernels_try(cpu_kernels_all[i], &out), 0);
}

/* Builds with sanitizers do not have the sets that this processor cannot run. */
static bool is_absent(const struct cpu_kernels *k)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return !k->supported();
#else
    (void)k;
    return false;
#endif
}

/* A type that can be computed with has a kernel for every width, in every set. */
static void test_tables_are_full(void **state)
{
    (void)state;
    for (int i = 0; cpu_kernels_all[i]; i++)
        for (int t = 0; t < QN_DTYPE_COUNT && !is_absent(cpu_kernels_all[i]); t++)
            for (int w = 0; w < 4; w++) {
                const struct qn_dtype_info *d = qn_dtype(t);
                const struct cpu_kernels *k = cpu_kernels_all[i];
                assert_int_equal(k->panel[t][w] != NULL, d->dequant && d->block > 1);
                assert_int_equal(k->rows[t][w] != NULL, d->dequant && d->block == 1);
            }
}

static void test_choice(void **state)
{
    const struct cpu_kernels *k;
    struct qn_error e;
    (void)state;
    unsetenv("QUINCE_ISA");
    assert_int_equal(cpu_kernels_choose(&k, &e), QN_OK);
    for (int i = 0; cpu_kernels_all[i]; i++)
        if (cpu_kernels_all[i]->supported()) {
            assert_string_equal(k->name, cpu_kernels_all[i]->name); /* the best that runs */
            break;
        }
    setenv("QUINCE_ISA", "generic", 1);
    assert_int_equal(cpu_kernels_choose(&k, &e), QN_OK);
    assert_string_equal(k->name, "generic");
    setenv("QUINCE_ISA", "mmx", 1);
    assert_int_equal(cpu_kernels_choose(&k, &e), QN_EINVAL);
    assert_non_null(strstr(e.message, "mmx"));
    for (int i = 0; cpu_kernels_all[i]; i++) {
        if (cpu_kernels_all[i]->supported())
            continue;
        setenv("QUINCE_ISA", cpu_kernels_all[i]->name, 1);
        assert_int_equal(cpu_kernels_choose(&k, &e), QN_EUNSUPPORTED);
    }
    unsetenv("QUINCE_ISA");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_kernels_are_left_out),
        cmocka_unit_test(test_real_kernels_pass),
        cmocka_unit_test(test_tables_are_full),
        cmocka_unit_test(test_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
